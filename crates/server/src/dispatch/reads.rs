//! Requests that read, and the one that archives a conversation.

use retake_core::{
    ArchiveState, CallWords, ConversationId, Include, ListRequest, Mark, OpNo, OpRange, PageRequest,
    Projection, Reading, Revision, RunState, SearchRequest, Sort, Summary, Time,
};
use retake_engine::Unfinished;
use retake_wire::request::{USUAL_HITS, USUAL_PAGE};
use retake_wire::{ModelCause, Problem, ProblemKind, Reply, Search, english, reply, request};

use super::{head, limit, page};
use crate::InProcess;
use crate::convert::{self, effort, facts_from, model_cause, own_problem, problem, unavailable_cause};
use crate::log::LogFailure as _;

/// Data beside the log of a conversation.
pub(crate) struct ConversationExtras {
    /// Whether a run is at work.
    pub(crate) running: bool,
    /// Waiting messages, oldest first.
    pub(crate) waiting: Vec<reply::Words>,
    /// The permissions of the agent.
    pub(crate) permissions: reply::Permissions,
}

/// An item on a page of a tree.
enum InTree {
    Branch(Box<reply::Branch>),
    Fork(reply::ForkLine),
}

impl InTree {
    /// The name of its place.
    fn id(&self) -> &str {
        match self {
            Self::Branch(branch) => &branch.leaf,
            Self::Fork(fork) => &fork.conversation,
        }
    }
}

impl InProcess {
    pub(crate) async fn list(&self, list: request::List) -> Result<Reply, Problem> {
        let limit = limit(list.limit, USUAL_PAGE)?;
        let before = match &list.before {
            Some(name) => Some(self.conversation(name).await?),
            None => None,
        };
        let shelf = Some(if list.archived { ArchiveState::Archived } else { ArchiveState::AtHand });
        let never_captured = match &list.folder {
            Some(folder) => {
                self.engine.never_a_workspace(folder.into()).await.map_err(problem)?.map(convert::cause)
            }
            None => None,
        };
        let request = ListRequest { folder: list.folder, before, limit: limit.saturating_add(1), shelf };
        let mut summaries = match self.caller.readable() {
            None => self.engine.list(request).await.map_err(problem)?,
            Some(covered) => self.engine.list_among(request, covered).await.map_err(problem)?,
        };
        let more = summaries.len() > limit;
        summaries.truncate(limit);
        let mut conversations = Vec::new();
        for summary in summaries {
            conversations.push(self.in_short(summary).await);
        }
        Ok(Reply::Conversations(reply::Conversations { conversations, more, never_captured }))
    }

    pub(super) async fn set_archived(&self, set: request::SetArchived) -> Result<Reply, Problem> {
        let id = self.conversation(&set.conversation).await?;
        let to = if set.archived { ArchiveState::Archived } else { ArchiveState::AtHand };
        self.engine.archive(id, to).await.map_err(problem)?;
        Ok(Reply::Done)
    }

