"""Bulkhead for Python: runs the tool calls of AI agents in isolation, over libbulkhead by ctypes.

    import os
    import bulkhead

    with bulkhead.Runtime() as runtime:
        session = runtime.session("alice")
        with session.sandbox.create(workspace=os.getcwd()) as box:
            print(box.exec(["python3", "-c", "print(6 * 7)"]).stdout.text)

`session.aio` is the same for asyncio; `@session.tool` makes a function a tool; `bulkhead.mcp.serve`
offers all tools to an MCP client. CPython 3.9 and newer, no dependency.
"""
from . import mcp
from ._wire import Attached
from .aio import AsyncRun, AsyncSession
from .errors import (Aborted, AlreadyExists, BulkheadError, Cancelled, DataLoss, DeadlineExceeded,
                     FailedPrecondition, Internal, InvalidArgument, NotFound, OutOfRange,
                     PermissionDenied, ResourceExhausted, ToolError, Unauthenticated, Unavailable,
                     Unimplemented, Unknown)
from .events import Attachment, Event, Item, Output, Progress, Record, Reply
from .run import Run
from .runtime import Runtime
from .sandbox import AsyncSandbox, Sandbox
from .serve import Ask
from .session import Session

__all__ = [
    "Aborted", "AlreadyExists", "Ask", "AsyncRun", "AsyncSandbox", "AsyncSession", "Attached",
    "Attachment", "BulkheadError", "Cancelled", "DataLoss", "DeadlineExceeded", "Event",
    "FailedPrecondition", "Internal", "InvalidArgument", "Item", "NotFound", "OutOfRange", "Output",
    "PermissionDenied", "Progress", "Record", "Reply", "ResourceExhausted", "Run", "Runtime", "Sandbox",
    "Session", "ToolError", "Unauthenticated", "Unavailable", "Unimplemented", "Unknown", "mcp",
]
