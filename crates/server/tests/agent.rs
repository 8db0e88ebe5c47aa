//! The agent at work, through a client: its requests are answered, its permissions are set, messages sent meanwhile wait.

use std::collections::BTreeMap;

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_engine::clock::{Clock as _, SystemClock};
use retake_tools::{Sandbox, Sandboxed};
use retake_wire::reply::{Commands, TodoState, TurnActions};
use retake_wire::request::{
    CatchUp, ContextQuery, ConversationTarget, Decide, FolderPaths, JobOutput, JobTarget, Jobs, Log, Paths,
    Plan, Projection, Respond, SetPermissions, Targets, Typed,
};
use retake_wire::{
    Action, CallRefusal, Decision, Mode, Outcome, Part, PendingApproval, Permit, ProblemKind, Request, Rule,
    Ruling, Run, RunEvent, RunStart, Steer,
};

use super::world::{Desk, get, variant};

type Events = BoxStream<'static, RunEvent>;

/// A desk with a fast demo, and a conversation in a folder.
struct Agent {
    desk: Desk,
    id: String,
    answered: BTreeMap<String, String>,
}

impl Agent {
    async fn new() -> Self {
        let desk = Desk::fast().await;
        let folder = desk.file("work");
        std::fs::create_dir(&folder).expect("made");
        let id = desk.create(None, folder.to_str()).await;
        Self { desk, id, answered: BTreeMap::new() }
    }

    fn of(&self) -> ConversationTarget {
        ConversationTarget { conversation: self.id.clone() }
    }

    async fn says(&self, text: &str, steer: Option<Steer>, permit: Permit) -> Events {
        let start = RunStart::Say { parts: vec![Part::text(text)], seen: None, steer, piped: false };
        let conversation = self.id.clone();
        let run = Run {
            conversation,
            folder: None,
            start,
            model: None,
            head: None,
            permit,
            files: Default::default(),
            request_id: None,
        };
        self.desk.client.run(run).await.expect("started")
    }

    /// Sends a request, and remembers the kind of its reply.
    async fn does(&mut self, request: Request) -> retake_wire::Reply {
        let reply = self.desk.does(request.clone()).await;
        self.answered.insert(variant(&request), variant(&reply));
        reply
    }

    async fn decides(&mut self, asks: &PendingApproval, decision: Decision) {
        self.does(Request::Decide(Decide { conversation: self.id.clone(), id: asks.id.clone(), decision }))
            .await;
    }
}

/// The next matching event.
async fn until<T>(events: &mut Events, fits: impl Fn(RunEvent) -> Option<T>) -> T {
    loop {
        let event = events.next().await.expect("another event");
        assert!(
            !matches!(event, RunEvent::Ended(_)) || fits(event.clone()).is_some(),
            "it has ended: {event:?}"
        );
        if let Some(found) = fits(event) {
            return found;
        }
    }
}

fn asks(event: RunEvent) -> Option<PendingApproval> {
    match event {
        RunEvent::Asks(asks) => Some(*asks),
        _ => None,
    }
}

fn outcome(event: RunEvent) -> Option<Outcome> {
    match event {
        RunEvent::Ended(ended) => Some(ended.outcome),
        _ => None,
    }
}

fn called(event: RunEvent) -> Option<(bool, String)> {
    match event {
        RunEvent::Called(ended) => Some((ended.failed, ended.shown)),
        _ => None,
    }
}

fn not_run(event: RunEvent) -> Option<Option<CallRefusal>> {
    match event {
        RunEvent::Called(ended) => Some(ended.not_run.map(|why| *why)),
        _ => None,
    }
}

/// Every request about the agent, once each: the kind of its reply.
pub(super) async fn answered() -> BTreeMap<String, String> {
    let mut agent = Agent::new().await;
    let work =
        "todo: one; two then run `echo hi; sleep 600` in the background then ask me Which? red or blue";
    let mut events = agent.says(work, None, Permit::default()).await;
    let asked = until(&mut events, asks).await;
    assert_eq!((asked.call.tool.as_str(), asked.why.as_str()), ("shell", "it runs a command"));
    agent.decides(&asked, Decision::Once).await;
    let question = until(&mut events, |event| match event {
        RunEvent::Question(question) => Some(question),
        _ => None,
    });
    let question = question.await;
    assert_eq!(question.choices, ["red", "blue"]);
    let (conversation, id) = (agent.id.clone(), question.id);
    let answer = "blue".to_owned();
    agent.does(Request::Respond(Respond { conversation, id, answer })).await;
    assert_eq!(until(&mut events, called).await, (false, "blue".to_owned()));
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
    look(&mut agent).await;
    wait(&mut agent).await;
    agent.answered
}

