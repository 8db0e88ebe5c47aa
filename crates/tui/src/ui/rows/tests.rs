//! Tests of the list. They must not need a pane.

use super::*;
use crate::ui::keymap::Keymap;
use crate::ui::testing::{THEMES, brush, screen, styled};

#[derive(Debug, Clone)]
struct Fruit(&'static str, &'static str, Option<&'static str>);

impl Row for Fruit {
    fn key(&self) -> &str {
        self.0
    }
    fn fields(&self) -> Vec<String> {
        vec![self.0.to_owned(), self.1.to_owned()]
    }
    fn why_not(&self) -> Option<&str> {
        self.2
    }
    fn filtering(&self) -> Filtering {
        match self.1 {
            "heading" => Filtering::Heading,
            "always" => Filtering::Always,
            _ => Filtering::Filtered,
        }
    }
}

fn fruits() -> Vec<Fruit> {
    vec![
        Fruit("apple", "red", None),
        Fruit("pear", "green", None),
        Fruit("りんご 🍎", "wide", None),
        Fruit("תפוח", "right to left", None),
        Fruit("durian", "smells", Some("not in this house")),
        Fruit("\x1b[2Jgrape", "hostile\nlines", None),
        Fruit("pineapple", "yellow", None),
    ]
}

fn rows(order: Order) -> Rows<Fruit> {
    let mut rows = Rows::new(order);
    rows.set(fruits());
    rows
}

fn paint(rows: &mut Rows<Fruit>, frame: &mut Frame<'_>, theme: crate::ui::theme::Theme) {
    let keys = Keymap::default();
    rows.draw(frame, frame.area(), &brush(theme, &keys), "there is no fruit", |_, ink| {
        let room = ink.room().saturating_sub(14);
        ink.field_column(0, room, Paint::Plain);
        ink.space(2);
        ink.field(1, 12, Paint::Dim);
    });
}

fn shown(rows: &mut Rows<Fruit>, width: u16, height: u16) -> String {
    screen(width, height, |frame| paint(rows, frame, THEMES[0]))
}

fn key(rows: &Rows<Fruit>) -> &str {
    rows.selected().map_or("", |fruit| fruit.0)
}

#[test]
fn a_list_shows_what_is_in_sight() {
    let mut list = rows(Order::Kept);
    insta::assert_snapshot!(shown(&mut list, 40, 9));
    insta::assert_snapshot!(shown(&mut list, 20, 4));
    insta::assert_snapshot!(shown(&mut Rows::new(Order::Kept), 40, 4));
}

#[test]
fn matches_are_marked_in_every_theme() {
    for theme in THEMES {
        let mut list = rows(Order::Best);
        list.typed("app");
        insta::assert_snapshot!(styled(40, 5, |frame| paint(&mut list, frame, theme)));
    }
}

#[test]
fn a_filter_without_hits_says_how_to_leave_it() {
    let mut list = rows(Order::Kept);
    list.typed("zzz\x1b");
    assert_eq!((list.fitting(), list.len(), list.filter()), (0, 7, "zzz"));
    assert!(list.picked().is_none());
    insta::assert_snapshot!(shown(&mut list, 40, 4));
}

#[test]
fn letters_narrow_and_come_back() {
    let mut list = rows(Order::Kept);
    list.select("pear");
    assert_eq!(list.typed("p"), InputEffect::Filtered);
    assert_eq!(key(&list), "pear", "what is selected stays, as long as it fits");
    list.typed("ine");
    assert_eq!((key(&list), list.fitting()), ("pineapple", 1));
    assert_eq!(list.command(Command::Erase), InputEffect::Filtered);
    assert_eq!(list.filter(), "pin");
    assert_eq!(list.command(Command::EraseAll), InputEffect::Filtered);
    assert_eq!((key(&list), list.fitting()), ("pineapple", 7));
    assert_eq!(list.command(Command::Erase), InputEffect::Nothing);
    assert_eq!(list.command(Command::EraseAll), InputEffect::Nothing);
}

#[test]
fn best_match_is_first_if_requested() {
    let mut list = rows(Order::Best);
    list.typed("apple");
    assert_eq!(key(&list), "apple");
    list.command(Command::Down);
    assert_eq!(key(&list), "pineapple");
    list.typed(" yellow");
    assert_eq!((key(&list), list.fitting()), ("pineapple", 1));
}

#[test]
fn scattered_letters_do_not_fit() {
    let mut list: Rows<Fruit> = Rows::new(Order::Kept);
    list.set([Fruit("what can never be found with clarity", "", None), Fruit("abc", "", None)]);
    list.typed("abc");
    assert_eq!((key(&list), list.fitting()), ("abc", 1));
}

#[test]
fn keys_move_as_far_as_there_are_rows() {
    let mut list = rows(Order::Kept);
    let _ = shown(&mut list, 40, 4);
    for (command, expected) in [
        (Command::Up, "apple"),
        (Command::Down, "pear"),
        (Command::PageDown, "תפוח"),
        (Command::PageUp, "pear"),
        (Command::Last, "pineapple"),
        (Command::Down, "pineapple"),
        (Command::First, "apple"),
    ] {
        list.command(command);
        assert_eq!(key(&list), expected, "{command:?}");
    }
}

#[test]
fn disabled_row_says_why() {
    let mut list = rows(Order::Kept);
    list.select("durian");
    assert_eq!(list.picked().map(|picked| picked.map(|fruit| fruit.0)), Some(Err("not in this house")));
}

#[test]
fn headings_cannot_be_selected() {
    let mut list: Rows<Fruit> = Rows::new(Order::Best);
    list.set([
        Fruit("a heading", "heading", None),
        Fruit("one", "", None),
        Fruit("said", "heading", None),
        Fruit("hit", "always", None),
    ]);
    assert_eq!(key(&list), "one");
    list.command(Command::Down);
    assert_eq!(key(&list), "hit");
    list.command(Command::First);
    assert_eq!(key(&list), "one");
    list.typed("zz");
    assert_eq!(key(&list), "hit");
}

#[test]
fn a_click_selects_and_a_second_one_takes() {
    let mut list = rows(Order::Kept);
    let _ = shown(&mut list, 40, 9);
    assert_eq!(list.clicked((3, 2).into()), InputEffect::Moved);
    assert_eq!(key(&list), "pear");
    assert_eq!(list.clicked((3, 2).into()), InputEffect::Taken);
    assert_eq!(list.clicked((3, 0).into()), InputEffect::Nothing, "the filter is no row");
    assert_eq!(list.clicked((3, 8).into()), InputEffect::Nothing, "nothing is there");
    assert_eq!(list.clicked((39, 40).into()), InputEffect::Nothing, "that is outside");
}

#[test]
fn another_list_keeps_what_is_selected() {
    let mut list = rows(Order::Kept);
    list.select("grape");
    list.select("pear");
    let mut others = fruits();
    others.remove(0);
    list.set(others);
    assert_eq!(key(&list), "pear");
    list.set(fruits().into_iter().filter(|fruit| fruit.0 != "pear"));
    assert_eq!(key(&list), "apple", "what stands in its place");
    list.extend([Fruit("fig", "", None)]);
    assert_eq!((key(&list), list.len()), ("apple", 7));
}

/// A row that counts how often it is drawn.
#[derive(Debug)]
struct Numbered(String);

impl Row for Numbered {
    fn key(&self) -> &str {
        &self.0
    }
    fn fields(&self) -> Vec<String> {
        vec![self.0.clone()]
    }
}

#[test]
fn only_visible_rows_are_drawn() {
    let mut list = Rows::new(Order::Kept);
    list.set((0..50_000).map(|number| Numbered(format!("row number {number}"))));
    list.command(Command::Last);
    let drawn = std::cell::Cell::new(0);
    let keys = Keymap::default();
    let _ = screen(40, 20, |frame| {
        list.draw(frame, frame.area(), &brush(THEMES[0], &keys), "", |_, ink| {
            drawn.set(drawn.get() + 1);
            ink.field(0, 30, Paint::Plain);
        });
    });
    assert_eq!(drawn.get(), 19);
    let capacity = list.shown.capacity();
    list.typed("9");
    list.typed("9");
    list.command(Command::EraseAll);
    assert_eq!((list.shown.capacity(), list.fitting()), (capacity, 50_000));
}

/// The rows before the new ones are not matched again, so the result must equal that of a list that never changed.
#[test]
fn rows_join_while_something_is_typed() {
    let (mut joined, mut whole) = (rows(Order::Best), rows(Order::Best));
    joined.set(fruits().into_iter().take(2));
    joined.typed("app");
    joined.extend(fruits().into_iter().skip(2));
    whole.typed("app");
    assert_eq!((&joined.shown, joined.counts), (&whole.shown, whole.counts));
    joined.splice(0..1, [Fruit("fig", "", None)]);
    assert_eq!((key(&joined), joined.fitting(), joined.len()), ("pineapple", 1, 7));
}

#[test]
fn without_a_filter_the_selection_stays() {
    let mut list = rows(Order::Best);
    list.typed("pear");
    list.command(Command::EraseAll);
    assert_eq!(key(&list), "pear");
}

#[test]
fn typing_finds_the_same_as_a_new_search() {
    let row =
        |number: usize| Numbered(format!("turn {number} does {}", ["this", "that", "nothing"][number % 3]));
    let list = || {
        let mut list = Rows::new(Order::Best);
        list.set((0..500).map(row));
        list
    };
    let (mut typed, mut whole) = (list(), list());
    for letter in "tu 7 this".chars() {
        typed.typed(&letter.to_string());
    }
    whole.typed("tu 7 this");
    assert_eq!(typed.shown, whole.shown);
    assert!(typed.fitting() > 0);
}

/// Marks count visible letters.
#[test]
fn letters_are_marked_in_any_script() {
    let mut list: Rows<Fruit> = Rows::new(Order::Best);
    list.set([Fruit("\x1b]0;x\x07 漢字 👩‍👩‍👧 héllo\nthere", "", None)]);
    list.typed("字h");
    let drawn = shown(&mut list, 60, 3);
    assert!(drawn.contains("␛]0;x␇ 漢字 👩‍👩‍👧 héllo⏎there"), "{drawn}");
    assert_eq!(list.marks, [8, 12]);
}

proptest::proptest! {
    #[test]
    fn no_filter_and_no_size_breaks_it(filter in ".{0,6}", width in 1_u16..30, height in 1_u16..8, down in 0_usize..9) {
        let mut list = rows(Order::Best);
        list.typed(&filter);
        (0..down).for_each(|_| { list.command(Command::Down); });
        let shown = shown(&mut list, width, height);
        proptest::prop_assert!(!shown.contains('\x1b'));
        proptest::prop_assert!(list.fitting() <= 7);
    }

    #[test]
    fn narrowing_is_filtering(first in "[a-z ]{1,3}", more in "[a-z ]{1,3}") {
        let (mut narrowed, mut filtered) = (rows(Order::Best), rows(Order::Best));
        narrowed.typed(&first);
        narrowed.typed(&more);
        filtered.typed(&format!("{first}{more}"));
        proptest::prop_assert_eq!(&narrowed.shown, &filtered.shown);
    }
}
