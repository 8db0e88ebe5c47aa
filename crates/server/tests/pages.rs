//! Pages of any size together make the whole, each item once and in order.

use retake_wire::reply::Entry;
use retake_wire::request::{
    Alternatives, FolderPaths, Fork, History, Jobs, List, Log, Marked, Page, Paths, Projection, Say, Targets,
    Tree, Typed, Workspaces,
};
use retake_wire::{Action, Client as _, MarkVerb, Reply, Request, Role, Search};

use super::world::{Desk, alternatives, get, label, log, mark, rewind, said, text, tree};

const SIZES: [usize; 4] = [1, 2, 3, 100];

/// A conversation with another branch, a hidden message and an excluded one.
async fn talk(desk: &Desk) -> String {
    let (id, entries) = desk.talk(&["one", "two", "three", "four", "never"]).await;
    desk.apply(&id, rewind(&entries[4])).await;
    for said in ["five", "six", "seven"] {
        desk.say(&id, Role::User, said).await;
    }
    desk.apply(&id, mark(MarkVerb::Hide, "t4")).await;
    desk.apply(&id, mark(MarkVerb::Exclude, &entries[1])).await;
    id
}

#[tokio::test]
async fn pages_of_a_log_are_complete() {
    let desk = Desk::new().await;
    let id = talk(&desk).await;
    let rows = [
        (Projection::Timeline, vec!["one", "two", "three", "four", "five", "seven"]),
        (Projection::Scheduling, vec!["one", "two", "three", "four", "five", "seven"]),
        (Projection::Export, vec!["one", "two", "three", "four", "five", "seven"]),
        (Projection::Prompt, vec!["one", "three", "four", "five", "seven"]),
    ];
    for (projection, expected) in rows {
        for limit in SIZES {
            let page = Log { projection, limit: Some(limit), ..log(&id) };
            assert_eq!(backwards(&desk, &page).await, expected, "{projection:?} by {limit}");
            assert_eq!(forwards(&desk, &page).await, expected, "{projection:?} by {limit}");
        }
    }
    let between = Log { before: Some("@".into()), after: Some("t1".into()), limit: Some(2), ..log(&id) };
    let page = get!(desk, Entries, Request::Log(between));
    assert_eq!(texts(&page.entries), ["four", "five"], "the newest between two");
    assert!(page.earlier && page.later);
}

fn texts(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(text).collect()
}

/// From the newest page to the oldest.
async fn backwards(desk: &Desk, page: &Log) -> Vec<String> {
    let (mut page, mut all) = (page.clone(), Vec::new());
    loop {
        let got = get!(desk, Entries, Request::Log(page.clone()));
        assert_eq!(got.later, page.before.is_some());
        all.splice(0..0, texts(&got.entries));
        if !got.earlier {
            return all;
        }
        page.before = Some(got.entries[0].id.clone());
    }
}

/// From the first entry on.
async fn forwards(desk: &Desk, page: &Log) -> Vec<String> {
    let (mut page, mut all) = (Log { after: Some("t1".into()), ..page.clone() }, vec!["one".to_owned()]);
    loop {
        let got = get!(desk, Entries, Request::Log(page.clone()));
        assert!(got.earlier);
        all.extend(texts(&got.entries));
        if !got.later {
            return all;
        }
        page.after = got.entries.last().map(|entry| entry.id.clone());
    }
}

#[tokio::test]
async fn log_at_an_earlier_head_shows_that_state() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one", "two"]).await;
    let head = desk.info(&id).await.head;
    desk.apply(&id, rewind("t1")).await;
    desk.say(&id, Role::User, "three").await;
    let then = get!(desk, Entries, Request::Log(Log { at: Some(head.clone()), ..log(&id) }));
    assert_eq!((texts(&then.entries), then.head), (vec!["one".to_owned(), "two".into()], head));
}

