//! Walks over structures of Thrift's compact protocol without building anything: sizes are checked before they are believed.

use super::parquet_check::DEEPEST_SCHEMA;

/// Bytes that are walked over, and the place that was reached.
pub(super) struct Walk<'b> {
    bytes: &'b [u8],
    pub at: usize,
}

/// Told about every whole number and, with none, about the end of every structure, at its path of field numbers.
pub(super) type Visit<'v> = &'v mut dyn FnMut(&[i64], Option<i64>);

impl<'b> Walk<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Walks over one structure; none if the bytes end early, are not one, or claim more than they hold.
    pub fn structure(&mut self, path: &mut Vec<i64>, visit: Visit<'_>) -> Option<()> {
        if path.len() > DEEPEST_SCHEMA {
            return None;
        }
        let mut field = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                visit(path, None);
                return Some(());
            }
            field = if head >> 4 == 0 { self.number()? } else { field + i64::from(head >> 4) };
            path.push(field);
            match head & 15 {
                1 | 2 => {} // A truth value has no byte of its own here.
                kind => self.value(kind, path, visit)?,
            }
            path.pop();
        }
    }

    fn value(&mut self, kind: u8, path: &mut Vec<i64>, visit: Visit<'_>) -> Option<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => {
                let number = self.number()?;
                visit(path, Some(number));
                Some(())
            }
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(usize::try_from(length).ok()?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let size = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                self.elements(size, head & 15, path, visit)
            }
            12 => self.structure(path, visit),
            _ => None, // Parquet has no maps.
        }
    }

    /// Every element has a byte at least.
    fn elements(&mut self, size: u64, kind: u8, path: &mut Vec<i64>, visit: Visit<'_>) -> Option<()> {
        let nested = matches!(kind, 9 | 10) && path.len() > DEEPEST_SCHEMA;
        if size > (self.bytes.len() - self.at) as u64 || nested {
            return None;
        }
        let level = matches!(kind, 9 | 10);
        path.extend(level.then_some(0));
        for _ in 0..size {
            self.value(kind, path, visit)?;
        }
        path.truncate(path.len() - usize::from(level));
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.at = self.at.checked_add(count).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    fn number(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}
