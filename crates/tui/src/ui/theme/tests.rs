//! Themes: built-in ones, own ones, and the errors in them.

use std::path::Path;

use ratatui::style::Color;

use super::*;

fn added(text: &str) -> (Themes, Vec<String>) {
    let mut themes = Themes::default();
    let wrong = themes.add(Path::new("themes/mine.toml"), text);
    (themes, wrong)
}

fn mine(themes: &Themes, colours: Colours) -> Theme {
    let chosen = themes.choose("mine").expect("it is there");
    Theme { colours, background: Background::Dark, chosen }
}

/// All looks, in a few words each.
fn told(theme: Theme) -> String {
    let told = |it: &PaintRow| {
        let style = theme.style(it.paint);
        let front = style.fg.map_or("-".to_owned(), |colour| colour.to_string());
        let back = style.bg.map_or(String::new(), |colour| format!(" on {colour}"));
        format!("{:<10}{front}{back} {:?}\n", it.name, style.add_modifier)
    };
    PAINTS.iter().map(told).collect()
}

#[test]
fn every_theme_in_full_and_in_sixteen() {
    let mut all = String::new();
    for paints in Themes::default().iter() {
        for colours in [Colours::True, Colours::Sixteen] {
            let theme = Theme { colours, background: Background::Dark, chosen: Some(paints) };
            all.push_str(&format!("══ {}: {}, {colours:?}\n{}", paints.name(), paints.about(), told(theme)));
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn without_a_choice_the_theme_fits_the_terminal() {
    let themes = Themes::default();
    for (colours, background, name) in [
        (Colours::Sixteen, Background::Dark, "terminal"),
        (Colours::Sixteen, Background::Light, "terminal"),
        (Colours::True, Background::Dark, "dark"),
        (Colours::True, Background::Light, "light"),
    ] {
        let usual = Theme::usual(colours, background);
        let chosen = themes.choose(name).expect("it is there");
        assert_eq!(told(usual), told(Theme { chosen, ..usual }), "{name}");
    }
    assert_eq!(themes.choose("auto"), Ok(None));
}

#[test]
fn no_theme_has_a_colour_where_there_are_none() {
    let (themes, _) = added("plain = \"red on blue\"");
    let none = told(Theme::usual(Colours::None, Background::Dark));
    assert_eq!(told(mine(&themes, Colours::None)), none);
    assert!(!none.contains(['#', '0']), "{none}");
}

/// The lightness of a colour as people perceive it, from 0 to 1.
fn light(colour: Color) -> f64 {
    let Color::Rgb(red, green, blue) = colour else { panic!("{colour} is none of sixteen million") };
    let part = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue)
}

#[test]
fn built_in_themes_can_be_parsed() {
    for (name, backgrounds) in [
        ("dark", [0x0000_0000, 0x001e_1e2e]),
        ("ember", [0x0000_0000, 0x0028_2320]),
        ("light", [0x00ff_ffff, 0x00fa_fafa]),
        ("paper", [0x00ff_ffff, 0x00fd_f6e3]),
    ] {
        let chosen = Themes::default().choose(name).expect("it is there");
        let theme = Theme { colours: Colours::True, background: Background::Dark, chosen };
        let selected = theme.style(Paint::Selected).bg.expect("a background");
        let behind = backgrounds.map(|number| (Color::from_u32(number), 4.5));
        for (behind, enough) in behind.into_iter().chain([(selected, 3.5)]) {
            for it in PAINTS {
                let Some(front) = theme.style(it.paint).fg else { continue };
                let faint = theme.style(it.paint).add_modifier.contains(Modifier::DIM);
                assert!(!faint, "{name}: {} is faint besides its colour", it.name);
                let (most, least) = (light(front).max(light(behind)), light(front).min(light(behind)));
                let contrast = (most + 0.05) / (least + 0.05);
                assert!(contrast >= enough, "{name}: {} on {behind} has only {contrast:.2}", it.name);
            }
        }
    }
}

#[test]
fn a_theme_of_a_person_changes_what_it_names() {
    let (themes, wrong) =
        added("# like mine\nbase = \"dark\"\naccent = \"bold #ff8800\"\nstring = \"bright-cyan\"\n");
    assert_eq!(wrong, Vec::<String>::new());
    let theme = mine(&themes, Colours::True);
    assert_eq!(theme.chosen.map(Paints::about), Some("like mine"));
    assert_eq!(theme.style(Paint::Accent).fg, Some(Color::Rgb(0xff, 0x88, 0)));
    assert!(theme.style(Paint::Accent).add_modifier.contains(Modifier::BOLD));
    assert_eq!(theme.style(Paint::Text).fg, Some(Color::LightCyan));
    let dark = Theme::usual(Colours::True, Background::Dark);
    assert_eq!(theme.style(Paint::User), dark.style(Paint::User));
    // Without a base, paints that are not named look like plain text.
    let (themes, _) = added("accent = \"red\"");
    assert_eq!(mine(&themes, Colours::True).style(Paint::User).fg, None);
}

#[test]
fn error_in_a_theme_names_its_line() {
    let allowed = "allowed are base, plain, dim, bold, italic, struck, accent, heading, link, code, quote, good, warn, error, \
                   user, model, tool, added, removed, selected, match, border, bar, keyword, string, number, comment, \
                   function, type";
    let colours = "allowed are #rrggbb, default, black, red, green, yellow, blue, magenta, cyan, white, each also as \
                   bright-red, and before them bold, dim, italic, underlined, struck, reversed";
    for (text, expected) in [
        ("\nacent = \"red\"", format!("line 2: nothing is called “acent”: {allowed}")),
        ("accent = \"pink\"", format!("line 1: accent: “pink” is not a colour: {colours}")),
        ("\n\naccent = 3", "line 3: accent: a look is a text in quotes, such as \"bold #56d4dd\"".to_owned()),
        (
            "base = \"mine\"",
            "line 1: “mine” can't be a base: allowed are terminal, dark, light, ember, paper".to_owned(),
        ),
    ] {
        let (themes, wrong) = added(&format!("{text}\ngood = \"blue\"\n"));
        assert_eq!(wrong, [format!("themes/mine.toml, {expected}")], "{text}");
        // The valid part counts.
        assert_eq!(mine(&themes, Colours::Sixteen).style(Paint::Good).fg, Some(Color::Blue), "{text}");
    }
    let (themes, wrong) = added("\naccent = red\n");
    assert!(wrong.len() == 1 && wrong[0].starts_with("themes/mine.toml, line 2: "), "{wrong:?}");
    assert!(
        themes.choose("mine").is_err_and(|why| why.starts_with("there is no theme “mine”: there are auto, "))
    );
    let wrong = Themes::default().add(Path::new("themes/dark.toml"), "");
    assert_eq!(wrong, ["themes/dark.toml: dark is a theme of retake; give the file another name"]);
}

#[test]
fn the_page_of_themes_names_all_that_can_be_set() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/themes.md"))
        .expect("a page");
    for it in PAINTS {
        let row = format!("| `{}` | {} |\n", it.name, it.about.trim_end_matches('.'));
        assert!(page.contains(&row), "docs/themes.md lacks {row}");
    }
    for paints in Themes::default().iter() {
        let row = format!("| `{}` | {} |\n", paints.name(), paints.about());
        assert!(page.contains(&row), "docs/themes.md lacks {row}");
    }
    // The example in it is a theme.
    let (_, example) = page.split_once("```toml\n").expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    assert_eq!(added(example).1, Vec::<String>::new());
}
