//! The agent's work as lists: todo list, jobs, tools, permissions, cost. Must never show an unknown value as zero.

use retake_wire::reply::{
    Commands, Cost, JobLine, JobPrinted, Jobs, ModelCost, Permissions, Todo, TodoState, Tools, Waiting,
};
use retake_wire::{EffectClass, Mode, Rule, Ruling, Usage, english};

use super::content::{self, block};
use super::entries::dim;
use super::table::{cell, table};
use super::words;
use crate::text::style::Style;
use crate::text::{Look, Text, safe, time};

/// The number of letters that distinguish a job's id from others.
const SHORT: usize = 8;

/// The agent's todo list.
pub fn todo(look: &Look, list: &Todo) -> Text {
    if list.items.is_empty() {
        return dim(look, "there is nothing on the list");
    }
    let line = |item: &retake_wire::reply::TodoItem| {
        let (mark, style) = match item.state {
            TodoState::Open => ("[ ]", None),
            TodoState::Doing => ("[>]", Some(Style::Accent)),
            TodoState::Done => ("[x]", Some(Style::Dim)),
        };
        block(look, &format!("{mark} {}", safe::line(&item.text)), 0, style)
    };
    list.items.iter().map(line).collect()
}

/// The end of a job's id, which distinguishes calls of one answer.
pub fn short(job: &str) -> &str {
    let from = job.char_indices().rev().nth(SHORT - 1).map_or(0, |(at, _)| at);
    &job[from..]
}

/// Whether a job is running, or how it ended.
pub fn state(job: &JobLine) -> String {
    match (job.exit_code, job.running) {
        (_, true) => "running".to_owned(),
        (Some(code), false) => english::exit_code(code),
        (None, false) => "ended".to_owned(),
    }
}

/// The same; of a running job, for how long.
pub fn state_now(job: &JobLine, now_ms: i64) -> String {
    match job.since_ms.filter(|_| job.running) {
        Some(since_ms) => format!("running for {}", time::lasted((now_ms - since_ms).max(0))),
        None => state(job),
    }
}

/// Commands that run in the background.
pub fn jobs(look: &Look, all: &Jobs) -> Text {
    if all.jobs.is_empty() {
        return dim(look, "there are no jobs");
    }
    let row = |job: &JobLine| {
        let style = if job.running { Style::Good } else { Style::Dim };
        let printed =
            job.printed.map(|bytes| format!("printed {} bytes", words::number(bytes))).unwrap_or_default();
        vec![
            cell(safe::line(short(&job.job))).style(Style::Dim),
            cell(state_now(job, look.now_ms)).style(style),
            cell(printed).right(),
            cell(safe::line(&job.command)),
        ]
    };
    let more = if all.more { dim(look, "… and older ones") } else { Text::new() };
    let mut text = table(look, &all.jobs.iter().map(row).collect::<Vec<_>>()) + more;
    if let Some(job) = all.jobs.iter().find(|job| job.running).or(all.jobs.first()) {
        let name = safe::line(short(&job.job));
        let stop = if job.running { format!(", /jobs stop {name} stops it") } else { String::new() };
        text.push(dim(look, &format!("/jobs output {name} shows what it printed{stop}")));
    }
    text
}

/// The output of a job.
pub fn job_output(look: &Look, printed: &JobPrinted) -> Text {
    let mut text = Text::new();
    if printed.from > 0 {
        text.push(dim(look, &format!("… {} bytes before this", words::number(printed.from))));
    }
    let shown = safe::block(&printed.text);
    let end = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
    let job =
        dim(look, &format!("{}: {}", safe::line(&printed.job.command), state_now(&printed.job, look.now_ms)));
    text + shown + end + job
}

/// The tools of the agent.
pub fn tools(look: &Look, all: &Tools) -> Text {
    if all.tools.is_empty() {
        return dim(look, "the model has no tools here");
    }
    let row = |tool: &retake_wire::reply::Tool| {
        let class = match tool.class {
            EffectClass::None => "changes nothing",
            EffectClass::Workspace => "changes files",
            EffectClass::Compensable => "can be taken back",
            EffectClass::External => "may act outside",
        };
        let (may, style) = match tool.ruling {
            Some(Ruling::Allow) => ("runs unasked", Style::Good),
            Some(Ruling::Ask) => ("asks you first", Style::Warn),
            Some(Ruling::Deny) => ("is denied", Style::Error),
            None => ("depends on the call", Style::Dim),
        };
        let about = does(&tool.name).unwrap_or_else(|| {
            // A tool of an MCP server describes itself.
            tool.about.split_once(". ").map_or(tool.about.as_str(), |(first, _)| first)
        });
        vec![
            cell(safe::line(&tool.name)).style(Style::Accent),
            cell(class).style(Style::Dim),
            cell(may).style(style),
            cell(safe::line(about)),
        ]
    };
    let heading = ["tool", "effect", "permission", "what it does"].map(|title| cell(title).style(Style::Dim));
    let rows = std::iter::once(heading.into()).chain(all.tools.iter().map(row));
    table(look, &rows.collect::<Vec<_>>())
}

