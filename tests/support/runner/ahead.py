"""Builds flavours while the programs of those before them run: tests mostly wait, compilers never do."""
import os
import pickle
import traceback

import flavours as room
import program
from report import Report


class Ahead:
    """A process of its own that builds one flavour after the other and tells of each."""

    def __init__(self, wanted):
        self.left = {}  # what was told of flavours that nobody has asked for yet
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            code = 1
            try:
                program.forget_parent()
                with os.fdopen(writer, "wb") as told:
                    for flavour in wanted:
                        report = Report()
                        good = room.build(flavour, report, yielding=True)
                        pickle.dump((flavour.name, good, report), told)
                        told.flush()
                code = 0
            except BaseException:  # nothing of the parent's is to run on in here
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(writer)
        program.goes_beside(pid)
        self.told = os.fdopen(reader, "rb")

    def built(self, flavour, report):
        """Waits for it; as build() answers. Its words are added to `report`."""
        while flavour.name not in self.left:
            try:
                name, good, words = pickle.load(self.told)
            except EOFError:
                report.fail(f"build {flavour.name}", "who built it ended early")
                return False
            self.left[name] = (good, words)
        good, words = self.left[flavour.name]
        report.add(words)
        return good
