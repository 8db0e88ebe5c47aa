//! Hidden messages can be listed and shown again, also by turn; undo and redo list their steps and the result.

use retake_wire::reply::{Marked, MarkedPage, Operation};
use retake_wire::request::{self, Checkpoint, Page};
use retake_wire::{Action, FileName, MarkVerb, Request, Role};

use super::world::{Desk, alternatives, get, label, mark, plan, rewind};

/// The marked messages, newest first, and whether there are more.
async fn hidden(desk: &Desk, id: &str, limit: usize, before: Option<&str>) -> MarkedPage {
    let before = before.map(str::to_owned);
    get!(
        desk,
        Marked,
        Request::Marked(request::Marked { conversation: id.into(), limit: Some(limit), before })
    )
}

fn told(all: &[Marked]) -> Vec<String> {
    let one =
        |it: &Marked| format!("{} t{} {}*{}", it.mark.name(), it.turn, it.line.preview, it.counts.messages);
    all.iter().map(one).collect()
}

async fn operations(desk: &Desk, id: &str) -> Vec<Operation> {
    let page = Page { conversation: id.into(), limit: None, before: None };
    get!(desk, Operations, Request::Ops(page)).operations
}

#[tokio::test]
async fn turn_number_names_all_its_hidden_messages() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four", "five", "six"]).await;
    desk.apply(&id, mark(MarkVerb::Hide, "t2")).await;
    desk.apply(&id, mark(MarkVerb::Hide, &entries[3])).await;
    assert_eq!(desk.texts(&id).await, ["one", "two", "five", "six"]);
    let refused = desk.refused(plan(&id, rewind("t2"))).await;
    assert_eq!((refused.code.as_str(), refused.message.as_str()), ("not_visible", "the entry is hidden"));
    let show = mark(MarkVerb::Show, "t2");
    let planned = get!(desk, Plan, plan(&id, show.clone()));
    let came: Vec<_> = planned.timeline.came.iter().map(|line| line.preview.as_str()).collect();
    assert_eq!(came, ["three", "four"], "its opener is hidden, and it is named all the same");
    desk.apply(&id, show.clone()).await;
    assert_eq!(desk.texts(&id).await.len(), 6);
    assert!(desk.apply(&id, show).await.unchanged);
    // Dropped and excluded ones.
    desk.apply(&id, mark(MarkVerb::Hide, &entries[5])).await;
    desk.apply(&id, mark(MarkVerb::Drop, "t3")).await;
    assert_eq!(told(&hidden(&desk, &id, 9, None).await.marked), ["hidden t3 six*1", "dropped t3 five*1"]);
    desk.apply(&id, mark(MarkVerb::Show, "t3")).await;
    desk.apply(&id, mark(MarkVerb::Exclude, &entries[1])).await;
    assert!(desk.apply(&id, mark(MarkVerb::Show, "t1")).await.unchanged, "nothing is hidden of it");
    desk.apply(&id, mark(MarkVerb::Include, "t1")).await;
    assert_eq!(hidden(&desk, &id, 9, None).await.marked, []);
    let said: Vec<_> = operations(&desk, &id)
        .await
        .into_iter()
        .map(|op| format!("{} {}", op.reason.name(), op.description))
        .collect();
    assert_eq!(
        said,
        [
            "include an answer of t1 “two”",
            "exclude an answer of t1 “two”",
            "show t3 “five” and 1 more message",
            "drop t3 “five”",
            "hide an answer of t3 “six”",
            "show t2 “three” and 1 more message",
            "hide an answer of t2 “four”",
            "hide t2 “three”",
        ]
    );
    let unknown = desk.refused(plan(&id, mark(MarkVerb::Show, "t9"))).await;
    assert_eq!(unknown.code, "unknown_entry");
}

#[tokio::test]
async fn hidden_messages_can_be_shown_by_their_listed_names() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four", "five", "six"]).await;
    let hide = |from: usize, to: usize| Action::Mark {
        verb: MarkVerb::Hide,
        entries: vec![entries[from].clone(), entries[to].clone()],
        range: true,
        seen: None,
    };
    desk.apply(&id, hide(0, 3)).await;
    desk.apply(&id, mark(MarkVerb::Exclude, &entries[4])).await;
    let page = hidden(&desk, &id, 2, None).await;
    assert_eq!(told(&page.marked), ["excluded t3 five*1", "hidden t2 three*2"]);
    let done: Vec<_> = operations(&desk, &id).await.iter().map(|op| Some(op.time_ms)).collect();
    let since: Vec<_> = page.marked.iter().map(|it| it.marked_ms).collect();
    assert_eq!(since, done, "when they were marked, not when they were said");
    assert!(page.more && page.head == desk.info(&id).await.head);
    let rest = hidden(&desk, &id, 2, Some(&page.marked[1].line.id)).await;
    assert_eq!(
        hidden(&desk, &id, 2, Some("t2")).await,
        rest,
        "a turn whose first message is hidden is a place, too"
    );
    assert_eq!((told(&rest.marked), rest.more), (vec!["hidden t1 one*2".to_owned()], false));
    let Marked { line, last, mark, .. } = page.marked[1].clone();
    let entries = vec![line.id, last];
    let back =
        Action::Mark { verb: MarkVerb::Show, entries, range: true, seen: Some(mark.name().to_owned()) };
    desk.apply(&id, back.clone()).await;
    assert_eq!(desk.texts(&id).await, ["three", "four", "five", "six"]);
    assert_eq!(desk.refused(super::world::apply(&id, back)).await.code, "stale_mark");
    let range = Action::Mark {
        verb: MarkVerb::Show,
        entries: vec!["t1".into(), "t3".into()],
        range: true,
        seen: None,
    };
    desk.apply(&id, range).await;
    assert_eq!(
        desk.texts(&id).await.len(),
        6,
        "the ends of a range may be turns whose first message is hidden"
    );
}

