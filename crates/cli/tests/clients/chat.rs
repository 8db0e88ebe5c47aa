//! The line client: turns, rewind, undo, edit, and Ctrl-C.

use insta::assert_snapshot;
use retake_wire::reply::{Composer, Conversations, Plan};
use retake_wire::{ModelFailure, NoticeCause, Outcome, Part, Reply, RunEvent, RunNotice};

use super::fixtures::{self, ended, overloaded, plan, stale, started, targets};
use super::scripted::Act::{Answer, Enter, Escape, Line, Pick};
use super::scripted::Case;

#[test]
fn a_session_without_a_message_stores_nothing() {
    assert_snapshot!(Case::terminal([Line(""), Line("/undo"), Line("/quit")]).see(&[]));
}

#[test]
fn a_folder_that_is_never_captured_is_named_at_the_start() {
    let fields = [("path", "/home/ada"), ("detail", "it is the home folder, or holds it")];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.into()));
    let why = NoticeCause { code: "no_workspace".into(), fields: fields.into(), ..NoticeCause::default() };
    let listed = Conversations { never_captured: Some(why), ..Conversations::default() };
    let case = Case::terminal([Line("/quit")]).reply("list", Ok(Reply::Conversations(listed)));
    assert_snapshot!(case.see(&[]));
}

#[test]
fn a_turn() {
    let acts = [Line("hello"), Line("//slash"), Line("/quit")];
    assert_snapshot!(Case::terminal(acts).see(&["--model", "demo/echo"]));
}

#[test]
fn a_turn_in_colours() {
    assert_snapshot!(Case::terminal([Line("hello")]).coloured().see(&[]));
}

#[test]
fn the_last_conversation_is_continued() {
    assert_snapshot!(Case::terminal([Line("more")]).see(&["-c"]));
}

#[test]
fn a_picked_or_named_conversation_is_continued() {
    let seen = [
        Case::terminal([Pick(1)]).see(&["-r"]),
        Case::terminal([Escape]).see(&["-r"]),
        Case::terminal([]).see(&["-r", "0199a000-0000"]),
    ];
    assert_snapshot!(seen.join("\n"));
}

#[test]
fn rewind_picks_plans_asks_and_gives_the_words_back() {
    let acts = [Line("/rewind"), Pick(1), Answer(true), Enter, Line("/undo 2")];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn rewind_to_a_named_turn_and_a_no() {
    let acts = [Line("/rewind t1"), Answer(false), Line("/rewind"), Escape];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn a_rewind_stops_a_run_and_an_edit_is_refused_while_it_runs() {
    let mut page = targets();
    for target in &mut page.targets {
        target.at_work = true;
    }
    let acts = [Line("/edit"), Escape, Line("/rewind"), Pick(1), Answer(true), Line("/quit")];
    let at_work = Plan { at_work: true, ..plan() };
    let case = Case::terminal(acts)
        .reply("targets", Ok(Reply::Targets(page.clone())))
        .reply("targets", Ok(Reply::Targets(page)))
        .reply("plan", Ok(Reply::Plan(at_work.clone())))
        .reply("plan", Ok(Reply::Plan(at_work)));
    assert_snapshot!(case.see(&["-c"]));
}

#[test]
fn a_stale_rewind_shows_the_new_plan() {
    let acts = [Line("/rewind"), Pick(0), Answer(true), Pick(1), Answer(true), Line("/quit")];
    let later = Plan { head: "13.8".to_owned(), ..plan() };
    // The preview and the plan of the first attempt, the preview of the second, and the matching
    // plan.
    let case = Case::terminal(acts)
        .reply("plan", Ok(Reply::Plan(plan())))
        .reply("plan", Ok(Reply::Plan(plan())))
        .reply("plan", Ok(Reply::Plan(later.clone())))
        .reply("plan", Ok(Reply::Plan(later)))
        .reply("apply", Err(stale()));
    assert_snapshot!(case.see(&["-c"]));
}

#[test]
fn edit_replaces_the_old_message() {
    let acts = [Line("/edit t1"), Line("What is in the other notes?")];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn edit_is_left_with_an_empty_line() {
    let acts = [Line("/edit"), Pick(1), Line(""), Line("/edit t1"), Line("/detach"), Enter];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn edit_of_an_answer_is_refused() {
    let without = Plan { composer: None, ..plan() };
    let case = Case::terminal([Line("/edit @")]).reply("plan", Ok(Reply::Plan(without)));
    assert_snapshot!(case.see(&["-c"]));
}

#[test]
fn a_stale_edit_keeps_the_words_and_the_edit() {
    let acts = [Line("/edit t1"), Line("other words"), Enter];
    assert_snapshot!(Case::terminal(acts).run(Err(stale())).see(&["-c"]));
}

#[test]
fn stopped_before_any_answer() {
    let events = vec![started(), ended(Outcome::RolledBack, None)];
    let case = Case::terminal([Line("hello"), Line("/quit")]);
    assert_snapshot!(case.run(Ok(events)).interrupted("> hello").see(&[]));
}

#[test]
fn stopped_in_the_middle() {
    let text = RunEvent::Text { text: "Half an".to_owned() };
    let events = vec![started(), text, ended(Outcome::Interrupted, None)];
    let case = Case::terminal([Line("hello")]);
    assert_snapshot!(case.run(Ok(events)).interrupted("Half").see(&[]));
}

#[test]
fn a_failing_model_loses_no_message() {
    let notice = RunEvent::Notice {
        notice: RunNotice::Retry { in_ms: 2_000, failure: ModelFailure::Overloaded, detail: None },
        text: String::new(),
    };
    let events = vec![started(), notice, ended(Outcome::Failed, Some(overloaded()))];
    let case = Case::terminal([Line("hello"), Line("/retry")]);
    assert_snapshot!(case.run(Ok(events)).see(&[]));
}

#[test]
fn a_run_that_does_not_start_returns_the_message_to_the_composer() {
    let case = Case::terminal([Line("//hello"), Enter]).run(Err(stale()));
    assert_snapshot!(case.see(&["-c"]));
}

#[test]
fn returned_text_is_only_shown_in_the_line() {
    let composer = Composer {
        entry: fixtures::id(5),
        text: fixtures::HOSTILE.to_owned(),
        parts: vec![Part::text(fixtures::HOSTILE)],
    };
    let receipt = retake_wire::reply::Receipt { composer: Some(composer), ..fixtures::receipt() };
    let case = Case::terminal([Line("/undo"), Line("/quit")]);
    let case = case.reply("apply", Ok(Reply::Receipt(receipt)));
    assert_snapshot!(case.see(&["-c"]));
}
