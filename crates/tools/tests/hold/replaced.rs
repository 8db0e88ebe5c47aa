//! Files that a person replaces while a command runs stay protected from it.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use retake_tools::Network;

use super::stand::{Ground, How, everywhere};
use crate::stage::until;

/// Rewrites a file like many programs: under another name, then renamed over it.
fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).expect("written");
    std::fs::rename(&new, path).expect("renamed");
}

/// Prints DID if something can still be done after three seconds.
pub(super) const HELD: &str =
    "held() { for i in $(seq 60); do \"$@\" || return 0; sleep 0.05; done; echo DID \"$@\"; }; ";

#[tokio::test]
async fn trial_27_a_file_that_a_person_replaces_while_a_command_runs_is_protected_again_in_namespaces() {
    let test = "hold::replaced::trial_27_a_file_that_a_person_replaces_while_a_command_runs_is_protected_again_in_namespaces";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let ground = Ground::with(how, Network::On, |stage, sandbox| {
            let root = stage.root();
            let made = Command::new("git").args(["init", "-q"]).current_dir(root).status();
            assert!(made.expect("git is there").success());
            for path in [root.join(".env"), root.join("keys/one"), root.with_file_name("netrc")] {
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                std::fs::write(&path, "secret").expect("written");
                sandbox.hide.push(path);
            }
        });
        let root = ground.stage.root();
        let git = root.join(".git");
        let socket = root.join("socket");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let first = "touch begun; until [ -e done ] || ! [ -e begun ]; do sleep 0.05; done; held cat .env; held cat ../netrc; \
             held cat keys/one; held sh -c ': >> .git/config'; ";
        let second = "touch again; until [ -e over ]; do sleep 0.05; done; held sh -c ': >> .git/config'; \
             held test -w .git/hooks; held python3 -c 'import socket as s; s.socket(s.AF_UNIX).connect(\"socket\")'; \
             echo TRIED";
        let person = async {
            until("the call is there", async || root.join("begun").exists()).await;
            for path in [root.join(".env"), root.with_file_name("netrc"), root.join("keys/one")] {
                replace(&path, "secret");
            }
            let set = Command::new("git").args(["config", "a.b", "c"]).current_dir(root).status();
            assert!(set.expect("git is there").success());
            std::fs::write(root.join("done"), "").expect("written");
            until("the first half is over", async || root.join("again").exists()).await;
            // Like a server that restarts.
            std::fs::remove_file(&socket).expect("removed");
            let listener = UnixListener::bind(&socket).expect("a socket");
            // Now a folder with all its content.
            std::fs::rename(&git, root.join("old")).expect("renamed");
            let copied = Command::new("cp").args(["-r", "old", ".git"]).current_dir(root).status();
            assert!(copied.expect("cp is there").success());
            std::fs::write(root.join("over"), "").expect("written");
            listener
        };
        let line = format!("{HELD}{first}{second}");
        let (printed, _listening) = tokio::join!(ground.prints(&line), person);
        drop(listener);
        assert!(printed.contains("TRIED") && !printed.contains("DID"), "{printed}");
    })
    .await;
}

/// Ways to keep a supervisor from mounting again, or to make a place where it does not.
const AGAINST: &str = "prlimit --pid 1 --nofile=3:3 && echo DID limit; prlimit --nofile=64:64 true || echo DID not limit itself
for way in -U -Um -Umr; do unshare $way true && echo DID unshare $way; done
python3 - <<'END'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.setns(os.open('/proc/self/ns/user', 0), 0) == 0 or ctypes.get_errno() != 13: print('DID ask for another namespace')
for call, flags in ((435, None), (56, 0x10000000 | 17)):
    argument = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17) if flags is None else flags
    child = libc.syscall(call, argument, 64 if flags is None else 0, 0, 0, 0)
    if child == 0: os._exit(0)
    if child > 0: print('DID clone')
for which, who in ((0, 1), (2, 0)):
    if libc.setpriority(which, who, 19) == 0: print('DID set a priority')
END
echo TRIED";

#[tokio::test]
async fn trial_27_a_command_makes_no_namespaces_and_changes_no_limits_of_its_supervisor_in_namespaces() {
    let test = "hold::replaced::trial_27_a_command_makes_no_namespaces_and_changes_no_limits_of_its_supervisor_in_namespaces";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        for network in [Network::Ask, Network::On] {
            let printed = Ground::new(how, network).prints(AGAINST).await;
            assert!(printed.contains("TRIED") && !printed.contains("DID"), "{printed}");
        }
    })
    .await;
}
