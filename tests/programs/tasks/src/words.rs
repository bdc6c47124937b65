//! Words of a line: texts are hexadecimal after an `x`, `-` is none.

use std::str::FromStr;

/// How long an ask waits.
#[derive(Clone, Copy)]
pub enum Wait {
    AsOpened,
    For(u32),
    Try,
}

/// What a lock is opened with.
pub struct Terms {
    pub name: String,
    pub limit: Option<u32>,
    pub ttl: Option<u32>,
    pub wait: Option<u32>,
    pub max_hold: Option<u32>,
    pub label: Option<String>,
}

/// What follows `open`.
pub fn terms([name, limit, ttl, wait, max_hold, label]: [&str; 6]) -> Terms {
    Terms {
        name: text(name),
        limit: option(limit),
        ttl: option(ttl),
        wait: option(wait),
        max_hold: option(max_hold),
        label: (label != "-").then(|| text(label)),
    }
}

pub fn text(hexadecimal: &str) -> String {
    let digits = hexadecimal.trim_start_matches('x').as_bytes();
    let bytes = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).expect("ASCII");
        u8::from_str_radix(pair, 16).expect("two hexadecimal digits")
    });
    String::from_utf8(bytes.collect()).expect("UTF-8")
}

pub fn number<T: FromStr>(word: &str) -> T {
    word.parse().ok().expect("a number")
}

pub fn place(word: &str) -> usize {
    number(word)
}

pub fn option(word: &str) -> Option<u32> {
    (word != "-").then(|| number(word))
}

pub fn wait(word: &str) -> Wait {
    match word {
        "-" => Wait::AsOpened,
        "try" => Wait::Try,
        span => Wait::For(number(span)),
    }
}
