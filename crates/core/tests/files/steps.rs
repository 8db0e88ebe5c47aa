//! Random steps, as plain numbers: their meaning depends on the state when they are done. So any part of a sequence
//! is a sequence, and shrinking works.

use std::fmt;

use proptest::prelude::*;
use proptest::sample::select;
use retake_core::Choice;
use retake_core::Scope;

/// Files, and then folders.
const NAMES: [&str; 8] = ["a", "b", "c", "d/x", "d/e/x", "d", "d/e", "g"];
const FILES: usize = 5;

/// A path, by its index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Name(pub(super) u8);

impl Name {
    pub(super) fn str(self) -> &'static str {
        NAMES[self.at()]
    }

    fn at(self) -> usize {
        usize::from(self.0) % NAMES.len()
    }

    pub(super) fn is_folder(self) -> bool {
        self.at() >= FILES
    }

    /// A file: the path itself, or one in it.
    pub(super) fn file(self) -> &'static str {
        match self.str() {
            "d" => "d/x",
            "d/e" => "d/e/x",
            "g" => "g/x",
            file => file,
        }
    }

    /// A folder.
    pub(super) fn folder(self) -> &'static str {
        if self.is_folder() { self.str() } else { NAMES[FILES + self.at() % 3] }
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({})", self.0)
    }
}

/// Binary content.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bytes {
    Empty,
    Binary,
}

/// An edit, by any author.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    /// Writes this many lines into a place of a text.
    Lines(Name, u8, u8),
    Write(Name, Bytes),
    Remove(Name),
    Mode(Name),
    Link(Name, Name),
    Folder(Name),
    /// A text replaces a folder.
    Flat(Name),
    Rename(Name, Name),
    Copy(Name, Name),
    Hard(Name, Name),
    /// An extended attribute of a file.
    Tag(Name),
}

impl Edit {
    /// The file whose attribute it sets.
    pub(super) fn tagged(&self) -> Option<&'static str> {
        match self {
            Self::Tag(name) => Some(name.file()),
            _ => None,
        }
    }
}

/// An action; a number counts back from the newest possible target.
#[derive(Clone, Copy, Debug)]
pub(super) enum Aim {
    Rewind(u8),
    /// A rewind to before a turn.
    Turn(u8),
    Retry(u8),
    Checkout(Option<u8>),
    Choose(u8, u8),
    /// To an earlier head.
    Restore(u8),
    Drop(u8),
    /// Everything that was dropped.
    Show,
    Undo(u8),
    Redo(u8),
}

/// A fault while files are restored, at the n-th point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    Never,
    Fails(u8),
    Dies(u8),
    /// A person saves a file.
    Saves(u8, Name),
    /// No fault, but the same request arrives twice at once.
    Twins,
}

/// The choices for paths, and for all others.
pub(super) type Chosen = (Vec<(Name, Choice)>, Option<Choice>);

/// A step. The first number of its pair names the conversation.
#[derive(Clone, Debug)]
pub(super) enum Do {
    /// A call that makes these edits, in a turn of its own or not.
    Call(bool, Vec<Edit>),
    Begin(bool),
    End,
    /// Edits by the user, or by any running program.
    Edit(Vec<Edit>),
    Git(u8),
    Checkpoint,
    Say,
    Act(Aim, Scope, Chosen, Fault),
    Restart,
    /// The program is killed, with the open calls.
    Kill,
}

