//! Line ends of all systems as those of one, so that lines are counted alike.

use std::io::{self, Read};

/// Turns carriage returns, alone or before a line feed, into one line feed each.
pub(super) struct LineEnds<R> {
    inner: R,
    /// Whether the last byte was a carriage return: a line feed right after it belongs to it.
    returned: bool,
}

impl<R> LineEnds<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, returned: false }
    }
}

impl<R: Read> Read for LineEnds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.inner.read(buffer)?;
            let kept = self.convert(&mut buffer[..count]);
            // A lone line feed may vanish, which is not the end.
            if kept > 0 || count == 0 {
                return Ok(kept);
            }
        }
    }
}

impl<R> LineEnds<R> {
    fn convert(&mut self, bytes: &mut [u8]) -> usize {
        if !self.returned && !bytes.contains(&b'\r') {
            return bytes.len();
        }
        let mut kept = 0;
        for place in 0..bytes.len() {
            let byte = bytes[place];
            if !(byte == b'\n' && self.returned) {
                bytes[kept] = if byte == b'\r' { b'\n' } else { byte };
                kept += 1;
            }
            self.returned = byte == b'\r';
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches pairs that are torn apart at the end of a buffer.
    #[test]
    fn all_line_ends_become_line_feeds() {
        let text = "a\r\nb\rc\nd\r\n\r\n\r\re\n\n";
        for size in 1..=text.len() {
            let (mut reader, mut found) = (LineEnds::new(text.as_bytes()), Vec::new());
            let mut buffer = vec![0; size];
            loop {
                let count = reader.read(&mut buffer).unwrap();
                if count == 0 {
                    break;
                }
                found.extend_from_slice(&buffer[..count]);
            }
            assert_eq!(String::from_utf8(found).unwrap(), "a\nb\nc\nd\n\n\n\ne\n\n", "{size}");
        }
    }
}
