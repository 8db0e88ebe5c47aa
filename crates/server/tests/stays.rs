//! A receipt says what stayed, in the words of the plan: files of an uncertain author, files left by choice, and irreversible
//! effects.

use retake_wire::reply::{Plan, Receipt};
use retake_wire::request::{Apply, Edit, Fork, Plan as PlanRequest};
use retake_wire::{
    Action, Attached, Choice, Choose, Condition, FileCounts, FileName, FileOptions, MarkVerb, Part, Request,
    Scope, Verdict,
};

use super::whose::{turn, turns};
use super::world::{Desk, get, mark, rewind};

fn chooses(path: &str, choice: Choice) -> FileOptions {
    let name = FileName { path: path.into(), path_base64: None };
    FileOptions { choose: vec![Choose { name, choice }], ..FileOptions::default() }
}

/// The plan of an action, and its receipt.
async fn both(desk: &Desk, id: &str, action: Action, files: FileOptions) -> (Plan, Receipt) {
    let plan =
        PlanRequest { conversation: id.into(), action: action.clone(), files: files.clone(), diff: false };
    let plan = get!(desk, Plan, Request::Plan(plan));
    let (conversation, head) = (id.to_owned(), Some(plan.head.clone()));
    let apply = Apply { conversation, action, head, since: false, files, request_id: None };
    let done = get!(desk, Receipt, Request::Apply(apply));
    check(&plan, &done);
    (plan, done)
}

/// The receipt reports all that stays according to the plan, and no more.
fn check(plan: &Plan, done: &Receipt) {
    let is_caveat = |line: &&String| line.starts_with("only files of");
    let stays: Vec<&String> = plan.stays.iter().filter(|line| !is_caveat(line)).collect();
    assert_eq!(done.stays.iter().collect::<Vec<_>>(), stays);
    let paths = plan.files.iter().flat_map(|files| &files.paths);
    let left = paths.filter_map(|path| Some(format!("{}: {}", path.name.path, path.why.clone()?)));
    let told = done.files.as_ref().map(|files| files.left.clone()).unwrap_or_default();
    assert_eq!(told, left.collect::<Vec<_>>());
    let [planned, counted] =
        [plan.files.as_ref().map(|it| it.counts), done.files.as_ref().map(|it| it.counts)];
    assert_eq!(counted.unwrap_or_default(), planned.unwrap_or_default());
}

#[tokio::test]
async fn trial_07_a_receipt_names_files_of_an_uncertain_author() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["true"]).await;
    let other = desk.create(None, desk.file("work").to_str()).await;
    // Both calls are open when the file is written.
    let writes = "until [ -e ../go ]; do sleep 0.01; done; echo 1 > a";
    let waits = "touch ../go; until [ -e a ]; do sleep 0.01; done";
    tokio::join!(turn(&desk, &id, writes), turn(&desk, &other, waits));
    let (plan, done) = both(&desk, &id, rewind("t2"), FileOptions::default()).await;
    assert_eq!(plan.files.expect("files").left, 1);
    let files = done.files.expect("files are told of");
    assert_eq!((files.counts, files.left.len()), (FileCounts::default(), 1));
    assert!(files.left[0].starts_with("a: it changed while several calls"), "{:?}", files.left);
}

/// A file of thirty lines, and scripts that change two distant ones.
const THIRTY: &str = "seq 30 > f";
const KNOWN: &str = "sed -i s/^5$/known/ f";
const UNCERTAIN: &str = "sed -i s/^20$/uncertain/ f";

/// A file that is reverted in part: returns what its plan says, after checking that the receipt and the receipt of an edit say
/// the same.
async fn in_part(desk: &Desk, id: &str) -> String {
    let f = desk.file("work").join("f");
    let uncertain = std::fs::read_to_string(&f).expect("it");
    let (plan, done) = both(desk, id, rewind("t2"), FileOptions::default()).await;
    let path = plan.files.expect("files").paths.into_iter().find(|path| path.name.path == "f").expect("f");
    assert!(!matches!(path.verdict, Verdict::Ambiguous | Verdict::Conflict), "{path:?}");
    assert_eq!(std::fs::read_to_string(&f).expect("it"), uncertain.replace("known", "5"));
    let why = path.why.unwrap_or_default();
    assert_eq!(done.files.expect("files").left, [format!("f: {why}")]);
    desk.apply(id, Action::Undo { count: 1 }).await;
    assert_eq!(std::fs::read_to_string(&f).expect("it"), uncertain);
    let edit = Edit {
        conversation: id.to_owned(),
        entry: "t2".into(),
        parts: vec![Part::text("other words")],
        attached: Attached::Kept,
        files: FileOptions::default(),
        head: None,
        request_id: None,
    };
    let edited = get!(desk, Receipt, Request::Edit(edit));
    assert_eq!(edited.files.expect("files").left, [format!("f: {why}")]);
    why
}

