//! Reads a secret: keys that are not shown. Must never print them.

use std::io::{self, Read};

/// The longest secret.
const LONGEST: usize = 4096;

/// The keys until Enter, without an echo. `None` if the person cancelled with Ctrl-C or Ctrl-D.
pub fn line(keys: &mut impl Read) -> io::Result<Option<String>> {
    let (mut line, mut key) = (Vec::new(), [0]);
    loop {
        if keys.read(&mut key)? == 0 {
            return Ok(None);
        }
        match key[0] {
            b'\r' | b'\n' => return Ok(Some(String::from_utf8_lossy(&line).into_owned())),
            // Ctrl-C, Ctrl-D.
            3 | 4 => return Ok(None),
            // Backspace takes a whole character.
            8 | 127 => while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            key if line.len() < LONGEST => line.push(key),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn secret_ends_with_enter_and_backspace_takes_a_character() {
        let read = |keys: &[u8]| line(&mut &*keys).expect("read");
        assert_eq!(read(b"abc\nrest").as_deref(), Some("abc"));
        assert_eq!(read("aü\x7f\x7fb\r".as_bytes()).as_deref(), Some("b"));
        assert_eq!((read(b"abc"), read(b"a\x03"), read(b"\x04")), (None, None, None));
    }
}
