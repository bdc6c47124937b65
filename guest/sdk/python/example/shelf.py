"""Where summaries are kept: a file that is only ever appended to, and the guard of it.

A line ``FENCE CHAT WRITER TEXT`` counts only if its fence is larger than that of every
earlier line of its chat. A line is appended by one write, so that lines have an order,
and the first to be read after it tells whether it counts: that makes the append an atomic
comparison, with no lock of the shelf's own.
"""

import os

PLACE = "/shelf/summaries"


class Late(Exception):
    """A later holder has written; nothing of the late one counts."""


def save(chat: str, text: str, fence: int, writer: str) -> None:
    """Writes a chat's summary, or raises `Late`."""
    line = f"{fence} {chat} {writer} {text}\n".encode()
    shelf = os.open(PLACE, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(shelf, line)
    finally:
        os.close(shelf)

    largest = 0
    with open(PLACE, encoding="utf-8") as lines:
        for one in lines:
            its, of, _ = one.split(" ", 2)
            if of != chat:
                continue
            if one.encode() == line and int(its) <= largest:
                raise Late(f"{fence} is late, {largest} has written")
            largest = max(largest, int(its))
