//! The Unix socket of an owner: in its data directory, for its user alone.

use std::fs;
use std::io;
use std::os::fd::IntoRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

/// Where the socket of a data directory is.
pub fn socket_of(data_dir: &Path) -> PathBuf {
    data_dir.join("owner.sock")
}

/// Listens there, in place of a socket of an earlier owner. Only the holder of the data directory's lock may call it.
pub(super) fn listen(data_dir: &Path) -> io::Result<(UnixListener, Made)> {
    let path = socket_of(data_dir);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(reachable(&path)?)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    Ok((listener, identity(&path)?))
}

/// Takes the socket away, if it is still the one that was made: another owner may have put its own there.
pub(super) fn remove(data_dir: &Path, made: Made) {
    let path = socket_of(data_dir);
    if identity(&path).ok() == Some(made) {
        // A socket that stays is in nobody's way: the next owner replaces it.
        if let Err(error) = fs::remove_file(path) {
            tracing::info!(cause = error.raw_os_error(), "the socket stays");
        }
    }
}

/// Which socket it is: device and inode.
pub(super) type Made = (u64, u64);

fn identity(path: &Path) -> io::Result<Made> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = fs::symlink_metadata(path)?;
    Ok((meta.dev(), meta.ino()))
}

/// An address holds so many bytes of a path.
const LONGEST: usize = 100;

/// A path to a socket that fits into an address, whatever it lies below. Its folder stays open as long as the process lives.
///
/// # Errors
///
/// Where the folder can't be opened.
pub fn reachable(path: &Path) -> io::Result<PathBuf> {
    if path.as_os_str().len() <= LONGEST {
        return Ok(path.to_owned());
    }
    let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
    let folder = fs::File::open(folder)?.into_raw_fd();
    Ok(PathBuf::from(format!("/proc/self/fd/{folder}")).join(name))
}
