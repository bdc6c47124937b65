"""What needs no component: spans, texts, errors."""

import unittest
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from witlock_guest import Ending, InUseError, InvalidError, LockError, LostError, UnavailableError
from witlock_guest._common import attach, lift, milliseconds, text
from witlock_guest._terms import Terms


class Spans(unittest.TestCase):
    # LOCK-11
    def test_a_span_is_seconds_a_text_or_a_timedelta(self) -> None:
        for span, millis in [
            (5, 5000), (0.1, 100), (0, 0), ("250ms", 250), ("30s", 30_000), ("1.5m", 90_000),
            ("1h", 3_600_000), (timedelta(minutes=2), 120_000), (4294967.295, 2**32 - 1),
        ]:  # fmt: skip
            self.assertEqual(milliseconds("wait", span), millis, span)
        self.assertIsNone(milliseconds("wait", None))

    # LOCK-11
    def test_what_is_less_than_a_millisecond_counts_as_one(self) -> None:
        for span in (1e-9, 0.0001, "0.5ms", timedelta(microseconds=1)):
            self.assertEqual(milliseconds("wait", span), 1, span)
        self.assertEqual(milliseconds("wait", 0.0011), 2)

    # LOCK-11, LOCK-12
    def test_a_span_too_long_is_invalid(self) -> None:
        for span in ("4294967296ms", 4294967.296, timedelta(milliseconds=2**32)):
            with self.assertRaises(InvalidError) as raised:
                milliseconds("max-hold", span)
            why = "a max-hold is at most 4294967295 ms, not 4294967296"
            self.assertEqual(str(raised.exception), why)

    # LOCK-12
    def test_what_is_no_span_is_refused(self) -> None:
        spans: list[Any] = [-1, -0.001, float("nan"), float("inf"), timedelta(seconds=-1), "", "5",
                            "5 s", "-5s", "1e3s", "5d", "٣s"]  # fmt: skip
        for span in spans:
            self.assertRaises(ValueError, milliseconds, "wait", span)
        for span in (True, b"5s", [5], 1j):
            self.assertRaises(TypeError, milliseconds, "wait", span)


class Arguments(unittest.TestCase):
    # LOCK-12
    def test_texts_and_limits_are_checked(self) -> None:
        self.assertEqual(text("key", "ключ"), "ключ")
        self.assertRaises(TypeError, text, "key", b"key")
        self.assertRaises(ValueError, text, "key", "\ud800")
        rest: Any = (None, None, None, None)
        for limit in ("2", 2.0, True):
            self.assertRaises(TypeError, Terms.of, "name", limit, *rest)
        for number in (-1, 2**32):
            self.assertRaises(ValueError, Terms.of, "name", number, *rest)


@dataclass
class LockError_InUse:
    pass


@dataclass
class LockError_Unavailable:
    value: str


@dataclass(frozen=True)
class Frozen(Exception):
    value: int


class Errors(unittest.TestCase):
    # LOCK-12
    def test_errors_of_the_bindings_become_those_of_the_sdk(self) -> None:
        self.assertIsInstance(lift(LockError_InUse()), InUseError)
        gone = lift(LockError_Unavailable("no answer"))
        self.assertIsInstance(gone, UnavailableError)
        self.assertEqual(gone.reason, "no answer")
        self.assertEqual(str(gone), "the store is unavailable: no answer")

    # LOCK-07
    def test_a_loss_is_found_behind_the_works_own_error(self) -> None:
        lost = LostError(Ending.REVOKED)
        self.assertIsInstance(lost, LockError)
        self.assertIs(LostError.of(lost), lost)
        for work in (KeyError("boom"), Frozen(1)):
            self.assertIsNone(LostError.of(work))
            attach(lost, work)
            self.assertIs(LostError.of(work), lost)

        try:
            try:
                raise KeyError("inner")
            except KeyError:
                raise ValueError("outer")
        except ValueError as error:
            attach(lost, error)
            self.assertIsInstance(error.__context__, KeyError)
            self.assertIs(LostError.of(error), lost)


if __name__ == "__main__":
    unittest.main()
