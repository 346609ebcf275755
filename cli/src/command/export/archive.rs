//! The file of an archive that is written as it comes.

use std::fs::File;
use std::io::{ErrorKind, Result, Seek, SeekFrom, Write};
use zip::result::ZipError;

/// The error of the file where there is one: the library's says the same twice.
pub(super) fn plain(error: ZipError) -> anyhow::Error {
    match error {
        ZipError::Io(error) => error.into(),
        other => other.into(),
    }
}

/// A file that takes everything after an error and writes nothing: the library ends an archive as it is dropped, and prints it
/// where that fails as well.
#[derive(Debug)]
pub(super) struct Archive {
    file: File,
    /// Place of the next byte.
    at: u64,
    has_failed: bool,
}

impl Archive {
    pub(super) fn of(file: File) -> Self {
        Self { file, at: 0, has_failed: false }
    }
}

impl Write for Archive {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let n = match self.has_failed {
            true => bytes.len(),
            false => {
                self.file.write(bytes).inspect_err(|error| self.has_failed = error.kind() != ErrorKind::Interrupted)?
            }
        };
        self.at += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> Result<()> {
        if self.has_failed { Ok(()) } else { self.file.flush() }
    }
}

impl Seek for Archive {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.at = match to {
            _ if !self.has_failed => self.file.seek(to)?,
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            SeekFrom::End(_) => self.at,
        };
        Ok(self.at)
    }
}
