//! Sample turns, plans and a scripted owner, for tests. Must never be built into the program.

use std::collections::VecDeque;

use retake_wire::chat::{Place, PostCounts, StayCause, StayCount};
use retake_wire::reply::{
    Composer, Counts, EffectLine, EffectState, EffectWords, Effects, Entries, Entry, EntryFlags, EntryPlace,
    Line, Outside, PlacePosts, Plan, PostChanges, Receipt, StepPosts, Target, TargetPage, TimelinePlan,
    TurnActions, Waiting, Words, Work,
};
use retake_wire::{
    Action, AfterChoice, AuthorKind, BlockingAuthor, CallLine, Choice, ChoiceOutcome, Condition, EffectClass,
    FileCounts, FileName, FilesOfOthers, FilesPlan, Grade, PathCause, PathChange, PathPlan, Problem,
    ProblemKind, Reply, Request, Role, Scope, Verdict,
};

use crate::ui::keymap::{Command, Key, Keymap};
use crate::ui::msg::{Act, PaneInstruction, Ticket};
use crate::ui::pane::Pane;
use crate::ui::testing::{NOW_MS, World, brush, conversation, screen, styled};
use crate::ui::theme::Theme;

/// A turn.
pub(crate) fn target(turn: u64, words: &str) -> Target {
    Target {
        entry: entry(turn),
        turn,
        time_ms: NOW_MS,
        preview: words.to_owned(),
        reason: None,
        at_work: false,
        takes_back: Counts { messages: 2, calls: 1, turns: 1 },
        did: TurnActions::default(),
    }
}

/// The entry that opened a turn.
pub(crate) fn entry(turn: u64) -> String {
    format!("0199a000-{turn:04x}-7000-8000-000000000001")
}

/// So many turns, newest first.
pub(crate) fn targets(amount: u64) -> Vec<Target> {
    let words = ["fix the parser", "write the docs", "run the tests and say what fails", "rename the crate"];
    let words = |turn: u64| words[usize::try_from(turn % 4).expect("small")];
    let made = |turn: u64| {
        let minutes = i64::try_from((amount - turn).min(59)).expect("a small number");
        let target = target(turn, &format!("{} ({turn})", words(turn)));
        // No time of day: it differs between time zones.
        Target { time_ms: NOW_MS - 60_000 * minutes, did: did(turn), ..target }
    };
    (1..=amount).rev().map(made).collect()
}

fn did(turn: u64) -> TurnActions {
    match turn % 4 {
        2 => TurnActions { files: 3, commands: 1, calls: 5, outside: 0, posts: 2 },
        3 => TurnActions { files: 0, commands: 0, calls: 2, outside: 1, posts: 0 },
        _ => TurnActions::default(),
    }
}

fn line(turn: u64, role: Role, preview: &str) -> Line {
    Line {
        id: entry(turn),
        role,
        time_ms: NOW_MS,
        preview: preview.to_owned(),
        ran_by: None,
        synthetic: false,
    }
}

/// A plan of messages alone.
pub(crate) fn plan() -> Plan {
    Plan {
        conversation: "c".to_owned(),
        head: "3.12".to_owned(),
        timeline: TimelinePlan {
            taken_back: Counts { messages: 2, calls: 1, turns: 1 },
            gone: vec![
                line(3, Role::User, "run the tests and say what fails"),
                line(3, Role::Assistant, "Two of them fail."),
            ],
            ..TimelinePlan::default()
        },
        composer: Some(Composer {
            entry: entry(3),
            text: "run the tests and say what fails".to_owned(),
            parts: vec![retake_wire::Part::text("run the tests and say what fails")],
        }),
        conditions: vec![Condition::FilesUnchanged],
        ..Plan::default()
    }
}

fn path(name: &str, verdict: Verdict, grade: Grade, call: usize, diff: &str) -> PathPlan {
    PathPlan {
        name: FileName { path: name.to_owned(), path_base64: None },
        verdict,
        cause: None,
        why: None,
        grade,
        calls: vec![format!("call-{call}")],
        choices: vec![Choice::Checkpoint, Choice::Disk],
        hunks: Default::default(),
        renamed: None,
        diff: (!diff.is_empty()).then(|| diff.to_owned()),
        theirs: false,
        full_folder: false,
        kept: false,
        against: None,
        outcomes: Vec::new(),
    }
}

fn called(number: usize, line: &str, lasted: i64) -> CallLine {
    let began_ms = Some(NOW_MS - 600_000);
    CallLine {
        entry: format!("call-{number}"),
        line: line.to_owned(),
        began_ms,
        ended_ms: Some(NOW_MS - 600_000 + lasted),
        turn: None,
    }
}