/// A call's duration excludes its wait for approval: with its result, and in the plan that reverts its files.
#[tokio::test]
async fn duration_of_a_call_excludes_the_wait_for_an_approval() {
    let agent = &mut Agent::new().await;
    let mut events = agent.says("run `echo hi > a.txt`", None, Permit::default()).await;
    let asked = until(&mut events, asks).await;
    // While a person thinks about it.
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    let decided = SystemClock.now_ms();
    agent.decides(&asked, Decision::Once).await;
    until(&mut events, called).await;
    let at_most = SystemClock.now_ms() - decided + 1;
    until(&mut events, outcome).await;
    let log = |before: Option<&String>, after: Option<&String>| {
        Request::Log(Log {
            conversation: agent.id.clone(),
            at: None,
            branch: None,
            projection: Projection::Timeline,
            limit: None,
            before: before.cloned(),
            after: after.cloned(),
        })
    };
    let page = get!(agent.desk, Entries, log(None, None)).entries;
    let results: Vec<_> = page.iter().filter(|entry| entry.took_ms.is_some()).collect();
    let [result] = results[..] else { panic!("one call has a result: {page:?}") };
    let took = result.took_ms.expect("it is that one");
    assert!((0..=at_most).contains(&took), "{took} of {at_most} ms");
    // Also on a page without the call itself.
    let asks_for_it = page.iter().position(|entry| entry.id == result.id).expect("there") - 1;
    let rest = get!(agent.desk, Entries, log(None, Some(&page[asks_for_it].id))).entries;
    assert_eq!((&rest[0].id, rest[0].took_ms), (&result.id, Some(took)));
    let plan = Plan {
        conversation: agent.id.clone(),
        action: Action::Rewind { entry: "t1".to_owned() },
        files: Default::default(),
        diff: false,
    };
    let plan = get!(agent.desk, Plan, Request::Plan(plan));
    let calls = plan.files.expect("a file goes").calls;
    let lasted: Vec<_> = calls.iter().map(|call| call.began_ms.zip(call.ended_ms)).collect();
    let [Some((began, ended))] = lasted[..] else { panic!("one call: {lasted:?}") };
    assert!((0..=at_most).contains(&(ended - began)), "{began} to {ended}");
}

