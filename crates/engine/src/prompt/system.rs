//! The system prompt of the agent: the same in every call of a conversation.

use std::path::Path;

use jiff::tz::TimeZone;
use retake_core::Time;
use retake_tools::Toolbox;

/// The content of the system prompt. It does not change during a conversation.
#[derive(Clone, Copy)]
pub struct About<'a> {
    /// The folder of the conversation.
    pub folder: &'a Path,
    /// Further folders that it works in.
    pub roots: &'a [std::path::PathBuf],
    /// When the conversation began; the prompt names the day.
    pub began: Time,
    /// Our own tools. Those of MCP servers come and go.
    pub(crate) tools: &'a Toolbox,
}

/// The instructions for the agent. A rule that begins with the name of a tool, such as `[edit]`, is for agents with that tool.
const AGENT: &str = include_str!("system.md");

/// The person's own instructions, followed by the agent's instructions if there are tools. `None` without either.
pub fn system_prompt(own: Option<&str>, about: Option<&About<'_>>) -> Option<String> {
    let own = own.map(str::trim).filter(|own| !own.is_empty()).map(str::to_owned);
    let agent = about.map(|about| format!("{}\n\n{}", rules(about.tools), facts(about)));
    let parts: Vec<String> = own.into_iter().chain(agent).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn rules(tools: &Toolbox) -> String {
    let rules = AGENT.trim().split("\n- ").filter_map(|rule| {
        match rule.strip_prefix('[').and_then(|rule| rule.split_once("] ")) {
            Some((tool, rule)) => tools.get(tool).map(|_| rule),
            None => Some(rule),
        }
    });
    rules.collect::<Vec<_>>().join("\n- ")
}

fn facts(about: &About<'_>) -> String {
    let mut lines = vec![format!("The conversation's folder: {}", about.folder.display())];
    lines.extend(about.roots.iter().map(|root| format!("A further folder of it: {}", root.display())));
    lines.push(format!("System: {} on {}", std::env::consts::OS, std::env::consts::ARCH));
    if let Ok(began) = jiff::Timestamp::from_millisecond(about.began.0) {
        // In UTC: the time zone may change during a conversation.
        lines.push(format!("This conversation began on {}.", began.to_zoned(TimeZone::UTC).date()));
    }
    lines.join("\n")
}
