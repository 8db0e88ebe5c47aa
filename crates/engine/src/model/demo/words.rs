//! The texts of the demo. A pure function of the prompt.

use retake_core::{Role, joined_text};

use super::super::Prompt;
use super::{arithmetic, grammar};

const INTRODUCTION: &str = "I am the demo built into Retake: a small program, not a real model, and nothing leaves \
this computer. For a real model set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or start Ollama, and start \
`retake` again.";

const COMMANDS: &str = "Try `/rewind` to go back to an earlier message, `/undo` to take that back, `/retry` for \
another answer, and Ctrl-C to stop me. I can do sums (\"17 * 3\") and repeat a list (\"repeat: tea, milk\"). I can tell a story \
(\"tell me a story about a fox\"), and say what I see of our conversation (\"what do you see?\").";

/// The answer to messages that the demo does not understand.
const LITTLE: &str = "I understand only a little: say `help`, and I say what.";

/// The same, with tools.
const LITTLE_WORK: &str = "I understand only a little, such as `make a file a.txt with hello`, `change hello to bye in \
a.txt`, `run ls`: say `help`, and I say what else.";

/// The explanations of the demo, by keyword.
const EXPLANATIONS: [(&[&str], &str); 6] = [
    (
        &["rewind", "go back", "take back"],
        "`/rewind` lists your earlier messages. Choose one, and it shows first what that takes back. Then the message \
         is in the line again for you to edit, and I no longer see it or anything after it. Nothing is lost: what you \
         left is a branch in `/tree`.",
    ),
    (
        &["undo", "redo"],
        "`/undo` takes back the last step: a turn, a rewind or a hidden message. Once more takes back the one before, \
         and `/redo` brings each back until you say something new.",
    ),
    (
        &["branch", "tree", "alternative"],
        "After a rewind you go on in another direction: the old one stays as a branch. `/tree` shows all of them and \
         switches between them; `/retry` makes another answer beside this one, and you choose.",
    ),
    (
        &["fork"],
        "`/fork` begins a new conversation that starts with this one's messages. Nothing is copied, and what happens \
         in either later does not touch the other.",
    ),
    (
        &["hide", "exclude"],
        "`/hide` makes messages as if deleted, `/exclude` keeps them for you but not for me. `/show` and `/include` \
         bring them back, and so does `/undo`.",
    ),
    (
        &["real model", "api key", "ollama"],
        "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or start Ollama, llama.cpp's server or LM Studio on \
         this computer, then start `retake` again. `/model` shows what is there.",
    ),
];

/// The openings of alternative answers to the same prompt.
const OPENINGS: [&str; 4] =
    ["Put differently", "Seen another way", "In other words", "Once more, with feeling"];

/// The whole answer.
pub(super) fn answer(prompt: &Prompt) -> String {
    let said: Vec<String> = prompt
        .messages
        .iter()
        .filter(|message| message.role == Role::User)
        .map(|message| joined_text(&message.parts))
        .collect();
    let last = said.last().map(String::as_str).unwrap_or_default();
    let mut paragraphs = Vec::new();
    if !prompt.messages.iter().any(|message| message.role == Role::Assistant) {
        paragraphs.push(INTRODUCTION.to_owned());
    }
    paragraphs.extend(opening(prompt.variant));
    let reply = reply(last, &said, prompt);
    if reply.is_empty() && !last.trim().is_empty() {
        let can = if prompt.tools.is_empty() { LITTLE } else { LITTLE_WORK };
        paragraphs.push(can.to_owned());
    }
    paragraphs.extend(reply);
    paragraphs.push(place(&said));
    paragraphs.join("\n\n")
}

/// The opening of an alternative answer, with its number.
pub(super) fn opening(variant: u32) -> Option<String> {
    let index = variant.checked_sub(1)?;
    let opening = OPENINGS[index as usize % OPENINGS.len()];
    Some(format!("{opening} (this is answer {}):", u64::from(variant) + 1))
}

