//! `retake man`: the manual page, one for all verbs, made from the same table as the help.

use std::io;

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;

use super::RunVerb;
use crate::args::{Cli, EXIT_CODES, examples};
use crate::context::{Context, document};
use crate::error::Result;

/// Print the manual page
#[derive(Debug, Args)]
pub(crate) struct Man {}

const FILES: &[(&str, &str)] = &[
    (
        "~/.local/share/retake/",
        "The data directory. $XDG_DATA_HOME, RETAKE_DATA_DIR or --data-dir name another one.",
    ),
    (
        "~/.config/retake/config.toml",
        "The settings file. $XDG_CONFIG_HOME, RETAKE_CONFIG or --config name another one; `retake config` explains every setting.",
    ),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("RETAKE_DATA_DIR", "The data directory."),
    ("RETAKE_CONFIG", "The settings file. It must exist, as must the file of --config."),
    (
        "XDG_DATA_HOME, XDG_CONFIG_HOME",
        "The folders of data and settings, if the two variables above are not set.",
    ),
    ("NO_COLOR", "If set and not empty, retake uses no colours."),
    ("PAGER", "The pager for long output; no pager if empty, less if not set."),
];

impl RunVerb for Man {
    const EXAMPLES: &'static [&'static str] = &["retake man > ~/.local/share/man/man1/retake.1"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let page = page()?;
        if cx.json {
            return cx.print(&document(&serde_json::json!({ "man": page })));
        }
        cx.print(&page)
    }
}

fn page() -> io::Result<String> {
    let command = Cli::command();
    let mut roff = Vec::new();
    // The exit codes have a section of their own here.
    let main = Page::new(command.clone().after_long_help(None::<&str>));
    main.render_title(&mut roff)?;
    main.render_name_section(&mut roff)?;
    main.render_synopsis_section(&mut roff)?;
    main.render_description_section(&mut roff)?;
    main.render_options_section(&mut roff)?;
    let mut text = without_preambles(&String::from_utf8_lossy(&roff));
    text.insert_str(0, PREAMBLE);
    text.push_str(".SH VERBS\n");
    for verb in command.get_subcommands() {
        text.push_str(&section(verb, "retake")?);
    }
    let codes: Vec<(String, &str)> =
        EXIT_CODES.iter().map(|(code, meaning)| (code.to_string(), *meaning)).collect();
    let codes: Vec<(&str, &str)> = codes.iter().map(|(code, it)| (code.as_str(), *it)).collect();
    for (title, rows) in [("EXIT STATUS", codes.as_slice()), ("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)] {
        text.push_str(&format!(".SH {title}\n"));
        for (term, meaning) in rows {
            text.push_str(&format!(".TP\n\\fB{}\\fR\n{}\n", escaped(term), escaped(meaning)));
        }
    }
    Ok(text)
}

/// The section of a verb and its subcommands.
fn section(verb: &Command, above: &str) -> io::Result<String> {
    let name = format!("{above} {}", verb.get_name());
    let page = Page::new(verb.clone().bin_name(name.clone()));
    let mut roff = Vec::new();
    page.render_synopsis_section(&mut roff)?;
    page.render_description_section(&mut roff)?;
    if verb.get_arguments().next().is_some() {
        page.render_options_section(&mut roff)?;
    }
    // Headings become paragraphs: they would be mixed with those of the whole page.
    let mut text: String = without_preambles(&String::from_utf8_lossy(&roff))
        .lines()
        .map(|line| match line {
            ".SH SYNOPSIS" => format!(".SS {}\n", escaped(&name)),
            line if line.starts_with(".SH") => ".PP\n".to_owned(),
            line => format!("{line}\n"),
        })
        .collect();
    if verb.get_subcommands().next().is_none() {
        text.push_str(".PP\nFor example:\n");
        let typed = name.strip_prefix("retake ").unwrap_or(&name);
        for line in examples::of(typed) {
            text.push_str(&format!(".br\n.B {}\n", escaped(line).replace('"', "\\(dq")));
        }
    }
    for below in verb.get_subcommands() {
        text.push_str(&section(below, &name)?);
    }
    Ok(text)
}

/// Defines the apostrophe once; every section would define it again.
const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

fn without_preambles(roff: &str) -> String {
    let is_preamble = |line: &&str| line.starts_with(".ie ") || line.starts_with(".el ");
    let lines = roff.lines().filter(|line| !is_preamble(line));
    lines.map(|line| format!("{line}\n")).collect()
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}
