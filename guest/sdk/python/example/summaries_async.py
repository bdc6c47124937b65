"""One summary per chat, whoever else writes: ``summaries.wasm CHAT [WORK_MS]``."""

import sys

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import monotonic_clock

import shelf
from witlock_guest import LockError, LostError
from witlock_guest.asynchronous import Lock

summaries = Lock("summaries", max_hold="2s", wait="60s", label="python-async")


async def summarize(chat: str, work: float) -> int:
    async with summaries.hold(chat) as lease:
        # Stands for asking a model. (asyncio has no timers in a component.)
        await monotonic_clock.wait_for(int(work * 1e9))
        shelf.save(chat, "what was said", lease.fence, writer="python-async")
        return lease.fence


class Run(exports.Run):
    async def run(self) -> None:
        chat, work = (*sys.argv[1:], "50")[:2]
        try:
            fence = await summarize(chat, int(work) / 1000)
        except shelf.Late as late:
            print(f"not written: {late}", file=sys.stderr)
            # The work's own error comes out of the hold; the loss is behind it.
            if lost := LostError.of(late):
                print(f"lease lost: {lost.ending}", file=sys.stderr)
        except LostError as lost:
            print(f"lease lost: {lost.ending}", file=sys.stderr)
        except LockError as error:
            print(f"no key: {error}", file=sys.stderr)
        else:
            print(f"python-async wrote {chat} under fence {fence}")
            return
        raise Err(None)  # Exit code 1.
