"""Locks for asyncio, over ``witlock:locks@0.3.0``: while one task waits, the component's
others go on.

    from witlock_guest.asynchronous import Lock

    summaries = Lock("summaries", max_hold="60s", wait=5)

    async with summaries.hold(chat_id) as lease:
        await write(chat_id, text, fence=lease.fence)

The errors are those of `witlock_guest`.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Generator
from types import TracebackType
from typing import Any, Generic, TypeVar

from componentize_py_async_support import spawn
from componentize_py_types import Err

from ._common import (
    Ending,
    LostError,
    Span,
    attach,
    lift,
    milliseconds,
    text,
    without_world,
)
from ._held import Held, loss
from ._terms import OfLock, OfSemaphore, Terms

try:
    from .bindings.imports import asynchronous as raw
except ImportError:
    raise without_world("asynchronous", "0.3.0") from None
# What is in the package is for editors and type checkers.
if sys.platform == "wasi" and not hasattr(raw, "componentize_py_runtime"):
    raise without_world("asynchronous", "0.3.0")

__all__ = ["Hold", "Lease", "Lock", "Semaphore"]

T = TypeVar("T")


# Calls of the interface can't be cancelled: an import that is awaited by a task that is
# cancelled ends the whole component when it answers. So each is awaited by a task of its
# own, which nobody cancels, and whoever asked awaits a future. A hold whose asker was
# cancelled stays in line, and lets the key go as soon as it is given.


class _Call(Generic[T]):
    def __init__(self, call: Callable[[], Awaitable[T]], unwanted: Callable[[T], None]) -> None:
        self._call = call
        self._unwanted = unwanted
        # An error is a result here: the loop ends the component over one that nobody
        # looks at.
        self._answer: asyncio.Future[T | Exception] = asyncio.get_running_loop().create_future()
        spawn(self._run())

    async def _run(self) -> None:
        if self._answer.cancelled():
            return
        try:
            answer: T | Exception = await self._call()
        except Exception as error:
            answer = error
        if not self._answer.cancelled():
            self._answer.set_result(answer)
        elif not isinstance(answer, Exception):
            self._unwanted(answer)

    async def answer(self) -> T:
        try:
            answer = await self._answer
        except asyncio.CancelledError:
            # Cancelled in the very turn in which the answer came.
            if not self._answer.cancelled() and self._answer.done():
                answer = self._answer.result()
                if not isinstance(answer, Exception):
                    self._unwanted(answer)
            raise
        if isinstance(answer, Exception):
            raise answer
        return answer


def _drop(held: raw.Lease | None) -> None:
    if held is not None:
        held.__exit__(None, None, None)


def _keep(_: object) -> None:
    pass


async def _ask(call: Callable[[], Awaitable[T]], unwanted: Callable[[T], None]) -> T:
    try:
        return await _Call(call, unwanted).answer()
    except Err as error:
        raise lift(error.value) from None


async def _release(held: raw.Lease) -> LostError | None:
    try:
        await _Call(held.release, _keep).answer()
    except Err as error:
        return loss(error.value)
    return None


class Lease(Held[raw.Lease]):
    """A key held, to be used as an async context manager, which lets the key go at its
    end.

    A lease that is used otherwise lets its key go by `release`, or when nothing refers
    to it any more.
    """

    def __init__(self, held: raw.Lease) -> None:
        self._watched = False
        super().__init__(held)

    async def until_ended(self) -> Ending:
        """Waits until the lease ends, `Ending.RELEASED` included, and says how."""
        held = self._held()
        self._watched = True
        how = await _Call(held.until_ended, _keep).answer()
        return Ending[how.name]

    async def release(self) -> None:
        """Releases the key before the end of the ``async with``. A second time does
        nothing.

        Raises `LostError` if the lease had ended before.
        """
        lost = await _release(self._held())
        if lost is not None:
            raise lost

    async def __aenter__(self) -> "Lease":
        self._held()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._raw is None:
            return  # An inner `async with` of the same lease let it go.
        if isinstance(error, GeneratorExit):
            self._let_go()  # The task is being thrown away, and can't wait.
            return
        held, self._raw = self._raw, None
        lost = await _release(held)
        # The handle is dropped when nothing refers to it any more: an `until_ended` may
        # be about to tell, and borrows it.
        if lost is None:
            return
        if error is None:
            raise lost
        attach(lost, error)

    def _let_go(self) -> None:
        held, self._raw = self._raw, None
        if held is None:
            return
        if self._watched:
            _Call(held.release, _keep)
        else:
            _drop(held)

    def __del__(self) -> None:
        self._let_go()


class Hold:
    """What `Lock.hold` gives: to be awaited for a lease, or used by ``async with``; once."""

    def __init__(self, keys: "_Keys", key: str, wait: int | None) -> None:
        self._ask: Callable[[], Awaitable[raw.Lease]] | None
        self._ask = lambda: keys._opened().hold(key, wait)
        self._lease: Lease | None = None

    async def _take(self) -> Lease:
        ask, self._ask = self._ask, None
        if ask is None:
            raise RuntimeError("a hold is used once: ask for the key again")
        return Lease(await _ask(ask, _drop))

    def __await__(self) -> Generator[Any, None, Lease]:
        return self._take().__await__()

    async def __aenter__(self) -> Lease:
        self._lease = await self
        return self._lease

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            await lease.__aexit__(kind, error, trace)


class _Keys:
    _raw: raw.Lock | raw.Semaphore | None = None
    _terms: Terms

    def _opened(self) -> raw.Lock | raw.Semaphore:
        # Not before the first hold: a module runs when the component is built, where
        # there is no store.
        if self._raw is None:
            terms = self._terms
            options = raw.Options(terms.ttl, terms.wait, terms.max_hold, terms.label)
            if terms.limit is None:
                self._raw = raw.Lock.open(terms.name, options)
            else:
                self._raw = raw.Semaphore.open(terms.name, terms.limit, options)
        return self._raw

    def hold(self, key: str, *, wait: Span | None = None) -> Hold:
        """Waits for the key, 1 to 1024 bytes, and holds it while the ``async with`` runs:

            async with summaries.hold(chat_id) as lease:
                ...

        or, without one, ``lease = await summaries.hold(chat_id)``. ``wait`` is in place
        of the lock's own; a wait of 0 takes the key only if it is free.

        Raises `InUseError` if the wait ran out, or another `LockError` that says why the
        key was not given; and at the end of the ``async with``, `LostError` if the lease
        ended while the work ran, even if the work succeeded. If the work failed, its own
        error comes out, and `LostError.of` tells whether the lease was lost as well.

        A task that is cancelled while it waits holds nothing. Its place in line is given
        up when its turn comes or its wait runs out.
        """
        return Hold(self, text("key", key), milliseconds("wait", wait))

    async def try_hold(self, key: str) -> Lease | None:
        """Holds the key if it is free; None if it is held, by whomever.

            lease = await summaries.try_hold(chat_id)
            if lease is None:
                return
            async with lease:
                ...
        """
        key = text("key", key)
        held = await _ask(lambda: self._opened().try_hold(key), _drop)
        return None if held is None else Lease(held)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._terms.name!r}>"


class Lock(OfLock, _Keys):
    __doc__ = OfLock.__doc__


class Semaphore(OfSemaphore, _Keys):
    __doc__ = OfSemaphore.__doc__
