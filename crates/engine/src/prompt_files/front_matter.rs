//! The front matter of a prompt's file: `key: value` lines between two lines `---`. It reads the part of YAML that such files use.
//! Where YAML would refuse a value, it takes the value as it stands, as other programs do: `description: Use it when: …`.

use super::FileDefect;

/// The fields of a front matter.
#[derive(Debug, Default)]
pub(super) struct FrontMatter(Vec<(String, Value)>);

/// A file in its two parts.
#[derive(Debug)]
pub(super) struct Parsed<'a> {
    /// The fields.
    pub(super) fields: FrontMatter,
    /// The text after them.
    pub(super) body: &'a str,
}

#[derive(Debug)]
enum Value {
    /// On the line of its key, and on indented lines after it.
    Plain(String),
    /// With quotes, or as a block of lines: not a list.
    Text(String),
    /// Lines that begin with `- `.
    Items(Vec<String>),
}

impl FrontMatter {
    fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text of a field.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        match self.get(key)? {
            Value::Plain(text) | Value::Text(text) => Some(text.clone()),
            Value::Items(items) => Some(items.join(", ")),
        }
    }

    /// The items of a field: `a, b`, `[a, b]`, or lines. A comma in parentheses separates nothing.
    pub(super) fn list(&self, key: &str) -> Vec<String> {
        match self.get(key) {
            Some(Value::Items(items)) => items.clone(),
            Some(Value::Plain(text) | Value::Text(text)) => {
                let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
                split(inner.unwrap_or(text))
            }
            None => Vec::new(),
        }
    }
}

/// The items between commas.
fn split(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        items.last_mut().expect("BUG: there is always a last item").push(c);
    }
    items.iter().map(|item| unquoted(item.trim()).0).filter(|item| !item.is_empty()).collect()
}

/// Splits a file into its fields and its text. A file without front matter is all text.
pub(super) fn parse(text: &str) -> Result<Parsed<'_>, FileDefect> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(first) = text.split_inclusive('\n').next().filter(|line| line.trim_end() == "---") else {
        return Ok(Parsed { fields: FrontMatter::default(), body: text });
    };
    let mut at = first.len();
    let mut lines = Vec::new();
    for line in text[at..].split_inclusive('\n') {
        at += line.len();
        let line = line.trim_end();
        if line == "---" || line == "..." {
            return Ok(Parsed { fields: fields(&lines)?, body: &text[at..] });
        }
        lines.push(line);
    }
    Err(FileDefect::NoEnd)
}

fn fields(lines: &[&str]) -> Result<FrontMatter, FileDefect> {
    let mut fields = FrontMatter::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // The first line of the file is the one before the fields.
        let (key, value) = line.split_once(':').ok_or(FileDefect::Line(at + 1))?;
        let is_key = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_value = value.is_empty() || value.starts_with([' ', '\t']);
        if key.is_empty() || !key.chars().all(is_key) || !is_value {
            return Err(FileDefect::Line(at + 1));
        }
        let is_further = |line: &&&str| line.is_empty() || line.starts_with([' ', '\t']) || is_item(line);
        let further: Vec<&str> = lines[at..].iter().take_while(is_further).copied().collect();
        at += further.len();
        fields.0.push((key.to_ascii_lowercase(), self::value(value.trim(), &further)));
    }
    Ok(fields)
}

fn is_item(line: &str) -> bool {
    line == "-" || line.starts_with("- ")
}

/// A value: the rest of its key's line, and the lines that belong to it.
fn value(first: &str, further: &[&str]) -> Value {
    if let Some(mark) = ['|', '>'].into_iter().find(|mark| first.starts_with(*mark))
        && first[1..].chars().all(|c| c == '-' || c == '+' || c.is_ascii_digit())
    {
        return Value::Text(block(mark, further));
    }
    let further: Vec<&str> = further.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    if first.is_empty() && further.iter().any(|line| is_item(line)) {
        let items = further.iter().filter_map(|line| line.strip_prefix("- "));
        return Value::Items(items.map(|item| unquoted(item.trim()).0).collect());
    }
    let whole = [&[first], further.as_slice()].concat().join(" ");
    match unquoted(whole.trim()) {
        (text, true) => Value::Text(text),
        (text, false) => Value::Plain(without_remark(&text).to_owned()),
    }
}

