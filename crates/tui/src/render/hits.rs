//! Search hits, with the match and its surroundings. Must never trust the byte ranges of a match.

use retake_wire::reply::Line;
use retake_wire::{Hit, Hits};

use super::id::{self, Ids};
use super::{entries, words};
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe, width};

/// The hits, in the requested order.
pub fn hits(look: &Look, hits: &Hits) -> Text {
    let mut text = Text::new();
    if hits.understood.as_deref().is_some_and(|words| words.trim().is_empty()) {
        return entries::dim(look, "there is no word in it to search for");
    }
    if let Some(understood) = &hits.understood {
        let line = format!("searched for: {}", safe::line(understood));
        text.push(entries::dim(look, &line));
    }
    if hits.hits.is_empty() {
        text.push(entries::dim(look, "nothing found"));
        return text;
    }
    let ids: Ids = hits.hits.iter().map(|hit| hit.line.id.as_str()).collect();
    text.push(Text::join(hits.hits.iter().map(|hit| one(look, hit, &ids)), "\n"));
    if hits.more {
        text.push("\n");
        text.push(entries::dim(look, "… there are more hits"));
    }
    text
}

fn one(look: &Look, hit: &Hit, ids: &Ids<'_>) -> Text {
    let (speaker, style) = words::said_by(&hit.line);
    let state = hit.standing.map(|state| (Style::Warn, format!(" [{}]", state.name())));
    let (when, title) = (words::when(look, hit.line.time_ms), words::quoted(&hit.title, 40));
    let conversation = id::short(&hit.conversation);
    let about = match look.ids {
        true => format!("{when} · {} · in {conversation}{title}", ids.short(&hit.line.id)),
        false if title.is_empty() => format!("{when} · in {conversation}"),
        false => format!("{when} · in{title}"),
    };
    let mut text = text![(style, speaker), " ", (Style::Dim, about), state, "\n"];
    if let Some(before) = &hit.before {
        text.push(around(look, before));
    }
    text.push(text!["    ", marked(hit), "\n"]);
    if let Some(after) = &hit.after {
        text.push(around(look, after));
    }
    text
}

fn around(look: &Look, line: &Line) -> Text {
    let (speaker, _) = words::said_by(line);
    let text = format!("  {speaker}: {}", safe::line(&line.preview));
    entries::dim(look, &width::truncate(&text, look.columns))
}

fn marked(hit: &Hit) -> Text {
    let piece = |(text, is_match)| Text::of(text, Some(Style::Match).filter(|_| is_match));
    pieces(hit).into_iter().map(piece).collect()
}

/// The snippet as safe pieces, and whether each is a match.
pub(crate) fn pieces(hit: &Hit) -> Vec<(String, bool)> {
    let safe = |text: &str| safe::line(text).into_owned();
    let mut pieces = Vec::new();
    let mut done = 0;
    for &(from, to) in &hit.marks {
        let (Some(plain), Some(matched)) = (hit.snippet.get(done..from), hit.snippet.get(from..to)) else {
            break;
        };
        pieces.extend([(safe(plain), false), (safe(matched), true)]);
        done = to;
    }
    pieces.push((safe(hit.snippet.get(done..).unwrap_or_default()), false));
    pieces
}
