//! The agent: translates calls, effects and waiting messages between the engine's types and those
//! of `wire`.

use retake_core::{EffectClass, EffectState, Mode, Rule, Ruling, ToolOutcome, Words, shorten};
use retake_engine::{Decision, NoArguments};
use retake_wire::{english, reply};

use crate::convert::{self, ask_cause, not_run};

pub(crate) fn call(call: retake_engine::CallShown) -> retake_wire::CallShown {
    let retake_engine::CallShown { call, tool, line, class, detail } = call;
    retake_wire::CallShown { call, tool, line, class: self::class(class), detail }
}

pub(crate) fn class(class: EffectClass) -> retake_wire::EffectClass {
    match class {
        EffectClass::None => retake_wire::EffectClass::None,
        EffectClass::Workspace => retake_wire::EffectClass::Workspace,
        EffectClass::Compensable => retake_wire::EffectClass::Compensable,
        EffectClass::External => retake_wire::EffectClass::External,
    }
}

/// The longest line of a call, in graphemes.
const LINE: usize = 120;

/// A call as a sentence.
pub(crate) fn call_line(tool: &str, arguments: &str) -> String {
    shorten(&retake_wire::call_line(tool, arguments), LINE)
}

/// The call that a change of files belongs to, as a sentence. Of several calls it is not known
/// which one it was.
pub(crate) fn called(asked: &[retake_engine::RequestedCall]) -> String {
    let lines: Vec<String> = asked.iter().map(|it| call_line(&it.tool, &it.arguments)).collect();
    match lines.as_slice() {
        [] => "a call".to_owned(),
        [line] => line.clone(),
        several => shorten(&format!("one of {}", several.join(" | ")), LINE),
    }
}

/// Calls whose effects cannot be reverted.
pub(crate) fn effects(effects: retake_engine::Effects) -> reply::Effects {
    let line = |effect: retake_engine::EffectShown| reply::EffectLine {
        line: match &effect.arguments {
            Ok(arguments) => call_line(&effect.tool, arguments),
            Err(_) if effect.tool.is_empty() => "a call that was erased".to_owned(),
            Err(_) => effect.tool.clone(),
        },
        words: match effect.arguments {
            Ok(_) => reply::EffectWords::Shown,
            Err(NoArguments::Hidden) => reply::EffectWords::Hidden,
            Err(NoArguments::Erased) => reply::EffectWords::Erased,
            Err(NoArguments::Unreadable) => reply::EffectWords::Unreadable,
        },
        tool: effect.tool,
        class: class(effect.class),
        began_ms: effect.began.0,
        state: match effect.state {
            EffectState::Begun => reply::EffectState::Begun,
            EffectState::Done => reply::EffectState::Done,
            EffectState::Failed => reply::EffectState::Failed,
        },
    };
    reply::Effects { count: effects.count as u64, calls: effects.calls.into_iter().map(line).collect() }
}

/// Waiting messages, or ones that have waited.
pub(crate) fn words(words: Words) -> reply::Words {
    reply::Words { parts: convert::parts(words.parts), author: words.author, time_ms: words.time.0 }
}

pub(crate) fn ruling(ruling: Ruling) -> retake_wire::Ruling {
    match ruling {
        Ruling::Allow => retake_wire::Ruling::Allow,
        Ruling::Ask => retake_wire::Ruling::Ask,
        Ruling::Deny => retake_wire::Ruling::Deny,
    }
}

pub(crate) fn rule(rule: Rule) -> retake_wire::Rule {
    retake_wire::Rule { ruling: ruling(rule.ruling), tool: rule.tool, what: rule.what }
}

pub(crate) fn rule_in(rule: retake_wire::Rule) -> Rule {
    let ruling = match rule.ruling {
        retake_wire::Ruling::Allow => Ruling::Allow,
        retake_wire::Ruling::Ask => Ruling::Ask,
        retake_wire::Ruling::Deny => Ruling::Deny,
    };
    Rule { ruling, tool: rule.tool, what: rule.what }
}

pub(crate) fn mode(mode: Mode) -> retake_wire::Mode {
    match mode {
        Mode::Ask => retake_wire::Mode::Ask,
        Mode::AllowEdits => retake_wire::Mode::AllowEdits,
        Mode::AllowAll => retake_wire::Mode::AllowAll,
        Mode::Plan => retake_wire::Mode::Plan,
    }
}

pub(crate) fn mode_in(mode: retake_wire::Mode) -> Mode {
    match mode {
        retake_wire::Mode::Ask => Mode::Ask,
        retake_wire::Mode::AllowEdits => Mode::AllowEdits,
        retake_wire::Mode::AllowAll => Mode::AllowAll,
        retake_wire::Mode::Plan => Mode::Plan,
    }
}

pub(crate) fn decision_in(decision: retake_wire::Decision) -> Decision {
    match decision {
        retake_wire::Decision::Once => Decision::Once,
        retake_wire::Decision::InConversation { rule } => Decision::InConversation(rule_in(rule)),
        retake_wire::Decision::Always { rule } => Decision::Always(rule_in(rule)),
        retake_wire::Decision::Deny { words } => Decision::Deny(words),
        retake_wire::Decision::Unattended { allows } => Decision::Unattended(allows),
    }
}

pub(crate) fn asks(asks: retake_engine::PendingApproval) -> retake_wire::PendingApproval {
    let cause = ask_cause(asks.cause, &asks.call.tool);
    retake_wire::PendingApproval {
        id: asks.id,
        call: call(asks.call),
        why: english::ask_cause(&cause),
        cause,
        again_ms: asks.again.map(|time| time.0),
        offers: asks.offers.into_iter().map(rule).collect(),
    }
}

pub(crate) fn question(question: retake_engine::Question) -> retake_wire::Question {
    let retake_engine::Question { id, question, choices } = question;
    retake_wire::Question { id, question, choices }
}

pub(crate) fn ended(ended: retake_engine::CallEnded) -> retake_wire::CallEnded {
    retake_wire::CallEnded {
        call: ended.call,
        failed: ended.outcome == ToolOutcome::Failed,
        shown: ended.shown,
        not_run: ended.not_run.map(not_run).map(Box::new),
        changed: ended.changed,
        entry: ended.entry.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use retake_core::Time;
    use retake_engine::{EffectShown, Effects};

    use super::*;

    #[test]
    fn call_without_words_says_why_in_a_code() {
        let words = |arguments| {
            let (tool, class) = ("mail".to_owned(), EffectClass::External);
            let call = EffectShown { tool, arguments, class, began: Time(1), state: EffectState::Done };
            effects(Effects { count: 1, calls: vec![call] }).calls.remove(0).words
        };
        assert_eq!(words(Ok("{}".into())), reply::EffectWords::Shown);
        assert_eq!(words(Err(NoArguments::Hidden)), reply::EffectWords::Hidden);
        assert_eq!(words(Err(NoArguments::Erased)), reply::EffectWords::Erased);
        assert_eq!(words(Err(NoArguments::Unreadable)), reply::EffectWords::Unreadable);
    }
}
