//! Requests about the agent. It must only translate.

use std::time::SystemTime;

use retake_core::{BadRule, ConversationId, Rule, Ruling, Words};
use retake_engine::{Confinement, ContextParts, OfferedTool, PermissionChange};
use retake_wire::request::{LARGEST_PAGE, USUAL_PAGE};
use retake_wire::{Problem, Reply, SandboxFact, english, reply, request};

use super::{limit, page};
use crate::InProcess;
use crate::agent::{class, decision_in, mode, mode_in, rule, rule_in, ruling, words};
use crate::convert::{misused, parts_in, problem, run_notice, sandbox_cause, sandbox_fact};

impl InProcess {
    pub(super) async fn decide(&self, decide: request::Decide) -> Result<Reply, Problem> {
        let id = self.conversation(&decide.conversation).await?;
        self.engine.decide(id, &decide.id, decision_in(decide.decision)).map_err(problem)?;
        Ok(Reply::Done)
    }

    pub(super) async fn respond(&self, respond: request::Respond) -> Result<Reply, Problem> {
        let id = self.conversation(&respond.conversation).await?;
        self.engine.respond(id, &respond.id, respond.answer).map_err(problem)?;
        Ok(Reply::Done)
    }

    pub(super) async fn todo(&self, of: request::ConversationTarget) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        let items = self.engine.todo(id).await.map_err(problem)?.into_iter().map(|item| reply::TodoItem {
            text: item.text,
            state: match item.state {
                retake_engine::TodoState::Pending => reply::TodoState::Open,
                retake_engine::TodoState::Doing => reply::TodoState::Doing,
                retake_engine::TodoState::Done => reply::TodoState::Done,
            },
        });
        Ok(Reply::Todo(reply::Todo { items: items.collect() }))
    }

    pub(super) async fn jobs(&self, of: request::Jobs) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        let limit = limit(of.limit, USUAL_PAGE)?;
        let jobs = self.engine.jobs_of(id, of.before.as_deref()).await.map_err(problem)?;
        let (jobs, more) = page(jobs.into_iter().rev().map(job), limit);
        Ok(Reply::Jobs(reply::Jobs { jobs, more }))
    }

    pub(super) async fn job_output(&self, of: request::JobOutput) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        let printed = self.engine.job_output(id, &of.job, of.from).await.map_err(problem)?;
        let retake_engine::JobPrinted { job: of, from, text, to } = printed;
        Ok(Reply::JobOutput(reply::JobPrinted { job: job(of), from, text, to }))
    }

    pub(super) async fn job_stop(&self, of: request::JobTarget) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        self.engine.job_stop(id, &of.job).await.map_err(problem)?;
        let limit = Some(LARGEST_PAGE);
        self.jobs(request::Jobs { conversation: of.conversation, limit, before: None }).await
    }

    pub(super) async fn tools(&self, of: request::ConversationTarget) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        let tools = self.engine.offered_tools(id).await.map_err(problem)?;
        let tools = tools.into_iter().map(|OfferedTool { name, about, class: of, ruling: always }| {
            reply::Tool { name, about, class: class(of), ruling: always.map(ruling) }
        });
        Ok(Reply::Tools(reply::Tools { tools: tools.collect() }))
    }

    pub(super) async fn permissions(&self, of: request::ConversationTarget) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        self.settled(id).await.map(Reply::Permissions)
    }

    /// The permissions of a conversation's agent.
    pub(super) async fn settled(&self, id: ConversationId) -> Result<reply::Permissions, Problem> {
        let settled = self.engine.settled_rules(id).await.map_err(problem)?;
        let shown = |for_good| move |of| reply::ScopedRule { rule: rule(of), for_good };
        let rules = settled.for_good.into_iter().map(shown(true));
        let rules = rules.chain(settled.own.into_iter().map(shown(false))).collect();
        let commands = self.commands();
        let weaknesses: Vec<_> =
            Confinement::weaknesses(&self.settings).into_iter().map(sandbox_fact).collect();
        let weaker = weaknesses.iter().map(english::sandbox_fact).collect();
        Ok(reply::Permissions { mode: mode(settled.mode), rules, commands, weaknesses, weaker })
    }

    /// The confinement of commands, by the settings and on this machine.
    fn commands(&self) -> reply::Commands {
        match Confinement::of(&self.settings) {
            Confinement::Free(why) => {
                let cause = sandbox_cause(why);
                reply::Commands::Free { why: english::sandbox_cause(&cause), cause }
            }
            Confinement::NetworkOpen => reply::Commands::Open,
            Confinement::NetworkOnRequest => reply::Commands::Asking,
            Confinement::NetworkClosed => reply::Commands::Closed,
        }
    }

    /// What confines commands and what does not, including rules of the settings that allow any
    /// command.
    pub(super) fn confinement(&self) -> Vec<SandboxFact> {
        let rules = self.engine.permission_for_all().rules;
        let wide = rules.into_iter().filter(|it| it.allows_anything());
        let wide = wide.map(|it| SandboxFact::WideRule { rule: rule(it) });
        Confinement::report(&self.settings).into_iter().map(sandbox_fact).chain(wide).collect()
    }

    pub(super) async fn set_permissions(&self, set: request::SetPermissions) -> Result<Reply, Problem> {
        let id = self.conversation(&set.conversation).await?;
        let add = set.add.iter().map(|text| text.parse().map_err(|bad| bad_rule(&bad)));
        let change = PermissionChange {
            mode: set.mode.map(mode_in),
            add: add.collect::<Result<_, _>>()?,
            remove: set.remove.into_iter().map(rule_in).collect(),
        };
        self.engine.set_permission(id, change).await.map_err(problem)?;
        self.permissions(request::ConversationTarget { conversation: set.conversation }).await
    }

    pub(super) async fn waiting(&self, of: request::ConversationTarget) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        Ok(waiting(self.engine.waiting(id).await.map_err(problem)?))
    }

    pub(super) async fn unqueue(&self, of: request::ConversationTarget) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        Ok(waiting(self.engine.unqueue(id).await.map_err(problem)?))
    }

    pub(super) async fn context(&self, of: request::ContextQuery) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        let mut parts = parts_in(of.parts)?;
        // Its size would tell of a file that the message names.
        parts.extend(self.untrusted_mark().filter(|_| !parts.is_empty()));
        let it = self.engine.context(id, of.model.as_deref(), parts).await.map_err(problem)?;
        let ContextParts { system, notes, summaries, messages, results } = it.parts;
        Ok(Reply::Context(reply::Context {
            model: it.model,
            limit: it.limit,
            summarised_at: it.summarised_at,
            used: it.used,
            basis: match it.is_counted {
                true => reply::ContextBasis::Counted,
                false => reply::ContextBasis::Estimated,
            },
            parts: reply::ContextParts { system, notes, summaries, messages, results },
            warning: it.warning.map(run_notice),
        }))
    }

    pub(super) async fn cost(&self, of: request::ConversationTarget) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        let cost = |model: &str, usage: &retake_core::Usage| self.settings.cost(model, usage);
        let used = self.engine.used(id, cost).await.map_err(problem)?;
        let models = used.into_iter().map(|used| reply::ModelCost {
            model: used.model,
            answers: used.answers,
            unknown: used.unknown,
            usage: retake_wire::Usage {
                input_tokens: used.usage.input_tokens,
                cached_input_tokens: used.usage.cached_input_tokens,
                output_tokens: used.usage.output_tokens,
                cost_usd: used.cost,
            },
        });
        Ok(Reply::Cost(reply::Cost { models: models.collect() }))
    }

    /// The additional permissions of one run.
    pub(super) fn permit(&self, permit: retake_wire::Permit) -> Result<retake_engine::Permit, Problem> {
        let rules =
            permit.allow.iter().map(|text| Rule::read(Ruling::Allow, text).map_err(|bad| bad_rule(&bad)));
        Ok(retake_engine::Permit { mode: permit.mode.map(mode_in), rules: rules.collect::<Result<_, _>>()? })
    }

    /// What happens to a message during a run.
    pub(super) fn steer(&self, steer: Option<retake_wire::Steer>) -> Option<retake_core::Steer> {
        Some(match steer? {
            retake_wire::Steer::Queue => retake_core::Steer::Queue,
            retake_wire::Steer::Join => retake_core::Steer::Join,
            retake_wire::Steer::Interrupt => retake_core::Steer::Interrupt,
            retake_wire::Steer::Usual => self.settings.agent.steering,
        })
    }
}

fn bad_rule(bad: &BadRule) -> Problem {
    misused(bad.why().name(), &[("rule", bad.text().into())])
}

fn job(job: retake_engine::JobShown) -> reply::JobLine {
    let exit_code = job.code.filter(|_| !job.running);
    reply::JobLine {
        job: job.call,
        command: job.command,
        running: job.running,
        since_ms: job.since.and_then(unix_ms),
        exit_code,
        ended: exit_code.map(english::exit_code),
        printed: job.printed,
    }
}

fn unix_ms(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_millis()).ok()
}

fn waiting(all: Vec<Words>) -> Reply {
    Reply::Waiting(reply::Waiting { words: all.into_iter().map(words).collect() })
}
