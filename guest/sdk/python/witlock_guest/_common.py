"""What the two halves share: errors, endings, and what is checked before a call."""

import enum
import math
import re
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction

Span = float | str | timedelta
"""A span of time: seconds, or a text as "250ms", "30s", "5m" or "1h", or a timedelta.

What is less than a millisecond counts as one, save 0.
"""


class Ending(enum.Enum):
    """How a lease ended."""

    RELEASED = "released"
    """Its holder released it."""
    EXPIRED = "expired"
    """Its ttl ran out unrenewed."""
    REVOKED = "revoked"
    """Its max-hold was reached."""
    BROKEN = "broken"
    """An operator broke it."""
    CLOSED = "closed"
    """The store closed."""
    UNREACHABLE = "unreachable"
    """The store could not be reached for so long that the lease may have been given on."""

    def __str__(self) -> str:
        return self.value


class LockError(Exception):
    """Why a key was not given, or was not held to the end. All others are of this one."""

    reason: str
    """What the store says, for `InvalidError`, `TooManyError` and `UnavailableError`."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class InUseError(LockError):
    """The key was still held when the wait ran out."""

    def __init__(self) -> None:
        super().__init__("the key was still held when the wait ran out")


class HeldByCallerError(LockError):
    """The key is held by this component itself, which would wait for itself.

    The asyncio twin doesn't raise it: there, another task may let the key go.
    """

    def __init__(self) -> None:
        super().__init__("the key is held by the caller itself, which would wait for itself")


class InvalidError(LockError):
    """A name, a key, a limit or an option is out of its bounds, or the key is in use
    under another limit; says which."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, reason)


class TooManyError(LockError):
    """As many wait for the key, or are held by the caller, as may; says which."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, reason)


class ClosedError(LockError):
    """The store closed."""

    def __init__(self) -> None:
        super().__init__("the store closed")


class UnavailableError(LockError):
    """The store or its durable fences cannot be reached; says why. The caller holds
    nothing."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the store is unavailable: {reason}", reason)


class LostError(LockError):
    """The lease ended while the work ran: what was done under it may have run beside
    another holder, even if it succeeded."""

    ending: Ending

    def __init__(self, ending: Ending) -> None:
        super().__init__(f"the lease was lost while the work ran: {ending}")
        self.ending = ending

    @staticmethod
    def of(error: BaseException) -> "LostError | None":
        """The loss behind an error, if there was one.

        An error of the work comes out of the ``with`` as it is. If the lease was lost
        as well, the loss is in its ``__context__``, and is found by this.
        """
        return next((one for one in _chain(error) if isinstance(one, LostError)), None)


class NotHeldError(LockError):
    """A lease was used after its hold."""

    def __init__(self) -> None:
        super().__init__("the hold of this lease is over")


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        yield one
        seen.add(id(one))
        one = one.__context__


def attach(lost: LostError, error: BaseException) -> None:
    """Puts a loss behind the error that came out of the work."""
    *_, first = _chain(error)
    # As a method of the base, which a frozen dataclass does not refuse.
    BaseException.__setattr__(first, "__context__", lost)


def lift(raw: object) -> LockError:
    """An error of the bindings, whose classes are others for each version."""
    reason = str(getattr(raw, "value", ""))
    match type(raw).__name__:
        case "LockError_InUse":
            return InUseError()
        case "LockError_HeldByCaller":
            return HeldByCallerError()
        case "LockError_Invalid":
            return InvalidError(reason)
        case "LockError_TooMany":
            return TooManyError(reason)
        case "LockError_Closed":
            return ClosedError()
        case _:
            return UnavailableError(reason)


_LONGEST = 2**32 - 1
_UNITS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}
_TEXT = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")


def _seconds(what: str, span: Span) -> Fraction:
    # A bool is an int.
    if isinstance(span, bool) or not isinstance(span, (int, float, str, timedelta)):
        kind = type(span).__name__
        raise TypeError(f"a {what} is seconds, a text as '30s', or a timedelta, not {kind}")
    if isinstance(span, timedelta):
        return Fraction(span // timedelta(microseconds=1), 1_000_000)
    if isinstance(span, str):
        parts = _TEXT.fullmatch(span)
        if parts is None:
            raise ValueError(f"a {what} is a text as '250ms', '30s', '5m' or '1h', not {span!r}")
        return Fraction(parts[1]) * _UNITS[parts[2]]
    if not math.isfinite(span):
        raise ValueError(f"a {what} is a number of seconds, not {span}")
    # By a float's own decimals: 0.1 is a tenth.
    return Fraction(float.__repr__(span) if isinstance(span, float) else span)


def milliseconds(what: str, span: Span | None) -> int | None:
    """A span as the interface takes it."""
    if span is None:
        return None
    seconds = _seconds(what, span)
    if seconds < 0:
        raise ValueError(f"a {what} is not negative, as {span!r} is")
    millis = math.ceil(seconds * 1000)
    if millis > _LONGEST:
        raise InvalidError(f"a {what} is at most {_LONGEST} ms, not {millis}")
    return millis


def text(what: str, value: str) -> str:
    """A text as the interface takes it."""
    if not isinstance(value, str):
        raise TypeError(f"a {what} is a str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"a {what} is Unicode text, without lone surrogates") from None
    return value


def without_world(world: str, version: str) -> ImportError:
    """What is said at the build of a component that imports the other version."""
    return ImportError(
        f"the component does not import witlock:locks@{version}: "
        f"build it with `componentize-py -w witlock:guest/{world} ...`"
    )