/// What a built-in tool does, for a person.
fn does(tool: &str) -> Option<&'static str> {
    Some(match tool {
        "read" => "reads a file",
        "list" => "lists the files of a folder",
        "glob" => "finds files by their names",
        "grep" => "finds text in files",
        "edit" => "replaces text in a file",
        "write" => "writes a whole file",
        "patch" => "changes several files at once",
        "shell" => "runs a command",
        "job_list" => "lists commands that run in the background",
        "job_input" => "writes to a command that runs in the background",
        "job_output" => "reads what a command in the background printed",
        "job_stop" => "stops a command that runs in the background",
        "fetch" => "reads a web page",
        "todo" => "keeps the list of what is to do",
        "ask" => "asks you a question",
        _ => return None,
    })
}

/// What a permission mode means.
pub fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "reads in the workspace unasked, and asks about everything else",
        Mode::AllowEdits => "reads and writes files of the workspace unasked, and asks about everything else",
        Mode::AllowAll => "does everything unasked, unless a rule says otherwise",
        Mode::Plan => "reads, and does nothing else",
    }
}

/// How long a rule would hold, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleExtent {
    /// In this conversation, as long as it lasts.
    Here,
    /// In every conversation, permanently.
    Everywhere,
}

/// What a rule would allow, how long and where, in words.
pub fn allows(rule: &Rule, place: RuleExtent) -> String {
    let lasts = match place {
        RuleExtent::Here => "for this conversation",
        RuleExtent::Everywhere => "in every conversation, for good",
    };
    format!("{}, {lasts}", what(rule, place))
}

/// That the rule would hold everywhere, for the line below the one that describes it.
pub fn the_same(rule: &Rule) -> &'static str {
    let is_relative = rule.what.as_ref().is_some_and(|glob| !glob.starts_with('/'));
    match is_relative && touches(&rule.tool).is_some() {
        true => "the same in every conversation, each in its own folder, for good",
        false => "the same in every conversation, for good",
    }
}

/// What a rule matches, in words.
pub fn what(rule: &Rule, place: RuleExtent) -> String {
    let tool = safe::line(&rule.tool);
    let given = rule.what.as_deref().map(safe::line);
    match (&*tool, given.as_deref()) {
        ("shell", None) => "every command".to_owned(),
        ("shell", Some(words)) => format!("every command that begins with “{words}”"),
        ("network", None) => "every command, with network".to_owned(),
        ("network", Some(words)) => format!("every command that begins with “{words}”, with network"),
        ("fetch", None) => "fetching from every address".to_owned(),
        ("fetch", Some(host)) => format!("fetching from {host}"),
        (tool, given) => match (touches(tool), given) {
            (Some(does), given) => format!("{does} {}", files(given, place)),
            (None, None) => format!("every call of {tool}"),
            (None, Some(given)) => format!("every call of {tool} with {given}"),
        },
    }
}

/// Whether a rule allows a tool everything, although narrower rules exist. Such a rule is never the first offer and never takes a
/// single key.
pub fn is_widest(rule: &Rule) -> bool {
    rule.what.is_none()
        && (matches!(&*rule.tool, "shell" | "network" | "fetch") || touches(&rule.tool).is_some())
}

/// The rule among these offers after the person asked so many times for a wider one. `None` at first if there is no narrow one.
pub fn chosen(offers: &[Rule], wider: usize) -> Option<&Rule> {
    match offers.first().is_some_and(is_widest) {
        true => offers.get(wider.checked_sub(1)?),
        false => offers.get(wider).or(offers.first()),
    }
}

/// The count for [`chosen`] after one more press: a wider rule, or the first choice again. `None` if there is no other.
pub fn wider(offers: &[Rule], now: usize) -> Option<usize> {
    let choices = offers.len() + usize::from(offers.first().is_some_and(is_widest));
    (choices > 1).then(|| (now + 1) % choices)
}

/// Whether a text that would refuse a call looks like a yes: its first word agrees, and no other word says anything else.
pub fn looks_like_yes(text: &str) -> bool {
    const YES: [&str; 19] = [
        "y", "yy", "yes", "yeah", "yep", "ok", "okay", "k", "allow", "allowed", "always", "approve",
        "approved", "agreed", "sure", "go", "do", "proceed", "continue",
    ];
    const MORE: [&str; 10] = ["please", "it", "this", "that", "on", "ahead", "now", "fine", "thanks", "all"];
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let agrees = words.next().is_some_and(|first| YES.contains(&first));
    agrees && words.all(|word| YES.contains(&word) || MORE.contains(&word))
}

