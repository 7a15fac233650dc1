//! Opens an input once and looks at its first bytes, which are then read again by nobody: a pipe has them but once.

use std::cell::Cell as Counter;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use super::Input;
use crate::CuratorError;

/// What an input turned out to be.
pub(super) enum Opened<'i> {
    /// A file whose first and last bytes matter: it is opened anew by its reader.
    Parquet(&'i Path),
    Text(Text),
}

/// Text from its first byte on, unpacked.
pub(super) struct Text {
    pub stream: Box<dyn Read>,
    /// The bytes of the file, if it is one.
    pub total: Option<u64>,
    /// The bytes that were read of it.
    pub position: Rc<Counter<u64>>,
}

impl Input {
    pub(super) fn open(&self) -> Result<Opened<'_>, CuratorError> {
        let fail = |error: io::Error| CuratorError::file(self.name(), error);
        let (mut raw, total): (Box<dyn Read>, _) = match self {
            Input::Standard => (Box::new(io::stdin().lock()), None),
            Input::File(path) => {
                let file = File::open(path).map_err(fail)?;
                let total = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|data| data.len());
                (Box::new(file), total)
            }
        };
        let mut start = Vec::new();
        raw.by_ref().take(4).read_to_end(&mut start).map_err(fail)?;
        match self {
            Input::File(path) if start == b"PAR1" && total.is_some() => return Ok(Opened::Parquet(path)),
            _ if start == b"PAR1" => {
                let reason = "Parquet cannot be read from a pipe: save it to a file and name that";
                return Err(CuratorError::file(self.name(), reason));
            }
            _ => {}
        }
        let gzipped = start.starts_with(&[0x1f, 0x8b]);
        let position = Rc::new(Counter::new(0));
        let whole =
            Counted { inner: Box::new(Cursor::new(start).chain(raw)), position: Rc::clone(&position) };
        let buffered = BufReader::with_capacity(1 << 18, whole);
        let stream: Box<dyn Read> =
            if gzipped { Box::new(MultiGzDecoder::new(buffered)) } else { Box::new(buffered) };
        Ok(Opened::Text(Text { stream, total, position }))
    }
}

struct Counted {
    inner: Box<dyn Read>,
    position: Rc<Counter<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.position.set(self.position.get() + count as u64);
        Ok(count)
    }
}
