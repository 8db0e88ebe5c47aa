//! The requests that the demo understands: a little plain English, parsed without guessing. Any other message is
//! answered with text only.

use serde_json::{Value, json};

use crate::process::command_line;

/// The help text of the demo.
pub(super) const HELP: &str = "\
I can do simple work. I understand, in plain words:
- `write FILE: TEXT`, or `make a file FILE with TEXT`; `delete FILE`.
- `edit FILE: replace \"OLD\" with \"NEW\"`, and `everywhere` behind it; or `change OLD to NEW in FILE`.
- `patch:` and the patch in the lines below.
- `read FILE` or `show me FILE`, `list`, `list FOLDER`, `find *.rs`, `search for WORDS in FOLDER`.
- `run COMMAND`, and `with network` or `in the background` behind it; `jobs`, `output of job ID`, `stop job ID`.
- `todo: one; two; three`.
- `fetch https://…`.
- `ask me QUESTION? one, two or three`.
- `call TOOL {\"json\": \"arguments\"}`.

Join them with `then`, or in lines, for one after the other, and with `and` for all at once.";

/// One action.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Action {
    /// Its description for people: `write a.txt`.
    pub(super) line: String,
    /// Its calls, in order.
    pub(super) calls: Vec<WantedCall>,
}

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WantedCall {
    /// The tool.
    pub(super) tool: String,
    /// Its arguments.
    pub(super) arguments: Value,
}

/// A longer text is parsed as one action.
const MAX_JOINED: usize = 16_000;

/// The most places where actions may be joined.
const MAX_JOINTS: usize = 200;

/// The actions that a message requests, for each step. `None` if any part of it is no action.
pub(super) fn steps(text: &str) -> Option<Vec<Vec<Action>>> {
    let text = text.trim();
    let joints = if text.len() > MAX_JOINED { Vec::new() } else { joints(text) };
    // From the end: the actions of each piece and all after it, if they are actions.
    let starts: Vec<usize> = std::iter::once(0).chain(joints.iter().map(|joint| joint.end)).collect();
    let mut rest: Vec<Option<Vec<(bool, Action)>>> = vec![None; starts.len()];
    for from in (0..starts.len()).rev() {
        let split = (from..joints.len()).find_map(|at| {
            let behind = rest[at + 1].clone()?;
            let first = action(&text[starts[from]..joints[at].start])?;
            Some(std::iter::once((from > 0 && joints[from - 1].together, first)).chain(behind).collect())
        });
        let whole = || Some(vec![(from > 0 && joints[from - 1].together, action(&text[starts[from]..])?)]);
        rest[from] = split.or_else(whole);
    }
    let mut steps: Vec<Vec<Action>> = Vec::new();
    for (together, action) in rest.swap_remove(0)? {
        match steps.last_mut() {
            Some(step) if together => step.push(action),
            _ => steps.push(vec![action]),
        }
    }
    Some(steps)
}

/// Words that may join two actions.
struct Joint {
    start: usize,
    end: usize,
    together: bool,
}

/// All possible joints outside of quotes.
fn joints(text: &str) -> Vec<Joint> {
    const WORDS: [(&str, bool); 8] = [
        (", and then ", false),
        (" and then ", false),
        (", then ", false),
        ("; then ", false),
        (" then ", false),
        (", and ", true),
        (" and ", true),
        ("\n", false),
    ];
    let mut joints = Vec::new();
    let mut quote: Option<char> = None;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if let Some(open) = quote {
            quote = (c != open).then_some(open);
        } else if (c == '"' || c == '`') && text[at + 1..].contains(c) {
            quote = Some(c);
        } else if let Some((word, together)) = WORDS.iter().find(|(word, _)| text[at..].starts_with(word)) {
            joints.push(Joint { start: at, end: at + word.len(), together: *together });
            if joints.len() == MAX_JOINTS {
                return joints;
            }
            // The space at its end may begin the next one.
            at += (word.len() - 1).max(1);
            continue;
        }
        at += c.len_utf8();
    }
    joints
}

/// The single action that a text requests.
fn action(text: &str) -> Option<Action> {
    let mut text = text.trim();
    for word in ["please ", "now ", "first ", "next ", "also ", "can you ", "could you "] {
        text = after(text, word).unwrap_or(text).trim_start();
    }
    write(text)
        .or_else(|| edit(text))
        .or_else(|| change(text))
        .or_else(|| delete(text))
        .or_else(|| patch(text))
        .or_else(|| look(text))
        .or_else(|| shell(text))
        .or_else(|| todo(text))
        .or_else(|| outside(text))
}

