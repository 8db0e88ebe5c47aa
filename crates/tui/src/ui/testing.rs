//! Common parts of the UI tests: the screen as text. Must never hold an expectation.

use ratatui::Frame;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Modifier, Style};

use retake_wire::reply::{Access, Conversation, Counts, Entries, Entry, EntryFlags, EntryPlace, NextSteps};
use retake_wire::{Part, Problem, ProblemKind, Reply, Request, Role};

use super::keymap::{Command, Context, Key, Keymap, TABLE};
use super::msg::{Act, PaneInstruction, Ticket};
use super::pane::{Cx, Pane, PaneContext};
use super::theme::{Background, Colours, Theme};

/// The time of all tests.
pub(crate) const NOW_MS: i64 = 1_700_000_000_000;

/// No colours, and both backgrounds with all colours.
pub(crate) const THEMES: [Theme; 3] = [
    Theme::usual(Colours::None, Background::Dark),
    Theme::usual(Colours::True, Background::Dark),
    Theme::usual(Colours::True, Background::Light),
];

/// The drawing on a screen of this size, as text.
#[must_use]
pub(crate) fn screen(width: u16, height: u16, draw: impl FnOnce(&mut Frame<'_>)) -> String {
    let buffer = drawn(width, height, draw);
    rows(&buffer).iter().map(|row| text(row).trim_end().to_owned() + "\n").collect()
}

/// The same, with a line of letters below each line for its styles, and a legend.
#[must_use]
pub(crate) fn styled(width: u16, height: u16, draw: impl FnOnce(&mut Frame<'_>)) -> String {
    let buffer = drawn(width, height, draw);
    let mut styles: Vec<String> = Vec::new();
    let mut out = String::new();
    for row in rows(&buffer) {
        out.push_str(text(&row).trim_end());
        out.push('\n');
        let mut looks = String::new();
        for cell in &row {
            let told = style(cell);
            let at = styles.iter().position(|known| *known == told).unwrap_or_else(|| {
                styles.push(told.clone());
                styles.len() - 1
            });
            let letter = char::from(b'a' + u8::try_from(at).expect("few styles"));
            looks.push(if told.is_empty() { ' ' } else { letter });
        }
        if !looks.trim_end().is_empty() {
            out.push_str(&format!("{}\n", looks.trim_end()));
        }
    }
    for (letter, told) in ('a'..).zip(&styles).filter(|(_, told)| !told.is_empty()) {
        out.push_str(&format!("{letter}: {told}\n"));
    }
    out
}

fn drawn(width: u16, height: u16, draw: impl FnOnce(&mut Frame<'_>)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(draw).expect("drawn");
    terminal.backend().buffer().clone()
}

fn rows(buffer: &Buffer) -> Vec<Vec<Cell>> {
    let width = usize::from(buffer.area.width).max(1);
    buffer.content().chunks(width).map(<[Cell]>::to_vec).collect()
}

/// The text of a row, without cells covered by wide characters.
fn text(row: &[Cell]) -> String {
    let mut text = String::new();
    let mut covered = 0;
    for cell in row {
        if covered == 0 {
            text.push_str(cell.symbol());
            covered = crate::text::width::columns(cell.symbol()).max(1);
        }
        covered -= 1;
    }
    text
}

fn style(cell: &Cell) -> String {
    let plain = Style::reset();
    let mut told = Vec::new();
    if Some(cell.fg) != plain.fg {
        told.push(format!("{}", cell.fg));
    }
    if Some(cell.bg) != plain.bg {
        told.push(format!("on {}", cell.bg));
    }
    if cell.modifier != Modifier::empty() {
        told.push(format!("{:?}", cell.modifier));
    }
    told.join(" ")
}

/// A brush for panes in tests.
#[must_use]
pub(crate) fn brush(theme: Theme, keys: &Keymap) -> PaneContext<'_> {
    PaneContext { theme, keys, now_ms: NOW_MS, conversation: None }
}

/// The requests and wants of a pane, kept for the test.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// The acts.
    pub(crate) acts: Vec<Act>,
    /// The wants.
    pub(crate) wants: Vec<PaneInstruction>,
    /// The tab's conversation.
    pub(crate) conversation: Option<Conversation>,
    /// The time that has passed.
    pub(crate) passed_ms: i64,
    /// The last ticket.
    pub(crate) tickets: u64,
}

impl World {
    /// The context for a pane.
    pub(crate) fn cx(&mut self) -> Cx<'_> {
        Cx {
            now_ms: NOW_MS + self.passed_ms,
            conversation: self.conversation.as_ref(),
            acts: &mut self.acts,
            wants: &mut self.wants,
            tickets: &mut self.tickets,
        }
    }
}

impl World {
    /// Presses keys, written as in the keymap and separated by spaces: a command of the pane's place, or else a letter.
    pub(crate) fn press(&mut self, pane: &mut dyn Pane, keys: &str) {
        let keymap = Keymap::default();
        for key in keys.split(' ') {
            let key: Key = key.parse().expect("a key");
            match (keymap.find(pane.context(), key), key.letter()) {
                (Some(command), Some(letter)) => pane.letter(letter, command, &mut self.cx()),
                (Some(command), None) => pane.command(command, &mut self.cx()),
                (None, Some(letter)) => pane.typed(&letter.to_string(), &mut self.cx()),
                (None, None) => panic!("{key} does nothing in {:?}", pane.context()),
            }
        }
    }

