//! Authors of conflicting changes: changes of the conversation's own turn are never taken for another
//! author's.

use retake_core::{Action, Choice, PathPlan, Reason, Verdict};
use retake_engine::FileOptions;

use super::{Yard, choose, own, three};

/// Drops or shows the turn of a call, with its message.
async fn mark(yard: &Yard, verb: Reason, turn: &str, delta: usize) -> Action {
    let call = yard.engine.kept().deltas(yard.id).await.expect("deltas")[delta - 1].1;
    let opener = match verb {
        Reason::Show => {
            let turn = turn.trim_start_matches('t').parse().expect("a number");
            yard.engine.kept().turn_entries(yard.id, turn).await.expect("a turn")[0].0
        }
        _ => yard.engine.entry(yard.id, turn).await.expect("a turn"),
    };
    Action::Mark { verb, entries: vec![opener, call], range: true, seen: None }
}

/// The paths of a plan that are left alone, as reported.
async fn told(yard: &Yard, action: Action) -> Vec<String> {
    let plan = own(yard.plan(action, FileOptions::default()).await);
    let line = |path: &PathPlan| {
        let waits = |_: &&Choice| matches!(path.verdict, Verdict::Conflict(_));
        let outcomes =
            path.choices.iter().filter(waits).filter_map(|choice| Some((choice, path.becomes(choice)?)));
        let outcomes: Vec<_> = outcomes.map(|(choice, it)| format!("{choice:?} {it:?}")).collect();
        format!(
            "{} {:?} {:?}: {}",
            path.path,
            path.verdict,
            path.against.expect("whose"),
            outcomes.join(", ")
        )
    };
    let left = |path: &&PathPlan| matches!(path.verdict, Verdict::Conflict(_) | Verdict::NotEmpty);
    plan.paths.iter().filter(left).map(line).collect()
}

#[tokio::test]
async fn change_of_a_later_turn_belongs_to_that_turn() {
    // Each turn writes the same line of `a`; the first one creates `new`, which the third one changes.
    let yard = Yard::with(&[("a", "0\n")]).await;
    yard.run("echo 1 > a; echo 1 > new; mkdir d; echo 1 > d/x").await;
    yard.run("true").await;
    yard.run("echo 3 > a; echo 3 > new; echo 3 > d/y").await;
    let stays = "Skip Stays(Some(delta 2 of log 1)), Disk Stays(Some(delta 2 of log 1))";
    let drop = mark(&yard, Reason::Drop, "t1", 1).await;
    assert_eq!(
        told(&yard, drop.clone()).await,
        [
            format!("a Conflict(Bytes) Later(delta 2 of log 1): {stays}"),
            "d NotEmpty There(delta 2 of log 1): ".to_owned(),
            format!("new Conflict(Removed) Later(delta 2 of log 1): {stays}"),
        ]
    );
    // Removed by a fourth one: a removed file needs no choice.
    yard.run("rm new").await;
    let left = told(&yard, drop).await;
    assert!(left.len() == 2 && left.iter().all(|line| !line.starts_with("new ")), "{left:?}");
}

#[tokio::test]
async fn shown_message_merges_with_later_changes() {
    let yard = Yard::with(&[]).await;
    yard.run("echo 1 > new").await;
    yard.run("true").await;
    yard.does(mark(&yard, Reason::Drop, "t1", 1).await).await;
    yard.run("echo 3 > new").await;
    assert_eq!(
        told(&yard, mark(&yard, Reason::Show, "t1", 1).await).await,
        [
            "new Conflict(Made) Later(delta 2 of log 1): Skip Stays(Some(delta 2 of log 1)), Disk Stays(Some(delta 2 of log 1))"
        ]
    );
}

#[tokio::test]
async fn shown_message_names_its_missing_base() {
    let yard = three().await;
    yard.does(mark(&yard, Reason::Drop, "t3", 3).await).await;
    yard.does(mark(&yard, Reason::Drop, "t2", 2).await).await;
    let told = told(&yard, mark(&yard, Reason::Show, "t3", 3).await).await;
    let expected = "a Conflict(Bytes) Missing(delta 2 of log 1): Skip Stays(Some(delta 1 of log 1)), \
         Disk Stays(Some(delta 1 of log 1)), Checkpoint Left(delta 3 of log 1)";
    assert_eq!(told, [expected]);
}

#[tokio::test]
async fn a_hand_edit_differs_from_what_another_conversation_did() {
    let yard = three().await;
    yard.write("a", "mine\n");
    let drop = mark(&yard, Reason::Drop, "t1", 1).await;
    let offered = "Skip Stays(None), Disk Stays(None), Checkpoint Left(delta 3 of log 1), Yours Stays(None)";
    assert_eq!(told(&yard, drop.clone()).await, [format!("a Conflict(Bytes) Hand: {offered}")]);
    yard.another().await.run("echo theirs > a").await;
    let told = told(&yard, drop.clone()).await;
    assert!(told[0].starts_with("a Conflict(Bytes) Others: "), "{told:?}");
    // The described outcome of a choice is its real one.
    let path = own(yard.plan(drop.clone(), FileOptions::default()).await).paths.remove(0);
    assert_eq!(format!("{:?}", path.becomes(&Choice::Checkpoint)), "Some(Left(delta 3 of log 1))");
    yard.apply(drop, choose("a", Choice::Checkpoint)).await.expect("done");
    assert_eq!(super::a(&yard), "3\n");
}

#[tokio::test]
async fn a_single_path_that_a_person_has_kept_is_the_persons() {
    let yard = three().await;
    let last = mark(&yard, Reason::Drop, "t3", 3).await;
    yard.apply(last, choose("a", Choice::Disk)).await.expect("done");
    assert_eq!(super::a(&yard), "3\n");
    // The line is as the third turn left it. Its other files went with it, and it is not adopted as a whole.
    let offered = "Skip Stays(None), Disk Stays(None), Checkpoint Left(delta 2 of log 1)";
    let first = told(&yard, mark(&yard, Reason::Drop, "t1", 1).await).await;
    assert_eq!(first, [format!("a Conflict(Bytes) Hand: {offered}")]);
    // Undo returns it to the turn.
    yard.does(Action::Undo(1)).await;
    let first = told(&yard, mark(&yard, Reason::Drop, "t1", 1).await).await;
    assert!(first[0].starts_with("a Conflict(Bytes) Later(delta 2 of log 1): "), "{first:?}");
}
