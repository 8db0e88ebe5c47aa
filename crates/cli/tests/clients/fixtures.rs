//! A small sample world for the fake client: two conversations, one with a tool call, an image, and a message with terminal
//! control characters.

use retake_wire::reply::{
    Access, Alternative, Alternatives, Chunk, Composer, Conversation, Conversations, Counts, Draft, Entries,
    Entry, EntryFlags, EntryPlace, Line, Model, Models, NextSteps, Operation, Operations, Outside, OwnerWork,
    Plan, Prompt, PromptMessage, Receipt, Report, Target, TargetPage, TimelineChange, TimelinePlan,
    TurnActions, Work, Workspace, Workspaces, Written,
};
use retake_wire::{
    Action, Condition, Ended, FolderRemark, Hint, HintPiece, Hit, Hits, ModelCause, OpSummary, OperationKind,
    OperationReason, Outcome, Part, PlannedStep, Problem, ProblemKind, Remedy, Reply, Request, Role,
    RunEvent, SandboxFact, UnavailableCause, Usage,
};

use super::{branches, folder};

/// The current time.
pub(super) const NOW: i64 = 1_772_000_000_000;

/// The conversation.
pub(super) const HERE: &str = "0199a000-0000-7000-8000-00000000c001";
/// Its fork.
pub(super) const OTHER: &str = "0199a000-0000-7000-8000-00000000c002";

/// Text that tries to clear the screen, ring the bell, set the title and reverse the following text.
pub(super) const HOSTILE: &str = "\x1b[2Jgone\x07 \x1b]0;title\x07 \u{202e}reversed\r\nnext\x08 line";

/// The id of an entry.
pub(super) fn id(number: u32) -> String {
    format!("0199a000-{number:04}-7000-8000-000000000000")
}

/// This many minutes ago.
pub(super) fn ago(minutes: i64) -> i64 {
    NOW - minutes * 60_000
}

pub(super) fn image() -> Part {
    Part::Image {
        media_type: "image/png".to_owned(),
        data: None,
        url: Some("https://example.org/cat.png".to_owned()),
    }
}

pub(super) fn entry(number: u32, turn: u64, role: Role, parts: Vec<Part>) -> Entry {
    Entry {
        id: id(number),
        place: EntryPlace { seq: number.into(), depth: 0, turn, opens_turn: role == Role::User },
        role,
        author: String::new(),
        time_ms: ago(40 - i64::from(number)),
        mark: retake_wire::Mark::Normal,
        fold: None,
        label: None,
        flags: EntryFlags::default(),
        alternative: None,
        parts,
        usage: None,
        took_ms: None,
        platform_id: None,
        origin: None,
    }
}

pub(super) fn line(number: u32, role: Role, preview: &str) -> Line {
    Line {
        id: id(number),
        role,
        time_ms: ago(40 - i64::from(number)),
        preview: preview.to_owned(),
        ran_by: None,
        synthetic: false,
    }
}

fn usage() -> Usage {
    Usage {
        input_tokens: Some(1_234),
        cached_input_tokens: Some(1_000),
        output_tokens: Some(56),
        cost_usd: Some(0.0021),
    }
}

fn entries() -> Vec<Entry> {
    let call = Part::ToolCall {
        id: "c1".to_owned(),
        name: "read_file".to_owned(),
        arguments: r#"{"path":"notes.txt"}"#.to_owned(),
        sent: None,
    };
    let result = Part::ToolResult { call: "c1".to_owned(), content: HOSTILE.to_owned(), failed: false };
    let long = "A long answer that does not fit into one line of a terminal with eighty columns, so that it is wrapped, with 漢字 too.";
    vec![
        Entry {
            label: Some("start".to_owned()),
            ..entry(1, 1, Role::User, vec![Part::text("What is in the notes?"), image()])
        },
        entry(2, 1, Role::Assistant, vec![call]),
        entry(3, 1, Role::Tool, vec![result]),
        Entry {
            author: "demo/echo".to_owned(),
            alternative: Some((2, 3)),
            usage: Some(usage()),
            ..entry(4, 1, Role::Assistant, vec![Part::text(long)])
        },
        Entry {
            mark: retake_wire::Mark::Excluded,
            fold: Some("7".to_owned()),
            ..entry(5, 2, Role::User, vec![Part::text(HOSTILE)])
        },
        Entry {
            flags: EntryFlags { interrupted: true, erased: true, ..EntryFlags::default() },
            ..entry(6, 2, Role::Assistant, vec![Part::Erased])
        },
    ]
}

fn counts(messages: u64, calls: u64, turns: u64) -> Counts {
    Counts { messages, calls, turns }
}

