//! What a test holds of a fake platform: scripts of faults, the clock, the log of calls. Must never know a platform.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::serving::Lost;

/// The virtual time at which each fake begins, in Unix milliseconds.
const BEGIN_MS: i64 = 1_790_000_000_000;

/// How long a test waits for a call at most.
const PATIENCE: Duration = Duration::from_secs(20);

/// What goes wrong with one call of a method.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Nothing. A script needs it for the calls before a fault.
    None,
    /// The platform refuses the call in its own form. The call has no effect.
    Refuse(Refusal),
    /// The call has its effect. The connection ends without an answer.
    AnswerLost,
    /// The call has no effect. The connection ends without an answer.
    RequestLost,
    /// The call has its effect at once. The answer comes so much later, in real time.
    Slow(Duration),
}

/// Why a platform refuses a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// 429: so long no further call.
    Wait(Duration),
    /// An HTTP status, such as 502, with a body that is not the platform's.
    Status(u16),
    /// The account may not do that there.
    Forbidden,
    /// The message or the chat is not there.
    Gone,
}

/// A call that reached the fake.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The name of the method.
    pub method: String,
    /// Its arguments.
    pub arguments: Value,
    /// What went wrong with it.
    pub fault: Fault,
}

/// What a test controls of a fake. The clones control the same fake.
#[derive(Clone, Debug)]
pub struct Control {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    now_ms: Mutex<i64>,
    scripts: Mutex<HashMap<String, VecDeque<Fault>>>,
    calls: watch::Sender<Vec<Call>>,
    tasks: Mutex<JoinSet<()>>,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            shared: Arc::new(Shared {
                now_ms: Mutex::new(BEGIN_MS),
                scripts: Mutex::default(),
                calls: watch::Sender::default(),
                tasks: Mutex::default(),
            }),
        }
    }
}

impl Control {
    /// The virtual time, in Unix milliseconds. It stands still until the test moves it.
    pub fn now_ms(&self) -> i64 {
        *locked(&self.shared.now_ms)
    }

    /// Sets the virtual time.
    pub fn set_now_ms(&self, now_ms: i64) {
        *locked(&self.shared.now_ms) = now_ms;
    }

    /// Moves the virtual time forward.
    pub fn pass(&self, time: Duration) {
        *locked(&self.shared.now_ms) += i64::try_from(time.as_millis()).expect("BUG: a test waits too long");
    }

    /// Adds to the faults of the next calls of a method, one for each call. After the last one, calls succeed.
    pub fn script(&self, method: &str, faults: impl IntoIterator<Item = Fault>) {
        locked(&self.shared.scripts).entry(method.to_owned()).or_default().extend(faults);
    }

    /// All calls so far, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.calls.borrow().clone()
    }

    /// The arguments of all calls of a method so far, in order.
    pub fn called(&self, method: &str) -> Vec<Value> {
        let is_of = |call: &&Call| call.method == method;
        self.shared.calls.borrow().iter().filter(is_of).map(|call| call.arguments.clone()).collect()
    }

    /// Waits until a method was called so many times.
    ///
    /// # Panics
    /// It is not called so often within 20 seconds.
    pub async fn until_called(&self, method: &str, times: usize) {
        let mut calls = self.shared.calls.subscribe();
        let is_there = |calls: &Vec<Call>| calls.iter().filter(|call| call.method == method).count() >= times;
        let waiting = tokio::time::timeout(PATIENCE, calls.wait_for(is_there));
        let is_called = waiting.await.is_ok_and(|waited| waited.is_ok());
        assert!(is_called, "{method} was not called {times} times, only: {:?}", self.calls());
    }

    /// Carries out a call of a method as the script says: logs it, and answers with the effect's answer, with the platform's form of
    /// a refusal, or not at all.
    pub async fn answer(
        &self,
        method: &str,
        arguments: Value,
        refusal: impl FnOnce(Refusal) -> Response,
        effect: impl FnOnce() -> Response,
    ) -> Response {
        match self.begin(method, arguments) {
            Fault::None => effect(),
            Fault::Refuse(refused) => refusal(refused),
            Fault::AnswerLost => {
                drop(effect());
                Lost.into_response()
            }
            Fault::RequestLost => Lost.into_response(),
            Fault::Slow(time) => {
                let answer = effect();
                tokio::time::sleep(time).await;
                answer
            }
        }
    }

    /// Logs a call, and takes its fault from the script. For calls that need more than [`Self::answer`] does.
    pub fn begin(&self, method: &str, arguments: Value) -> Fault {
        let next = locked(&self.shared.scripts).get_mut(method).and_then(VecDeque::pop_front);
        let fault = next.unwrap_or(Fault::None);
        let call = Call { method: method.to_owned(), arguments, fault: fault.clone() };
        self.shared.calls.send_modify(|calls| calls.push(call));
        fault
    }

    /// Runs a task that ends with the fake.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        locked(&self.shared.tasks).spawn(task);
    }

    /// Ends all tasks.
    pub(crate) fn end(&self) {
        locked(&self.shared.tasks).abort_all();
    }
}

/// The value, also after a panic of another test's thread.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
