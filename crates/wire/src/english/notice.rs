//! The English sentences for the notices of a run. Must never name a command that the client does not have: `command` gives the
//! client's command for a remedy.

use std::fmt::Write as _;

use crate::hint::Remedy;
use crate::notice::{ChangedGitFile, MentionOutcome, ModelFailure, NoticeCause, RunNotice};

use super::folder::{git_file, git_file_kind};

/// The sentence for a notice of a run.
pub fn run_notice(it: &RunNotice, command: &dyn Fn(&Remedy) -> String) -> String {
    match it {
        RunNotice::Retry { in_ms, failure, detail } => {
            let detail = detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
            format!("retrying in {}: {}{detail}", seconds(*in_ms), model_failure(*failure))
        }
        RunNotice::EffortNotSent { model, effort } => format!(
            "{model} is not known to take an effort, so “{}” is not sent; the setting models.\"{model}\".effort \
             decides for this model",
            super::effort(*effort)
        ),
        RunNotice::AnswerCut => "the answer was cut at the model's limit".to_owned(),
        RunNotice::Compacts => {
            "earlier messages are being summarised: they nearly fill the model's context".to_owned()
        }
        RunNotice::FoldsAgain => {
            "a summary is made again: messages that it covers were hidden or shown".to_owned()
        }
        RunNotice::TooLongForModel { model, tokens, limit } => format!(
            "the prompt has about {tokens} tokens, but the context of {model} takes {limit}: it may be refused"
        ),
        RunNotice::NotCompacted { cause } => {
            hinted(format!("{}; nothing was summarised", because(cause)), cause, command)
        }
        RunNotice::ModelRefused => "the model refused to go on".to_owned(),
        RunNotice::AnswerNotSaved { cause } => {
            hinted(format!("{}; the answer so far is not saved", because(cause)), cause, command)
        }
        RunNotice::RuleNotKept { cause } => {
            hinted(format!("it runs this once; the rule is not kept: {}", because(cause)), cause, command)
        }
        RunNotice::SettingsWrong { cause } => {
            let text = "until that is corrected, no rule of them allows anything";
            hinted(format!("{}; {text}", because(cause)), cause, command)
        }
        RunNotice::Failed { cause } => hinted(because(cause), cause, command),
        RunNotice::NothingCanChange { cause } => {
            let text = "nothing can be changed there, as it could not be taken back";
            hinted(format!("{}: {text}", because(cause)), cause, command)
        }
        RunNotice::FolderNotCaptured { folder, cause } => {
            let text = "what is written there can't be taken back";
            hinted(format!("the further folder {folder}: {}; {text}", because(cause)), cause, command)
        }
        RunNotice::NothingRecalled { cause } => {
            hinted(format!("{}; the turn goes on without its facts", because(cause)), cause, command)
        }
        RunNotice::ProcessesRun { processes: 1 } => {
            "one of its processes still runs; what it changes from now on is kept".to_owned()
        }
        RunNotice::ProcessesRun { processes } => {
            format!("{processes} of its processes still run; what they change from now on is kept")
        }
        RunNotice::GitFilesChanged { files, more } => {
            let list = listed(files, *more, |it| {
                git_file(it.change, it.role, (it.remedy.as_ref(), it.command.as_deref()), command)
            });
            format!(
                "while it ran, hooks or settings of git were changed, and a rewind does not undo that: {list}"
            )
        }
        RunNotice::CoveredGitFilesChanged { files, more } => {
            let list = listed(files, *more, |it| git_file_kind(it.change, it.role));
            format!("files that git runs or reads as settings were changed: {list}")
        }
        RunNotice::NotSent { messages } => {
            format!("words that waited were not said, as what they answer is gone: {}", quoted(messages))
        }
        RunNotice::Mention { name, outcome } => mention(name, outcome),
        RunNotice::OwnerSilent { pid } => format!("the owner does not answer: {}", owner_silent(*pid)),
        RunNotice::OwnerReplaced => {
            "the owner ended during the run; another one continues from what is stored".to_owned()
        }
        RunNotice::Unknown => super::UNKNOWN.to_owned(),
        of_servers => server_notice(of_servers, command),
    }
}

