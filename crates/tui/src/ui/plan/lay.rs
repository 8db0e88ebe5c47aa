//! A plan as lines, with the words of [`crate::render`]. Must never leave out what can't be reverted, nor a conflict.

use ratatui::text::{Line, Span};
use retake_wire::reply::Plan;
use retake_wire::{Choose, FileName, FilesPlan, PathPlan, Verdict};

use super::choices::{chosen, is_spread, named, offered, options, stays_by_choice};
use super::view::{PlannedAction, styled};
use crate::render::files::{self, Group};
use crate::render::{content, effects, plan as render_plan, posts};
use crate::text::style::Style as TextStyle;
use crate::text::{Look, Text, width};
use crate::ui::pane::PaneContext;
use crate::ui::theme::{Paint, Theme};
use crate::ui::words as ui_words;

/// The files to step through, in the order of the lines.
pub(super) fn leaves(plan: &Plan, choose: &[Choose]) -> Vec<FileName> {
    let groups = plan.files.as_ref().map(|files| groups(&ui_words::look(80, 0), files, choose));
    let paths = groups.into_iter().flatten().flat_map(|group| group.paths);
    paths.map(|path| path.name.clone()).collect()
}

fn groups<'a>(look: &Look, files: &'a FilesPlan, choose: &[Choose]) -> Vec<Group<'a>> {
    files::groups(look, files, files::NOTHING, |path| stays_by_choice(path, choose))
}

/// The lines of a plan, and which of them name the files to step through.
pub(super) fn plan(
    shown: PlannedAction<'_>,
    columns: u16,
    brush: &PaneContext<'_>,
) -> (Vec<Line<'static>>, Vec<(usize, usize)>) {
    let look = ui_words::look(columns, brush.now_ms);
    let mut page = Page { look, theme: brush.theme, lines: Vec::new(), leaves: Vec::new() };
    let plan = shown.plan;
    page.text(shown.about.map(|about| content::sentence(&look, about, 0, None)));
    page.text(render_plan::steps(&look, plan));
    // Needed choices come first, then what can't be reverted; messages are many, and surprise least.
    page.text(render_plan::ended_first(&look, plan));
    page.groups(shown, |group| group.is_conflict());
    page.text(effects::effects(&look, &plan.outside.effects, effects::Files::of_plan(plan)));
    page.text(posts::posts(&look, &plan.outside.posts, posts::Step::Planned));
    page.groups(shown, |group| !group.is_conflict());
    page.text(plan.files.as_ref().map(|files| files::others(&look, files, usize::MAX)));
    page.text(render_plan::remarks(&look, &plan.conditions));
    page.text(match plan.unchanged {
        true => render_plan::SO_ALREADY.into(),
        false => render_plan::conversation(&look, Some(shown.action), plan),
    });
    if page.lines.is_empty() {
        page.text(render_plan::NO_MESSAGE);
    }
    (page.lines, page.leaves)
}

struct Page {
    look: Look,
    theme: Theme,
    lines: Vec<Line<'static>>,
    leaves: Vec<(usize, usize)>,
}

impl Page {
    fn text(&mut self, text: impl Into<Text>) {
        let text = text.into();
        if !text.is_empty() {
            self.lines.extend(ui_words::lines(&text, self.theme));
        }
    }

    /// Groups of files. Conflicts come first, so that stepping goes down.
    fn groups(&mut self, shown: PlannedAction<'_>, are_meant: impl Fn(&Group<'_>) -> bool) {
        let Some(files) = &shown.plan.files else { return };
        for group in groups(&self.look, files, shown.choose).into_iter().filter(are_meant) {
            self.text(group.title(&self.look));
            for path in group.paths {
                let name = self.lines.len();
                self.path(files, path, shown.choose);
                self.leaves.push((name, self.lines.len() - 1));
            }
        }
    }

    fn path(&mut self, plan: &FilesPlan, path: &PathPlan, choose: &[Choose]) {
        let chosen = chosen(path, choose).map(|choice| format!(" [{}]", named(path, choice)));
        let chosen = chosen.unwrap_or_default();
        let room = self.look.columns.saturating_sub(chosen.len());
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
            self.text(content::sentence(&self.look, &files::why(why), 6, None));
        }
    }
}

fn detailed(look: &Look, text: &str, style: TextStyle) -> Text {
    content::hanging(look, text, "    ", 4, Some(style))
}

/// The details below the viewed file: the choices, and its diff. They are unfolded if the person requested them; the arrows are
/// at one of them, if they have the arrows. Also returns the first line of each choice.
pub(super) fn detail(
    shown: PlannedAction<'_>,
    path: &PathPlan,
    (asked, cursor): (bool, Option<usize>),
    columns: u16,
    brush: &PaneContext<'_>,
) -> (Vec<Line<'static>>, Vec<usize>) {
    let look = ui_words::look(columns, brush.now_ms);
    let dim = |text: &str| detailed(&look, text, TextStyle::Dim);
    let mut lines = files::uncertain(path).map(|why| ui_words::lines(&dim(&why), brush.theme));
    let mut lines = lines.take().unwrap_or_default();
    let mut starts = Vec::new();
    let mut text = Text::new();
    if options(path).len() > 1 {
        if is_spread(path, shown.choose, asked) {
            let offered = offered(&look, shown, path, cursor, brush.theme);
            starts = offered.starts.iter().map(|start| lines.len() + start).collect();
            lines.extend(offered.lines);
        } else {
            text.push(dim(&format!("{} chooses another outcome", shown.key)));
        }
    }
    if path.diff.as_deref().unwrap_or_default().is_empty() {
        text.push(dim(if stays_by_choice(path, shown.choose) { STAYS } else { "no lines to show" }));
    } else if path.verdict == Verdict::Conflict {
        text.push(dim(BOTH));
    } else if files::left_alone(path) {
        text.push(dim(files::IF_NOT_LEFT));
    }
    for line in files::diff(path).lines() {
        // Its margin comes first.
        let (line, style) = line
            .get(1)
            .map_or(("", TextStyle::Dim), |span| (span.text.as_str(), span.style.unwrap_or(TextStyle::Dim)));
        text.push(detailed(&look, line, style));
    }
    lines.extend(ui_words::lines(&text, brush.theme));
    (lines, starts)
}

/// The line in place of the diff of a file that was decided to stay.
const STAYS: &str = "stays as it is now";

/// The line before the diff of a file in conflict.
const BOTH: &str = "both versions: - as it is now, + as it was then";
