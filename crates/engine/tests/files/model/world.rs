//! Does each step with the engine and with the naive model, and checks everything after it.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use retake_core::{
    Action, ConversationId, EntryId, PageRequest, Part, Projection, Reading, Role, SayRequest,
};
use retake_engine::{Engine, Exec, FileOptions, Outcome, RunEvent};
use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

use super::disk;
use super::faults::Faults;
use super::ideal::{Model, assert_same};
use super::naive::{Talk, Thing};
use super::steps::{Do, Edit};
use super::text::Mint;

/// Time limit for the end of a call.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Two conversations in one folder, and their expected state.
pub(super) struct World {
    /// `None` only during a restart.
    engine: Option<Arc<Engine>>,
    pub(super) faults: Faults,
    pub(super) dir: TempDir,
    model: Model,
    /// The events of the open calls.
    events: [Option<BoxStream<'static, RunEvent>>; 2],
    /// Attributes that a person has set, with the version at that time, which a capture had seen before.
    pub(super) set: BTreeMap<String, (Vec<u8>, Thing)>,
    /// Later versions, each with its last attribute.
    pub(super) since: Vec<(String, Thing, Option<Vec<u8>>)>,
    mint: Mint,
}

impl Deref for World {
    type Target = Model;

    fn deref(&self) -> &Model {
        &self.model
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut Model {
        &mut self.model
    }
}

impl World {
    /// A folder after these edits.
    pub(super) async fn new(faults: Faults, edits: &[Edit]) -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        let work = dir.path().join("work");
        std::fs::create_dir(&work).expect("made");
        for talk in 0..2 {
            let made =
                std::process::Command::new("mkfifo").arg(dir.path().join(format!("hold{talk}"))).status();
            assert!(made.is_ok_and(|made| made.success()));
        }
        let mut mint = Mint::default();
        edits.iter().for_each(|edit| disk::edit(&work, edit, &mut mint, "b"));
        let engine = super::super::engine(&dir).await;
        let mut talks = Vec::new();
        for _ in 0..2 {
            let folder = work.to_str().expect("UTF-8").to_owned();
            let made = engine.create(None, Some(folder), engine.by(None)).await.expect("created");
            talks.push(Talk::new(made.conversation));
        }
        let (events, model) = ([None, None], Model::new(talks, disk::all(&work)));
        let engine = Some(engine);
        let (set, since) = (BTreeMap::new(), Vec::new());
        Self { engine, faults, dir, model, events, set, since, mint }
    }

    pub(super) fn engine(&self) -> &Arc<Engine> {
        self.engine.as_ref().expect("it runs")
    }

    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// The pipe that the call of a conversation reads, and so waits for.
    fn hold(&self, at: usize) -> PathBuf {
        self.dir.path().join(format!("hold{at}"))
    }

    /// Does a step.
    pub(super) async fn step(&mut self, at: usize, step: &Do) {
        match step {
            Do::Call(says, edits) => {
                if self.talks[at].open.is_none() {
                    self.begin(at, *says).await;
                    self.edit(edits);
                    self.end(at).await;
                }
            }
            Do::Begin(says) => {
                if self.talks[at].open.is_none() {
                    self.begin(at, *says).await;
                }
            }
            Do::End => {
                if self.talks[at].open.is_some() {
                    self.end(at).await;
                }
            }
            Do::Edit(edits) => {
                if !self.is_open() {
                    self.alone = None;
                }
                self.edit(edits);
            }
            // A call is different: files that are then git's are left alone.
            Do::Git(_) if self.is_open() => {}
            Do::Git(branch) => {
                self.alone = None;
                disk::git(&self.root(), *branch);
                self.tree = disk::all(&self.root());
            }
            Do::Checkpoint => {
                self.engine().checkpoint(self.talks[at].id, "name".into()).await.expect("looked");
                self.look();
            }
            Do::Say => self.say(at).await,
            Do::Act(aim, scope, chosen, fault) => self.act(at, *aim, *scope, chosen, *fault).await,
            Do::Kill => self.lives().await,
            Do::Restart => {
                if !self.is_open() {
                    self.restart().await;
                }
            }
        }
        for at in 0..self.talks.len() {
            let snapshot = self.engine().kept().snapshot(self.talks[at].id).await.expect("a snapshot");
            let (talk, head) = (&mut self.talks[at], snapshot.conversation().head);
            if talk.heads.last().is_none_or(|(last, ..)| *last != head) {
                talk.heads.push((head, talk.tip, talk.kept.clone()));
            }
        }
    }

