"""The operations by noun: what every session has.

Written by sdk/python/generate.py; a test compares.
"""
from typing import Any, Generic, TypeVar

from .files import Files
from .hosts import Hosts
from .images import Images
from .jobs import Jobs
from .logs import Logs
from .operations import Operations
from .plugins import Plugins
from .sandboxes import Sandboxes
from .tools import Tools

R = TypeVar("R")
I = TypeVar("I")  # noqa: E741
B = TypeVar("B")
S = TypeVar("S")
X = TypeVar("X")


class Nouns(Generic[R, I, B, S, X]):
    """One attribute for each noun of the host's operations."""

    def __init__(self, invoke: Any) -> None:
        self.files: Files[R, I, B, S, X] = Files(invoke)
        self.host: Hosts[R, I, B, S, X] = Hosts(invoke)
        self.image: Images[R, I, B, S, X] = Images(invoke)
        self.job: Jobs[R, I, B, S, X] = Jobs(invoke)
        self.log: Logs[R, I, B, S, X] = Logs(invoke)
        self.operation: Operations[R, I, B, S, X] = Operations(invoke)
        self.plugin: Plugins[R, I, B, S, X] = Plugins(invoke)
        self.sandbox: Sandboxes[R, I, B, S, X] = Sandboxes(invoke)
        self.tool: Tools[R, I, B, S, X] = Tools(invoke)