#[tokio::test]
async fn other_branch_is_read_without_a_checkout() {
    let desk = Desk::new().await;
    let id = talk(&desk).await;
    let tree = get!(desk, Tree, Request::Tree(tree(&id)));
    let (left, here) = (&tree.branches[0], &tree.branches[1]);
    let shared = left.shared.as_ref().expect("both begin alike");
    assert_eq!((left.last.preview.as_str(), shared.preview.as_str()), ("never", "four"));
    assert_eq!((here.onto.as_ref(), here.shared.as_ref()), (Some(&left.leaf), None));
    let before = desk.info(&id).await;
    let branch = Log { branch: Some(left.leaf.clone()), ..log(&id) };
    for limit in SIZES {
        let page = Log { limit: Some(limit), ..branch.clone() };
        assert_eq!(backwards(&desk, &page).await, ["one", "two", "three", "four", "never"], "by {limit}");
    }
    let other = Log { after: Some(shared.id.clone()), ..branch.clone() };
    let other = get!(desk, Entries, Request::Log(other));
    assert_eq!((texts(&other.entries), other.earlier, other.later), (vec!["never".to_owned()], true, false));
    // A prompt of that branch leaves out excluded entries there, too.
    let prompt = Log { projection: Projection::Prompt, ..branch.clone() };
    assert_eq!(texts(&get!(desk, Entries, Request::Log(prompt)).entries), ["one", "three", "four", "never"]);
    assert_eq!(desk.info(&id).await, before, "nothing is changed by reading");
    desk.apply(&id, mark(MarkVerb::Hide, &shared.id)).await;
    let hidden = get!(desk, Entries, Request::Log(branch.clone()));
    assert_eq!(texts(&hidden.entries), ["one", "two", "three", "never"]);
    desk.apply(&id, Action::Erase { entries: vec![left.leaf.clone()], matching: None }).await;
    let erased = get!(desk, Entries, Request::Log(branch));
    assert!(!texts(&erased.entries).contains(&"never".to_owned()), "{:?}", texts(&erased.entries));
}

#[tokio::test]
async fn fork_can_begin_with_another_branch() {
    let desk = Desk::new().await;
    let id = talk(&desk).await;
    let tree = get!(desk, Tree, Request::Tree(tree(&id)));
    let entry = Some(tree.branches[0].leaf.clone());
    let fork = Fork { conversation: id.clone(), entry, title: None, request_id: None };
    let fork = get!(desk, Receipt, Request::Fork(fork)).conversation;
    let page = get!(desk, Entries, Request::Log(log(&fork)));
    assert_eq!(texts(&page.entries), ["one", "two", "three", "four", "never"]);
    let now = get!(desk, Entries, Request::Log(log(&id)));
    assert_eq!(texts(&now.entries), ["one", "two", "three", "four", "five", "seven"], "the parent stays");
}

#[tokio::test]
async fn pages_of_the_list_are_complete() {
    let desk = Desk::new().await;
    let (mut made, even) = (Vec::new(), desk.folder("even"));
    for number in 0..5 {
        made.push(desk.create(Some(&number.to_string()), (number % 2 == 0).then_some(&even)).await);
    }
    // The newest change comes first; within one millisecond, the newer conversation.
    let last = desk.info(&made[4]).await.changed_ms;
    while desk.info(&made[1]).await.changed_ms <= last {
        desk.say(&made[1], Role::User, "again").await;
    }
    let even = Some(even);
    let rows =
        [(None, vec!["1", "4", "3", "2", "0"]), (even, vec!["4", "2", "0"]), (Some("/".into()), vec![])];
    for (folder, expected) in rows {
        for limit in SIZES {
            let (mut before, mut all) = (None, Vec::new());
            loop {
                let list = List { folder: folder.clone(), limit: Some(limit), before, archived: false };
                let page = get!(desk, Conversations, Request::List(list));
                assert!(page.conversations.len() <= limit);
                before = page.conversations.last().map(|last| last.id.clone());
                all.extend(page.conversations.into_iter().filter_map(|conversation| conversation.title));
                if !page.more {
                    break;
                }
            }
            assert_eq!(all, expected, "{folder:?} by {limit}");
        }
    }
}

#[tokio::test]
async fn pages_of_targets_and_operations_are_complete() {
    let desk = Desk::new().await;
    let id = talk(&desk).await;
    desk.apply(&id, label("@", "end")).await;
    for limit in SIZES {
        let (mut before, mut turns) = (None, Vec::new());
        loop {
            let targets = Targets { conversation: id.clone(), limit: Some(limit), before };
            let page = get!(desk, Targets, Request::Targets(targets));
            before = page.targets.last().map(|target| target.entry.clone());
            let targets = page.targets.into_iter();
            turns.extend(targets.map(|target| (target.turn, target.preview, target.takes_back.messages)));
            if !page.more {
                break;
            }
        }
        let expected = [(5, "seven", 1), (3, "five", 2), (2, "three", 4), (1, "one", 6)];
        assert_eq!(turns, expected.map(|(turn, preview, messages)| (turn, preview.to_owned(), messages)));
        let (mut before, mut reasons) = (None, Vec::new());
        loop {
            let ops = Page { conversation: id.clone(), limit: Some(limit), before };
            let page = get!(desk, Operations, Request::Ops(ops));
            before = page.operations.last().map(|op| op.number);
            reasons.extend(page.operations.into_iter().map(|op| op.reason.name()));
            if !page.more {
                break;
            }
        }
        assert_eq!(reasons, ["label", "exclude", "hide", "rewind"], "by {limit}");
    }
}

