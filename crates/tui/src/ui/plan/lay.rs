//! A plan in lines, with the words of [`crate::render`]. Must never leave out what can't be taken back, nor a conflict.

use std::collections::HashMap;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use retake_wire::reply::Plan;
use retake_wire::{Choice, Choose, PathPlan, Verdict};

use super::view::{Shown, chosen, holds, is_spread, options, stays_by_choice, styled};
use crate::hint::Audience;
use crate::render::files::{self, Group};
use crate::render::{about, effects, plan as render_plan};
use crate::text::style::Style as TextStyle;
use crate::text::styled::Span as StyledSpan;
use crate::text::{Look, Text, safe, width};
use crate::ui::pane::Brush;
use crate::ui::theme::{Paint, Theme};
use crate::ui::words as ui_words;

/// What can be leafed through, in the order of the lines.
pub(super) fn leaves(plan: &Plan, choose: &[Choose]) -> Vec<usize> {
    let Some(files) = &plan.files else { return Vec::new() };
    let places: HashMap<*const PathPlan, usize> =
        files.paths.iter().enumerate().map(|(at, path)| (std::ptr::from_ref(path), at)).collect();
    let look = ui_words::look(80, 0);
    let all = files::groups(&look, files).into_iter().chain(untouched(files, choose));
    all.flat_map(|group| group.paths)
        .filter_map(|path| places.get(&std::ptr::from_ref(path)).copied())
        .collect()
}

/// Whether somebody has to choose for what is in it.
fn is_conflict(group: &Group<'_>) -> bool {
    group.paths.iter().any(|path| path.verdict == Verdict::Conflict)
}

/// What stays as it is because somebody chose so, and what is already as it would become.
fn untouched<'a>(files: &'a retake_wire::FilesPlan, choose: &[Choose]) -> impl Iterator<Item = Group<'a>> {
    let so_already = files::so_already(files, |path| stays_by_choice(path, choose));
    files::by_choice(files, |path| stays_by_choice(path, choose)).into_iter().chain(so_already)
}

/// The lines of a plan, and which of them name the files that can be leafed through.
pub(super) fn plan(
    shown: Shown<'_>,
    leaves: &[usize],
    columns: u16,
    brush: &Brush<'_>,
) -> (Vec<Line<'static>>, Vec<(usize, usize)>) {
    let mut page = Page {
        look: ui_words::look(columns, brush.now_ms),
        theme: brush.theme,
        columns: columns.into(),
        lines: Vec::new(),
        leaves: Vec::with_capacity(leaves.len()),
    };
    let plan = shown.plan;
    if let Some(about) = shown.about {
        page.wrapped(about, Paint::Plain);
    }
    if let Some(line) = render_plan::short_of(plan) {
        page.wrapped(&line, Paint::Warn);
    }
    for line in render_plan::steps(plan) {
        page.wrapped(&line, Paint::Plain);
    }
    // What needs a person comes first, and what can't be taken back; messages are many, and least of a surprise.
    for sentence in render_plan::ended_first(plan) {
        page.wrapped(&sentence, Paint::Warn);
    }
    page.conflicts(shown);
    page.effects(plan);
    page.files(shown);
    for condition in &plan.conditions {
        let sentence = Audience::Screen.condition(condition);
        page.wrapped(&format!("! {}", safe::line(&sentence)), Paint::Warn);
    }
    if plan.unchanged {
        page.wrapped("nothing would change: it is so already", Paint::Plain);
    } else {
        page.messages(shown);
    }
    if page.lines.is_empty() {
        page.wrapped("no message comes or goes", Paint::Plain);
    }
    (page.lines, page.leaves)
}

struct Page {
    look: Look,
    theme: Theme,
    columns: usize,
    lines: Vec<Line<'static>>,
    leaves: Vec<(usize, usize)>,
}

impl Page {
    /// Safe words, broken where they must be; what follows the first line stands a little to the right.
    fn wrapped(&mut self, text: &str, paint: Paint) {
        self.indented(text, 0, paint);
    }

    fn indented(&mut self, text: &str, indent: usize, paint: Paint) {
        self.broken(text, indent, self.theme.style(paint));
    }

