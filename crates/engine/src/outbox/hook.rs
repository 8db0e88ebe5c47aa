//! Hooks of the settings: an address that gets a signed request, or a command that reads a delivery on its standard input. Must never
//! store or log an address, which may hold a secret, or what an endpoint answers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::future::BoxFuture;
use retake_core::{Attempt, Delivery, DeliveryEvent, Fact, OutboxFailure};
use retake_tools::{Call, Host, Piece, ProgramFailure, ProgramRun, ShellConfig, ToolQuestion, run_program};
use ring::hmac;
use secrecy::{ExposeSecret as _, SecretString};

use super::folder_hooks::Approved;
use super::{Destination, cloud_event};
use crate::clock::Clock;
use crate::secret::Environment;
use crate::settings::{Hook, HookTarget};

/// How much longer than its time limit a delivery may take until it is dropped.
const GRACE: Duration = Duration::from_secs(15);

/// The time limit of a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// How the text of a secret begins that is in base64, as other programs that sign requests write it.
const ENCODED: &str = "whsec_";

/// What hooks need from their owner.
#[derive(Clone)]
pub struct HookGround {
    /// The source of secrets.
    pub environment: Environment,
    /// How commands are confined.
    pub shell: ShellConfig,
    /// A private folder for their output.
    pub spool: PathBuf,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// The destinations of hooks.
pub fn hooks(hooks: Vec<Hook>, ground: HookGround) -> Vec<Arc<dyn Destination>> {
    let ground = Arc::new(ground);
    hooks.into_iter().map(|hook| destination(hook, None, &ground)).collect()
}

/// The destination of a hook. That of a folder's hook delivers only while its approval holds.
pub(super) fn destination(
    hook: Hook,
    approved: Option<Approved>,
    ground: &Arc<HookGround>,
) -> Arc<dyn Destination> {
    Arc::new(HookDestination { hook, approved, ground: Arc::clone(ground) })
}

struct HookDestination {
    hook: Hook,
    approved: Option<Approved>,
    ground: Arc<HookGround>,
}

#[async_trait]
impl Destination for HookDestination {
    fn name(&self) -> &str {
        &self.hook.name
    }

    fn folder(&self) -> Option<&str> {
        self.hook.folder.as_deref()
    }

    fn events(&self) -> &[DeliveryEvent] {
        &self.hook.events
    }

    fn texts(&self) -> bool {
        self.hook.texts
    }

    fn limit(&self) -> Duration {
        // A request ends at its own limit before that, and a command has time to end with all its processes.
        self.hook.limit + GRACE
    }

    fn keep_trying(&self) -> Duration {
        self.hook.keep_trying
    }

    async fn deliver(&self, delivery: &Delivery) -> Attempt {
        if let Some(approved) = &self.approved
            && let Some(attempt) = approved.refuses(delivery).await
        {
            return attempt;
        }
        match &self.hook.target {
            HookTarget::Url(url, secret) => match secret.read(&self.ground.environment) {
                Ok(secret) => self.post(url, secret.as_ref(), delivery).await,
                Err(_) => Attempt::Later("its secret cannot be read".to_owned(), None),
            },
            HookTarget::Command { words, network, write } => {
                self.command((words, *network, write), delivery).await
            }
        }
    }
}

impl HookDestination {
    /// Sends a delivery to an address. The signature is that of Standard Webhooks: of its id, its time and its body.
    async fn post(&self, url: &str, secret: Option<&SecretString>, delivery: &Delivery) -> Attempt {
        let Ok(client) = client(url) else {
            return Attempt::Later("no request can be made".to_owned(), None);
        };
        let body = cloud_event(delivery);
        let seconds = (self.ground.clock.now_ms() / 1000).to_string();
        let mut request = client
            .post(url)
            .timeout(self.hook.limit)
            .header("content-type", "application/cloudevents+json")
            .header("webhook-id", &delivery.id)
            .header("webhook-timestamp", &seconds);
        if let Some(secret) = secret {
            let signed = [delivery.id.as_bytes(), b".", seconds.as_bytes(), b".", &body].concat();
            request = request.header("webhook-signature", signature(secret, &signed));
        }
        match request.body(body).send().await {
            Ok(answer) => outcome(answer.status().as_u16(), retry_after(&answer)),
            Err(error) if error.is_timeout() => {
                Attempt::Later(format!("no answer within {} s", self.hook.limit.as_secs()), None)
            }
            Err(error) if error.is_connect() => Attempt::Later("no connection".to_owned(), None),
            Err(_) => Attempt::Later("the connection broke off".to_owned(), None),
        }
    }

