//! Hidden files and folders can't be read by commands, wherever they are.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use retake_tools::{Network, Sandbox, Sandboxed};

use super::stand::{Ground, How, everywhere};
use crate::stage::{Stage, bare};

/// Creates a file, with its parent folders.
fn write(path: &Path) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, "secret").expect("a file");
}

#[tokio::test]
async fn trial_23_hidden_files_and_folders_are_not_read() {
    let test = "hold::hidden::trial_23_hidden_files_and_folders_are_not_read";
    everywhere(test, async |how| {
        let beside = |stage: &Stage, name: &str| stage.root().with_file_name(name);
        let ground = Ground::with(how, Network::On, |stage, sandbox| {
            for name in ["home/.ssh/id", "home/.ssh/deep/id", "home/.netrc", "home/other"] {
                write(&beside(stage, name));
            }
            std::os::unix::fs::symlink(beside(stage, "home/.ssh"), stage.root().join("link"))
                .expect("a link");
            let hidden = [".ssh", ".netrc", "not there"].map(|name| beside(stage, "home").join(name));
            sandbox.hide.extend(hidden);
        });
        for path in
            ["../home/.ssh/id", "../home/.ssh/deep/id", "../home/.netrc", "link/id", "/proc/self/cwd/link/id"]
        {
            ground.refuses(&format!("test -s {path} && cat {path} || echo is; grep -q s {path}"), "").await;
            let read = ground.run(&format!("cat {path}; env cp {path} copy && cat copy")).await;
            assert!(!read.content.contains("secret"), "{how:?}: {path}: {}", read.content);
        }
        assert_eq!(ground.prints("cat ../home/other").await, "secret");
        // Only the command has this view.
        assert!(beside(&ground.stage, "home/.ssh/id").is_file());
    })
    .await;
}

#[tokio::test]
async fn trial_23_hidden_files_within_writable_folders_are_not_read_in_namespaces() {
    let test = "hold::hidden::trial_23_hidden_files_within_writable_folders_are_not_read_in_namespaces";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            // It can't be, and the error says so.
            let stage = Stage::apart();
            write(&stage.root().join(".env"));
            let supervisor = bare().supervisor.map(retake_tools::Supervisor::without_namespaces);
            let sandbox = Sandbox { hide: vec![stage.root().join(".env")], supervisor, ..bare() };
            assert!(matches!(sandbox.available(&stage.roots), Sandboxed::Exposed(_)));
            return;
        }
        let ground = Ground::with(how, Network::Ask, |stage, sandbox| {
            write(&stage.root().join(".env"));
            write(&stage.root().join("keys/one"));
            sandbox.hide.extend([".env", "keys"].map(|name| stage.root().join(name)));
        });
        for attempt in [
            "cat .env",
            "cat keys/one",
            "mv .env other && cat other",
            "ln .env other && cat other",
            "rm .env",
            "chmod 666 .env && cat .env && test -s .env",
            "mv keys other && cat other/one",
            "mkdir n && mv .env n",
            "unshare -Urm sh -c 'umount .env; cat .env; test -s .env'",
            "python3 -c 'import os; d = os.open(\".\", 0); print(open(\".env\", opener=lambda p, f: os.open(p, f, dir_fd=d)).read() or 1/0)'",
        ] {
            let output = ground.run(attempt).await;
            assert!(!output.content.contains("secret"), "{attempt}: {}", output.content);
        }
        let text = |name: &str| std::fs::read_to_string(ground.stage.root().join(name)).expect("it is there");
        assert_eq!((text(".env"), text("keys/one")), ("secret".to_owned(), "secret".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn trial_23_a_workspace_within_a_hidden_folder_is_visible_and_nothing_next_to_it() {
    let test = "hold::hidden::trial_23_a_workspace_within_a_hidden_folder_is_visible_and_nothing_next_to_it";
    everywhere(test, async |how| {
        let ground = Ground::with(how, Network::On, |stage, sandbox| {
            write(&stage.root().with_file_name("beside"));
            sandbox.hide = vec![stage.root().parent().map(PathBuf::from).expect("a folder")];
        });
        ground.prints("echo x > new; mkdir folder; cat new").await;
        assert!(ground.stage.root().join("new").is_file());
        let read = ground.run("cat ../beside").await;
        assert!(!read.content.contains("secret"), "{how:?}: {}", read.content);
    })
    .await;
}

/// We would trust a settings file of ours: so a command cannot create one where there is none.
#[tokio::test]
async fn trial_23_missing_settings_files_are_not_created() {
    let test = "hold::hidden::trial_23_missing_settings_files_are_not_created";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            // It can't be, and the error says so.
            let stage = Stage::apart();
            let supervisor = bare().supervisor.map(retake_tools::Supervisor::without_namespaces);
            let sandbox = Sandbox { own_files: vec![stage.root().join("mcp.json")], supervisor, ..bare() };
            assert!(matches!(sandbox.available(&stage.roots), Sandboxed::Exposed(_)));
            return;
        }
        let ground = Ground::with(how, Network::Ask, |stage, sandbox| {
            let root = stage.root();
            std::os::unix::fs::symlink(root.join("dotfiles"), root.join("link")).expect("a link");
            sandbox.own_folders = vec![root.join("link/deep/retake"), root.join("config/retake")];
            sandbox.own_files = vec![root.join("mcp.json")];
        });
        for attempt in [
            "mkdir -p dotfiles/deep/retake && echo x > dotfiles/deep/retake/mcp.json",
            "mkdir -p config/retake; echo x > config/retake/mcp.json",
            "rm -rf config; mkdir -p config/retake && echo x > config/retake/mcp.json",
            "mv config other && mkdir -p config/retake && echo x > config/retake/mcp.json",
            "echo x > mcp.json",
            "echo x > new; mv new mcp.json",
            "rm mcp.json; ln -s new mcp.json",
        ] {
            let output = ground.run(attempt).await;
            assert_eq!(output.outcome, retake_core::ToolOutcome::Failed, "{attempt}: {}", output.content);
        }
        ground.prints("mkdir -p config && touch config/x dotfiles/y && rm config/x dotfiles/y").await;
        let left: Vec<_> = ["dotfiles", "config", "mcp.json"]
            .into_iter()
            .filter(|name| ground.stage.root().join(name).symlink_metadata().is_ok())
            .collect();
        assert!(left.is_empty(), "{left:?}");
    })
    .await;
}

