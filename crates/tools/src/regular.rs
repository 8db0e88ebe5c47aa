//! Reads small files of a folder that may be hostile: only regular files up to a limit, and it must never wait.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// The text of a regular file up to this size, following links.
pub(crate) fn text(path: &Path, most: u64) -> Option<String> {
    String::from_utf8(bytes(path, most)?).ok()
}

/// The same as bytes.
pub(crate) fn bytes(path: &Path, most: u64) -> Option<Vec<u8>> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_24_only_small_regular_files_are_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("small"), "abc").expect("written");
        std::os::unix::fs::symlink("small", path("link")).expect("a link");
        std::os::unix::fs::symlink("/dev/zero", path("zero")).expect("a link");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .expect("a pipe");
        assert_eq!(text(&path("small"), 3).as_deref(), Some("abc"));
        assert_eq!(text(&path("link"), 3).as_deref(), Some("abc"));
        for (name, most) in [("small", 2), ("zero", 100), ("pipe", 100), ("nothing", 100), (".", 100)] {
            assert_eq!(text(&path(name), most), None, "{name}");
        }
    }
}
