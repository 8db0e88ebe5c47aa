//! The encoding of numbers, paths and records as bytes: variable-length numbers, lengths before bytes. Decoding is
//! strict: invalid bytes give `None`, never a default.

use std::sync::Arc;

use retake_core::{ContentHash, FilePath, Record};

/// Encodes bytes.
#[derive(Debug, Default)]
pub(crate) struct Writer(pub Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Seven bits in each byte, lowest first.
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// A number that may be negative; small ones are short.
    pub(crate) fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)) as u64);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn hash(&mut self, hash: &ContentHash) {
        self.0.extend_from_slice(&hash.0);
    }

    /// A path after another one of a sorted list, without their common beginning.
    pub(crate) fn path(&mut self, path: &FilePath, last: &mut Vec<u8>) {
        let bytes = path.as_bytes();
        let shared = bytes.iter().zip(last.iter()).take_while(|(a, b)| a == b).count();
        self.number(shared as u64);
        self.bytes(&bytes[shared..]);
        last.truncate(shared);
        last.extend_from_slice(&bytes[shared..]);
    }

    /// An optional record.
    pub(crate) fn record(&mut self, record: Option<&Record>) {
        match record {
            None => self.byte(0),
            Some(Record::File { hash, len, mode }) => {
                self.byte(1);
                self.hash(hash);
                self.number(*len);
                self.number(u64::from(*mode));
            }
            Some(Record::Link { target }) => {
                self.byte(2);
                self.bytes(target);
            }
            Some(Record::Folder { mode }) => {
                self.byte(3);
                self.number(u64::from(*mode));
            }
        }
    }
}

/// Decodes bytes from their beginning.
#[derive(Debug)]
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits || (shift > 0 && byte == 0) {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// A number of following items, each at least one byte long: a damaged number must not allocate all memory.
    pub(crate) fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= self.0.len())
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.count()?;
        self.take(len)
    }

    pub(crate) fn hash(&mut self) -> Option<ContentHash> {
        Some(ContentHash(self.take(32)?.try_into().ok()?))
    }

    pub(crate) fn path(&mut self, last: &mut Vec<u8>) -> Option<FilePath> {
        let shared = usize::try_from(self.number()?).ok().filter(|shared| *shared <= last.len())?;
        last.truncate(shared);
        last.extend_from_slice(self.bytes()?);
        FilePath::new(last).ok().filter(|path| path.as_bytes() == last.as_slice())
    }

    pub(crate) fn mode(&mut self) -> Option<u16> {
        u16::try_from(self.number()?).ok().filter(|mode| *mode <= 0o777)
    }

    pub(crate) fn record(&mut self) -> Option<Option<Record>> {
        Some(match self.byte()? {
            0 => None,
            1 => Some(Record::File { hash: self.hash()?, len: self.number()?, mode: self.mode()? }),
            2 => Some(Record::Link { target: Arc::from(self.bytes()?) }),
            3 => Some(Record::Folder { mode: self.mode()? }),
            _ => return None,
        })
    }
}
