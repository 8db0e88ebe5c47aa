//! The permissions of a conversation's agent: those of the settings, then its own. Must never grant more than a person
//! requested.

use std::sync::Arc;

use futures::future::BoxFuture;

use retake_core::{ConversationId, Mode, Permission, Rule};

use super::locked;
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::settings::{ChatTable, SettingsError, add_rule, remove_rule};

/// A change to the permissions of a conversation's agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionChange {
    /// The new mode.
    pub mode: Option<Mode>,
    /// Rules to add for this conversation.
    pub add: Vec<Rule>,
    /// Rules to remove, those of the settings included.
    pub remove: Vec<Rule>,
}

/// The permissions of a conversation's agent, with the scope of each rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettledRules {
    /// The mode.
    pub mode: Mode,
    /// Rules for all conversations.
    pub for_good: Vec<Rule>,
    /// Rules for this conversation.
    pub own: Vec<Rule>,
}

impl Engine {
    /// The conversation's own permissions; without a mode of its own, the general mode.
    pub(crate) async fn own_permission(&self, conversation: ConversationId) -> Result<Permission> {
        let own = self.store().permission(conversation).await?;
        let mode = || self.permission_for_all().mode;
        Ok(own.unwrap_or_else(|| Permission { mode: mode(), rules: Vec::new() }))
    }

    /// The permissions of a conversation's agent: those for all conversations, then its own.
    pub async fn permission(&self, conversation: ConversationId) -> Result<Permission> {
        let SettledRules { mode, for_good, own } = self.settled_rules(conversation).await?;
        Ok(Permission { mode, rules: for_good.into_iter().chain(own).collect() })
    }

    /// The same, with the scope of each rule.
    pub async fn settled_rules(&self, conversation: ConversationId) -> Result<SettledRules> {
        let own = self.own_permission(conversation).await?;
        Ok(SettledRules { mode: own.mode, for_good: self.for_good(), own: own.rules })
    }

    /// The permissions for all conversations: those of the settings file now.
    pub fn permission_for_all(&self) -> Permission {
        let Some(config) = &self.parts().agent else { return Permission::default() };
        match &config.settings {
            Some(path) => locked(&self.waits.settings_file).look(path, &config.permission).permission.clone(),
            None => config.permission.clone(),
        }
    }

    /// What people of a chat account may do: what the settings file says now.
    pub(crate) fn chat_settings(&self, account: &str) -> ChatTable {
        let agent = self.parts().agent.as_ref();
        let Some((config, path)) = agent.and_then(|config| Some((config, config.settings.as_ref()?))) else {
            return ChatTable::default();
        };
        let mut file = locked(&self.waits.settings_file);
        file.look(path, &config.permission).chat.get(account).cloned().unwrap_or_default()
    }

    /// The error of a wrong settings file, and what it means. None if the file is right, or if the error was reported
    /// before.
    pub(crate) fn wrong_settings(&self) -> Option<EngineError> {
        locked(&self.waits.settings_file).unreported()
    }

    /// Changes the permissions of a conversation's agent. For a run at work, the change counts from its next call on.
    pub fn set_permission(
        &self,
        conversation: ConversationId,
        change: PermissionChange,
    ) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let mut own = self.own_permission(conversation).await?;
            let PermissionChange { mode, add, remove } = change;
            for rule in remove {
                let known = own.rules.len();
                own.rules.retain(|own| *own != rule);
                if own.rules.len() < known {
                    continue;
                }
                if !self.for_good().contains(&rule) {
                    let what = format!("there is no rule `{rule}` to forget");
                    return Err(
                        EngineError::new(Kind::NotFound, "no_rule", what).with("rule", rule.to_string())
                    );
                }
                self.change_for_good(|file| remove_rule(file, &rule))?;
            }
            for rule in add {
                if !own.rules.contains(&rule) {
                    own.rules.push(rule);
                }
            }
            own.mode = mode.unwrap_or(own.mode);
            Ok(self.store().set_permission(conversation, own).await?)
        })
    }

    /// Stores a permanent rule in the settings file.
    pub(crate) fn remember_always(&self, rule: &Rule) -> Result<()> {
        self.change_for_good(|file| add_rule(file, rule))
    }

    /// The current rules for all conversations.
    fn for_good(&self) -> Vec<Rule> {
        self.permission_for_all().rules
    }

    fn change_for_good(
        &self,
        file: impl FnOnce(&std::path::Path) -> std::result::Result<(), SettingsError>,
    ) -> Result<()> {
        let settings = self.parts().agent.as_ref().and_then(|config| config.settings.as_deref());
        let none = || EngineError::new(Kind::Usage, "no_settings", "there is no settings file to keep it in");
        file(settings.ok_or_else(none)?).map_err(not_kept)
    }
}

fn not_kept(error: SettingsError) -> EngineError {
    let (remedies, fields) = (error.remedies(), error.fields());
    let error = EngineError {
        fields,
        remedies,
        cause: Some(Arc::new(error)),
        ..EngineError::new(Kind::Storage, "settings", "can't change the rules that hold for good")
    };
    error.with("attempt", "change the rules that hold for good")
}
