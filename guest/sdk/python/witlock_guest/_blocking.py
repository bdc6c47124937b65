"""Locks whose holds block the component, over ``witlock:locks@0.2.0``."""

import sys
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from componentize_py_types import Err

from ._common import (
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
    from .bindings.imports import blocking as raw
except ImportError:
    raise without_world("blocking", "0.2.0") from None
# What is in the package is for editors and type checkers.
if sys.platform == "wasi" and not hasattr(raw, "componentize_py_runtime"):
    raise without_world("blocking", "0.2.0")

T = TypeVar("T")
P = ParamSpec("P")


def _ask(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return call(*args, **kwargs)
    except Err as error:
        raise lift(error.value) from None


class Lease(Held[raw.Lease]):
    """A key held, to be used as a context manager, which lets the key go at its end.

    A lease that is used otherwise lets its key go by `release`, or when nothing refers
    to it any more.
    """

    def release(self) -> None:
        """Releases the key before the end of the ``with``. A second time does nothing.

        Raises `LostError` if the lease had ended before.
        """
        lost = _release(self._held())
        if lost is not None:
            raise lost

    def __enter__(self) -> "Lease":
        self._held()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._raw is None:
            return  # An inner `with` of the same lease let it go.
        held, self._raw = self._raw, None
        lost = _release(held)
        held.__exit__(None, None, None)  # Drops the handle, which must be done once.
        if lost is None:
            return
        if error is None:
            raise lost
        attach(lost, error)


def _release(held: raw.Lease) -> LostError | None:
    try:
        held.release()
    except Err as error:
        return loss(error.value)
    return None


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
                self._raw = _ask(raw.Lock.open, terms.name, options)
            else:
                self._raw = _ask(raw.Semaphore.open, terms.name, terms.limit, options)
        return self._raw

    def hold(self, key: str, *, wait: Span | None = None) -> Lease:
        """Waits for the key, 1 to 1024 bytes, and holds it while the ``with`` runs:

            with summaries.hold(chat_id) as lease:
                ...

        ``wait`` is in place of the lock's own; a wait of 0 takes the key only if it is
        free. All of the component stands still while it waits.

        Raises `InUseError` if the wait ran out, or another `LockError` that says why the
        key was not given; and at the end of the ``with``, `LostError` if the lease ended
        while the work ran, even if the work succeeded. If the work failed, its own error
        comes out, and `LostError.of` tells whether the lease was lost as well.
        """
        key, millis = text("key", key), milliseconds("wait", wait)
        return Lease(_ask(self._opened().hold, key, millis))

    def try_hold(self, key: str) -> Lease | None:
        """Holds the key if it is free; None if it is held, by whomever.

            lease = summaries.try_hold(chat_id)
            if lease is None:
                return
            with lease:
                ...
        """
        held = _ask(self._opened().try_hold, text("key", key))
        return None if held is None else Lease(held)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._terms.name!r}>"


class Lock(OfLock, _Keys):
    __doc__ = OfLock.__doc__


class Semaphore(OfSemaphore, _Keys):
    __doc__ = OfSemaphore.__doc__
