//! Code in colours. Loading grammars, the first piece of each language, and long blocks are slow, so a thread of their own does
//! them. Until then code is plain. Must never delay a drawing.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::wrap::Run;
use crate::ui::theme::{Paint, Theme};

/// The most lines of a block with colours.
const MOST_LINES: usize = 2_000;

/// The most lines of a block that is painted while drawing.
const AT_ONCE: usize = 40;

/// A longer line ends the colours of its block.
const LONGEST_LINE: usize = 1_000;

/// How much of the first block of a language is read ahead.
const SAMPLE: usize = 8_000;

/// The most lines of long blocks that are kept.
const KEPT: usize = 20_000;

/// For each line, the ends of its pieces and their looks.
type Painted = Vec<Vec<(usize, Paint)>>;

/// What is known about code.
#[derive(Default)]
struct HighlightCache {
    /// Languages, and whether they are loaded.
    languages: HashMap<String, bool>,
    /// Long blocks; `None` while they are being painted.
    blocks: HashMap<u64, Option<Arc<Painted>>>,
    /// Their number of lines.
    lines: usize,
}

static GRAMMARS: OnceLock<SyntaxSet> = OnceLock::new();
static KNOWN: Mutex<Option<HighlightCache>> = Mutex::new(None);
static LANGUAGES: AtomicU64 = AtomicU64::new(0);
static BLOCKS: AtomicU64 = AtomicU64::new(0);

/// A number that changes whenever code may look different.
pub(crate) fn generation() -> u64 {
    languages() + BLOCKS.load(Ordering::Acquire)
}

/// A number that changes whenever code drawn line by line may look different.
pub(super) fn languages() -> u64 {
    LANGUAGES.load(Ordering::Acquire)
}

/// Changes the number as if a language had been loaded.
#[cfg(test)]
pub(super) fn learned() {
    LANGUAGES.fetch_add(1, Ordering::Release);
}

/// Loads a language now.
#[cfg(test)]
pub(crate) fn warm(info: &str) {
    let name = language(info);
    if note(&name, false) != Some(true) {
        learn(&name, "");
    }
}

fn grammars() -> &'static SyntaxSet {
    GRAMMARS.get_or_init(SyntaxSet::load_defaults_newlines)
}

/// Calls `f` with the shared state.
fn known<T>(f: impl FnOnce(&mut HighlightCache) -> T) -> T {
    let mut known: MutexGuard<'_, Option<HighlightCache>> =
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    f(known.get_or_insert_default())
}

/// The language name from the text after the fence.
fn language(info: &str) -> String {
    let name = info.trim().split([' ', ',', '{', ':', '\t']).next().unwrap_or_default().to_lowercase();
    let usual = match name.as_str() {
        "ts" | "tsx" | "jsx" | "typescript" | "mjs" | "cjs" | "json5" | "jsonc" => "js",
        "shell" | "zsh" | "console" | "shellsession" | "fish" | "dockerfile" => "bash",
        "toml" | "ini" | "env" => "properties",
        "kotlin" | "kt" => "java",
        "cuda" | "c++" => "cpp",
        "csharp" => "cs",
        other => other,
    };
    usual.to_owned()
}

/// Records a language; returns whether it was known and loaded before.
fn note(name: &str, learnt: bool) -> Option<bool> {
    known(|known| match known.languages.get(name).copied() {
        Some(was) if was || !learnt => Some(was),
        was => {
            known.languages.insert(name.to_owned(), learnt);
            was
        }
    })
}

fn learn(name: &str, sample: &str) {
    if let Some(syntax) = grammars().find_syntax_by_token(name) {
        let mut state = ParseState::new(syntax);
        for line in sample.lines().filter(|line| line.len() <= LONGEST_LINE) {
            if state.parse_line(&format!("{line}\n"), grammars()).is_err() {
                break;
            }
        }
    }
    note(name, true);
    LANGUAGES.fetch_add(1, Ordering::Release);
}

fn syntax(info: &str, sample: &str) -> Option<&'static SyntaxReference> {
    let name = language(info);
    if name.is_empty() || name.len() > 32 {
        return None;
    }
    match note(&name, false) {
        Some(true) => GRAMMARS.get()?.find_syntax_by_token(&name),
        Some(false) => None,
        None => {
            let sample = sample.lines().take(100).collect::<Vec<_>>().join("\n");
            let sample: String = sample.chars().take(SAMPLE).collect();
            std::thread::spawn(move || learn(&name, &sample));
            None
        }
    }
}

fn key(info: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (language(info), text).hash(&mut hasher);
    hasher.finish()
}

