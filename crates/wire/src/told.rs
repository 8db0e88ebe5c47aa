//! Tool calls as text: the owner shows them in plans, clients on their cards. Must never fail, whatever arguments a model wrote.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::english::count;

/// What a call does, on one line of any length, which is as safe as the arguments. Calls of our own tools are described in words,
/// other calls by their arguments.
#[must_use]
pub fn call_line(tool: &str, arguments: &str) -> String {
    let given = serde_json::from_str(arguments).unwrap_or_default();
    spaced(&own(tool, &given).unwrap_or_else(|| format!("{tool} {arguments}")))
}

/// A call of one of our own tools, in words.
fn own(tool: &str, given: &Value) -> Option<String> {
    let word = |key: &str| given.get(key).and_then(Value::as_str).unwrap_or_default();
    let amount = |key: &str| given.get(key).and_then(Value::as_array).map_or(0, |all| all.len() as u64);
    Some(match tool {
        "shell" | "exec" => {
            let network = given.get("network").and_then(Value::as_bool).unwrap_or(false);
            format!("{}$ {}", if network { "with network: " } else { "" }, command(given))
        }
        "read" | "write" | "list" => {
            format!("{tool} {}", if word("path").is_empty() { "." } else { word("path") })
        }
        "edit" if amount("edits") > 1 => format!("edit {} ({} edits)", word("path"), amount("edits")),
        // One edit can concern many places: only its result knows how many.
        "edit" => format!("edit {}", word("path")),
        "glob" | "grep" if word("path").is_empty() => format!("{tool} {}", word("pattern")),
        "glob" | "grep" => format!("{tool} {} in {}", word("pattern"), word("path")),
        "patch" => {
            let files = word("patch").lines().filter_map(|line| line.strip_prefix("+++ "));
            format!("patch {}", files.collect::<Vec<_>>().join(", "))
        }
        "fetch" => format!("fetch {}", word("url")),
        "ask" => format!("ask: {}", word("question")),
        "todo" => format!("write the to-do list, {}", count(amount("items"), "item")),
        "job_output" if !word("wait").is_empty() => format!("wait for job {}", word("id")),
        "job_input" if word("text").is_empty() => format!("close the input of job {}", word("id")),
        "job_input" => format!("write to job {}: {}", word("id"), word("text")),
        "job_output" => format!("read the output of job {}", word("id")),
        "job_stop" => format!("end job {}", word("id")),
        "job_list" => "list the jobs".to_owned(),
        "skill" => format!("read the skill {}", word("name")),
        "subagent" => {
            let agent = if word("agent").is_empty() { "a subagent" } else { word("agent") };
            format!("task for {agent}: {}", word("title"))
        }
        _ => return None,
    })
}

fn spaced(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same for an excerpt. For other tools it contains only the values of the arguments, without the names of the fields.
#[must_use]
pub fn call_words(tool: &str, arguments: &str) -> String {
    let Ok(given) = serde_json::from_str(arguments) else { return call_line(tool, arguments) };
    let others = || {
        let mut words = vec![tool.to_owned()];
        values(&given, &mut words);
        words.join(" ")
    };
    spaced(&own(tool, &given).unwrap_or_else(others))
}

/// Collects the values of the arguments.
fn values(given: &Value, words: &mut Vec<String>) {
    match given {
        Value::Object(members) => {
            // A fixed order, independent of the JSON library.
            let members: BTreeMap<_, _> = members.iter().collect();
            members.values().for_each(|value| values(value, words));
        }
        Value::Array(items) => items.iter().for_each(|value| values(value, words)),
        Value::String(text) => words.push(text.clone()),
        Value::Number(_) | Value::Bool(_) => words.push(given.to_string()),
        Value::Null => {}
    }
}

/// The command in the arguments, given as a line or as a list of words.
fn command(given: &Value) -> String {
    match given.get("command") {
        Some(Value::String(command)) => command.clone(),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).map(shell_word).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}

/// A word as a shell reads it: in quotes, unless it is plain.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./+@,:%=".contains(&byte);
    // At the beginning of a line, `a=b` would set a variable.
    let assigns = word.contains('=') && !word.starts_with('-');
    match !word.is_empty() && !assigns && word.bytes().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::{call_line, call_words};

    #[test]
    fn own_tools_are_described_in_words() {
        for (tool, arguments, line) in [
            ("edit", r#"{"path":"src/lib.rs","edits":[{"old":"a","new":"b"}]}"#, "edit src/lib.rs"),
            ("edit", r#"{"path":"a","edits":[{},{}]}"#, "edit a (2 edits)"),
            ("write", r#"{"path":"a.txt","content":"x"}"#, "write a.txt"),
            ("list", "{}", "list ."),
            ("shell", r#"{"command":"cargo  test\n"}"#, "$ cargo test"),
            ("shell", r#"{"command":"git push","network":true}"#, "with network: $ git push"),
            ("exec", r#"{"command":["sh","-c","echo a\n  b"]}"#, "$ sh -c 'echo a b'"),
            ("exec", r#"{"command":["./a.sh","it's","","-x=1","*"]}"#, r"$ ./a.sh 'it'\''s' '' -x=1 '*'"),
            ("patch", r#"{"patch":"--- a\n+++ b\n"}"#, "patch b"),
            ("job_output", r#"{"id":"a1","wait":"end"}"#, "wait for job a1"),
            ("job_input", r#"{"id":"a1","text":"y\n"}"#, "write to job a1: y"),
            ("job_input", r#"{"id":"a1","close":true}"#, "close the input of job a1"),
            ("todo", r#"{"items":[]}"#, "write the to-do list, 0 items"),
            ("skill", r#"{"name":"pdf"}"#, "read the skill pdf"),
            ("subagent", r#"{"title":"count","task":"count all"}"#, "task for a subagent: count"),
            ("subagent", r#"{"title":"count","task":"count all","agent":"scout"}"#, "task for scout: count"),
            ("mcp__mail__send", r#"{"to":"ann"}"#, r#"mcp__mail__send {"to":"ann"}"#),
            ("odd", "no json", "odd no json"),
            ("edit", "no json", "edit"),
        ] {
            assert_eq!(call_line(tool, arguments), line);
        }
    }

    #[test]
    fn an_excerpt_of_another_tool_s_call_has_no_names_of_fields() {
        for (tool, arguments, line) in [
            (
                "mcp__mail__send",
                r#"{"to":"ann","body":{"text":"hi,\n you","urgent":true,"cc":null}}"#,
                "mcp__mail__send hi, you true ann",
            ),
            ("shell", r#"{"command":"make"}"#, "$ make"),
            ("odd", "no json", "odd no json"),
        ] {
            assert_eq!(call_words(tool, arguments), line);
        }
    }
}
