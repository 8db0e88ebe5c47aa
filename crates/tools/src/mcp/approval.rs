//! What a person sees of a project's server before they approve it: its whole entry, since its variables and headers matter as
//! much as its command (trial 20). Must never leave a part out, nor contain the value of the person's variables.

use std::collections::BTreeSet;

use retake_core::mcp::Approves;
use retake_core::shell_word;

use super::config::ServerTransport;
use super::expand::{Variables, named};
use super::text::visible;

/// The list of what is approved.
pub(super) fn asked(way: &ServerTransport, variables: &Variables) -> Vec<Approves> {
    let mut asked = Vec::new();
    let texts: Vec<&String> = match way {
        ServerTransport::Command { command, args, env, cwd } => {
            asked.push(Approves::Command(visible(&way.line())));
            asked.extend(cwd.iter().map(|cwd| Approves::Folder(visible(&shell_word(cwd)))));
            asked.extend(
                env.iter().map(|(name, value)| {
                    Approves::Variable(visible(&format!("{name}={}", shell_word(value))))
                }),
            );
            let values = env.iter().map(|(_, value)| value);
            [command].into_iter().chain(args).chain(values).chain(cwd).collect()
        }
        ServerTransport::Url { url, headers } => {
            asked.push(Approves::Address(visible(url)));
            asked.extend(
                headers.iter().map(|(name, value)| Approves::Header(visible(&format!("{name}: {value}")))),
            );
            [url].into_iter().chain(headers.iter().map(|(_, value)| value)).collect()
        }
    };
    let yours: BTreeSet<&str> = texts.into_iter().flat_map(|text| named(text)).collect();
    asked.extend(
        yours
            .into_iter()
            .map(|name| Approves::Given { variable: name.to_owned(), secret: variables.is_secret(name) }),
    );
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(variable: &str, secret: bool) -> Approves {
        Approves::Given { variable: variable.to_owned(), secret }
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn an_approval_shows_a_whole_server_entry_and_no_secret_value() {
        let variables = Variables::fixed([("OPENAI_API_KEY", "sk-1234567890"), ("PORT", "90210")]);
        let command = ServerTransport::Command {
            command: "./${TOOL:-run}".to_owned(),
            args: vec!["--key=${OPENAI_API_KEY}".to_owned(), "a\u{202e}b\n\u{3164}c\u{ad}".to_owned()],
            env: vec![pair("LD_PRELOAD", "./x.so"), pair("P", "${PORT} ${PORT}")],
            cwd: Some("${HOME}/x y".to_owned()),
        };
        assert_eq!(
            asked(&command, &variables),
            [
                Approves::Command(
                    "'./${TOOL:-run}' '--key=${OPENAI_API_KEY}' 'a\\u{202e}b\\n\\u{3164}c\\u{ad}'".to_owned()
                ),
                Approves::Folder("'${HOME}/x y'".to_owned()),
                Approves::Variable("LD_PRELOAD=./x.so".to_owned()),
                Approves::Variable("P='${PORT} ${PORT}'".to_owned()),
                given("HOME", false),
                given("OPENAI_API_KEY", true),
                given("PORT", false),
                given("TOOL", false),
            ]
        );
        let url = ServerTransport::Url {
            url: "https://${HOST}/mcp".to_owned(),
            headers: vec![pair("Authorization", "Bearer ${GITHUB_TOKEN}")],
        };
        assert_eq!(
            asked(&url, &variables),
            [
                Approves::Address("https://${HOST}/mcp".to_owned()),
                Approves::Header("Authorization: Bearer ${GITHUB_TOKEN}".to_owned()),
                given("GITHUB_TOKEN", true),
                given("HOST", false),
            ]
        );
    }
}
