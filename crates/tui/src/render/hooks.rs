//! Hooks. Must never show a text of a folder's file unescaped, nor leave out what an approval lets a hook do.

use retake_wire::{Hook, HookOrigin, HookState, Hooks, english};

use super::table::{cell, table};
use crate::hint::Audience;
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe};

/// Hooks, their state, and what those do that wait for an approval.
pub fn hooks(look: &Look, it: &Hooks) -> Text {
    let mut text = Text::new();
    if it.hooks.is_empty() {
        text.push("no hooks\n");
    }
    let rows: Vec<_> = it
        .hooks
        .iter()
        .map(|hook| {
            let (state, style) = state(hook.state);
            let own = if hook.origin == HookOrigin::Folder { "this folder's" } else { "" };
            let to = hook.command.as_ref().or(hook.address.as_ref()).map_or("", String::as_str);
            vec![
                cell(safe::line(&hook.name)),
                cell(state).style(style),
                cell(own),
                cell(safe::line(&hook.events.join(", "))).style(Style::Dim),
                cell(safe::line(to)),
            ]
        })
        .collect();
    text.push(table(look, &rows));
    let warn = |line: &str| text![(Style::Warn, "!"), " ", safe::line(line).into_owned(), "\n"];
    for hook in &it.hooks {
        let name = &hook.name;
        if let Some(problem) = &hook.problem {
            text.push(warn(&format!("{name}: {}", english::problem_with_causes(problem))));
        }
        match hook.state {
            HookState::NeedsApproval | HookState::Changed => {
                does(hook).iter().for_each(|part| text.push(warn(&format!("{name}: {part}"))));
                text.push(warn(&format!(
                    "{name}: this folder brings it; `retake hooks approve {name}` lets it get events"
                )));
            }
            HookState::Missing => {
                text.push(warn(&format!(
                    "{name}: its events wait; `retake hooks revoke {name}` gives it up"
                )));
            }
            HookState::Set | HookState::Incomplete | HookState::Unknown => {}
        }
    }
    for problem in &it.file_problems {
        text.push(warn(&Audience::Shell.problem(problem)));
    }
    text
}

fn state(state: HookState) -> (&'static str, Style) {
    match state {
        HookState::Set => ("set", Style::Good),
        HookState::NeedsApproval => ("needs approval", Style::Warn),
        HookState::Changed => ("changed since its approval", Style::Warn),
        HookState::Missing => ("no longer in its file", Style::Warn),
        HookState::Incomplete => ("not complete", Style::Error),
        HookState::Unknown => ("unknown", Style::Dim),
    }
}

/// What an approval lets a hook do, completely.
fn does(hook: &Hook) -> Vec<String> {
    let of_texts = match hook.texts {
        true => "with the texts of messages and results of tools",
        false => "without texts of messages",
    };
    let events = format!("it gets these events, {of_texts}: {}", hook.events.join(", "));
    let to = match (&hook.command, &hook.address) {
        (Some(command), _) => format!("it runs {command}"),
        (None, address) => format!("it sends them to {}", address.as_deref().unwrap_or_default()),
    };
    let variable = hook.variable.iter().map(|name| format!("your variable {name} signs its requests"));
    let network = hook.network.then(|| "its command reaches the network".to_owned());
    let write = hook.write.iter().map(|folder| format!("its command may write in {folder}"));
    let times =
        format!("an event may take {} s, and is tried again for {} s", hook.timeout_s, hook.keep_trying_s);
    [events, to].into_iter().chain(variable).chain(network).chain(write).chain([times]).collect()
}
