//! Parses the patch format that begins with `*** Begin Patch`, as other agents have taught it to models. Its hunks have no
//! line numbers. It must never guess: a line that it does not know is an error with its number.

use std::borrow::Cow;

use super::parse::{FilePatch, Hunk, Line, Side};
use crate::files::text;

const BEGIN: &str = "*** Begin Patch";
const END_LINE: &str = "*** End Patch";

/// The changes of the patch, file by file; `None` if it is in another format.
pub(super) fn parse(patch: &str) -> Option<Result<Vec<FilePatch<'_>>, String>> {
    // The first line may be that of a shell's here-document or of a code block.
    let begin = patch.lines().take(3).position(|line| line.trim() == BEGIN)?;
    let mut reader = Reader::default();
    for (index, line) in patch.lines().enumerate().skip(begin + 1) {
        if line.trim_end() == END_LINE {
            return Some(reader.files());
        }
        if let Err(why) = reader.line(index + 1, line) {
            return Some(Err(format!("line {} of the patch: {why}", index + 1)));
        }
    }
    Some(Err(format!("its last line, `{END_LINE}`, is missing")))
}

/// What follows the header of a file.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Body {
    #[default]
    Nothing,
    /// Only added lines.
    Content,
    Hunks,
}

#[derive(Default)]
struct Reader<'a> {
    files: Vec<FilePatch<'a>>,
    body: Body,
}

impl<'a> Reader<'a> {
    fn files(mut self) -> Result<Vec<FilePatch<'a>>, String> {
        if self.files.is_empty() {
            return Err("it names no file: use `*** Update File: name`, `*** Add File: name` or `*** Delete File: name`"
                .to_owned());
        }
        for hunk in self.files.iter_mut().flat_map(|file| &mut file.hunks) {
            // Empty lines at the end belong between two hunks.
            while hunk.lines.last().is_some_and(|line| line.side == Side::Both && line.text.is_empty()) {
                hunk.lines.pop();
            }
            if hunk.lines.iter().all(|line| line.side == Side::Both) {
                return Err(format!("line {} of the patch: the hunk changes nothing", hunk.line));
            }
            // Lines are added at the end, if there is no other place.
            hunk.at_end |= hunk.anchors.is_empty() && hunk.lines.iter().all(|line| line.side == Side::New);
        }
        let idle = self.files.iter().find(|file| file.hunks.is_empty() && file.old == file.new);
        match idle.and_then(|file| file.new.as_deref()) {
            Some(name) => Err(format!("it changes nothing in `{}`", text::escaped(name))),
            None => Ok(self.files),
        }
    }

    fn line(&mut self, number: usize, line: &'a str) -> Result<(), String> {
        if let Some(header) = line.strip_prefix("*** ") {
            return self.header(header.trim_end());
        }
        let Some(file) = self.files.last_mut() else {
            return Err("the header of a file must come first".to_owned());
        };
        if let (Body::Hunks, Some(anchor)) = (self.body, line.strip_prefix("@@")) {
            let anchor = Some(anchor.trim()).filter(|anchor| !anchor.is_empty());
            match file.hunks.last_mut().filter(|hunk| hunk.lines.is_empty()) {
                Some(hunk) => hunk.anchors.extend(anchor),
                None => file.hunks.push(Hunk::below(anchor, number)),
            }
            return Ok(());
        }
        let (side, text) = match (self.body, line.split_at_checked(1)) {
            (Body::Nothing, _) if line.trim().is_empty() => return Ok(()),
            (Body::Nothing, _) => return Err("no lines are expected here".to_owned()),
            (_, Some(("+", text))) => (Side::New, text),
            (Body::Content, _) => return Err("each line of a new file begins with `+`".to_owned()),
            (Body::Hunks, None) if line.is_empty() => (Side::Both, ""),
            (Body::Hunks, Some((" ", text))) => (Side::Both, text),
            (Body::Hunks, Some(("-", text))) => (Side::Old, text),
            (Body::Hunks, _) => return Err("a line of a hunk begins with a space, `-` or `+`".to_owned()),
        };
        if file.hunks.is_empty() {
            file.hunks.push(Hunk::below(None, number));
        }
        let Some(hunk) = file.hunks.last_mut() else { return Ok(()) };
        hunk.lines.push(Line::new(side, text));
        Ok(())
    }

    fn header(&mut self, header: &'a str) -> Result<(), String> {
        let named = |what: &str| header.strip_prefix(what).map(|name| Cow::Borrowed(name.trim()));
        let (old, new, body) = if let Some(name) = named("Update File:") {
            (Some(name.clone()), Some(name), Body::Hunks)
        } else if let Some(name) = named("Add File:") {
            (None, Some(name), Body::Content)
        } else if let Some(name) = named("Delete File:") {
            (Some(name), None, Body::Nothing)
        } else {
            return self.option(header);
        };
        if let Some(Cow::Borrowed("")) = old.as_ref().or(new.as_ref()) {
            return Err("the name of the file is missing".to_owned());
        }
        self.body = body;
        self.files.push(FilePatch { old, new, ..FilePatch::default() });
        Ok(())
    }

    /// A line that says more about the file or the hunk above it.
    fn option(&mut self, header: &'a str) -> Result<(), String> {
        let file = self.files.last_mut().filter(|_| self.body == Body::Hunks);
        match (file, header.strip_prefix("Move to:")) {
            (Some(file), Some(name)) if file.hunks.is_empty() && file.old == file.new => {
                file.new = Some(Cow::Borrowed(name.trim()));
                Ok(())
            }
            (Some(file), None) if header == "End of File" && !file.hunks.is_empty() => {
                if let Some(hunk) = file.hunks.last_mut() {
                    hunk.at_end = true;
                }
                Ok(())
            }
            _ => Err("it is not a line of this format here".to_owned()),
        }
    }
}
