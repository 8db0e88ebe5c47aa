//! The effect of every step after a step that kept files against the path: all ways to keep them, times all steps that can
//! follow. The table covers the spec `rewind.md`, *Adoption*, cases 49 to 53. Its expectations are read from the spec, never from
//! a run.
//!
//! The first turn creates `p`, changes a line of `a`, and renames `o` to `n`; then the person changes another line of `a`. The
//! first step of a row goes back past that turn, or brings it back, and a column says what it keeps. A cell has the files after
//! the row's last step, and after one more rewind of files and conversation to the first turn. `pan>o` says that first `p`, the
//! turn's line of `a` and `n` are there, and then only `o`. `q` is another turn's change, in a file of its own and in a further
//! line of `a`; `-` is nothing; `x` is a refused step, which changes nothing.

use futures::future::join_all;
use retake_core::{Action, Apply, Choice, ConversationId, EntryId, Head, Part, Reason, Role, SeenState};
use retake_engine::{FileOptions, Result, Scope};
use tokio::sync::OnceCell;

use super::{Yard, choose, crash, scope};

/// The columns: only the conversation, only files, or both with one path kept.
const COLUMNS: [&str; 6] = ["conversation", "files", "p=disk", "a=yours", "n=disk", "o=disk"];

fn options(column: usize) -> FileOptions {
    match COLUMNS[column] {
        "conversation" => scope(Scope::Conversation),
        "files" => scope(Scope::Files),
        "p=disk" => choose("p", Choice::Disk),
        "a=yours" => choose("a", Choice::Yours),
        path => choose(&path[..1], Choice::Disk),
    }
}

/// The first step of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// A rewind to the first turn.
    Back,
    /// The first turn is dropped.
    Drop,
    /// An edit of the first turn.
    Edit,
    /// A retry in the first turn.
    Retry,
    /// A checkout of the first turn, which was rewound with its files before.
    Into,
}

/// The later steps. "First" is the first turn, "last" the last one that was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Later {
    Undo,
    Redo,
    UndoTwo,
    RedoTwo,
    /// A rewind or an answer is compensated.
    Compensate,
    /// A restore of the head before the first step, and of the one after it.
    RestoreBefore,
    RestoreThen,
    CheckoutFirst,
    CheckoutLast,
    Say,
    /// A turn that makes the change `q`.
    Turn,
    BackFirst,
    BackLast,
    DropFirst,
    DropLast,
    ShowFirst,
    ShowLast,
    EditFirst,
    EditLast,
    RetryFirst,
    RetryLast,
    /// The alternatives of the retried answer.
    ChooseOld,
    ChooseNew,
    /// The following steps are in a fork, from here or from the end of the first turn.
    Fork,
    ForkFirst,
    /// The following steps are in the parent of the fork.
    Parent,
    EraseFirst,
    EraseLast,
    /// A turn whose call is killed after the change `q`.
    Killed,
    Restart,
}
use Later::*;

/// A turn of the table.
#[derive(Clone, Copy, Debug)]
struct Turned {
    opener: EntryId,
    answer: EntryId,
    result: EntryId,
}

/// A row of the table in one column.
struct Desk {
    yard: Yard,
    parent: ConversationId,
    first: Turned,
    last: Option<Turned>,
    /// The old answer and the new one, after a retry.
    answers: Option<[EntryId; 2]>,
    heads: [Head; 2],
}

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n";
const OLD: &str = "what is renamed has to be so long, at least\n";

impl Yard {
    async fn head(&self) -> Head {
        self.engine.kept().summary(self.id).await.expect("it").head
    }

    /// The last turn that was run.
    async fn turned(&self) -> Turned {
        let store = self.engine.kept();
        let turn = store.turn_entries(self.id, self.turns().await).await.expect("a turn");
        Turned { opener: turn[0].0, answer: turn[1].0, result: turn.last().expect("a result").0 }
    }

    /// The files of a cell.
    fn letters(&self) -> String {
        let a = self.read("a").expect("it is there");
        assert!(a.contains("mine"), "what the person wrote is never lost: {a}");
        let has = |name: &str| self.read(name).is_some();
        assert_eq!(has("q"), a.contains("twelve"), "what another turn did goes together");
        for moved in ["o", "n"] {
            assert!(self.read(moved).is_none_or(|text| text == OLD), "{moved}");
        }
        let letters =
            [("p", has("p")), ("a", a.contains("two")), ("n", has("n")), ("o", has("o")), ("q", has("q"))];
        let there: String = letters.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
        if there.is_empty() { "-".to_owned() } else { there }
    }
}

