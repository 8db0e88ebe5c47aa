//! The shell's current folder: where a command begins, and where it ends. The folder is a fact of the conversation, so a
//! rewind reverts it; it must always be below one of the roots.

use std::path::{Path, PathBuf};

use retake_core::Fact;

use crate::call::Call;

/// The key of the fact.
const KEY: &str = "cwd";

/// A folder for a command to begin in.
pub(super) struct StartFolder {
    /// An existing folder below a root.
    pub(super) folder: PathBuf,
    /// Why it is not the folder where the shell ended before.
    pub(super) remark: Option<String>,
}

impl StartFolder {
    /// The folder in which a call begins.
    pub(super) async fn of(call: &Call) -> Self {
        let folder = call.folder().await;
        if inside(call, &folder).is_some() && folder.is_dir() {
            return Self { folder, remark: None };
        }
        let root = call.roots.first().cloned().unwrap_or_default();
        let remark = format!("[it ran in {}: {} is no longer a folder]", root.display(), folder.display());
        Self { folder: root, remark: Some(remark) }
    }

    /// The folder in which a command ended, from its note: the fact, if it changed, and a note for the model.
    pub(super) fn left(&self, call: &Call, noted: &[u8]) -> (Option<Fact>, Option<String>) {
        let Some(noted) = noted.strip_suffix(b"\n").and_then(|noted| std::str::from_utf8(noted).ok()) else {
            return (None, None);
        };
        let now = Path::new(noted);
        let Some(value) = inside(call, now) else {
            let root = call.roots.first().cloned().unwrap_or_default();
            let what = format!(
                "[{noted} is outside of the workspace: the next command begins in {} again]",
                root.display()
            );
            return (self.fact(call, String::new()), Some(what));
        };
        let fact = self.fact(call, value);
        let remark = fact.is_some().then(|| format!("[the shell is now in {noted}]"));
        (fact, remark)
    }

    fn fact(&self, call: &Call, value: String) -> Option<Fact> {
        let stands = inside(call, &self.folder);
        (stands.as_deref() != Some(&value) || self.remark.is_some()).then(|| Fact::new(KEY, value))
    }
}

/// The value of the fact for a folder: relative to the first root, or its path below another one; `None` if it is below
/// none. Links are followed.
fn inside(call: &Call, folder: &Path) -> Option<String> {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    call.roots.iter().enumerate().find_map(|(index, root)| {
        let below = real.strip_prefix(root.canonicalize().ok()?).ok()?;
        let path = if index == 0 { below.to_owned() } else { root.join(below) };
        path.into_os_string().into_string().ok()
    })
}