/// What a file tool does to files.
fn touches(tool: &str) -> Option<&'static str> {
    Some(match tool {
        "write" => "writing",
        "edit" => "editing",
        "patch" => "patching",
        "read" => "reading",
        "list" => "listing",
        "glob" | "grep" => "searching",
        _ => return None,
    })
}

/// The files that a glob matches: it starts at the agent's folder or at the root.
fn files(glob: Option<&str>, place: RuleExtent) -> String {
    let folder = match place {
        RuleExtent::Here => "this folder",
        RuleExtent::Everywhere => "the folder it works in",
    };
    let Some(glob) = glob else { return format!("every file, also outside of {folder}") };
    let within = if glob.starts_with('/') { String::new() } else { format!(" of {folder}") };
    match glob.strip_suffix("**") {
        Some("") => format!("every file in {folder}"),
        Some(below) if below.ends_with('/') && !below.contains('*') => {
            format!("every file in {below}{within}")
        }
        _ => format!("what fits {glob}{within}"),
    }
}

/// What confines commands.
pub fn commands(held: &Commands) -> String {
    let net = match held {
        Commands::Asking => "have a network only where their call asks for it",
        Commands::Open => "reach the network",
        Commands::Closed => "reach no network",
        Commands::Free { cause, .. } => {
            return format!("no sandbox holds commands: {}", english::sandbox_cause(cause));
        }
    };
    format!("commands write only in the workspace and in temporary folders, and {net}")
}

/// What the agent may do without asking.
pub fn permissions(look: &Look, may: &Permissions) -> Text {
    let line = format!("mode {}: the model {}", may.mode.name(), mode(may.mode));
    let mut text = block(look, &line, 0, None);
    text.push(block(look, &commands(&may.commands), 0, None));
    for weakness in &may.weaknesses {
        text.push(block(look, &safe::line(&english::sandbox_fact(weakness)), 0, None));
    }
    let rows = (1..).zip(&may.rules).map(|(number, settled)| {
        let (ruling, style) = match settled.rule.ruling {
            Ruling::Allow => ("allow", Style::Good),
            Ruling::Ask => ("ask", Style::Warn),
            Ruling::Deny => ("deny", Style::Error),
        };
        let until = if settled.for_good { "for good" } else { "in this conversation" };
        vec![
            cell(format!("{number:>3}")).style(Style::Dim),
            cell(ruling).style(style),
            cell(safe::line(&settled.rule.short())),
            cell(until).style(Style::Dim),
        ]
    });
    text.push(table(look, &rows.collect::<Vec<_>>()));
    if may.rules.iter().any(|settled| is_denied_command(&settled.rule)) {
        text.push(block(look, DENIED_COMMAND, 0, None));
    }
    text
}

/// What a rule that denies a command, or asks about it, can't prevent.
pub(crate) const DENIED_COMMAND: &str = "Rules that deny or ask about a command read the command line. They can't stop a script, an alias, a variable \
                              or another program that runs the same. What no command may do at all, the sandbox and a closed \
                              network hold.";

pub(crate) fn is_denied_command(rule: &Rule) -> bool {
    rule.ruling != Ruling::Allow && rule.what.is_some() && matches!(&*rule.tool, "shell" | "network")
}

/// Waiting messages.
pub fn waiting(look: &Look, all: &Waiting) -> Text {
    if all.words.is_empty() {
        return dim(look, "no message is waiting");
    }
    let one = |words: &retake_wire::reply::Words| content::parts(look, &words.parts, 0);
    all.words.iter().map(one).collect()
}

/// What the answers cost, in money and tokens.
pub fn cost(look: &Look, cost: &Cost) -> Text {
    if cost.models.is_empty() {
        return dim(look, "no model has answered here");
    }
    let (known, unknown): (Vec<_>, Vec<_>) = cost.models.iter().partition(|of| of.usage.cost_usd.is_some());
    let all: f64 = known.iter().filter_map(|of| of.usage.cost_usd).sum();
    let sum = content::dollars(all);
    let unknown: Vec<String> = unknown.iter().map(|of| safe::line(&of.model).into_owned()).collect();
    const HOW: &str = "`retake config` sets the prices of models";
    let sum = match (known.is_empty(), unknown.is_empty()) {
        (_, true) if all == 0.0 => "this conversation was free".to_owned(),
        (_, true) => format!("this conversation cost {sum}"),
        (false, false) => {
            let unknown = unknown.join(", ");
            format!("this conversation cost {sum}, without {unknown}, whose price is not known: {HOW}")
        }
        (true, false) => format!("what this conversation cost is not known: {HOW}"),
    };
    let row = |of: &ModelCost| {
        vec![
            cell(safe::line(&of.model)).style(Style::Accent),
            cell(words::count(of.answers, "answer")).right(),
            cell(of.usage.cost_usd.map(content::dollars).unwrap_or_default()).right(),
            cell(tokens(of)),
        ]
    };
    block(look, &sum, 0, None) + table(look, &cost.models.iter().map(row).collect::<Vec<_>>())
}

