"""What every SDK has to do, case by case: ``conformance.wasm CASE``."""

import sys
import time
from collections.abc import Callable
from typing import Any

from componentize_py_types import Err
from wit_world import exports

from report import say, told
from witlock_guest import (
    Ending,
    Lease,
    Lock,
    LockError,
    LostError,
    NotHeldError,
    Semaphore,
)

# At the top of a module, where a build runs it.
LOCK = Lock("conformance")


def failing(work: Callable[[], object]) -> None:
    try:
        work()
        say("no error")
    except LockError as error:
        say(told(error))


def tried(lease: Lease | None) -> None:
    if lease is None:
        say("none")
        return
    with lease:
        say(f"fence {lease.fence}")


def try_key() -> None:
    tried(LOCK.try_hold("key"))


def hold() -> None:
    with LOCK.hold("key") as lease:
        say(f"fence {lease.fence}")
        try_key()
    try_key()


def wait() -> None:
    failing(lambda: LOCK.hold("key", wait="50ms"))
    failing(lambda: Lock("conformance", wait=0.05).hold("key"))


def tries() -> None:
    try_key()
    tried(LOCK.try_hold("other"))


def held_by_caller() -> None:
    with LOCK.hold("key"):
        failing(lambda: LOCK.hold("key", wait=0.1))


def until_ended(lease: Lease) -> Ending:
    while (how := lease.ended) is None:
        time.sleep(0.01)
    return how


BOUNDED = Lock("conformance", max_hold=0.1)


def lost() -> None:
    def work() -> None:
        with BOUNDED.hold("key") as lease:
            say(f"ended {until_ended(lease)}")

    failing(work)


def invalid() -> None:
    failing(lambda: Lock("").hold("key"))
    failing(lambda: Lock("n" * 129).hold("key"))
    failing(lambda: LOCK.hold(""))
    failing(lambda: LOCK.try_hold("k" * 1025))
    failing(lambda: Semaphore("conformance", 0).hold("key"))
    failing(lambda: Semaphore("conformance", 1001).hold("key"))
    failing(lambda: Lock("conformance", ttl="999ms").hold("key"))
    failing(lambda: Lock("conformance", max_hold=0).hold("key"))
    failing(lambda: Lock("conformance", label="l" * 129).hold("key"))


def spans() -> None:
    failing(lambda: LOCK.hold("key", wait="4294967296ms"))
    failing(lambda: Lock("conformance", ttl="4294967296ms"))
    failing(lambda: Lock("conformance", max_hold="4294967296ms"))


def drop() -> None:
    lease = LOCK.hold("key")
    say(f"fence {lease.fence}")
    del lease
    try_key()


class Boom(Exception):
    pass


def exception() -> None:
    try:
        with LOCK.hold("key"):
            raise Boom("boom")
    except Boom as error:
        say(str(error))
    try_key()


def exception_lost() -> None:
    try:
        with BOUNDED.hold("key") as lease:
            until_ended(lease)
            raise Boom("boom")
    except Boom as error:
        say(str(error))
        loss = LostError.of(error)
        assert loss is not None and loss.ending is Ending.REVOKED


def uncaught() -> None:
    with LOCK.hold("key") as lease:
        say(f"fence {lease.fence}")
        raise Boom("boom")


def semaphore() -> None:
    two = Semaphore("conformance", 2)
    with two.hold("key") as one:
        say(f"fence {one.fence}")
        with two.hold("key") as other:
            say(f"fence {other.fence}")
            tried(two.try_hold("key"))
            failing(lambda: two.hold("key", wait=0.1))
    tried(two.try_hold("key"))


def fence() -> None:
    with LOCK.hold("key") as lease:
        say(f"fence {lease.fence}")


def released() -> None:
    with LOCK.hold("key") as lease:
        lease.release()
        say(f"fence {lease.fence}")
        try_key()
        lease.release()
    say("ok")


def refused(error: type[Exception], work: Callable[[], object]) -> None:
    try:
        work()
        say("no error")
    except error:
        say("refused")


def after() -> None:
    with LOCK.hold("key") as lease:
        pass
    refused(NotHeldError, lambda: lease.fence)
    refused(NotHeldError, lambda: lease.ended)
    refused(NotHeldError, lease.release)


def misuse() -> None:
    none: Any = 1
    refused(TypeError, lambda: LOCK.hold(none))
    refused(ValueError, lambda: LOCK.hold("key", wait=-1))
    refused(ValueError, lambda: LOCK.hold("key", wait=float("nan")))
    refused(ValueError, lambda: LOCK.hold("key", wait="soon"))
    refused(TypeError, lambda: Lock(none))
    fence()


CASES = {
    "hold": hold,
    "wait": wait,
    "try": tries,
    "held-by-caller": held_by_caller,
    "lost": lost,
    "invalid": invalid,
    "spans": spans,
    "drop": drop,
    "exception": exception,
    "exception-lost": exception_lost,
    "uncaught": uncaught,
    "semaphore": semaphore,
    "fence": fence,
    "released": released,
    "after": after,
    "misuse": misuse,
}


class Run(exports.Run):
    def run(self) -> None:
        case = sys.argv[1] if len(sys.argv) > 1 else ""
        if case not in CASES:
            print(f"no such case: {case!r}", file=sys.stderr)
            raise Err(None)
        CASES[case]()
