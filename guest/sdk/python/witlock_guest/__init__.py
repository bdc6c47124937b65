"""Locks shared by WebAssembly components: one holder of a key at a time.

    from witlock_guest import Lock

    summaries = Lock("summaries", max_hold="60s", wait=5)

    with summaries.hold(chat_id) as lease:  # waits in line, 5 s at most
        write(chat_id, text, fence=lease.fence)

Whoever waits for a key is served first come, first served. The key is let go on
every way out of the ``with``. If the lease ended meanwhile, `LostError` says how, even
when the work succeeded.

The twin for asyncio is `witlock_guest.asynchronous`. A component imports
``witlock:locks@0.2.0`` for this module, and ``@0.3.0`` for that one: each only if it
was built with ``-w witlock:guest/blocking`` or ``-w witlock:guest/asynchronous``.
"""

from typing import TYPE_CHECKING

from ._common import (
    ClosedError,
    Ending,
    HeldByCallerError,
    InUseError,
    InvalidError,
    LockError,
    LostError,
    NotHeldError,
    Span,
    TooManyError,
    UnavailableError,
)

if TYPE_CHECKING:
    from ._blocking import Lease, Lock, Semaphore

__all__ = [
    "ClosedError",
    "Ending",
    "HeldByCallerError",
    "InUseError",
    "InvalidError",
    "Lease",
    "Lock",
    "LockError",
    "LostError",
    "NotHeldError",
    "Semaphore",
    "Span",
    "TooManyError",
    "UnavailableError",
]


def __getattr__(name: str) -> object:
    # Only when asked for: a component that uses the twin for asyncio alone has no
    # bindings of @0.2.0.
    if name in ("Lease", "Lock", "Semaphore"):
        from . import _blocking

        return getattr(_blocking, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
