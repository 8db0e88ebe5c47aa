//! Sets an account up, and tests it: what to do at the platform, the questions, and whether the answers work.

use std::time::Duration;

use retake_engine::clock::{Clock as _, SystemClock};
use retake_gateway::platforms::{Platform, Question, Values, complete, platform};
use retake_gateway::{Failure as PlatformFailure, Identity, SetupStep};
use retake_wire::{ProblemKind, Reply, Request, TokenCreate};

use super::connect;
use crate::accounts::{self, Account};
use crate::context::Context;
use crate::error::{Failure, Result, expect_reply, file, hinted, problem, usage};
use crate::owner::FoundOwner;
use crate::term::safe;
use crate::ui::Read;

/// How long a running server may take to notice an account. It looks every two seconds.
const NOTICED: Duration = Duration::from_secs(6);

/// The pause between two questions to it.
const PAUSE: Duration = Duration::from_millis(100);

/// Asks for everything, tests it, and stores it.
pub(super) async fn add(cx: &mut Context<'_>, platform_name: &str, name: &str) -> Result {
    let platform = platform(platform_name).expect("BUG: the parser knows the platforms");
    if !name.chars().all(|char| char.is_ascii_alphanumeric() || "_-".contains(char))
        || name.is_empty()
        || name.len() > 36
    {
        return Err(usage(
            format!("{name:?} can't name an account"),
            "use 1 to 36 letters, digits, “_” and “-”",
        ));
    }
    if accounts::names(&cx.paths.config_file).is_ok_and(|names| names.iter().any(|other| other == name)) {
        let hint = format!("choose another name with --name, or remove it: `retake gateway remove {name}`");
        return Err(hinted(
            ProblemKind::Refused,
            "account_exists",
            format!("the account {name:?} exists"),
            hint,
        )
        .into());
    }
    if !cx.json {
        cx.aside(&format!("{}: {}", platform.title, platform.before))?;
    }
    let mut values = ask(cx, platform)?;
    if let Err(failure) = complete(platform.name, &mut values).await {
        return Err(failed(platform, &failure));
    }
    let mut account = Account { platform: platform.name.to_owned(), owner_token: String::new(), values };
    let identity = identify(name, &account).await.map_err(|failure| failed(platform, &failure))?;
    account.owner_token = token_for(cx, name).await?;
    accounts::write(&cx.paths.config_file, name, &account)
        .map_err(|error| file("can't store the account", &error))?;
    if cx.json {
        return cx
            .print(&crate::context::document(&serde_json::json!({ "account": name, "id": identity.id })));
    }
    cx.print(&format!("{} accepts the account: it is {}\n", platform.title, safe::line(&identity.name)))?;
    missing(cx, &identity)?;
    let first = match served(cx, name).await? {
        Served::By(pid) => {
            cx.print(&format!("`retake serve` (process {pid}) runs its gateway\n"))?;
            None
        }
        Served::Not(Some(pid)) => {
            cx.print(&format!("the owner (process {pid}) does not run the gateway of this account\n"))?;
            Some(format!("retake gateway run {name}"))
        }
        Served::Not(None) => {
            Some(format!("retake serve (runs the gateways of all accounts), or: retake gateway run {name}"))
        }
    };
    let code = "The bot answers the first message with a code. Type it in another terminal:\n     retake pair CODE --owner";
    let steps = first.iter().map(String::as_str).chain([platform.after, code]);
    let steps: String = (1..).zip(steps).map(|(number, step)| format!("  {number}. {step}\n")).collect();
    cx.print(&format!("Next:\n{steps}"))
}

/// Whether a running owner runs the gateway of an account.
enum Served {
    /// `retake serve` with this process id does.
    By(u32),
    /// No owner does, not even the one with this process id, which stays until it is stopped.
    Not(Option<u32>),
}

/// Asks the running server, if there is one. It notices a new account after a moment.
async fn served(cx: &Context<'_>, name: &str) -> Result<Served> {
    let Some(FoundOwner { client, .. }) = cx.owner.find(cx.paths).await? else {
        return Ok(Served::Not(None));
    };
    let mut pauses = NOTICED.as_millis() / PAUSE.as_millis();
    loop {
        let Ok(Reply::Status(status)) = client.call(Request::Status).await else {
            return Ok(Served::Not(None));
        };
        // An owner that ends by itself runs no gateways.
        if status.idle.idle_s.is_some() {
            return Ok(Served::Not(None));
        }
        if status.beside.gateways.iter().any(|it| it.account == name && it.is_here) {
            return Ok(Served::By(status.pid));
        }
        if pauses == 0 {
            return Ok(Served::Not(Some(status.pid)));
        }
        pauses -= 1;
        SystemClock.sleep(PAUSE).await;
    }
}

