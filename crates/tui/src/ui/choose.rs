//! Picks one of a few: a model, a permission mode, an alternative of an answer, or a hidden message to show again. Must never
//! offer an unavailable choice without the reason. Must never remove a rule at the first key.

#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use retake_wire::reply::{Alternatives, Marked, Models, Permissions};
use retake_wire::request::{self, ConversationTarget, SetPermissions};
use retake_wire::{Action, Mark, MarkVerb, Mode, Problem, Reply, Request, Rule, english};

use super::keymap::{Command, Context};
use super::msg::{ChoiceDuration, PaneInstruction, Ticket};
use super::pane::{Cx, Pane, PaneContext};
use super::pane_frame::{PaneFrame, told};
use super::plan::paragraph;
use super::rows::{Filtering, InputEffect, Order, Row, RowSpans, Rows};
use super::theme::{Paint, Paints, Themes};
use crate::render::{agent, lists, words};
use crate::text::{safe, time, width};

/// Page size for hidden messages.
const PAGE: usize = 100;

/// The models; the tab's own is marked.
pub(crate) fn models(current: Option<String>) -> Choose {
    Choose::new("Model", ChoiceSource::Models(current))
}

/// The permission modes and the rules; before a conversation begins, the mode that it begins with.
pub(crate) fn permissions(may: Permissions, begins: Option<Mode>) -> Choose {
    Choose::new("What the agent may do unasked", ChoiceSource::Permissions(may, begins))
}

/// The alternatives of an answer.
pub(crate) fn alternatives(entry: request::Alternatives) -> Choose {
    Choose::new("Other answers", ChoiceSource::Alternatives(entry))
}

/// Messages that are hidden, dropped or excluded, to be shown again.
pub(crate) fn marked() -> Choose {
    Choose::new("Hidden, or kept from the model", ChoiceSource::Marked)
}

/// The themes; the selected one is shown at once.
pub(crate) fn themes(all: &Themes, now: Option<&str>) -> Choose {
    Choose::new("Theme", ChoiceSource::Themes(all.clone(), now.map(str::to_owned)))
}

/// A list to pick one item of.
#[derive(Debug)]
pub(crate) struct Choose {
    title: &'static str,
    about: Vec<String>,
    from: ChoiceSource,
    rows: Rows<Choice>,
    loading: Option<Ticket>,
    /// Whether there is more than was loaded; reaching the end of the list loads it.
    more: bool,
    wrong: Option<Problem>,
    /// The rule that a second press removes.
    armed: Option<String>,
}

/// The source of the choices.
#[derive(Debug)]
enum ChoiceSource {
    Models(Option<String>),
    Permissions(Permissions, Option<Mode>),
    Alternatives(request::Alternatives),
    Marked,
    Themes(Themes, Option<String>),
}

#[derive(Debug)]
struct Choice {
    key: String,
    name: String,
    about: String,
    right: String,
    why_not: Option<String>,
    /// It is the current one.
    now: bool,
    pick: Pick,
}

#[derive(Clone, Debug)]
enum Pick {
    Model(Option<String>),
    Mode(Mode),
    Rule(Rule),
    Alternative(usize),
    Marked(&'static str, Action),
    Theme,
    Heading,
}

impl Row for Choice {
    fn key(&self) -> &str {
        &self.key
    }

    fn fields(&self) -> Vec<String> {
        vec![self.name.clone(), self.about.clone()]
    }

    fn why_not(&self) -> Option<&str> {
        self.why_not.as_deref()
    }

    fn filtering(&self) -> Filtering {
        if matches!(self.pick, Pick::Heading) { Filtering::Between } else { Filtering::Filtered }
    }
}

impl Choice {
    fn new(name: impl Into<String>, pick: Pick) -> Self {
        let name = name.into();
        let (about, right) = (String::new(), String::new());
        Self { key: name.clone(), name, about, right, why_not: None, now: false, pick }
    }
}

impl Choose {
    fn new(title: &'static str, from: ChoiceSource) -> Self {
        // If the choices have names, an exact match comes first.
        let order = match from {
            ChoiceSource::Models(_) | ChoiceSource::Themes(..) => Order::Best,
            ChoiceSource::Permissions(..) | ChoiceSource::Alternatives(_) | ChoiceSource::Marked => {
                Order::Kept
            }
        };
        Self {
            title,
            about: Vec::new(),
            from,
            rows: Rows::new(order),
            loading: None,
            more: false,
            wrong: None,
            armed: None,
        }
    }

