//! The Unix socket of an owner: in its data directory, for its user only.

use std::fs;
use std::io;
use std::os::fd::IntoRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

/// The path of a data directory's socket.
pub fn socket_of(data_dir: &Path) -> PathBuf {
    data_dir.join("owner.sock")
}

/// Listens there, replacing the socket of an earlier owner. Only the holder of the data directory's lock may call it.
pub(super) fn listen(data_dir: &Path) -> io::Result<(UnixListener, SocketIdentity)> {
    let path = socket_of(data_dir);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(reachable(&path)?)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    Ok((listener, identity(&path)?))
}

/// Removes the socket, if it is still the one that was created: another owner may have put its own there.
pub(super) fn remove(data_dir: &Path, made: SocketIdentity) {
    let path = socket_of(data_dir);
    if identity(&path).ok() == Some(made) {
        // A leftover socket does no harm: the next owner replaces it.
        if let Err(error) = fs::remove_file(path) {
            tracing::info!(cause = error.raw_os_error(), "the socket stays");
        }
    }
}

/// The identity of a socket: device and inode.
pub(super) type SocketIdentity = (u64, u64);

fn identity(path: &Path) -> io::Result<SocketIdentity> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = fs::symlink_metadata(path)?;
    Ok((meta.dev(), meta.ino()))
}

/// The most bytes of a path in a socket address.
const LONGEST: usize = 100;

/// A path to a socket that fits into an address, however long its own path is. Its folder stays open as long as the process
/// lives.
///
/// # Errors
///
/// The folder cannot be opened.
pub fn reachable(path: &Path) -> io::Result<PathBuf> {
    if path.as_os_str().len() <= LONGEST {
        return Ok(path.to_owned());
    }
    let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
    let folder = fs::File::open(folder)?.into_raw_fd();
    Ok(PathBuf::from(format!("/proc/self/fd/{folder}")).join(name))
}
