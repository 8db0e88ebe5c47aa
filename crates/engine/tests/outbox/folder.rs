//! Hooks that folders bring, through an engine: a real server gets their events.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use retake_core::{ConversationId, Field};
use retake_engine::clock::{ManualClock, SystemClock};
use retake_engine::outbox::{EndpointGround, FolderHooks, HookGround, HookState};
use retake_engine::secret::Environment;
use retake_engine::settings::Settings;
use retake_engine::{Engine, EngineError, Parts};
use retake_store::Store;
use retake_testkit::{Puppet, memory_store, parts};
use retake_tools::ShellConfig;

use super::{Desk, HOUR};
use crate::raw::{Raw, Step, answer};

/// A person's settings, which have a hook with the name of those of folders.
const OWN: &str = "[hook.web]\non = [\"said\"]\nurl = \"http://127.0.0.1:9/own\"\nfolder = \"/nowhere\"\n";

/// Folders with hooks, and an owner.
struct World {
    dir: tempfile::TempDir,
    store: Arc<Store>,
    clock: ManualClock,
    engine: Arc<Engine>,
}

async fn owner(dir: &Path, store: &Arc<Store>, clock: &ManualClock) -> Arc<Engine> {
    let ground = HookGround {
        web: EndpointGround { environment: Environment::fixed([]), clock: Arc::new(SystemClock) },
        shell: ShellConfig::default(),
        spool: dir.join("spool"),
    };
    let settings = Settings::parse(OWN).expect("valid");
    let hooks = Some(Arc::new(FolderHooks::new(dir.join("hooks-allowed.json"), &settings, ground)));
    let seed = retake_testkit::next_seed();
    let parts = Parts { hooks, ..parts(store, clock, &Arc::new(Puppet::default()), seed) };
    let engine = Engine::start(parts).await.expect("started");
    engine.deliver_in_background();
    engine
}

/// The text of a file with a hook `web` for this address.
fn file(server: &Raw) -> String {
    format!("[hook.web]\non = [\"said\"]\ntext = true\nurl = \"{}/in?key=1\"\n", server.address())
}

impl World {
    async fn new() -> Self {
        let (store, clock) = (memory_store(), ManualClock::new(1_700_000_000_000));
        let dir = tempfile::tempdir().expect("a folder");
        let engine = owner(dir.path(), &store, &clock).await;
        Self { dir, store, clock, engine }
    }

    /// A folder with this file of hooks.
    fn folder(&self, name: &str, text: &str) -> PathBuf {
        let folder = self.dir.path().canonicalize().expect("real").join(name);
        std::fs::create_dir_all(folder.join(".retake")).expect("a folder");
        std::fs::write(folder.join(".retake/hooks.toml"), text).expect("written");
        folder
    }

    /// A conversation in a folder.
    async fn talk(&self, folder: &Path) -> ConversationId {
        let folder = folder.to_str().expect("UTF-8").to_owned();
        let created = self.engine.create(None, Some(folder), self.engine.by(None)).await;
        created.expect("created").conversation
    }

    async fn say(&self, id: ConversationId, text: &str) {
        let (store, clock, engine) = (Arc::clone(&self.store), self.clock.clone(), Arc::clone(&self.engine));
        let deliveries = futures::channel::mpsc::unbounded().1;
        Desk { engine, store, clock, id, deliveries }.say(text).await;
    }

    /// The state and the digest of the folder's hook `web`.
    async fn web(&self, folder: &Path) -> (String, String) {
        let shown = self.engine.hooks(folder.to_owned()).await.expect("listed");
        assert!(shown.hooks.iter().any(|hook| !hook.is_of_folder), "the own one is listed, too");
        let mut of_folder = shown.hooks.into_iter().filter(|hook| hook.is_of_folder && hook.name == "web");
        let hook = of_folder.next().expect("it is listed");
        let state = match hook.state {
            HookState::Incomplete(why) => why.message,
            state => format!("{state:?}"),
        };
        (state, hook.digest.expect("a digest"))
    }

    /// Approves the folder's hook `web` as it is.
    async fn approve(&self, folder: &Path) {
        let (_, digest) = self.web(folder).await;
        self.approve_as(folder, digest).await.expect("approved");
        assert_eq!(self.web(folder).await.0, "Set");
    }

