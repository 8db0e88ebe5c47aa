//! What a person sees of a project's server before they approve it: all of its entry, since its variables and headers decide as much
//! as its command (trial 20). Must never leave a part out, nor say the value of a variable of theirs.

use std::collections::BTreeSet;

use super::config::{Way, quoted};
use super::expand::{Variables, named};
use super::text::visible;

/// All that is approved, a sentence each.
pub(super) fn asked(way: &Way, variables: &Variables) -> Vec<String> {
    let mut asked = Vec::new();
    let texts: Vec<&String> = match way {
        Way::Command { command, args, env, cwd } => {
            asked.push(format!("it runs {}", visible(&way.line())));
            asked.extend(cwd.iter().map(|cwd| format!("it runs in the folder {}", visible(&quoted(cwd)))));
            asked.extend(env.iter().map(|(name, value)| {
                format!("it runs with the variable {}", visible(&format!("{name}={}", quoted(value))))
            }));
            let values = env.iter().map(|(_, value)| value);
            [command].into_iter().chain(args).chain(values).chain(cwd).collect()
        }
        Way::Url { url, headers } => {
            asked.push(format!("it gets the agent's calls at {}", visible(url)));
            asked.extend(
                headers.iter().map(|(name, value)| {
                    format!("it gets the header {}", visible(&format!("{name}: {value}")))
                }),
            );
            [url].into_iter().chain(headers.iter().map(|(_, value)| value)).collect()
        }
    };
    let yours: BTreeSet<&str> = texts.into_iter().flat_map(|text| named(text)).collect();
    asked.extend(yours.into_iter().map(|name| {
        let secret = if variables.is_secret(name) { ", which looks like a secret" } else { "" };
        format!("it is given your variable {name}{secret}")
    }));
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn an_approval_shows_a_whole_server_entry_and_no_secret_value() {
        let variables = Variables::fixed([("OPENAI_API_KEY", "sk-1234567890"), ("PORT", "90210")]);
        let command = Way::Command {
            command: "./${TOOL:-run}".to_owned(),
            args: vec!["--key=${OPENAI_API_KEY}".to_owned(), "a\u{202e}b\n\u{3164}c\u{ad}".to_owned()],
            env: vec![pair("LD_PRELOAD", "./x.so"), pair("P", "${PORT} ${PORT}")],
            cwd: Some("${HOME}/x y".to_owned()),
        };
        assert_eq!(
            asked(&command, &variables),
            [
                "it runs './${TOOL:-run}' '--key=${OPENAI_API_KEY}' 'a\\u{202e}b\\n\\u{3164}c\\u{ad}'",
                "it runs in the folder '${HOME}/x y'",
                "it runs with the variable LD_PRELOAD=./x.so",
                "it runs with the variable P='${PORT} ${PORT}'",
                "it is given your variable HOME",
                "it is given your variable OPENAI_API_KEY, which looks like a secret",
                "it is given your variable PORT",
                "it is given your variable TOOL",
            ]
        );
        let url = Way::Url {
            url: "https://${HOST}/mcp".to_owned(),
            headers: vec![pair("Authorization", "Bearer ${GITHUB_TOKEN}")],
        };
        assert_eq!(
            asked(&url, &variables),
            [
                "it gets the agent's calls at https://${HOST}/mcp",
                "it gets the header Authorization: Bearer ${GITHUB_TOKEN}",
                "it is given your variable GITHUB_TOKEN, which looks like a secret",
                "it is given your variable HOST",
            ]
        );
    }
}
