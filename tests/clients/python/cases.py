"""Cases, counted and told one by one: what the scripts of this folder have in common."""
import traceback

import anyio

COUNTS = {"passed": 0, "failed": 0, "skipped": 0}


class Case:
    """One case: `async with Case(name): ...` counts it and says why it failed."""

    def __init__(self, name, limit=60):
        self.name = name
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + limit)

    async def __aenter__(self):
        self.scope.__enter__()
        return self

    async def __aexit__(self, kind, error, trace):
        late = self.scope.cancel_called
        self.scope.__exit__(kind, error, trace)
        if error is None and not late:
            COUNTS["passed"] += 1
            print(f"ok python: {self.name}", flush=True)
            return True
        COUNTS["failed"] += 1
        why = "not done in time" if late else "".join(traceback.format_exception(error))
        print(f"not ok python: {self.name}: {why}", flush=True)
        return late or isinstance(error, Exception)


def skip(name, reason):
    COUNTS["skipped"] += 1
    print(f"BH_SKIPPED python {name}: {reason}", flush=True)