#[tokio::test]
async fn trial_07_uncertain_change_that_stays_is_reported_with_its_reason() {
    let desk = Desk::new().await;
    let id = turns(&desk, &[THIRTY, KNOWN]).await;
    let other = desk.create(None, desk.file("work").to_str()).await;
    // Both calls are open when the file is written.
    let writes = format!("until [ -e ../go ]; do sleep 0.01; done; {UNCERTAIN}; touch ../done");
    let waits = "touch ../go; until [ -e ../done ]; do sleep 0.01; done";
    tokio::join!(turn(&desk, &id, &writes), turn(&desk, &other, waits));
    let several = "an uncertain change stays in it: it changed while several calls ran: nobody knows whose change it is";
    assert_eq!(in_part(&desk, &id).await, several);
}

#[tokio::test]
async fn trial_07_change_during_a_job_is_not_attributed_to_several_calls() {
    let desk = Desk::new().await;
    let id = turns(&desk, &[THIRTY, KNOWN]).await;
    let job =
        format!("(until [ -e ../go ]; do sleep 0.01; done; {UNCERTAIN}; touch ../done) >/dev/null 2>&1 &");
    turn(&desk, &id, &job).await;
    turn(&desk, &id, "touch ../go; until [ -e ../done ]; do sleep 0.01; done").await;
    let ran = "it changed while a background job ran: nobody knows whose change it is";
    let (plan, done) = both(&desk, &id, rewind("t4"), FileOptions::default()).await;
    assert_eq!(plan.files.expect("files").paths[0].why.as_deref(), Some(ran));
    assert_eq!(done.files.expect("files").left, [format!("f: {ran}")]);
    desk.apply(&id, Action::Undo { count: 1 }).await;
    assert_eq!(in_part(&desk, &id).await, format!("an uncertain change stays in it: {ran}"));
}

#[tokio::test]
async fn trial_07_a_receipt_names_files_that_were_left_as_chosen() {
    let desk = Desk::new().await;
    for (choice, why) in [
        (Choice::Skip, "stays as it is, undecided: a later step asks again"),
        (Choice::Disk, "stays as it is and counts as yours: not asked again"),
    ] {
        let id = turns(&desk, &["echo 1 > a"]).await;
        let (plan, done) = both(&desk, &id, rewind("t1"), chooses("a", choice)).await;
        let files = plan.files.expect("files");
        assert_eq!((files.left, files.paths[0].verdict), (1, Verdict::Unchanged));
        assert_eq!(done.files.expect("files are told of").left, [format!("a: {why}")]);
        std::fs::remove_file(desk.file("work").join("a")).expect("removed");
    }
}

#[tokio::test]
async fn trial_07_a_receipt_says_why_no_file_changed() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["echo 1 > a"]).await;
    let alone = FileOptions { scope: Scope::Conversation, ..FileOptions::default() };
    let (_, done) = both(&desk, &id, rewind("t1"), alone).await;
    let own = "1 file becomes your own: later steps treat it as your edit";
    assert_eq!(done.stays, ["files are not touched: only the conversation goes back", own]);
    let (_, done) = both(&desk, &id, Action::Undo { count: 1 }, FileOptions::default()).await;
    assert_eq!(done.stays.len(), 1);
    let (id, _) = desk.talk(&["one", "two"]).await;
    let (_, done) = both(&desk, &id, rewind("t1"), FileOptions::default()).await;
    assert_eq!(done.stays, ["files stay as they are: these messages changed none"]);
}

