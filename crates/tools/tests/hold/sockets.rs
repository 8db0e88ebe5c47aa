//! A command reaches no Unix socket except the listed ones, with network or without, and nothing of other processes.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::PathBuf;

use retake_tools::Network;

use super::stand::{Ground, How, everywhere};

const ATTACK: &str = include_str!("sockets.py");
const OTHERS: &str = include_str!("others.py");

/// Sockets of other programs: of the owner of the data, of a desktop, of a terminal multiplexer.
struct Listening {
    names: Vec<String>,
    _streams: Vec<UnixListener>,
    _datagrams: UnixDatagram,
    _folder: tempfile::TempDir,
}

impl Listening {
    fn beside(ground: &Ground) -> Self {
        let path = |name: &str| ground.stage.root().with_file_name(name);
        for folder in ["data", "outside"] {
            std::fs::create_dir_all(path(folder)).expect("a folder");
        }
        let folder = tempfile::Builder::new().prefix("tmux-").tempdir_in("/tmp").expect("a folder");
        let paths = [
            path("data/socket"),
            path("outside/one with a space"),
            ground.stage.root().join("stream"),
            folder.path().join("default"),
        ];
        let mut streams: Vec<_> =
            paths.iter().map(|path| UnixListener::bind(path).expect("a socket")).collect();
        // Of its own, since other tests of this process have one at the same time.
        let own = folder.path().file_name().expect("a name").to_string_lossy();
        let without_path = format!("retake-test-{own}");
        let address = SocketAddr::from_abstract_name(&without_path).expect("an address");
        streams.push(UnixListener::bind_addr(&address).expect("a socket"));
        let datagram = path("outside/datagram");
        let datagrams = UnixDatagram::bind(&datagram).expect("a socket");
        let quoted = |path: &PathBuf| format!("'{}'", path.display());
        let names = paths.iter().chain([&datagram]).map(quoted).chain([format!("@{without_path}")]).collect();
        Self { names, _streams: streams, _datagrams: datagrams, _folder: folder }
    }

    fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }
}

#[tokio::test]
async fn trial_20_a_command_reaches_no_socket_of_other_programs() {
    let test = "hold::sockets::trial_20_a_command_reaches_no_socket_of_other_programs";
    everywhere(test, async |how| {
        for network in [Network::Ask, Network::On] {
            let ground = Ground::new(how, network);
            let listening = Listening::beside(&ground);
            ground.can_not(ATTACK, &listening.names()).await;
        }
    })
    .await;
}

/// A call without network can't name sockets so that a later one with network would reach them.
#[tokio::test]
async fn trial_20_sockets_of_other_programs_keep_their_names() {
    let test = "hold::sockets::trial_20_sockets_of_other_programs_keep_their_names";
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::Ask);
        let listening = Listening::beside(&ground);
        // Deeper than sockets are searched: found only by the name that it was bound by.
        let deep = ground.stage.root().join("a/b/c/d/e/f");
        std::fs::create_dir_all(&deep).expect("folders");
        let _deep = UnixListener::bind(deep.join("s")).expect("a socket");
        let multiplexer = listening.names[3].trim_matches('\'').to_owned();
        let folder = multiplexer.trim_end_matches("/default");
        let new = ["moved/default", "other", "stream2", "g/b/c/d/e/f/s", "a/b/c/d/e/f/s"].map(|name| ground.stage.root().join(name));
        let moved = format!("/tmp/moved-{}-{how:?}", std::process::id());
        let line = format!(
            "mv {folder} {moved}; mkdir moved; ln {multiplexer} moved/default; mv {multiplexer} other; mv stream stream2; \
             mv a g; true"
        );
        ground.prints(&line).await;
        let mut names: Vec<String> = new.iter().map(|path| path.display().to_string()).collect();
        names.push(format!("{moved}/default"));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        std::fs::write(ground.stage.root().join("attack.py"), ATTACK).expect("a file");
        let line = format!("env true; python3 attack.py {}", names.join(" "));
        let output = ground.call("shell", serde_json::json!({ "command": line, "network": true })).await;
        assert!(output.content.contains("TRIED"), "{how:?}: {}", output.content);
        assert!(!output.content.contains("DID"), "{how:?}: {}", output.content);
        let _ = std::fs::rename(&moved, folder);
    })
    .await;
}