/// Requests that only read.
async fn look(agent: &mut Agent) {
    let of = agent.of();
    agent.does(Request::Todo(of.clone())).await;
    let todo = get!(agent.desk, Todo, Request::Todo(of.clone())).items;
    assert_eq!(todo.iter().map(|item| item.text.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert!(todo.iter().all(|item| item.state != TodoState::Done));
    let jobs = || Request::Jobs(Jobs { conversation: of.conversation.clone(), limit: None, before: None });
    agent.does(jobs()).await;
    let job = get!(agent.desk, Jobs, jobs()).jobs.pop().expect("a job");
    assert!(job.running && job.command.contains("sleep 600"), "{job:?}");
    let end = job.job[job.job.len() - 8..].to_owned();
    let (conversation, job) = (agent.id.clone(), end);
    let output = JobOutput { conversation: conversation.clone(), job: job.clone(), from: None };
    agent.does(Request::JobOutput(output.clone())).await;
    assert_eq!(get!(agent.desk, JobOutput, Request::JobOutput(output)).text, "hi\n");
    agent.does(Request::JobStop(JobTarget { conversation: conversation.clone(), job })).await;
    assert!(!get!(agent.desk, Jobs, jobs()).jobs[0].running);
    let unknown = JobTarget { conversation: conversation.clone(), job: "nope".into() };
    assert_eq!(agent.desk.refused(Request::JobStop(unknown)).await.code, "no_job");
    agent.does(Request::Tools(of.clone())).await;
    let context =
        Request::Context(ContextQuery { conversation: agent.id.clone(), ..ContextQuery::default() });
    agent.does(context).await;
    agent.does(Request::Cost(of.clone())).await;
    let cost = get!(agent.desk, Cost, Request::Cost(of.clone())).models;
    assert_eq!((cost.len(), cost[0].model.as_str()), (1, "demo"));
    assert_eq!(cost[0].usage.cost_usd, Some(0.0), "it costs nothing, though no price is set");
    agent.does(Request::Permissions(of)).await;
    let set = SetPermissions { conversation, mode: Some(Mode::AllowEdits), ..SetPermissions::default() };
    agent.does(Request::SetPermissions(set)).await;
}

/// Messages sent during a run.
async fn wait(agent: &mut Agent) {
    let mut events = agent.says("run `sleep 600`", None, Permit::default()).await;
    let asked = until(&mut events, asks).await;
    let mut more = agent.says("and then?", Some(Steer::Usual), Permit::default()).await;
    assert!(matches!(more.next().await, Some(RunEvent::Queued)));
    agent.does(Request::Waiting(agent.of())).await;
    let words = get!(agent.desk, Waiting, Request::Unqueue(agent.of())).words;
    assert_eq!(words[0].parts, [Part::text("and then?")]);
    assert_eq!(until(&mut more, outcome).await, Outcome::RolledBack);
    let mut more = agent.says("and then?", Some(Steer::Queue), Permit::default()).await;
    assert!(matches!(more.next().await, Some(RunEvent::Queued)));
    agent.does(Request::Unqueue(agent.of())).await;
    agent.decides(&asked, Decision::Deny { words: Some("not now".into()) }).await;
    let (failed, shown) = until(&mut events, called).await;
    assert!(failed && shown.contains("not now"), "{shown}");
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
}

#[tokio::test]
async fn rule_of_a_conversation_answers_later_calls() {
    let mut agent = Agent::new().await;
    let mut events = agent.says("run `touch a`", None, Permit::default()).await;
    let asked = until(&mut events, asks).await;
    let rule = asked.offers[0].clone();
    assert_eq!(rule.short(), "shell(touch a)");
    agent.decides(&asked, Decision::InConversation { rule: rule.clone() }).await;
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
    let gone = Decide { conversation: agent.id.clone(), id: asked.id, decision: Decision::Once };
    assert_eq!(agent.desk.refused(Request::Decide(gone)).await.code, "not_asked");
    let mut events = agent.says("run `touch a b`", None, Permit::default()).await;
    assert!(!until(&mut events, called).await.0, "it runs unasked");
    let known = get!(agent.desk, Permissions, Request::Permissions(agent.of())).rules;
    assert_eq!(known.iter().map(|it| (&it.rule, it.for_good)).collect::<Vec<_>>(), [(&rule, false)]);
}

#[tokio::test]
async fn permanent_rule_is_in_the_settings_until_it_is_removed() {
    let mut agent = Agent::new().await;
    let mut events = agent.says("write a.txt: hello", None, Permit::default()).await;
    let asked = until(&mut events, asks).await;
    let rule = asked.offers.last().expect("an offer").clone();
    agent.decides(&asked, Decision::Always { rule: rule.clone() }).await;
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
    let settings = || std::fs::read_to_string(agent.desk.file("config.toml")).expect("settings");
    assert!(settings().contains("[permissions]\nallow = [\"write\"]"), "{}", settings());
    let remove = SetPermissions {
        conversation: agent.id.clone(),
        remove: vec![rule.clone()],
        ..SetPermissions::default()
    };
    assert!(get!(agent.desk, Permissions, Request::SetPermissions(remove.clone())).rules.is_empty());
    assert!(!settings().contains("write"), "{}", settings());
    assert_eq!(agent.desk.refused(Request::SetPermissions(remove)).await.code, "no_rule");
}

#[tokio::test]
async fn rule_removed_from_the_settings_file_counts_at_once() {
    let mut agent = Agent::new().await;
    let mut events = agent.says("run `touch a`", None, Permit::default()).await;
    let asked = until(&mut events, asks).await;
    agent.decides(&asked, Decision::Always { rule: asked.offers[0].clone() }).await;
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
    let mut events = agent.says("run `touch a`", None, Permit::default()).await;
    assert!(!until(&mut events, called).await.0, "it runs unasked");
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
    let settings = agent.desk.file("config.toml");
    let text = std::fs::read_to_string(&settings).expect("settings");
    let rules = async |agent: &Agent| get!(agent.desk, Permissions, Request::Permissions(agent.of())).rules;
    assert_eq!(rules(&agent).await.len(), 1);
    std::fs::write(&settings, text.replace("\"shell(touch a)\"", "")).expect("written");
    assert!(rules(&agent).await.is_empty());
    let mut events = agent.says("run `touch a`", None, Permit::default()).await;
    let asked = until(&mut events, asks).await;
    agent.decides(&asked, Decision::Deny { words: None }).await;
    until(&mut events, outcome).await;
    // An unreadable file does not permit anything, either.
    std::fs::write(&settings, &text).expect("written");
    assert_eq!(rules(&agent).await.len(), 1);
    std::fs::write(&settings, text.replace("[permissions]", "[permissions")).expect("written");
    let mut events = agent.says("run `touch a`", None, Permit::default()).await;
    let mut told = Vec::new();
    loop {
        match events.next().await.expect("goes on") {
            RunEvent::Notice { text, .. } => told.push(text),
            RunEvent::Asks(_) => break,
            RunEvent::Ended(ended) => panic!("nothing was asked: {ended:?}"),
            _ => {}
        }
    }
    let is_wrong = |text: &&String| text.contains("no rule of them allows anything");
    assert_eq!(told.iter().filter(is_wrong).count(), 1, "{told:?}");
    agent.desk.does(Request::Cancel(agent.of())).await;
}

#[tokio::test]
async fn permissions_of_one_run_are_not_stored() {
    let agent = Agent::new().await;
    let permit = Permit { mode: None, allow: vec!["shell(touch)".into()] };
    let mut events = agent.says("run `touch a`", None, permit).await;
    assert!(!until(&mut events, called).await.0);
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
    let plan = Permit { mode: Some(Mode::Plan), allow: Vec::new() };
    let mut events = agent.says("run `touch b`", None, plan).await;
    let (failed, shown) = until(&mut events, called).await;
    assert!(failed && shown.contains("plan mode only reads"), "{shown}");
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
    let known = get!(agent.desk, Permissions, Request::Permissions(agent.of()));
    assert!(known.rules.is_empty() && known.mode == Mode::Ask);
    let mut events = agent.says("run `touch c`", None, Permit::default()).await;
    until(&mut events, asks).await;
    agent.desk.does(Request::Cancel(agent.of())).await;
}

#[tokio::test]
async fn call_that_does_not_run_says_why_in_a_code() {
    let mut agent = Agent::new().await;
    let plan = Permit { mode: Some(Mode::Plan), allow: Vec::new() };
    let mut events = agent.says("run `touch a`", None, plan).await;
    assert_eq!(until(&mut events, not_run).await, Some(CallRefusal::PlanMode));
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
    let mut events = agent.says("run `touch b`", None, Permit::default()).await;
    let asked = until(&mut events, asks).await;
    let words = Some("not now".to_owned());
    agent.decides(&asked, Decision::Deny { words: words.clone() }).await;
    assert_eq!(until(&mut events, not_run).await, Some(CallRefusal::Person { words }));
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
    let mut events = agent.says("run `touch c`", None, Permit::default()).await;
    let asked = until(&mut events, asks).await;
    agent.decides(&asked, Decision::Once).await;
    assert_eq!(until(&mut events, not_run).await, None);
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
}

#[tokio::test]
async fn file_names_complete_what_a_person_types() {
    let agent = Agent::new().await;
    let folder = agent.desk.file("work");
    std::fs::create_dir(folder.join("notes")).expect("made");
    for file in ["notes/todo.md", "notes.txt", "other"] {
        std::fs::write(folder.join(file), "").expect("written");
    }
    let here = |limit| {
        let typed = Typed { prefix: "no".into(), limit };
        Request::Paths(Paths { conversation: agent.id.clone(), typed })
    };
    let there = |folder: &std::path::Path| {
        let typed = Typed { prefix: "no".into(), limit: None };
        Request::FolderPaths(FolderPaths { folder: folder.display().to_string(), typed })
    };
    for asked in [here(None), there(&folder)] {
        let page = get!(agent.desk, Paths, asked);
        let names: Vec<_> = page.paths.iter().map(|it| (it.path.as_str(), it.is_dir)).collect();
        assert_eq!(names, [("notes", true), ("notes.txt", false), ("notes/todo.md", false)]);
        assert!(!page.more);
    }
    let page = get!(agent.desk, Paths, here(Some(1)));
    assert_eq!((page.paths.len(), page.more), (1, true));
    let add = vec!["deny read(notes.txt)".to_owned()];
    let set = SetPermissions { conversation: agent.id.clone(), add, ..SetPermissions::default() };
    agent.desk.does(Request::SetPermissions(set)).await;
    let page = get!(agent.desk, Paths, here(None));
    assert!(
        page.paths.iter().all(|it| it.path != "notes.txt"),
        "what may not be read is not named: {page:?}"
    );
    assert_eq!(agent.desk.refused(there("work".as_ref())).await.kind, ProblemKind::Usage);
}

#[tokio::test]
async fn rewind_target_shows_its_own_changes() {
    let agent = Agent::new().await;
    let permit = Permit { mode: None, allow: vec!["write".into(), "shell(touch)".into()] };
    for text in ["write a.txt: hello then run `touch b`", "run `ls`", "hello"] {
        let mut events = agent.says(text, None, permit.clone()).await;
        assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
    }
    let targets =
        Request::Targets(Targets { conversation: agent.id.clone(), limit: Some(1000), before: None });
    let did: Vec<TurnActions> =
        get!(agent.desk, Targets, targets).targets.iter().map(|target| target.did).collect();
    let rewind = Action::Rewind { entry: "t1".into() };
    let (conversation, files) = (agent.id.clone(), Default::default());
    let plan = Request::Plan(Plan { conversation, action: rewind, files, diff: false });
    let outside = get!(agent.desk, Plan, plan).outside.effects.count;
    let looked = TurnActions { calls: 1, ..TurnActions::default() };
    assert_eq!(
        did,
        [TurnActions::default(), looked, TurnActions { files: 2, commands: 1, calls: 2, outside, posts: 0 }]
    );
}

/// State outside of the log has revisions of its own, and a client that catches up gets the current one.
#[tokio::test]
async fn catching_up_includes_runs_waiting_messages_and_permissions() {
    let mut agent = Agent::new().await;
    let caught = |since| Request::CatchUp(CatchUp { conversation: agent.id.clone(), since });
    let first = get!(agent.desk, Changes, caught(0));
    assert!(!first.running && first.waiting.is_empty() && first.permissions.mode == Mode::Ask);
    let mut events = agent.says("run `sleep 600`", None, Permit::default()).await;
    let asked = until(&mut events, asks).await;
    let begun = get!(agent.desk, Changes, caught(first.revision));
    assert!(begun.running && begun.waiting.is_empty(), "{begun:?}");
    let mut more = agent.says("and then?", Some(Steer::Queue), Permit::default()).await;
    assert!(matches!(more.next().await, Some(RunEvent::Queued)));
    // The event that they wait comes first.
    let waits = async {
        loop {
            let waits = get!(agent.desk, Changes, caught(begun.revision));
            if !waits.waiting.is_empty() {
                break waits;
            }
            tokio::task::yield_now().await;
        }
    };
    let waits = tokio::time::timeout(std::time::Duration::from_secs(30), waits).await.expect("they wait");
    assert_eq!((waits.waiting[0].parts.as_slice(), waits.came.len()), (&[Part::text("and then?")][..], 0));
    assert!(waits.revision > begun.revision);
    let set = SetPermissions {
        conversation: agent.id.clone(),
        mode: Some(Mode::Plan),
        ..SetPermissions::default()
    };
    agent.desk.does(Request::SetPermissions(set)).await;
    let settled = get!(agent.desk, Changes, caught(waits.revision));
    assert_eq!((settled.revision, settled.permissions.mode), (waits.revision + 1, Mode::Plan));
    agent.desk.does(Request::Unqueue(agent.of())).await;
    assert_eq!(until(&mut more, outcome).await, Outcome::RolledBack);
    agent.decides(&asked, Decision::Deny { words: None }).await;
    assert_eq!(until(&mut events, outcome).await, Outcome::Succeeded);
    let over = get!(
        agent.desk,
        Changes,
        Request::CatchUp(CatchUp { conversation: agent.id.clone(), since: settled.revision })
    );
    assert!(!over.running && over.waiting.is_empty() && !over.came.is_empty(), "{over:?}");
}

#[tokio::test]
async fn invalid_rule_is_refused_with_the_form_of_a_rule() {
    let agent = Agent::new().await;
    let add = vec!["allow rm -rf".to_owned()];
    let set = SetPermissions { conversation: agent.id.clone(), add, ..SetPermissions::default() };
    let problem = agent.desk.refused(Request::SetPermissions(set)).await;
    assert!(problem.message.contains("\"allow rm -rf\" is not a valid rule"), "{problem:?}");
    assert_eq!(
        (&problem.fields["rule"], &problem.fields["what"]),
        (&"allow rm -rf".into(), &"tool_name".into())
    );
    assert!(problem.hint.is_some());
    let rule = Rule { ruling: Ruling::Deny, tool: "shell".into(), what: Some("rm".into()) };
    let set = SetPermissions {
        conversation: agent.id.clone(),
        add: vec![rule.to_string()],
        ..SetPermissions::default()
    };
    let settled = get!(agent.desk, Permissions, Request::SetPermissions(set));
    assert_eq!(settled.rules[0].rule, rule);
    let sandbox = Sandbox { temporary: Sandbox::temporary(), ..Sandbox::bare() };
    let is_whole = sandbox.available(&[]) == Sandboxed::Full;
    assert_eq!(settled.commands == Commands::Asking, is_whole, "{:?}", settled.commands);
}
