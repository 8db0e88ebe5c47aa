//! A gateway for the tests, and its platform: a map of posts. It does all work, and knows nothing of the owner but its requests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use retake_wire::chat::{
    Addressed, Arrival, Arrive, Arrived, Audience, ButtonLabel, ChatButton, ChatCommand, ChatNotice,
    ChatStep, ChatVerb, Deletion, GatewayConnect, GatewaySettle, GatewayTake, Inbound, InboundMessage, Pair,
    Person, Place, PostAction, PostContent, PostCounts, PostOutcome, PostWork,
};
use retake_wire::reply::{Conversations, Entries};
use retake_wire::request::List;
use retake_wire::{Client, HttpClient, NewToken, OwnerAddress, Reply, Request, TokenCreate};

use super::super::world::{Desk, get, log};

/// A gateway of the account `chat`, with the messages of its platform.
pub(super) struct Gateway {
    pub(super) client: HttpClient,
    /// The client of the user.
    owner: Arc<dyn Client>,
    pub(super) holder: String,
    /// The posts that are in the chat, by their ids.
    pub(super) there: BTreeMap<String, String>,
    /// Where they are.
    pub(super) places: BTreeMap<String, Place>,
    /// The buttons below answers.
    pub(super) below: BTreeMap<String, Vec<ChatButton>>,
    /// The buttons of notices: what they do, and their data.
    pub(super) buttons: BTreeMap<String, Vec<ChatButton>>,
    /// The number of the next post.
    pub(super) next: AtomicI64,
}

/// A message of a person in a private place.
pub(super) fn says(id: &str, text: &str) -> InboundMessage {
    InboundMessage {
        place: Place { account: "chat".into(), chat: "1".into(), thread: None },
        audience: Audience::Private,
        message: id.to_owned(),
        person: Person { id: "ann".into(), name: "Ann".into(), is_bot: false },
        sent_ms: 1_700_000_000_000,
        text: text.to_owned(),
        addressed: Addressed::Mention,
        reply_to: None,
        album: None,
        is_forward: false,
        attached: Vec::new(),
    }
}

/// The same in a group.
pub(super) fn in_group(id: &str, who: &str, text: &str) -> InboundMessage {
    InboundMessage {
        place: Place { account: "chat".into(), chat: "group".into(), thread: None },
        audience: Audience::Shared,
        person: Person { id: who.to_lowercase(), name: who.to_owned(), is_bot: false },
        ..says(id, text)
    }
}

/// A first message of somebody in a private place.
pub(super) fn in_private(id: &str, who: &str) -> InboundMessage {
    InboundMessage { person: in_group("", who, "").person, ..says(id, "hi") }
}

impl Gateway {
    pub(super) async fn new(desk: &Desk, holder: &str) -> Self {
        Self::at(desk, desk.socket(), holder).await
    }

    /// One of the owner with this socket.
    pub(super) async fn at(desk: &Desk, path: std::path::PathBuf, holder: &str) -> Self {
        let create = TokenCreate {
            name: format!("gate-{holder}"),
            grants: Vec::new(),
            gateway: Some("chat".to_owned()),
            expires_in_s: None,
        };
        let NewToken { secret, .. } = get!(desk, NewToken, Request::TokenCreate(create));
        let address = OwnerAddress::Socket { path, token: Some(secret) };
        let client = HttpClient::new(address).expect("a client");
        let next = AtomicI64::new(1);
        let owner = Arc::clone(&desk.client);
        let (there, places) = (BTreeMap::new(), BTreeMap::new());
        let (below, buttons) = (BTreeMap::new(), BTreeMap::new());
        Self { client, owner, holder: holder.to_owned(), there, places, below, buttons, next }
    }

    /// Takes the account from a gateway that has ended.
    pub(super) async fn takes_over(&self, from: &str) {
        let connect = GatewayConnect {
            account: "chat".into(),
            holder: self.holder.clone(),
            replaces: Some(from.to_owned()),
        };
        self.client.call(Request::GatewayConnect(connect)).await.expect("connected");
    }

