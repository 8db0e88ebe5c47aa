//! The agent at work: its actions are shown as they happen, and its requests are answered clearly or not at
//! all.

use insta::assert_snapshot;
use retake_wire::reply::{
    Commands, Context, ContextBasis, ContextParts, Cost, JobLine, JobPrinted, Jobs, Memory, MemoryFact,
    ModelCost, Permissions, ScopedRule, Todo, TodoItem, TodoState, Tool, Tools, Waiting, Words,
};
use retake_wire::{
    AskCause, CallEnded, CallRefusal, CallShown, EffectClass, Mode, Outcome, Part, PendingApproval, Problem,
    Question, Reply, Request, Rule, Ruling, RunEvent, RunNotice, Usage,
};

use super::fixtures::{HOSTILE, ago, ended, id, receipt, said, started};
use super::scripted::Act::{Line, Pick, Stop, Words as Says};
use super::scripted::Case;

const DIFF: &str = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,3 +1,3 @@\n fn main() {\n-    old();\n+    new(\"\x1b[2J\");\n }\n";

fn rule(ruling: Ruling, tool: &str, what: Option<&str>) -> Rule {
    Rule { ruling, tool: tool.to_owned(), what: what.map(str::to_owned) }
}

fn call(id: &str, tool: &str, line: &str, class: EffectClass) -> CallShown {
    CallShown { call: id.to_owned(), tool: tool.to_owned(), line: line.to_owned(), class, detail: None }
}

fn edit() -> CallShown {
    CallShown {
        detail: Some(DIFF.to_owned()),
        ..call("e-1", "edit", "edit src/main.rs (1 place)", EffectClass::Workspace)
    }
}

fn push() -> CallShown {
    call("e-2", "shell", "with network: $ git push origin \x1b[2Jmain", EffectClass::External)
}

fn asks(call: CallShown, cause: AskCause, again_ms: Option<i64>, offers: Vec<Rule>) -> RunEvent {
    let why = String::new();
    RunEvent::Asks(Box::new(PendingApproval { id: call.call.clone(), call, cause, why, again_ms, offers }))
}

fn asks_push() -> RunEvent {
    let allow = |what| rule(Ruling::Allow, "shell", what);
    let offers = vec![allow(Some("git push")), allow(Some("git")), allow(None)];
    asks(push(), AskCause::Command, Some(ago(3)), offers)
}

fn asks_edit() -> RunEvent {
    let allow = |what| rule(Ruling::Allow, "edit", what);
    asks(edit(), AskCause::Writes, None, vec![allow(Some("src/**")), allow(None)])
}

fn printed(call: &str, text: &str) -> RunEvent {
    RunEvent::Printed { call: call.to_owned(), text: text.to_owned() }
}

fn called(call: &str, failed: bool, shown: &str, changed: usize) -> RunEvent {
    let (call, shown) = (call.to_owned(), shown.to_owned());
    RunEvent::Called(CallEnded { call, failed, shown, not_run: None, changed, entry: id(9) })
}

/// A call that did not run. The text of the owner is not what is shown.
fn refused(call: &str, why: CallRefusal) -> RunEvent {
    let shown = "words of the owner".to_owned();
    let (call, not_run) = (call.to_owned(), Some(Box::new(why)));
    RunEvent::Called(CallEnded { call, failed: true, shown, not_run, changed: 0, entry: id(9) })
}

fn text(text: &str) -> RunEvent {
    RunEvent::Text { text: text.to_owned() }
}

fn answered() -> RunEvent {
    RunEvent::Answered { entry: id(8) }
}

/// A run with these events between its first answer and its last.
fn run(events: impl IntoIterator<Item = RunEvent>) -> Result<Vec<RunEvent>, Problem> {
    let mut all = vec![started(), text("I look."), answered()];
    all.extend(events);
    all.extend([text("Done."), ended(Outcome::Succeeded, None)]);
    Ok(all)
}

/// Calls of every kind.
fn work() -> Vec<RunEvent> {
    let read = call("r-1", "read", "read src/main.rs", EffectClass::None);
    let glob = call("r-2", "glob", "glob **/*.rs", EffectClass::None);
    let test = call("s-1", "shell", "$ make test", EffectClass::Workspace);
    let many = (1..=1_246).map(|line| format!("line {line}\n")).collect::<String>();
    vec![
        RunEvent::Calling(read),
        RunEvent::Calling(glob),
        called("r-1", false, "one\ntwo\nthree\nfour\nfive\n", 0),
        called("r-2", false, "src/main.rs", 0),
        RunEvent::Calling(edit()),
        called("e-1", false, DIFF, 1),
        RunEvent::Calling(test),
        printed("s-1", "compiling\r\n\x1b[31mhalf a "),
        printed("s-1", "line\n"),
        printed("s-1", &many),
        RunEvent::Notice { notice: RunNotice::Unknown, text: "a process lives on \x1b[2J".to_owned() },
        called("s-1", true, "a lot\nexit code 2", 3),
        RunEvent::Calling(call("d-1", "shell", "$ rm -r target", EffectClass::Workspace)),
        refused("d-1", CallRefusal::Rule { rule: rule(Ruling::Deny, "shell", Some("rm")) }),
    ]
}

#[test]
fn the_work_of_the_agent_is_shown_as_it_happens() {
    let acts = [Line("go on"), Line("/quit")];
    assert_snapshot!(Case::terminal(acts).run(run(work())).see(&[]));
}

#[test]
fn the_work_of_the_agent_in_colours() {
    assert_snapshot!(Case::terminal([Line("go on")]).coloured().run(run(work())).see(&[]));
}

#[test]
fn a_question_is_confirmed_only_by_an_explicit_yes() {
    let acts = [Line("go on"), Says(""), Says("  "), Says("y"), Says("yes"), Line("/quit")];
    let events = [
        asks_edit(),
        RunEvent::Calling(edit()),
        called("e-1", false, DIFF, 1),
        asks_push(),
        RunEvent::Calling(push()),
        printed("e-2", "pushed\n"),
        called("e-2", false, "pushed\n", 0),
    ];
    assert_snapshot!(Case::terminal(acts).run(run(events)).see(&[]));
}

#[test]
fn a_rule_is_chosen_before_it_is_remembered() {
    let acts = [Line("go on"), Says("c"), Pick(0), Says("a"), Pick(1), Says("a"), Says("n")];
    let other = call("x-1", "notes", "notes add", EffectClass::External);
    let rule = rule(Ruling::Ask, "notes", None);
    let events = [asks_edit(), asks_push(), asks(other, AskCause::Rule { rule }, None, Vec::new())];
    assert_snapshot!(Case::terminal(acts).run(run(events)).see(&[]));
}

#[test]
fn a_rejection_is_sent_with_its_reason_and_ctrl_c_stops_the_run() {
    let acts = [Line("go on"), Says("n"), Says("use the staging remote, please"), Stop];
    let no = |call| refused(call, CallRefusal::Person { words: None });
    let events = [asks_edit(), no("e-1"), asks_push(), no("e-2"), asks_push()];
    assert_snapshot!(Case::terminal(acts).run(run(events)).see(&[]));
}

#[test]
fn an_approval_that_was_answered_elsewhere_is_reported_and_the_run_goes_on() {
    let gone = Problem { message: "this question is no longer open".to_owned(), ..super::fixtures::stale() };
    let gone = Problem { kind: retake_wire::ProblemKind::NotFound, hint: None, head: None, ..gone };
    let case = Case::terminal([Line("go on"), Says("y")]).reply("decide", Err(gone));
    assert_snapshot!(case.run(run([asks_edit()])).see(&[]));
}

#[test]
fn an_answer_to_a_closed_approval_is_no_message_and_returns_to_the_line() {
    let gone = || {
        let gone =
            Problem { message: "this question is no longer open".to_owned(), ..super::fixtures::stale() };
        Err(Problem { kind: retake_wire::ProblemKind::NotFound, hint: None, head: None, ..gone })
    };
    let question = Question { id: "q1".to_owned(), question: "Which one?".to_owned(), choices: Vec::new() };
    let acts = [Line("go on"), Says("use the other branch"), Says("the blue one"), Line("/quit")];
    let case = Case::terminal(acts).reply("decide", gone()).reply("respond", gone());
    assert_snapshot!(case.run(run([asks_edit(), RunEvent::Question(question)])).see(&[]));
}

#[test]
fn a_question_is_answered_by_a_number_or_by_words() {
    let question = |id: &str, choices: &[&str]| {
        let choices = choices.iter().map(|&choice| choice.to_owned()).collect();
        RunEvent::Question(Question { id: id.to_owned(), question: "Which \x1b[2Jone?".to_owned(), choices })
    };
    let choices = ["the first", "the \x07second"];
    let acts = [Line("go on"), Says(""), Says("2"), Says("3"), Says("blue"), Stop];
    let events =
        [question("q1", &choices), question("q2", &choices), question("q3", &[]), question("q4", &[])];
    assert_snapshot!(Case::terminal(acts).run(run(events)).see(&[]));
}

#[test]
fn messages_typed_during_an_answer_follow_the_setting() {
    let joined = RunEvent::Joined { receipt: Box::new(receipt()) };
    let queued = vec![RunEvent::Queued, ended(Outcome::Joined, None)];
    let case = Case::terminal([Line("go on"), Line("/quit")]).run(run([joined])).run(Ok(queued));
    assert_snapshot!(case.types("I look.", "and the tests, too").see(&[]));
}

#[test]
fn waiting_messages_are_answered_next() {
    let case = Case::terminal([Line("go on")]).run(run([]));
    let mut next = vec![RunEvent::Queued];
    next.extend(run([]).expect("events"));
    assert_snapshot!(case.run(Ok(next)).types("I look.", "and the tests, too").see(&[]));
}

#[test]
fn a_command_typed_during_an_answer_runs_at_once() {
    let case = Case::terminal([Line("go on")]).run(run([])).types("I look.", "/todo");
    assert_snapshot!(case.see(&[]));
}

#[test]
fn text_that_can_not_be_sent_during_an_answer_stays_in_the_line() {
    let case = Case::terminal([Line("go on"), Line("/quit")]).run(run([])).run(Err(super::fixtures::stale()));
    assert_snapshot!(case.types("I look.", "and the tests, too").see(&[]));
}

#[test]
fn a_script_gets_no_approval() {
    let question = Question { id: "q1".to_owned(), question: "Which one?".to_owned(), choices: Vec::new() };
    let mut events = work();
    events.extend([asks_edit(), asks_push(), RunEvent::Question(question)]);
    let seen = [
        Case::script("").run(run(events.clone())).see(&["ask", "go on", "--new"]),
        Case::script("").run(run([asks_push()])).see(&["ask", "go on", "--new", "--json"]),
    ];
    assert_snapshot!(seen.join("\n"));
}

#[test]
fn a_run_shows_its_permissions() {
    let flags =
        ["ask", "go on", "--new", "--mode", "allow-edits", "--allow", "shell(git push)", "--allow", "fetch"];
    let seen = [
        Case::script("").see(&flags),
        Case::script("").see(&["retry", "--mode", "plan"]),
        Case::script("").see(&["ask", "go on", "--mode", "yolo"]),
    ];
    assert_snapshot!(seen.join("\n"));
}

#[test]
fn lists_of_the_agent() {
    let acts = [
        Line("/todo"),
        Line("/jobs"),
        Line("/jobs output 0003-2"),
        Line("/jobs stop 0003-2"),
        Line("/jobs kill"),
        Line("/tools"),
        Line("/memory"),
        Line("/memory add The port is 80"),
        Line("/memory edit 4f1c The port is 81"),
        Line("/memory forget 4f1c"),
        Line("/mcp"),
        Line("/context"),
        Line("/cost"),
        Line("/unqueue"),
        Line("/quit"),
    ];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn message_that_does_not_fit_is_sent_when_it_is_entered_again() {
    let warning =
        RunNotice::TooLongForModel { model: "openai/large".to_owned(), tokens: 9_000, limit: 8_000 };
    let context = Context { warning: Some(warning), ..Context::default() };
    let acts = [Line("look at @big.txt"), Line("look at @big.txt"), Line("/quit")];
    let case = Case::terminal(acts).reply("context", Ok(Reply::Context(context.clone())));
    assert_snapshot!(case.see(&["-c"]));
    // Without a terminal for a second line it is sent, and the warning is beside it.
    let case = Case::script("").reply("context", Ok(Reply::Context(context)));
    assert_snapshot!(case.see(&["say", "look at @big.txt"]));
}

#[test]
fn empty_lists_are_reported() {
    let acts = [Line("/todo"), Line("/jobs"), Line("/tools"), Line("/cost"), Line("/unqueue")];
    let case = Case::terminal(acts)
        .reply("todo", Ok(Reply::Todo(Todo::default())))
        .reply("jobs", Ok(Reply::Jobs(Jobs::default())))
        .reply("tools", Ok(Reply::Tools(Tools::default())))
        .reply("cost", Ok(Reply::Cost(Cost::default())))
        .reply("unqueue", Ok(Reply::Waiting(Waiting::default())));
    assert_snapshot!(case.see(&["-c"]));
}

#[test]
fn permissions_are_shown_and_changed() {
    let acts = [
        Line("/permissions"),
        Line("/permissions mode plan"),
        Line("/permissions mode"),
        Pick(1),
        Line("/permissions allow shell(git push)"),
        Line("/permissions deny write(/etc/**)"),
        Line("/permissions forget 2"),
        Line("/permissions forget 9"),
        Line("/permissions mode yolo"),
        Line("/permissions allow"),
    ];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn permissions_hold_from_the_first_message_on() {
    let acts = [
        Line("/permissions"),
        Line("/permissions mode plan"),
        Line("/permissions allow edit"),
        Line("/permissions"),
        Line("hello"),
        Line("again"),
    ];
    assert_snapshot!(Case::terminal(acts).see(&[]));
}

fn job(running: bool, exit_code: Option<i32>) -> JobLine {
    JobLine {
        job: "0199a000-0003-2".to_owned(),
        command: "npm run \x1b[2Jdev".to_owned(),
        running,
        exit_code,
        printed: Some(12_345),
        ..JobLine::default()
    }
}

/// The replies of the sample world.
pub(super) fn reply(request: &Request) -> Reply {
    match request {
        Request::Todo(_) => {
            let item = |text: &str, state| TodoItem { text: text.to_owned(), state };
            Reply::Todo(Todo {
                items: vec![
                    item("read the code", TodoState::Done),
                    item("write \x1b[2Jtests", TodoState::Doing),
                    item("tell", TodoState::Open),
                ],
            })
        }
        Request::JobOutput(_) => {
            let text = HOSTILE.to_owned();
            Reply::JobOutput(JobPrinted { job: job(true, None), from: 100, text, to: 12_345 })
        }
        Request::Jobs(_) => {
            let jobs = vec![job(true, None), job(false, Some(1)), job(false, None)];
            Reply::Jobs(Jobs { jobs, more: false })
        }
        Request::JobStop(_) => Reply::Jobs(Jobs { jobs: vec![job(false, None)], more: false }),
        Request::ListMemory(_) => {
            let fact = |id: &str, text: &str, everywhere| MemoryFact {
                id: id.to_owned(),
                text: text.to_owned(),
                everywhere,
                time_ms: ago(1),
                ..MemoryFact::default()
            };
            let facts = vec![
                fact("4f1c9e1649f8", "The port is \x1b[2J80", false),
                fact("9e1649f899bc", "Answer in German", true),
            ];
            Reply::Memory(Memory { facts, more: true })
        }
        Request::MemoryHome(_) | Request::Remember(_) | Request::EditMemory(_) | Request::Forget(_) => {
            Reply::Receipt(said())
        }
        Request::Tools(_) => {
            let tool = |name: &str, about: &str, class, ruling| Tool {
                name: name.to_owned(),
                about: about.to_owned(),
                class,
                ruling,
            };
            Reply::Tools(Tools {
                tools: vec![
                    tool("edit", "Edits a file. At once.", EffectClass::Workspace, Some(Ruling::Allow)),
                    tool("notes__add", "Adds \x1b[2Ja note", EffectClass::External, Some(Ruling::Deny)),
                    tool("read", "Reads a file", EffectClass::None, None),
                    tool("shell", "Runs a command", EffectClass::External, Some(Ruling::Ask)),
                ],
            })
        }
        Request::Permissions(_) | Request::SetPermissions(_) => Reply::Permissions(Permissions {
            mode: Mode::AllowEdits,
            rules: vec![
                ScopedRule { rule: rule(Ruling::Deny, "write", Some("/etc/**")), for_good: true },
                ScopedRule { rule: rule(Ruling::Allow, "shell", Some("git push")), for_good: false },
                ScopedRule { rule: rule(Ruling::Ask, "fetch", None), for_good: false },
            ],
            commands: Commands::Asking,
            ..Permissions::default()
        }),
        Request::Waiting(_) | Request::Unqueue(_) => {
            let words = |text: &str| Words {
                parts: vec![Part::text(text)],
                author: "ada".to_owned(),
                time_ms: ago(1),
            };
            Reply::Waiting(Waiting { words: vec![words("one"), words("two")] })
        }
        Request::Context(_) => Reply::Context(Context {
            model: Some("openai/large".to_owned()),
            limit: Some(200_000),
            summarised_at: Some(160_000),
            used: 12_345,
            basis: ContextBasis::Counted,
            parts: ContextParts { system: 8_000, notes: 500, summaries: 0, messages: 3_000, results: 845 },
            warning: None,
        }),
        Request::Cost(_) => {
            let usage = |cost_usd| Usage {
                input_tokens: Some(12_345),
                cached_input_tokens: Some(12_000),
                output_tokens: Some(678),
                cost_usd,
            };
            let model = |model: &str, unknown, usage| ModelCost {
                model: model.to_owned(),
                answers: 3,
                unknown,
                usage,
            };
            Reply::Cost(Cost {
                models: vec![model("openai/large", 0, usage(Some(1.234))), model("demo", 3, usage(None))],
            })
        }
        Request::Pair(_)
        | Request::Unpair(_)
        | Request::PeopleList
        | Request::Bind(_)
        | Request::PlaceList
        | Request::Posts(_) => super::chats::reply(request),
        other => panic!("the agent does not answer {other:?}"),
    }
}