/// The sentence for a notice of an owner, which may have a newer or an older version.
pub fn run_notice_or(it: &RunNotice, text: &str, command: &dyn Fn(&Remedy) -> String) -> String {
    match it {
        RunNotice::Unknown if !text.is_empty() => text.to_owned(),
        known => run_notice(known, command),
    }
}

/// What to do with the process of a suspended owner.
pub fn owner_silent(pid: u32) -> String {
    format!(
        "`kill -CONT {pid}` resumes its process, which then completes the request; `kill -KILL {pid}` ends it, and the next command starts another one"
    )
}

/// The sentence for a notice about MCP servers.
fn server_notice(it: &RunNotice, command: &dyn Fn(&Remedy) -> String) -> String {
    match it {
        RunNotice::ServersAwaited { servers } => format!("waiting for {} to start", named(servers)),
        RunNotice::ServersLate { servers, waited_ms } => format!(
            "{} took longer than {} s to start: this turn goes on without, and a later one may have the tools",
            named(servers),
            std::time::Duration::from_millis(*waited_ms).as_secs_f32(),
        ),
        RunNotice::Server { server, remark } => {
            format!("MCP server “{server}”: {}", super::mcp_remark(remark))
        }
        RunNotice::ServerFailed { server, cause } => {
            hinted(format!("MCP server “{server}” can't be used: {}", because(cause)), cause, command)
        }
        RunNotice::ServerNeedsApproval { server } => format!(
            "this folder names an MCP server “{server}” that may not be started yet: {}",
            command(&Remedy::McpAllow { server: server.clone() })
        ),
        RunNotice::ServerFile { cause } => hinted(because(cause), cause, command),
        _ => super::UNKNOWN.to_owned(),
    }
}

/// What failed, with its causes.
pub(super) fn because(it: &NoticeCause) -> String {
    let sentence = super::problem::cause(it);
    std::iter::once(&sentence).chain(&it.causes).map(String::as_str).collect::<Vec<_>>().join(": ")
}

/// A text, followed by what to do about its cause.
fn hinted(mut text: String, cause: &NoticeCause, command: &dyn Fn(&Remedy) -> String) -> String {
    if let Some(hint) = super::problem::cause_hint(cause) {
        let _ = write!(text, "; {}", hint.worded(command));
    }
    text
}

/// What works in a folder that is never captured, and what to do: a line each.
pub fn never_captured(it: &NoticeCause) -> [String; 2] {
    [
        format!("{}; you can talk, read files, and run commands that change nothing", because(it)),
        "files can't be changed or reverted here: start retake in a project folder".to_owned(),
    ]
}

/// Why a request to a model failed.
pub fn model_failure(it: ModelFailure) -> &'static str {
    match it {
        ModelFailure::NoKey => "there is no key for it",
        ModelFailure::Refused => "the key was refused",
        ModelFailure::OutOfCredit => "the account has no credit or quota left",
        ModelFailure::RateLimited => "rate limit",
        ModelFailure::Overloaded => "the provider has trouble",
        ModelFailure::ContextTooLong => "the conversation is too long for its context",
        ModelFailure::SafetyRefusal => "the provider does not answer this",
        ModelFailure::UnknownModel => "there is no such model",
        ModelFailure::Rejected => "the provider rejected the request",
        ModelFailure::Unreachable => "it cannot be reached",
        ModelFailure::Cut => "the connection ended before the answer was complete",
        ModelFailure::TimedOut => "nothing arrived for too long",
        ModelFailure::OutputLimit => "the answer reached its limit in the middle of a tool call",
        ModelFailure::BadCall => "the model wrote an invalid tool call",
        ModelFailure::BadReply => "the reply makes no sense",
        ModelFailure::BadSettings => "the settings are wrong",
        ModelFailure::Unknown => super::UNKNOWN,
    }
}