fn one(line: String, tool: &str, arguments: Value) -> Option<Action> {
    Some(Action { line, calls: vec![WantedCall { tool: tool.into(), arguments }] })
}

fn write(text: &str) -> Option<Action> {
    let (path, content) = match after(text, "write ") {
        Some(rest) => token(rest, &[':'])?,
        None => match made(text)? {
            (path, Some(content)) => (path, content),
            (path, None) => {
                return one(format!("write {path}"), "write", json!({ "path": path, "content": "" }));
            }
        },
    };
    let content = match quoted(content.trim()) {
        Some(("", _)) | None if content.trim().is_empty() => return None,
        Some((inner, rest)) if rest.trim().trim_end_matches('.').is_empty() => unescaped(inner),
        _ => format!("{}\n", content.trim()),
    };
    one(format!("write {path}"), "write", json!({ "path": path, "content": content }))
}

/// `make a file FILE with TEXT`: the file, and the text if given.
fn made(text: &str) -> Option<(String, Option<&str>)> {
    const FILE: [&str; 6] = ["a new file ", "an empty file ", "a file ", "the file ", "new file ", "file "];
    const NAMED: [&str; 4] = ["called ", "named ", "with the name ", "by the name of "];
    const WITH: [&str; 8] = [
        "with the text ",
        "with the content ",
        "with the words ",
        "with content ",
        "with text ",
        "with ",
        "containing ",
        "that says ",
    ];
    let first = |text: &'_ str, words: &[&str]| {
        words.iter().find(|word| after(text, word).is_some()).map(|word| word.len())
    };
    let verb = first(text, &["make ", "create ", "add "])?;
    let rest = text[verb..].trim_start();
    let file = first(rest, &FILE);
    let rest = rest[file.unwrap_or(0)..].trim_start();
    let rest = rest[first(rest, &NAMED).unwrap_or(0)..].trim_start();
    if let Some(path) = alone(rest).filter(|_| file.is_some()) {
        return Some((path, None));
    }
    let (path, behind) = token(rest, &[])?;
    let behind = behind.trim_start();
    let with = first(behind, &WITH).filter(|_| file.is_some() || is_named(&path))?;
    Some((path, Some(&behind[with..])))
}

/// Whether a word looks like a file name, and not like a word of a sentence.
fn is_named(word: &str) -> bool {
    word.contains('/') || word.trim_end_matches('.').contains('.')
}

/// `delete FILE`.
fn delete(text: &str) -> Option<Action> {
    let rest = ["delete ", "remove "].iter().find_map(|word| after(text, word))?.trim_start();
    let file = ["the file ", "file "].iter().find_map(|word| after(rest, word));
    let path = alone(file.unwrap_or(rest)).filter(|path| file.is_some() || is_named(path))?;
    let named = if path.starts_with('-') { format!("./{path}") } else { path.clone() };
    let command = command_line(&["rm", &named]);
    one(format!("delete {path}"), "shell", json!({ "command": command }))
}

/// `change OLD to NEW in FILE`.
fn change(text: &str) -> Option<Action> {
    let (rest, to) = match after(text, "change ") {
        Some(rest) => (rest, " to "),
        None => (after(text, "replace ")?, " with "),
    };
    let (what, path) = rest.rsplit_once(" in ")?;
    let path = path.trim_start();
    let path = ["the file ", "file "].iter().find_map(|word| after(path, word)).unwrap_or(path);
    let path = alone(path).filter(|path| is_named(path))?;
    let (what, all) = match what.trim().strip_suffix(" everywhere") {
        Some(what) => (what, true),
        None => (what.trim(), false),
    };
    let (old, new) = match quoted(what) {
        Some((old, rest)) => (unescaped(old), after(rest, to)?),
        None => what.split_once(to).map(|(old, new)| (old.trim().to_owned(), new))?,
    };
    let new = match quoted(new.trim()) {
        Some((new, "")) => unescaped(new),
        _ => new.trim().to_owned(),
    };
    (!old.is_empty()).then(|| edits(&path, json!([{ "old": old, "new": new, "all": all }])))
}

/// The file is read first, as before every edit.
fn edits(path: &str, edits: Value) -> Action {
    let call = |tool: &str, arguments| WantedCall { tool: tool.into(), arguments };
    let calls =
        vec![call("read", json!({ "path": path })), call("edit", json!({ "path": path, "edits": edits }))];
    Action { line: format!("edit {path}"), calls }
}

