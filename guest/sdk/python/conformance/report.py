"""What both halves print."""

from witlock_guest import (
    ClosedError,
    HeldByCallerError,
    InUseError,
    InvalidError,
    LockError,
    LostError,
    TooManyError,
    UnavailableError,
)


def say(line: str) -> None:
    # At once: a guest that traps loses what it has not written.
    print(line, flush=True)


def told(error: LockError) -> str:
    match error:
        case InUseError():
            return "in-use"
        case HeldByCallerError():
            return "held-by-caller"
        case InvalidError():
            return f"invalid: {error.reason}"
        case TooManyError():
            return f"too-many: {error.reason}"
        case ClosedError():
            return "closed"
        case UnavailableError():
            return f"unavailable: {error.reason}"
        case LostError():
            return f"lost: {error.ending}"
        case _:
            return str(error)
