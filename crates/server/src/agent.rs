//! The agent at work, between the engine's words and those of `wire`.

use retake_core::{EffectClass, Rule, Ruling, ToolOutcome};

pub(crate) fn call(call: retake_engine::CallShown) -> retake_wire::CallShown {
    let retake_engine::CallShown { call, tool, line, class, detail } = call;
    retake_wire::CallShown { call, tool, line, class: self::class(class), detail }
}

fn class(class: EffectClass) -> retake_wire::EffectClass {
    match class {
        EffectClass::None => retake_wire::EffectClass::None,
        EffectClass::Workspace => retake_wire::EffectClass::Workspace,
        EffectClass::Compensable => retake_wire::EffectClass::Compensable,
        EffectClass::External => retake_wire::EffectClass::External,
    }
}

pub(crate) fn rule(rule: Rule) -> retake_wire::Rule {
    let ruling = match rule.ruling {
        Ruling::Allow => retake_wire::Ruling::Allow,
        Ruling::Ask => retake_wire::Ruling::Ask,
        Ruling::Deny => retake_wire::Ruling::Deny,
    };
    retake_wire::Rule { ruling, tool: rule.tool, what: rule.what }
}

pub(crate) fn asks(asks: retake_engine::Asks) -> retake_wire::Asks {
    retake_wire::Asks {
        id: asks.id,
        call: call(asks.call),
        why: asks.why,
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
        changed: ended.changed,
        entry: ended.entry.to_string(),
    }
}