/// A block of lines: kept as they are, or joined by spaces.
fn block(mark: char, lines: &[&str]) -> String {
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let least = lines.iter().filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    let lines: Vec<&str> = lines.iter().map(|line| line.get(least..).unwrap_or_default()).collect();
    let text = lines.join("\n");
    match mark {
        '|' => text.trim_end().to_owned(),
        _ => text
            .split("\n\n")
            .map(|part| part.replace('\n', " "))
            .collect::<Vec<_>>()
            .join("\n")
            .trim_end()
            .to_owned(),
    }
}

/// A text without the quotes around it, and whether it had some.
fn unquoted(text: &str) -> (String, bool) {
    let within = |quote: char| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inner)
    };
    if let Some(inner) = within('\'') {
        return (inner.replace("''", "'"), true);
    }
    let Some(inner) = within('"') else { return (text.to_owned(), false) };
    let mut plain = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some(other) => plain.push(other),
                None => plain.push('\\'),
            },
            (c, false) => plain.push(c),
        }
    }
    (plain, true)
}

/// A plain value without the remark at its end.
fn without_remark(text: &str) -> &str {
    if text.starts_with('#') {
        return "";
    }
    text.split_once(" #").map_or(text, |(text, _)| text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(lines: &str, key: &str) -> Option<String> {
        let text = format!("---\n{lines}\n---\nbody");
        parse(&text).expect("front matter").fields.text(key)
    }

    #[test]
    fn values_are_read_as_files_of_prompts_write_them() {
        let rows = [
            ("a: plain words", "plain words"),
            ("a: Use it when: always", "Use it when: always"),
            ("a: 'it''s'", "it's"),
            (r#"a: "say \"x\"\n""#, "say \"x\"\n"),
            ("a: words # a remark", "words"),
            ("a: see #12", "see"),
            ("a: issue#12", "issue#12"),
            ("a: first\n  second", "first second"),
            ("a: |\n  one\n    two\n\n  three\nb: c", "one\n  two\n\nthree"),
            ("a: >-\n  one\n  two\n\n  three", "one two\nthree"),
            ("a:\n  - one\n  - 'two'\nb: c", "one, two"),
            ("a:\n- one\n- two", "one, two"),
            ("a: [file] [issue]", "[file] [issue]"),
            ("a:", ""),
            ("# a remark\n\nA: upper", "upper"),
            ("a: first\na: second", "first"),
        ];
        for (lines, expected) in rows {
            assert_eq!(field(lines, "a").as_deref(), Some(expected), "{lines}");
        }
        assert_eq!(field("a: b", "c"), None);
    }

    #[test]
    fn lists_are_split_at_commas_outside_of_parentheses() {
        let rows: [(&str, &[&str]); 4] = [
            ("a: Read, Bash(git add:*, git rm:*)", &["Read", "Bash(git add:*, git rm:*)"]),
            ("a: [read, 'write']", &["read", "write"]),
            ("a:\n  - read\n  - write", &["read", "write"]),
            ("a:", &[]),
        ];
        for (lines, expected) in rows {
            let text = format!("---\n{lines}\n---\n");
            assert_eq!(parse(&text).expect("front matter").fields.list("a"), expected, "{lines}");
        }
    }

    #[test]
    fn what_is_no_front_matter_is_named_by_its_line_or_is_text() {
        let defect = |text: &str| parse(text).err();
        assert_eq!(defect("---\na: b\n"), Some(FileDefect::NoEnd));
        assert_eq!(defect("---\na: b\nno field\n---\n"), Some(FileDefect::Line(3)));
        assert_eq!(defect("---\n{a: b}\n---\n"), Some(FileDefect::Line(2)));
        assert_eq!(defect("---\na:b\n---\n"), Some(FileDefect::Line(2)));
        for text in ["no front matter", "", "--- a\nb", "text\n---\na: b\n---\n"] {
            assert_eq!(parse(text).expect("text").body, text);
        }
        assert_eq!(parse("---\r\na: b\r\n---\r\nthe\r\nbody").expect("text").body, "the\r\nbody");
        assert_eq!(parse("\u{feff}---\na: b\n---\nbody").expect("text").body, "body");
    }
}
