//! Conversations in memory for the tests of decisions and projections: a log with its rows, changed by scripts of short steps.
//! Must never be part of the program.
//!
//! A script is steps with `;` between them. A step of letters appends an entry for each letter. `u` is a person's message, `a` an
//! answer, and `c` an answer with a call. `r` is the result of the last call on the path, `s` a synthetic prompt, and `o` an
//! observed entry. Other steps are verbs: `rewind 3`, `hide 2-4`, `undo`, `fork 5`. An entry is its number; `0:3` is entry 3 of
//! the log at depth 0.

use std::fmt::Write;
use std::sync::Arc;

use crate::content::{Part, Role, ToolOutcome};
use crate::conversation::{AnswerPlace, ChangeOrigin, Commit, Conversation, Say, SeenState};
use crate::decide::{FoldRequest, MarkRequest, Targets};
use crate::entry::{Entry, Flags, Meta};
use crate::fold::FoldId;
use crate::id::{ConversationId, EntryId, OpNo, Pos, Time};
use crate::kept::{Scope, Undecided};
use crate::op::{LabelTarget, Operation, Reason};
use crate::path::{Path, Span};
use crate::records::Records;
use crate::refusal::Refusal;
use crate::undo_history::Step;

/// A conversation with its rows.
#[derive(Clone)]
pub(crate) struct Log {
    /// Its current state.
    pub(crate) now: Conversation,
    /// Its state after each commit, the first one empty.
    pub(crate) was: Vec<Conversation>,
    entries: Vec<Entry>,
    ops: Vec<Operation>,
    parent: Option<Arc<Self>>,
}

impl Records for Log {
    type Error = Refusal;

    fn meta(&self, pos: Pos) -> Result<Meta, Refusal> {
        Ok(self.entry(pos)?.meta.clone())
    }

    fn parts(&self, pos: Pos) -> Result<Vec<Part>, Refusal> {
        Ok(self.entry(pos)?.parts.clone())
    }

    fn op(&self, no: OpNo) -> Result<Operation, Refusal> {
        let at = no.0.checked_sub(1).and_then(|at| self.ops.get(at as usize));
        Ok(at.unwrap_or_else(|| panic!("no operation {no}")).clone())
    }

    fn summary(&self, fold: FoldId) -> Result<Option<String>, Refusal> {
        Ok(self.at(fold.depth).op(fold.op)?.summary)
    }

    fn last_opener(&self, span: Span) -> Result<Option<Pos>, Refusal> {
        let of = |pos| Ok::<_, Refusal>((pos, self.meta(pos)?.opens_turn()));
        let all = (span.from..=span.to).map(|seq| of(Pos::new(span.depth, seq)));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        Ok(all.into_iter().rev().find(|(_, opens)| *opens).map(|(pos, _)| pos))
    }

    fn atoms(&self, span: Span) -> Result<Vec<(Pos, Pos)>, Refusal> {
        let logs = std::iter::successors(Some(self), |log| log.parent.as_deref());
        let metas = logs.flat_map(|log| &log.entries).map(|entry| &entry.meta);
        let atoms = metas.filter_map(|meta| Some((meta.answers?, meta.pos)));
        Ok(atoms.filter(|(call, result)| span.contains(*call) || span.contains(*result)).collect())
    }
}

impl Log {
    /// An empty conversation.
    pub(crate) fn new() -> Self {
        Self::of(Conversation::new(ConversationId::new(uuid::Uuid::nil())), None)
    }

    fn of(now: Conversation, parent: Option<Arc<Self>>) -> Self {
        Self { was: vec![now.clone()], now, entries: Vec::new(), ops: Vec::new(), parent }
    }

    /// A conversation after a script.
    pub(crate) fn after(script: &str) -> Self {
        let mut log = Self::new();
        log.run(script).unwrap_or_else(|refusal| panic!("{script}: {refusal:?}"));
        log
    }

    fn at(&self, depth: u32) -> &Self {
        let mut logs = std::iter::successors(Some(self), |log| log.parent.as_deref());
        logs.find(|log| log.now.tree.depth() == depth).unwrap_or_else(|| panic!("no log at depth {depth}"))
    }