impl Desk {
    /// One turn, and the first step.
    async fn new(first: First, column: usize) -> Self {
        let yard = Yard::with(&[("a", LINES), ("o", OLD)]).await;
        yard.run("echo hi > p; sed -i 's/^2$/two/' a; mv o n").await;
        yard.write("a", &yard.read("a").expect("it").replace("7\n", "mine\n"));
        let turned = yard.turned().await;
        let (parent, head) = (yard.id, yard.head().await);
        let mut desk = Self { yard, parent, first: turned, last: None, answers: None, heads: [head, head] };
        desk.begin(first, options(column)).await.expect("the first step is done");
        desk.heads[1] = desk.yard.head().await;
        desk
    }

    async fn begin(&mut self, first: First, options: FileOptions) -> Result<()> {
        let turn = self.first;
        match first {
            First::Back => self.does(Action::Rewind(turn.opener), options).await,
            First::Drop => self.does(mark(Reason::Drop, turn), options).await,
            First::Edit => self.edit(turn, options).await,
            First::Retry => self.retry(turn, options).await,
            First::Into => {
                self.does(Action::Rewind(turn.opener), FileOptions::default()).await?;
                self.heads[0] = self.yard.head().await;
                self.does(Action::Checkout(Some(turn.result)), options).await
            }
        }
    }

    async fn does(&self, action: Action, options: FileOptions) -> Result<()> {
        self.yard.apply(action, options).await.map(drop)
    }

    async fn edit(&self, turn: Turned, options: FileOptions) -> Result<()> {
        let Yard { engine, id, .. } = &self.yard;
        let parts = vec![Part::text("put otherwise")];
        engine.edit(*id, turn.opener, parts, options, SeenState::Anything, engine.by(None)).await.map(drop)
    }

    async fn retry(&mut self, turn: Turned, options: FileOptions) -> Result<()> {
        self.does(Action::Retry(turn.answer), options).await?;
        self.answers = Some([turn.answer, self.yard.said_by(Role::Assistant, "answered again").await]);
        Ok(())
    }

    async fn erase(&self, turn: Turned) -> Result<()> {
        let action = Action::Erase { entries: vec![turn.result], matching: None, objects: Vec::new() };
        let apply = Apply { action, seen: SeenState::Anything, by: self.yard.engine.by(None) };
        self.yard.engine.erase(self.yard.id, apply).await.map(drop)
    }

    async fn fork(&mut self, entry: Option<EntryId>) -> Result<()> {
        let engine = &self.yard.engine;
        let fork = engine.fork(self.parent, entry, None, engine.by(None)).await?;
        self.yard.id = fork.conversation;
        Ok(())
    }

    /// A step of the table.
    async fn step(mut self, step: Later) -> (Self, Result<()>) {
        let both = FileOptions::default();
        let (first, last) = (self.first, self.last.unwrap_or(self.first));
        let done = match step {
            Undo => self.does(Action::Undo(1), both).await,
            Redo => self.does(Action::Redo(1), both).await,
            UndoTwo => self.does(Action::Undo(2), both).await,
            RedoTwo => self.does(Action::Redo(2), both).await,
            Compensate => {
                let op = retake_core::Step::Op(self.yard.head().await.op);
                self.does(Action::Compensate(op), both).await
            }
            RestoreBefore => self.does(Action::Restore(self.heads[0]), both).await,
            RestoreThen => self.does(Action::Restore(self.heads[1]), both).await,
            CheckoutFirst => self.does(Action::Checkout(Some(first.result)), both).await,
            CheckoutLast => self.does(Action::Checkout(Some(last.result)), both).await,
            Say => {
                let said = self.yard.said_by(Role::User, "more").await;
                self.last = Some(Turned { opener: said, answer: said, result: said });
                Ok(())
            }
            Turn => {
                self.yard.run("echo x > q; sed -i 's/^12$/twelve/' a").await;
                self.last = Some(self.yard.turned().await);
                Ok(())
            }
            BackFirst => self.does(Action::Rewind(first.opener), both).await,
            BackLast => self.does(Action::Rewind(last.opener), both).await,
            DropFirst => self.does(mark(Reason::Drop, first), both).await,
            DropLast => self.does(mark(Reason::Drop, last), both).await,
            ShowFirst => self.does(mark(Reason::Show, first), both).await,
            ShowLast => self.does(mark(Reason::Show, last), both).await,
            EditFirst => self.edit(first, both).await,
            EditLast => self.edit(last, both).await,
            RetryFirst => self.retry(first, both).await,
            RetryLast => self.retry(last, both).await,
            ChooseOld => self.does(Action::Choose(self.answers.expect("answered again")[1], 1), both).await,
            ChooseNew => self.does(Action::Choose(self.answers.expect("answered again")[0], 2), both).await,
            Fork => self.fork(None).await,
            ForkFirst => self.fork(Some(first.result)).await,
            Parent => {
                self.yard.id = self.parent;
                Ok(())
            }
            EraseFirst => self.erase(first).await,
            EraseLast => self.erase(last).await,
            Killed => return (self.killed().await, Ok(())),
            Restart => {
                self.yard = self.yard.restarted().await;
                Ok(())
            }
        };
        (self, done)
    }

