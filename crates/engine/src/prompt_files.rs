//! Prompts that people keep as files: commands, skills and agents, from the folder of a conversation and from the settings folder.
//! Finds and parses them, and gives a reason for each file that cannot be used.
//!
//! What a folder brings is untrusted: it is read with limits, and no link leads out. Nothing here runs a file's commands, and the
//! tools that a file names grant no permission.

mod command;
mod front_matter;
mod reading;

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use retake_core::{Digest, Field};
use retake_store::digest::of_text;

use crate::places::Places;
pub use command::{CommandFiles, command_message};
use front_matter::{FrontMatter, Parsed};
use reading::{Entries, Wall};

/// The longest file.
pub const MOST_BYTES: u64 = 64 << 10;

/// The most files of one kind.
pub const MOST_FILES: usize = 200;

/// The most entries of folders that are looked at for one kind, in one place.
const MOST_SEEN: usize = 2_000;

/// How deep files of commands and agents may lie in their folder.
const MOST_DEPTH: usize = 4;

/// The longest name, in characters.
const MOST_NAME: usize = 64;

/// The longest description, in characters.
const MOST_DESCRIPTION: usize = 1024;

/// A kind of such files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PromptKind {
    /// `commands/**/*.md`: a message that a person sends by its name. One in a subfolder is named `subfolder:name`.
    Command,
    /// `skills/*/SKILL.md`: instructions that the model reads when it needs them.
    Skill,
    /// `agents/**/*.md`: the description of a further agent.
    Agent,
}

impl PromptKind {
    fn folder(self) -> &'static str {
        match self {
            Self::Command => "commands",
            Self::Skill => "skills",
            Self::Agent => "agents",
        }
    }
}

/// Where such a file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PromptOrigin {
    /// The person's settings folder.
    Settings,
    /// The folder of the conversation, or one above it within its repository.
    Folder,
}

/// A file that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFile {
    /// Its kind.
    pub kind: PromptKind,
    /// Its name: letters, digits, and `-`, `_`, `.`, `:`.
    pub name: String,
    /// What it is for, in one line without control characters; empty if a command has neither a description nor text.
    pub description: String,
    /// Where it comes from.
    pub origin: PromptOrigin,
    /// Its path as it was found, which may lead over a link within its folder.
    pub path: PathBuf,
    /// The tools that it names (`tools` or `allowed-tools`). They never grant a permission.
    pub tools: Vec<String>,
    /// The model that it names.
    pub model: Option<String>,
    /// How often an agent may ask the model for one task (`max-turns` or `maxTurns`).
    pub turns: Option<u32>,
    /// The arguments of a command, as a hint for people.
    pub argument_hint: Option<String>,
    /// The text after the front matter.
    pub body: String,
    /// The digest of the whole text.
    pub digest: Digest,
}

/// A file that another one of the same name hides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowedFile {
    /// The file.
    pub file: PromptFile,
    /// The path of the file with the same name that counts.
    pub by: PathBuf,
}

/// A file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedFile {
    /// Its kind.
    pub kind: PromptKind,
    /// Where it comes from.
    pub origin: PromptOrigin,
    /// Its path; it may have any character.
    pub path: PathBuf,
    /// The reason.
    pub why: FileDefect,
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileDefect {
    /// It is a link that leads out of the folder.
    LeadsOut,
    /// It leads to a file with secrets.
    Secret,
    /// It belongs to somebody else, and lies above the folder.
    Foreign,
    /// It is not a regular file.
    NotRegular,
    /// It has more than this number of bytes.
    TooLarge(u64),
    /// It is not text in UTF-8.
    NotText,
    /// Its front matter has no end.
    NoEnd,
    /// This line of its front matter is no field.
    Line(usize),
    /// Its name has other characters than a name may have, or too many.
    Name,
    /// It has no description.
    NoDescription,
    /// It lies too deep, or there are more files or entries than this number.
    TooMany(usize),
    /// It cannot be read, for this reason of the system.
    Unreadable(String),
}

