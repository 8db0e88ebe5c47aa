//! The text of a settings file: the only place that opens one for reading. Must never wait for a pipe or a device, nor read
//! without a limit.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

use super::SettingsError;

/// So many bytes a settings file has at most.
const MOST_BYTES: u64 = 1 << 20;

/// People name it where there is to be no settings file.
const NOTHING: &str = "/dev/null";

/// The text of a settings file; nothing, where there is none.
///
/// # Errors
///
/// Where the file can't be read, or is no text: a folder, a pipe, a device, not UTF-8, more than 1 MiB.
pub fn text(path: &Path) -> Result<String, SettingsError> {
    if path == Path::new(NOTHING) {
        return Ok(String::new());
    }
    let unreadable = |source| SettingsError::Unreadable { path: path.to_owned(), source };
    let no_text = |problem: String| SettingsError::NoText { path: path.to_owned(), problem };
    let nonblock = OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(nonblock).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        // A socket cannot be opened: it gets the same error as other special files.
        Err(error) => {
            let kind = std::fs::metadata(path).ok().and_then(|meta| other_than_text(meta.file_type()));
            return Err(kind.map_or_else(|| unreadable(error), |kind| no_text(format!("it is {kind}"))));
        }
    };
    if let Some(kind) = other_than_text(file.metadata().map_err(unreadable)?.file_type()) {
        return Err(no_text(format!("it is {kind}")));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(no_text("it has more than 1 MiB".to_owned()));
    }
    String::from_utf8(bytes)
        .map_err(|error| no_text(format!("it is not UTF-8 at byte {}", error.utf8_error().valid_up_to() + 1)))
}

/// What it is, where it is not a regular file.
fn other_than_text(kind: std::fs::FileType) -> Option<&'static str> {
    match kind {
        kind if kind.is_file() => None,
        kind if kind.is_dir() => Some("a folder"),
        kind if kind.is_fifo() => Some("a pipe"),
        kind if kind.is_socket() => Some("a socket"),
        _ => Some("a device"),
    }
}
