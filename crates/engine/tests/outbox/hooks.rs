//! Hooks: a real server behind an address, and real programs in the sandbox.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use retake_core::{
    Attempt, ConversationId, Delivery, DeliveryEntry, DeliveryEvent, DeliveryOrder, EntryId, Head,
    OutboxFailure, Reason, Role, Time,
};
use retake_engine::clock::SystemClock;
use retake_engine::outbox::{Destination, EndpointGround, HookGround, hooks};
use retake_engine::secret::{Environment, KeySource};
use retake_engine::settings::{Hook, HookTarget};
use retake_tools::{Sandbox, ShellConfig};
use uuid::Uuid;

use crate::raw::{Raw, Step};

fn delivery() -> Delivery {
    Delivery {
        id: "0123456789abcdef0123456789abcdef".to_owned(),
        event: DeliveryEvent::Rewound,
        reason: Some(Reason::Rewind),
        conversation: ConversationId::new(Uuid::from_u128(1)),
        parent: Some((ConversationId::new(Uuid::from_u128(2)), None)),
        folder: None,
        author: "ann".to_owned(),
        time: Time(1_700_000_000_000),
        head: Head::new(3, 9),
        gone: vec![DeliveryEntry { id: EntryId::new(Uuid::from_u128(3)), role: Role::User, text: None }],
        came: vec![DeliveryEntry {
            id: EntryId::new(Uuid::from_u128(4)),
            role: Role::User,
            text: Some("it's “x”".to_owned()),
        }],
        ended: None,
        waits: None,
    }
}

fn hook(target: HookTarget, folder: &Path) -> Arc<dyn Destination> {
    let hook = Hook {
        name: "hook".to_owned(),
        events: DeliveryEvent::ALL.to_vec(),
        target,
        texts: false,
        folder: None,
        limit: Duration::from_secs(3),
        keep_trying: Duration::from_secs(60),
        order: DeliveryOrder::Strict,
    };
    // Without temporary folders, because the test may run in one.
    let sandbox = Sandbox::bare();
    let ground = HookGround {
        web: EndpointGround {
            environment: Environment::fixed([("SECRET", "key")]),
            clock: Arc::new(SystemClock),
        },
        shell: ShellConfig { sandbox: Some(sandbox), ..ShellConfig::default() },
        spool: folder.join("spool"),
    };
    hooks(vec![hook], ground).remove(0)
}

fn url(address: String, secret: KeySource) -> Arc<dyn Destination> {
    hook(HookTarget::Url(address, secret), Path::new("/"))
}

#[tokio::test(flavor = "multi_thread")]
async fn request_of_a_hook_is_signed_and_in_the_form_of_cloud_events() {
    let server = Raw::answering("204 No Content", "", "");
    let hook = url(format!("{}/in?key=1", server.address()), KeySource::Env("SECRET".to_owned()));
    assert_eq!(hook.deliver(&delivery()).await, Attempt::Done);
    let request = server.requests().remove(0);
    // The time of the request is in it twice.
    let time = request.lines().find_map(|line| line.strip_prefix("webhook-timestamp: ")).expect("a time");
    let signature =
        request.lines().find(|line| line.starts_with("webhook-signature: v1,")).expect("a signature");
    assert_eq!(signature.len(), "webhook-signature: v1,".len() + 44, "{signature}");
    let told = request.replace(time, "TIME").replace(signature, "webhook-signature: SIGNATURE");
    let told = told.replace(&server.address().replace("http://", ""), "ADDRESS").replace('\r', "");
    insta::assert_snapshot!(told);
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_of_an_endpoint_decides_what_becomes_of_a_delivery() {
    let asked = Raw::answering("429 Too Many Requests", "retry-after: 7\r\n", "{}");
    let later = Attempt::Later("HTTP 429".to_owned(), Some(7_000));
    assert_eq!(url(asked.address(), KeySource::None).deliver(&delivery()).await, later);
    let gone = Raw::answering("410 Gone", "", "");
    let never = Attempt::Never(OutboxFailure::AlreadyGone, "HTTP 410".to_owned());
    assert_eq!(url(gone.address(), KeySource::None).deliver(&delivery()).await, never);
    // A redirect could lead the delivery elsewhere.
    let moved = Raw::answering("302 Found", "location: http://127.0.0.1:9/\r\n", "");
    let never = Attempt::Never(OutboxFailure::Refused, "HTTP 302".to_owned());
    assert_eq!(url(moved.address(), KeySource::None).deliver(&delivery()).await, never);
    let broken = Raw::start(vec![vec![Step::Say("no answer".to_owned())]]);
    let later = Attempt::Later("the connection broke off".to_owned(), None);
    assert_eq!(url(broken.address(), KeySource::None).deliver(&delivery()).await, later);
    let closed = format!("http://127.0.0.1:{}/secret", gone.port());
    drop(gone);
    let later = Attempt::Later("no connection".to_owned(), None);
    assert_eq!(url(closed.clone(), KeySource::None).deliver(&delivery()).await, later);
    let later = Attempt::Later("its secret cannot be read".to_owned(), None);
    assert_eq!(url(closed, KeySource::Env("OTHER".to_owned())).deliver(&delivery()).await, later);
}

fn command(folder: &Path, script: &str) -> Arc<dyn Destination> {
    let words = ["sh", "-c", script].map(str::to_owned).to_vec();
    let target = HookTarget::Command { words, network: false, write: vec![folder.join("log")] };
    hook(target, folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn command_of_a_hook_reads_the_delivery_and_writes_only_where_it_may() {
    let here = tempfile::tempdir_in(std::env::current_dir().expect("a folder")).expect("a folder");
    let folder = here.path();
    std::fs::create_dir(folder.join("log")).expect("a folder");
    let log = folder.join("log/events");
    let done = command(folder, &format!("cat >{}", log.display())).deliver(&delivery()).await;
    assert_eq!(done, Attempt::Done);
    let read = std::fs::read(&log).expect("written");
    assert_eq!(read, retake_engine::outbox::cloud_event(&delivery()));
    let outside = folder.join("outside");
    let failed = command(folder, &format!("touch {}", outside.display())).deliver(&delivery()).await;
    assert!(matches!(&failed, Attempt::Later(why, None) if why.contains("exit code 1")), "{failed:?}");
    assert!(!outside.exists());
    // What it prints is not kept: it may quote the delivery.
    let failed = command(folder, "cat; exit 3").deliver(&delivery()).await;
    assert!(matches!(&failed, Attempt::Later(why, None) if why == "it ended with exit code 3"), "{failed:?}");
    let late = command(folder, "sleep 60").deliver(&delivery()).await;
    assert!(
        matches!(&late, Attempt::Later(why, None) if why.starts_with("its time limit has passed")),
        "{late:?}"
    );
    let left: Vec<_> = std::fs::read_dir(folder.join("spool")).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
}
