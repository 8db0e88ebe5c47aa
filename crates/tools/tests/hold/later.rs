//! Files that appear while a command runs are protected from it like earlier ones.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc;

use retake_core::ToolOutcome;
use retake_testkit::again;
use retake_tools::Network;
use rustix::process::{Pid, Resource, Rlimit};

use super::replaced::HELD;
use super::stand::{Ground, How, everywhere};
use crate::stage::until;

#[tokio::test]
async fn trial_23_hidden_files_that_are_created_later_are_not_read_in_namespaces() {
    let test = "hold::later::trial_23_hidden_files_that_are_created_later_are_not_read_in_namespaces";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        for network in [Network::Ask, Network::On] {
            // A file below the workspace, one beside it, and one whose folders do not exist, either.
            let names = ["late.key", "../late", "../cloud/deep/credentials"];
            let ground = Ground::with(how, network, |stage, sandbox| {
                let paths = ["late.key", "late", "cloud/deep"].map(|name| match name {
                    "late.key" => stage.root().join(name),
                    name => stage.root().with_file_name(name),
                });
                sandbox.hide.extend(paths);
            });
            let root = ground.stage.root();
            let tries = names.map(|name| format!("held cat {name}; ")).concat();
            let line =
                format!("{HELD}touch begun; until [ -e done ] || ! [ -e begun ]; do sleep 0.02; done; {tries} echo TRIED");
            let person = async {
                until("the call is there", async || root.join("begun").exists()).await;
                for name in names {
                    let path = root.join(name);
                    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                    std::fs::write(&path, "secret").expect("written");
                }
                std::fs::write(root.join("done"), "").expect("written");
            };
            let (printed, ()) = tokio::join!(ground.prints(&line), person);
            assert!(printed.contains("TRIED") && !printed.contains("DID"), "{printed}");
            for name in names {
                assert_eq!(std::fs::read_to_string(root.join(name)).expect("others read it"), "secret");
            }
        }
    })
    .await;
}

/// Servers of the command's own, with which it communicates as long as it likes, even if the last one's first thread has ended.
const OWN: &str = "python3 - <<'END'
import ctypes, os, socket, threading, time
for name in ['own', os.path.abspath('other')]:
    server = socket.socket(socket.AF_UNIX)
    server.bind(name)
    server.listen()
    for _ in range(10):
        time.sleep(0.05)
        socket.socket(socket.AF_UNIX).connect(name)
    os.unlink(name)
def talk():
    time.sleep(0.5)
    socket.socket(socket.AF_UNIX).connect(os.path.abspath('last'))
    os.write(1, b'TALKED')
    os._exit(0)
server = socket.socket(socket.AF_UNIX)
server.bind(os.path.abspath('last'))
server.listen()
threading.Thread(target=talk).start()
ctypes.CDLL(None).syscall(60, 0)
END
";

#[tokio::test]
async fn trial_20_a_socket_that_another_program_binds_later_is_out_of_reach_in_namespaces() {
    let test =
        "hold::later::trial_20_a_socket_that_another_program_binds_later_is_out_of_reach_in_namespaces";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let ground = Ground::new(how, Network::On);
        let root = ground.stage.root();
        let temporary = tempfile::Builder::new().prefix("other-").tempdir_in("/tmp").expect("a folder");
        std::fs::create_dir(root.with_file_name("run")).expect("a folder");
        let paths =
            [root.join("late"), root.with_file_name("run").join("late"), temporary.path().join("late")];
        let connect =
            "held python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])'";
        let tries = paths.each_ref().map(|path| format!("{connect} {}; ", path.display())).concat();
        let first = "touch begun; until [ -e done ] || ! [ -e begun ]; do sleep 0.02; done; ";
        let person = async {
            until("the call is there", async || root.join("begun").exists()).await;
            let bound = paths.each_ref().map(|path| UnixListener::bind(path).expect("a socket"));
            std::fs::write(root.join("done"), "").expect("written");
            bound
        };
        let line = format!("{HELD}{first}{tries}{OWN}echo TRIED");
        let (printed, _bound) = tokio::join!(ground.prints(&line), person);
        assert!(printed.contains("TRIED") && !printed.contains("DID"), "{printed}");
        assert!(printed.contains("TALKED"), "{printed}");
    })
    .await;
}