impl FileDefect {
    /// The word for programs.
    fn name(&self) -> &'static str {
        match self {
            Self::LeadsOut => "leads_out",
            Self::Secret => "secret",
            Self::Foreign => "foreign",
            Self::NotRegular => "not_regular",
            Self::TooLarge(_) => "too_large",
            Self::NotText => "not_text",
            Self::NoEnd => "no_end",
            Self::Line(_) => "line",
            Self::Name => "name",
            Self::NoDescription => "no_description",
            Self::TooMany(_) => "too_many",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// Its values, by name.
    fn fields(&self) -> Vec<(&'static str, Field)> {
        match self {
            Self::TooLarge(most) => vec![("most", (most >> 10).into())],
            Self::Line(line) => vec![("line", (*line as u64).into())],
            Self::TooMany(most) => vec![("most", (*most as u64).into())],
            Self::Unreadable(why) => vec![("problem", why.as_str().into())],
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for FileDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeadsOut => f.write_str("it is a link that leads out of the folder"),
            Self::Secret => f.write_str("it leads to a file with secrets"),
            Self::Foreign => f.write_str("it lies above the folder and belongs to another user"),
            Self::NotRegular => f.write_str("it is not a regular file"),
            Self::TooLarge(most) => write!(f, "it has more than {} kB", most >> 10),
            Self::NotText => f.write_str("it is not text in UTF-8"),
            Self::NoEnd => f.write_str("its front matter has no line --- at its end"),
            Self::Line(line) => {
                write!(f, "line {line} of its front matter is not a field of the form key: value")
            }
            Self::Name => {
                f.write_str("its name may have letters, digits, -, _, . and : only, and at most 64")
            }
            Self::NoDescription => f.write_str("it has no description"),
            Self::TooMany(most) => write!(f, "there are more than {most}; the rest is left out"),
            Self::Unreadable(why) => write!(f, "it cannot be read: {why}"),
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundPrompts {
    /// The files that count, by name: each name once.
    pub files: Vec<PromptFile>,
    /// Files that another one hides: the person's own hides that of the folder, the nearer one the one above it, and `.retake`
    /// hides `.claude`.
    pub shadowed: Vec<ShadowedFile>,
    /// Files that cannot be used.
    pub refused: Vec<RefusedFile>,
}

impl FoundPrompts {
    /// The file with this name that counts.
    pub fn get(&self, name: &str) -> Option<&PromptFile> {
        self.files.iter().find(|file| file.name == name)
    }
}

/// The files of a kind for a conversation in this folder. Blocks while it reads. It never fails: what cannot be used is listed.
pub fn find(kind: PromptKind, places: &Places) -> FoundPrompts {
    let mut search = Search { kind, places, files: Vec::new(), refused: Vec::new() };
    if let Some(config) = &places.config {
        search.place(&Wall::settings(config), config, Path::new(kind.folder()), PromptOrigin::Settings);
    }
    for folder in places.repository_folders() {
        for below in [".retake", ".claude"] {
            let within = Path::new(below).join(kind.folder());
            search.place(&Wall::folder(&folder), &folder, &within, PromptOrigin::Folder);
        }
    }
    let mut found = FoundPrompts { refused: search.refused, ..FoundPrompts::default() };
    let mut by_name: BTreeMap<String, PromptFile> = BTreeMap::new();
    for file in search.files {
        match by_name.get(&file.name) {
            Some(first) => found.shadowed.push(ShadowedFile { by: first.path.clone(), file }),
            None => {
                by_name.insert(file.name.clone(), file);
            }
        }
    }
    found.files = by_name.into_values().collect();
    found
}

/// A search for files of one kind, the preferred ones first.
struct Search<'a> {
    kind: PromptKind,
    places: &'a Places,
    files: Vec<PromptFile>,
    refused: Vec<RefusedFile>,
}

impl Search<'_> {
    /// Searches one place: `within` below `root`.
    fn place(&mut self, wall: &Wall, root: &Path, within: &Path, origin: PromptOrigin) {
        let mut seen = 0;
        let mut folders = vec![(within.to_path_buf(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let names = match wall.entries(&folder, MOST_SEEN.saturating_sub(seen)) {
                Ok(Entries { names, is_whole }) => {
                    seen += names.len();
                    if !is_whole {
                        self.refuse(origin, root.join(&folder), FileDefect::TooMany(MOST_SEEN));
                    }
                    names
                }
                Err(None) => continue,
                Err(Some(why)) => {
                    self.refuse(origin, root.join(&folder), why);
                    continue;
                }
            };
            for name in names {
                let path = folder.join(name);
                let is_markdown = path.extension().is_some_and(|extension| extension == "md");
                match self.kind {
                    PromptKind::Skill => self.add(wall, root, &path.join("SKILL.md"), within, origin),
                    _ if is_markdown => self.add(wall, root, &path, within, origin),
                    _ if depth < MOST_DEPTH && wall.is_folder(&path) => folders.push((path, depth + 1)),
                    _ => {}
                }
            }
        }
    }

    fn add(&mut self, wall: &Wall, root: &Path, path: &Path, within: &Path, origin: PromptOrigin) {
        match self.read(wall, root, path, within, origin) {
            Ok(Some(_)) if self.files.len() == MOST_FILES => {
                let is_told = |refused: &RefusedFile| refused.why == FileDefect::TooMany(MOST_FILES);
                if !self.refused.iter().any(is_told) {
                    self.refuse(origin, root.join(path), FileDefect::TooMany(MOST_FILES));
                }
            }
            Ok(Some(file)) => self.files.push(file),
            Ok(None) => {}
            Err(why) => self.refuse(origin, root.join(path), why),
        }
    }

    /// A file; `None` if there is none.
    fn read(
        &self,
        wall: &Wall,
        root: &Path,
        path: &Path,
        within: &Path,
        origin: PromptOrigin,
    ) -> Result<Option<PromptFile>, FileDefect> {
        let Some(read) = wall.read(path, MOST_BYTES)? else { return Ok(None) };
        if origin == PromptOrigin::Folder {
            let is_above = root != self.places.folder;
            if is_above && !self.places.is_trusted(read.about.uid()) {
                return Err(FileDefect::Foreign);
            }
            if self.places.guarded.guard(&read.leads).is_some() {
                return Err(FileDefect::Secret);
            }
        }
        let Parsed { fields, body } = front_matter::parse(&read.text)?;
        let below = path.strip_prefix(within).unwrap_or(path);
        let name = name(self.kind, below, &fields)?;
        let told = fields.text("description").map(|told| one_line(&told)).filter(|told| !told.is_empty());
        let description = match (self.kind, told) {
            (_, Some(told)) => told,
            (PromptKind::Command, None) => first_line(body),
            (PromptKind::Skill | PromptKind::Agent, None) => return Err(FileDefect::NoDescription),
        };
        Ok(Some(PromptFile {
            kind: self.kind,
            name,
            description,
            origin,
            path: root.join(path),
            tools: [fields.list("tools"), fields.list("allowed-tools")].concat(),
            model: fields.text("model").map(|model| one_line(&model)).filter(|model| !model.is_empty()),
            turns: fields
                .text("max-turns")
                .or_else(|| fields.text("maxTurns"))
                .and_then(|turns| turns.trim().parse().ok())
                .filter(|turns| *turns > 0),
            argument_hint: fields
                .text("argument-hint")
                .map(|hint| one_line(&hint))
                .filter(|hint| !hint.is_empty()),
            body: body.to_owned(),
            digest: of_text("prompt file", &read.text),
        }))
    }

    fn refuse(&mut self, origin: PromptOrigin, path: PathBuf, why: FileDefect) {
        if self.refused.len() < MOST_FILES {
            self.refused.push(RefusedFile { kind: self.kind, origin, path, why });
        }
    }
}

/// The name of a file: that of its path, or for a skill or an agent the one that it gives itself.
fn name(kind: PromptKind, below: &Path, fields: &FrontMatter) -> Result<String, FileDefect> {
    let of_path = || {
        let below = match kind {
            PromptKind::Skill => below.parent().unwrap_or(below).to_path_buf(),
            PromptKind::Command => below.with_extension(""),
            PromptKind::Agent => PathBuf::from(below.file_stem().unwrap_or_default()),
        };
        let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
        Some(parts?.join(":"))
    };
    let given = (kind != PromptKind::Command).then(|| fields.text("name")).flatten();
    given.or_else(of_path).filter(|name| is_name(name)).ok_or(FileDefect::Name)
}

/// Whether a text may be a name: nobody can mistake it for words, a path or an option.
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || "-_.:".contains(c);
    name.starts_with(char::is_alphanumeric) && name.chars().all(fits) && name.chars().count() <= MOST_NAME
}

/// A text as one line without control characters, with a limit.
fn one_line(text: &str) -> String {
    let is_gap = |c: char| c.is_whitespace() || c.is_control();
    let line = text.split(is_gap).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The first line of a prompt that says something, as its description.
fn first_line(body: &str) -> String {
    let mut lines = body.lines().map(|line| one_line(line.trim_start_matches('#')));
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
