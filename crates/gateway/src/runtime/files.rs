//! The files of a message: they are fetched at once, and their type follows from their bytes. Must never trust a name or a type that
//! somebody sent, and never let a file stop its message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use retake_wire::Part;
use retake_wire::chat::InboundFile;

use super::guarded;
use crate::adapter::Adapter;
use crate::capabilities::LengthUnit;
use crate::failure::{Failure, Refused};
use crate::sentences::{FileProblem, Sentence};
use crate::text::beginning;

/// The longest name of a file.
const LONGEST_NAME: usize = 100;

/// What the model reads in place of a voice message.
const NOT_HEARD: &str = "[A voice message could not be transcribed.]";

/// How large files may be, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) one: u64,
    pub(super) together: u64,
}

/// The parts for the files of a message.
pub(super) async fn parts(adapter: &dyn Adapter, files: &[InboundFile], sizes: Sizes) -> Vec<Part> {
    let (mut parts, mut left) = (Vec::new(), sizes.together);
    for file in files {
        let name = name(file);
        if file.is_voice {
            parts.push(Part::text(NOT_HEARD));
            continue;
        }
        let most = sizes.one.min(left);
        let fetched = match file.size {
            Some(size) if size > most => Err(Failure::Refused(Refused::TooLong)),
            _ => guarded(adapter.fetch(file, most)).await,
        };
        let problem = match fetched {
            Ok(bytes) if bytes.len() as u64 <= most => {
                left -= bytes.len() as u64;
                parts.push(part(name, &bytes));
                continue;
            }
            Ok(_) | Err(Failure::Refused(Refused::TooLong)) => FileProblem::TooLarge(most),
            Err(Failure::NotFound | Failure::Refused(Refused::TooOld)) => FileProblem::Expired,
            Err(_) => FileProblem::NotFetched,
        };
        parts.push(Part::text(format!("[{}]", Sentence::File(name, problem).text())));
    }
    parts
}

fn part(name: String, bytes: &[u8]) -> Part {
    let (media_type, is_image) = media_type(bytes);
    let data = Some(STANDARD.encode(bytes));
    let media_type = media_type.to_owned();
    match is_image {
        true => Part::Image { media_type, data, url: None },
        false => Part::File { name, media_type: Some(media_type), data, url: None },
    }
}

/// The media type of the bytes, and whether it is a picture.
fn media_type(bytes: &[u8]) -> (&'static str, bool) {
    let is_webp = || bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    match bytes {
        _ if bytes.starts_with(b"\x89PNG\r\n\x1a\n") => ("image/png", true),
        _ if bytes.starts_with(b"\xff\xd8\xff") => ("image/jpeg", true),
        _ if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") => ("image/gif", true),
        _ if is_webp() => ("image/webp", true),
        _ if bytes.starts_with(b"%PDF-") => ("application/pdf", false),
        _ if !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok() => ("text/plain", false),
        _ => ("application/octet-stream", false),
    }
}

/// The name of a file as it can be shown and stored: the last part of its path, in one line.
fn name(file: &InboundFile) -> String {
    let name = file.name.as_deref().unwrap_or_default();
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let clean: String =
        last.chars().filter(|c| !c.is_control() && !is_hidden(*c) && !"<>:\"|?*".contains(*c)).collect();
    match beginning(clean.trim().trim_start_matches('.'), LONGEST_NAME, LengthUnit::Chars).trim() {
        "" => "file".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(given: &str) -> String {
        let file = InboundFile {
            handle: String::new(),
            name: Some(given.to_owned()),
            media_type: None,
            size: None,
            is_voice: false,
        };
        name(&file)
    }

    /// Case 87: names are cleaned.
    #[test]
    fn gateways_case_87_names_of_files_are_the_last_part_of_a_path_in_one_line() {
        let rows = [
            ("../../etc/passwd", "passwd"),
            ("C:\\a\\b.txt", "b.txt"),
            ("..", "file"),
            ("", "file"),
            (".bashrc", "bashrc"),
            ("a\u{202e}gpj.exe\n", "agpj.exe"),
            ("a\0b?.txt", "ab.txt"),
        ];
        for (given, expected) in rows {
            assert_eq!(named(given), expected, "{given:?}");
        }
        assert_eq!(named(&"ä".repeat(300)).chars().count(), LONGEST_NAME);
    }

    /// Case 87: a picture that says it is text is a picture.
    #[test]
    fn gateways_case_87_the_type_of_a_file_follows_from_its_bytes() {
        let rows: [(&[u8], &str); 8] = [
            (b"\x89PNG\r\n\x1a\n....", "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a..", "image/gif"),
            (b"RIFF....WEBPVP8 ", "image/webp"),
            (b"RIFF....WAVEfmt ", "text/plain"),
            (b"%PDF-1.7\n\xff", "application/pdf"),
            ("ä = 1\n".as_bytes(), "text/plain"),
            (b"\x7fELF\0\0", "application/octet-stream"),
        ];
        for (bytes, expected) in rows {
            assert_eq!(media_type(bytes).0, expected);
        }
    }
}