    fn entry(&self, pos: Pos) -> Result<&Entry, Refusal> {
        let at = pos.seq.checked_sub(1).and_then(|at| self.at(pos.depth).entries.get(at as usize));
        Ok(at.unwrap_or_else(|| panic!("no entry {pos:?}")))
    }

    /// Appends a decided commit.
    pub(crate) fn commit(&mut self, commit: Commit) {
        let next = self.now.after(self, &commit).expect("all rows are there");
        self.entries.extend(commit.entries);
        self.ops.extend(commit.ops);
        if next != self.now {
            self.was.push(next.clone());
            self.now = next;
        }
    }

    /// Runs the steps of a script; stops at the first refusal.
    pub(crate) fn run(&mut self, script: &str) -> Result<(), Refusal> {
        for step in script.split(';').map(str::trim).filter(|step| !step.is_empty()) {
            if step.chars().all(|c| "uacrso".contains(c)) {
                for who in step.chars() {
                    let say = self.said(who);
                    self.commit(self.now.say(self, say)?);
                }
            } else if let Some(end) = step.strip_prefix("fork ") {
                let tip = self.now.end_at(self, self.pos(end))?;
                let totals = self.meta(tip)?.totals;
                let fork = self.now.forked(self.now.id, Some(tip), totals);
                *self = Self::of(fork, Some(Arc::new(self.clone())));
            } else {
                let commit = self.decide(step)?;
                self.commit(commit);
            }
        }
        Ok(())
    }

    /// The entry for a letter.
    pub(crate) fn said(&self, who: char) -> Say {
        let seq = self.now.tree.last() + 1;
        let last_call = || {
            let path = self.now.path();
            path.positions().rev().find(|pos| self.meta(*pos).is_ok_and(|meta| meta.calls > 0))
        };
        let (role, part) = match who {
            'a' => (Role::Assistant, Part::text("answer")),
            'c' => {
                let call = Part::ToolCall {
                    id: format!("call {seq}"),
                    name: "shell".to_owned(),
                    arguments: String::new(),
                };
                (Role::Assistant, call)
            }
            'r' => {
                let call = last_call().map_or(String::new(), |pos| format!("call {}", pos.seq));
                (Role::Tool, Part::ToolResult { call, content: String::new(), outcome: ToolOutcome::Ok })
            }
            _ => (Role::User, Part::text("prompt")),
        };
        Say {
            id: EntryId::new(uuid::Uuid::from_u128(u128::from(seq))),
            role,
            author: String::new(),
            parts: vec![part],
            flags: Flags { synthetic: who == 's', observed: who == 'o', ..Flags::default() },
            time: Time(0),
            usage: None,
            platform_id: None,
            origin: None,
            seen: None,
            answering: None,
        }
    }

    /// The position that a word names.
    pub(crate) fn pos(&self, word: &str) -> Pos {
        let (depth, seq) = match word.split_once(':') {
            Some((depth, seq)) => (depth.parse().expect("a depth"), seq),
            None => (self.now.tree.depth(), word),
        };
        Pos::new(depth, seq.parse().expect("a number"))
    }

    fn targets(&self, word: &str) -> Targets {
        match word.split_once('-') {
            Some((from, to)) => Targets::Range(self.pos(from), self.pos(to)),
            None => Targets::Entries(word.split(',').map(|word| self.pos(word)).collect()),
        }
    }

