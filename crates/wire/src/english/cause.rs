//! The English sentences for reasons. Must never repeat what a reason is for: the caller names that.

use crate::ask_cause::AskCause;
use crate::condition::{ModelCause, ReadOnlyCause, UnavailableCause, UncoveredCause};
use crate::hint::Remedy;
use crate::model_facts::{Effort, FactsFrom};

/// Why a conversation is read-only.
pub fn read_only_cause(it: &ReadOnlyCause) -> String {
    match it {
        ReadOnlyCause::NewerOperation { operation, kind } => {
            format!("operation {operation} is a “{kind}”, which this version does not know")
        }
        ReadOnlyCause::Damaged { detail } => detail.clone(),
        ReadOnlyCause::Subagent { .. } => {
            "it is the conversation of a subagent, which is changed through the one that started it"
                .to_owned()
        }
        ReadOnlyCause::Unknown => super::UNKNOWN.to_owned(),
    }
}

/// Why a model was chosen.
pub fn model_cause(it: &ModelCause) -> String {
    match it {
        ModelCause::Requested => "a request names it".to_owned(),
        ModelCause::Settings => "model.default in the settings".to_owned(),
        ModelCause::NoKeyNeeded => "needs no key".to_owned(),
        ModelCause::KeyVariable { variable } => format!("{variable} is set"),
        ModelCause::KeyFile { path } => format!("the key is in {path}"),
        ModelCause::LocalServer { server } => format!("{server} runs on this computer"),
        ModelCause::Demo => "there is no key and no model server on this computer".to_owned(),
        ModelCause::Unknown => super::UNKNOWN.to_owned(),
    }
}

/// The effort of a model's reasoning, in one word.
pub fn effort(it: Effort) -> &'static str {
    match it {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Unknown => super::UNKNOWN,
    }
}

/// Where the facts about a model come from; in the words for a list.
pub fn facts_from(it: FactsFrom) -> &'static str {
    match it {
        FactsFrom::BuiltIn => "built in",
        FactsFrom::Settings => "from the settings",
        FactsFrom::Both => "built in, and from the settings",
        FactsFrom::Unknown => super::UNKNOWN,
    }
}

/// Why a model cannot be used, and what to do next.
pub fn unavailable_cause(it: &UnavailableCause) -> String {
    match it {
        UnavailableCause::KeyNotSet { variable } => format!("{variable} is not set"),
        UnavailableCause::KeyFileUnreadable { path, detail } => {
            format!("cannot read the key file {path} ({detail}); put the key, alone on one line, into it")
        }
        UnavailableCause::KeyFileOpen { path, mode } => {
            format!("the key file {path} can be read by others (mode {mode:03o}); chmod 600 {path}")
        }
        UnavailableCause::KeyFileForeign { path } => {
            format!("the key file {path} does not belong to you; chown it to yourself, then chmod 600 {path}")
        }
        UnavailableCause::KeyFileInvalid { path } => {
            format!(
                "the key file {path} does not hold one key on one line; put the key, alone on one line, into it"
            )
        }
        UnavailableCause::NotSearched => "not looked for: local.find is false in the settings".to_owned(),
        UnavailableCause::NotNamed { key } => format!("{}; name one of its models", model_cause(key)),
        UnavailableCause::NoModels { server } => format!("{server} runs, but has no model"),
        UnavailableCause::NoAnswer { address, late: false } => format!("nothing answers at {address}"),
        UnavailableCause::NoAnswer { address, late: true } => format!("nothing answers at {address} in time"),
        UnavailableCause::NoModelServer { address } => {
            format!("what answers at {address} is not a model server of this kind")
        }
        UnavailableCause::Status { address, status } => format!("{address} answers with HTTP {status}"),
        UnavailableCause::Unknown => super::UNKNOWN.to_owned(),
    }
}

/// Why a call needs an approval.
pub fn ask_cause(it: &AskCause) -> String {
    let sentence = match it {
        AskCause::Rule { rule } => return format!("the rule `{rule}` wants it asked"),
        AskCause::Secrets { path, tool } => {
            return format!(
                "{path} may hold secrets; the rule `{tool}({path})` in permissions.allow allows it unasked"
            );
        }
        AskCause::MayChange => "it may change something, and nobody can say what",
        AskCause::ServerKnows => "only its server knows what it does",
        AskCause::MayChangeRead => "it may change what it reads",
        AskCause::ReadsOutside => "it reads outside of the workspace",
        AskCause::Writes => "it writes a file",
        AskCause::WritesOutside => "it writes outside of the workspace",
        AskCause::Command => "it runs a command",
        AskCause::NetworkCommand => {
            "it runs a command that can reach the network; rules for commands do not grant that"
        }
        AskCause::Network => "it reaches into the network",
        AskCause::Plan => {
            "a yes ends plan mode, and the model carries the plan out; words say what to change"
        }
        AskCause::RanBefore => "the same ran before; what it did outside of the files was not taken back",
        AskCause::Unknown => super::UNKNOWN,
    };
    sentence.to_owned()
}