    fn broken(&mut self, text: &str, indent: usize, style: Style) {
        let margin = " ".repeat(indent);
        for (at, line) in width::wrap(text, self.columns.saturating_sub(indent + 2).max(8)).iter().enumerate()
        {
            let further = if at == 0 { "" } else { "  " };
            self.lines.push(styled(format!("{margin}{further}{line}"), style));
        }
    }

    /// What can't be taken back: loud, and a line for each.
    fn effects(&mut self, plan: &Plan) {
        let Some(title) = effects::brief(&plan.effects, effects::Files::of_plan(plan)) else { return };
        self.wrapped(&title, Paint::Error);
        for call in &plan.effects.calls {
            let line = effects::one(&self.look, call);
            self.indented(&line, 2, Paint::Warn);
        }
        let more = render_plan::rest(plan.effects.count, plan.effects.calls.len());
        if !more.is_empty() {
            self.wrapped(more.trim_end(), Paint::Warn);
        }
    }

    /// A rendering; its lines without a margin are broken where they must be.
    fn text(&mut self, text: &Text) {
        for line in text.lines() {
            match line.as_slice() {
                [span] if !span.text.starts_with(' ') => self.broken(&span.text, 0, self.style(span.style)),
                spans => {
                    let span = |span: &StyledSpan| Span::styled(span.text.clone(), self.style(span.style));
                    let line = spans.iter().map(span).collect();
                    self.lines.push(line);
                }
            }
        }
    }

    fn style(&self, style: Option<TextStyle>) -> Style {
        style.map_or_else(|| self.theme.style(Paint::Plain), |style| self.theme.of(style))
    }

    fn messages(&mut self, shown: Shown<'_>) {
        let (plan, action) = (shown.plan, Some(shown.action));
        let (back, forth) = about::verbs(action);
        self.text(&render_plan::messages(&self.look, action, plan, [back, forth]));
        for line in render_plan::folds(plan) {
            self.wrapped(&line, Paint::Plain);
        }
        if let Some(composer) = &plan.composer {
            let line = render_plan::returns(&self.look, composer);
            self.wrapped(line.trim_end(), Paint::Plain);
        }
    }

    /// What has to be chosen for. It comes first among the groups of files, so that leafing goes down.
    fn conflicts(&mut self, shown: Shown<'_>) {
        let Some(plan) = &shown.plan.files else { return };
        for group in files::groups(&self.look, plan).into_iter().filter(is_conflict) {
            self.group(plan, group, shown.choose, Paint::Warn);
        }
    }

    fn group(&mut self, plan: &retake_wire::FilesPlan, group: Group<'_>, choose: &[Choose], paint: Paint) {
        self.wrapped(&group.title, paint);
        for path in group.paths {
            let name = self.lines.len();
            self.path(plan, path, choose);
            self.leaves.push((name, self.lines.len() - 1));
        }
    }

    fn files(&mut self, shown: Shown<'_>) {
        let Some(plan) = &shown.plan.files else { return };
        let all = files::groups(&self.look, plan).into_iter().chain(untouched(plan, shown.choose));
        for group in all.filter(|group| !is_conflict(group)) {
            self.group(plan, group, shown.choose, Paint::Bold);
        }
        let mut room = usize::MAX;
        self.text(&files::others(&self.look, plan, &mut room));
    }

    fn path(&mut self, plan: &retake_wire::FilesPlan, path: &PathPlan, choose: &[Choose]) {
        let chosen = chosen(path, choose).and_then(|at| options(path).into_iter().nth(at));
        let chosen = chosen.map(|choice| format!(" [{}]", files::choice_name(&choice))).unwrap_or_default();
        let room = self.columns.saturating_sub(chosen.len());
        let mut line = if path.verdict == Verdict::Conflict {
            let name = format!("  ! {}", files::name(&path.name.path));
            styled(width::truncate(&name, room).into_owned(), self.theme.style(Paint::Warn))
        } else {
            let text = files::alone(&Look { columns: room, ..self.look }, plan, path);
            ui_words::lines(&text, self.theme).into_iter().next().unwrap_or_default()
        };
        line.spans.push(Span::styled(chosen, self.theme.style(Paint::Accent)));
        self.lines.push(line);
        if let (Verdict::Conflict, Some(why)) = (path.verdict, &path.cause) {
            self.indented(&files::why(why), 6, Paint::Plain);
        }
    }
}

