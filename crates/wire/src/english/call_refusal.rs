//! The English sentences about calls that did not run or cannot be shown, for people. Must never tell the model what to do: its
//! text is the result.

use crate::agent::CallEnded;
use crate::call_refusal::CallRefusal;
use crate::reply::{EffectLine, EffectWords};

/// What people see of a call that has ended. Its owner may have another version.
pub fn call_ended(it: &CallEnded) -> String {
    match it.not_run.as_deref() {
        None | Some(CallRefusal::Unknown) => it.shown.clone(),
        Some(known) => format!("not run: {}", call_refusal(known)),
    }
}

/// The phrase for a call that cannot be reverted, if its content is hidden or erased.
pub fn effect_without_words(it: &EffectLine) -> Option<String> {
    let call = if it.tool.is_empty() { "a call".to_owned() } else { format!("a call of {}", it.tool) };
    match it.words {
        EffectWords::Shown | EffectWords::Unknown => None,
        EffectWords::Hidden => Some(format!("{call}, in a hidden message")),
        EffectWords::Erased => Some(format!("{call} that was erased")),
        EffectWords::Unreadable => Some(format!("{call} that cannot be read")),
    }
}

/// Why a call did not run.
pub fn call_refusal(it: &CallRefusal) -> String {
    match it {
        CallRefusal::UnknownTool { tool, .. } => format!("there is no tool “{tool}”"),
        CallRefusal::Arguments { detail } => detail.clone(),
        CallRefusal::PlanMode => "plan mode only reads".to_owned(),
        CallRefusal::Rule { rule } => format!("the rule `{rule}` forbids it"),
        CallRefusal::Secrets { path, tool } => format!(
            "{path} holds secrets and is kept back; the rule `{tool}({path})` in permissions.allow allows it, or permissions.secrets"
        ),
        CallRefusal::Person { words: None } => "the person said no".to_owned(),
        CallRefusal::Person { words: Some(words) } => format!("the person said no: {words}"),
        CallRefusal::Unattended { allows: None } => {
            "it needs an approval, and no client is there to answer".to_owned()
        }
        CallRefusal::Unattended { allows: Some(allows) } => {
            format!("it needs an approval, and no client is there to answer; {allows}")
        }
        CallRefusal::LastClientLeft => {
            "it needs an approval, and the last client that could answer has left".to_owned()
        }
        CallRefusal::Repeated { times } => {
            format!("the same call gave the same result {times} times in a row")
        }
        CallRefusal::Stopped => "stopped by the person before it began".to_owned(),
        CallRefusal::OwnerEnded => {
            "stopped because the owner of the conversations ended before it began".to_owned()
        }
        CallRefusal::Failed { cause } => super::notice::because(cause),
        CallRefusal::Unknown => super::UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::rows;

    #[test]
    fn each_reason_why_a_call_did_not_run_has_a_sentence() {
        let rows = [
            (r#"{"code":"unknown_tool","tool":"x","tools":["read"]}"#, "there is no tool “x”"),
            (r#"{"code":"arguments","detail":"path is missing"}"#, "path is missing"),
            (r#"{"code":"plan_mode"}"#, "plan mode only reads"),
            (
                r#"{"code":"rule","rule":{"ruling":"deny","tool":"shell","what":"rm"}}"#,
                "the rule `deny shell(rm)` forbids it",
            ),
            (
                r#"{"code":"secrets","path":"/p/.env","tool":"read"}"#,
                "/p/.env holds secrets and is kept back; the rule `read(/p/.env)` in permissions.allow allows it, or permissions.secrets",
            ),
            (r#"{"code":"person"}"#, "the person said no"),
            (r#"{"code":"person","words":"use b"}"#, "the person said no: use b"),
            (r#"{"code":"unattended"}"#, "it needs an approval, and no client is there to answer"),
            (
                r#"{"code":"unattended","allows":"--mode allow-all allows it"}"#,
                "it needs an approval, and no client is there to answer; --mode allow-all allows it",
            ),
            (
                r#"{"code":"last_client_left"}"#,
                "it needs an approval, and the last client that could answer has left",
            ),
            (r#"{"code":"repeated","times":3}"#, "the same call gave the same result 3 times in a row"),
            (r#"{"code":"stopped"}"#, "stopped by the person before it began"),
            (
                r#"{"code":"owner_ended"}"#,
                "stopped because the owner of the conversations ended before it began",
            ),
            (
                r#"{"code":"failed","cause":{"code":"no_workspace","message":"/p is not there","causes":["gone"]}}"#,
                "/p is not there: gone",
            ),
        ];
        rows::check(&rows, call_refusal);
    }

    #[test]
    fn call_without_words_has_a_phrase_in_their_place() {
        let said = |tool: &str, words| {
            let json = format!(
                r#"{{"line":"$ ls","words":"{words}","tool":"{tool}","class":"external","began_ms":0,"state":"done"}}"#
            );
            effect_without_words(&serde_json::from_str(&json).expect("a call"))
        };
        assert_eq!(said("shell", "shown"), None);
        assert_eq!(said("shell", "not_known_yet"), None);
        assert_eq!(said("shell", "hidden").as_deref(), Some("a call of shell, in a hidden message"));
        assert_eq!(said("", "erased").as_deref(), Some("a call that was erased"));
        assert_eq!(said("mail", "unreadable").as_deref(), Some("a call of mail that cannot be read"));
    }

    #[test]
    fn text_of_the_owner_is_shown_where_the_code_says_nothing() {
        let ended = |not_run: Option<CallRefusal>| CallEnded {
            call: "e2-1".to_owned(),
            failed: true,
            shown: "what the owner says".to_owned(),
            not_run: not_run.map(Box::new),
            changed: 0,
            entry: "e3".to_owned(),
        };
        assert_eq!(call_ended(&ended(None)), "what the owner says");
        assert_eq!(call_ended(&ended(Some(CallRefusal::Unknown))), "what the owner says");
        assert_eq!(call_ended(&ended(Some(CallRefusal::PlanMode))), "not run: plan mode only reads");
    }
}