/// Why captures do not cover a path.
pub fn uncovered_cause(it: &UncoveredCause) -> String {
    uncovered(it, &super::remedy)
}

/// The same. `command` gives the client's command for a remedy.
pub(super) fn uncovered(it: &UncoveredCause, command: &dyn Fn(&Remedy) -> String) -> String {
    let sentence = match it {
        UncoveredCause::GitFile { change, role, remedy, command: recorded } => {
            let back = (remedy.as_ref(), recorded.as_deref());
            return super::folder::git_file(*change, *role, back, command);
        }
        UncoveredCause::Recorded { detail } => detail.as_str(),
        UncoveredCause::Ignored => "an ignore file excludes the folder",
        UncoveredCause::NodeModules => "installed packages",
        UncoveredCause::CacheFolder => "a cache, by its CACHEDIR.TAG",
        UncoveredCause::VirtualEnvironment => "a Python environment, by its pyvenv.cfg",
        UncoveredCause::Repository => "a bare git repository",
        UncoveredCause::DataFolder => "Retake's own data",
        UncoveredCause::OtherFileSystem => "another file system",
        UncoveredCause::TooLarge => "the file is over the limit",
        UncoveredCause::IgnoredAndLarge => "the file is ignored, and over the limit for ignored files",
        UncoveredCause::TooDeep => "the path is too long, or lies in more than 256 folders",
        UncoveredCause::Special => "neither a file, nor a folder, nor a link",
        UncoveredCause::Unstable => "it changed while it was read",
        UncoveredCause::Unreadable => "it can't be read",
        UncoveredCause::NotKept => "the version that it takes is not kept any more",
        UncoveredCause::Unknown => super::UNKNOWN,
    };
    sentence.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::rows;

    #[test]
    fn each_cause_of_a_read_only_conversation_has_a_sentence() {
        let rows = [
            (
                r#"{"code":"newer_operation","operation":4,"kind":"merge"}"#,
                "operation 4 is a “merge”, which this version does not know",
            ),
            (r#"{"code":"damaged","detail":"row 7 is damaged"}"#, "row 7 is damaged"),
            (
                r#"{"code":"subagent","conversation":"c","entry":"e","call":"1"}"#,
                "it is the conversation of a subagent, which is changed through the one that started it",
            ),
        ];
        rows::check(&rows, read_only_cause);
    }

    #[test]
    fn each_cause_of_an_approval_request_has_a_sentence() {
        let rows = [
            (
                r#"{"code":"rule","rule":{"ruling":"ask","tool":"todo"}}"#,
                "the rule `ask todo` wants it asked",
            ),
            (r#"{"code":"may_change"}"#, "it may change something, and nobody can say what"),
            (r#"{"code":"server_knows"}"#, "only its server knows what it does"),
            (r#"{"code":"may_change_read"}"#, "it may change what it reads"),
            (r#"{"code":"reads_outside"}"#, "it reads outside of the workspace"),
            (r#"{"code":"writes"}"#, "it writes a file"),
            (r#"{"code":"writes_outside"}"#, "it writes outside of the workspace"),
            (r#"{"code":"command"}"#, "it runs a command"),
            (
                r#"{"code":"network_command"}"#,
                "it runs a command that can reach the network; rules for commands do not grant that",
            ),
            (r#"{"code":"network"}"#, "it reaches into the network"),
            (
                r#"{"code":"secrets","path":"/p/.env","tool":"read"}"#,
                "/p/.env may hold secrets; the rule `read(/p/.env)` in permissions.allow allows it unasked",
            ),
            (
                r#"{"code":"plan"}"#,
                "a yes ends plan mode, and the model carries the plan out; words say what to change",
            ),
            (
                r#"{"code":"ran_before"}"#,
                "the same ran before; what it did outside of the files was not taken back",
            ),
        ];
        rows::check(&rows, ask_cause);
    }

    #[test]
    fn each_cause_of_an_uncovered_path_has_a_sentence() {
        let rows = [
            (r#"{"code":"ignored"}"#, "an ignore file excludes the folder"),
            (r#"{"code":"node_modules"}"#, "installed packages"),
            (r#"{"code":"cache_folder"}"#, "a cache, by its CACHEDIR.TAG"),
            (r#"{"code":"virtual_environment"}"#, "a Python environment, by its pyvenv.cfg"),
            (r#"{"code":"repository"}"#, "a bare git repository"),
            (r#"{"code":"data_folder"}"#, "Retake's own data"),
            (r#"{"code":"other_file_system"}"#, "another file system"),
            (r#"{"code":"too_large"}"#, "the file is over the limit"),
            (r#"{"code":"ignored_and_large"}"#, "the file is ignored, and over the limit for ignored files"),
            (r#"{"code":"too_deep"}"#, "the path is too long, or lies in more than 256 folders"),
            (r#"{"code":"special"}"#, "neither a file, nor a folder, nor a link"),
            (r#"{"code":"unstable"}"#, "it changed while it was read"),
            (r#"{"code":"unreadable"}"#, "it can't be read"),
            (r#"{"code":"not_kept"}"#, "the version that it takes is not kept any more"),
            (
                r#"{"code":"git_file","change":"new","role":"hook","command":"rm x"}"#,
                "new; git runs it; to put it back: rm x",
            ),
            (
                r#"{"code":"git_file","change":"changed","role":"settings"}"#,
                "changed; git does what it says; what it was could not be kept",
            ),
            (r#"{"code":"recorded","detail":"the file is over the limit"}"#, "the file is over the limit"),
        ];
        rows::check(&rows, uncovered_cause);
    }

    #[test]
    fn each_cause_of_an_unavailable_model_has_a_sentence() {
        let rows = [
            (r#"{"code":"key_not_set","variable":"OPENAI_API_KEY"}"#, "OPENAI_API_KEY is not set"),
            (
                r#"{"code":"key_file_unreadable","path":"/k","detail":"Permission denied"}"#,
                "cannot read the key file /k (Permission denied); put the key, alone on one line, into it",
            ),
            (
                r#"{"code":"key_file_open","path":"/k","mode":416}"#,
                "the key file /k can be read by others (mode 640); chmod 600 /k",
            ),
            (
                r#"{"code":"key_file_foreign","path":"/k"}"#,
                "the key file /k does not belong to you; chown it to yourself, then chmod 600 /k",
            ),
            (
                r#"{"code":"key_file_invalid","path":"/k"}"#,
                "the key file /k does not hold one key on one line; put the key, alone on one line, into it",
            ),
            (r#"{"code":"not_searched"}"#, "not looked for: local.find is false in the settings"),
            (
                r#"{"code":"not_named","key":{"code":"no_key_needed"}}"#,
                "needs no key; name one of its models",
            ),
            (r#"{"code":"no_models","server":"Ollama"}"#, "Ollama runs, but has no model"),
            (r#"{"code":"no_answer","address":"http://h/v1"}"#, "nothing answers at http://h/v1"),
            (
                r#"{"code":"no_answer","address":"http://h/v1","late":true}"#,
                "nothing answers at http://h/v1 in time",
            ),
            (
                r#"{"code":"no_model_server","address":"http://h/v1"}"#,
                "what answers at http://h/v1 is not a model server of this kind",
            ),
            (
                r#"{"code":"status","address":"http://h/v1","status":404}"#,
                "http://h/v1 answers with HTTP 404",
            ),
        ];
        rows::check(&rows, unavailable_cause);
    }

    #[test]
    fn each_cause_for_a_model_has_a_sentence() {
        let rows = [
            (r#"{"code":"requested"}"#, "a request names it"),
            (r#"{"code":"settings"}"#, "model.default in the settings"),
            (r#"{"code":"no_key_needed"}"#, "needs no key"),
            (r#"{"code":"key_variable","variable":"OPENAI_API_KEY"}"#, "OPENAI_API_KEY is set"),
            (r#"{"code":"key_file","path":"/k"}"#, "the key is in /k"),
            (r#"{"code":"local_server","server":"Ollama"}"#, "Ollama runs on this computer"),
            (r#"{"code":"demo"}"#, "there is no key and no model server on this computer"),
        ];
        rows::check(&rows, model_cause);
    }
}
