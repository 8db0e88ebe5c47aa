//! What people of a chat account may do: the tables `[chat.NAME]`. Only the user's file sets it, so no gateway and no person of a chat can.
//! Must never admit more people because something is missing or wrong.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::{self, Seconds};
use super::{SettingsError, wrong};

/// Everybody, in a list of people.
const EVERYBODY: &str = "*";

/// A table `[chat.NAME]`: an account, by its name in `retake gateway list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChatTable {
    /// Who may talk: "pair" (those whom you have paired with a code, and those of the list), "list" (only those of the list), or "open"
    /// (everybody). With "list", others get no answer. "open" also needs `list = ["*"]`.
    #[schemars(extend("live" = true))]
    pub(super) policy: ChatPolicy,
    /// People by the ids of the platform: `["@ann:example.org"]`. `retake pair list` shows those of people who have written.
    #[serde(deserialize_with = "values::texts")]
    #[schemars(extend("live" = true))]
    pub(super) list: Vec<String>,
    /// When a person edits their last message, its answer is made again: "off" (never), "ask" (after a question), or "always". Unset:
    /// always in private chats, and a question in others. About an older message there is always a question.
    #[schemars(with = "ChatConsent", extend("live" = true))]
    pub(super) edits: Option<ChatConsent>,
    /// Seconds that an edit waits for further edits of the same message: they count as one.
    #[schemars(extend("live" = true))]
    pub(super) edit_wait_s: Seconds<0, 10>,
    /// When a person deletes a message of theirs, its turn is taken back: "off" (never), "ask" (after a question), or "always".
    #[schemars(extend("live" = true))]
    pub(super) recalls: ChatConsent,
    /// Whether an answer is shown while it is written, where the platform can do it.
    #[schemars(extend("live" = true))]
    pub(super) previews: bool,
    /// The folder of new conversations: "/home/me/project". Unset: they have none, and the agent has no tools for files.
    #[schemars(extend("live" = true))]
    pub(super) folder: Option<PathBuf>,
}

impl Default for ChatTable {
    fn default() -> Self {
        Self {
            policy: ChatPolicy::default(),
            list: Vec::new(),
            edits: None,
            edit_wait_s: Seconds::new(3),
            recalls: ChatConsent::default(),
            previews: true,
            folder: None,
        }
    }
}

/// Who may talk with the agent in a chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChatPolicy {
    /// Who was paired or is in the list. Others get a code.
    #[default]
    Pair,
    /// Who is in the list.
    List,
    /// Everybody.
    Open,
}

/// Whether something is done at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChatConsent {
    /// It is not done.
    Off,
    /// The person is asked first.
    #[default]
    Ask,
    /// It is done at once.
    Always,
}

impl ChatTable {
    /// Whether a person may talk. `is_paired`: an owner has typed their code.
    pub(crate) fn admits(&self, person: &str, is_paired: bool) -> bool {
        let is_listed = self.list.iter().any(|listed| listed == person && listed != EVERYBODY);
        match self.policy {
            ChatPolicy::Pair => is_paired || is_listed,
            ChatPolicy::List => is_listed,
            ChatPolicy::Open => is_paired || is_listed || self.is_open(),
        }
    }

    /// Whether everybody may talk.
    pub(super) fn is_open(&self) -> bool {
        self.policy == ChatPolicy::Open && self.list.iter().any(|listed| listed == EVERYBODY)
    }

    /// Whether people who may not talk get a code.
    pub(crate) fn gives_codes(&self) -> bool {
        self.policy != ChatPolicy::List
    }

    /// What an edit of the last message does.
    pub(crate) fn edits(&self, is_shared: bool) -> ChatConsent {
        let usual = if is_shared { ChatConsent::Ask } else { ChatConsent::Always };
        self.edits.unwrap_or(usual)
    }

    /// How long an edit waits for further ones.
    pub(crate) fn edit_wait(&self) -> Duration {
        self.edit_wait_s.0
    }

    /// What a recall does.
    pub(crate) fn recalls(&self) -> ChatConsent {
        self.recalls
    }