pub(super) fn conversation() -> Conversation {
    Conversation {
        id: HERE.to_owned(),
        title: None,
        preview: "What is in the notes?".to_owned(),
        folder: Some("/home/ada/project".to_owned()),
        parent: None,
        created_ms: ago(50),
        changed_ms: ago(3),
        head: "12.6".to_owned(),
        revision: 30,
        tip: Some(id(6)),
        counts: counts(6, 1, 2),
        steps: NextSteps {
            rewinds: 1,
            undo: Some("turn".to_owned()),
            undo_step: Some(PlannedStep::Turn { message: None }),
            redo: None,
            redo_step: None,
        },
        access: Access::default(),
        running: false,
        archived: false,
    }
}

fn conversations(folder: Option<&str>) -> Conversations {
    let other = Conversation {
        id: OTHER.to_owned(),
        title: Some("Plans for \x1b[31mspring".to_owned()),
        folder: Some("/home/ada/elsewhere".to_owned()),
        changed_ms: ago(30),
        counts: counts(1_204, 0, 600),
        running: true,
        ..conversation()
    };
    let conversations = match folder {
        Some(_) => vec![conversation()],
        None => vec![conversation(), other],
    };
    Conversations { conversations, more: false, ..Default::default() }
}

pub(super) fn composer() -> Composer {
    let text = "What is in the notes?".to_owned();
    Composer { entry: id(1), parts: vec![Part::text(text.clone()), image()], text }
}

pub(super) fn plan() -> Plan {
    Plan {
        steps: None,
        step_summaries: Vec::new(),
        step_lines: Vec::new(),
        conversation: HERE.to_owned(),
        head: "12.6".to_owned(),
        unchanged: false,
        timeline: TimelinePlan {
            taken_back: counts(6, 1, 2),
            gone: vec![
                line(1, Role::User, "What is in the notes?"),
                Line { ran_by: Some("ann".to_owned()), ..line(2, Role::Assistant, "$ make") },
                line(3, Role::Tool, "\x1b[2Jgone"),
            ],
            lifted: vec!["7".to_owned()],
            ..TimelinePlan::default()
        },
        composer: Some(composer()),
        running: Vec::new(),
        at_work: false,
        waiting: 0,
        outside: Outside::default(),
        conditions: vec![Condition::InFolder { folder: None, remark: FolderRemark::GitRepositoryMade }],
        stays: Vec::new(),
        files: None,
    }
}

pub(super) fn receipt() -> Receipt {
    Receipt {
        conversation: HERE.to_owned(),
        head: "13.6".to_owned(),
        revision: 31,
        operations: vec![13],
        ..Receipt::default()
    }
}

fn rewound() -> Receipt {
    Receipt {
        timeline: TimelineChange {
            taken_back: counts(6, 1, 2),
            lifted: vec!["7".to_owned()],
            ..TimelineChange::default()
        },
        composer: Some(composer()),
        ..receipt()
    }
}

fn done(action: &Action) -> Receipt {
    match action {
        Action::Rewind { .. } | Action::Undo { .. } | Action::Edit { .. } => rewound(),
        Action::Redo { .. } | Action::Restore { .. } | Action::Checkout { .. } => {
            let timeline = TimelineChange { brought_back: counts(4, 0, 2), ..TimelineChange::default() };
            Receipt { timeline, ..receipt() }
        }
        _ => receipt(),
    }
}

pub(super) fn said() -> Receipt {
    Receipt { entries: vec![id(7)], operations: Vec::new(), ..receipt() }
}

/// An answer that succeeds.
pub(super) fn answer() -> Vec<RunEvent> {
    let text = |text: &str| RunEvent::Text { text: text.to_owned() };
    vec![
        started(),
        RunEvent::Reasoning { text: "Thinking.".to_owned() },
        text("Hello "),
        text("\x1b[2Jthere.\r"),
        text("\n"),
        ended(Outcome::Succeeded, None),
    ]
}

pub(super) fn started() -> RunEvent {
    RunEvent::Started { receipt: Some(Box::new(said())), model: "demo/echo".to_owned() }
}

pub(super) fn ended(outcome: Outcome, problem: Option<Problem>) -> RunEvent {
    let answered = matches!(outcome, Outcome::Succeeded | Outcome::Interrupted);
    let receipt = match outcome {
        Outcome::RolledBack => rewound(),
        _ => said(),
    };
    RunEvent::Ended(Box::new(Ended {
        outcome,
        receipt: Some(receipt),
        entry: answered.then(|| Entry {
            usage: Some(usage()),
            ..entry(8, 3, Role::Assistant, vec![Part::text("Hello there.")])
        }),
        problem,
    }))
}