#[tokio::test]
async fn trial_15_range_with_swapped_ends_is_the_same_range() {
    for names in [["t1", "t2"], ["t2", "t1"]] {
        let desk = Desk::new().await;
        let (id, _) = desk.talk(&["one", "two", "three", "four", "five", "six"]).await;
        let entries = names.map(str::to_owned).to_vec();
        desk.apply(
            &id,
            Action::Mark { verb: MarkVerb::Hide, entries: entries.clone(), range: true, seen: None },
        )
        .await;
        assert_eq!(desk.texts(&id).await, ["five", "six"], "{names:?}");
        desk.apply(&id, Action::Mark { verb: MarkVerb::Show, entries, range: true, seen: None }).await;
        assert_eq!(desk.texts(&id).await.len(), 6, "{names:?}");
    }
}

/// The last message is a visible one, except in a request to show it again; no label may equal its name, or that of a
/// turn.
#[tokio::test]
async fn names_of_messages_follow_the_visible_timeline() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
    desk.apply(&id, mark(MarkVerb::Hide, "@")).await;
    desk.apply(&id, mark(MarkVerb::Hide, "@")).await;
    assert_eq!(desk.texts(&id).await, ["one", "two"]);
    desk.apply(&id, label("@", "here")).await;
    desk.apply(&id, mark(MarkVerb::Show, "@")).await;
    assert_eq!(desk.texts(&id).await, ["one", "two", "four"]);
    for name in ["t2", " t1 ", "@"] {
        let refused = desk.refused(plan(&id, label(&entries[0], name))).await;
        assert!(refused.message.contains("can't be a label"), "{refused:?}");
    }
    desk.apply(&id, label(&entries[0], "tea")).await;
    desk.apply(&id, rewind("@")).await;
    assert_eq!(desk.texts(&id).await, ["one", "two"]);
}

#[tokio::test]
async fn turn_number_names_its_answers() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two"]).await;
    desk.apply(&id, rewind(&entries[1])).await;
    desk.say(&id, Role::Assistant, "other").await;
    let of = |entry: &str| Request::Alternatives(alternatives(&id, entry));
    for named in ["t1", "@"] {
        let all = get!(desk, Alternatives, of(named)).alternatives;
        let all: Vec<_> = all.iter().map(|it| (it.line.preview.as_str(), it.current)).collect();
        assert_eq!(all, [("two", false), ("other", true)], "{named}");
    }
    desk.apply(&id, Action::Choose { entry: "t1".into(), number: 1 }).await;
    assert_eq!(desk.texts(&id).await, ["one", "two"]);
}

#[tokio::test]
async fn operations_and_steps_are_described_in_words() {
    let desk = Desk::new().await;
    let (id, entries) =
        desk.talk(&["one", "two", "make it\nblue, and tell nobody why it has to be of that colour"]).await;
    desk.apply(&id, rewind("t2")).await;
    desk.apply(&id, Action::Undo { count: 1 }).await;
    desk.apply(&id, mark(MarkVerb::Hide, &entries[1])).await;
    let said: Vec<_> = operations(&desk, &id)
        .await
        .into_iter()
        .map(|op| format!("{}: {}", op.reason.name(), op.description))
        .collect();
    let blue = "t2 “make it blue, and tell nobody why it ha…”";
    assert_eq!(
        said,
        [
            "hide: an answer of t1".to_owned(),
            "undo: took back operation 1".into(),
            format!("rewind: to {blue}")
        ]
    );
    let planned = get!(desk, Plan, plan(&id, Action::Undo { count: 3 }));
    assert_eq!(
        planned.step_lines,
        ["hide an answer of t1".to_owned(), format!("the turn {blue}"), "the turn t1 “one”".into()]
    );
}

#[tokio::test]
async fn several_steps_do_what_their_plan_shows() {
    let desk = Desk::new().await;
    let work = desk.file("work");
    std::fs::create_dir(&work).expect("made");
    let id = desk.create(None, work.to_str()).await;
    let back = |to: &str| Action::RestoreFiles {
        paths: vec![FileName { path: "a".into(), path_base64: None }],
        to: Some(to.into()),
    };
    for name in ["first", "second"] {
        std::fs::write(work.join("a"), name).expect("written");
        desk.does(Request::Checkpoint(Checkpoint { conversation: id.clone(), name: name.into() })).await;
    }
    desk.say(&id, Role::User, "one").await;
    desk.apply(&id, back("first")).await;
    desk.apply(&id, rewind("t1")).await;
    let head = desk.info(&id).await.head;
    desk.apply(&id, Action::Undo { count: 1 }).await;
    desk.apply(&id, Action::Restore { head }).await;
    desk.apply(&id, back("second")).await;
    let undo = Action::Undo { count: 5 };
    let planned = get!(desk, Plan, plan(&id, undo.clone()));
    assert_eq!(planned.step_lines.len(), 4, "{:?}", planned.step_lines);
    let done = desk.apply(&id, undo).await;
    assert_eq!(done.steps.as_ref().map(|steps| (steps.done, steps.asked)), Some((4, 5)));
    assert_eq!(
        (done.timeline.taken_back, done.timeline.brought_back),
        (planned.timeline.taken_back, planned.timeline.brought_back)
    );
    let [planned, done] = [planned.files.map(|it| it.counts), done.files.map(|it| it.counts)];
    assert_eq!(
        planned.unwrap_or_default(),
        done.unwrap_or_default(),
        "a file that is written twice is one file"
    );
    assert_eq!(std::fs::read_to_string(work.join("a")).expect("read"), "second");
}