/// A long block, once it is painted; the first call starts the painting.
fn block(info: &str, text: &str, syntax: &'static SyntaxReference) -> Option<Arc<Painted>> {
    let key = key(info, text);
    let is_new = known(|known| match known.blocks.get(&key) {
        Some(painted) => Err(painted.clone()),
        None => Ok(known.blocks.insert(key, None)),
    });
    if let Err(painted) = is_new {
        return painted;
    }
    let text = text.to_owned();
    std::thread::spawn(move || {
        let mut brush = PaneContext::new(syntax);
        let painted = text.lines().map_while(|line| brush.line(line)).collect();
        keep(key, painted);
        BLOCKS.fetch_add(1, Ordering::Release);
    });
    None
}

fn keep(key: u64, painted: Painted) {
    known(|known| {
        if known.lines > KEPT {
            (known.lines, known.blocks) = (0, HashMap::new());
        }
        known.lines += painted.len();
        known.blocks.insert(key, Some(Arc::new(painted)));
    });
}

/// Paints lines in order.
#[derive(Clone, Debug)]
struct PaneContext {
    parse: ParseState,
    stack: ScopeStack,
    lines: usize,
}

impl PaneContext {
    fn new(syntax: &SyntaxReference) -> Self {
        Self { parse: ParseState::new(syntax), stack: ScopeStack::new(), lines: 0 }
    }

    /// The next line; `None` if it and all following ones have no colours.
    fn line(&mut self, text: &str) -> Option<Vec<(usize, Paint)>> {
        self.lines += 1;
        if text.len() > LONGEST_LINE || self.lines > MOST_LINES {
            return None;
        }
        let changes = self.parse.parse_line(&format!("{text}\n"), grammars()).ok()?;
        let mut pieces = Vec::with_capacity(changes.len() + 1);
        for (at, change) in changes {
            pieces.push((at.min(text.len()), paint(&self.stack)));
            self.stack.apply(&change).ok()?;
        }
        pieces.push((text.len(), paint(&self.stack)));
        Some(pieces)
    }
}

/// A code block, line by line.
#[derive(Clone, Debug)]
pub(super) struct Code {
    theme: Theme,
    how: ColourSource,
}

/// The source of its colours.
#[derive(Clone, Debug)]
enum ColourSource {
    /// None.
    Plain,
    /// Painted while it is drawn.
    Now(Box<PaneContext>, Painted),
    /// Painted before; with the number of drawn lines.
    Before(Arc<Painted>, usize),
}

impl Code {
    /// A whole block, in the language after the fence.
    pub(super) fn whole(info: &str, text: &str, theme: Theme) -> Self {
        let how = match syntax(info, text) {
            None => ColourSource::Plain,
            Some(syntax) if text.lines().take(AT_ONCE + 1).count() <= AT_ONCE => now(syntax),
            Some(syntax) => block(info, text, syntax)
                .map_or(ColourSource::Plain, |painted| ColourSource::Before(painted, 0)),
        };
        Self { theme, how }
    }

    /// A growing block. The sample is its beginning.
    pub(super) fn growing(info: &str, sample: &str, theme: Theme) -> Self {
        Self { theme, how: syntax(info, sample).map_or(ColourSource::Plain, now) }
    }

    /// Whether its language is known.
    pub(super) fn has_colours(&self) -> bool {
        !matches!(self.how, ColourSource::Plain)
    }

    /// Whether both paint the following lines alike.
    pub(super) fn is_in_state_of(&self, other: &Self) -> bool {
        match (&self.how, &other.how) {
            (ColourSource::Now(one, _), ColourSource::Now(two, _)) => {
                one.parse == two.parse && one.stack == two.stack
            }
            _ => false,
        }
    }

    /// The next line, without its end; it is safe.
    pub(super) fn line(&mut self, text: &str) -> Run {
        let pieces = match &mut self.how {
            ColourSource::Plain => None,
            ColourSource::Now(brush, painted) => {
                brush.line(text).inspect(|pieces| painted.push(pieces.clone()))
            }
            ColourSource::Before(painted, drawn) => {
                *drawn += 1;
                painted.get(*drawn - 1).cloned()
            }
        };
        if pieces.is_none() {
            self.how = ColourSource::Plain;
        }
        self.run(text, pieces)
    }

    /// The next line, which is still incomplete.
    pub(super) fn peek(&self, text: &str) -> Run {
        match &self.how {
            ColourSource::Now(brush, _) => self.run(text, brush.clone().line(text)),
            _ => self.run(text, None),
        }
    }

    /// A growing block has ended: its colours are kept for drawing the whole.
    pub(super) fn ended(self, info: &str, text: &str) {
        if let ColourSource::Now(_, painted) = self.how
            && painted.len() > AT_ONCE
        {
            keep(key(info, text), painted);
        }
    }