/// The same with posts in one chat, one of which stays.
pub(crate) fn with_posts() -> Plan {
    let stays = vec![StayCount { why: StayCause::TooOld, count: 1 }];
    let taken_back = PostCounts { trying: 2, stays, ..PostCounts::default() };
    let all = PostChanges { taken_back, ..PostChanges::default() };
    let place = Place { account: "work".to_owned(), chat: "!team:example.org".to_owned(), thread: None };
    let posts = StepPosts { place_count: 1, places: vec![PlacePosts { place, changes: all.clone() }], all };
    Plan { outside: Outside { posts, ..with_files().outside }, ..with_files() }
}

/// A plan that changes files, and effects that can't be reverted.
pub(crate) fn with_files() -> Plan {
    let diff = "--- a/src/parse.rs\n+++ b/src/parse.rs\n@@ -1,2 +1,2 @@\n-fn parse_all() {\n+fn parse() {\n \tlet a = 1;\n";
    let effect = |line: &str, class, state| EffectLine {
        line: line.to_owned(),
        words: EffectWords::Shown,
        tool: "shell".to_owned(),
        class,
        began_ms: NOW_MS - 120_000,
        state,
    };
    let files = FilesPlan {
        digest: "d1".to_owned(),
        counts: FileCounts { reverted: 2, deleted: 1, recreated: 0, merged: 0 },
        paths: vec![
            path("src/parse.rs", Verdict::Revert, Grade::Written, 1, diff),
            path("src/lex.rs", Verdict::Revert, Grade::Seen, 2, "--- a\n+++ b\n@@ -1 +1 @@\n-1\n+2\n"),
            path("notes.md", Verdict::Delete, Grade::Written, 1, "--- a\n+++ /dev/null\n-gone\n"),
            path("build.log", Verdict::Ambiguous, Grade::Ambiguous, 2, "--- a\n+++ b\n+x\n"),
        ],
        left: 1,
        calls: vec![called(1, "edit src/parse.rs", 200), called(2, "make all", 600_000)],
        others: FilesOfOthers { changed: 2, paths: vec!["README.md".to_owned(), "todo.txt".to_owned()] },
        ..FilesPlan::default()
    };
    Plan {
        timeline: TimelinePlan { lifted: vec!["o4".to_owned()], ..plan().timeline },
        outside: Outside {
            effects: Effects {
                count: 2,
                calls: vec![
                    effect("mail send --to team@example.org", EffectClass::External, EffectState::Done),
                    effect("gh pr create", EffectClass::Compensable, EffectState::Failed),
                ],
            },
            ..Outside::default()
        },
        files: Some(files),
        conditions: vec![Condition::CoveredFoldersOnly { folders: 1 }],
        ..plan()
    }
}

/// A plan with a conflict that waits for a choice.
pub(crate) fn with_conflict() -> Plan {
    let mut plan = with_files();
    let files = plan.files.as_mut().expect("files");
    files.conflicts = 1;
    let first = &mut files.paths[0];
    first.verdict = Verdict::Conflict;
    let by = BlockingAuthor { whose: AuthorKind::Later, turn: Some(3), call: None };
    first.cause = Some(PathCause::Clash { by, change: PathChange::SamePlace, uncertain: false });
    first.choices = vec![Choice::Skip, Choice::Disk, Choice::Yours, Choice::Checkpoint];
    let after = |choice: &Choice, becomes| AfterChoice {
        choice: choice.clone(),
        becomes,
        turn: Some(3),
        call: Some("call-1".to_owned()),
        partly: false,
        words: String::new(),
    };
    first.outcomes = vec![
        after(&Choice::Skip, ChoiceOutcome::Stays),
        after(&Choice::Disk, ChoiceOutcome::Stays),
        after(&Choice::Yours, ChoiceOutcome::Yours),
        AfterChoice { turn: Some(2), ..after(&Choice::Checkpoint, ChoiceOutcome::Before) },
    ];
    first.hunks.count = Some(2);
    plan
}

/// A refusal.
pub(crate) fn problem(kind: ProblemKind, message: &str) -> Problem {
    Problem { code: "x".into(), kind, message: message.to_owned(), ..Problem::default() }
}

/// A scripted owner.
#[derive(Debug)]
pub(crate) struct Owner {
    /// Its turns, newest first.
    pub(crate) targets: Vec<Target>,
    /// Its head.
    pub(crate) head: String,
    /// Its replies to plans; the last one repeats. A plan for the conversation alone has no files.
    pub(crate) plans: VecDeque<Result<Plan, Problem>>,
    /// Its replies to applied actions.
    pub(crate) applies: VecDeque<Result<Receipt, Problem>>,
    /// Messages that wait for a run.
    pub(crate) waiting: Vec<Words>,
    /// Its work.
    pub(crate) work: Work,
    /// Requests that it does not answer, by name.
    pub(crate) silent: Vec<&'static str>,
    /// The requests it got.
    pub(crate) asked: Vec<Request>,
}

