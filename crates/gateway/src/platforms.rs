//! The platforms with an adapter: the questions when an account is set up, and how its adapter is made. The only place beside the
//! adapters that names a platform.

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};

use crate::adapter::Adapter;
use crate::discord::{Discord, DiscordConfig};
use crate::failure::Failure;
use crate::matrix::{Invites, Matrix, MatrixConfig, login};
use crate::sentences::Sentence;
use crate::slack::{Slack, SlackConfig};
use crate::telegram::{Telegram, TelegramConfig};

/// The values of an account, by the keys of the questions. Some are secret.
pub type Values = BTreeMap<String, String>;

/// A platform, as a person sets an account up.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    /// Its name in commands.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What to do at the platform first.
    pub before: &'static str,
    /// The questions.
    pub questions: &'static [Question],
    /// How a person reaches the bot, when it runs.
    pub after: &'static str,
}

/// A question to the person who sets an account up.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The key of the value.
    pub key: &'static str,
    /// The question.
    pub text: &'static str,
    /// Whether the answer is not shown.
    pub is_secret: bool,
    /// The answer if a person gives none; without it, one must be given.
    pub usual: Option<&'static str>,
}

const fn asked(key: &'static str, text: &'static str) -> Question {
    Question { key, text, is_secret: false, usual: None }
}

const fn secret(key: &'static str, text: &'static str) -> Question {
    Question { is_secret: true, ..asked(key, text) }
}

const fn optional(key: &'static str, text: &'static str, usual: &'static str) -> Question {
    Question { usual: Some(usual), ..asked(key, text) }
}

/// All platforms.
pub const PLATFORMS: &[Platform] = &[
    Platform {
        name: "matrix",
        title: "Matrix",
        before: "Register an account for the bot at a homeserver. Encrypted rooms can't be read.",
        questions: &[
            asked("homeserver", "Address of the homeserver, such as https://matrix.example.org"),
            asked("user", "Name of the bot's account, such as retake or @retake:example.org"),
            secret("password", "Its password (used once, not kept)"),
        ],
        after: "Invite the bot to a room without encryption, or begin a direct chat with it.",
    },
    Platform {
        name: "telegram",
        title: "Telegram",
        before: "Write /newbot to @BotFather. It gives you a token.",
        questions: &[secret("token", "Token of the bot"), optional("base", "Address of the Bot API", "")],
        after: "Write to the bot. For groups: switch privacy mode off (/setprivacy at @BotFather), then add the bot again.",
    },
    Platform {
        name: "discord",
        title: "Discord",
        before: "Make an application in the developer portal, with a bot. Switch on the message content intent.",
        questions: &[secret("token", "Token of the bot")],
        after: "Add the bot to a server with an invitation link (scope bot; Send Messages, Read Message History, Manage \
                Messages), or write to it.",
    },
    Platform {
        name: "slack",
        title: "Slack",
        before: "Make an app with a bot user and Socket Mode. Scopes: app_mentions:read, channels:history, chat:write, \
                 files:read, files:write, groups:history, im:history, users:read. Events: app_mention, message.channels, \
                 message.groups, message.im.",
        questions: &[
            secret("bot_token", "Bot token (xoxb-…)"),
            secret("app_token", "App token for Socket Mode (xapp-…)"),
            optional("base", "Address of the Web API", ""),
        ],
        after: "Write to the app, or invite it to a channel and mention it.",
    },
];

/// The platform with this name.
pub fn platform(name: &str) -> Option<&'static Platform> {
    PLATFORMS.iter().find(|platform| platform.name == name)
}

/// Replaces answers that are used once by what is kept: a password by a token.
///
/// # Errors
/// The platform refuses the answers, or cannot be reached.
pub async fn complete(platform: &str, values: &mut Values) -> Result<(), Failure> {
    if platform != "matrix" {
        return Ok(());
    }
    let Some(password) = values.remove("password") else { return Ok(()) };
    let of = |key: &str| values.get(key).cloned().unwrap_or_default();
    let device = values.get("device").cloned();
    let made =
        login(&of("homeserver"), &of("user"), &SecretString::from(password), device.as_deref()).await?;
    values.insert("user".to_owned(), made.user);
    values.insert("token".to_owned(), made.token.expose_secret().to_owned());
    values.insert("device".to_owned(), made.device);
    Ok(())
}

/// The adapter of an account.
///
/// # Errors
/// [`Failure::Unreadable`] if a value is missing or makes no sense.
pub fn adapter(account: &str, platform: &str, values: &Values) -> Result<Arc<dyn Adapter>, Failure> {
    let of = |key: &str| values.get(key).cloned().filter(|value| !value.is_empty());
    let needed = |key: &str| of(key).ok_or(Failure::Unreadable);
    let token = |key: &str| needed(key).map(SecretString::from);
    let account = account.to_owned();
    Ok(match platform {
        "matrix" => Arc::new(Matrix::new(MatrixConfig {
            account,
            homeserver: needed("homeserver")?,
            token: token("token")?,
            device: of("device"),
            invites: Invites::Join,
            unreadable: Some(Sentence::Encrypted.text()),
        })?),
        "telegram" => {
            Arc::new(Telegram::new(TelegramConfig { account, token: token("token")?, base: of("base") })?)
        }
        "discord" => {
            let usual = DiscordConfig::new(&account, token("token")?);
            let rest = of("rest").unwrap_or(usual.rest);
            let gateway = of("gateway").unwrap_or(usual.gateway);
            Arc::new(Discord::new(DiscordConfig {
                account,
                token: token("token")?,
                rest,
                gateway,
                files: usual.files,
            })?)
        }
        "slack" => Arc::new(Slack::new(SlackConfig {
            account,
            bot_token: token("bot_token")?,
            app_token: token("app_token")?,
            base: of("base"),
        })?),
        _ => return Err(Failure::Unreadable),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_platform_has_an_adapter_with_its_name() {
        for platform in PLATFORMS {
            let mut values: Values = platform
                .questions
                .iter()
                .map(|question| (question.key.to_owned(), "xoxb-1".to_owned()))
                .collect();
            for (key, value) in
                [("homeserver", "http://127.0.0.1:1"), ("base", "http://127.0.0.1:1"), ("token", "1:a")]
            {
                values.insert(key.to_owned(), value.to_owned());
            }
            let made = adapter("chat", platform.name, &values).expect("an adapter");
            assert_eq!(made.capabilities().platform, platform.name);
            assert!(adapter("chat", platform.name, &Values::new()).is_err(), "{}", platform.name);
        }
    }
}
