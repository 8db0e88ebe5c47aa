//! Words for a shell. Must never change what a shell reads.

/// A word as a shell reads it: in quotes, unless it is plain.
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
    use super::shell_word;

    #[test]
    fn only_a_plain_word_has_no_quotes() {
        for (word, quoted) in [
            ("src/a-b_c.rs", "src/a-b_c.rs"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's $x", r"'it'\''s $x'"),
            ("A=b", "'A=b'"),
            ("--a=https://b:1/%c", "--a=https://b:1/%c"),
            ("ä", "'ä'"),
        ] {
            assert_eq!(shell_word(word), quoted);
        }
    }
}
