//! Spans of time, as a person writes them: `500ms`, `30s`, `5m`, `2h`.

use std::time::Duration;

/// Spans are 32-bit milliseconds, everywhere.
const LONGEST: Duration = Duration::from_millis(u32::MAX as u64);

/// The units, and how many milliseconds each has. `ms` stands before `s`, with
/// which it ends, too.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// Reads a whole number and its unit.
pub fn span(text: &str) -> Result<Duration, String> {
    let unit = UNITS.iter().find_map(|(unit, milliseconds)| {
        let number = text.strip_suffix(unit)?;
        is_number(number).then_some((number, milliseconds))
    });
    let Some((number, milliseconds)) = unit else {
        return Err("write a whole number and its unit, as in 500ms, 30s, 5m or 2h".to_owned());
    };
    // Digits alone: it fails only where there are too many.
    let span = number.parse().ok().and_then(|n: u64| {
        let span = Duration::from_millis(n.checked_mul(*milliseconds)?);
        (span <= LONGEST).then_some(span)
    });
    span.ok_or_else(|| format!("the longest is {}ms, which is 49 days", u32::MAX))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The same for a reader, in the largest unit of which there is at least one.
pub fn shown(span: Duration) -> String {
    let milliseconds = span.as_millis();
    let largest = UNITS.iter().rev().find(|(unit, length)| {
        // Two minutes are told in seconds, for there the seconds matter.
        let least = if *unit == "ms" {
            0
        } else {
            2 * u128::from(*length)
        };
        milliseconds >= least
    });
    let (unit, length) = largest.unwrap_or(&UNITS[0]);
    format!("{}{unit}", milliseconds / u128::from(*length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_unit_is_a_span() {
        for (text, milliseconds) in [
            ("0s", 0),
            ("500ms", 500),
            ("30s", 30_000),
            ("5m", 300_000),
            ("2h", 7_200_000),
            ("4294967295ms", 4_294_967_295),
        ] {
            assert_eq!(
                span(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn anything_else_is_told_how_to_write_it() {
        for text in [
            "", "s", "30", "1.5s", "-1s", "+1s", " 1s", "1 s", "1d", "1S", "1sm", "١s",
        ] {
            let error = span(text).expect_err(text);
            assert!(error.contains("500ms, 30s, 5m or 2h"), "{text}: {error}");
        }
    }

    // LOCK-11
    #[test]
    fn what_is_too_long_is_told_the_longest() {
        for text in [
            "4294967296ms",
            "1194h",
            "18446744073709551616s",
            "18446744073709551615h",
        ] {
            let error = span(text).expect_err(text);
            assert!(error.contains("4294967295ms"), "{text}: {error}");
        }
    }

    #[test]
    fn spans_are_shown_in_the_largest_unit_that_tells_them() {
        for (milliseconds, text) in [
            (0, "0ms"),
            (1_999, "1999ms"),
            (2_000, "2s"),
            (119_999, "119s"),
            (120_000, "2m"),
            (7_199_999, "119m"),
            (7_200_000, "2h"),
        ] {
            assert_eq!(shown(Duration::from_millis(milliseconds)), text);
        }
    }
}
