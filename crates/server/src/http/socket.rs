//! The Unix socket of an owner: in its data directory, for its user alone.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

/// Where the socket of a data directory is.
pub fn socket_of(data_dir: &Path) -> PathBuf {
    data_dir.join("owner.sock")
}

/// Listens there. Only whoever holds the lock of the data directory may: what an earlier owner has left is replaced.
pub(super) fn listen(data_dir: &Path) -> io::Result<UnixListener> {
    let path = socket_of(data_dir);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let short = reachable(&path)?;
    let listener = UnixListener::bind(short.path())?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// A path to a socket that fits into an address, whatever it lies below.
pub(super) struct Reachable {
    path: PathBuf,
    _folder: Option<fs::File>,
}

impl Reachable {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// An address holds so many bytes of a path.
const LONGEST: usize = 100;

fn reachable(path: &Path) -> io::Result<Reachable> {
    use std::os::fd::AsRawFd as _;
    if path.as_os_str().len() <= LONGEST {
        return Ok(Reachable { path: path.to_owned(), _folder: None });
    }
    let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
    let folder = fs::File::open(folder)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    Ok(Reachable { path, _folder: Some(folder) })
}
