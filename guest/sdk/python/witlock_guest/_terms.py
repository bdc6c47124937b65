"""How locks and semaphores are made, in both halves."""

from typing import NamedTuple

from ._common import Span, milliseconds, text


class Terms(NamedTuple):
    """How a lock or a semaphore is opened, checked."""

    name: str
    limit: int | None
    ttl: int | None
    wait: int | None
    max_hold: int | None
    label: str | None

    @staticmethod
    def of(
        name: str,
        limit: int | None,
        ttl: Span | None,
        wait: Span | None,
        max_hold: Span | None,
        label: str | None,
    ) -> "Terms":
        if limit is not None:
            if isinstance(limit, bool) or not isinstance(limit, int):
                raise TypeError(f"a limit is an int, not {type(limit).__name__}")
            if not 0 <= limit < 2**32:
                raise ValueError(f"a limit is 1 to 1000, not {limit}")
        return Terms(
            text("name", name),
            limit,
            milliseconds("ttl", ttl),
            milliseconds("wait", wait),
            milliseconds("max-hold", max_hold),
            None if label is None else text("label", label),
        )


class OfLock:
    """Keys held by one holder at a time.

    It may be made at the top of a module. The store hears of it at its first hold, which
    also says so if the name or an option is out of its bounds.

    - ``name``: 1 to 128 bytes. Whoever opens the name shares its keys.
    - ``wait``: how long a hold waits in line; 10 s unless given.
    - ``max_hold``: how long one lease may last from its grant. Past it the key goes to
      the next in line, whatever its holder does. No bound unless given.
    - ``ttl``: where the store is reached over a connection, how long a lease lasts from
      its last renewal, 1 s to 1 h; 30 s unless given.
    - ``label``: what an operator sees beside the leases, at most 128 bytes.
    """

    def __init__(
        self,
        name: str,
        *,
        ttl: Span | None = None,
        wait: Span | None = None,
        max_hold: Span | None = None,
        label: str | None = None,
    ) -> None:
        self._terms = Terms.of(name, None, ttl, wait, max_hold, label)


class OfSemaphore:
    """Keys held by up to ``limit`` holders at a time, 1 to 1000; otherwise as `Lock`.

    A lock and a semaphore of one name are two things. A hold of a key that is in use
    under another limit is an `InvalidError` until nobody uses the key.
    """

    def __init__(
        self,
        name: str,
        limit: int,
        *,
        ttl: Span | None = None,
        wait: Span | None = None,
        max_hold: Span | None = None,
        label: str | None = None,
    ) -> None:
        # None is how a lock is told from a semaphore.
        if limit is None:
            raise TypeError("a limit is an int, not NoneType")
        self._terms = Terms.of(name, limit, ttl, wait, max_hold, label)