fn edit(text: &str) -> Option<Action> {
    let (path, rest) = token(after(text, "edit ")?, &[':'])?;
    let mut rest = after(rest.trim_start(), "replace ")?;
    let mut changes = Vec::new();
    loop {
        let (old, behind) = quoted(rest.trim_start())?;
        let (new, behind) = quoted(after(behind.trim_start(), "with ")?.trim_start())?;
        let behind = behind.trim_start();
        let all = after(behind, "everywhere");
        changes.push(json!({ "old": unescaped(old), "new": unescaped(new), "all": all.is_some() }));
        let behind = all.unwrap_or(behind).trim();
        if behind.trim_end_matches('.').is_empty() {
            break;
        }
        let next = ["and replace ", ", and ", ", ", "and "].iter().find_map(|word| after(behind, word))?;
        rest = after(next, "replace ").unwrap_or(next);
    }
    Some(edits(&path, changes.into()))
}

fn patch(text: &str) -> Option<Action> {
    let patch = after(text, "patch:")?.trim_start_matches([' ', '\n']);
    if patch.is_empty() {
        return None;
    }
    one("apply the patch".into(), "patch", json!({ "patch": format!("{}\n", patch.trim_end()) }))
}

fn look(text: &str) -> Option<Action> {
    if let Some(rest) = after(text, "read ") {
        let path = alone(rest)?;
        return one(format!("read {path}"), "read", json!({ "path": path }));
    }
    const SHOW: [&str; 6] =
        ["show me the file ", "show me ", "show the file ", "show ", "what is in ", "what's in "];
    let shown = SHOW.iter().find_map(|word| after(text, word)).map(|rest| rest.trim_end_matches('?'));
    if let Some(path) = shown.and_then(alone).filter(|path| is_named(path)) {
        return one(format!("read {path}"), "read", json!({ "path": path }));
    }
    const LIST: [&str; 9] = [
        "list",
        "ls",
        "list files",
        "list the files",
        "list all files",
        "show files",
        "show the files",
        "show me the files",
        "what files are here",
    ];
    let bare = text.trim_end_matches(['.', '!', '?']).to_lowercase();
    if LIST.contains(&bare.as_str()) {
        return one("list the files".into(), "list", json!({}));
    }
    if let Some(rest) = after(text, "list ") {
        let path = alone(rest)?;
        return one(format!("list {path}"), "list", json!({ "path": path }));
    }
    if let Some(rest) = after(text, "find ") {
        let (what, place) = within(rest);
        let pattern = alone(what).filter(|pattern| pattern.contains(['*', '.', '?', '/']))?;
        return one(format!("find {pattern}"), "glob", placed(json!({ "pattern": pattern }), place));
    }
    let (what, place) = within(after(text, "search for ")?);
    let what = what.trim().trim_end_matches(['.', '!']);
    let pattern = match quoted(what) {
        Some((inner, "")) => inner,
        _ => what,
    };
    if pattern.is_empty() {
        return None;
    }
    let arguments = placed(json!({ "pattern": escaped_pattern(pattern) }), place);
    one(format!("search for {pattern}"), "grep", arguments)
}

/// The options after a command, in any order, each with its argument.
const BEHIND: [(&str, &str); 2] = [("in the background", "background"), ("with network", "network")];

fn shell(text: &str) -> Option<Action> {
    if ["jobs", "list jobs", "list the jobs"].contains(&text.to_lowercase().as_str()) {
        return one("list the jobs".into(), "job_list", json!({}));
    }
    for (words, tool) in [("output of job ", "job_output"), ("stop job ", "job_stop")] {
        if let Some(rest) = after(text, words) {
            let id = alone(rest)?;
            return one(format!("{words}{id}"), tool, json!({ "id": id }));
        }
    }
    let mut rest = after(text, "run ")?.trim();
    if rest.starts_with('`') {
        rest = rest.trim_end_matches('.');
    }
    let mut arguments = json!({});
    let last = |rest: &str| BEHIND.iter().find(|(words, _)| rest.ends_with(words));
    while let Some((words, name)) = last(rest) {
        rest = rest[..rest.len() - words.len()].trim_end();
        arguments[*name] = Value::Bool(true);
    }
    let command = match rest.strip_prefix('`') {
        Some(quoted) => quoted.strip_suffix('`').filter(|command| !command.contains('`'))?,
        None => rest,
    };
    if command.trim().is_empty() {
        return None;
    }
    arguments["command"] = command.into();
    one(format!("run `{command}`"), "shell", arguments)
}