    /// Ends every call, so that none remains running.
    pub(super) async fn close(&mut self) {
        for at in 0..self.talks.len() {
            if self.talks[at].open.is_some() {
                self.end(at).await;
                self.check(&"the end").await;
            }
        }
    }

    /// Kills the program with everything that it was doing.
    pub(super) fn dies(&mut self) {
        self.events = [None, None];
        self.engine = None;
    }

    /// Restarts the program after a kill. Changes of a call whose end was not seen have an unknown author.
    async fn lives(&mut self) {
        let killed: Vec<bool> = self.talks.iter().map(|talk| talk.open.is_some()).collect();
        let paths = [self.hold(0), self.hold(1)];
        let hold = |at: usize| rustix::fs::open(&paths[at], OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty());
        for (at, _) in killed.iter().enumerate().filter(|(_, killed)| **killed) {
            // It ends once no writer is left.
            let over = async {
                while hold(at).is_ok() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::time::timeout(PATIENCE, over).await.expect("the killed call ends");
        }
        self.engine = Some(super::super::engine(&self.dir).await);
        assert_eq!(self.engine().settle_files().await.expect("settled"), [""; 0]);
        if !killed.contains(&true) {
            return;
        }
        self.alone = None;
        let mut entries = vec![None, None];
        for at in 0..self.talks.len() {
            let roles = self.roles(self.talks[at].id).await;
            let known = self.talks[at].timeline().len();
            // Requested messages are reported as interrupted.
            self.said(at, roles.into_iter().skip(known)).await;
            self.engine().checkpoint(self.talks[at].id, "name".into()).await.expect("looked");
            self.talks[at].open = None;
        }
        for (at, entry) in entries.iter_mut().enumerate().filter(|(at, _)| killed[*at]) {
            let deltas = self.engine().kept().deltas(self.talks[at].id).await.expect("deltas");
            let last = deltas.last().map(|(_, entry)| *entry);
            let last = self.talks[at].said.iter().position(|said| Some(said.id) == last);
            *entry = last.or(Some(self.talks[at].said.len() - 1));
        }
        self.see();
        self.model.attribute(&entries, false);
        // A call that was killed before it began to read has not received it yet.
        for (at, talk) in self.talks.iter().enumerate().filter(|(at, _)| killed[*at]) {
            let runs = async || {
                let planned = self.engine().plan_both(talk.id, Action::Undo(1), FileOptions::default()).await;
                planned.is_ok_and(|planned| !planned.running.is_empty())
            };
            let over = async {
                while runs().await {
                    drop(hold(at));
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::time::timeout(PATIENCE, over).await.expect("the killed call ends");
        }
    }

    async fn roles(&self, id: ConversationId) -> Vec<Role> {
        let page = PageRequest { limit: 999, ..PageRequest::default() };
        let page =
            self.engine().kept().page(id, Reading::now(Projection::Timeline), page).await.expect("a page");
        page.entries.iter().map(|shown| shown.entry.as_ref().expect("sound").meta.role).collect()
    }

    /// Ends the program and starts it again.
    pub(super) async fn restart(&mut self) {
        drop(self.engine.take());
        self.engine = Some(super::super::engine(&self.dir).await);
        assert_eq!(self.engine().settle_files().await.expect("settled"), [""; 0]);
    }

    fn edit(&mut self, edits: &[Edit]) {
        let who = match (self.talks[0].open, self.talks[1].open) {
            (None, None) => "person".to_owned(),
            (Some(call), None) => format!("x{call}"),
            (None, Some(call)) => format!("y{call}"),
            _ => "either".to_owned(),
        };
        let root = self.root();
        edits.iter().for_each(|edit| disk::edit(&root, edit, &mut self.mint, &who));
        self.tree = disk::all(&self.root());
        if who == "person" {
            let tags = disk::tags(&root, &self.tree);
            for name in edits.iter().filter_map(Edit::tagged) {
                let (thing, tag) = (self.model.tree.get(name), tags.get(name).cloned().flatten());
                if let (Some(thing), Some(tag)) = (thing.filter(|it| self.looked.get(name) == Some(it)), tag)
                {
                    self.since.retain(|(path, ..)| path != name);
                    self.set.insert(name.to_owned(), (tag, thing.clone()));
                }
            }
        }
    }

    /// Records the attributes of each version.
    fn see(&mut self) {
        for (path, tag) in disk::tags(&self.root(), &self.tree) {
            let thing = self.tree[&path].clone();
            self.since.retain(|(other, version, _)| *other != path || *version != thing);
            self.since.push((path, thing, tag));
        }
    }

    /// Captures the folder: changes belong to the open calls, or to nobody.
    pub(super) fn look(&mut self) {
        self.see();
        self.model.look(None);
    }

    /// The id of a new request.
    pub(super) fn request_id(&self) -> retake_core::RequestId {
        self.engine().new_entry_id().to_string().parse().expect("an id")
    }

    async fn begin(&mut self, at: usize, says: bool) {
        self.look();
        let command = ["cat".to_owned(), format!("../hold{at}")].to_vec();
        let exec = Exec { command, say: says.then(|| "please".to_owned()), by: self.engine().by(None) };
        let events = self.engine().exec(self.talks[at].id, exec).await.expect("started");
        self.events[at] = Some(events);
        let opens = says || self.talks[at].tip.is_none();
        self.said(at, opens.then_some(Role::User).into_iter().chain([Role::Assistant])).await;
        self.talks[at].open = self.talks[at].tip;
        if at != 0 {
            self.alone = None;
        }
    }

    async fn end(&mut self, at: usize) {
        drop(std::fs::OpenOptions::new().write(true).open(self.hold(at)).expect("it is read"));
        let mut events = self.events[at].take().expect("it is open");
        let ended = async {
            loop {
                if let RunEvent::Ended(ended) = events.next().await.expect("an end") {
                    return ended;
                }
            }
        };
        let ended = tokio::time::timeout(PATIENCE, ended).await.expect("it ends");
        assert_eq!(ended.outcome, Outcome::Succeeded, "{:?}", ended.error);
        self.said(at, [Role::Tool]).await;
        let result = self.talks[at].said.len() - 1;
        self.see();
        self.model.look(Some((at, result)));
        self.talks[at].open = None;
        self.remember(at);
    }

    async fn say(&mut self, at: usize) {
        let say = SayRequest::new(
            self.engine().new_entry_id(),
            Role::User,
            vec![Part::text("and now")],
            self.engine().by(None),
        );
        self.engine().say(self.talks[at].id, say).await.expect("said");
        self.said(at, [Role::User]).await;
        self.remember(at);
    }

    /// Records the ids of messages that were just sent.
    async fn said(&mut self, at: usize, roles: impl IntoIterator<Item = Role>) {
        let roles: Vec<Role> = roles.into_iter().collect();
        let ids = self.timeline(self.talks[at].id).await;
        for (role, id) in roles.iter().zip(&ids[ids.len() - roles.len()..]) {
            self.talks[at].say(*id, *role);
            // A call's files arrive with its result.
            self.remember(at);
        }
    }

    async fn timeline(&self, id: ConversationId) -> Vec<EntryId> {
        let reading = Reading::now(Projection::Timeline);
        let page = PageRequest { limit: 999, ..PageRequest::default() };
        let page = self.engine().kept().page(id, reading, page).await.expect("a page");
        page.entries.iter().map(|shown| shown.entry.as_ref().expect("sound").meta.id).collect()
    }

    /// Checks that everything equals the model, and that nothing else exists.
    pub(super) async fn check(&self, told: &dyn std::fmt::Debug) {
        assert_same(&disk::all(&self.root()), &self.tree, told);
        for talk in &self.talks {
            let expected: Vec<EntryId> = talk.timeline().iter().map(|entry| talk.said[*entry].id).collect();
            assert_eq!(self.timeline(talk.id).await, expected, "the conversation after {told:?}");
        }
        assert!(self.engine().kept().intents().await.expect("intents").is_empty(), "{told:?}");
    }
}

/// Calls end even after a failed check: their processes would outlive the test.
impl Drop for World {
    fn drop(&mut self) {
        for at in 0..self.talks.len() {
            if self.events[at].is_some() {
                // Fails if there is no reader.
                drop(rustix::fs::open(self.hold(at), OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()));
            }
        }
    }
}