    /// The request for an event.
    pub(super) fn arrive(&self, key: &str, event: Inbound, command: Option<ChatCommand>) -> Arrive {
        Arrive {
            account: "chat".into(),
            holder: self.holder.clone(),
            transport_key: key.to_owned(),
            event,
            parts: Vec::new(),
            command,
            moderates: false,
            is_late: false,
            also: Vec::new(),
        }
    }

    pub(super) async fn arrives(&self, key: &str, event: Inbound, command: Option<ChatCommand>) -> Arrived {
        match self.client.call(Request::Arrive(self.arrive(key, event, command))).await {
            Ok(Reply::Arrived(arrived)) => arrived,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn says(&self, message: InboundMessage) -> Arrived {
        self.arrives(&format!("event-{}", message.message), Inbound::Message(message), None).await
    }

    /// A message that is too old to be answered.
    pub(super) async fn says_late(&self, key: &str, message: InboundMessage) -> Arrived {
        let arrive = Arrive { is_late: true, ..self.arrive(key, Inbound::Message(message), None) };
        match self.client.call(Request::Arrive(arrive)).await {
            Ok(Reply::Arrived(arrived)) => arrived,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn commands(
        &self,
        message: InboundMessage,
        verb: ChatVerb,
        count: Option<u32>,
    ) -> Arrived {
        let key = format!("event-{}", message.message);
        self.arrives(&key, Inbound::Message(message), Some(ChatCommand { verb, count })).await
    }

    pub(super) async fn takes(&self, wait_ms: u64) -> Vec<PostWork> {
        let take = GatewayTake {
            account: "chat".into(),
            holder: self.holder.clone(),
            wait_ms,
            most: None,
            previews: None,
        };
        match self.client.call(Request::GatewayTake(take)).await {
            Ok(Reply::GatewayWork(work)) => work.work,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn settles(&self, post: &str, result: PostOutcome) -> bool {
        let (account, holder, post) = ("chat".into(), self.holder.clone(), post.to_owned());
        match self.client.call(Request::GatewaySettle(GatewaySettle { account, holder, post, result })).await
        {
            Ok(Reply::GatewaySettled(settled)) => settled.is_wanted,
            other => panic!("{other:?}"),
        }
    }

    /// Does all work until none comes for a moment; returns the notices that were sent or edited.
    pub(super) async fn works(&mut self, parts: u32) -> Vec<ChatNotice> {
        let mut notices = Vec::new();
        for _ in 0..300 {
            let mut work = self.takes(100).await;
            if work.is_empty() {
                let list = self.owner.call(Request::List(List::default())).await;
                let Ok(Reply::Conversations(list)) = list else { panic!("{list:?}") };
                if list.conversations.iter().any(|it| it.running) {
                    continue;
                }
                work = self.takes(0).await;
            }
            if work.is_empty() {
                return notices;
            }
            notices.extend(self.does(work, parts).await);
        }
        panic!("the work does not end: {notices:?}")
    }

    /// Does the work of one look; returns the notices that were sent or edited.
    pub(super) async fn works_once(&mut self, parts: u32) -> Vec<ChatNotice> {
        let work = self.takes(1000).await;
        self.does(work, parts).await
    }

    pub(super) async fn does(&mut self, work: Vec<PostWork>, parts: u32) -> Vec<ChatNotice> {
        let mut notices = Vec::new();
        for PostWork { post, action, place, .. } in work {
            match action {
                PostAction::Send { content, part, .. } => {
                    let digest = "d".repeat(32);
                    if !self.settles(&post, PostOutcome::Sending { parts, digest, is_preview: false }).await {
                        continue;
                    }
                    let id = format!("post-{:03}", self.next.fetch_add(1, Ordering::Relaxed));
                    let shown = match content {
                        PostContent::Markdown { text, buttons, .. } => {
                            self.below.insert(id.clone(), buttons.concat());
                            format!("{part}: {text}")
                        }
                        PostContent::Notice { notice, buttons } => {
                            notices.push(notice.clone());
                            self.buttons.insert(id.clone(), buttons.concat());
                            format!("{notice:?}")
                        }
                        PostContent::Preview { .. } => panic!("this gateway shows no previews"),
                    };
                    self.places.insert(id.clone(), place);
                    self.there.insert(id.clone(), shown);
                    let sent = PostOutcome::Sent {
                        ids: vec![id],
                        sent_ms: 1_700_000_000_000,
                        deadline_ms: None,
                        deletable: true,
                    };
                    self.settles(&post, sent).await;
                }
                PostAction::Edit { content: PostContent::Notice { notice, buttons }, ids } => {
                    for id in ids {
                        self.there.insert(id.clone(), format!("{notice:?}"));
                        self.buttons.insert(id, buttons.concat());
                    }
                    notices.push(notice);
                    self.settles(&post, PostOutcome::Edited { ids: Vec::new(), is_preview: false }).await;
                }
                PostAction::Edit { .. } => panic!("answers are not edited"),
                PostAction::Delete { ids, .. } => {
                    for id in ids {
                        self.there.remove(&id).expect("it is there");
                        self.buttons.remove(&id);
                    }
                    self.settles(&post, PostOutcome::Deleted { how: Deletion::Gone }).await;
                }
            }
        }

        notices
    }

    /// The data of the newest button with this label, and its post.
    pub(super) fn button(&self, label: &ButtonLabel) -> (String, String) {
        let all = self.buttons.iter().rev().flat_map(|(post, all)| all.iter().map(move |it| (post, it)));
        let found = all.into_iter().find(|(_, button)| button.label == *label);
        let (post, button) = found.unwrap_or_else(|| panic!("no {label:?}: {:?}", self.buttons));
        (post.clone(), button.data.clone())
    }

    /// Presses a button; returns the notice for the person.
    pub(super) async fn presses(
        &self,
        by: &InboundMessage,
        (post, button): (String, String),
    ) -> Option<ChatNotice> {
        let key = format!("press-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let event = Inbound::Pressed {
            place: by.place.clone(),
            post,
            person: by.person.clone(),
            button,
            answer_to: "a".to_owned(),
        };
        match self.arrives(&key, event, None).await.outcome {
            Arrival::Pressed { notice } => Some(notice),
            Arrival::Ignored => None,
            other => panic!("{other:?}"),
        }
    }

    /// The posts that are in the chat, without notices.
    pub(super) fn answers(&self) -> usize {
        self.there.values().filter(|shown| shown.starts_with(|first: char| first.is_ascii_digit())).count()
    }
}

/// A desk with a gateway, where Ann is paired.
pub(super) async fn paired(as_owner: bool) -> (Desk, Gateway) {
    let desk = Desk::fast().await;
    super::settings::sets(&desk, "");
    let gateway = Gateway::new(&desk, "one").await;
    pairs(&desk, &gateway, says("0", "hello"), as_owner).await;
    (desk, gateway)
}

pub(super) async fn pairs(desk: &Desk, gateway: &Gateway, message: InboundMessage, as_owner: bool) {
    let Arrival::Stranger { code: Some(code) } = gateway.says(message).await.outcome else {
        panic!("no code")
    };
    get!(desk, People, Request::Pair(Pair { code, as_owner }));
}

pub(super) async fn conversation(desk: &Desk) -> String {
    let Conversations { conversations, .. } = get!(desk, Conversations, Request::List(List::default()));
    conversations.into_iter().next().expect("one").id
}

pub(super) async fn texts(desk: &Desk, id: &str) -> usize {
    let Entries { entries, .. } = get!(desk, Entries, Request::Log(log(id)));
    entries.len()
}

/// What a notice of a rewind says: the turns and the counts.
pub(super) fn rewound(count: u32, posts: PostCounts) -> ChatNotice {
    ChatNotice::Step {
        step: ChatStep::Rewind,
        count,
        by: Some("Ann".to_owned()),
        posts,
        files: 0,
        stopped: None,
        lost: 0,
    }
}