impl Owner {
    /// An owner with so many turns and this plan for each.
    pub(crate) fn new(turns: u64, plan: Plan) -> Self {
        Self {
            targets: targets(turns),
            head: "3.12".to_owned(),
            plans: VecDeque::from([Ok(plan)]),
            applies: VecDeque::new(),
            waiting: Vec::new(),
            work: Work::default(),
            silent: Vec::new(),
            asked: Vec::new(),
        }
    }

    fn answer(&mut self, request: &Request) -> Option<Result<Reply, Problem>> {
        if self.silent.contains(&name(request)) {
            return None;
        }
        Some(match request {
            Request::Targets(page) => {
                let from = page.before.as_ref().map_or(0, |before| {
                    self.targets
                        .iter()
                        .position(|it| it.entry == *before)
                        .map_or(self.targets.len(), |at| at + 1)
                });
                let limit = page.limit.unwrap_or(50);
                let some = self.targets[from..].iter().take(limit).cloned();
                Ok(Reply::Targets(TargetPage {
                    head: self.head.clone(),
                    targets: some.collect(),
                    more: self.targets[from..].len() > limit,
                }))
            }
            Request::Plan(of) => {
                let next =
                    if self.plans.len() > 1 { self.plans.pop_front() } else { self.plans.front().cloned() };
                next.expect("a plan").map(|plan| {
                    let alone = of.files.scope == Scope::Conversation;
                    Reply::Plan(Plan { files: plan.files.filter(|_| !alone), ..plan })
                })
            }
            Request::Apply(_) => {
                self.applies.pop_front().expect("an answer to who applies").map(Reply::Receipt)
            }
            Request::Unqueue(_) => Ok(Reply::Waiting(Waiting { words: std::mem::take(&mut self.waiting) })),
            Request::Work => Ok(Reply::Work(self.work)),
            Request::Log(page) => Ok(Reply::Entries(log(&self.targets, page))),
            other => panic!("nobody answers {other:?}"),
        })
    }
}

/// A page of a log in which each turn has a prompt and three more entries.
fn log(targets: &[Target], page: &retake_wire::request::Log) -> Entries {
    let more = |turn: u64| ["call", "result", "answer"].map(|what| (turn, format!("{}-{what}", entry(turn))));
    let turns = targets.iter().rev();
    let all: Vec<_> =
        turns.flat_map(|it| std::iter::once((it.turn, it.entry.clone())).chain(more(it.turn))).collect();
    let place = |name: &String| match name.as_str() {
        "@" => all.len().saturating_sub(1),
        _ => all.iter().position(|(_, id)| id == name).unwrap_or(0),
    };
    // So small that several pages are needed.
    let limit = page.limit.unwrap_or(2).min(2);
    let (from, to) = match (&page.before, &page.after) {
        (Some(before), _) => (place(before).saturating_sub(limit), place(before)),
        (_, after) => after.as_ref().map_or((0, 0), |after| (place(after) + 1, place(after) + 1 + limit)),
    };
    let found = &all[from.min(all.len())..to.min(all.len())];
    let entries = found.iter().map(|(turn, id)| shown(*turn, id)).collect();
    let (conversation, head) = ("c".to_owned(), "3.12".to_owned());
    Entries {
        conversation,
        head,
        revision: 1,
        entries,
        earlier: from > 0,
        later: false,
        unbegun: Vec::new(),
        cut_off: Vec::new(),
    }
}

fn shown(turn: u64, id: &str) -> Entry {
    let opens_turn = id == entry(turn);
    Entry {
        id: id.to_owned(),
        place: EntryPlace { seq: turn, depth: 0, turn, opens_turn },
        role: if opens_turn { Role::User } else { Role::Assistant },
        author: String::new(),
        time_ms: NOW_MS,
        mark: retake_wire::Mark::Normal,
        fold: None,
        label: None,
        flags: EntryFlags::default(),
        alternative: None,
        parts: Vec::new(),
        usage: None,
        took_ms: None,
        platform_id: None,
        origin: None,
    }
}

fn name(request: &Request) -> &'static str {
    match request {
        Request::Targets(_) => "targets",
        Request::Plan(_) => "plan",
        Request::Apply(_) => "apply",
        Request::Work => "work",
        Request::Log(_) => "log",
        _ => "other",
    }
}

/// A pane in front of an owner.
#[derive(Debug)]
pub(crate) struct TestPane<P> {
    pub(crate) pane: P,
    pub(crate) world: World,
    pub(crate) owner: Owner,
    pub(crate) keys: Keymap,
    held: Vec<(Ticket, Request)>,
}