/// The tokens of a model's answers, as far as it counted them.
fn tokens(of: &ModelCost) -> String {
    let Usage { input_tokens, cached_input_tokens, output_tokens, .. } = of.usage;
    let mut pieces = Vec::new();
    if let Some(input) = input_tokens {
        let cached = cached_input_tokens.filter(|cached| *cached > 0);
        let cached = cached.map(|some| format!(" ({} cached)", words::number(some)));
        pieces.push(format!("{} tokens read{}", words::number(input), cached.unwrap_or_default()));
    }
    if let Some(output) = output_tokens {
        let tokens = if pieces.is_empty() { " tokens" } else { "" };
        pieces.push(format!("{}{tokens} written", words::number(output)));
    }
    match of.unknown {
        0 => {}
        all if all == of.answers => pieces.push("tokens not counted".to_owned()),
        some => pieces.push(format!("tokens of {} not counted", words::count(some, "answer"))),
    }
    pieces.join(", ")
}

#[cfg(test)]
mod tests {
    use retake_wire::reply::{Commands, Cost, ModelCost, Permissions, ScopedRule, Tool, Tools};
    use retake_wire::{EffectClass, Mode, Rule, Ruling, Usage};

    use super::{cost, does, looks_like_yes, permissions, tools};
    use crate::text::Look;

    #[test]
    fn a_text_looks_like_a_yes_if_no_word_says_anything_else() {
        for yes in ["y", "Yes!", "ok", "yes, please", "Go ahead", "do it", "sure, go on", "allow all"] {
            assert!(looks_like_yes(yes), "{yes}");
        }
        for other in [
            "",
            "...",
            "no",
            "do not",
            "go back",
            "please stop",
            "yes, but not here",
            "use tabs",
            "that",
            "ok no",
        ] {
            assert!(!looks_like_yes(other), "{other}");
        }
    }

    #[test]
    fn trial_30_rules_that_deny_a_command_say_what_they_can_not_stop() {
        let shown = |ruling, tool: &str, what: &str| {
            let rule = Rule { ruling, tool: tool.to_owned(), what: Some(what.to_owned()) };
            let rules = vec![ScopedRule { rule, for_good: true }];
            let may = Permissions {
                mode: Mode::Ask,
                rules,
                commands: Commands::default(),
                ..Permissions::default()
            };
            let look = Look { columns: 200, now_ms: 0, ids: false };
            permissions(&look, &may).to_string()
        };
        let says = |text: String| text.contains("can't stop a script");
        assert!(says(shown(Ruling::Deny, "shell", "git push")));
        assert!(says(shown(Ruling::Ask, "shell", "git push")));
        assert!(!says(shown(Ruling::Allow, "shell", "git push")));
        assert!(!says(shown(Ruling::Deny, "write", "/etc/**")));
    }

    #[test]
    fn columns_of_tools_have_headings_and_uncounted_tokens_are_named() {
        let look = Look { columns: 80, now_ms: 0, ids: false };
        let (name, about) = ("read".to_owned(), String::new());
        let tool = Tool { name, about, class: EffectClass::None, ruling: None };
        let shown = tools(&look, &Tools { tools: vec![tool] }).to_string();
        assert_eq!(
            shown,
            "tool  effect           permission           what it does\n\
             read  changes nothing  depends on the call  reads a file\n"
        );
        let of = |answers, unknown| {
            let usage = Usage { cost_usd: Some(0.0), ..Usage::default() };
            let models = vec![ModelCost { model: "demo".to_owned(), answers, unknown, usage }];
            cost(&look, &Cost { models }).to_string()
        };
        assert_eq!(of(17, 17), "this conversation was free\ndemo  17 answers  free  tokens not counted\n");
        assert!(of(17, 2).ends_with("tokens of 2 answers not counted\n"), "{}", of(17, 2));
    }

    #[test]
    fn each_tool_for_jobs_is_described_without_the_row_before() {
        for tool in ["job_list", "job_input", "job_output", "job_stop"] {
            assert!(does(tool).is_some_and(|text| text.contains("background")), "{tool}: {:?}", does(tool));
        }
    }
}