    fn load(&mut self, cx: &mut Cx<'_>) {
        let request = match &self.from {
            ChoiceSource::Models(_) => Request::Models,
            ChoiceSource::Permissions(..) if cx.conversation.is_none() => return,
            ChoiceSource::Themes(..) => return,
            ChoiceSource::Permissions(..) => {
                Request::Permissions(ConversationTarget { conversation: cx.id() })
            }
            ChoiceSource::Alternatives(entry) => Request::Alternatives(entry.clone()),
            ChoiceSource::Marked => {
                self.more = false;
                return self.load_marked(None, cx);
            }
        };
        self.loading = Some(cx.ask(request));
    }

    fn load_marked(&mut self, before: Option<String>, cx: &mut Cx<'_>) {
        let page = request::Marked { conversation: cx.id(), limit: Some(PAGE), before };
        self.loading = Some(cx.ask(Request::Marked(page)));
    }

    /// Replaces the rows; the first time, selects the current choice.
    fn show(&mut self, choices: Vec<Choice>) {
        let first = self.rows.is_empty();
        let now = choices.iter().find(|choice| choice.now).map(|choice| choice.key.clone());
        self.rows.set(choices);
        if let Some(now) = now.filter(|_| first) {
            self.rows.select(&now);
        }
    }

    fn models(&mut self, models: Models) {
        let ChoiceSource::Models(current) = &self.from else { return };
        let usual = Choice {
            about: format!("{}: {}", models.default, english::model_cause(&models.cause)),
            now: current.is_none(),
            ..Choice::new("as the settings say", Pick::Model(None))
        };
        let one = |it: retake_wire::reply::Model| {
            let about = lists::prices(&it);
            let right = lists::context(&it);
            let now = current.as_ref() == Some(&it.name);
            let pick = Pick::Model(Some(it.name.clone()));
            Choice {
                about,
                right,
                now,
                why_not: it.unavailable_cause.as_ref().map(english::unavailable_cause),
                ..Choice::new(it.name, pick)
            }
        };
        let choices = std::iter::once(usual).chain(models.models.into_iter().map(one)).collect();
        self.show(choices);
    }

    fn permissions(&mut self, may: &Permissions, mode: Mode) {
        let mut choices: Vec<Choice> = Mode::ALL
            .into_iter()
            .map(|it| Choice {
                about: agent::mode(it).to_owned(),
                now: it == mode,
                ..Choice::new(it.name(), Pick::Mode(it))
            })
            .collect();
        if !may.rules.is_empty() {
            choices.push(Choice::new("── rules", Pick::Heading));
        }
        choices.extend((1..).zip(&may.rules).map(|(number, settled)| {
            let rule = settled.rule.to_string();
            let until = if settled.for_good { "for good" } else { "in this conversation" };
            let key = format!("{number} {rule}");
            Choice { key, right: until.to_owned(), ..Choice::new(rule, Pick::Rule(settled.rule.clone())) }
        }));
        let weaknesses = may.weaknesses.iter().map(english::sandbox_fact);
        self.about = std::iter::once(agent::commands(&may.commands)).chain(weaknesses).collect();
        self.show(choices);
    }

    fn alternatives(&mut self, all: Alternatives, now_ms: i64) {
        let one = |it: retake_wire::reply::Alternative| Choice {
            about: it.line.preview,
            right: time::relative(now_ms, it.line.time_ms),
            now: it.current,
            ..Choice::new(it.number.to_string(), Pick::Alternative(it.number))
        };
        self.show(all.alternatives.into_iter().map(one).collect());
    }

    /// More hidden messages, or the first ones.
    fn marked(&mut self, page: retake_wire::reply::MarkedPage, now_ms: i64) {
        let choices: Vec<Choice> = page.marked.into_iter().map(|it| hidden(it, now_ms)).collect();
        if std::mem::replace(&mut self.more, page.more) {
            self.rows.extend(choices);
        } else {
            self.show(choices);
        }
    }

    fn themes(&mut self) {
        let ChoiceSource::Themes(all, now) = &self.from else { return };
        let usual = Choice {
            about: "the one that fits the terminal".to_owned(),
            now: now.is_none(),
            ..Choice::new("auto", Pick::Theme)
        };
        let one = |paints: &'static Paints| Choice {
            about: paints.about().to_owned(),
            now: now.as_deref() == Some(paints.name()),
            ..Choice::new(paints.name(), Pick::Theme)
        };
        let choices = std::iter::once(usual).chain(all.iter().map(one)).collect();
        self.show(choices);
    }

    /// Shows a selected theme at once.
    fn moved(&mut self, cx: &mut Cx<'_>) {
        self.armed = None;
        if let Some(Choice { pick: Pick::Theme, name, .. }) = self.rows.selected() {
            cx.want(PaneInstruction::Theme(name.clone(), ChoiceDuration::Shown));
        }
        if self.more && self.loading.is_none() && self.rows.at_end() {
            let oldest = self.rows.items().next_back().map(|choice| choice.key.clone());
            self.load_marked(oldest, cx);
        }
    }