#[tokio::test]
async fn trial_07_the_receipt_of_an_edit_says_what_its_plan_says() {
    let desk = Desk::new().await;
    let seen = ["echo 1 > a; mkdir -p node_modules; echo 1 > node_modules/x"];
    for (script, scope) in
        [(seen[0], Scope::Both), ("echo 2 > b", Scope::Conversation), ("true", Scope::Both)]
    {
        let id = turns(&desk, &[script]).await;
        let files = FileOptions { scope, ..FileOptions::default() };
        let action = Action::Edit { entry: "t1".into() };
        let plan = PlanRequest { conversation: id.clone(), action, files: files.clone(), diff: false };
        let plan = get!(desk, Plan, Request::Plan(plan));
        let edit = Edit {
            conversation: id.clone(),
            entry: "t1".into(),
            parts: vec![Part::text("other words")],
            attached: Attached::Kept,
            files,
            head: None,
            request_id: None,
        };
        check(&plan, &get!(desk, Receipt, Request::Edit(edit)));
    }
}

#[tokio::test]
async fn trial_07_conflict_with_a_later_turn_names_that_turn() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["echo 1 > a", "echo 2 > a"]).await;
    let dropped = Request::Apply(Apply {
        conversation: id.clone(),
        action: mark(MarkVerb::Drop, "t1"),
        head: None,
        since: false,
        files: FileOptions::default(),
        request_id: None,
    });
    let refused = desk.refused(dropped).await;
    assert_eq!(refused.message, "other turns of this conversation changed a file too: a");
    std::fs::write(desk.file("work").join("a"), "mine\n").expect("written");
    let undone = Request::Apply(Apply {
        conversation: id,
        action: Action::Undo { count: 1 },
        head: None,
        since: false,
        files: FileOptions::default(),
        request_id: None,
    });
    assert_eq!(desk.refused(undone).await.message, "you or another program changed a file too: a");
}

#[tokio::test]
async fn trial_10_fork_names_files_of_its_parent_and_the_command_that_reverts_them() {
    let desk = Desk::new().await;
    let parent = turns(&desk, &["echo 1 > a", "echo 2 > b; echo 2 > a"]).await;
    let fork = Fork { conversation: parent.clone(), entry: None, title: None, request_id: None };
    let fork = get!(desk, Receipt, Request::Fork(fork)).conversation;
    turn(&desk, &fork, "echo 3 > c").await;
    let names = |entry: &str, files: &str, turn: u64| {
        let line = format!(
            "{files} stay as turns of the conversation that this one was forked from left them: a, b; \
             a rewind of the files of turn {turn} in the conversation {parent} takes them back there"
        );
        (rewind(entry), line)
    };
    let (plan, _) = both(&desk, &fork, rewind("t3"), FileOptions::default()).await;
    assert!(!plan.stays.iter().any(|line| line.contains("forked")), "{:?}", plan.stays);
    desk.apply(&fork, Action::Undo { count: 1 }).await;
    for (entry, turn) in [("t2", 2), ("t1", 1)] {
        let (back, line) = names(entry, "2 files", turn);
        let (plan, _) = both(&desk, &fork, back, FileOptions::default()).await;
        assert!(plan.stays.contains(&line), "{:?}", plan.stays);
        let named = ["a", "b"].map(str::to_owned).to_vec();
        let typed = Condition::OfParent { parent: parent.clone(), files: 2, named, turn: Some(turn) };
        assert!(plan.conditions.contains(&typed), "{:?}", plan.conditions);
        desk.apply(&fork, Action::Undo { count: 1 }).await;
    }
    // What the command has reverted there is not reported any more.
    let files = FileOptions { scope: Scope::Files, ..FileOptions::default() };
    both(&desk, &parent, rewind("t1"), files).await;
    let (plan, _) = both(&desk, &fork, rewind("t1"), FileOptions::default()).await;
    assert!(!plan.stays.iter().any(|line| line.contains("forked")), "{:?}", plan.stays);
}

#[tokio::test]
async fn trial_09_text_that_replaces_a_call_or_result_is_plain_text() {
    let desk = Desk::new().await;
    let id = turns(&desk, &["echo 1 > a"]).await;
    let entries = desk.timeline(&id).await.1;
    for entry in [&entries[1].id, &entries[2].id] {
        let edit = Edit {
            conversation: id.clone(),
            entry: entry.clone(),
            parts: vec![Part::text("other words")],
            attached: Attached::Kept,
            files: FileOptions::default(),
            head: None,
            request_id: None,
        };
        get!(desk, Receipt, Request::Edit(edit));
        let now = desk.timeline(&id).await.1;
        assert_eq!(now.len(), 2, "the call is gone with its result");
        assert_eq!(now[1].parts, [Part::text("other words")]);
        assert!(!desk.file("work").join("a").exists());
        desk.apply(&id, Action::Undo { count: 1 }).await;
        assert!(desk.file("work").join("a").exists());
    }
}