/// What becomes of a file with a choice: as the plan says it, where it does.
fn becomes(path: &PathPlan, choice: &Choice) -> String {
    let after = path.outcomes.iter().find(|after| after.choice == *choice);
    after.map_or_else(|| means(choice).to_owned(), files::after_choice)
}

/// What a choice comes to, whatever the file.
fn means(choice: &Choice) -> &'static str {
    match choice {
        Choice::Disk => "stays as it is now and counts as yours: not asked again",
        Choice::Checkpoint => "as it was then; undo brings back what others wrote since",
        Choice::Merge => "as it was then, with what others wrote since",
        Choice::Yours => "the last version that was not written by the agent",
        Choice::Hunks(_) => "this hunk only; the others are asked about again",
        Choice::Skip => "stays as it is now, undecided: a later step asks again",
    }
}

/// What can be chosen, a line each, with what becomes of the file.
fn offered(
    shown: Shown<'_>,
    path: &PathPlan,
    options: &[Choice],
    columns: usize,
    theme: Theme,
) -> Vec<Line<'static>> {
    let now = holds(path, shown.choose);
    let head = if now.is_none() { "chooses; nothing is chosen yet" } else { "chooses another" };
    let mut lines = vec![styled(format!("    {} {head}", shown.key), theme.style(Paint::Dim))];
    let names: Vec<_> = options.iter().map(files::choice_name).collect();
    let wide = names.iter().map(|name| width::columns(name)).max().unwrap_or(0);
    for (at, (name, option)) in names.iter().zip(options).enumerate() {
        let (sign, paint) = if now == Some(at) { ("●", Paint::Accent) } else { ("○", Paint::Dim) };
        let style = theme.style(paint);
        let before = format!("    {sign} {} ", width::fit(name, wide + 1));
        let margin = width::columns(&before);
        for (row, words) in
            width::wrap(&becomes(path, option), columns.saturating_sub(margin).max(8)).iter().enumerate()
        {
            let before = if row == 0 { before.clone() } else { " ".repeat(margin) };
            lines.push(styled(format!("{before}{words}"), style));
        }
    }
    lines
}

/// What is shown below the file that is looked at: what can be chosen, and its diff.
pub(super) fn detail(
    shown: Shown<'_>,
    path: &PathPlan,
    asked: bool,
    columns: u16,
    brush: &Brush<'_>,
) -> Vec<Line<'static>> {
    let theme = brush.theme;
    let mut lines = Vec::new();
    let room = usize::from(columns).saturating_sub(4).max(8);
    for piece in files::uncertain(path).iter().flat_map(|why| width::wrap(why, room)) {
        lines.push(styled(format!("    {piece}"), theme.style(Paint::Dim)));
    }
    let options = options(path);
    if options.len() > 1 && !is_spread(path, shown.choose, asked) {
        lines.push(styled(format!("    {} chooses another outcome", shown.key), theme.style(Paint::Dim)));
    } else if options.len() > 1 {
        lines.extend(offered(shown, path, &options, columns.into(), theme));
    }
    if path.diff.as_deref().unwrap_or_default().is_empty() {
        lines.push(styled("    no lines to show".to_owned(), theme.style(Paint::Dim)));
        return lines;
    }
    if files::left_alone(path) {
        lines.push(styled(format!("    {}", files::IF_NOT_LEFT), theme.style(Paint::Dim)));
    }
    for line in files::diff(path).lines() {
        // Its margin comes first.
        let (text, style) = line
            .get(1)
            .map_or(("", TextStyle::Dim), |span| (span.text.as_str(), span.style.unwrap_or(TextStyle::Dim)));
        for piece in width::wrap(text, room) {
            lines.push(styled(format!("    {piece}"), theme.of(style)));
        }
    }
    lines
}
