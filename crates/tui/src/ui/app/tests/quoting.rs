//! A message quoted in the composer: its text goes after what is written, and nothing is sent.

use super::*;

#[test]
fn a_selected_message_is_quoted_behind_the_draft() {
    let mut app = talking(Theme::default());
    app.tab_mut().composer.paste("you said");
    drop(press(&mut app, "alt+up", NOW_MS));
    let acts = press(&mut app, ">", NOW_MS + LATER);
    assert!(acts.iter().all(|act| !matches!(act, Act::Run(..))), "{acts:?}");
    assert_eq!(app.tab().composer.text(), "you said\n\n> The same.\n\n");
    drop(press(&mut app, "a", NOW_MS + 2 * LATER));
    assert!(app.tab().composer.text().ends_with("\n\na"), "the composer has the keys again");
}

#[test]
fn quote_from_a_pane_is_shown_in_the_conversation() {
    let mut app = talking(Theme::default());
    drop(press(&mut app, "alt+t", NOW_MS));
    assert_eq!(app.context(), Context::Tree);
    app.want(TabId(1), PaneInstruction::Quote("It is the cache.".to_owned()));
    assert_eq!(app.context(), Context::Talk, "the composer has the keys");
    assert_eq!(app.tab().composer.text(), "> It is the cache.\n\n");
}