/// A command that binds thousands of its own sockets neither hides another socket among them, nor loses one.
#[tokio::test]
async fn trial_20_a_socket_among_thousands_of_the_command_is_out_of_reach_in_namespaces() {
    const FLOOD: &str = "python3 - <<'END'
import os, resource, socket, time
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
os.mkdir('flood')
own = []
def bind():
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.abspath(f'flood/{len(own)}'))
    server.listen()
    own.append(server)
for _ in range(1500):
    bind()
open('begun', 'w').close()
while os.path.exists('begun') and not os.path.exists('done'):
    time.sleep(0.02)
for _ in range(1500):
    bind()
def reaches(path):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        return True
    except OSError:
        return False
tries = 0
while reaches(os.path.abspath('late')) and tries < 60:
    tries += 1
    time.sleep(0.05)
if tries == 60:
    print('DID reach it')
print('OWN', all(reaches(os.path.abspath(f'flood/{at}')) for at in range(len(own))))
END
";
    let test = "hold::later::trial_20_a_socket_among_thousands_of_the_command_is_out_of_reach_in_namespaces";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let ground = Ground::new(how, Network::On);
        let root = ground.stage.root();
        let person = async {
            until("the call is there", async || root.join("begun").exists()).await;
            let bound = UnixListener::bind(root.join("late")).expect("a socket");
            std::fs::write(root.join("done"), "").expect("written");
            bound
        };
        let (printed, _bound) = tokio::join!(ground.prints(FLOOD), person);
        assert!(printed.contains("OWN True") && !printed.contains("DID"), "{printed}");
    })
    .await;
}

#[tokio::test]
async fn sockets_that_end_while_commands_start_stop_none_of_them() {
    let test = "hold::later::sockets_that_end_while_commands_start_stop_none_of_them";
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::On);
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path().to_owned();
        let (over, is_over) = mpsc::channel::<()>();
        // They come and go all the time, some hundred at once, until the other end of the channel is closed.
        let binder = std::thread::spawn(move || {
            while is_over.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
                let paths: Vec<_> = (0..300).map(|number| at.join(number.to_string())).collect();
                let bound: Vec<_> =
                    paths.iter().map(|path| UnixListener::bind(path).expect("a socket")).collect();
                paths.iter().for_each(|path| std::fs::remove_file(path).expect("removed"));
                drop(bound);
            }
        });
        for _ in 0..20 {
            assert_eq!(ground.prints("echo STARTED").await, "STARTED");
        }
        drop(over);
        binder.join().expect("it bound all");
    })
    .await;
}

/// The inner supervisor of the call in a workspace.
fn supervisor_in(root: &Path) -> Pid {
    let is_it = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let has = |word: &[u8]| line.split(|byte| *byte == 0).any(|found| found == word);
        has(b"supervise-call-inside") && has(root.as_os_str().as_bytes())
    };
    let found = std::fs::read_dir("/proc").expect("processes").flatten().find(is_it).expect("a supervisor");
    let pid = found.file_name().to_str().and_then(|pid| pid.parse().ok());
    pid.and_then(Pid::from_raw).expect("its number")
}