    /// The requests to the owner since the last call.
    pub(crate) fn asked(&mut self) -> Vec<(Ticket, Request)> {
        let asked = self.acts.drain(..).filter_map(|act| match act {
            Act::Ask(ticket, request) => Some((ticket, *request)),
            _ => None,
        });
        asked.collect()
    }

    /// Answers all requests, and those that follow, as long as there is a reply.
    pub(crate) fn answer(
        &mut self,
        pane: &mut dyn Pane,
        script: impl Fn(&Request) -> Option<Result<Reply, Problem>>,
    ) {
        for _ in 0..100 {
            let asked = self.asked();
            if asked.is_empty() {
                return;
            }
            for (ticket, request) in asked {
                if let Some(reply) = script(&request) {
                    pane.replied(ticket, reply, &mut self.cx());
                }
            }
        }
        panic!("the pane asks without end");
    }
}

/// The pane in all sizes, without colours.
pub(crate) fn sizes(pane: &mut dyn Pane) -> String {
    let keys = Keymap::default();
    let mut shots = String::new();
    for (width, height) in [(20, 6), (40, 12), (80, 28), (140, 20)] {
        let shot = screen(width, height, |frame| pane.draw(frame, frame.area(), &brush(THEMES[0], &keys)));
        shots.push_str(&format!("══ {width} × {height}\n{shot}"));
    }
    shots
}

/// The pane in all themes.
pub(crate) fn themes(pane: &mut dyn Pane, width: u16, height: u16) -> String {
    let keys = Keymap::default();
    let mut shots = String::new();
    for theme in THEMES {
        let shot = styled(width, height, |frame| pane.draw(frame, frame.area(), &brush(theme, &keys)));
        shots.push_str(&format!("══ {:?} {:?}\n{shot}", theme.colours, theme.background));
    }
    shots
}

/// An error.
pub(crate) fn problem(message: &str) -> Problem {
    Problem {
        code: "test".into(),
        kind: ProblemKind::Storage,
        message: message.to_owned(),
        hint: Some("try it again".to_owned().into()),
        causes: vec!["the disk is gone".to_owned()],
        ..Problem::default()
    }
}

/// A conversation that changed so many minutes ago.
pub(crate) fn conversation(id: &str, title: Option<&str>, preview: &str, minutes: i64) -> Conversation {
    let changed_ms = NOW_MS - minutes * 60_000;
    Conversation {
        id: id.to_owned(),
        title: title.map(str::to_owned),
        preview: preview.to_owned(),
        folder: Some("/home/ann/work/retake".to_owned()),
        parent: None,
        created_ms: changed_ms,
        changed_ms,
        head: "1.2".to_owned(),
        revision: 3,
        tip: None,
        counts: Counts { messages: 12, calls: 3, turns: 4 },
        steps: NextSteps::default(),
        access: Access::default(),
        running: false,
        archived: false,
    }
}

/// A page of messages with these roles and texts.
pub(crate) fn entries(conversation: &str, said: &[(Role, &str)]) -> Reply {
    let entry = |(seq, (role, text)): (u64, &(Role, &str))| Entry {
        id: format!("0199a000-0000-7000-8000-00000000000{seq}"),
        place: EntryPlace { seq, depth: 0, turn: seq.div_ceil(2), opens_turn: *role == Role::User },
        role: *role,
        author: String::new(),
        time_ms: NOW_MS - 120_000,
        mark: retake_wire::Mark::Normal,
        fold: None,
        label: None,
        flags: EntryFlags::default(),
        alternative: None,
        parts: vec![Part::Text { text: (*text).to_owned() }],
        usage: None,
        took_ms: None,
        platform_id: None,
        origin: None,
    };
    Reply::Entries(Entries {
        conversation: conversation.to_owned(),
        head: "1.2".to_owned(),
        revision: 3,
        entries: (1..).zip(said).map(entry).collect(),
        earlier: true,
        later: false,
        unbegun: Vec::new(),
        cut_off: Vec::new(),
    })
}

/// Presses every key of the table for the pane's place and for panes in general. Each must have an effect on the screen, the
/// requests or the wants, except those without a function in the pane.
pub(crate) fn every_key<P: Pane>(make: impl Fn() -> (P, World), without: &[Command]) {
    let keymap = Keymap::default();
    let (mut pane, _) = make();
    // Nobody uses these sizes, but nothing may break in them.
    for (width, height) in [(1, 1), (2, 2), (5, 3), (9, 4), (12, 5), (3, 30), (300, 1)] {
        let _ = screen(width, height, |frame| pane.draw(frame, frame.area(), &brush(THEMES[0], &keymap)));
    }
    for context in [pane.context(), Context::Pane] {
        for row in TABLE.iter().filter(|row| row.context == context) {
            for key in keymap.keys(row.command) {
                let (mut pane, mut world) = make();
                if keymap.find(pane.context(), key) != Some(row.command) {
                    continue;
                }
                let seen = |pane: &mut P, world: &World| {
                    let keys = Keymap::default();
                    let shown = screen(120, 14, |frame| {
                        pane.draw(frame, frame.area(), &brush(THEMES[0], &keys));
                    });
                    format!("{shown}{:?}{:?}", world.acts, world.wants)
                };
                let before = seen(&mut pane, &world);
                pane.command(row.command, &mut world.cx());
                let changed = seen(&mut pane, &world) != before;
                assert_eq!(changed, !without.contains(&row.command), "{key}: {:?}", row.command);
            }
        }
    }
}
