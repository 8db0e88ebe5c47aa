//! Messages that were joined to one prompt: which part of its content is whose. An edit of one of them changes its own part only. Must
//! never guess: content that the shares do not make up is not split.

use super::ChatOrigin;
use crate::content::Part;

/// What a message of a chat contributed to the prompt that it was joined to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChatShare {
    /// The platform's id of the message.
    pub message: String,
    /// The length of its text, in bytes.
    pub text: usize,
    /// How many of the parts after the text are its own.
    pub files: usize,
    /// Whether its text goes on where the one before was cut. Otherwise a line break is between two texts.
    pub is_rest: bool,
}

impl ChatOrigin {
    /// Whether a message is the turn's message, or one of those that were joined to it.
    pub fn is_of(&self, message: &str) -> bool {
        self.message == message || self.joined.iter().any(|share| share.message == message)
    }
}

/// The contents of joined messages, in their order. `None` if the shares do not make up the content.
pub fn split_joined(parts: &[Part], joined: &[ChatShare]) -> Option<Vec<Vec<Part>>> {
    let has_text = joined.iter().any(|share| share.text > 0);
    let (mut text, mut files) = match parts.split_first() {
        Some((Part::Text(text), files)) if has_text => (text.as_str(), files),
        _ => ("", parts),
    };
    let (mut pieces, mut is_begun) = (Vec::new(), false);
    for share in joined {
        if share.text > 0 && is_begun && !share.is_rest {
            text = text.strip_prefix('\n')?;
        }
        is_begun |= share.text > 0;
        let (own_text, rest) = text.split_at_checked(share.text)?;
        let (own_files, others) = files.split_at_checked(share.files)?;
        (text, files) = (rest, others);
        let own_text = (!own_text.trim().is_empty()).then(|| Part::text(own_text));
        pieces.push(own_text.into_iter().chain(own_files.iter().cloned()).collect());
    }
    // What follows the files was added to the prompt, and is added again.
    text.is_empty().then_some(pieces)
}

/// The prompt of joined messages, and the share of each. A message without content has none any more.
pub fn join_pieces(pieces: Vec<(ChatShare, Vec<Part>)>) -> (Vec<Part>, Vec<ChatShare>) {
    let (mut text, mut files, mut joined) = (String::new(), Vec::new(), Vec::new());
    for (share, parts) in pieces {
        if parts.is_empty() {
            continue;
        }
        let mut parts = parts.into_iter().peekable();
        let own = match parts.next_if(|part| matches!(part, Part::Text(_))) {
            Some(Part::Text(own)) => own,
            _ => String::new(),
        };
        if !text.is_empty() && !own.is_empty() && !share.is_rest {
            text.push('\n');
        }
        text.push_str(&own);
        let before = files.len();
        files.extend(parts);
        joined.push(ChatShare { text: own.len(), files: files.len() - before, ..share });
    }
    let text = (!text.is_empty()).then(|| Part::text(text));
    if joined.len() == 1 {
        joined.iter_mut().for_each(|share| share.is_rest = false);
    }
    (text.into_iter().chain(files).collect(), joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(message: &str, text: usize, files: usize, is_rest: bool) -> ChatShare {
        ChatShare { message: message.to_owned(), text, files, is_rest }
    }

    #[test]
    fn joined_messages_are_split_as_they_were() {
        let picture = |name: &str| Part::Facts(vec![crate::content::Fact::new("picture", name)]);
        let joined = [
            share("1", 5, 1, false),
            share("2", 0, 1, false),
            share("3", 3, 0, false),
            share("4", 2, 0, true),
        ];
        let parts = [Part::text("first\nthird"), picture("a"), picture("b"), Part::text("added later")];
        let pieces = split_joined(&parts, &joined).expect("split");
        let expected = [
            vec![Part::text("first"), picture("a")],
            vec![picture("b")],
            vec![Part::text("thi")],
            vec![Part::text("rd")],
        ];
        assert_eq!(pieces, expected);
        let again = join_pieces(joined.iter().cloned().zip(pieces).collect());
        assert_eq!(again, (parts[..3].to_vec(), joined.to_vec()));
    }

    #[test]
    fn content_that_the_shares_do_not_make_up_is_not_split() {
        let joined = [share("1", 2, 0, false), share("2", 2, 0, false)];
        for odd in ["ab cd", "ab\nc", "ab\ncde", "abcde", "é\n", ""] {
            assert_eq!(split_joined(&[Part::text(odd)], &joined), None, "{odd}");
        }
        assert_eq!(
            split_joined(&[Part::text("ab\ncd")], &[share("1", 5, 1, false)]),
            None,
            "a file is missing"
        );
    }

    #[test]
    fn message_without_content_leaves_the_prompt() {
        let joined = [share("1", 3, 0, false), share("2", 3, 0, false)];
        let pieces = joined.into_iter().zip([Vec::new(), vec![Part::text("two")]]).collect();
        assert_eq!(join_pieces(pieces), (vec![Part::text("two")], vec![share("2", 3, 0, false)]));
    }
}
