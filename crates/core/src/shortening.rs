//! Old results of tools are shortened in the prompt, before anything has to be summarised. A function of the prompt's entries and fixed
//! numbers: what a rewind leads back to has the same prompt again. Must never shorten what is new, or lose where the whole is.

use crate::content::Part;
use crate::id::EntryId;
use crate::prompt::Message;

/// The longest result that stays as it is.
const LONGEST: usize = 2000;

/// How much of the beginning stays.
const HEAD: usize = 700;

/// How much of the end stays.
const TAIL: usize = 300;

/// Which results are old, and where the whole of them is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortening {
    /// At least this many bytes at the end of the prompt are new, and fewer than twice as many. So the beginning of the prompt stays the
    /// same for as many bytes, for the caches of providers.
    pub step: usize,
    /// The folder with the whole results.
    pub folder: String,
}

/// A result that the prompt has in a shortened form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeResult {
    /// The name of its file in the folder. It begins with the id of its entry.
    pub name: String,
    /// All of it.
    pub content: String,
}

impl Shortening {
    /// How many bytes at the beginning of a prompt are old.
    pub fn old(&self, total: usize) -> usize {
        let step = self.step.max(1);
        (total / step).saturating_sub(1) * step
    }

    /// Whether a part is a result that is shortened once it is old.
    pub fn is_long(part: &Part) -> bool {
        matches!(part, Part::ToolResult { content, .. } if content.len() > LONGEST)
    }

    /// Shortens the long results of an entry.
    pub fn shorten(&self, entry: EntryId, message: &mut Message) -> Vec<WholeResult> {
        let mut whole = Vec::new();
        for part in &mut message.parts {
            let Part::ToolResult { content, .. } = part else { continue };
            if content.len() <= LONGEST {
                continue;
            }
            let name = format!("{entry}-{}.txt", whole.len() + 1);
            let shown = shortened(content, &format!("{}/{name}", self.folder));
            whole.push(WholeResult { name, content: std::mem::replace(content, shown) });
        }
        whole
    }
}

/// The beginning and the end of a text, and between them where the whole is.
fn shortened(text: &str, at: &str) -> String {
    let head = &text[..text.floor_char_boundary(HEAD)];
    let head = &head[..head.rfind('\n').map_or(head.len(), |end| end + 1)];
    let tail = &text[text.ceil_char_boundary(text.len() - TAIL)..];
    let tail = tail.find('\n').map_or(tail, |end| &tail[end + 1..]);
    let lines = |text: &str| text.matches('\n').count();
    let bytes = text.len() - head.len() - tail.len();
    let left_out = lines(text) - lines(head) - lines(tail);
    let head = head.trim_end();
    format!(
        "{head}\n[… {bytes} bytes, {left_out} lines of this old result left out; the whole is in {at} …]\n{tail}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Role, ToolOutcome};

    fn shortening(step: usize) -> Shortening {
        Shortening { step, folder: "/spool/c".into() }
    }

    #[test]
    fn boundary_moves_in_steps_and_leaves_one_to_two_steps() {
        let old = |total| shortening(100).old(total);
        assert_eq!([0, 99, 100, 199, 200, 299, 300, 1050].map(old), [0, 0, 0, 0, 100, 100, 200, 900]);
        for total in 200..2000 {
            assert!((100..200).contains(&(total - old(total))), "{total}");
        }
    }

    #[test]
    fn long_result_keeps_its_ends_and_names_the_whole() {
        let entry = "0199a000-0007-7000-8000-000000000000".parse::<EntryId>().expect("an id");
        let result = |content: &str| Part::ToolResult {
            call: "c".into(),
            content: content.into(),
            outcome: ToolOutcome::Ok,
        };
        let long: String = (0..1000).map(|at| format!("line {at} ü\n")).collect();
        let mut message =
            Message::new(Role::Tool, vec![result("short"), result(&long), Part::text(long.clone())]);
        let whole = shortening(1).shorten(entry, &mut message);
        let name = format!("{entry}-1.txt");
        assert_eq!(whole, [WholeResult { name: name.clone(), content: long.clone() }]);
        let [Part::ToolResult { content: short, .. }, Part::ToolResult { content, .. }, Part::Text(text)] =
            &message.parts[..]
        else {
            panic!("{message:?}")
        };
        assert_eq!((short.as_str(), text), ("short", &long), "only long results");
        assert!(content.starts_with("line 0 ü\nline 1") && content.ends_with("line 999 ü\n"), "{content}");
        assert!(content.contains(&format!("left out; the whole is in /spool/c/{name} …]")), "{content}");
        assert!(content.len() < 1200, "{}", content.len());
        // All lines are counted.
        let shown = content.lines().count() - 1;
        assert!(content.contains(&format!(" {} lines of this", 1000 - shown)), "{shown}: {content}");
        // A result without lines.
        let mut message = Message::new(Role::Tool, vec![result(&"ü".repeat(5000))]);
        assert_eq!(shortening(1).shorten(entry, &mut message).len(), 1);
        assert!(message.bytes() < 1200);
    }
}