#[tokio::test]
async fn history_has_each_prompt_once_and_none_that_was_taken_back() {
    let desk = Desk::new().await;
    let [at, beside] = ["here", "there"].map(|name| desk.folder(name));
    let here = desk.create(None, Some(&at)).await;
    for said in ["one", "two", "one", "hidden", "rewound"] {
        desk.say(&here, Role::User, said).await;
    }
    desk.apply(&here, rewind("t5")).await;
    desk.apply(&here, mark(MarkVerb::Hide, "t4")).await;
    desk.say(&here, Role::Assistant, "an answer").await;
    let made_by_a_program = Say { synthetic: true, ..said(&here, Role::User, "a reminder") };
    desk.does(Request::Say(made_by_a_program)).await;
    let there = desk.create(None, Some(&beside)).await;
    desk.say(&there, Role::User, "three").await;
    let folder = || Some(at.clone());
    let rows = [
        (None, None, vec!["three", "one", "two"]),
        (None, Some(2), vec!["three", "one"]),
        (folder(), None, vec!["one", "two"]),
        (folder(), Some(2), vec!["one", "two"]),
    ];
    for (folder, limit, expected) in rows {
        let history = Request::History(History { folder: folder.clone(), limit, before: None });
        assert_eq!(get!(desk, History, history).prompts, expected, "{folder:?} {limit:?}");
    }
}

#[tokio::test]
async fn history_is_paged_over_conversations() {
    let desk = Desk::new().await;
    let (mut all, here) = (Vec::new(), desk.folder("here"));
    for of in 0..25 {
        let id = desk.create(None, Some(&here)).await;
        for number in 0..3 {
            let said = format!("{of}.{number}");
            desk.say(&id, Role::User, &said).await;
            all.push(said);
        }
    }
    all.reverse();
    for limit in [1, 2, 7, 100] {
        let (mut prompts, mut before) = (Vec::new(), None);
        loop {
            let history = History { folder: Some(here.clone()), limit: Some(limit), before };
            let page = get!(desk, History, Request::History(history));
            assert!(page.prompts.len() <= limit);
            prompts.extend(page.prompts);
            before = page.earlier;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(prompts, all, "by {limit}");
    }
    let nowhere = History { before: Some("nowhere".into()), ..History::default() };
    assert_eq!(desk.refused(Request::History(nowhere)).await.code, "bad_place");
}

/// Every list has the same limits, over the socket and in the owner's process, and a refusal names them.
#[tokio::test]
async fn trial_17_a_page_has_from_one_to_a_thousand_things_in_every_list() {
    let desk = Desk::new().await;
    let folder = desk.folder("here");
    let id = desk.create(None, Some(&folder)).await;
    desk.say(&id, Role::User, "words").await;
    let answer = desk.say(&id, Role::Assistant, "an answer").await;
    let lists = |limit: Option<usize>| {
        let conversation = id.clone();
        let page = Page { conversation: conversation.clone(), limit, before: None };
        let typed = Typed { limit, ..Typed::default() };
        [
            Request::List(List { limit, ..List::default() }),
            Request::Log(Log { limit, ..log(&id) }),
            Request::Targets(Targets { conversation: conversation.clone(), limit, before: None }),
            Request::Marked(Marked { conversation: conversation.clone(), limit, before: None }),
            Request::Ops(page.clone()),
            Request::FilesLog(page),
            Request::History(History { limit, ..History::default() }),
            Request::Paths(Paths { conversation, typed: typed.clone() }),
            Request::FolderPaths(FolderPaths { folder: folder.clone(), typed }),
            Request::Search(Search { query: "words".into(), limit, ..Search::default() }),
            Request::Tree(Tree { limit, ..tree(&id) }),
            Request::Alternatives(Alternatives { limit, ..alternatives(&id, &answer) }),
            Request::Jobs(Jobs { conversation: id.clone(), limit, before: None }),
            Request::Workspaces(Workspaces { limit, after: None }),
        ]
    };
    for limit in [0, 1_001, usize::MAX >> 12] {
        for request in lists(Some(limit)) {
            let name = format!("{request:?}");
            let within = desk.owner.call(request.clone()).await.expect_err(&name);
            let over = desk.refused(request).await;
            for told in [within, over] {
                assert_eq!(told.kind, retake_wire::ProblemKind::Usage, "{name}: {told:?}");
                assert!(told.message.contains("from 1 to 1000"), "{name}: {told:?}");
            }
        }
    }
    for request in lists(Some(1_000)).into_iter().chain(lists(Some(1))).chain(lists(None)) {
        assert!(!matches!(desk.does(request).await, Reply::Done));
    }
}

/// Like other lists: a full page may be the last one.
#[tokio::test]
async fn trial_17_targets_say_whether_there_are_more() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one", "two", "three"]).await;
    for (limit, more) in [(Some(1), true), (Some(2), false), (Some(3), false), (None, false)] {
        let targets = Targets { conversation: id.clone(), limit, before: None };
        let page = get!(desk, Targets, Request::Targets(targets));
        assert_eq!(page.more, more, "{limit:?} of {}", page.targets.len());
    }
}

