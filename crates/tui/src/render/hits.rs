//! Hits of a search, with what matched and what stands around it. Must never trust the byte ranges of a match.

use retake_wire::reply::Line;
use retake_wire::{Hit, Hits};

use super::id::{self, Ids};
use super::{entries, words};
use crate::text::Look;
use crate::text::style::{Palette, Style};
use crate::text::{safe, width};

/// The hits, in the order asked for.
pub fn hits(look: &Look, hits: &Hits) -> String {
    let mut text = String::new();
    if hits.understood.as_deref().is_some_and(|words| words.trim().is_empty()) {
        return entries::dim(look, "there is no word in it to search for");
    }
    if let Some(understood) = &hits.understood {
        let line = format!("searched for: {}", safe::line(understood));
        text.push_str(&entries::dim(look, &line));
    }
    if hits.hits.is_empty() {
        text.push_str(&entries::dim(look, "nothing found"));
        return text;
    }
    let ids: Ids = hits.hits.iter().map(|hit| hit.line.id.as_str()).collect();
    let shown: Vec<String> = hits.hits.iter().map(|hit| one(look, hit, &ids)).collect();
    text.push_str(&shown.join("\n"));
    if hits.more {
        text.push('\n');
        text.push_str(&entries::dim(look, "… there are more hits"));
    }
    text
}

fn one(look: &Look, hit: &Hit, ids: &Ids<'_>) -> String {
    let (speaker, style) = words::said_by(&hit.line);
    let standing = hit.standing.as_deref().map(|standing| {
        let standing = format!(" [{}]", safe::line(standing));
        look.palette.paint(Style::Warn, standing).to_string()
    });
    let (when, title) = (words::when(look, hit.line.time_ms), words::quoted(&hit.title, 40));
    let conversation = id::short(&hit.conversation);
    let about = match look.ids {
        true => format!("{when} · {} · in {conversation}{title}", ids.short(&hit.line.id)),
        false if title.is_empty() => format!("{when} · in {conversation}"),
        false => format!("{when} · in{title}"),
    };
    let mut text = format!(
        "{} {}{}\n",
        look.palette.paint(style, speaker),
        look.palette.paint(Style::Dim, about),
        standing.unwrap_or_default()
    );
    if let Some(before) = &hit.before {
        text.push_str(&around(look, before));
    }
    text.push_str(&format!("    {}\n", marked(look.palette, hit)));
    if let Some(after) = &hit.after {
        text.push_str(&around(look, after));
    }
    text
}

fn around(look: &Look, line: &Line) -> String {
    let (speaker, _) = words::said_by(line);
    let text = format!("  {speaker}: {}", safe::line(&line.preview));
    entries::dim(look, &width::truncate(&text, look.columns))
}

/// The text around the match, what matched in bold, or between stars where there are no colours.
fn marked(palette: Palette, hit: &Hit) -> String {
    let mut text = String::new();
    let mut done = 0;
    for &(from, to) in &hit.marks {
        let pieces = (hit.snippet.get(done..from), hit.snippet.get(from..to));
        let (Some(plain), Some(matched)) = pieces else {
            break;
        };
        text.push_str(&safe::line(plain));
        let matched = safe::line(matched);
        if palette.is_coloured() {
            text.push_str(&palette.paint(Style::Accent, matched).to_string());
        } else {
            text.push_str(&format!("*{matched}*"));
        }
        done = to;
    }
    text + &safe::line(hit.snippet.get(done..).unwrap_or_default())
}
