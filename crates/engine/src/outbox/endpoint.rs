//! An address that gets signed requests with JSON. Must never store or log an address, which may hold a secret, or what an endpoint
//! answers.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use retake_core::{Attempt, Delivery, OutboxFailure};
use ring::hmac;
use secrecy::{ExposeSecret as _, SecretString};

use super::cloud_event;
use crate::clock::Clock;
use crate::secret::{Environment, KeySource};

/// The time limit of a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// How the text of a secret begins that is in base64, as other programs that sign requests write it.
const ENCODED: &str = "whsec_";

/// What endpoints need from their owner.
#[derive(Clone)]
pub struct EndpointGround {
    /// The source of secrets.
    pub environment: Environment,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// An address, and how to reach it.
pub(crate) struct Endpoint {
    pub(crate) url: String,
    /// The secret that signs requests.
    pub(crate) secret: KeySource,
    /// The time limit of a request, with its answer.
    pub(crate) limit: Duration,
    pub(crate) ground: EndpointGround,
}

impl Endpoint {
    /// Sends a delivery.
    pub(crate) async fn deliver(&self, delivery: &Delivery) -> Attempt {
        let event = ("application/cloudevents+json", cloud_event(delivery));
        match self.post(&self.url, &delivery.id, event).await {
            Ok(answer) => outcome(answer.status().as_u16(), retry_after(&answer)),
            Err(why) => Attempt::Later(why, None),
        }
    }

    /// Sends a signed request to this address or one below it. The signature is that of Standard Webhooks: of its id, its time and its body.
    pub(crate) async fn post(
        &self,
        url: &str,
        id: &str,
        (kind, body): (&str, Vec<u8>),
    ) -> Result<reqwest::Response, String> {
        let Ok(secret) = self.secret.read(&self.ground.environment) else {
            return Err("its secret cannot be read".to_owned());
        };
        let Ok(client) = crate::model::genai::http_client(url, CONNECT) else {
            return Err("no request can be made".to_owned());
        };
        let seconds = (self.ground.clock.now_ms() / 1000).to_string();
        let mut request = client
            .post(url)
            .timeout(self.limit)
            .header("content-type", kind)
            .header("webhook-id", id)
            .header("webhook-timestamp", &seconds);
        if let Some(secret) = &secret {
            let signed = [id.as_bytes(), b".", seconds.as_bytes(), b".", &body].concat();
            request = request.header("webhook-signature", signature(secret, &signed));
        }
        request.body(body).send().await.map_err(|error| self.failure(&error))
    }

    /// Why there is no answer, or not all of it.
    pub(crate) fn failure(&self, error: &reqwest::Error) -> String {
        match (error.is_timeout(), error.is_connect()) {
            (true, _) => format!("no answer within {} s", self.limit.as_secs()),
            (_, true) => "no connection".to_owned(),
            _ => "the connection broke off".to_owned(),
        }
    }
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