    /// A call that is killed after writing, before a capture has seen it.
    async fn killed(self) -> Self {
        static NTH: OnceCell<usize> = OnceCell::const_new();
        let nth = NTH.get_or_init(|| async {
            for nth in 1..=8 {
                let desk = Self::new(First::Back, 0).await.killed_at(nth).await;
                if desk.yard.read("q").is_some() {
                    return nth;
                }
            }
            panic!("it never writes");
        });
        let desk = self.killed_at(*nth.await).await;
        assert!(desk.yard.read("q").is_some(), "it was killed when it had written");
        desk
    }

    async fn killed_at(mut self, nth: usize) -> Self {
        let script = "echo x > q; sed -i 's/^12$/twelve/' a";
        std::fs::write(self.yard.path("../edit.sh"), script).expect("written");
        let child = "a_call_on_lines_to_be_killed";
        let (yard, was_killed) = crash::killed(self.yard, child, "capture.swept", nth).await;
        assert!(was_killed, "it comes so far");
        yard.engine.settle_files().await.expect("settled");
        self.yard = yard;
        self
    }

    /// Rewinds to the first existing turn, with files, after one more message.
    async fn back(&self) -> Result<()> {
        self.yard.said_by(Role::User, "something else").await;
        // A dropped turn is no target.
        let first = match self.yard.engine.entry(self.yard.id, "t1").await {
            Ok(first) => first,
            Err(_) => self.yard.engine.entry(self.yard.id, "t2").await?,
        };
        let action = Action::Rewind(first);
        self.does(action, FileOptions::default()).await
    }
}

fn mark(verb: Reason, turn: Turned) -> Action {
    Action::Mark { verb, entries: vec![turn.opener, turn.result], range: true, seen: None }
}

/// The result of a row in a column.
async fn cell(first: First, steps: &[Later], column: usize) -> String {
    let mut desk = Desk::new(first, column).await;
    for step in steps {
        let before = desk.yard.letters();
        let (next, done) = desk.step(*step).await;
        desk = next;
        if let Err(error) = done {
            assert_eq!(desk.yard.letters(), before, "a refusal changes nothing: {error}");
            return format!("x {step:?} {error}");
        }
    }
    let now = desk.yard.letters();
    let status = desk.yard.engine.files_status(desk.yard.id).await.expect("looked at");
    // The author of a killed call's changes is unknown, so they need a choice again.
    let status = match (status.ahead, status.behind) {
        _ if steps.contains(&Killed) => String::new(),
        (0, 0) => String::new(),
        (ahead, behind) => format!(" ({ahead} ahead, {behind} behind)"),
    };
    desk.yard = desk.yard.restarted().await;
    if let Err(error) = desk.back().await {
        return format!("{now}>x{status} {error}");
    }
    let then = desk.yard.letters();
    desk.yard.undo().await;
    assert_eq!(desk.yard.letters(), now, "{first:?}, {steps:?}, {}: the last step undone", COLUMNS[column]);
    format!("{now}>{then}{status}")
}