/// A path that is hidden must stay the same until the next call.
#[tokio::test]
async fn trial_23_hidden_files_keep_their_names_in_namespaces() {
    let test = "hold::hidden::trial_23_hidden_files_keep_their_names_in_namespaces";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let ground = Ground::with(how, Network::Ask, |stage, sandbox| {
            let root = stage.root();
            for name in [".config/gh/hosts", "a/b/keys/one", ".ssh/id"] {
                write(&root.join(name));
            }
            sandbox.hide.extend([".config/gh", "a/b/keys/one", ".ssh"].map(|name| root.join(name)));
        });
        for attempt in ["mv .config c", "mv a d", "mv a/b e", "mv .ssh s", "ln a/b/keys/one f"] {
            let output = ground.run(attempt).await;
            assert_eq!(output.outcome, retake_core::ToolOutcome::Failed, "{attempt}: {}", output.content);
        }
        // Everything else beside it is allowed.
        ground.prints("touch .config/x a/b/y && mv .config/x a/b/z && rm a/b/y a/b/z").await;
        let read = ground.run("cat */gh/hosts .config/gh/hosts */b/keys/one e/keys/one .ssh/id s/id f").await;
        assert!(!read.content.contains("secret"), "{}", read.content);
    })
    .await;
}

/// Keys in the kernel's keyrings are no files, and are hidden, too.
#[tokio::test]
async fn trial_23_a_command_reaches_no_keyring() {
    const ATTACK: &str = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nimport platform\n\
        add, ask, control = (248, 249, 250) if platform.machine() == 'x86_64' else (217, 218, 219)\n\
        print('TRIED')\n\
        if libc.syscall(control, 0, -3, 1) >= 0: print('DID find a keyring')\n\
        if libc.syscall(add, b'user', b'retake-test', b'x', 1, -1) >= 0: print('DID add a key')\n\
        if libc.syscall(ask, b'user', b'retake-test', None, -1) >= 0: print('DID find a key')\n";
    everywhere("hold::hidden::trial_23_a_command_reaches_no_keyring", async |how| {
        for network in [Network::Ask, Network::On] {
            Ground::new(how, network).can_not(ATTACK, &[]).await;
        }
    })
    .await;
}

/// The same file system at a second place shows no more of it.
#[tokio::test]
async fn trial_23_hidden_files_are_hidden_wherever_their_file_system_is_mounted() {
    let test = "hold::hidden::trial_23_hidden_files_are_hidden_wherever_their_file_system_is_mounted";
    if !retake_testkit::again::may_mount(test) {
        return;
    }
    for how in [How::Namespaces, How::WithoutNamespaces] {
        let ground = Ground::with(how, Network::Ask, |stage, sandbox| {
            let beside = |name: &str| stage.root().with_file_name(name);
            for name in ["home/.netrc", "home/.ssh/deep/id", "home/other"] {
                write(&beside(name));
            }
            for (from, to) in [("home", "second"), ("home/.ssh/deep", "third place"), ("home/.netrc", "file")]
            {
                match beside(from).is_dir() {
                    true => std::fs::create_dir(beside(to)).expect("a folder"),
                    false => std::fs::write(beside(to), "").expect("a file"),
                }
                let mut mount = std::process::Command::new("mount");
                let mounted = mount.arg("--bind").args([beside(from), beside(to)]).status();
                assert!(mounted.expect("mount is there").success());
            }
            sandbox.hide.extend([beside("home/.ssh"), beside("home/.netrc")]);
        });
        for path in ["second/.netrc", "second/.ssh/deep/id", "'third place/id'", "file"] {
            let read = ground.run(&format!("cat ../{path}")).await;
            assert!(!read.content.contains("secret"), "{how:?}: {path}: {}", read.content);
        }
        assert_eq!(ground.prints("cat ../second/other").await, "secret", "{how:?}");
    }
}