pub(super) fn overloaded() -> Problem {
    Problem {
        code: "rate_limited".into(),
        kind: ProblemKind::Model,
        message: "demo/echo refused the request".to_owned(),
        hint: Some(Hint(vec![
            HintPiece::Text("wait a minute, then ".to_owned()),
            HintPiece::Do(Remedy::Retry),
            HintPiece::Text(", or choose another model with ".to_owned()),
            HintPiece::Do(Remedy::Model),
        ])),
        causes: vec!["status 429 \x1b[31mslow down".to_owned()],
        ..Problem::default()
    }
}

pub(super) fn stale() -> Problem {
    Problem {
        code: "stale_head".into(),
        kind: ProblemKind::Stale,
        message: "can't rewind: the conversation has changed since head 12.6".to_owned(),
        hint: Some("look again, then repeat it with the new head".into()),
        causes: Vec::new(),
        head: Some("13.8".to_owned()),
        ..Problem::default()
    }
}

pub(super) fn targets() -> TargetPage {
    let target = |number, turn, preview: &str, takes_back| Target {
        entry: id(number),
        turn,
        time_ms: ago(40 - i64::from(number)),
        preview: preview.to_owned(),
        reason: None,
        at_work: false,
        takes_back,
        did: TurnActions::default(),
    };
    let did = TurnActions { files: 3, commands: 1, calls: 4, outside: 1, posts: 6 };
    TargetPage {
        head: "12.6".to_owned(),
        targets: vec![
            target(5, 2, "\x1b[2Jgone", counts(2, 0, 1)),
            Target { did, ..target(1, 1, "What is in the notes?", counts(6, 1, 2)) },
            Target { at_work: true, ..target(0, 0, "inherited", counts(7, 1, 3)) },
        ],
        more: false,
    }
}

fn alternatives() -> Alternatives {
    let one = |number: usize, current, preview: &str| Alternative {
        number,
        current,
        line: line(u32::try_from(number).expect("small"), Role::Assistant, preview),
    };
    Alternatives {
        head: "12.6".to_owned(),
        more: false,
        alternatives: vec![
            one(1, false, "The first answer"),
            one(2, true, "The second answer"),
            one(3, false, "\x1b[31mThe third"),
        ],
    }
}

fn operations() -> Operations {
    let one = |number: u64, reason, description: &str| Operation {
        number,
        head: format!("{number}.6"),
        kind: OperationKind::Move,
        reason,
        summary: OpSummary::Unknown,
        description: description.to_owned(),
        principal: retake_wire::Principal::Local,
        author: "ada".to_owned(),
        time_ms: ago(5),
        before: format!("{}.6", number - 1),
        undo_next: number == 12,
        redo_next: number == 11,
    };
    Operations {
        head: "12.6".to_owned(),
        operations: vec![
            one(12, OperationReason::Rewind, "took back 4 messages, to before “\x1b[2Jgone”"),
            one(
                11,
                OperationReason::Undo,
                "took back the hiding of 2 messages, which were long and are described at length here",
            ),
        ],
        more: true,
    }
}

fn hits() -> Hits {
    Hits {
        hits: vec![
            Hit {
                conversation: HERE.to_owned(),
                title: "What is in the notes?".to_owned(),
                line: line(4, Role::Assistant, "A long answer"),
                snippet: "… fits in \x1b[2J the notes of …".to_owned(),
                marks: vec![(21, 26)],
                standing: None,
                before: Some(line(3, Role::Tool, "\x1b[2Jgone")),
                after: Some(line(5, Role::User, "And then?")),
            },
            Hit {
                conversation: OTHER.to_owned(),
                title: "Plans".to_owned(),
                line: line(9, Role::User, "notes"),
                snippet: "notes".to_owned(),
                marks: vec![(0, 5), (4, 99)],
                standing: Some(retake_wire::HitState::Rewound),
                before: None,
                after: None,
            },
        ],
        more: true,
        understood: Some("notes".to_owned()),
    }
}

fn models() -> Models {
    let model = |name: &str, key: Option<&str>| Model {
        name: name.to_owned(),
        unavailable_cause: key.map(|it| UnavailableCause::KeyNotSet { variable: it.to_owned() }),
        context_tokens: Some(128_000),
        input_price: Some(0.5),
        ..Model::default()
    };
    Models {
        default: "demo/echo".to_owned(),
        cause: ModelCause::Demo,
        models: vec![model("demo/echo", None), model("openai/large", Some("OPENAI_API_KEY"))],
        ..Models::default()
    }
}

