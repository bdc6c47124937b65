"""What every SDK has to do, case by case, with asyncio: ``conformance.wasm CASE``."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import monotonic_clock

from report import say, told
from witlock_guest import (
    Ending,
    LockError,
    LostError,
    NotHeldError,
)
from witlock_guest.asynchronous import Lease, Lock, Semaphore

# At the top of a module, where a build runs it.
LOCK = Lock("conformance")


async def failing(work: Callable[[], Any]) -> None:
    try:
        await work()
        say("no error")
    except LockError as error:
        say(told(error))


async def tried(lease: Lease | None) -> None:
    if lease is None:
        say("none")
        return
    async with lease:
        say(f"fence {lease.fence}")


async def try_key() -> None:
    await tried(await LOCK.try_hold("key"))


async def hold() -> None:
    async with LOCK.hold("key") as lease:
        say(f"fence {lease.fence}")
        await try_key()
    await try_key()


async def wait() -> None:
    await failing(lambda: LOCK.hold("key", wait="50ms"))
    await failing(lambda: Lock("conformance", wait=0.05).hold("key"))


async def tries() -> None:
    await try_key()
    await tried(await LOCK.try_hold("other"))


async def held_by_caller() -> None:
    async with LOCK.hold("key"):
        await failing(lambda: LOCK.hold("key", wait=0.1))


async def until_ended(lease: Lease) -> Ending:
    while (how := lease.ended) is None:
        await monotonic_clock.wait_for(10_000_000)
    return how


BOUNDED = Lock("conformance", max_hold=0.1)


async def lost() -> None:
    async def work() -> None:
        async with BOUNDED.hold("key") as lease:
            say(f"ended {await until_ended(lease)}")

    await failing(work)


async def invalid() -> None:
    await failing(lambda: Lock("").hold("key"))
    await failing(lambda: Lock("n" * 129).hold("key"))
    await failing(lambda: LOCK.hold(""))
    await failing(lambda: LOCK.try_hold("k" * 1025))
    await failing(lambda: Semaphore("conformance", 0).hold("key"))
    await failing(lambda: Semaphore("conformance", 1001).hold("key"))
    await failing(lambda: Lock("conformance", ttl="999ms").hold("key"))
    await failing(lambda: Lock("conformance", max_hold=0).hold("key"))
    await failing(lambda: Lock("conformance", label="l" * 129).hold("key"))


async def spans() -> None:
    await failing(lambda: LOCK.hold("key", wait="4294967296ms"))
    await failing(lambda: Lock("conformance", ttl="4294967296ms"))
    await failing(lambda: Lock("conformance", max_hold="4294967296ms"))


async def drop() -> None:
    lease = await LOCK.hold("key")
    say(f"fence {lease.fence}")
    del lease
    await try_key()


class Boom(Exception):
    pass


async def exception() -> None:
    try:
        async with LOCK.hold("key"):
            raise Boom("boom")
    except Boom as error:
        say(str(error))
    await try_key()


async def exception_lost() -> None:
    try:
        async with BOUNDED.hold("key") as lease:
            await lease.until_ended()
            raise Boom("boom")
    except Boom as error:
        say(str(error))
        loss = LostError.of(error)
        assert loss is not None and loss.ending is Ending.REVOKED


async def uncaught() -> None:
    async with LOCK.hold("key") as lease:
        say(f"fence {lease.fence}")
        raise Boom("boom")


async def semaphore() -> None:
    two = Semaphore("conformance", 2)
    async with two.hold("key") as one:
        say(f"fence {one.fence}")
        async with two.hold("key") as other:
            say(f"fence {other.fence}")
            await tried(await two.try_hold("key"))
            await failing(lambda: two.hold("key", wait=0.1))
    await tried(await two.try_hold("key"))


async def fence() -> None:
    async with LOCK.hold("key") as lease:
        say(f"fence {lease.fence}")


async def released() -> None:
    async with LOCK.hold("key") as lease:
        await lease.release()
        say(f"fence {lease.fence}")
        await try_key()
        await lease.release()
    say("ok")


async def refused(error: type[Exception], work: Callable[[], Any]) -> None:
    try:
        await work()
        say("no error")
    except error:
        say("refused")


async def after() -> None:
    async with LOCK.hold("key") as lease:
        pass
    await refused(NotHeldError, lambda: lease.fence)
    await refused(NotHeldError, lambda: lease.ended)
    await refused(NotHeldError, lease.release)
    try:
        await lease.until_ended()
        say("no error")
    except NotHeldError:
        pass


async def misuse() -> None:
    none: Any = 1
    await refused(TypeError, lambda: LOCK.hold(none))
    await refused(ValueError, lambda: LOCK.hold("key", wait=-1))
    await refused(ValueError, lambda: LOCK.hold("key", wait=float("nan")))
    await refused(ValueError, lambda: LOCK.hold("key", wait="soon"))
    await refused(TypeError, lambda: Lock(none))
    await fence()


async def cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    try:
        await task
        say("no error")
    except asyncio.CancelledError:
        say("cancelled")


async def cancel() -> None:
    holds, over, never = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work(key: str, holds: asyncio.Event, until: asyncio.Event) -> None:
        async with LOCK.hold(key):
            holds.set()
            await until.wait()

    first = asyncio.create_task(work("mine", holds, over))
    await holds.wait()
    second = asyncio.create_task(work("mine", asyncio.Event(), never))
    await monotonic_clock.wait_for(20_000_000)  # It stands in line.
    await cancelled(second)

    holds.clear()
    third = asyncio.create_task(work("other", holds, never))
    await holds.wait()
    await cancelled(third)

    over.set()
    await first
    for key in ("mine", "other"):
        async with LOCK.hold(key) as lease:
            say(f"fence {lease.fence}")


CASES: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
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
    "cancel": cancel,
}


class Run(exports.Run):
    async def run(self) -> None:
        case = sys.argv[1] if len(sys.argv) > 1 else ""
        if case not in CASES:
            print(f"no such case: {case!r}", file=sys.stderr)
            raise Err(None)
        await CASES[case]()