/// The same for files hidden by name, which are found for each call.
#[tokio::test]
async fn trial_23_files_hidden_by_name_are_hidden_wherever_the_workspace_is_mounted() {
    let test = "hold::hidden::trial_23_files_hidden_by_name_are_hidden_wherever_the_workspace_is_mounted";
    if !retake_testkit::again::may_mount(test) {
        return;
    }
    let mut ground = Ground::with(How::Namespaces, Network::Ask, |stage, _| {
        let (root, second) = (stage.root(), stage.root().join("second"));
        for name in ["keys/server.key", "other"] {
            write(&root.join(name));
        }
        std::fs::create_dir(&second).expect("a folder");
        let mounted = std::process::Command::new("mount").arg("--bind").args([root, &second]).status();
        assert!(mounted.expect("mount is there").success());
    });
    ground.stage.hide = vec![ground.stage.root().join("keys/server.key")];
    for path in ["keys/server.key", "second/keys/server.key"] {
        ground.refuses(&format!("cat {path}"), "Permission denied").await;
    }
    assert_eq!(ground.prints("cat second/other").await, "secret");
}

/// Many keys in a deep folder delay no command.
#[tokio::test]
async fn trial_23_each_hidden_file_takes_one_mount_in_namespaces() {
    const FILES: usize = 40;
    const DEEP: &str = "a/b/c/d/e/f/g/h";
    let test = "hold::hidden::trial_23_each_hidden_file_takes_one_mount_in_namespaces";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let mut counts = Vec::new();
        for files in [0, FILES] {
            let ground = Ground::with(how, Network::Ask, |stage, sandbox| {
                let paths = (0..files).map(|number| stage.root().join(DEEP).join(number.to_string()));
                for path in paths {
                    write(&path);
                    sandbox.hide.push(path);
                }
            });
            let count = ground.prints("wc -l < /proc/self/mountinfo").await;
            counts.push(count.parse::<usize>().expect("a number"));
        }
        let folders = DEEP.split('/').count();
        assert!(counts[1] <= counts[0] + FILES + folders, "{counts:?}");
    })
    .await;
}

/// A command can make a folder inaccessible by its mode, and the next one can open it again: the files below stay protected.
#[tokio::test]
async fn trial_23_files_in_a_folder_that_a_command_made_inaccessible_stay_hidden_and_read_only() {
    let test =
        "hold::hidden::trial_23_files_in_a_folder_that_a_command_made_inaccessible_stay_hidden_and_read_only";
    everywhere(test, async |how| {
        for network in [Network::Ask, Network::On] {
            let mut ground = Ground::with(how, network, |stage, sandbox| {
                let beside = |name: &str| stage.root().with_file_name(name);
                for folder in ["config/gh", "share/retake"] {
                    std::fs::create_dir_all(beside(folder)).expect("a folder");
                }
                std::fs::write(beside("config/gh/hosts"), "secret").expect("written");
                std::fs::write(beside("share/retake/token"), "secret").expect("written");
                sandbox.hide.extend(["config/gh", "share/retake"].map(beside));
                for folder in ["keys", "bin", "run"] {
                    std::fs::create_dir(stage.root().join(folder)).expect("a folder");
                }
                std::fs::write(stage.root().join("keys/id_rsa"), "secret").expect("written");
                std::fs::write(stage.root().join("bin/program"), "mine").expect("written");
                super::git::git(stage.root(), &["init", "-q"]);
            });
            let root = ground.stage.root().to_owned();
            ground.stage.hide = vec![root.join("keys/id_rsa")];
            ground.stage.held = vec![root.join("bin/program")];
            let _agent = std::os::unix::net::UnixListener::bind(root.join("run/agent")).expect("a socket");
            let (above, share) = (root.with_file_name("config"), root.with_file_name("share"));
            let closed = [above, share, root.join("keys"), root.join("bin"), root.join("run"), root.join(".git")];
            let mode = |mode: u32| {
                for folder in &closed {
                    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).expect("set");
                }
            };
            mode(0);
            let tries = "chmod 755 ../config ../share keys bin run .git 2>/dev/null
                         cat ../config/gh/hosts ../share/retake/token && echo DID read
                         python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"run/agent\")' 2>/dev/null && echo DID connect";
            let held = "cat keys/id_rsa && echo DID read a key
                        echo evil > bin/program && echo DID write
                        echo evil > .git/hooks/pre-commit && echo DID plant
                        echo evil >> .git/config && echo DID set";
            let line = match how {
                How::Namespaces => format!("{{ {tries}\n{held}; }} 2>/dev/null; echo TRIED"),
                How::WithoutNamespaces => format!("{{ {tries}; }} 2>/dev/null; echo TRIED"),
            };
            let printed = ground.prints(&line).await;
            mode(0o755);
            assert!(printed.contains("TRIED") && !printed.contains("DID"), "{how:?} {network:?}: {printed}");
        }
    })
    .await;
}