    pub(super) async fn info(&self, of: request::ConversationTarget) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        self.conversation_in_short(id).await.map(Reply::Conversation)
    }

    pub(crate) async fn conversation_in_short(
        &self,
        id: ConversationId,
    ) -> Result<reply::Conversation, Problem> {
        let summary = self.engine.summary(id).await.map_err(problem)?;
        Ok(self.in_short(summary).await)
    }

    async fn in_short(&self, summary: Summary) -> reply::Conversation {
        let title = match summary.parent {
            // A parent that cannot be read has no title; the fork is shown anyway.
            Some((parent, _)) => {
                self.engine.title(parent).await.map_err(problem).or_log("the parent has no title").flatten()
            }
            None => None,
        };
        let running = self.engine.is_running(summary.id);
        convert::summary(summary, title, running)
    }

    pub(crate) async fn log(&self, log: request::Log) -> Result<Reply, Problem> {
        let id = self.conversation(&log.conversation).await?;
        let at = log.at.as_deref().map(head).transpose()?;
        let projection = match log.projection {
            request::Projection::Timeline => Projection::Timeline,
            request::Projection::Prompt => Projection::Prompt,
            request::Projection::Scheduling => Projection::Scheduling,
            request::Projection::Export => Projection::Export,
        };
        let page = PageRequest {
            before: self.entry_if(id, log.before.as_deref()).await?,
            after: self.entry_if(id, log.after.as_deref()).await?,
            limit: limit(log.limit, USUAL_PAGE)?,
        };
        let (now, revision) = self.engine.now_at(id).await.map_err(problem)?;
        // The entries belong to this head and revision, even if others are appended meanwhile: a client that catches up from it
        // misses nothing.
        let head = at.unwrap_or(now);
        let branch = self.entry_if(id, log.branch.as_deref()).await?;
        let reading = Reading { projection, at: Some(head), branch };
        let page = self.engine.page(id, reading, page).await.map_err(problem)?;
        let is_now = head == now && branch.is_none() && projection == Projection::Timeline;
        let Unfinished { unbegun, cut_off } = match is_now {
            true => self.engine.unfinished(id, &page.entries, page.later).await.map_err(problem)?,
            false => Unfinished::default(),
        };
        let entries = self.wire_entries(id, page.entries).await?;
        Ok(Reply::Entries(reply::Entries {
            conversation: id.to_string(),
            head: head.to_string(),
            revision: revision.0,
            entries,
            earlier: page.earlier,
            later: page.later,
            unbegun,
            cut_off,
        }))
    }

    /// Entries with what they cost, where that is known, and how long the calls worked whose results they are.
    pub(crate) async fn wire_entries(
        &self,
        of: ConversationId,
        shown: Vec<retake_core::ShownEntry>,
    ) -> Result<Vec<reply::Entry>, Problem> {
        let took = self.engine.took(of, &shown).await.map_err(problem)?;
        let cost = |model: &str, usage: &retake_core::Usage| self.settings.cost(model, usage);
        let entry = |(shown, took_ms)| reply::Entry { took_ms, ..convert::entry(shown, cost) };
        Ok(shown.into_iter().zip(took).map(entry).collect())
    }

    pub(super) async fn prompt(&self, at: request::At) -> Result<Reply, Problem> {
        let id = self.conversation(&at.conversation).await?;
        let at = at.at.as_deref().map(head).transpose()?;
        let head = match at {
            Some(head) => head,
            None => self.engine.now_at(id).await.map_err(problem)?.0,
        };
        let messages = self.engine.prompt_at(id, head).await.map_err(problem)?;
        let messages = messages.into_iter().map(|message| reply::PromptMessage {
            role: convert::role(message.role),
            parts: convert::parts(message.parts),
        });
        Ok(Reply::Prompt(reply::Prompt { head: head.to_string(), messages: messages.collect() }))
    }

    pub(super) async fn targets(&self, targets: request::Targets) -> Result<Reply, Problem> {
        let id = self.conversation(&targets.conversation).await?;
        let before = self.entry_if(id, targets.before.as_deref()).await?;
        let (head, _) = self.engine.now_at(id).await.map_err(problem)?;
        let limit = limit(targets.limit, USUAL_PAGE)?;
        // One more, to find out whether there are more.
        let lines = self.engine.targets(id, before, limit + 1).await.map_err(problem)?;
        let (at_work, more) = (self.engine.is_running(id), lines.len() > limit);
        let targets = lines.into_iter().take(limit).map(|line| convert::target(line, at_work)).collect();
        Ok(Reply::Targets(reply::TargetPage { head: head.to_string(), targets, more }))
    }

    pub(super) async fn alternatives(&self, of: request::Alternatives) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        let entry = self.entry(id, &of.entry).await?;
        let (head, _) = self.engine.now_at(id).await.map_err(problem)?;
        let found = self.engine.alternatives(id, entry).await.map_err(problem)?;
        let after = found.into_iter().zip(1..).skip(of.after.unwrap_or_default());
        let alternatives = after.map(|(alternative, number)| reply::Alternative {
            number,
            current: alternative.current,
            line: convert::line(alternative.line),
        });
        let (alternatives, more) = page(alternatives, limit(of.limit, USUAL_PAGE)?);
        Ok(Reply::Alternatives(reply::Alternatives { head: head.to_string(), alternatives, more }))
    }

    pub(super) async fn marked(&self, of: request::Marked) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        // The entry there may be hidden itself.
        let before = match &of.before {
            Some(name) => self.engine.marked(id, name, Mark::ALL).await.map_err(problem)?.first().copied(),
            None => None,
        };
        let (head, _) = self.engine.now_at(id).await.map_err(problem)?;
        let page =
            self.engine.marked_page(id, before, limit(of.limit, USUAL_PAGE)?).await.map_err(problem)?;
        let marked = page.marked.into_iter().map(convert::marked).collect();
        Ok(Reply::Marked(reply::MarkedPage { head: head.to_string(), marked, more: page.more }))
    }

    pub(super) async fn ops(&self, page: request::Page) -> Result<Reply, Problem> {
        let id = self.conversation(&page.conversation).await?;
        let range = OpRange { before: page.before.map(OpNo), limit: limit(page.limit, USUAL_PAGE)? };
        let (head, _) = self.engine.now_at(id).await.map_err(problem)?;
        let page = self.engine.ops(id, range).await.map_err(problem)?;
        let operations = page.ops.into_iter().map(convert::operation).collect();
        Ok(Reply::Operations(reply::Operations { head: head.to_string(), operations, more: page.more }))
    }

    pub(super) async fn tree(&self, of: request::Tree) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        let limit = limit(of.limit, USUAL_PAGE)?;
        let (head, _) = self.engine.now_at(id).await.map_err(problem)?;
        let branches = self.engine.branches(id).await.map_err(problem)?;
        let mut forks = self.engine.forks(id).await.map_err(problem)?;
        if let Some(covered) = self.caller.readable() {
            forks.retain(|(summary, _)| covered.contains(&summary.id));
        }
        let forks = forks.into_iter().map(|(summary, from)| reply::ForkLine {
            conversation: summary.id.to_string(),
            title: summary.title.or(summary.own).unwrap_or(summary.preview),
            from: from.map(|id| id.to_string()),
        });
        let branches = branches.into_iter().map(|branch| InTree::Branch(Box::new(convert::branch(branch))));
        let all: Vec<InTree> = branches.chain(forks.map(InTree::Fork)).collect();
        let behind = match &of.after {
            Some(after) => all.iter().position(|it| it.id() == after).map(|at| at + 1).ok_or_else(|| {
                let fields = [("what", "tree".into()), ("place", after.as_str().into())];
                own_problem(ProblemKind::NotFound, "bad_place", &fields)
            })?,
            None => 0,
        };
        let (page, more) = page(all.into_iter().skip(behind), limit);
        let subagents = self.engine.subagents(id).await.map_err(problem)?.into_iter();
        let subagents = subagents.map(|(caller, summary)| reply::SubagentLine {
            running: self.engine.is_running(summary.id),
            conversation: summary.id.to_string(),
            title: summary.title.unwrap_or(summary.preview),
            entry: caller.entry.to_string(),
            call: caller.call,
        });
        let mut tree = reply::Tree {
            head: head.to_string(),
            branches: Vec::new(),
            forks: Vec::new(),
            subagents: subagents.collect(),
            more,
        };
        for it in page {
            match it {
                InTree::Branch(branch) => tree.branches.push(*branch),
                InTree::Fork(fork) => tree.forks.push(fork),
            }
        }
        Ok(Reply::Tree(tree))
    }

    pub(super) async fn search(&self, search: Search) -> Result<Reply, Problem> {
        let conversation = match &search.conversation {
            Some(name) => Some(self.conversation(name).await?),
            None => None,
        };
        let request = SearchRequest {
            query: search.query,
            conversation,
            role: search.role.map(convert::role_in),
            source: search.source,
            not_source: search.not_source.into_iter().collect(),
            from: search.from_ms.map(Time),
            to: search.to_ms.map(Time),
            sort: match search.sort {
                retake_wire::Sort::Rank => Sort::Rank,
                retake_wire::Sort::Newest => Sort::Newest,
                retake_wire::Sort::Oldest => Sort::Oldest,
            },
            offset: search.offset,
            limit: limit(search.limit, USUAL_HITS)?,
            include: Include { rewound: search.rewound, hidden: search.hidden },
            calls: CallWords(retake_wire::call_words),
        };
        let hits = self.engine.search(request).await.map_err(problem)?;
        Ok(Reply::Hits(retake_wire::Hits {
            hits: hits.hits.into_iter().map(convert::hit).collect(),
            more: hits.more,
            understood: hits.understood,
        }))
    }

    pub(super) async fn catch_up(&self, catch_up: request::CatchUp) -> Result<Reply, Problem> {
        let id = self.conversation(&catch_up.conversation).await?;
        self.changes(id, catch_up.since).await.map(Reply::Changes)
    }

    /// The changes since a revision.
    pub(crate) async fn changes(&self, id: ConversationId, since: u64) -> Result<reply::Changes, Problem> {
        let changes = self.engine.changes(id, Revision(since)).await.map_err(problem)?;
        self.wire_changes(id, changes).await
    }

    /// The same, if at most this many entries changed.
    pub(crate) async fn few_changes(
        &self,
        id: ConversationId,
        since: u64,
        most: u64,
    ) -> Result<Option<reply::Changes>, Problem> {
        match self.engine.few_changes(id, Revision(since), most).await.map_err(problem)? {
            Some(changes) => self.wire_changes(id, changes).await.map(Some),
            None => Ok(None),
        }
    }

    /// The data beside the log of a conversation.
    pub(crate) async fn beside(&self, id: ConversationId) -> Result<ConversationExtras, Problem> {
        let runs = self.engine.newest_runs(id).await.map_err(problem)?;
        let waiting =
            runs.iter().filter(|run| run.state == RunState::Queued).flat_map(|run| run.words.clone());
        Ok(ConversationExtras {
            running: runs.iter().any(|run| run.state == RunState::Running),
            waiting: waiting.map(crate::agent::words).collect(),
            permissions: self.settled(id).await?,
        })
    }

    async fn wire_changes(
        &self,
        id: ConversationId,
        changes: retake_core::Changes,
    ) -> Result<reply::Changes, Problem> {
        // This data is read after the log: it is at least as new as the revision.
        let ConversationExtras { running, waiting, permissions } = self.beside(id).await?;
        Ok(reply::Changes {
            running,
            waiting,
            permissions,
            revision: changes.revision.0,
            head: changes.head.to_string(),
            gone: changes.gone.iter().map(ToString::to_string).collect(),
            came: self.wire_entries(id, changes.came).await?,
            changed: self.wire_entries(id, changes.changed).await?,
        })
    }

    pub(super) async fn models(&self) -> Result<Reply, Problem> {
        let choice = self.engine.models().choose(None).await;
        let (default, cause, problem) = match choice {
            Ok(choice) => (choice.model.name().to_owned(), model_cause(choice.why), None),
            // The available ones can be listed anyway.
            Err(error) => {
                let default = self.settings.model.default.clone().unwrap_or_default();
                (default, ModelCause::Settings, Some(problem(retake_engine::EngineError::model(&error))))
            }
        };
        let offers = self.engine.models().list().await;
        let models = offers.into_iter().map(|offer| {
            let info = self.settings.model_info(&offer.name);
            let unavailable_cause = offer.unavailable.map(unavailable_cause);
            reply::Model {
                unavailable: unavailable_cause.as_ref().map(english::unavailable_cause),
                unavailable_cause,
                context_tokens: info.context_tokens,
                output_tokens: info.output_tokens,
                input_price: info.input_price,
                cached_input_price: info.cached_input_price,
                output_price: info.output_price,
                images: info.images,
                takes_effort: info.takes_effort,
                effort: info.sent_effort().map(effort),
                facts_from: self.settings.facts_from(&offer.name).map(facts_from),
                name: offer.name,
            }
        });
        let why = english::model_cause(&cause);
        let (warning, models) = (problem.as_ref().map(english::problem_with_causes), models.collect());
        Ok(Reply::Models(reply::Models { default, cause, why, problem, warning, models }))
    }
}
