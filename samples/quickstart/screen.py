"""What the quickstart prints: steps with their time, checks, quoted output, a table."""
import os
import sys
import time

_COLOURED = sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _colour(code, text):
    return f"\033[{code}m{text}\033[0m" if _COLOURED else text


def bold(text):
    return _colour("1", text)


def dim(text):
    return _colour("2", text)


class Screen:
    def __init__(self):
        self.steps = []  # [(title, seconds)]
        self.failed = 0
        self.started = None

    def step(self, title):
        """Begins a step; the one before ends here."""
        self.end_step()
        self.started = (title, time.monotonic())
        print(f"\n{bold(f'{len(self.steps) + 1}. {title}')}", flush=True)

    def end_step(self):
        if self.started:
            title, since = self.started
            self.steps.append((title, time.monotonic() - since))
            self.started = None

    def say(self, text):
        print(f"   {text}", flush=True)

    def quote(self, text, mark="|", most=12):
        lines = text.rstrip("\n").split("\n")
        for line in lines[:most]:
            print(f"   {dim(mark)} {line}", flush=True)
        if len(lines) > most:
            print(f"   {dim(mark)} … {len(lines) - most} more lines", flush=True)

    def check(self, what, held, otherwise=""):
        """A promise that was tried. `otherwise` tells what was seen in its place."""
        if held:
            print(f"   {_colour('32', 'ok')}    {what}", flush=True)
        else:
            self.failed += 1
            print(f"   {_colour('1;31', 'FAILED')} {what}", flush=True)
            if otherwise:
                self.quote(otherwise, "!")
        return held

    def table(self, rows, colours=None):
        """Rows of equal length; the last column is as long as it likes."""
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
        for row in rows:
            cells = []
            for column, width in enumerate(widths):
                cell = row[column].ljust(width)
                colour = (colours or {}).get(row[column])
                cells.append(_colour(colour, cell) if colour else cell)
            print("   " + "  ".join(cells + [row[-1]]).rstrip(), flush=True)

    def times(self):
        self.end_step()
        for title, seconds in self.steps:
            print(f"   {seconds:7.2f} s  {title}")