    async fn approve_as(&self, folder: &Path, digest: String) -> Result<(), EngineError> {
        self.engine.approve_hook(folder.to_owned(), "web".to_owned(), digest).await
    }

    async fn revoke(&self, folder: &Path) -> Result<(), EngineError> {
        self.engine.revoke_hook(folder.to_owned(), "web".to_owned()).await
    }

    /// Waits until the server has got these texts, and nothing waits. Time goes on, for what is tried again.
    async fn arrive(&self, server: &Raw, texts: &[&str]) {
        self.until(async || {
            self.clock.advance(Duration::from_millis(20));
            let requests = server.requests();
            let are_there = requests.iter().zip(texts).all(|(it, text)| it.contains(*text));
            requests.len() == texts.len() && are_there && self.lines().await.is_empty()
        })
        .await;
    }

    /// Waits until the last attempt at the only item ended like this.
    async fn waits(&self, why: &str) {
        self.until(async || self.lines().await == [format!("true {why}")]).await;
    }

    async fn until(&self, holds: impl AsyncFn() -> bool) {
        for _ in 0..2000 {
            if holds().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("it does not happen; the outbox has {:?}", self.engine.outbox().await);
    }

    /// The outbox: whether the destination is set, and the last result.
    async fn lines(&self) -> Vec<String> {
        let lines = self.engine.outbox().await.expect("read");
        lines.into_iter().map(|it| format!("{} {}", it.is_configured, it.why.unwrap_or_default())).collect()
    }

    /// Another owner takes over.
    async fn restart(&mut self) {
        self.engine = owner(self.dir.path(), &self.store, &self.clock).await;
    }
}

fn what(error: &EngineError) -> (&'static str, &Field) {
    let what = error.fields.iter().find(|(name, _)| *name == "what");
    (error.code, &what.expect("each has one").1)
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_of_a_folder_gets_nothing_before_its_approval_and_its_own_folder_after_it() {
    let (server, world) = (Raw::answering("204 No Content", "", ""), World::new().await);
    let folder = world.folder("project", &file(&server));
    let beside = world.folder("project-2", "");
    let (here, below) = (world.talk(&folder).await, world.talk(&folder.join("sub")).await);
    let elsewhere = world.talk(&beside).await;
    let around = world.talk(&folder.join("../project-2")).await;
    world.say(here, "before").await;
    assert_eq!(world.web(&folder).await.0, "NeedsApproval");
    assert_eq!(world.engine.outbox().await.expect("read"), []);
    world.approve(&folder).await;
    world.say(elsewhere, "elsewhere").await;
    world.say(here, "after").await;
    world.arrive(&server, &["after"]).await;
    world.say(below, "below").await;
    world.arrive(&server, &["after", "below"]).await;
    assert!(!server.requests().concat().contains("before"));
    world.say(around, "around").await;
    world.until_passed_over().await;
    assert_eq!(server.requests().len(), 2);
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(world.dir.path().join("hooks-allowed.json")).expect("kept").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}

impl World {
    /// Waits until the only item was passed over, because its conversation is elsewhere.
    async fn until_passed_over(&self) {
        self.waits("the conversation is not in its folder").await;
        let line = self.engine.outbox().await.expect("read").remove(0);
        assert!(line.failure.is_some() && line.destination.starts_with("web@"), "{line:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_or_missing_file_lets_deliveries_wait_until_it_is_as_approved() {
    let (server, mut world) = (Raw::answering("204 No Content", "", ""), World::new().await);
    let other = Raw::answering("204 No Content", "", "");
    let folder = world.folder("project", &file(&server));
    let id = world.talk(&folder).await;
    let (_, seen) = world.web(&folder).await;
    world.approve(&folder).await;
    world.folder("project", &file(&other));
    world.say(id, "changed").await;
    world.waits("its file has changed since its approval").await;
    assert_eq!(world.web(&folder).await.0, "Changed");
    // A person who saw the earlier entry has not approved this one.
    let stale = world.approve_as(&folder, seen).await.expect_err("changed");
    assert_eq!(what(&stale), ("hooks", &Field::from("changed")));
    // Comments, and settings with their defaults, are no change.
    world.folder("project", &format!("# a comment\n{}timeout_s = 10\n", file(&server)));
    assert_eq!(world.web(&folder).await.0, "Set");
    world.arrive(&server, &["changed"]).await;
    // Without its file it waits, also in another owner.
    std::fs::remove_dir_all(folder.join(".retake")).expect("removed");
    world.say(id, "missing").await;
    world.waits("its file has changed since its approval").await;
    world.restart().await;
    assert_eq!(world.web(&folder).await.0, "Missing");
    world.waits("its file has changed since its approval").await;
    world.folder("project", &file(&server));
    world.arrive(&server, &["changed", "missing"]).await;
    // The other entry gets nothing before it is approved, and then the rest.
    world.folder("project", &file(&other));
    world.say(id, "of the other").await;
    world.waits("its file has changed since its approval").await;
    world.approve(&folder).await;
    world.arrive(&other, &["of the other"]).await;
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_hook_gets_nothing_and_what_it_was_owed_stays_listed() {
    let (server, mut world) = (Raw::answering("503 Busy", "", ""), World::new().await);
    let folder = world.folder("project", &file(&server));
    let id = world.talk(&folder).await;
    let unknown = world.revoke(&folder).await.expect_err("not approved");
    assert_eq!(what(&unknown), ("hooks", &Field::from("not_approved")));
    world.approve(&folder).await;
    world.say(id, "one").await;
    world.waits("HTTP 503").await;
    world.revoke(&folder).await.expect("revoked");
    assert_eq!(world.web(&folder).await.0, "NeedsApproval");
    for is_restarted in [false, true] {
        if is_restarted {
            world.restart().await;
        }
        world.clock.advance(HOUR);
        world.say(id, "two").await;
        assert_eq!(world.lines().await, ["false HTTP 503"]);
        assert!(!world.engine.delivers().await);
        assert_eq!(server.requests().len(), 1);
    }
    // An item can be given up, as that of a removed hook.
    assert_eq!(world.engine.drop_owed(None).await.expect("dropped"), 1);
    assert_eq!(world.lines().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_that_is_revoked_during_a_delivery_gets_no_further_one() {
    let slow = [Step::Pause(Duration::from_millis(500)), Step::Say(answer("204 No Content", "", ""))];
    let (server, world) = (Raw::start(vec![slow.to_vec()]), World::new().await);
    let folder = world.folder("project", &file(&server));
    let id = world.talk(&folder).await;
    world.approve(&folder).await;
    world.say(id, "one").await;
    world.until(async || server.requests().len() == 1).await;
    world.say(id, "two").await;
    world.revoke(&folder).await.expect("revoked");
    world.until(async || !world.engine.delivers().await).await;
    assert_eq!((server.requests().len(), world.lines().await), (1, vec!["false ".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_of_two_folders_with_one_name_get_the_events_of_their_folders() {
    let world = World::new().await;
    let servers = [(); 2].map(|()| Raw::answering("204 No Content", "", ""));
    let folders = [("a", &servers[0]), ("b", &servers[1])].map(|(name, it)| world.folder(name, &file(it)));
    world.approve(&folders[0]).await;
    // The approval of one folder is none for the same entry elsewhere.
    let copy = world.folder("copy", &file(&servers[0]));
    let (_, digest) = world.web(&folders[0]).await;
    let refused = world.approve_as(&copy, digest).await.expect_err("another folder");
    assert_eq!(what(&refused), ("hooks", &Field::from("changed")));
    world.approve(&folders[1]).await;
    for (folder, text) in folders.iter().zip(["of a", "of b"]) {
        world.say(world.talk(folder).await, text).await;
    }
    world.arrive(&servers[0], &["of a"]).await;
    world.arrive(&servers[1], &["of b"]).await;
    world.revoke(&folders[0]).await.expect("revoked");
    assert_eq!(
        (world.web(&folders[0]).await.0, world.web(&folders[1]).await.0),
        ("NeedsApproval".into(), "Set".into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_file_of_hooks_is_one_error_and_nothing_of_it_is_set() {
    let (server, world) = (Raw::answering("204 No Content", "", ""), World::new().await);
    let elsewhere = world.folder("elsewhere", &file(&server));
    let folder = world.folder("project", "");
    let at = folder.join(".retake/hooks.toml");
    let problem = async |world: &World| {
        let shown = world.engine.hooks(folder.clone()).await.expect("a list");
        assert!(shown.hooks.iter().all(|hook| !hook.is_of_folder), "{shown:?}");
        let [problem] = &shown.problems[..] else { panic!("one problem: {shown:?}") };
        assert_eq!(problem.code, "hooks");
        problem.message.clone()
    };
    let link = |to: &Path| std::os::unix::fs::symlink(to, &at).expect("linked");
    let (leads_out, up) = ("it is a link that leads out of the folder", Path::new("../../elsewhere/"));
    for to in [elsewhere.join(".retake/hooks.toml"), up.join(".retake/hooks.toml")] {
        std::fs::remove_file(&at).expect("removed");
        link(&to);
        assert!(problem(&world).await.ends_with(leads_out));
    }
    std::fs::remove_file(&at).expect("removed");
    let (pipe, all) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, &at, pipe, all, 0).expect("a pipe");
    assert!(problem(&world).await.ends_with("it is not a regular file"));
    std::fs::remove_file(&at).expect("removed");
    let long = format!("#{}\n{}", "x".repeat(64 << 10), file(&server));
    let rows = [
        (long.as_bytes(), "it has more than 64 kB"),
        (b"\xff", "it is not text in UTF-8"),
        (b"[hook.web", "line 1 is not valid TOML"),
        (b"[hook.\"../web\"]", "has a name that is not"),
    ];
    for (bytes, why) in rows {
        std::fs::write(&at, bytes).expect("written");
        let problem = problem(&world).await;
        assert!(problem.contains(why), "{problem}");
    }
    let approved = world.engine.approve_hook(folder.clone(), "web".to_owned(), "x".repeat(64)).await;
    assert_eq!(what(&approved.expect_err("nothing is approved")), ("hooks", &Field::from("wrong_value")));
    // A whole folder that leads elsewhere.
    std::fs::remove_dir_all(folder.join(".retake")).expect("removed");
    std::os::unix::fs::symlink(elsewhere.join(".retake"), folder.join(".retake")).expect("linked");
    assert!(problem(&world).await.ends_with(leads_out));
    // A link within the folder is one file with two names.
    std::fs::remove_file(folder.join(".retake")).expect("removed");
    std::os::unix::fs::symlink(".hooks", folder.join(".retake")).expect("linked");
    std::fs::create_dir(folder.join(".hooks")).expect("a folder");
    std::fs::write(folder.join(".hooks/hooks.toml"), file(&server)).expect("written");
    world.approve(&folder).await;
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_approvals_set_no_hook_and_keep_no_owner_from_its_start() {
    let (server, mut world) = (Raw::answering("204 No Content", "", ""), World::new().await);
    let folder = world.folder("project", &file(&server));
    world.approve(&folder).await;
    for text in [
        "{",
        "{\"allowed\": 1}",
        "{\"allowed\": [1, {\"folder\": \"/\", \"name\": \"web\", \"digest\": \"\"}]}",
    ] {
        std::fs::write(world.dir.path().join("hooks-allowed.json"), text).expect("written");
        world.restart().await;
        world.say(world.talk(&folder).await, "one").await;
        assert_eq!(world.lines().await, Vec::<String>::new());
        assert_eq!(world.web(&folder).await.0, "NeedsApproval", "{text}");
    }
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_that_is_not_complete_is_listed_with_the_reason_and_not_approved() {
    let world = World::new().await;
    let text = "[hook.web]\non = [\"said\"]\ncommand = [\"x\"]\nsecret_file = \"/etc/hostname\"\n";
    let folder = world.folder("project", text);
    let (state, digest) = world.web(&folder).await;
    assert_eq!(
        state,
        "the setting hook.web.secret_file is not for the hook of a folder: secret_env names a variable"
    );
    let refused = world.approve_as(&folder, digest).await.expect_err("not complete");
    assert_eq!(what(&refused), ("hooks", &Field::from("incomplete")));
    let missing = world.engine.approve_hook(folder.clone(), "other".to_owned(), String::new()).await;
    assert_eq!(what(&missing.expect_err("no such hook")), ("hooks", &Field::from("missing")));
    let own = world.engine.approve_hook(world.folder("empty", ""), "web".to_owned(), String::new()).await;
    assert_eq!(what(&own.expect_err("the person's own")), ("hooks", &Field::from("own")));
}