    /// Whether an answer is shown while it is written.
    pub(crate) fn previews(&self) -> bool {
        self.previews
    }

    /// The folder of new conversations.
    pub(crate) fn folder(&self) -> Option<String> {
        self.folder.as_ref().and_then(|folder| folder.to_str()).map(str::to_owned)
    }

    /// The same, for nobody but those who were paired: the file cannot be read, so nobody knows who was taken out of the list.
    pub(crate) fn closed(&self) -> Self {
        let policy = match self.policy {
            ChatPolicy::Open => ChatPolicy::Pair,
            other => other,
        };
        Self { policy, list: Vec::new(), ..self.clone() }
    }

    fn defect(&self) -> Option<(&'static str, &'static str)> {
        let names_all = self.list.iter().any(|listed| listed == EVERYBODY);
        if names_all && self.policy != ChatPolicy::Open {
            return Some((
                "list",
                "has \"*\", which only the policy \"open\" takes; nobody is admitted by it",
            ));
        }
        if self.policy == ChatPolicy::Open && !names_all {
            return Some((
                "policy",
                "is \"open\" without list = [\"*\"], which confirms that everybody may talk; it counts as \"pair\"",
            ));
        }
        if self.folder.as_ref().is_some_and(|folder| !folder.is_absolute() || folder.to_str().is_none()) {
            return Some(("folder", "takes a folder whose path begins with a slash"));
        }
        None
    }
}

/// Errors of accounts of chats.
pub(super) fn wrong_chats(all: &BTreeMap<String, ChatTable>, text: &str) -> Vec<SettingsError> {
    let defects = all.iter().filter_map(|(name, given)| Some((name, given.defect()?)));
    defects.map(|(name, (field, problem))| wrong(text, &["chat", name, field], problem)).collect()
}

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    fn wrong(text: &str) -> Vec<String> {
        Settings::check(text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn gateways_case_81_everybody_in_the_list_needs_the_policy_open_and_admits_nobody_without_it() {
        let pair = "[chat.a]\nlist = [\"*\"]\n";
        let expected = "the setting chat.a.list (line 2) has \"*\", which only the policy \"open\" takes; nobody is admitted by it";
        assert_eq!(wrong(pair), [expected]);
        assert_eq!(wrong("[chat.a]\npolicy = \"list\"\nlist = [\"*\"]\n").len(), 1);
        let unconfirmed = "[chat.a]\npolicy = \"open\"\nlist = [\"ann\"]\n";
        assert!(wrong(unconfirmed)[0].contains("confirms"), "{:?}", wrong(unconfirmed));
        let open = "[chat.a]\npolicy = \"open\"\nlist = [\"*\"]\n";
        assert!(wrong(open).is_empty());
        for (text, admitted, is_open) in
            [(pair, false, false), (unconfirmed, false, false), (open, true, true)]
        {
            let settings = Settings::parse(text).expect("valid");
            let table = &settings.chat["a"];
            assert_eq!(
                (table.admits("eve", false), table.admits("*", false)),
                (admitted, admitted),
                "{text}"
            );
            assert!(!table.closed().admits("eve", false) && table.gives_codes(), "{text}");
            assert_eq!(settings.open_chats().count() == 1, is_open, "{text}");
        }
    }

    #[test]
    fn people_are_admitted_by_the_policy_of_the_account() {
        let admits = |policy: &str| {
            let text = format!("[chat.a]\npolicy = \"{policy}\"\nlist = [\"ann\"]\n");
            let table = Settings::parse(&text).expect("valid").chat.remove("a").expect("it");
            (table.admits("ann", false), table.admits("ben", true), table.admits("eve", false))
        };
        assert_eq!(admits("pair"), (true, true, false));
        assert_eq!(admits("list"), (true, false, false));
        assert_eq!(admits("open"), (true, true, false), "not confirmed");
        assert_eq!(wrong("[chat.a]\nfolder = \"here\"\n").len(), 1);
        assert_eq!(wrong("[chat.a]\nedits = \"sometimes\"\n").len(), 1);
    }
}
