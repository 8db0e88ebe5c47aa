//! Exports, imports, backups and the check, through the engine, on both stores.

mod bring;
mod care;
mod carry;
mod random;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use retake_core::{
    Action, Apply, ChangeOrigin, ConversationId, Effect, EffectClass, EffectState, EntryId, Fence,
    ListRequest, Mode, NewRun, Part, Permission, Reason, RequestId, Role, Rule, Ruling, RunEnding, RunInput,
    SayRequest, SeenState, Source, Steer, Summary, Time, ToolOutcome, Usage, Words,
};
use retake_engine::clock::ManualClock;
use retake_engine::{Engine, EngineError, ExportFormat};
use retake_store::Store;
use retake_testkit::{Puppet, conversation, memory_store, sqlite_store, start};

const NOW: i64 = 1_795_300_000_000;

/// An engine to export from and import into.
struct Desk {
    engine: Arc<Engine>,
    store: Arc<Store>,
    clock: ManualClock,
}

impl Desk {
    async fn new(seed: u64) -> Self {
        Self::on(memory_store(), seed).await
    }

    /// On a file in this folder.
    async fn in_folder(dir: &Path, seed: u64) -> Self {
        Self::on(sqlite_store(dir), seed).await
    }

    async fn on(store: Arc<Store>, seed: u64) -> Self {
        let clock = ManualClock::new(NOW);
        let engine = start(&store, &clock, &Arc::new(Puppet::default()), seed).await;
        Self { engine, store, clock }
    }

    async fn create(&self) -> ConversationId {
        conversation(&self.engine).await
    }

    async fn list(&self) -> Vec<Summary> {
        let all = ListRequest { limit: 1000, ..ListRequest::default() };
        self.store.list(all).await.expect("a list")
    }

    /// Sends a message a second after the last one.
    async fn say(&self, id: ConversationId, role: Role, parts: Vec<Part>) -> EntryId {
        self.say_with(id, role, parts, |_| {}).await
    }

    async fn say_with(
        &self,
        id: ConversationId,
        role: Role,
        parts: Vec<Part>,
        change: impl FnOnce(&mut SayRequest),
    ) -> EntryId {
        self.clock.advance(Duration::from_secs(1));
        let mut say = SayRequest::new(
            self.engine.new_entry_id(),
            role,
            parts,
            ChangeOrigin { author: String::new(), ..self.engine.by(None) },
        );
        change(&mut say);
        self.store.say(id, say).await.expect("said").entries[0]
    }

    async fn words(&self, id: ConversationId, role: Role, text: &str) -> EntryId {
        self.say(id, role, vec![Part::text(text)]).await
    }

    async fn apply(&self, id: ConversationId, action: Action) {
        let by = self.engine.by(None);
        self.store.apply(id, Apply { action, seen: SeenState::Anything, by }).await.expect("applied");
    }

    async fn mark(&self, id: ConversationId, verb: Reason, entry: EntryId) {
        self.apply(id, Action::Mark { verb, entries: vec![entry], range: false, seen: None }).await;
    }

    /// The whole export, and its number of pieces.
    async fn export_in(&self, id: ConversationId, format: ExportFormat) -> (String, usize) {
        let (mut text, mut cursor, mut pieces) = (String::new(), None::<String>, 0);
        loop {
            let chunk = self.engine.export(id, format, cursor.as_deref()).await.expect("exported");
            text.push_str(&chunk.text);
            pieces += 1;
            match chunk.cursor {
                Some(next) => cursor = Some(next),
                None => {
                    assert_eq!(chunk.progress.0, chunk.progress.1, "the end is the end");
                    return (text, pieces);
                }
            }
        }
    }

    async fn export(&self, id: ConversationId, format: ExportFormat) -> String {
        self.export_in(id, format).await.0
    }

    /// Imports a text, a few lines at a time.
    async fn import(&self, text: &str) -> Result<ConversationId, EngineError> {
        let id = self.engine.import_start(None, None, 0, None).conversation;
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (number, chunk) in lines.chunks(7).enumerate() {
            self.engine.import_lines(id, number as u64 * 7, chunk)?;
        }
        Ok(self.engine.import_end(id).await?.conversation)
    }
}

fn request(name: &str) -> Option<RequestId> {
    Some(name.parse().expect("an id"))
}

