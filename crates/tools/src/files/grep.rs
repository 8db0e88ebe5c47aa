//! The tool `grep`: lines of files that match a regular expression, by ripgrep's libraries. It skips binary files, and
//! must never load a file into memory because of one long line.

mod found;

use std::path::Path;

use async_trait::async_trait;
use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use retake_core::Intent;
use schemars::JsonSchema;
use serde::Deserialize;

use super::place::PathBase;
use super::text;
use super::walk::{self, HiddenPaths, WalkScope};
use super::work::{Stop, Stoppable, look};
use super::{disk, glob};
use crate::call::{Call, Output};
use crate::own::{OwnTool, read_only_intent};
use found::{FoundMatches, InFile};

/// The most lines around a match.
const MOST_CONTEXT: usize = 20;
/// The longest line that is searched, in bytes.
const LONGEST_LINE: usize = 16_000_000;

/// Finds lines.
pub(super) struct GrepFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A regular expression in ripgrep's syntax, such as `fn \w+_test\(`. It matches within one line.
    pattern: String,
    /// The file or folder to search. Default: the conversation's folder.
    path: Option<String>,
    /// Search only files whose names match: `*.rs` (at any depth), `src/**/*.ts`.
    glob: Option<String>,
    /// The number of lines to show before and after each match, at most 20.
    #[serde(default)]
    context: usize,
    /// Ignore the case of letters.
    #[serde(default)]
    ignore_case: bool,
    /// What to show: `lines` (matching lines with their numbers), `files` (names of files only) or `count` (the number of
    /// matching lines of each file).
    #[serde(default)]
    show: Show,
    /// Also search files that `.gitignore` excludes.
    #[serde(default)]
    all: bool,
}

/// What is shown of what was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Show {
    #[default]
    Lines,
    Files,
    Count,
}

#[async_trait]
impl OwnTool for GrepFiles {
    type Arguments = Arguments;
    const NAME: &'static str = "grep";
    const ABOUT: &'static str = "Searches the contents of files for a regular expression. Skips binary files, and files that `.gitignore` \
         excludes. Shows at most 500 lines. To find files by name, use `glob`.";

    fn intent(&self, arguments: Arguments, ground: &PathBase) -> Result<Intent, String> {
        matchers(&arguments)?;
        let place = ground.place(arguments.path.as_deref().unwrap_or_default())?;
        let line = format!("grep {} in {}", text::escaped(&arguments.pattern), ground.line(&place.path));
        Ok(read_only_intent(line, place.read()))
    }

    async fn call(&self, call: Call, arguments: Arguments) -> Result<Output, String> {
        // It shows the same as reading would.
        let searched =
            look(&call, &["grep", "read"], move |ground, veil, stop| grep(&arguments, ground, veil, stop));
        searched.await.map(Output::ok)
    }
}

fn matchers(arguments: &Arguments) -> Result<(RegexMatcher, Option<GlobMatcher>), String> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(arguments.ignore_case).line_terminator(Some(b'\n'));
    let regex = builder.build(&arguments.pattern);
    let regex = regex.map_err(|error| format!("the pattern is not a valid regular expression:\n{error}"))?;
    Ok((regex, arguments.glob.as_deref().map(glob::matcher).transpose()?))
}

fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(LONGEST_LINE))
        .build()
}

fn grep(arguments: &Arguments, ground: &PathBase, veil: &HiddenPaths, stop: &Stop) -> Result<String, String> {
    let (regex, glob) = matchers(arguments)?;
    let (place, kind) = walk::base(ground, arguments.path.as_deref())?;
    veil.agreed(&place)?;
    let mut searcher = searcher(arguments.context.min(MOST_CONTEXT));
    let mut found = FoundMatches::new(arguments.show);
    let mut unread = 0;
    let real = |path: &Path| {
        path.strip_prefix(&place.path).map_or_else(|_| place.real(), |below| place.real().join(below))
    };
    let mut search = |path: &Path| {
        let Some((inner, _)) =
            disk::open(path).ok().filter(|(file, _)| !veil.covers_opened(file, &real(path)))
        else {
            unread += 1;
            return true;
        };
        let file = Stoppable { inner, stop: stop.clone() };
        let mut in_file = InFile::new(&found);
        match searcher.search_reader(&regex, file, &mut in_file) {
            Ok(()) => found.take(ground.shown(path), in_file),
            Err(_) if stop.is_set() => found.take(ground.shown(path), in_file),
            Err(_) => unread += 1,
        }
        !found.full
    };
    let mut missed = walk::WalkOmissions::default();
    if kind.is_dir() {
        missed = walk::walk(&place.path, WalkScope::of(arguments.all), veil, None, stop, |entry| {
            let below = entry.path().strip_prefix(&place.path).unwrap_or(entry.path());
            let wanted = entry.file_type().is_some_and(|kind| kind.is_file())
                && glob.as_ref().is_none_or(|glob| glob.is_match(below));
            !wanted || search(entry.path())
        });
    } else if kind.is_file() && veil.covers(&place.path) {
        missed.left_out = 1;
    } else if kind.is_file() {
        search(&place.path);
    } else {
        return Err(format!("`{}` is neither a file nor a folder", ground.shown(&place.named)));
    }
    missed.unread += unread;
    missed.stopped |= stop.is_set();
    Ok(found.said(missed))
}
