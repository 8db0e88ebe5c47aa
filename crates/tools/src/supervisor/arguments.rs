//! The plan of a supervisor, passed as its arguments: pairs of a name and a value, then the command. Paths are unchanged, even
//! if they are not text. Must never contain a secret: everybody can read the arguments of a process.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::sandbox::{Confinement, Net};

/// Ends the plan; the command follows.
const END: &str = "--";

/// How to run a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// The id of its call.
    pub(crate) call: String,
    /// Its working folder.
    pub(crate) folder: PathBuf,
    /// Whether it needs namespaces of its own; without them it is not started.
    pub(crate) namespaces: bool,
    /// Its confinement.
    pub(crate) confined: Option<Confinement>,
    /// The most bytes of its output that are forwarded; the rest is dropped.
    pub(crate) cap: Option<u64>,
    /// Whether its standard input comes in frames through the supervisor's.
    pub(crate) input: bool,
    /// Files with which it joins its groups.
    pub(crate) join: Vec<PathBuf>,
    /// The file for its exit code.
    pub(crate) note: Option<PathBuf>,
    /// The largest file that it may write.
    pub(crate) file_size: Option<u64>,
}

impl Arguments {
    /// A plan that adds nothing.
    pub(crate) fn new(call: &str, folder: &Path) -> Self {
        Self {
            call: call.to_owned(),
            folder: folder.to_owned(),
            namespaces: false,
            confined: None,
            cap: None,
            input: false,
            join: Vec::new(),
            note: None,
            file_size: None,
        }
    }

    /// As arguments, with the end mark.
    pub(crate) fn to_arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        let mut add = |name: &str, value: &OsStr| arguments.extend([name.into(), value.to_owned()]);
        add("call", self.call.as_ref());
        add("folder", self.folder.as_ref());
        for (name, is_set) in [("namespaces", self.namespaces), ("input", self.input)] {
            if is_set {
                add(name, "yes".as_ref());
            }
        }
        for (name, number) in [("cap", self.cap), ("file-size", self.file_size)] {
            if let Some(number) = number {
                add(name, number.to_string().as_ref());
            }
        }
        for group in &self.join {
            add("join", group.as_ref());
        }
        if let Some(note) = &self.note {
            add("note", note.as_ref());
        }
        if let Some(confined) = &self.confined {
            let net = if confined.net == Net::Open { "open" } else { "closed" };
            add("net", net.as_ref());
            if confined.reads_only {
                add("reads-only", "yes".as_ref());
            }
            let lists = [
                ("root", &confined.roots),
                ("write", &confined.write),
                ("file", &confined.files),
                ("hide", &confined.hide),
                ("absent", &confined.absent),
                ("own-folder", &confined.own_folders),
                ("own-file", &confined.own_files),
                ("held", &confined.held),
                ("socket", &confined.sockets),
            ];
            if let Some(folder) = &confined.multiplexer {
                add("multiplexer", folder.as_ref());
            }
            for (name, paths) in lists {
                paths.iter().for_each(|path| add(name, path.as_ref()));
            }
        }
        arguments.push(END.into());
        arguments
    }

    /// Parses arguments; returns the command after the plan.
    pub(crate) fn of(arguments: &[OsString]) -> Result<(Self, &[OsString]), String> {
        let mut plan = Self::new("", Path::new("/"));
        let mut rest = arguments;
        loop {
            rest = match rest {
                [end, command @ ..] if end == END => {
                    if let Some(confined) = &mut plan.confined {
                        confined.namespaces = plan.namespaces;
                    }
                    return Ok((plan, command));
                }
                [name, value, more @ ..] => {
                    plan.take(name, value).ok_or_else(|| format!("{} is not understood", name.display()))?;
                    more
                }
                _ => return Err("the plan has no end".to_owned()),
            };
        }
    }

    fn take(&mut self, name: &OsStr, value: &OsStr) -> Option<()> {
        let number = || value.to_str()?.parse::<u64>().ok();
        let path = PathBuf::from(value);
        let is_yes = value == "yes";
        match name.to_str()? {
            "call" => self.call = value.to_str()?.to_owned(),
            "folder" => self.folder = path,
            "namespaces" if is_yes => self.namespaces = true,
            "input" if is_yes => self.input = true,
            "cap" => self.cap = Some(number()?),
            "file-size" => self.file_size = Some(number()?),
            "join" => self.join.push(path),
            "note" => self.note = Some(path),
            "net" => {
                let net = match value.to_str()? {
                    "open" => Net::Open,
                    "closed" => Net::Closed,
                    _ => return None,
                };
                self.confined = Some(Confinement::of(net));
            }
            of_confined => {
                let confined = self.confined.as_mut()?;
                match of_confined {
                    "reads-only" if is_yes => confined.reads_only = true,
                    "root" => confined.roots.push(path),
                    "write" => confined.write.push(path),
                    "file" => confined.files.push(path),
                    "hide" => confined.hide.push(path),
                    "absent" => confined.absent.push(path),
                    "own-folder" => confined.own_folders.push(path),
                    "own-file" => confined.own_files.push(path),
                    "held" => confined.held.push(path),
                    "socket" => confined.sockets.push(path),
                    "multiplexer" => confined.multiplexer = Some(path),
                    _ => return None,
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_arrives_as_it_was_sent() {
        let confined = Confinement {
            roots: vec!["/work".into()],
            write: vec!["/work".into(), "/tmp".into()],
            files: vec!["/note".into()],
            hide: vec!["/home/--".into()],
            absent: vec!["/home/.aws".into()],
            own_folders: vec!["/work/settings".into()],
            own_files: vec!["/work/mcp.json".into()],
            held: vec!["/work/sub/.git".into()],
            sockets: vec!["/run/s".into()],
            multiplexer: Some("/tmp/tmux-1".into()),
            reads_only: true,
            namespaces: true,
            ..Confinement::of(Net::Closed)
        };
        let plan = Arguments {
            namespaces: true,
            join: vec!["/group/cgroup.procs".into()],
            confined: Some(confined),
            cap: Some(7),
            input: true,
            note: Some("/end".into()),
            file_size: Some(1 << 40),
            ..Arguments::new("0a-b", Path::new("/work"))
        };
        let mut arguments = plan.to_arguments();
        arguments.extend(["bash".into(), "--".into()]);
        let (same, command) = Arguments::of(&arguments).expect("a plan");
        assert_eq!((same, command), (plan, &["bash".into(), "--".into()][..]));
    }

    #[test]
    fn an_unreadable_plan_is_refused() {
        let arguments = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        for words in
            [&["net", "half", "--"][..], &["novel", "x", "--"], &["write", "/", "--"], &["call", "x"]]
        {
            assert!(Arguments::of(&arguments(words)).is_err(), "{words:?}");
        }
    }
}