/// A conversation with all kinds of content, and a fork of it.
async fn rich(desk: &Desk) -> (ConversationId, ConversationId) {
    let created = desk.engine.create(
        Some("Tea & “cake”".into()),
        Some("/home/ann".into()),
        desk.engine.by(request("new")),
    );
    let id = created.await.expect("created").conversation;
    let image = Part::Image { media_type: "image/png".into(), source: Source::Inline(vec![0, 1, 255]) };
    let first = vec![Part::text("What is in this?\n```\ncode\n```"), image];
    desk.say_with(id, Role::User, first, |say| {
        say.by = ChangeOrigin { author: "ann".into(), request: request("first"), ..say.by.clone() };
        say.platform_id = Some("p-1".into());
    })
    .await;
    let bad = desk.words(id, Role::Assistant, "A dog.").await;
    desk.apply(id, Action::Retry(bad)).await;
    let call = Part::ToolCall { id: "c1".into(), name: "look".into(), arguments: "{\"at\": 1}".into() };
    let hm = Part::Reasoning { text: "hm".into(), signature: Some("c2ln".into()) };
    let good = desk
        .say_with(id, Role::Assistant, vec![hm, call], |say| {
            say.usage =
                Some(Usage { input_tokens: Some(9), cached_input_tokens: None, output_tokens: Some(2) });
            say.by.author = "test/puppet".into();
        })
        .await;
    let result =
        Part::ToolResult { call: "c1".into(), content: "a cat".into(), outcome: ToolOutcome::Failed };
    desk.say(id, Role::Tool, vec![result]).await;
    let cat = desk.words(id, Role::Assistant, "A \u{1b}[2Jcat.").await;
    desk.apply(id, Action::Label(Some(cat), Some("cat".into()))).await;
    let hidden = desk.words(id, Role::User, "a secret wish").await;
    desk.words(id, Role::Assistant, "Noted.").await;
    desk.mark(id, Reason::Hide, hidden).await;
    let excluded = desk.words(id, Role::User, "only for people").await;
    desk.mark(id, Reason::Exclude, excluded).await;
    let fork = desk
        .engine
        .fork(id, Some(cat), None, desk.engine.by(request("fork")))
        .await
        .expect("forked")
        .conversation;
    desk.words(fork, Role::User, "said in the fork").await;
    desk.mark(fork, Reason::Hide, good).await;
    let gone = desk.words(id, Role::User, "a password").await;
    desk.apply(id, Action::Erase { entries: vec![gone], matching: None, objects: Vec::new() }).await;
    let fold =
        Action::Fold { verb: Reason::Fold, from: gone, to: gone, summary: "nothing".into(), covers: None };
    desk.apply(id, fold).await;
    let back = desk.words(id, Role::User, "never mind").await;
    desk.apply(id, Action::Rewind(back)).await;
    desk.say_with(id, Role::Assistant, vec![Part::text("half an ans")], |say| say.flags.interrupted = true)
        .await;
    work(desk, id, good).await;
    (id, fork)
}

/// A call in the ledger, an ended run, waiting messages, and a rule.
async fn work(desk: &Desk, id: ConversationId, asks: EntryId) {
    let effect = Effect {
        call: "c1-1".into(),
        conversation: id,
        entry: asks,
        tool: "look".into(),
        class: EffectClass::External,
        print: [10; 16],
        began: Time(1_795_300_003_500),
        state: EffectState::Begun,
    };
    desk.store.begin_effect(effect, Vec::new()).await.expect("begun");
    desk.store.end_effect("c1-1".into(), EffectState::Failed).await.expect("ended");
    let words = Words {
        parts: vec![Part::text("and then?")],
        author: "bob".into(),
        request: request("waits"),
        wording: Some([7; 16].into()),
        time: Time(1_795_300_013_000),
        chat: None,
    };
    let ask = |words| {
        let new = NewRun { words, steer: Steer::Join, seen: None, model: Some("test/puppet".into()) };
        RunInput::Enqueue(new, Time(1_795_300_013_000))
    };
    let claim = RunInput::Claim(Time(1_795_300_013_001));
    let end = RunInput::End(Fence(1), RunEnding::Succeeded, Time(1_795_300_013_002));
    let steps = vec![ask(None), claim, end, ask(Some(words))];
    desk.store.step_runs(id, steps).await.expect("one is over, one waits");
    // An import does not take over what permissions allow.
    let rule = Rule { ruling: Ruling::Deny, tool: "shell".into(), what: Some("git push".into()) };
    let settled = Permission { mode: Mode::Plan, rules: vec![rule] };
    desk.store.set_permission(id, settled).await.expect("settled");
}