fn todo(text: &str) -> Option<Action> {
    let items = after(text, "todo:")?.split([';', '\n']).map(|item| item.trim().trim_start_matches("- "));
    let items: Vec<Value> = items
        .filter(|item| !item.is_empty())
        .map(|item| json!({ "text": item, "state": "pending" }))
        .collect();
    if items.is_empty() {
        return None;
    }
    let things = if items.len() == 1 { "thing" } else { "things" };
    one(format!("write down {} {things} to do", items.len()), "todo", json!({ "items": items }))
}

fn outside(text: &str) -> Option<Action> {
    if let Some(rest) = after(text, "fetch ") {
        let url = alone(rest).filter(|url| url.starts_with("http://") || url.starts_with("https://"))?;
        return one(format!("fetch {url}"), "fetch", json!({ "url": url }));
    }
    if let Some(rest) = after(text, "ask me ") {
        let (question, choices) = match rest.split_once('?') {
            Some((question, choices)) => (format!("{question}?"), choices),
            None => (rest.trim().to_owned(), ""),
        };
        let choices = choices.split(',').flat_map(|choice| choice.split(" or "));
        let choices: Vec<&str> = choices
            .map(|choice| choice.trim().trim_end_matches('.'))
            .filter(|choice| !choice.is_empty())
            .collect();
        if question.trim_end_matches('?').trim().is_empty() {
            return None;
        }
        return one("ask you".into(), "ask", json!({ "question": question, "choices": choices }));
    }
    let rest = after(text, "call ")?;
    let (tool, rest) = token(rest, &[])?;
    let arguments = match rest.trim() {
        "" => json!({}),
        text => serde_json::from_str::<Value>(text).ok().filter(Value::is_object)?,
    };
    one(format!("call {tool}"), &tool, arguments)
}

/// The text after a word at the beginning, ignoring case.
fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| &text[word.len()..])
}

/// The first word, which may be quoted, and the rest; with `ends`, one of these must follow it.
fn token<'a>(text: &'a str, ends: &[char]) -> Option<(String, &'a str)> {
    let text = text.trim_start();
    let (word, rest) = match quoted(text) {
        Some((word, rest)) => (word, rest),
        None => {
            let end = text.find(|c: char| c.is_whitespace() || ends.contains(&c)).unwrap_or(text.len());
            text.split_at(end)
        }
    };
    let rest = if ends.is_empty() { rest } else { rest.strip_prefix(ends)? };
    (!word.is_empty()).then(|| (word.to_owned(), rest))
}

/// The only word, which may be quoted; a full stop after it belongs to the sentence.
fn alone(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['!', ',', ';']);
    let stop = text.len() > 1 && text.ends_with('.') && !text.ends_with("..") && !text.ends_with("/.");
    let text = if stop { &text[..text.len() - 1] } else { text };
    let (word, rest) = token(text, &[])?;
    rest.trim().is_empty().then_some(word)
}

/// The text in quotes or backticks at the beginning, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let open = text.chars().next()?;
    let close = match open {
        '"' | '`' => open,
        '“' => '”',
        _ => return None,
    };
    let inner = &text[open.len_utf8()..];
    let mut escaped = false;
    let end = inner.char_indices().find(|(_, c)| {
        let ends = *c == close && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map(|(end, c)| (&inner[..end], &inner[end + c.len_utf8()..]))
}

/// Replaces `\n`, `\t`, `\"` and `\\` in a quoted text.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some(c @ ('"' | '\\')) => plain.push(c),
            Some(other) => plain.extend(['\\', other]),
            None => plain.push('\\'),
        }
    }
    plain
}

/// `WHAT in PLACE`.
fn within(text: &str) -> (&str, Option<String>) {
    if let Some((what, place)) = text.rsplit_once(" in ")
        && let Some(place) = alone(place)
    {
        return (what, Some(place));
    }
    (text, None)
}

fn placed(mut arguments: Value, place: Option<String>) -> Value {
    if let Some(place) = place {
        arguments["path"] = place.into();
    }
    arguments
}

/// A literal text as a regular expression.
fn escaped_pattern(words: &str) -> String {
    let mut pattern = String::with_capacity(words.len());
    for c in words.chars() {
        if "\\.+*?()|[]{}^$#&~-".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
