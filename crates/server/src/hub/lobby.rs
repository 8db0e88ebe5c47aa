//! The list of conversations, followed.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use retake_core::ConversationId;
use retake_engine::store::{Followed, Follower};
use retake_wire::request::List;
use retake_wire::{Event, Problem, Reply};
use tokio::sync::broadcast;
use tokio::task::JoinSet;

use super::{BEHIND, Frame, locked};
use crate::InProcess;

/// Changes of a conversation that come so close together are told as one.
const TOGETHER: Duration = Duration::from_millis(20);

/// The list of conversations, followed by at least one for a while.
pub(super) struct Lobby {
    /// Tells the ids of this owner's events from those of another one.
    name: String,
    told: broadcast::Sender<Arc<Frame>>,
    /// The last events, for who comes back.
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    count: u64,
    frames: VecDeque<(u64, Arc<Frame>)>,
}

impl Lobby {
    fn id(&self, number: u64) -> String {
        format!("{}.{number}", self.name)
    }

    /// What was told since an event, where that is still known.
    fn since(&self, last: &Last, id: &str) -> Option<Vec<Arc<Frame>>> {
        let (name, number) = id.rsplit_once('.')?;
        let number: u64 = number.parse().ok().filter(|_| name == self.name)?;
        let first = last.frames.front().map_or(last.count + 1, |(number, _)| *number);
        let known = number <= last.count && number + 1 >= first;
        let later = last.frames.iter().filter(|(at, _)| *at > number);
        known.then(|| later.map(|(_, frame)| Arc::clone(frame)).collect())
    }

    /// Whether nobody is there to be told: then what was told before is no longer all that happened since.
    fn is_empty(&self) -> bool {
        let empty = self.told.receiver_count() == 0;
        if empty {
            let mut last = locked(&self.last);
            last.count += 1;
            last.frames.clear();
        }
        empty
    }

    /// How many are there.
    pub(super) fn following(&self) -> usize {
        self.told.receiver_count()
    }

    fn tell(&self, event: Event) {
        let mut last = locked(&self.last);
        last.count += 1;
        let number = last.count;
        let frame = Arc::new(Frame::named(self.id(number), event));
        last.frames.push_back((number, Arc::clone(&frame)));
        if last.frames.len() > BEHIND {
            last.frames.pop_front();
        }
        // Nobody may be there.
        drop(self.told.send(frame));
    }
}

/// Follows the list.
pub(super) async fn follow(
    server: &InProcess,
    since: Option<&str>,
) -> Result<BoxStream<'static, Arc<Frame>>, Problem> {
    let lobby = server.lobby();
    let (told, id, missed) = {
        let last = locked(&lobby.last);
        let missed = since.and_then(|since| lobby.since(&last, since));
        (lobby.told.subscribe(), lobby.id(last.count), missed)
    };
    let first = match missed {
        Some(missed) => missed,
        None => {
            let Reply::Conversations(list) = server.list(List::default()).await? else {
                unreachable!("BUG: a list is answered with conversations");
            };
            vec![Arc::new(Frame::named(id, Event::List(list)))]
        }
    };
    let rest = stream::unfold(told, |mut told| async move {
        let frame = told.recv().await.ok()?;
        Some((frame, told))
    });
    Ok(stream::iter(first).chain(rest).boxed())
}

impl InProcess {
    fn lobby(&self) -> Arc<Lobby> {
        let mut lobby = locked(&self.hub.lobby);
        if let Some(lobby) = &*lobby {
            return Arc::clone(lobby);
        }
        let commits = self.engine.store().follow(None);
        let name = self.engine.new_entry_id().to_string();
        let opened = Arc::new(Lobby { name, told: broadcast::channel(BEHIND).0, last: Mutex::default() });
        *lobby = Some(Arc::clone(&opened));
        tokio::spawn(keep(self.clone(), Arc::clone(&opened), commits));
        opened
    }
}

/// Tells who follows the list of each conversation that has changed.
async fn keep(server: InProcess, lobby: Arc<Lobby>, mut commits: Follower) {
    // Where files go along with something, it is told when they are done.
    let mut held = JoinSet::new();
    loop {
        let mut changed = BTreeSet::new();
        let mut missed = tokio::select! {
            followed = commits.next() => match followed {
                Some(followed) => heard(followed, &mut changed),
                None => return,
            },
            Some(done) = held.join_next() => {
                changed.extend(done.ok());
                false
            }
        };
        let over = tokio::time::sleep(TOGETHER);
        tokio::pin!(over);
        loop {
            tokio::select! {
                biased;
                () = &mut over => break,
                followed = commits.next() => match followed {
                    Some(followed) => missed |= heard(followed, &mut changed),
                    None => return,
                },
            }
        }
        if lobby.is_empty() {
            continue;
        }
        if missed {
            if let Ok(Reply::Conversations(list)) = server.list(List::default()).await {
                lobby.tell(Event::List(list));
            }
            continue;
        }
        for of in changed {
            // What can't be read is told to who reads it.
            let conversation = server.conversation_in_short(of).await;
            if server.engine.has_open_plan(of) {
                let engine = Arc::clone(&server.engine);
                held.spawn(async move {
                    engine.plans_closed(of).await;
                    of
                });
            } else if let Ok(conversation) = conversation {
                lobby.tell(Event::Listed(Box::new(conversation)));
            }
        }
    }
}

/// Notes what changed. Whether something was missed.
fn heard(followed: Followed, changed: &mut BTreeSet<ConversationId>) -> bool {
    match followed {
        Followed::Changed(of) => {
            changed.insert(of.conversation);
            false
        }
        Followed::Drafts(_) => false,
        Followed::Missed => true,
    }
}