/// A tree is paged as one list: its branches, then the forks.
#[tokio::test]
async fn trial_17_pages_of_a_tree_are_complete() {
    let desk = Desk::new().await;
    let id = talk(&desk).await;
    desk.apply(&id, rewind("t2")).await;
    desk.say(&id, Role::User, "eight").await;
    for _ in 0..3 {
        let fork = Fork { conversation: id.clone(), entry: None, title: None, request_id: None };
        desk.does(Request::Fork(fork)).await;
    }
    let whole = get!(desk, Tree, Request::Tree(tree(&id)));
    assert_eq!((whole.branches.len(), whole.forks.len(), whole.more), (3, 3, false));
    for limit in SIZES {
        let page = |after| Request::Tree(Tree { limit: Some(limit), after, ..tree(&id) });
        let mut all = get!(desk, Tree, page(None));
        while let Some(next) = all.next() {
            let page = get!(desk, Tree, page(Some(next)));
            assert!((1..=limit).contains(&(page.branches.len() + page.forks.len())), "{limit}");
            all = all.with(page);
        }
        assert_eq!(all, whole, "by {limit}");
    }
    let nowhere = Tree { after: Some("nowhere".into()), ..tree(&id) };
    assert_eq!(desk.refused(Request::Tree(nowhere)).await.code, "bad_place");
}

#[tokio::test]
async fn trial_17_pages_of_alternatives_and_folders_are_complete() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one", "two"]).await;
    for answer in ["three", "four"] {
        desk.apply(&id, rewind("@")).await;
        desk.say(&id, Role::Assistant, answer).await;
    }
    let folders = ["a", "b", "c"].map(|name| desk.folder(name));
    for folder in &folders {
        let of = desk.create(None, Some(folder)).await;
        let status = retake_wire::request::ConversationTarget { conversation: of };
        desk.does(Request::FilesStatus(status)).await;
    }
    for limit in SIZES {
        let (mut after, mut answers) = (None, Vec::new());
        loop {
            let page = Alternatives { limit: Some(limit), after, ..alternatives(&id, "t1") };
            let page = get!(desk, Alternatives, Request::Alternatives(page));
            after = page.alternatives.last().map(|it| it.number);
            answers.extend(page.alternatives.into_iter().map(|it| (it.number, it.line.preview)));
            if !page.more {
                break;
            }
        }
        assert_eq!(answers, [(1, "two".to_owned()), (2, "three".into()), (3, "four".into())], "by {limit}");
        let (mut after, mut found) = (None, Vec::new());
        loop {
            let page = Workspaces { limit: Some(limit), after };
            let page = get!(desk, Workspaces, Request::Workspaces(page));
            after = page.workspaces.last().map(|it| it.number);
            found.extend(page.workspaces.into_iter().map(|it| it.folder));
            if !page.more {
                break;
            }
        }
        assert_eq!(found, folders, "by {limit}");
    }
}