/// Tests an account, and says what is missing.
pub(super) async fn test(cx: &mut Context<'_>, name: &str, account: &Account) -> Result {
    let title = platform(&account.platform).map_or("the platform", |platform| platform.title);
    let identity = identify(name, account).await.map_err(|failure| refused(title, &failure))?;
    if cx.json {
        let missing: Vec<String> = identity.missing.iter().map(|step| sentence(*step)).collect();
        let all = serde_json::json!({ "account": name, "id": identity.id, "missing": missing });
        return cx.print(&crate::context::document(&all));
    }
    cx.print(&format!("{title} accepts the account: it is {}\n", safe::line(&identity.name)))?;
    missing(cx, &identity)
}

async fn identify(name: &str, account: &Account) -> std::result::Result<Identity, PlatformFailure> {
    match connect(name, account) {
        Ok(adapter) => adapter.identify().await,
        Err(_) => Err(PlatformFailure::Unreadable),
    }
}

fn missing(cx: &mut Context<'_>, identity: &Identity) -> Result {
    for step in &identity.missing {
        cx.print(&format!("  still to do: {}\n", sentence(*step)))?;
    }
    Ok(())
}

fn sentence(step: SetupStep) -> String {
    match step {
        SetupStep::Invite => "invite the bot to a room or channel, or write to it".to_owned(),
        SetupStep::ReadMessages => "let the bot read messages that do not mention it".to_owned(),
        SetupStep::Scope(scope) => format!("grant the app the scope {scope}"),
        SetupStep::Events => "switch on Socket Mode".to_owned(),
    }
}

/// A token for the gateway. Names of tokens are not used twice.
async fn token_for(cx: &mut Context<'_>, account: &str) -> Result<String> {
    let Reply::Tokens(known) = cx.call(Request::TokenList).await? else { return Err(unexpected()) };
    let is_used = |name: &str| known.tokens.iter().any(|token| token.name == name);
    let names = std::iter::once(account.to_owned()).chain((2..).map(|number| format!("{account}-{number}")));
    let name = names.into_iter().find(|name| !is_used(name)).unwrap_or_default();
    let create =
        TokenCreate { name, grants: Vec::new(), gateway: Some(account.to_owned()), expires_in_s: None };
    Ok(expect_reply!(cx.call(Request::TokenCreate(create)).await?, NewToken).secret)
}

fn unexpected() -> Failure {
    problem(ProblemKind::Internal, "unexpected_reply", "the owner gave another kind of reply").into()
}

/// The answers to the questions of a platform.
fn ask(cx: &mut Context<'_>, platform: &Platform) -> Result<Values> {
    let mut lines = match cx.ui.input_is_terminal() {
        true => None,
        false => {
            let text = cx.ui.input().map_err(|error| file("can't read standard input", &error))?;
            Some(text.lines().map(str::to_owned).collect::<Vec<_>>().into_iter())
        }
    };
    let mut values = Values::new();
    for question in platform.questions {
        let answer = match &mut lines {
            Some(lines) => lines.next().unwrap_or_default(),
            None => answer(cx, question)?,
        };
        let answer = answer.trim();
        let answer = if answer.is_empty() { question.usual.unwrap_or_default() } else { answer };
        if answer.is_empty() && question.usual.is_none() {
            return Err(usage(format!("an answer is missing: {}", question.text), "give every answer"));
        }
        values.insert(question.key.to_owned(), answer.to_owned());
    }
    Ok(values)
}

fn answer(cx: &mut Context<'_>, question: &Question) -> Result<String> {
    let prompt = match question.usual {
        Some(_) => format!("{} (Enter for the usual one): ", question.text),
        None => format!("{}: ", question.text),
    };
    let read = match question.is_secret {
        true => cx.ui.answer_secret(&prompt)?,
        false => match cx.ui.answer(&prompt)? {
            Read::Line(line) => Some(line),
            _ => None,
        },
    };
    read.ok_or_else(|| usage("cancelled", "nothing is stored"))
}

/// Why a platform does not accept an account.
fn failed(platform: &Platform, failure: &PlatformFailure) -> Failure {
    refused(platform.title, failure)
}

fn refused(title: &str, failure: &PlatformFailure) -> Failure {
    let hint = match failure {
        PlatformFailure::BadToken => "check the token or the password, and add the account again",
        PlatformFailure::Unreachable | PlatformFailure::Unknown => {
            "check the address and the network, and try again"
        }
        _ => "check the answers, and try again",
    };
    hinted(ProblemKind::Refused, "platform", format!("{title} can't be used: {failure}"), hint).into()
}