fn mention(name: &str, outcome: &MentionOutcome) -> String {
    let large =
        |what: &str, bytes: u64, most: u64| format!("{what} has {bytes} bytes, and {most} are the most");
    let why = match outcome {
        MentionOutcome::NoFile => return format!("@{name} is not a file here: it is sent as plain text"),
        MentionOutcome::Secret => return format!("@{name} looks like a secret, and the model is sent it"),
        MentionOutcome::Piped => {
            "what comes through a pipe attaches nothing; to send it, name it in the command".to_owned()
        }
        MentionOutcome::LeadsToSecret { path } => {
            format!("it leads to {path}, which holds secrets; to send that, name it")
        }
        MentionOutcome::LeadsOut { path } => {
            format!("it leads out of the folder, to {path}; to send that, name it")
        }
        MentionOutcome::TooMany { most } => format!("{most} files are"),
        MentionOutcome::MessageTooLarge => "the message would be too large".to_owned(),
        MentionOutcome::TextTooLarge { bytes, most } => {
            format!("{}; the agent can read it", large("it", *bytes, *most))
        }
        MentionOutcome::PictureTooLarge { bytes, most } => large("the picture", *bytes, *most),
        MentionOutcome::PdfTooLarge { bytes, most } => large("the PDF", *bytes, *most),
        MentionOutcome::OtherKind => "it is neither text nor a picture nor a PDF".to_owned(),
        MentionOutcome::NotAllowed => "you may not read it".to_owned(),
        MentionOutcome::LeadsNowhere => "it leads nowhere".to_owned(),
        MentionOutcome::Unreadable { detail } => detail.clone(),
        MentionOutcome::Unknown => super::UNKNOWN.to_owned(),
    };
    format!("@{name} is not attached: {why}")
}

fn listed(files: &[ChangedGitFile], more: u64, words: impl Fn(&ChangedGitFile) -> String) -> String {
    let shown: Vec<_> = files.iter().map(|it| format!("{} ({})", it.path, words(it))).collect();
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    format!("{}{more}", shown.join(", "))
}