    fn run(&self, text: &str, pieces: Option<Vec<(usize, Paint)>>) -> Run {
        let mut run = Run::default();
        let mut from = 0;
        for (to, paint) in pieces.unwrap_or_else(|| vec![(text.len(), Paint::Plain)]) {
            run.push(text.get(from..to).unwrap_or_default(), self.theme.style(paint));
            from = to;
        }
        run
    }
}

fn now(syntax: &SyntaxReference) -> ColourSource {
    ColourSource::Now(Box::new(PaneContext::new(syntax)), Vec::new())
}

/// Prefixes of scope names, more specific ones first.
const PAINTS: &[(&str, Paint)] = &[
    ("comment", Paint::Comment),
    ("constant.character.escape", Paint::Number),
    ("string", Paint::Text),
    ("constant", Paint::Number),
    ("keyword.operator", Paint::Plain),
    ("keyword", Paint::Keyword),
    ("storage", Paint::Keyword),
    ("entity.name.function", Paint::Function),
    ("support.function", Paint::Function),
    ("variable.function", Paint::Function),
    ("entity.name.tag", Paint::Keyword),
    ("entity.name", Paint::Type),
    ("support.type", Paint::Type),
    ("support.class", Paint::Type),
    ("entity.other.attribute-name", Paint::Function),
    ("markup.inserted", Paint::Added),
    ("markup.deleted", Paint::Removed),
    ("markup.heading", Paint::Heading),
];

fn paint(stack: &ScopeStack) -> Paint {
    static SCOPES: OnceLock<Vec<(Scope, Paint)>> = OnceLock::new();
    let scopes = SCOPES.get_or_init(|| {
        PAINTS.iter().filter_map(|(name, paint)| Some((Scope::new(name).ok()?, *paint))).collect()
    });
    let of = |scope: &Scope| scopes.iter().find(|(known, _)| known.is_prefix_of(*scope));
    stack.scopes.iter().rev().find_map(of).map_or(Paint::Plain, |(_, paint)| *paint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_has_the_colours_of_the_theme() {
        warm("rust");
        let theme = Theme::default();
        let mut code = Code::whole("rust,ignore", "", theme);
        let spans = code.line("let x = \"a\"; // why").wrap(80).remove(0);
        let painted =
            |text: &str| spans.iter().find(|span| span.content.contains(text)).map(|span| span.style);
        assert_eq!(painted("let"), Some(theme.style(Paint::Keyword)));
        assert_eq!(painted("\"a\""), Some(theme.style(Paint::Text)));
        assert_eq!(painted("why"), Some(theme.style(Paint::Comment)));
    }

    #[test]
    fn code_of_an_unknown_language_is_plain() {
        warm("klingon");
        let theme = Theme::default();
        for info in ["klingon", ""] {
            let spans = Code::whole(info, "", theme).line("fn main() {}").wrap(80).remove(0);
            assert_eq!(spans.len(), 1, "{info}");
        }
    }

    fn is_plain(code: &Code) -> bool {
        matches!(code.how, ColourSource::Plain)
    }

    /// Waits until another thread makes a condition true.
    fn becomes(what: &str, is_so: impl Fn() -> bool) {
        let step = std::time::Duration::from_millis(5);
        for _ in 0..12_000 {
            if is_so() {
                return;
            }
            std::thread::park_timeout(step);
        }
        panic!("in the end {what}");
    }

    #[test]
    fn language_is_loaded_while_drawing_continues() {
        let before = generation();
        let theme = Theme::default();
        assert!(is_plain(&Code::whole("python", "def f(): pass", theme)));
        becomes("the language is learnt", || !is_plain(&Code::whole("python", "", theme)));
        becomes("its users are told", || generation() > before);
    }

    #[test]
    fn long_block_is_highlighted_while_drawing_continues() {
        warm("rust");
        let theme = Theme::default();
        let text = "let beside = 1;\n".repeat(AT_ONCE + 1);
        assert!(is_plain(&Code::whole("rust", &text, theme)));
        becomes("the block is painted", || !is_plain(&Code::whole("rust", &text, theme)));
    }

    #[test]
    fn a_block_that_grew_keeps_its_colours() {
        warm("rust");
        let theme = Theme::default();
        let text = "let grown = 1;\n".repeat(AT_ONCE + 1);
        let mut code = Code::growing("rust", "", theme);
        text.lines().for_each(|line| assert!(!code.line(line).is_empty()));
        code.ended("rust", &text);
        assert!(!is_plain(&Code::whole("rust", &text, theme)));
    }
}