/// A supervisor that can open no more files can neither cover a file that appears nor look for sockets.
#[tokio::test]
async fn trial_23_a_call_whose_supervisor_can_hide_nothing_more_is_ended_in_namespaces() {
    let test = "hold::later::trial_23_a_call_whose_supervisor_can_hide_nothing_more_is_ended_in_namespaces";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        for network in [Network::Ask, Network::On] {
            let ground = Ground::with(how, network, |stage, sandbox| {
                sandbox.hide.push(stage.root().join("late.key"));
            });
            let root = ground.stage.root();
            let person = async {
                until("the call is there", async || root.join("begun").exists()).await;
                let none = Rlimit { current: Some(3), maximum: Some(3) };
                rustix::process::prlimit(Some(supervisor_in(root)), Resource::Nofile, none).expect("limited");
                // With network, the thread that looks for sockets fails by itself.
                if matches!(network, Network::Ask) {
                    std::fs::write(root.join("late.key"), "secret").expect("written");
                }
            };
            let line = "touch begun; sleep 30 & sleep 30; echo DID go on";
            let (output, ()) = tokio::join!(ground.run(line), person);
            let printed = output.content;
            assert!(output.outcome == ToolOutcome::Failed && !output.lives, "{printed}");
            assert!(printed.contains("its sandbox failed: ") && !printed.contains("DID"), "{printed}");
            assert!(printed.contains("exit code 126"), "{printed}");
        }
    })
    .await;
}

/// Set in the process that runs a test again.
const AGAIN: &str = "RETAKE_TEST_AGAIN";

/// The folder of tmux, in the process that runs this test again.
const ITS: &str = "TMUX_TMPDIR";

#[tokio::test]
async fn trial_20_the_folder_of_a_terminal_multiplexer_is_closed_before_it_is_there_in_namespaces() {
    let test = "hold::later::trial_20_the_folder_of_a_terminal_multiplexer_is_closed_before_it_is_there_in_namespaces";
    let Some(its) = std::env::var_os(ITS).filter(|_| std::env::var_os(AGAIN).is_some()) else {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = std::process::Command::new(again::this_program());
        command.env(ITS, folder.path()).env(AGAIN, "1");
        return again::again(command, test);
    };
    let ground =
        Ground::with(How::Namespaces, Network::On, |_, sandbox| sandbox.write.push(its.clone().into()));
    let line = "folder=$TMUX_TMPDIR/tmux-$(id -u); mkdir -p $folder; ls -d $folder; touch $TMUX_TMPDIR/x; \
                touch begun; until [ -e done ] || ! [ -e begun ]; do sleep 0.02; done; \
                touch $folder/x && echo DID write; ls $folder/default && echo DID see; echo TRIED";
    let root = ground.stage.root();
    let folder = std::path::Path::new(&its).join(format!("tmux-{}", rustix::process::getuid().as_raw()));
    let person = async {
        until("the call is there", async || root.join("begun").exists()).await;
        let mode = folder.metadata().expect("it was made").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "tmux takes no other");
        let listener = UnixListener::bind(folder.join("default")).expect("a socket");
        std::fs::write(root.join("done"), "").expect("written");
        listener
    };
    let (printed, listener) = tokio::join!(ground.prints(line), person);
    assert!(printed.contains("TRIED") && !printed.contains("DID"), "{printed}");
    drop(listener);
    std::fs::remove_dir_all(&folder).expect("removed");
    // The end of one call does not release the folder to another one.
    let first = "touch first; until [ -e second ]; do sleep 0.02; done";
    let second = "folder=$TMUX_TMPDIR/tmux-$(id -u); until [ -e first ]; do sleep 0.02; done; touch second; \
                  until [ -e over ]; do sleep 0.02; done; mkdir $TMUX_TMPDIR/own; \
                  mv -T $TMUX_TMPDIR/own $folder && echo DID take; rmdir $folder && echo DID remove; echo TRIED";
    let ends = async {
        ground.prints(first).await;
        std::fs::write(root.join("over"), "").expect("written");
    };
    let (printed, ()) = tokio::join!(ground.prints(second), ends);
    assert!(printed.contains("TRIED") && !printed.contains("DID"), "{printed}");
    assert!(folder.is_dir(), "it stays, as where tmux has made it");
}
