"""What the leases of both halves have alike."""

from typing import Generic, Protocol, TypeVar

from ._common import Ending, LostError, NotHeldError


class Named(Protocol):
    """A case of an enum of the bindings, whose classes are others for each version."""

    @property
    def name(self) -> str: ...


class Raw(Protocol):
    """A lease of the bindings."""

    def fence(self) -> int: ...
    def ended(self) -> Named | None: ...


R = TypeVar("R", bound=Raw)


class Held(Generic[R]):
    """A lease until its hold is over."""

    _raw: R | None

    def __init__(self, held: R) -> None:
        self._raw = held
        self._fence = held.fence()

    def _held(self) -> R:
        if self._raw is None:
            raise NotHeldError
        return self._raw

    @property
    def fence(self) -> int:
        """The lease's fence: larger than that of every lease the store gave before,
        restarts included; at least 1 and below 2**53. Hand it to what the work writes
        to, and let that refuse older ones."""
        self._held()
        return self._fence

    @property
    def ended(self) -> Ending | None:
        """How the lease ended, or None while it lasts. Once it ended, another holder
        may hold the key."""
        how = self._held().ended()
        return None if how is None else Ending[how.name]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._fence}{'' if self._raw else ', over'}>"


def loss(how: Named) -> LostError | None:
    """What a release says of a lease that had ended before."""
    ending = Ending[how.name]
    # It was released before, which is no loss.
    return None if ending is Ending.RELEASED else LostError(ending)
