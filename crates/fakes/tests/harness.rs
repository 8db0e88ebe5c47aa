//! Faults, the log of calls, the clock and repeated deliveries, over real connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use retake_fakes::{Control, Events, Fault, Refusal, Serving};
use serde_json::{Value, json};

fn refused(refusal: Refusal) -> Response {
    match refusal {
        Refusal::Wait(_) => StatusCode::TOO_MANY_REQUESTS.into_response(),
        Refusal::Status(status) => StatusCode::from_u16(status).expect("BUG: not a status").into_response(),
        Refusal::Forbidden => StatusCode::FORBIDDEN.into_response(),
        Refusal::Gone => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A platform whose only method counts.
async fn counting() -> (Serving, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let (control, counted) = (Control::default(), Arc::clone(&count));
    let controlled = control.clone();
    let call = async move |Path(method): Path<String>, body: String| {
        let arguments = serde_json::from_str(&body).unwrap_or(Value::Null);
        let effect = || (counted.fetch_add(1, Ordering::SeqCst) + 1).to_string().into_response();
        controlled.answer(&method, arguments, refused, effect).await
    };
    let serving = Serving::start(Router::new().route("/{method}", post(call)), control).await;
    (serving, count)
}

async fn call(client: &reqwest::Client, fake: &Serving) -> Option<u16> {
    let sent = client.post(format!("{}/add", fake.base())).body("{\"by\":1}").send().await;
    sent.ok().map(|response| response.status().as_u16())
}

#[tokio::test]
async fn each_fault_of_a_script_holds_for_one_call() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let (fake, count) = counting().await;
    let script = [
        Fault::None,
        Fault::Refuse(Refusal::Wait(Duration::from_secs(40))),
        Fault::Refuse(Refusal::Status(502)),
        Fault::Refuse(Refusal::Forbidden),
        Fault::Refuse(Refusal::Gone),
        Fault::RequestLost,
        Fault::AnswerLost,
        Fault::Slow(Duration::from_millis(1)),
    ];
    fake.control().script("add", script.clone());
    let client = reqwest::Client::new();
    let mut statuses = Vec::new();
    for _ in 0..9 {
        statuses.push((call(&client, &fake).await, count.load(Ordering::SeqCst)));
    }
    let expected = [
        (Some(200), 1),
        (Some(429), 1),
        (Some(502), 1),
        (Some(403), 1),
        (Some(404), 1),
        (None, 1),
        (None, 2),
        (Some(200), 3),
        (Some(200), 4),
    ];
    assert_eq!(statuses, expected);
    let faults: Vec<Fault> = fake.control().calls().into_iter().map(|call| call.fault).collect();
    assert_eq!(faults[..8], script);
    assert_eq!(fake.control().called("add").len(), 9);
    assert_eq!(fake.control().called("add")[0], json!({"by": 1}));
    assert_eq!(fake.control().called("other"), Vec::<Value>::new());
}

#[tokio::test]
async fn nothing_listens_after_a_fake_ended() {
    let (fake, _) = counting().await;
    let address = fake.address();
    assert!(tokio::net::TcpStream::connect(address).await.is_ok());
    fake.end().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn events_are_delivered_again_unchanged_and_in_order() {
    let events = Events::default();
    let first = events.deliver(json!({"n": 1}));
    events.deliver(json!({"n": 2}));
    let again = events.redeliver(first);
    let mut seen = Vec::new();
    for position in 0..events.len() {
        seen.push(events.wait_for(position).await["n"].clone());
    }
    assert_eq!((seen, again), (vec![json!(1), json!(2), json!(1)], 2));
    let late = events.clone();
    let waiting = tokio::spawn(async move { late.wait_for(3).await });
    events.deliver(json!({"n": 3}));
    assert_eq!(waiting.await.unwrap(), json!({"n": 3}));
}

#[test]
fn virtual_time_moves_only_when_told() {
    let control = Control::default();
    let begin = control.now_ms();
    assert_eq!(control.now_ms(), begin);
    control.pass(Duration::from_secs(2));
    assert_eq!(control.clone().now_ms(), begin + 2000);
    control.set_now_ms(5);
    assert_eq!(control.now_ms(), 5);
}
