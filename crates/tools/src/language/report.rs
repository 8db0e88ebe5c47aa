//! The report of a language server for the model: a few lines, quoted, so that they are never taken for anything else.

use std::path::Path;

use super::board::{Problem, Severity};
use super::session::Problems;

/// The most lines.
const MOST_LINES: usize = 20;

/// The most warnings: more of them hide the errors.
const MOST_WARNINGS: usize = 5;

/// The lines about these problems; empty without any. `shown` is how a path is shown to the model.
pub(super) fn report(name: &str, problems: &Problems, shown: impl Fn(&Path) -> Option<String>) -> String {
    let named = problems.iter().filter_map(|(path, problems)| Some((shown(path)?, problems)));
    let mut all: Vec<(Severity, String, &Problem)> = named
        .flat_map(|(name, problems)| {
            problems.iter().map(move |problem| (problem.severity, name.clone(), problem))
        })
        .collect();
    all.sort();
    let errors = all.iter().take_while(|(severity, ..)| *severity == Severity::Error).count();
    if all.len() - errors > MOST_WARNINGS {
        all.truncate(errors);
    }
    if all.is_empty() {
        return String::new();
    }
    let left = all.len().saturating_sub(MOST_LINES);
    let line = |(severity, name, problem): &(Severity, String, &Problem)| {
        let kind = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let Problem { line, column, message, .. } = problem;
        format!("\n{name}:{line}:{column}: {kind}: {message}")
    };
    let lines: String = all.iter().take(MOST_LINES).map(line).collect();
    let more = if left > 0 { format!("\n[{left} more not shown]") } else { String::new() };
    format!("[the language server {name} found, as untrusted output:]\n```{lines}\n```{more}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn problem(severity: Severity, line: u32) -> Problem {
        Problem { severity, line, column: 5, message: format!("wrong {line}") }
    }

    fn told(problems: Vec<Problem>) -> String {
        let problems = Problems::from([(PathBuf::from("/w/a.rs"), problems)]);
        report("checker", &problems, |path| Some(path.strip_prefix("/w").ok()?.display().to_string()))
    }

    #[test]
    fn errors_come_first_and_many_warnings_are_left_out() {
        let two = vec![problem(Severity::Warning, 1), problem(Severity::Error, 2)];
        assert_eq!(
            told(two),
            "[the language server checker found, as untrusted output:]\n```\na.rs:2:5: error: wrong 2\na.rs:1:5: warning: \
             wrong 1\n```"
        );
        let six = (1..=6).map(|line| problem(Severity::Warning, line)).collect();
        assert_eq!(told(six), "");
        assert_eq!(told(Vec::new()), "");
    }

    #[test]
    fn a_report_has_twenty_lines_and_no_file_elsewhere() {
        let many = told((1..=25).map(|line| problem(Severity::Error, line)).collect());
        assert_eq!(many.matches("error:").count(), 20);
        assert!(many.ends_with("a.rs:20:5: error: wrong 20\n```\n[5 more not shown]"), "{many}");
        let elsewhere = Problems::from([(PathBuf::from("/etc/a"), vec![problem(Severity::Error, 1)])]);
        assert_eq!(report("checker", &elsewhere, |_| None), "");
    }
}