/// The reply to the last message.
fn reply(last: &str, said: &[String], prompt: &Prompt) -> Vec<String> {
    let asked = last.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| asked.contains(word));
    if let Some(subject) = story_subject(last) {
        return story(&subject, prompt.variant);
    }
    if has(&["what do you see", "what did i say", "what do you remember", "do you remember"]) {
        return vec![seen(said)];
    }
    if let Some(list) = repeated(last) {
        return vec![list];
    }
    if let Some((sum, result)) = arithmetic::find(last) {
        return vec![format!("{sum} = {result}")];
    }
    let about: Vec<String> =
        EXPLANATIONS.iter().filter(|(words, _)| has(words)).map(|(_, text)| (*text).to_owned()).collect();
    if !about.is_empty() {
        return about;
    }
    let greeted =
        ["hello", "hi", "hey", "help", "/help"].contains(&asked.trim_matches(|c: char| !c.is_alphabetic()));
    if greeted || has(&["what can you do", "who are you"]) {
        let work = (!prompt.tools.is_empty()).then(|| grammar::HELP.to_owned());
        return std::iter::once(COMMANDS.to_owned()).chain(work).collect();
    }
    Vec::new()
}

/// The messages so far, and its place in the conversation: a rewound turn is visibly gone.
fn place(said: &[String]) -> String {
    let Some((last, before)) = said.split_last() else {
        return "I see no message of yours.".into();
    };
    let turn = said.len();
    let before = match before.last() {
        Some(before) => format!("in the one before you said \"{}\"", quote(before, 60)),
        None => "I see none before it".into(),
    };
    format!("You said \"{}\". This is turn {turn}; {before}.", quote(last, 200))
}

fn seen(said: &[String]) -> String {
    let first = said.len().saturating_sub(20);
    let lines =
        said.iter().enumerate().skip(first).map(|(i, text)| format!("{}. {}", i + 1, quote(text, 60)));
    let lines: Vec<String> = lines.collect();
    let left_out =
        if first > 0 { format!(" (the last {} of {})", lines.len(), said.len()) } else { String::new() };
    format!("What I see of what you said{left_out}:\n{}", lines.join("\n"))
}

/// `repeat: a, b` as a list; several lines as they are.
fn repeated(text: &str) -> Option<String> {
    let start = text.to_ascii_lowercase().find("repeat")? + "repeat".len();
    let rest = text[start..].trim_start();
    let rest = rest.strip_prefix("after me").unwrap_or(rest).trim_start_matches([':', ' ']).trim();
    let items: Vec<&str> =
        rest.split([',', ';', '\n']).map(str::trim).filter(|item| !item.is_empty()).collect();
    if items.is_empty() {
        return None;
    }
    Some(items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n"))
}

fn story_subject(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let start = lower.find("story")? + "story".len();
    let rest = text[start..].trim_start();
    let subject = rest.strip_prefix("about").or_else(|| rest.strip_prefix("of")).unwrap_or_default();
    let subject = quote(subject.trim().trim_end_matches(['.', '!', '?']), 60);
    Some(if subject.is_empty() { "a message that came back".into() } else { subject })
}

fn story(subject: &str, variant: u32) -> Vec<String> {
    let places =
        ["a town at the end of a railway line", "a house by the sea", "the last library of the north"];
    let helpers = ["an old clockmaker", "a child with a red umbrella", "a very patient cat"];
    let place = places[variant as usize % places.len()];
    let helper = helpers[variant as usize % helpers.len()];
    vec![
        format!(
            "Once there was {subject}, in {place}. Every morning began the same way: the kettle sang, the light came \
             over the roofs, and somebody said that today would be different. It never was, until one day it rained \
             upwards, only a little and only for a minute, and everybody looked at everybody else and decided not to \
             mention it."
        ),
        format!(
            "Then came {helper}, who did mention it. \"Something was taken back,\" they said, \"and nobody \
             has said what they want instead.\" So the search began, through cellars and cupboards. It went through \
             sentences that were never finished, and each of those led to another road that somebody \
             could have taken. None of them was lost. They were only not the one we were on."
        ),
        format!(
            "In the evening they found it: the first word of this very story, lying where it had been left. They put \
             it down a little differently, and {subject} went on from there, wiser by one wrong turn. And if you did \
             not like the ending, go back to a place that you did like; this story will wait."
        ),
    ]
}

/// A text on one line, shortened.
fn quote(text: &str, longest: usize) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if let Some((end, _)) = words.char_indices().nth(longest) {
            words.truncate(end);
            words.push('…');
            break;
        }
    }
    words
}