impl<P: Pane> TestPane<P> {
    /// Opens the pane and answers its requests.
    pub(crate) fn new(pane: P, owner: Owner) -> Self {
        let world = World { conversation: Some(conversation("0199a000-c", None, "", 0)), ..World::default() };
        let mut stage = Self { pane, world, owner, keys: Keymap::default(), held: Vec::new() };
        stage.pane.opened(&mut stage.world.cx());
        stage.settle();
        stage
    }

    /// Answers requests until there are none.
    pub(crate) fn settle(&mut self) {
        loop {
            let acts = std::mem::take(&mut self.world.acts);
            if acts.is_empty() {
                return;
            }
            for act in acts {
                let (ticket, request) = match act {
                    Act::Ask(ticket, request) => (ticket, request),
                    Act::Cancel(ticket) => {
                        self.held.retain(|(held, _)| *held != ticket);
                        continue;
                    }
                    other => panic!("a pane only asks: {other:?}"),
                };
                self.owner.asked.push((*request).clone());
                match self.owner.answer(&request) {
                    Some(reply) => self.pane.replied(ticket, reply, &mut self.world.cx()),
                    None => self.held.push((ticket, *request)),
                }
            }
        }
    }

    /// Answers the requests that were held back.
    pub(crate) fn release(&mut self) {
        self.owner.silent.clear();
        for (ticket, request) in std::mem::take(&mut self.held) {
            let reply = self.owner.answer(&request).expect("nothing is held back");
            self.pane.replied(ticket, reply, &mut self.world.cx());
        }
        self.settle();
    }

    /// The ticket of a request that was held back.
    pub(crate) fn held(&self, is: impl Fn(&Request) -> bool) -> Ticket {
        self.held.iter().find(|(_, request)| is(request)).expect("it is held back").0
    }

    /// The number of requests that were held back and not given up.
    pub(crate) fn held_back(&self) -> usize {
        self.held.len()
    }

    /// Time passes.
    pub(crate) fn wait(&mut self, ms: i64) {
        self.world.passed_ms += ms;
        self.pane.tick(&mut self.world.cx());
        self.settle();
    }

    /// Presses a key, according to the table; without a rest.
    pub(crate) fn press(&mut self, key: &str) -> Option<Command> {
        let key: Key = key.parse().expect("a key");
        let command = self.keys.find(self.pane.context(), key);
        match (command, key.letter()) {
            (Some(command), Some(letter)) => self.pane.letter(letter, command, &mut self.world.cx()),
            (Some(command), None) => self.pane.command(command, &mut self.world.cx()),
            (None, letter) => {
                let letter = letter.expect("a letter").to_string();
                self.pane.typed(&letter, &mut self.world.cx());
            }
        }
        self.settle();
        command
    }

    /// Presses keys in order, then rests.
    pub(crate) fn keys(&mut self, keys: &str) {
        for key in keys.split(' ') {
            self.press(key);
        }
        self.wait(1_000);
    }

    /// The conversation is changed by another client.
    pub(crate) fn changed(&mut self) {
        self.pane.changed(&mut self.world.cx());
        self.settle();
    }

    /// The screen.
    pub(crate) fn screen(&mut self, width: u16, height: u16) -> String {
        let Self { pane, keys, .. } = self;
        screen(width, height, |frame| pane.draw(frame, frame.area(), &brush(Theme::default(), keys)))
    }

    /// The screen, with colours.
    pub(crate) fn styled(&mut self, width: u16, height: u16, theme: Theme) -> String {
        let Self { pane, keys, .. } = self;
        styled(width, height, |frame| pane.draw(frame, frame.area(), &brush(theme, keys)))
    }

    /// The requested plans.
    pub(crate) fn plans(&self) -> Vec<&retake_wire::request::Plan> {
        let plan = |request: &'_ Request| matches!(request, Request::Plan(_));
        let plans = self.owner.asked.iter().filter(|request| plan(request));
        plans
            .filter_map(|request| if let Request::Plan(plan) = request { Some(plan) } else { None })
            .collect()
    }

    /// The applied actions.
    pub(crate) fn applied(&self) -> Vec<&retake_wire::request::Apply> {
        let all = self.owner.asked.iter();
        all.filter_map(|request| if let Request::Apply(apply) = request { Some(apply) } else { None })
            .collect()
    }

    /// The targets of the plans.
    pub(crate) fn planned(&self) -> Vec<String> {
        let entry = |plan: &&retake_wire::request::Plan| match &plan.action {
            Action::Rewind { entry } => entry.clone(),
            other => panic!("{other:?} is no rewind"),
        };
        self.plans().iter().map(entry).collect()
    }

    /// Whether the pane wants to be closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.world.wants.iter().any(|want| matches!(want, PaneInstruction::Close))
    }
}
