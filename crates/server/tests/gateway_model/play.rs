//! Plays a random sequence: what people write, what the platform does to our requests, and who is killed when. Events that must have a
//! certain outcome wait until nothing else goes on; after all others, the naive model of their place is not compared any more.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use retake_engine::clock::{Clock as _, SystemClock};
use retake_gateway::{Adapter, DeletionWindow, Failure, Options, Refused, Resend, RuntimeError};
use retake_wire::chat::{
    Addressed, Arrival, Arrive, Arrived, Audience, Inbound, InboundMessage, Pair, Person, Place,
};
use retake_wire::{Client, Reply, Request};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::check::{self, Seen};
use super::owner::{Door, Way};
use super::platform::{Fault, Platform, capabilities};
use super::talk::{Talk, Wording};
use super::tally::Tally;

/// The places: two private ones, a group, and a thread in it.
pub(super) const PLACES: usize = 4;

/// The people who are paired, and one who is not.
const PEOPLE: [&str; 3] = ["ann", "ben", "eve"];

const ANN: usize = 0;
const BEN: usize = 1;
const EVE: usize = 2;

/// The number of the place in what a stranger writes.
pub(super) const STRANGE: usize = 9;

const AGAIN: &[Resend] = &[Resend::Again(Duration::from_hours(23)), Resend::Find, Resend::Send];
const FIND: &[Resend] = &[Resend::Find, Resend::Send];
const SEND: &[Resend] = &[Resend::Send];

/// The place with a number.
pub(super) fn place(number: usize) -> Place {
    let (chat, thread) =
        [("ann", None), ("ben", None), ("group", None), ("group", Some("thread".to_owned()))]
            [number.min(PLACES - 1)]
        .clone();
    Place { account: "chat".into(), chat: chat.into(), thread }
}

fn is_shared(place: usize) -> bool {
    place >= 2
}

pub(super) struct Play {
    _home: TempDir,
    random: Rng,
    pub(super) door: Arc<Door>,
    pub(super) platform: Arc<Platform>,
    way: Arc<Way>,
    gateway: Option<JoinHandle<Result<(), RuntimeError>>>,
    pub(super) talks: [Talk; PLACES],
    /// Whether the model knows what each place must show.
    pub(super) is_exact: [bool; PLACES],
    /// Messages of people, with their authors.
    messages: Vec<(Wording, usize)>,
    next: usize,
    /// Whether commands and kills come at any moment.
    is_rough: bool,
    /// Whether nothing fails and nobody is killed: then each question is seen and confirmed.
    is_calm: bool,
    tally: Tally,
}

impl Play {
    /// Plays a whole sequence, and checks it.
    pub(super) async fn whole(seed: u64, steps: usize) -> Tally {
        let mut play = Self::new(seed).await;
        for _ in 0..steps {
            play.step().await;
        }
        play.settles(seed, true).await;
        check::all(&play).await;
        play.ends_with_rewinds(seed).await;
        play.tally.answers += play.door.echo.answers().len();
        {
            let inside = play.platform.inside();
            play.tally.deletions += inside.deletions;
            play.tally.lost += inside.lost;
        }
        for (talk, _) in play.talks.iter().zip(play.is_exact).filter(|(_, is_exact)| *is_exact) {
            play.tally.exact[0] += 1;
            play.tally.exact[1] += usize::from(talk.steps > 0);
        }
        play.kills_gateway().await;
        play.door.close(true).await;
        play.door.holds_nothing_of_strangers();
        play.tally
    }

