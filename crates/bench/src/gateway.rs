//! A chat whose platform takes no time: messages from arrival to post, and rewinds of turns with posts. Beside it, the same turns without
//! a chat. Works in a folder of its own that is removed afterwards.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use retake_core::{
    Action, Apply, ChatPlace, ChatRole, ConversationId, Deletion, Part, PostResult, PostTask, PostWork,
    SeenState, Time,
};
use retake_engine::{Arrived, ChatEvent, ChatMessage, ChatPreviews, Engine, FileOptions, GatewayEvent};

use crate::GatewayArguments;
use crate::report::Report;
use crate::samples::median;
use crate::turn::Desk;

/// The longest wait for work.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most work of one look.
const AT_ONCE: usize = 100;

/// Measures everything.
pub(crate) fn run(arguments: &GatewayArguments) -> anyhow::Result<Report> {
    let folder = crate::own_folder(&arguments.dir)?;
    let mut report = Report::default();
    report.text("version", env!("CARGO_PKG_VERSION"));
    report.count("messages", arguments.messages);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(arguments, folder.path(), &mut report))?;
    Ok(report)
}

async fn measure(arguments: &GatewayArguments, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    let desk = Desk::open_with(&folder.join("data"), Vec::new()).await?;
    let mut chat = Chat { engine: desk.engine(), number: 0, settled: Vec::new() };
    chat.pair().await?;
    let of = chat.begin("many").await?;
    // The same turns in a terminal and in a chat, one after the other.
    let plain = desk.begin(None).await?;
    let start = Instant::now();
    for _ in 0..arguments.messages {
        desk.turn(plain, None, 0).await?;
    }
    let turns = per_second(arguments.messages, start);
    let start = Instant::now();
    for _ in 0..arguments.messages {
        chat.says("many").await?;
        chat.posts(1).await?;
    }
    let posted = per_second(arguments.messages, start);
    report.measure("turns_per_s", turns);
    report.measure("messages_per_s", posted);
    report.measure("chat_to_turn", turns / posted);
    report.measure("settle_us", median(std::mem::take(&mut chat.settled)));
    chat.rewind(of).await?;
    chat.deletes().await?;
    for posts in [10, 100, 1000].into_iter().filter(|posts| *posts <= arguments.most) {
        let (without, with) = (desk.begin(None).await?, chat.begin(&format!("place-{posts}")).await?);
        for _ in 0..posts {
            desk.turn(without, None, 0).await?;
            chat.says(&format!("place-{posts}")).await?;
            chat.posts(1).await?;
        }
        // Each is measured once in turn, so that both see the same machine.
        let (mut plain, mut posted) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            plain.push(chat.rewind(without).await?);
            chat.undo(without).await?;
            posted.push(chat.rewind(with).await?);
            chat.undo(with).await?;
        }
        let (plain, posted) = (median(plain), median(posted));
        report.add(format!("rewind_{posts}_turns_us"), plain);
        report.add(format!("rewind_{posts}_posts_us"), posted);
        report.add(format!("rewind_{posts}_ratio"), posted / plain);
        chat.rewind(with).await?;
        chat.settled.clear();
        let start = Instant::now();
        let deleted = chat.deletes().await?;
        if deleted as u64 != posts {
            bail!("{deleted} of {posts} posts were deleted");
        }
        report.add(format!("delete_{posts}_ms"), start.elapsed().as_secs_f64() * 1e3);
        report.add(format!("settle_{posts}_us"), median(std::mem::take(&mut chat.settled)));
    }
    Ok(())
}

fn per_second(count: u64, start: Instant) -> f64 {
    count as f64 / start.elapsed().as_secs_f64()
}

/// A gateway and its platform.
struct Chat<'a> {
    engine: &'a std::sync::Arc<Engine>,
    number: u64,
    /// How long each report took, in microseconds.
    settled: Vec<f64>,
}

