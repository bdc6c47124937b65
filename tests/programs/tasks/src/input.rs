//! Lines of the standard input, read while other tasks go on.

use wit_bindgen::StreamReader;

use crate::bindings::wasi::cli::stdin;

/// Bytes that are read at a time.
const AT_A_TIME: usize = 4_096;

/// The lines that come in.
pub struct Lines {
    stream: StreamReader<u8>,
    /// What was read and is not a whole line yet.
    rest: Vec<u8>,
}

impl Lines {
    pub fn of_stdin() -> Self {
        // The end of the stream says all that matters here.
        let (stream, _end) = stdin::read_via_stream();
        Lines {
            stream,
            rest: Vec::new(),
        }
    }

    /// The next line; none at the end.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return String::from_utf8(line).ok();
            }
            let (_, read) = self.stream.read(Vec::with_capacity(AT_A_TIME)).await;
            if read.is_empty() {
                return None;
            }
            self.rest.extend(read);
        }
    }
}