    /// The decision of a verb now.
    pub(crate) fn decide(&self, step: &str) -> Result<Commit, Refusal> {
        let (now, by, seen) = (&self.now, &ChangeOrigin::default(), SeenState::Anything);
        let words: Vec<&str> = step.split_whitespace().collect();
        let pos = |at: usize| self.pos(words[at]);
        let number = |at: usize| words.get(at).map_or(1, |word| word.parse().expect("a number"));
        let mark = |verb| {
            now.mark_entries(self, by, &MarkRequest { verb, targets: self.targets(words[1]), seen: None })
        };
        match words[0] {
            "rewind" => now.rewind(self, by, seen, pos(1)),
            "edit" => now.edit(self, by, seen, pos(1)),
            "retry" => now.retry(self, by, seen, pos(1)),
            "checkout" => now.checkout(self, by, seen, words.get(1).map(|word| self.pos(word))),
            "restore" => now.restore(self, by, seen, words[1].parse().expect("a head")),
            "choose" => now.choose(self, by, seen, pos(1), number(2)),
            "undo" => now.undo(self, by, seen, number(1)),
            "redo" => now.redo(self, by, seen, number(1)),
            "hide" => mark(Reason::Hide),
            "show" => mark(Reason::Show),
            "exclude" => mark(Reason::Exclude),
            "include" => mark(Reason::Include),
            "drop" => mark(Reason::Drop),
            "fold" | "autofold" => {
                let Targets::Range(from, to) = self.targets(words[1]) else { panic!("a fold is of a range") };
                let verb = if words[0] == "fold" { Reason::Fold } else { Reason::AutoFold };
                let summary = words[2..].join(" ");
                now.fold(self, by, &FoldRequest { verb, from, to, summary, covers: None })
            }
            "unfold" => now.unfold(by, FoldId { depth: now.tree.depth(), op: OpNo(number(1) as u64) }),
            "label" => now.label(by, LabelTarget::Entry(pos(1)), words.get(2).copied()),
            "title" => now.label(by, LabelTarget::Title, words.get(1).copied()),
            "erase" => now.erase(by, vec![pos(1)]),
            "files" => now.files(by, seen, Reason::Files),
            "compensate" => {
                let step = match words[1].strip_prefix('t') {
                    Some(opener) => Step::Turn(self.pos(opener)),
                    None => Step::Op(OpNo(number(1) as u64)),
                };
                now.compensate(self, by, step)
            }
            "conversation:" | "files:" => {
                let scope = if words[0] == "files:" { Scope::Files } else { Scope::Conversation };
                let commit = self.decide(&words[1..].join(" "))?;
                now.one_half(self, by, (scope, &Undecided::default()), commit)
            }
            "late" => {
                let answering = AnswerPlace { turn: Some(pos(2)), tip: Some(pos(3)) };
                let who = words[1].chars().next().expect("a letter");
                now.say(self, Say { answering: Some(answering), ..self.said(who) })
            }
            verb => panic!("no such step: {verb}"),
        }
    }

    /// A part of a path in words: `1-3 5`; for another log with its depth.
    pub(crate) fn part(&self, path: &Path) -> String {
        let spans: Vec<String> = path.spans().iter().map(|span| self.span(*span)).collect();
        spans.join(" ")
    }

    /// A span in words.
    pub(crate) fn span(&self, span: Span) -> String {
        let mut text = String::new();
        if span.depth != self.now.tree.depth() {
            write!(text, "{}:", span.depth).expect("a string");
        }
        write!(text, "{}", span.from).expect("a string");
        if span.to > span.from {
            write!(text, "-{}", span.to).expect("a string");
        }
        text
    }

    /// The path in words.
    pub(crate) fn path(&self) -> String {
        self.part(&self.now.path())
    }

    /// A step in words: `t3` is the turn that entry 3 opened, `2` is operation 2.
    pub(crate) fn step(step: Option<Step>) -> String {
        match step {
            Some(Step::Turn(pos)) => format!("t{}", pos.seq),
            Some(Step::Op(no)) => no.to_string(),
            None => "-".to_owned(),
        }
    }
}

/// Compares the results of scripts, in the words of `show`: rows of a script and the expected words.
pub(crate) fn check(show: impl Fn(&Log) -> String, rows: &[(&str, &str)]) {
    let found: Vec<_> = rows.iter().map(|(script, _)| (*script, show(&Log::after(script)))).collect();
    let expected: Vec<_> = rows.iter().map(|(script, text)| (*script, (*text).to_owned())).collect();
    assert_eq!(found, expected);
}

/// The code of the refusal of each script's last step; all steps before it succeed.
pub(crate) fn refused(rows: &[(&str, &str)]) {
    for (script, code) in rows {
        let (before, last) = script.rsplit_once(';').unwrap_or(("", script));
        let mut log = Log::after(before);
        let (now, found) = (log.now.clone(), log.run(last).map_err(|refusal| refusal.code()));
        assert_eq!(found, Err(*code), "{script}");
        assert_eq!(log.now, now, "{script}: a refusal changes nothing");
    }
}