    async fn new(seed: u64) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let mut random = Rng::with_seed(seed);
        let resend = [AGAIN, FIND, SEND][random.usize(..3)];
        let deletes =
            [DeletionWindow::Always, DeletionWindow::Always, DeletionWindow::Policy, DeletionWindow::Never]
                [random.usize(..4)];
        let capabilities = capabilities(resend, deletes, random.bool());
        let door = Arc::new(Door::new(Path::new(home.path()), random.u64(..12), random.bool()));
        door.open().await;
        let way = Arc::new(door.way().await);
        let platform = Arc::new(Platform::new(capabilities, Arc::clone(&door)));
        let mut play = Self {
            _home: home,
            random,
            door,
            platform,
            way,
            gateway: None,
            talks: Default::default(),
            is_exact: [true; PLACES],
            messages: Vec::new(),
            next: 0,
            is_rough: seed.is_multiple_of(2),
            is_calm: seed.is_multiple_of(3),
            tally: Tally::default(),
        };
        play.pairs(ANN, true).await;
        play.pairs(BEN, false).await;
        play.starts();
        // An owner opens the group.
        play.says(2, ANN, true);
        play
    }

    async fn pairs(&self, who: usize, as_owner: bool) {
        let hello = InboundMessage { text: "hello".into(), ..self.message(who, who, &format!("hello{who}")) };
        let arrive = Arrive {
            account: "chat".into(),
            holder: "g".into(),
            transport_key: format!("pair{who}"),
            event: Inbound::Message(hello),
            also: Vec::new(),
            parts: Vec::new(),
            command: None,
            moderates: false,
            is_late: false,
        };
        let Reply::Arrived(Arrived { outcome: Arrival::Stranger { code: Some(code) }, .. }) =
            self.way.call(Request::Arrive(arrive)).await.expect("arrived")
        else {
            panic!("no code")
        };
        self.door.does(Request::Pair(Pair { code, as_owner })).await;
    }

    fn starts(&mut self) {
        if self.gateway.as_ref().is_some_and(|it| !it.is_finished()) {
            return;
        }
        let adapter: Arc<dyn Adapter> = self.platform.clone();
        let client: Arc<dyn Client> = self.way.clone();
        let options = Options {
            account: "chat".into(),
            holder: "g".into(),
            clock: Arc::new(self.door.clock.clone()),
            seed: self.random.u64(..),
            limits: retake_gateway::Limits::default(),
            health: retake_gateway::Health::default(),
        };
        let run = retake_gateway::run(adapter, client, options, std::future::pending::<()>());
        self.gateway = Some(tokio::spawn(run));
    }

    async fn kills_gateway(&mut self) {
        if let Some(gateway) = self.gateway.take() {
            gateway.abort();
            let end = gateway.await;
            assert!(end.is_err_and(|error| error.is_cancelled()), "the gateway had ended by itself");
        }
    }

    async fn step(&mut self) {
        match self.random.u8(..100) {
            0..34 => {
                let (place, is_last) = (self.random.usize(..PLACES), self.random.u8(..3) > 0);
                let who = self.someone(place);
                self.says(place, who, is_last);
            }
            34..42 => self.edits(),
            68..90 | 92..96 if self.is_calm => {
                self.starts();
                self.rests().await;
            }
            42..62 => self.commands(),
            62..68 => {
                let number = self.random.usize(..self.platform.events());
                self.platform.feed_again(number);
            }
            68..80 => self.fails(),
            80..86 => {
                self.kills_gateway().await;
                self.tally.kills[1] += 1;
                if self.random.bool() {
                    self.starts();
                }
            }
            86..90 => self.kills_owner().await,
            90..92 => self.strange(),
            92..94 => {
                let at = self.random.usize(..8);
                self.platform.someone_deletes(at);
            }
            94..96 => self.door.clock.jump(self.random.i64(0..90_000)),
            _ => {
                self.starts();
                self.rests().await;
            }
        }
        let pause = self.random.u64(..12);
        SystemClock.sleep(Duration::from_millis(pause)).await;
    }

    /// Waits until all events are stored and nothing runs.
    async fn rests(&self) {
        assert!(self.is_resting().await, "the events are not stored: {}", self.platform.unread());
    }

    async fn is_resting(&self) -> bool {
        for _ in 0..2_000 {
            if self.platform.is_read() && self.door.is_idle().await {
                return true;
            }
            SystemClock.sleep(Duration::from_millis(5)).await;
        }
        false
    }

    fn someone(&mut self, place: usize) -> usize {
        if is_shared(place) { self.random.usize(..2) } else { place }
    }

    fn message(&self, place: usize, who: usize, id: &str) -> InboundMessage {
        let name = PEOPLE[who];
        InboundMessage {
            place: self::place(place),
            audience: if is_shared(place) { Audience::Shared } else { Audience::Private },
            message: id.to_owned(),
            person: Person { id: name.into(), name: name.into(), is_bot: false },
            sent_ms: self.door.clock.now(),
            text: String::new(),
            addressed: Addressed::Mention,
            reply_to: None,
            album: None,
            is_forward: false,
            attached: Vec::new(),
        }
    }

    fn key(&mut self) -> String {
        self.next += 1;
        format!("event{}", self.next)
    }

    fn says(&mut self, place: usize, who: usize, is_last: bool) {
        let message = self.messages.len();
        let wording = Wording { message, version: 0, place, parts: self.random.usize(1..4) };
        self.messages.push((wording, who));
        let said =
            InboundMessage { text: wording.to_string(), ..self.message(place, who, &format!("m{message}")) };
        let key = self.key();
        self.platform.feed(&key, Inbound::Message(said), is_last);
        self.talks[place].wanted.push(format!("{}: {wording}", PEOPLE[who]));
        self.talks[place].say(who, wording);
    }

    /// Another wording, mostly of the last message of a place.
    fn edits(&mut self) {
        let place = self.random.usize(..PLACES);
        let of_place = |it: &&(Wording, usize)| it.0.place == place;
        let back = self.random.usize(..4).saturating_sub(2);
        let Some((wording, who)) = self.messages.iter().rev().filter(of_place).nth(back).copied() else {
            return;
        };
        let wording = Wording { version: wording.version + 1, parts: self.random.usize(1..4), ..wording };
        let is_last = !self.is_rough || self.random.u8(..4) > 0;
        let id = format!("m{}", wording.message);
        let said = InboundMessage { text: wording.to_string(), ..self.message(place, who, &id) };
        let key = self.key();
        self.platform.feed(&key, Inbound::Edited(said), is_last);
        // Whatever follows ends its wait for further edits: here, the news of a message that never was one.
        let place_of_it = self.message(place, who, &id).place;
        let nothing = Inbound::Recalled { place: place_of_it, message: "none".to_owned(), by: None };
        let key = self.key();
        self.platform.feed(&key, nothing, is_last);
        self.messages[wording.message].0 = wording;
        self.is_exact[place] &= is_last;
        self.talks[place].wanted.push(format!("{} edits: {wording}", PEOPLE[who]));
        // In a group there is a question, and nobody answers it. So it is with older messages.
        if !is_shared(place) {
            self.talks[place].edit(who, wording);
        }
    }

    fn commands(&mut self) {
        let place = self.random.usize(..PLACES);
        let is_last = !self.is_rough || self.random.u8(..5) > 0;
        let who = self.someone(place);
        let may_all = !is_shared(place) || who == ANN;
        let count = self.random.usize(1..3);
        let of_place: Vec<usize> =
            self.messages.iter().filter(|it| it.0.place == place).map(|it| it.0.message).collect();
        let named = self.random.choice(of_place);
        let talk = &mut self.talks[place];
        let before = talk.visible();
        let (text, reply_to) = match (self.random.u8(..10), named) {
            (0..3, _) => {
                talk.rewind(who, may_all, (count, None));
                (format!("/rewind {count}"), None)
            }
            (3, Some(named)) => {
                talk.rewind(who, may_all, (1, Some(named)));
                ("/rewind".to_owned(), Some(named))
            }
            (4, Some(named)) => {
                talk.drop_turn(who, may_all, named);
                ("/drop".to_owned(), Some(named))
            }
            (5..8, _) => {
                talk.undo(who, may_all, count);
                (format!("/undo {count}"), None)
            }
            _ => {
                talk.redo(who, may_all, count);
                (format!("/redo {count}"), None)
            }
        };
        let is_asked = self.talks[place].is_asked(&before, who, is_shared(place));
        self.is_exact[place] &= is_last && (!is_asked || self.is_calm);
        self.talks[place].wanted.push(format!("{}: {text} {reply_to:?}", PEOPLE[who]));
        let reply_to = reply_to.map(|message| format!("m{message}"));
        let key = self.key();
        let said = InboundMessage { text, reply_to, ..self.message(place, who, &format!("c{key}")) };
        self.platform.feed(&key, Inbound::Message(said), is_last);
        if is_asked {
            self.confirms(place, who, is_last);
        }
    }

    /// Confirms the step that was asked about.
    fn confirms(&mut self, place: usize, who: usize, is_last: bool) {
        let key = self.key();
        let text = "/confirm".to_owned();
        let said = Inbound::Message(InboundMessage { text, ..self.message(place, who, &format!("c{key}")) });
        match self.is_calm {
            true => self.platform.feed_answer(&key, said),
            false => self.platform.feed(&key, said, is_last),
        }
    }

    fn fails(&mut self) {
        let method =
            ["send", "send", "send", "delete", "delete_many", "edit", "find"][self.random.usize(..7)];
        let wait = || Failure::Wait { wait: Duration::from_millis(40), bucket: None };
        let fault = match self.random.u8(..9) {
            0 => Fault::Fails(wait()),
            1 => Fault::Fails(Failure::Unknown),
            2 => Fault::Fails(Failure::Unreachable),
            3..5 => Fault::LostAfter,
            5 => Fault::Fails(Failure::Refused(Refused::Other)),
            6 => Fault::Fails(Failure::Refused(Refused::NotPermitted)),
            _ => Fault::Slow,
        };
        self.platform.fault(method, fault);
    }

    async fn kills_owner(&mut self) {
        if !self.is_rough || self.random.bool() {
            self.starts();
            self.rests().await;
        } else {
            // A run at work may be lost, and a message may wait behind it.
            self.is_exact = [false; PLACES];
        }
        self.door.close(self.random.bool()).await;
        self.tally.kills[0] += 1;
        let pause = self.random.u64(..40);
        SystemClock.sleep(Duration::from_millis(pause)).await;
        self.door.open().await;
    }

    /// Somebody writes whom nobody paired.
    fn strange(&mut self) {
        let number = self.random.usize(1..PLACES);
        let wording = Wording { message: 0, version: 0, place: STRANGE, parts: 1 };
        let key = self.key();
        let said = InboundMessage {
            text: format!("hunter2 {wording}"),
            ..self.message(number, EVE, &format!("s{key}"))
        };
        let said = match is_shared(number) {
            true => said,
            false => InboundMessage { place: Place { chat: "eve".into(), ..place(0) }, ..said },
        };
        let event = match self.random.u8(..3) {
            0 => Inbound::Edited(said),
            1 => Inbound::Message(InboundMessage { text: "/rewind 2".into(), ..said }),
            _ => Inbound::Message(said),
        };
        self.platform.feed(&key, event, false);
    }

    /// Heals what is broken, and waits until nothing is to be done any more: over two times at which all leases are over.
    pub(super) async fn settles(&mut self, seed: u64, heals: bool) {
        if heals {
            self.platform.inside().faults.clear();
        }
        self.door.open().await;
        if !heals {
            self.is_settled_soon().await;
        }
        let mut times = 0;
        for _ in 0..12 {
            self.kills_gateway().await;
            self.door.clock.jump(65_000);
            self.starts();
            // On a busy machine, a gateway needs a while for the events that came.
            if self.is_resting().await && self.is_settled_soon().await {
                times += 1;
            }
            if times == 2 {
                return;
            }
        }
        let seen = Seen::now(self).await;
        let left: Vec<_> = seen.posts.iter().filter(|post| !Seen::is_over(self, post)).collect();
        let (unread, is_idle) = (self.platform.unread(), self.door.is_idle().await);
        let is_over = self.gateway.as_ref().map(JoinHandle::is_finished);
        panic!("seed {seed}: it does not come to rest: {unread}, {is_idle}, {is_over:?}, {left:#?}");
    }

    async fn is_settled_soon(&self) -> bool {
        for _ in 0..100 {
            if self.is_settled().await {
                return true;
            }
            SystemClock.sleep(Duration::from_millis(10)).await;
        }
        false
    }

    async fn is_settled(&self) -> bool {
        if !self.platform.is_read() || !self.door.is_idle().await {
            return false;
        }
        let Some(posts) = self.door.posts().await else { return false };
        posts.iter().all(|post| Seen::is_over(self, post))
    }

    /// Takes back a turn or two in each place while deletions fail, and counts.
    async fn ends_with_rewinds(&mut self, seed: u64) {
        for place in 0..PLACES {
            for _ in 0..self.random.usize(..2) {
                let wait = Failure::Wait { wait: Duration::from_millis(40), bucket: None };
                let fails = [wait, Failure::Refused(Refused::Other), Failure::Unreachable];
                let fault = Fault::Fails(fails[self.random.usize(..fails.len())].clone());
                let fault = if self.random.bool() { fault } else { Fault::LostAfter };
                self.platform.fault(["delete", "delete_many"][self.random.usize(..2)], fault);
            }
            let before = Seen::now(self).await;
            let (count, who) = (self.random.usize(1..3), if place == 1 { BEN } else { ANN });
            let key = self.key();
            let text = format!("/rewind {count}");
            let said = InboundMessage { text, ..self.message(place, who, &format!("c{key}")) };
            let seen = self.talks[place].visible();
            self.talks[place].rewind(who, true, (count, None));
            let is_asked = self.talks[place].is_asked(&seen, who, is_shared(place));
            self.platform.feed(&key, Inbound::Message(said), true);
            if is_asked {
                self.confirms(place, who, true);
            }
            self.settles(seed, false).await;
            check::all(self).await;
            let after = Seen::now(self).await;
            let is_blind = self.platform.is_blind();
            self.tally.counted += usize::from(check::counts(&before, &after, place, is_blind));
        }
    }
}