fn name() -> impl Strategy<Value = Name> {
    prop_oneof![5 => Just(Name(0)), 4 => (0..NAMES.len() as u8).prop_map(Name)]
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        12 => (name(), 0..4u8, prop_oneof![1 => Just(0), 4 => Just(1), 1 => Just(2)])
            .prop_map(|(name, place, count)| Edit::Lines(name, place, count)),
        1 => (name(), select(vec![Bytes::Empty, Bytes::Binary])).prop_map(|(name, bytes)| Edit::Write(name, bytes)),
        2 => name().prop_map(Edit::Remove),
        2 => name().prop_map(Edit::Mode),
        1 => (name(), name()).prop_map(|(name, target)| Edit::Link(name, target)),
        2 => name().prop_map(Edit::Folder),
        1 => name().prop_map(Edit::Flat),
        3 => (name(), name()).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => (name(), name()).prop_map(|(from, to)| Edit::Hard(from, to)),
        1 => (name(), name()).prop_map(|(from, to)| Edit::Copy(from, to)),
        1 => name().prop_map(Edit::Tag),
    ]
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    proptest::collection::vec(edit(), 1..4)
}

fn aim() -> impl Strategy<Value = Aim> {
    prop_oneof![
        3 => (0..9u8).prop_map(Aim::Rewind),
        6 => (0..4u8).prop_map(Aim::Turn),
        2 => (0..4u8).prop_map(Aim::Retry),
        2 => proptest::option::weighted(0.9, any::<u8>()).prop_map(Aim::Checkout),
        2 => (0..4u8, 1..4u8).prop_map(|(entry, number)| Aim::Choose(entry, number)),
        2 => (0..12u8).prop_map(Aim::Restore),
        3 => (0..4u8).prop_map(Aim::Drop),
        1 => Just(Aim::Show),
        6 => Just(Aim::Undo(1)),
        2 => (0..4u8).prop_map(Aim::Undo),
        4 => Just(Aim::Redo(1)),
        1 => (0..4u8).prop_map(Aim::Redo),
    ]
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![8 => Just(Scope::Both), 1 => Just(Scope::Files), 1 => Just(Scope::Conversation)]
}

fn chosen() -> impl Strategy<Value = Chosen> {
    let all = [Choice::Checkpoint, Choice::Merge, Choice::Skip, Choice::Disk, Choice::Yours];
    let choice = move || select(all.to_vec());
    prop_oneof![
        6 => Just((Vec::new(), None)),
        1 => proptest::collection::vec((name(), choice()), 1..3).prop_map(|paths| (paths, None)),
        1 => choice().prop_map(|others| (Vec::new(), Some(others))),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        16 => Just(Fault::Never),
        1 => Just(Fault::Twins),
        1 => (1..48u8).prop_map(Fault::Fails),
        1 => (1..48u8).prop_map(Fault::Dies),
        1 => (1..48u8, name()).prop_map(|(point, name)| Fault::Saves(point, name)),
    ]
}

fn step() -> impl Strategy<Value = Do> {
    prop_oneof![
        8 => (any::<bool>(), edits()).prop_map(|(says, edits)| Do::Call(says, edits)),
        1 => any::<bool>().prop_map(Do::Begin),
        2 => Just(Do::End),
        3 => edits().prop_map(Do::Edit),
        1 => (0..2u8).prop_map(Do::Git),
        1 => Just(Do::Checkpoint),
        1 => Just(Do::Say),
        12 => (aim(), scope(), chosen(), fault())
            .prop_map(|(aim, scope, chosen, fault)| Do::Act(aim, scope, chosen, fault)),
        1 => Just(Do::Restart),
        1 => Just(Do::Kill),
    ]
}

/// The initial edits, and the steps, each with the index of its conversation.
#[derive(Clone)]
pub(super) struct Case(pub(super) Vec<Edit>, pub(super) Vec<(u8, Do)>);

/// In the form for a test.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.0)?;
        self.1.iter().try_for_each(|step| writeln!(f, "    {step:?},"))
    }
}

/// A case.
pub(super) fn cases() -> impl Strategy<Value = Case> {
    let talk = prop_oneof![3 => Just(0u8), 1 => Just(1u8)];
    let steps = proptest::collection::vec((talk, step()), 1..24);
    (edits(), steps).prop_map(|(edits, steps)| Case(edits, steps))
}