/// The replies of the sample world.
pub(super) fn reply(request: &Request) -> Reply {
    match request {
        Request::Create(_) | Request::Fork(_) | Request::ImportStart(_) | Request::ImportEnd(_) => {
            Reply::Receipt(Receipt { operations: Vec::new(), ..receipt() })
        }
        Request::Say(_) | Request::Edit(_) | Request::EarlierRequest(_) => Reply::Receipt(said()),
        Request::Plan(_) => Reply::Plan(plan()),
        Request::Apply(apply) => Reply::Receipt(done(&apply.action)),
        Request::Cancel(_) | Request::ImportLines(_) => Reply::Done,
        Request::List(list) => Reply::Conversations(conversations(list.folder.as_deref())),
        Request::Info(_) => Reply::Conversation(conversation()),
        Request::Log(_) => Reply::Entries(Entries {
            conversation: HERE.to_owned(),
            head: "12.6".to_owned(),
            revision: 30,
            entries: entries(),
            earlier: true,
            later: false,
            unbegun: vec![],
            cut_off: vec![],
        }),
        Request::Prompt(_) => Reply::Prompt(Prompt {
            head: "12.6".into(),
            messages: vec![PromptMessage { role: Role::User, parts: vec![Part::text(HOSTILE)] }],
        }),
        Request::Targets(_) => Reply::Targets(targets()),
        Request::Alternatives(_) => Reply::Alternatives(alternatives()),
        Request::Marked(_) => Reply::Marked(super::marked::marked()),
        Request::Ops(_) => Reply::Operations(operations()),
        Request::Tree(_) => Reply::Tree(branches::tree()),
        Request::Search(_) => Reply::Hits(hits()),
        Request::Export(export) => Reply::Chunk(match export.cursor.as_deref() {
            None => Chunk { text: "first\n".to_owned(), cursor: Some("c".to_owned()), progress: (1, 2) },
            Some(_) => Chunk { text: "second\n".to_owned(), cursor: None, progress: (2, 2) },
        }),
        Request::Work => Reply::Work(Work { doing: Some(OwnerWork::Reading { done: 1200, of: 50_000 }) }),
        Request::Models => Reply::Models(models()),
        Request::McpList(_) => Reply::McpServers(super::mcp::servers()),
        Request::McpTools(_) => Reply::McpTools(super::mcp::tools()),
        Request::CommandFiles(_) => Reply::CommandFiles(super::commands::commands()),
        Request::HooksList(_) | Request::HookApprove(_) | Request::HookRevoke(_) => {
            Reply::Hooks(super::hooks::hooks())
        }
        Request::McpAdd(_) | Request::McpRemove(_) | Request::McpAllow(_) => {
            Reply::Written(Written { path: "/home/ada/.config/retake/mcp.json".to_owned(), bytes: 140 })
        }
        Request::Backup(_) => {
            Reply::Written(Written { path: "/home/ada/copy.db".to_owned(), bytes: 1_234_567 })
        }
        Request::Doctor(_) => {
            let confinement = vec![SandboxFact::Confined { seccomp: true, namespaces: true }];
            Reply::Report(Report { conversations: 2, entries: 1_210, confinement, ..Report::default() })
        }
        Request::History(_) => Reply::History(folder::history()),
        Request::ClaimDraft(_) | Request::ClaimDraftIn(_) => Reply::Draft(Draft::default()),
        Request::Checkpoint(_) | Request::FilesLog(_) => Reply::Captures(folder::captures()),
        Request::FilesStatus(_) => Reply::FilesStatus(folder::status()),
        Request::FilesDiff(_) => Reply::Differences(folder::differences()),
        Request::Workspaces(_) => Reply::Workspaces(Workspaces {
            more: false,
            workspaces: vec![Workspace {
                number: 1,
                folder: "/home/ada/\x1b[2J".to_owned(),
                created_ms: ago(9),
            }],
        }),
        Request::WorkspaceShow(_) | Request::WorkspaceForget(_) => Reply::Workspace(super::folders::folder()),
        Request::WorkspacePrune(prune) => Reply::Pruned(super::folders::pruned(prune.how)),
        Request::Decide(_) | Request::Respond(_) | Request::SetArchived(_) | Request::Stop => Reply::Done,
        Request::SetDraft(_) | Request::SetDraftIn(_) => Reply::Done,
        Request::Status => Reply::Status(super::scripted::status()),
        Request::TokenCreate(_) | Request::TokenList | Request::TokenRevoke(_) => {
            super::tokens::reply(request)
        }
        Request::Outbox | Request::OutboxRetry(_) | Request::OutboxDrop(_) => {
            Reply::Outbox(Default::default())
        }
        Request::CatchUp(_) => panic!("the line conversation does not catch up"),
        _ => super::agent::reply(request),
    }
}