impl Chat<'_> {
    async fn arrives(&mut self, place: &str) -> anyhow::Result<Arrived> {
        self.number += 1;
        let name = self.number.to_string();
        let message = ChatMessage {
            place: ChatPlace { account: "bench".into(), chat: place.into(), thread: None },
            is_shared: false,
            message: name.clone(),
            person: "ann".into(),
            name: "Ann".into(),
            is_bot: false,
            sent: Time(1),
            parts: vec![Part::text("go on")],
            is_addressed: true,
            reply_to: None,
            joined: Vec::new(),
        };
        let event = GatewayEvent {
            account: "bench".into(),
            keys: vec![name],
            event: ChatEvent::Message(message),
            command: None,
            moderates: false,
            is_late: false,
        };
        Ok(self.engine.chat_arrive("one".into(), event).await?)
    }

    /// Pairs the person.
    async fn pair(&mut self) -> anyhow::Result<()> {
        let Arrived::Stranger(Some(code)) = self.arrives("many").await? else { bail!("no code") };
        Ok(self.engine.pair(&code, ChatRole::Owner).await?)
    }

    /// A first turn in a place; returns its conversation.
    async fn begin(&mut self, place: &str) -> anyhow::Result<ConversationId> {
        let of = match self.arrives(place).await? {
            Arrived::Known(retake_core::ArrivalOutcome::Said(of)) => of,
            other => bail!("{other:?}"),
        };
        self.posts(1).await?;
        self.rewind(of).await?;
        self.deletes().await?;
        Ok(of)
    }

    async fn says(&mut self, place: &str) -> anyhow::Result<()> {
        match self.arrives(place).await? {
            Arrived::Known(_) => Ok(()),
            other => bail!("{other:?}"),
        }
    }

    async fn take(&self, wait: Duration) -> anyhow::Result<Vec<PostWork>> {
        Ok(self
            .engine
            .chat_take("bench".into(), "one".into(), (wait, AT_ONCE), ChatPreviews::default())
            .await?)
    }

    async fn settle(&mut self, work: &PostWork, result: PostResult) -> anyhow::Result<()> {
        let start = Instant::now();
        self.engine.chat_settle("bench".into(), "one".into(), work.key, result).await?;
        self.settled.push(start.elapsed().as_secs_f64() * 1e6);
        Ok(())
    }

    /// Sends so many posts.
    async fn posts(&mut self, count: usize) -> anyhow::Result<()> {
        let mut sent = 0;
        while sent < count {
            let work = self.take(PATIENCE).await?;
            if work.is_empty() {
                bail!("nothing to send");
            }
            for work in &work {
                self.does(work).await?;
            }
            sent += work.len();
        }
        Ok(())
    }

    /// Does all work; returns the number of deletions.
    async fn deletes(&mut self) -> anyhow::Result<usize> {
        let mut count = 0;
        loop {
            let all = self.take(Duration::ZERO).await?;
            if all.is_empty() {
                return Ok(count);
            }
            for work in &all {
                count += usize::from(work.task == PostTask::Delete);
                self.does(work).await?;
            }
        }
    }

    async fn does(&mut self, work: &PostWork) -> anyhow::Result<()> {
        match work.task {
            PostTask::Send | PostTask::Resend => {
                let digest = "d".repeat(32);
                self.settle(work, PostResult::Sending { parts: 1, digest, is_preview: false }).await?;
                let ids = vec![format!("post-{}", work.key)];
                self.settle(work, PostResult::Sent { ids, at: Time(1), deadline: None, deletable: true })
                    .await
            }
            PostTask::Edit => {
                self.settle(work, PostResult::Edited { ids: Vec::new(), is_preview: false }).await
            }
            PostTask::Delete => self.settle(work, PostResult::Deleted(Deletion::Gone)).await,
        }
    }

    /// Rewinds to the beginning; returns how long it took, in microseconds.
    async fn rewind(&self, of: ConversationId) -> anyhow::Result<f64> {
        let first = self.engine.entry(of, "t1").await.context("a first turn")?;
        self.acts(of, Action::Rewind(first)).await
    }

    async fn undo(&self, of: ConversationId) -> anyhow::Result<f64> {
        self.acts(of, Action::Undo(1)).await
    }

    async fn acts(&self, of: ConversationId, action: Action) -> anyhow::Result<f64> {
        let by = self.engine.by(None);
        let options = FileOptions { stop: true, ..FileOptions::default() };
        let start = Instant::now();
        self.engine.act(of, Apply { action, seen: SeenState::Anything, by }, options).await?;
        Ok(start.elapsed().as_secs_f64() * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use crate::GatewayArguments;

    #[test]
    fn everything_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = GatewayArguments { messages: 5, most: 10, json: true, dir: folder.path().to_owned() };
        let json = super::run(&arguments).unwrap().json();
        for name in ["messages_per_s", "chat_to_turn", "settle_us", "rewind_10_ratio", "delete_10_ms"] {
            assert!(json.get(name).is_some_and(|value| value.is_number()), "{name}: {json}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }
}