    async fn command(
        &self,
        (words, network, write): (&[String], bool, &[PathBuf]),
        delivery: &Delivery,
    ) -> Attempt {
        let ground = &self.ground;
        let call = Call {
            id: format!("hook-{}", delivery.id),
            arguments: serde_json::Value::Null,
            roots: write.to_vec(),
            writable: write.to_vec(),
            reads: false,
            writes: None,
            hide: Vec::new(),
            held: Vec::new(),
            spool: ground.spool.clone(),
            host: Arc::new(HookHost(Arc::clone(&ground.clock))),
        };
        let folder = delivery.folder.as_ref().map(PathBuf::from).filter(|folder| folder.is_dir());
        let folder = folder.unwrap_or_else(|| PathBuf::from("/"));
        let event = cloud_event(delivery);
        let limit = self.hook.limit;
        let program = ProgramRun { words, folder: &folder, input: Some(&event), network, limit };
        match run_program(&ground.shell, &call, program).await {
            Ok(()) => Attempt::Done,
            Err(ProgramFailure::NotConfined) => Attempt::Never(
                OutboxFailure::NotPermitted,
                "there is no full sandbox for its command".to_owned(),
            ),
            // What it printed may quote the delivery.
            Err(ProgramFailure::Failed(how, _)) => Attempt::Later(how, None),
        }
    }
}

fn client(url: &str) -> Result<reqwest::Client, reqwest::Error> {
    crate::model::genai::http_client(url, CONNECT)
}

fn retry_after(answer: &reqwest::Response) -> Option<i64> {
    let seconds = answer.headers().get("retry-after")?.to_str().ok()?.trim().parse::<i64>().ok()?;
    seconds.checked_mul(1000).filter(|after| *after >= 0)
}

/// What a status says of a delivery.
fn outcome(status: u16, after: Option<i64>) -> Attempt {
    let why = format!("HTTP {status}");
    match status {
        200..=299 => Attempt::Done,
        401 | 403 => Attempt::Never(OutboxFailure::NotPermitted, why),
        410 => Attempt::Never(OutboxFailure::AlreadyGone, why),
        408 | 425 | 429 | 500.. => Attempt::Later(why, after),
        _ => Attempt::Never(OutboxFailure::Refused, why),
    }
}

/// The signature of a text, as a header has it.
fn signature(secret: &SecretString, signed: &[u8]) -> String {
    let text = secret.expose_secret();
    let decoded = text.strip_prefix(ENCODED).and_then(|text| BASE64_STANDARD.decode(text).ok());
    let key = hmac::Key::new(hmac::HMAC_SHA256, decoded.as_deref().unwrap_or(text.as_bytes()));
    format!("v1,{}", BASE64_STANDARD.encode(hmac::sign(&key, signed)))
}

/// The host of a hook's command: it has no conversation.
struct HookHost(Arc<dyn Clock>);

#[async_trait]
impl Host for HookHost {
    async fn fact(&self, _: &str) -> Option<String> {
        None
    }

    async fn facts(&self, _: &str) -> Vec<Fact> {
        Vec::new()
    }

    async fn ask(&self, _: ToolQuestion) -> Option<String> {
        None
    }

    async fn tell(&self, _: Piece) {}

    async fn stopped(&self) {
        futures::future::pending::<()>().await;
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_that_of_the_published_example() {
        // The example of the specification of Standard Webhooks.
        let secret = SecretString::from("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let signed = br#"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#;
        assert_eq!(signature(&secret, signed), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_ne!(signature(&SecretString::from("other"), signed), signature(&secret, signed));
    }

    #[test]
    fn status_says_whether_a_delivery_is_tried_again() {
        let later = |status, after| outcome(status, after) == Attempt::Later(format!("HTTP {status}"), after);
        assert!([408, 425, 429, 500, 503].iter().all(|status| later(*status, Some(7_000))));
        assert!([200, 202, 204].iter().all(|status| outcome(*status, None) == Attempt::Done));
        let never = |status| match outcome(status, None) {
            Attempt::Never(failure, _) => Some(failure.name()),
            _ => None,
        };
        let found: Vec<_> = [301, 400, 401, 403, 404, 410, 422].map(never).into_iter().flatten().collect();
        let words =
            ["refused", "refused", "not-permitted", "not-permitted", "refused", "already-gone", "refused"];
        assert_eq!(found, words);
    }
}
