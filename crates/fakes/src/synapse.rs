//! A real Matrix server as a separate process. Must never outlive the tests, or talk to any other server.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// The same version as `cargo xtask test` installs.
const SERVER: (&str, &str) = ("matrix-synapse", "1.163.2");

/// How often we look whether it has started, every tenth of a second.
const LOOKS: usize = 600;

/// Rates that no test reaches.
const FAST: &str = "rc_message: {per_second: 10000, burst_count: 10000}";

/// A running server.
pub struct Synapse {
    child: Child,
    /// The server ends when this is closed.
    input: Option<ChildStdin>,
    port: u16,
}

impl Synapse {
    /// The server that all tests share.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Synapse> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(FAST))
    }

    /// A server of one's own, with these rates.
    pub fn start(rates: &str) -> Self {
        let programs = installed();
        // Another program may take the port before the server does.
        let mut started = (0..3).map(|_| Self::try_start(&programs, rates));
        let mut problems = String::new();
        let server = started.find_map(|started| started.map_err(|problem| problems += &problem).ok());
        server.unwrap_or_else(|| panic!("Synapse does not start: {problems}"))
    }

    fn try_start(programs: &Path, rates: &str) -> Result<Self, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let folder = tempfile::tempdir().expect("a temporary folder").keep();
        fs::write(folder.join("homeserver.yaml"), settings(&folder, port, rates)).expect("settings");
        fs::write(folder.join("log.yaml"), LOG).expect("settings of the log");
        let said = folder.join("said");
        let output = File::create(&said).expect("a file for its output");
        let mut child = Command::new(programs.join("python"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/homeserver.py"))
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(output.try_clone().expect("a second handle"))
            .stderr(output)
            .spawn()
            .expect("python starts");
        let mut server = Self { input: child.stdin.take(), child, port };
        for _ in 0..LOOKS {
            if server.is_up() {
                return Ok(server);
            }
            if server.child.try_wait().expect("its state").is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let problem = fs::read_to_string(said).unwrap_or_default();
        drop(server);
        // The server removes it if it still can.
        let _ = fs::remove_dir_all(folder);
        Err(problem)
    }

    fn is_up(&self) -> bool {
        let ask = || {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
            stream.write_all(b"GET /health HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok::<_, std::io::Error>(answer)
        };
        ask().is_ok_and(|answer| answer.contains(" 200 "))
    }

    /// Its port, on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `http://127.0.0.1:port`.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Synapse {
    fn drop(&mut self) {
        drop(self.input.take());
        // It may have ended before.
        let _ = self.child.wait();
    }
}

const LOG: &str = "{version: 1, handlers: {console: {class: logging.StreamHandler}}, root: {level: WARNING, handlers: [console]}}";

fn settings(folder: &Path, port: u16, rates: &str) -> String {
    let folder = folder.display();
    let fast = "{per_second: 10000, burst_count: 10000}";
    format!(
        "server_name: chat.test
report_stats: false
pid_file: {folder}/pid
log_config: {folder}/log.yaml
media_store_path: {folder}/media
max_upload_size: 100K
database: {{name: sqlite3, args: {{database: '{folder}/db.sqlite'}}}}
listeners: [{{port: {port}, bind_addresses: ['127.0.0.1'], type: http, resources: [{{names: [client]}}]}}]
federation_domain_whitelist: []
trusted_key_servers: []
suppress_key_server_warning: true
signing_key: ed25519 a_test AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8
macaroon_secret_key: test
form_secret: test
enable_registration: true
enable_registration_without_verification: true
bcrypt_rounds: 4
presence: {{enabled: false}}
rc_registration: {fast}
rc_login: {{address: {fast}, account: {fast}, failed_attempts: {fast}}}
rc_joins: {{local: {fast}, remote: {fast}}}
rc_joins_per_room: {fast}
rc_invites: {{per_room: {fast}, per_user: {fast}, per_issuer: {fast}}}
rc_media_create: {fast}
rc_room_creation: {fast}
{rates}
"
    )
}

/// The folder of the server's commands; installed if necessary. Tests in several processes take turns for that.
fn installed() -> PathBuf {
    let (name, version) = SERVER;
    let tools = match std::env::var_os("RETAKE_TEST_TOOLS") {
        Some(commands) => PathBuf::from(commands),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin"),
    };
    let root = tools.parent().expect("a folder above").join(name);
    let commands = root.join("bin");
    if !commands.join("synapse_homeserver").is_file() {
        fs::create_dir_all(&tools).expect("a folder for tools");
        let lock = File::create(root.with_extension("lock")).expect("a lock file");
        lock.lock().expect("the lock");
        if !commands.join("synapse_homeserver").is_file() {
            let package = format!("{name}=={version}");
            install(&package, Command::new("python3").args(["-m", "venv"]).arg(&root));
            install(&package, Command::new(commands.join("pip")).args(["install", "--quiet", &package]));
        }
    }
    commands
}

fn install(package: &str, command: &mut Command) {
    let done = command.output().expect("python3 with venv is there");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "cannot install {package}, a server that the tests start: {errors}");
}
