//! Choices for single files in the line client: a numbered list, and lines such as `2=disk`. Must never do anything except plan.

use retake_wire::reply::Plan;
use retake_wire::{Action, Choose, FileOptions, FilesPlan, PathPlan, Verdict};

use super::change;
use crate::args::file_options::choice;
use crate::context::Context;
use crate::error::{Failure, Result, usage};
use crate::ui::Read;
use retake_tui::render::files;

/// The longest list, except that all files in conflict are listed.
const LISTED: usize = 50;

/// The possible answers.
const HELP: &str = "N=CHOICE chooses for file N, N alone shows how it would change, an empty line goes back";

/// What a line says.
enum Input<'a> {
    Diff(&'a PathPlan),
    Choices(Vec<Choose>),
}

/// Lets the person choose for files until a choice changes the plan. Returns the options with that choice, and the new plan;
/// `None` if the person goes back.
pub(super) async fn choose(
    cx: &mut Context<'_>,
    conversation: &str,
    action: &Action,
    options: &FileOptions,
) -> Result<Option<(FileOptions, Plan)>> {
    let plan = change::plan(cx, conversation, action, options, true).await?;
    let Some(files) = &plan.files else {
        return Ok(None);
    };
    let paths = listed(files, options);
    cx.print(&list(&paths, files.paths.len(), options))?;
    cx.aside(HELP)?;
    loop {
        let line = match cx.ui.read("choose> ", None)? {
            Read::Line(line) if !line.trim().is_empty() => line,
            Read::Line(_) | Read::Eof | Read::Interrupted => return Ok(None),
        };
        match read(&line, &paths) {
            Ok(Input::Diff(path)) => cx.ui.page_text(&files::diff(path))?,
            Ok(Input::Choices(new)) => {
                let mut options = options.clone();
                for new in new {
                    options.choose.retain(|old| old.name != new.name);
                    options.choose.push(new);
                }
                match change::plan(cx, conversation, action, &options, true).await {
                    Ok(plan) => return Ok(Some((options, without_diffs(plan)))),
                    Err(failure @ Failure::Problem(_)) => cx.complain(&failure)?,
                    Err(failure) => return Err(failure),
                }
            }
            Err(failure) => cx.complain(&failure)?,
        }
    }
}

/// The plan without diffs.
fn without_diffs(mut plan: Plan) -> Plan {
    plan.files.iter_mut().flat_map(|files| &mut files.paths).for_each(|path| path.diff = None);
    plan
}

/// The files that have a choice, conflicts first.
fn listed<'a>(files: &'a FilesPlan, options: &FileOptions) -> Vec<&'a PathPlan> {
    let chosen = |path: &PathPlan| options.choose.iter().any(|choose| choose.name == path.name);
    let open =
        |path: &&PathPlan| path.choices.len() > 1 && (path.verdict != Verdict::Unchanged || chosen(path));
    let mut paths: Vec<_> = files.paths.iter().filter(open).collect();
    paths.sort_by_key(|path| path.verdict != Verdict::Conflict);
    let conflicts = paths.iter().filter(|path| path.verdict == Verdict::Conflict).count();
    paths.truncate(conflicts.max(LISTED));
    paths
}

fn list(paths: &[&PathPlan], all: usize, options: &FileOptions) -> String {
    let mut text = String::new();
    for (number, path) in (1..).zip(paths) {
        let chosen = options.choose.iter().find(|choose| choose.name == path.name);
        let chosen =
            chosen.map(|choose| format!(" [{}]", files::choice_name(&choose.choice))).unwrap_or_default();
        let name = files::name(&path.name.path);
        text.push_str(&format!("{number:>3} {name}{chosen}: {}\n", files::choices(path)));
    }
    if all > LISTED && paths.len() < all {
        text.push_str("    … `retake rewind --choose` chooses for the other files\n");
    }
    text
}

/// Parses a line: one number, or choices such as `2=disk`.
fn read<'a>(line: &str, paths: &[&'a PathPlan]) -> Result<Input<'a>> {
    let numbered = |text: &str| {
        let at = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let path = at.and_then(|at| paths.get(at)).copied();
        path.ok_or_else(|| usage(format!("{text:?} is not the number of a file above"), HELP))
    };
    let line = line.trim();
    if !line.contains('=') {
        return numbered(line).map(Input::Diff);
    }
    let choices = line.split_whitespace().map(|word| {
        let (number, what) = word.split_once('=').unwrap_or((word, ""));
        let choice = choice(what).map_err(|why| usage(why, HELP))?;
        Ok(Choose { name: numbered(number)?.name.clone(), choice })
    });
    choices.collect::<Result<_>>().map(Input::Choices)
}