/// A process that ends with this value.
struct Ending(std::process::Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sockets that are bound by relative names, or renamed since, are in writable folders.
#[tokio::test]
async fn trial_20_sockets_that_were_bound_under_other_names_are_out_of_reach() {
    let test = "hold::sockets::trial_20_sockets_that_were_bound_under_other_names_are_out_of_reach";
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::On);
        let folder = tempfile::Builder::new().prefix("other-").tempdir_in("/tmp").expect("a folder");
        let work = ground.stage.root().join("deep");
        std::fs::create_dir(&work).expect("a folder");
        let first = folder.path().join("first");
        let _linked = UnixListener::bind(&first).expect("a socket");
        std::fs::rename(&first, folder.path().join("second")).expect("renamed");
        let binds = "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('relative'); s.listen(); \
                     print('on', flush=True); time.sleep(600)";
        let mut other = std::process::Command::new("python3");
        other.args(["-c", binds]).current_dir(&work).stdout(std::process::Stdio::piped());
        let mut other = Ending(other.spawn().expect("python3 is there"));
        let mut on = [0; 3];
        std::io::Read::read_exact(other.0.stdout.as_mut().expect("a pipe"), &mut on).expect("it listens");
        let names =
            [folder.path().join("second"), work.join("relative")].map(|path| path.display().to_string());
        ground.can_not(ATTACK, &names.each_ref().map(String::as_str)).await;
    })
    .await;
}

#[tokio::test]
async fn trial_20_a_listed_socket_and_those_of_the_command_itself_are_reached_in_namespaces() {
    let test =
        "hold::sockets::trial_20_a_listed_socket_and_those_of_the_command_itself_are_reached_in_namespaces";
    everywhere(test, async |how| {
        let mut listed = PathBuf::new();
        // In a hidden folder, too.
        let ground = Ground::with(how, Network::On, |stage, sandbox| {
            listed = stage.root().with_file_name("data").join("listed");
            sandbox.sockets.push(listed.clone());
            std::fs::create_dir_all(stage.root().with_file_name("data")).expect("a folder");
        });
        let _listed = UnixListener::bind(&listed).expect("a socket");
        let listening = Listening::beside(&ground);
        ground.can_not(ATTACK, &listening.names()).await;
        let reached = ground.prints(&format!("python3 attack.py +{}", listed.display())).await;
        assert_eq!(reached.contains("REACHED"), how == How::Namespaces, "{how:?}: {reached}");
        let own = "import socket as s; a = s.socket(s.AF_UNIX); a.bind(\\\"own\\\"); a.listen(); \
                   s.socket(s.AF_UNIX).connect(\\\"own\\\")";
        if how == How::Namespaces {
            ground.prints(&format!("python3 -c \"{own}\"")).await;
        }
        ground.prints("python3 -c 'import socket; a, b = socket.socketpair(); a.send(b\"x\")'").await;
    })
    .await;
}

#[tokio::test]
async fn trial_20_a_command_does_nothing_to_other_processes() {
    let test = "hold::sockets::trial_20_a_command_does_nothing_to_other_processes";
    everywhere(test, async |how| {
        for network in [Network::Ask, Network::On] {
            let ground = Ground::new(how, network);
            ground.can_not(OTHERS, &[&std::process::id().to_string()]).await;
        }
    })
    .await;
}

/// A desktop server, at the two names that programs look for: with a number that no desktop uses; removed with this
/// value.
struct Desktop {
    path: PathBuf,
    made: bool,
    _listens: [UnixListener; 2],
}

impl Desktop {
    fn start() -> Self {
        let folder = std::path::Path::new("/tmp/.X11-unix");
        // The servers of every user are there.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        let made = std::fs::create_dir(folder).is_ok();
        assert!(!made || std::fs::set_permissions(folder, mode).is_ok());
        let path = folder.join(format!("X{}", 100_000 + std::process::id()));
        let _ = std::fs::remove_file(&path);
        let twin = SocketAddr::from_abstract_name(path.to_str().expect("UTF-8")).expect("an address");
        let listens = [UnixListener::bind(&path), UnixListener::bind_addr(&twin)];
        Self { path, made, _listens: listens.map(|it| it.expect("a socket")) }
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        if self.made {
            // It stays if another test has its own in it.
            let _ = std::fs::remove_dir("/tmp/.X11-unix");
        }
    }
}

#[tokio::test]
async fn trial_20_a_command_with_network_reaches_no_desktop() {
    let test = "hold::sockets::trial_20_a_command_with_network_reaches_no_desktop";
    everywhere(test, async |how| {
        let desktop = Desktop::start();
        let name = desktop.path.display().to_string();
        let ground = Ground::new(how, Network::On);
        ground.can_not(ATTACK, &[&name, &format!("@{name}")]).await;
        // They exist.
        let mut outside = std::process::Command::new("python3");
        let attack = ground.stage.root().join("attack.py");
        outside.arg(attack).args([format!("+{name}"), format!("+@{name}")]).current_dir(ground.stage.root());
        let printed = outside.output().expect("python3 is there").stdout;
        let printed = String::from_utf8_lossy(&printed);
        assert_eq!(printed.matches("REACHED").count(), 2, "{printed}");
    })
    .await;
}