/// Compares rows with their expectations: a cell for each column, or one for all.
async fn hold(rows: &[(First, &[Later], &str)]) {
    let mut wrong = Vec::new();
    for (first, steps, expected) in rows {
        let expected: Vec<&str> = expected.split_whitespace().collect();
        let found = join_all((0..COLUMNS.len()).map(|column| cell(*first, steps, column))).await;
        for (column, found) in found.iter().enumerate() {
            let expected = if expected.len() == 1 { expected[0] } else { expected[column] };
            let is_so = if expected == "x" { found.starts_with("x ") } else { found == expected };
            if !is_so {
                wrong.push(format!(
                    "{first:?} {steps:?}, {}: {expected} expected, {found} found",
                    COLUMNS[column]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} cells:\n{}", wrong.len(), wrong.join("\n"));
}

/// Only the first step has changed what is kept.
const KEPT: &str = "pan>pan o>o po>po ao>ao n>n n>n";
/// The same with another turn's change, which goes with that turn.
const MORE: &str = "panq>pan oq>o poq>po aoq>ao nq>n nq>n";
/// The same if that change belongs to the person.
const OWN: &str = "panq>panq oq>oq poq>poq aoq>aoq nq>nq nq>nq";
/// The files belong to their turn.
const TURNS: &str = "pan>o";
const OUT: &str = "o>o";
/// A checkout has brought the first turn back onto the path.
const BROUGHT: &str = "pan>o o>o pan>po pan>ao pan>n pan>n";

#[tokio::test]
async fn rewind_case_51_what_was_kept_is_undone_redone_and_restored_as_it_was_recorded() {
    use First::{Back, Drop, Edit, Into, Retry};
    hold(&[
        (Back, &[], KEPT),
        (Back, &[Undo], TURNS),
        (Back, &[Compensate], TURNS),
        (Back, &[Undo, Redo], KEPT),
        (Back, &[Undo, Redo, Restart, Undo], TURNS),
        (Back, &[Turn, UndoTwo], TURNS),
        (Back, &[Turn, UndoTwo, RedoTwo], MORE),
        (Back, &[Say, RestoreBefore], "pan>o pan>o pan>po pan>ao pan>n pan>n"),
        (Back, &[Say, RestoreBefore, Undo], KEPT),
        (Back, &[Turn, RestoreThen], KEPT),
        // What a choice left in a file returns only by undo.
        (Back, &[Undo, BackFirst, RestoreThen], "pan>pan o>o o>o o>o o>o o>o"),
        (Drop, &[], KEPT),
        (Drop, &[Undo], TURNS),
        (Drop, &[Undo, Redo], KEPT),
        // A restore leaves marks unchanged: the turn stays dropped, and its files are not wanted any more. For files alone it
        // never was dropped.
        (Drop, &[Say, RestoreBefore], "o>o pan>o po>po ao>ao n>n n>n"),
        (Edit, &[], KEPT),
        (Edit, &[Undo, Redo], KEPT),
        (Retry, &[], KEPT),
        (Retry, &[Undo], TURNS),
        (Retry, &[Undo, Redo], KEPT),
        // The person's last version of `a` had the turn's line.
        (Into, &[], "o>o pan>pan an>o pan>ao pao>o pao>o"),
        (Into, &[Undo], OUT),
        (Into, &[Undo, Redo], "o>o pan>pan an>o pan>ao pao>o pao>o"),
        (Into, &[Undo, CheckoutFirst], TURNS),
    ])
    .await;
}

#[tokio::test]
async fn rewind_case_52_a_new_checkout_or_choice_gives_what_was_kept_back_to_its_turn() {
    use First::{Back, Drop, Into, Retry};
    hold(&[
        // A turn that only lost its files is on the path all the time: a checkout does not bring it there. For a single path, the
        // turn's change is applied again; what the choice left in the file still belongs to the person.
        (Back, &[Say, CheckoutFirst], BROUGHT),
        (Back, &[Say, CheckoutFirst, Undo], KEPT),
        (Back, &[Say, CheckoutFirst, Undo, Redo], BROUGHT),
        (Back, &[Say, CheckoutFirst, CheckoutLast], "o>o o>o po>po ao>ao n>n n>n"),
        (Back, &[Say, BackFirst], "x o>o x x x x"),
        (Back, &[Say, BackLast, CheckoutFirst], BROUGHT),
        (Back, &[Turn, BackLast, CheckoutLast], MORE),
        (Drop, &[Say, BackLast, CheckoutLast], KEPT),
        (Into, &[BackFirst, CheckoutFirst], "pan>o x pan>o pan>ao pan>o pan>o"),
        // For files alone the old answer stays, and the later one is no alternative.
        (Retry, &[ChooseOld], "pan>o o>o pan>po pan>ao pan>n pan>n"),
        (Retry, &[ChooseOld, Undo], "pan>pan pan>o po>po ao>ao n>n n>n"),
        (Retry, &[ChooseOld, ChooseNew], "o>o x po>po ao>ao n>n n>n"),
    ])
    .await;
}

#[tokio::test]
async fn rewind_case_50_drop_show_edit_retry_and_alternatives_leave_what_was_kept() {
    use First::{Back, Drop};
    hold(&[
        (Back, &[Turn], MORE),
        (Back, &[Turn, DropLast], KEPT),
        (Back, &[Turn, DropLast, ShowLast], MORE),
        (Back, &[Turn, EditLast], KEPT),
        (Back, &[Turn, EditLast, Undo], MORE),
        (Back, &[Turn, RetryLast], KEPT),
        (Back, &[Turn, RetryLast, ChooseOld], MORE),
        (Back, &[Turn, RetryLast, ChooseOld, ChooseNew], KEPT),
        // The first turn itself is on the path if only files were rewound.
        (Back, &[DropFirst], "x o>o x x x x"),
        (Back, &[DropFirst, ShowFirst], "x o>o x x x x"),
        (Back, &[EditFirst], "x o>o x x x x"),
        (Back, &[EditFirst, CheckoutFirst], "x pan>o x x x x"),
        (Back, &[RetryFirst], "x o>o x x x x"),
        (Back, &[RetryFirst, ChooseOld], "x pan>o x x x x"),
        (Back, &[RetryFirst, ChooseOld, Undo], "x o>o x x x x"),
        // A turn that is shown again is kept as before; only paths that nobody kept come and go.
        (Drop, &[ShowFirst], "pan>pan o>o pan>po pan>ao pan>n pan>n"),
        (Drop, &[ShowFirst, Undo], "pan>pan pan>o po>po ao>ao n>n n>n"),
        (Drop, &[Turn, ShowFirst], "panq>pan oq>o panq>po panq>ao panq>n panq>n"),
    ])
    .await;
}

#[tokio::test]
async fn a_fork_begins_with_what_was_kept_and_changes_nothing_of_it() {
    use First::{Back, Drop};
    hold(&[
        (Back, &[Fork], "pan>pan o>o po>po ao>ao n>n n>n"),
        (Back, &[Fork, Turn], MORE),
        (Back, &[Fork, Turn, Undo], KEPT),
        (Back, &[ForkFirst], KEPT),
        (Back, &[ForkFirst, Turn], MORE),
        (Back, &[Fork, Parent, Undo], TURNS),
        (Back, &[Fork, Turn, Parent, Undo], "panq>oq"),
        (Back, &[Fork, Turn, Parent, Undo, Redo], OWN),
        (Drop, &[Fork, Turn], MORE),
    ])
    .await;
}

#[tokio::test]
async fn erased_content_leaves_the_files_and_other_kept_content_stays() {
    use First::{Back, Drop};
    hold(&[
        // Nothing is recorded any more that could come or go.
        (Back, &[EraseFirst], KEPT),
        (Back, &[EraseFirst, Undo], KEPT),
        (Back, &[EraseFirst, Undo, Redo], KEPT),
        (Back, &[Undo, EraseFirst, Redo], "pan>pan"),
        (Back, &[Turn, EraseLast], OWN),
        (Back, &[Turn, EraseLast, Undo, Undo], "panq>oq"),
        (Drop, &[EraseFirst], KEPT),
        (Drop, &[EraseFirst, ShowFirst], KEPT),
    ])
    .await;
}

#[tokio::test]
async fn a_killed_call_leaves_what_was_kept_and_what_it_did_itself() {
    use First::{Back, Drop};
    hold(&[
        (Back, &[Killed], OWN),
        (Back, &[Killed, Undo], OWN),
        (Back, &[Killed, Undo, Undo], "panq>oq"),
        (Back, &[Turn, DropLast, Killed], OWN),
        (Back, &[Undo, Killed], "panq>oq"),
        (Drop, &[Killed], OWN),
        (Drop, &[Killed, ShowFirst], "panq>panq oq>oq panq>poq panq>aoq panq>nq panq>nq"),
    ])
    .await;
}