fn quoted(messages: &[String]) -> String {
    let one = |text: &String| match text.trim() {
        "" => "what was attached without words".to_owned(),
        _ => format!("“{text}”"),
    };
    messages.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn named(servers: &[String]) -> String {
    let names: Vec<String> = servers.iter().map(|name| format!("“{name}”")).collect();
    format!("the MCP server{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
}

/// A time such as `0.4 s` or `2 s`.
fn seconds(ms: u64) -> String {
    let seconds = std::time::Duration::from_millis(ms).as_secs_f64();
    if seconds < 1.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::{remedy, rows};

    /// Each notice in its form on the wire, with its sentence.
    const NOTICES: &[(&str, &str)] = &[
        (
            r#"{"code":"effort_not_sent","model":"mine/m","effort":"high"}"#,
            "mine/m is not known to take an effort, so “high” is not sent; the setting models.\"mine/m\".effort \
             decides for this model",
        ),
        (
            r#"{"code":"retry","in_ms":400,"failure":{"code":"rate_limited"},"detail":"HTTP 429"}"#,
            "retrying in 0.4 s: rate limit (HTTP 429)",
        ),
        (
            r#"{"code":"retry","in_ms":2000,"failure":{"code":"cut"}}"#,
            "retrying in 2 s: the connection ended before the answer was complete",
        ),
        (r#"{"code":"answer_cut"}"#, "the answer was cut at the model's limit"),
        (r#"{"code":"model_refused"}"#, "the model refused to go on"),
        (
            r#"{"code":"answer_not_saved","cause":{"code":"disk_full","message":"the disk is full","causes":["no space"]}}"#,
            "the disk is full: no space; the answer so far is not saved; free some space, then repeat it; nothing was changed",
        ),
        (
            r#"{"code":"rule_not_kept","cause":{"code":"aborted","message":"the disk is full","causes":["no space"]}}"#,
            "it runs this once; the rule is not kept: the disk is full: no space",
        ),
        (
            r#"{"code":"settings_wrong","cause":{"code":"aborted","message":"the disk is full","causes":["no space"]}}"#,
            "the disk is full: no space; until that is corrected, no rule of them allows anything",
        ),
        (
            r#"{"code":"failed","cause":{"code":"aborted","message":"the disk is full","causes":["no space"]}}"#,
            "the disk is full: no space",
        ),
        (
            r#"{"code":"nothing_can_change","cause":{"code":"aborted","message":"the disk is full","causes":["no space"]}}"#,
            "the disk is full: no space: nothing can be changed there, as it could not be taken back",
        ),
        (
            r#"{"code":"folder_not_captured","folder":"/x","cause":{"code":"aborted","message":"the disk is full","causes":["no space"]}}"#,
            "the further folder /x: the disk is full: no space; what is written there can't be taken back",
        ),
        (
            r#"{"code":"compacts"}"#,
            "earlier messages are being summarised: they nearly fill the model's context",
        ),
        (
            r#"{"code":"folds_again"}"#,
            "a summary is made again: messages that it covers were hidden or shown",
        ),
        (
            r#"{"code":"too_long_for_model","model":"mine/m","tokens":12000,"limit":8000}"#,
            "the prompt has about 12000 tokens, but the context of mine/m takes 8000: it may be refused",
        ),
        (
            r#"{"code":"not_compacted","cause":{"code":"no_summary","message":"x"}}"#,
            "the model gave no summary; nothing was summarised; try it again, or with another model",
        ),
        (
            r#"{"code":"nothing_recalled","cause":{"code":"memory_service","message":"x","fields":{"detail":"HTTP 503"}}}"#,
            "the memory service recalls nothing: HTTP 503; the turn goes on without its facts; `agent.memory.url` in the settings is its address",
        ),
        (
            r#"{"code":"processes_run","processes":1}"#,
            "one of its processes still runs; what it changes from now on is kept",
        ),
        (
            r#"{"code":"processes_run","processes":2}"#,
            "2 of its processes still run; what they change from now on is kept",
        ),
        (
            r#"{"code":"git_files_changed","files":[{"path":".git/hooks/x","change":"new","role":"hook","command":"rm .git/hooks/x"}],"more":2}"#,
            "while it ran, hooks or settings of git were changed, and a rewind does not undo that: .git/hooks/x (new; git runs it; to put it back: rm .git/hooks/x), and 2 more",
        ),
        (
            r#"{"code":"covered_git_files_changed","files":[{"path":".gitattributes","change":"changed","role":"settings"}],"more":0}"#,
            "files that git runs or reads as settings were changed: .gitattributes (changed; git does what it says)",
        ),
        (
            r#"{"code":"servers_awaited","servers":["a","b"]}"#,
            "waiting for the MCP servers “a”, “b” to start",
        ),
        (
            r#"{"code":"servers_late","servers":["a"],"waited_ms":1500}"#,
            "the MCP server “a” took longer than 1.5 s to start: this turn goes on without, and a later one may have the tools",
        ),
        (
            r#"{"code":"server","server":"a","remark":{"code":"tool_twice","tool":"x"}}"#,
            "MCP server “a”: left out its tool “x”: there is one of that name before it",
        ),
        (
            r#"{"code":"server_failed","server":"a","cause":{"code":"aborted","message":"the disk is full","causes":["no space"]}}"#,
            "MCP server “a” can't be used: the disk is full: no space",
        ),
        (
            r#"{"code":"server_needs_approval","server":"a"}"#,
            "this folder names an MCP server “a” that may not be started yet: mcp allow",
        ),
        (
            r#"{"code":"server_file","cause":{"code":"mcp","message":"line 2 is not valid JSON","fields":{"line":2},"hint":"mend it"}}"#,
            "line 2 is not valid JSON; mend it",
        ),
        (
            r#"{"code":"not_sent","messages":["and this",""]}"#,
            "words that waited were not said, as what they answer is gone: “and this”, what was attached without words",
        ),
        (
            r#"{"code":"mention","name":"a","outcome":{"code":"no_file"}}"#,
            "@a is not a file here: it is sent as plain text",
        ),
        (
            r#"{"code":"owner_silent","pid":7}"#,
            "the owner does not answer: `kill -CONT 7` resumes its process, which then completes the request; `kill -KILL 7` ends it, and the next command starts another one",
        ),
        (
            r#"{"code":"owner_replaced"}"#,
            "the owner ended during the run; another one continues from what is stored",
        ),
    ];

    #[test]
    fn each_notice_of_a_run_has_a_sentence() {
        rows::check(NOTICES, |it| run_notice(it, &remedy));
    }

    #[test]
    fn each_outcome_of_a_mention_has_a_sentence() {
        let rows = [
            (r#"{"code":"no_file"}"#, "@a is not a file here: it is sent as plain text"),
            (r#"{"code":"secret"}"#, "@a looks like a secret, and the model is sent it"),
            (
                r#"{"code":"piped"}"#,
                "@a is not attached: what comes through a pipe attaches nothing; to send it, name it in the command",
            ),
            (
                r#"{"code":"leads_to_secret","path":"/k"}"#,
                "@a is not attached: it leads to /k, which holds secrets; to send that, name it",
            ),
            (
                r#"{"code":"leads_out","path":"/o"}"#,
                "@a is not attached: it leads out of the folder, to /o; to send that, name it",
            ),
            (r#"{"code":"too_many","most":32}"#, "@a is not attached: 32 files are"),
            (r#"{"code":"message_too_large"}"#, "@a is not attached: the message would be too large"),
            (
                r#"{"code":"text_too_large","bytes":9,"most":8}"#,
                "@a is not attached: it has 9 bytes, and 8 are the most; the agent can read it",
            ),
            (
                r#"{"code":"picture_too_large","bytes":9,"most":8}"#,
                "@a is not attached: the picture has 9 bytes, and 8 are the most",
            ),
            (
                r#"{"code":"pdf_too_large","bytes":9,"most":8}"#,
                "@a is not attached: the PDF has 9 bytes, and 8 are the most",
            ),
            (r#"{"code":"other_kind"}"#, "@a is not attached: it is neither text nor a picture nor a PDF"),
            (r#"{"code":"not_allowed"}"#, "@a is not attached: you may not read it"),
            (r#"{"code":"leads_nowhere"}"#, "@a is not attached: it leads nowhere"),
            (r#"{"code":"unreadable","detail":"a read error"}"#, "@a is not attached: a read error"),
        ];
        let unknown = format!("@a is not attached: {}", super::super::UNKNOWN);
        let sentence = |it: &MentionOutcome| match mention("a", it) {
            text if text == unknown => super::super::UNKNOWN.to_owned(),
            text => text,
        };
        rows::check(&rows, sentence);
    }

    #[test]
    fn each_failure_of_a_model_has_a_sentence() {
        let rows = [
            (r#"{"code":"no_key"}"#, "there is no key for it"),
            (r#"{"code":"refused"}"#, "the key was refused"),
            (r#"{"code":"out_of_credit"}"#, "the account has no credit or quota left"),
            (r#"{"code":"rate_limited"}"#, "rate limit"),
            (r#"{"code":"overloaded"}"#, "the provider has trouble"),
            (r#"{"code":"context_too_long"}"#, "the conversation is too long for its context"),
            (r#"{"code":"safety_refusal"}"#, "the provider does not answer this"),
            (r#"{"code":"unknown_model"}"#, "there is no such model"),
            (r#"{"code":"rejected"}"#, "the provider rejected the request"),
            (r#"{"code":"unreachable"}"#, "it cannot be reached"),
            (r#"{"code":"cut"}"#, "the connection ended before the answer was complete"),
            (r#"{"code":"timed_out"}"#, "nothing arrived for too long"),
            (r#"{"code":"output_limit"}"#, "the answer reached its limit in the middle of a tool call"),
            (r#"{"code":"bad_call"}"#, "the model wrote an invalid tool call"),
            (r#"{"code":"bad_reply"}"#, "the reply makes no sense"),
            (r#"{"code":"bad_settings"}"#, "the settings are wrong"),
        ];
        rows::check(&rows, |it| model_failure(*it).to_owned());
    }

    #[test]
    fn notice_of_a_newer_owner_is_shown_in_its_own_words() {
        assert_eq!(run_notice_or(&RunNotice::Unknown, "something new", &remedy), "something new");
        assert_eq!(
            run_notice_or(&RunNotice::AnswerCut, "else", &remedy),
            run_notice(&RunNotice::AnswerCut, &remedy)
        );
    }
}
