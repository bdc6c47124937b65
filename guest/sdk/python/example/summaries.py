"""One summary per chat, whoever else writes: ``summaries.wasm CHAT [WORK_MS]``."""

import sys
import time

from componentize_py_types import Err
from wit_world import exports

import shelf
from witlock_guest import Lock, LockError, LostError

summaries = Lock("summaries", max_hold="2s", wait="5m", label="python")


def summarise(chat: str, work: float) -> None:
    with summaries.hold(chat) as lease:
        print(f"python summarises {chat} under fence {lease.fence}", flush=True)
        time.sleep(work)  # Stands for asking a model.
        # The lease may be over by now, or right after a look at it: so its fence goes
        # along, and the shelf refuses who is late.
        shelf.save(chat, "what was said", lease.fence, writer="python")
        print(f"python wrote {chat} under fence {lease.fence}", flush=True)


class Run(exports.Run):
    def run(self) -> None:
        chat, work = (*sys.argv[1:], "50")[:2]
        try:
            summarise(chat, int(work) / 1000)
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
            return
        raise Err(None)  # Exit code 1.