    fn accept(&mut self, cx: &mut Cx<'_>) {
        let (key, now, pick) = match self.rows.picked() {
            None => return,
            Some(Err(why)) => return cx.want(PaneInstruction::Say(why.to_owned())),
            Some(Ok(choice)) => (choice.key.clone(), choice.now, choice.pick.clone()),
        };
        match (pick, &self.from) {
            (Pick::Alternative(_), _) if now => {
                cx.want(PaneInstruction::Say("it is the one that is shown".to_owned()));
            }
            (Pick::Model(model), _) => {
                cx.want(PaneInstruction::Model(model));
                cx.want(PaneInstruction::Close);
            }
            (Pick::Mode(mode), _) => {
                cx.want(PaneInstruction::Mode(mode));
                cx.want(PaneInstruction::Close);
            }
            (Pick::Theme, _) => {
                cx.want(PaneInstruction::Theme(key, ChoiceDuration::Kept));
                cx.want(PaneInstruction::Close);
            }
            (Pick::Alternative(number), ChoiceSource::Alternatives(of)) => {
                let action = Action::Choose { entry: of.entry.clone(), number };
                cx.want(PaneInstruction::Plan("Choose", Box::new(action)));
            }
            (Pick::Marked(title, action), _) => cx.want(PaneInstruction::Plan(title, Box::new(action))),
            (Pick::Rule(rule), _) if self.armed.as_ref() == Some(&key) => self.forget(rule, cx),
            (Pick::Rule(_), _) => self.armed = Some(key),
            (Pick::Alternative(_) | Pick::Heading, _) => {}
        }
    }

    /// Removes a rule.
    fn forget(&mut self, rule: Rule, cx: &mut Cx<'_>) {
        self.armed = None;
        if cx.conversation.is_none() {
            return cx.want(PaneInstruction::Say(
                "a rule can be forgotten once the conversation has begun".to_owned(),
            ));
        }
        let set = SetPermissions { conversation: cx.id(), remove: vec![rule], ..SetPermissions::default() };
        self.loading = Some(cx.ask(Request::SetPermissions(set)));
    }

    /// The selected row in full, and the other settings, as far as there is room.
    fn below(&self, columns: usize, room: usize) -> Vec<String> {
        let selected = self.rows.selected().map(|choice| match &choice.why_not {
            Some(why) => why.clone(),
            None if matches!(&choice.pick, Pick::Rule(rule) if agent::is_denied_command(rule)) => {
                agent::DENIED_COMMAND.to_owned()
            }
            None if choice.about.is_empty() => String::new(),
            None => format!("{}: {}", choice.name, choice.about),
        });
        let mut lines = Vec::new();
        for text in selected.iter().chain(&self.about) {
            let more = width::wrap(&safe::block(text), columns);
            if !text.is_empty() && lines.len() + more.len() <= room {
                lines.extend(more);
            }
        }
        lines
    }

    /// What Enter does to the selected row.
    fn does(&self) -> &'static str {
        match self.rows.selected().map(|choice| &choice.pick) {
            Some(Pick::Rule(_)) if self.armed.is_some() => "again forgets it",
            Some(Pick::Rule(_)) => "forget it",
            Some(Pick::Marked("Include", _)) => "let the model see it",
            Some(Pick::Marked(..)) => "bring it back",
            _ => "take it",
        }
    }
}

impl Pane for Choose {
    fn context(&self) -> Context {
        Context::Pane
    }

    fn opened(&mut self, cx: &mut Cx<'_>) {
        if let ChoiceSource::Permissions(may, begins) = &self.from {
            let mode = if cx.conversation.is_some() { may.mode } else { begins.unwrap_or(may.mode) };
            let may = may.clone();
            self.permissions(&may, mode);
        }
        self.themes();
        self.load(cx);
    }

    fn command(&mut self, command: Command, cx: &mut Cx<'_>) {
        match command {
            Command::Accept => self.accept(cx),
            Command::Close if self.armed.take().is_none() => {
                if let ChoiceSource::Themes(_, now) = &self.from {
                    let now = now.clone().unwrap_or_else(|| "auto".to_owned());
                    cx.want(PaneInstruction::Theme(now, ChoiceDuration::Shown));
                }
                cx.want(PaneInstruction::Close);
            }
            _ => {
                self.rows.command(command);
                self.moved(cx);
            }
        }
    }

    fn typed(&mut self, text: &str, cx: &mut Cx<'_>) {
        self.rows.typed(text);
        self.moved(cx);
    }

    fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) {
        if self.loading.take_if(|asked| *asked == ticket).is_none() {
            return;
        }
        match reply {
            Ok(Reply::Models(models)) => self.models(models),
            Ok(Reply::Permissions(may)) => self.permissions(&may, may.mode),
            Ok(Reply::Alternatives(all)) => self.alternatives(all, cx.now_ms),
            Ok(Reply::Marked(page)) => self.marked(page, cx.now_ms),
            Ok(_) => {}
            Err(problem) if self.rows.is_empty() => self.wrong = Some(problem),
            Err(problem) => cx.want(PaneInstruction::Complain(Box::new(problem))),
        }
    }

    fn changed(&mut self, cx: &mut Cx<'_>) {
        if !matches!(self.from, ChoiceSource::Models(_)) {
            self.load(cx);
        }
    }

    fn clicked(&mut self, at: Position, cx: &mut Cx<'_>) {
        match self.rows.clicked(at) {
            InputEffect::Taken => self.accept(cx),
            InputEffect::Moved => self.moved(cx),
            InputEffect::Nothing | InputEffect::Filtered => {}
        }
    }

    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let keys = [(Command::Accept, self.does())];
        let body = PaneFrame { title: self.title, about: "", keys: &keys }.draw(frame, area, brush);
        let lines =
            self.below(usize::from(body.width).saturating_sub(2), body.height.saturating_sub(6).into());
        let below = if lines.is_empty() { 0 } else { u16::try_from(lines.len() + 1).unwrap_or(u16::MAX) };
        let list = Rect { height: body.height - below, ..body };
        let nothing = match self.from {
            ChoiceSource::Marked => "nothing is hidden here, dropped, or kept from the model",
            _ => "there is nothing to choose from",
        };
        let empty = told(self.wrong.as_ref(), self.loading.is_some(), nothing);
        let names = self.rows.items().filter(|it| !matches!(it.pick, Pick::Heading | Pick::Rule(_)));
        let wide = names.map(|it| width::columns(&it.name)).max().unwrap_or(0).min(40);
        let armed = self.armed.as_deref();
        self.rows.draw(frame, list, brush, &empty, |choice, ink| {
            draw(choice, wide, armed == Some(&choice.key), ink);
        });
        let at = Rect {
            x: body.x + 2.min(body.width),
            y: list.bottom() + 1,
            width: body.width.saturating_sub(2),
            height: below.saturating_sub(1),
        };
        paragraph(frame, at, brush, &lines.join("\n"), Paint::Dim);
    }
}

/// A hidden message, and the action that shows it.
fn hidden(it: Marked, now_ms: i64) -> Choice {
    let (title, verb) = match it.mark {
        Mark::Excluded => ("Include", MarkVerb::Include),
        _ => ("Show", MarkVerb::Show),
    };
    let one = it.line.id == it.last;
    let entries = if one { vec![it.last] } else { vec![it.line.id.clone(), it.last] };
    let seen = it.mark.known_name().map(str::to_owned);
    let action = Action::Mark { verb, entries, range: !one, seen };
    let turn = if it.turn == 0 { String::new() } else { format!("t{} ", it.turn) };
    let more = it.counts.messages.saturating_sub(1);
    let more = if more == 0 { String::new() } else { format!(" and {}", words::count(more, "more message")) };
    let (speaker, _) = words::said_by(&it.line);
    Choice {
        key: it.line.id,
        about: format!("{speaker}: {}{more}", it.line.preview),
        right: it.marked_ms.map(|then| time::relative(now_ms, then)).unwrap_or_default(),
        ..Choice::new(format!("{turn}{}", it.mark.name()), Pick::Marked(title, action))
    }
}

fn draw(choice: &Choice, wide: usize, armed: bool, ink: &mut RowSpans<'_>) {
    if matches!(choice.pick, Pick::Heading) {
        return ink.text(&choice.name, Paint::Dim);
    }
    match (armed, choice.now) {
        (true, _) => ink.text("✗ ", Paint::Warn),
        (false, true) => ink.text("● ", Paint::Good),
        (false, false) => ink.text("  ", Paint::Plain),
    }
    let room = ink.room();
    if choice.why_not.is_some() {
        // The reason needs the room.
        return ink.field(0, if choice.about.is_empty() { room } else { wide }, Paint::Plain);
    }
    let wide = match choice.about.is_empty() {
        true if room >= 50 => room - 26,
        true => room,
        false => wide,
    };
    let right = if room >= wide + 26 && !choice.right.is_empty() { 24 } else { 0 };
    ink.field_column(0, wide.min(room), Paint::Plain);
    ink.space(2);
    ink.field_column(1, ink.room().saturating_sub(right), Paint::Dim);
    ink.column_right(&choice.right, right, Paint::Dim);
}
