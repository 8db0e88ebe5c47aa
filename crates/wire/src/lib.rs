//! The interface between clients and the owner. It contains only types, and must never know the store, the engine or a terminal.
//!
//! Everything that a client does is a [`Request`] or a [`Run`], sent through a [`Client`]. No verb is written twice.

mod access;
mod action;
mod agent;
mod ask_cause;
mod attach;
mod call_refusal;
pub mod chat;
mod client;
mod command_file;
mod condition;
mod content;
pub mod english;
mod event;
mod files;
mod git_file;
mod hint;
mod hooks;
pub mod http;
mod mark;
mod mcp;
mod mcp_remark;
mod model_facts;
mod notice;
mod op_summary;
mod problem;
mod problem_code;
pub mod reply;
pub mod request;
mod run;
mod sandbox;
mod search;
#[cfg(feature = "schema")]
mod shape;
mod told;

pub use access::{
    Demand, Grant, LONGEST_LIFE_S, MOST_GRANTS, Need, NewToken, Over, Principal, Right, Token, TokenCreate,
    TokenTarget, Tokens,
};
pub use action::Action;
pub use agent::{
    CallEnded, CallShown, Decision, EffectClass, Mode, PendingApproval, Permit, Question, Rule, Ruling, Steer,
};
pub use ask_cause::AskCause;
pub use attach::{
    Attach, CLIENT, CLIENTS, LEAVE, LEAVING, NOT_PERMITTED, Number, OwnerAfterLeave, PROTOCOL, Ready,
    UNAUTHORIZED,
};
pub use call_refusal::CallRefusal;
pub use client::Client;
#[cfg(feature = "client")]
pub use client::{HttpClient, OwnerAddress};
pub use command_file::{CommandFile, CommandFiles, CommandKind, CommandOrigin, CommandsOf};
pub use condition::{
    Condition, FolderRemark, LeftPath, MarkCount, ModelCause, PathCause, PathChange, ReadOnlyCause,
    StepRefusal, UnavailableCause, UncertainWhen, UncoveredCause, UncoveredPath,
};
pub use content::{Part, RecalledFact, Role, SentCall, Usage};
pub use event::{CallNow, Changed, Event, Follow, NumberedEvent, RunNow, Snapshot};
pub use files::{
    AfterChoice, AuthorKind, BlockingAuthor, CallLine, Choice, ChoiceOutcome, Choose, FileCounts, FileName,
    FileOptions, FilesDone, FilesOfOthers, FilesPlan, Grade, PathHunks, PathPlan, Scope, Verdict,
};
pub use git_file::{GitFileChange, GitFileRole};
pub use hint::{Hint, HintPiece, Remedy};
pub use hooks::{Hook, HookApprove, HookOrigin, HookRevoke, HookState, Hooks, HooksOf};
pub use mark::{Mark, MarkVerb};
pub use mcp::{
    McpAdd, McpAllow, McpApproval, McpOf, McpOrigin, McpRemove, McpServer, McpServers, McpState, McpTool,
    McpTools, McpWay,
};
pub use mcp_remark::McpRemark;
pub use model_facts::{Effort, FactsFrom};
pub use notice::{ChangedGitFile, MentionOutcome, ModelFailure, NoticeCause, RunNotice};
pub use op_summary::{MessageName, OpSummary, OperationKind, OperationReason, PlannedStep, UndoneStep};
pub use problem::{Problem, ProblemKind};
pub use problem_code::ProblemCode;
pub use reply::Reply;
pub use request::Request;
pub use run::{Attached, Ended, Outcome, Run, RunEvent, RunStart};
pub use sandbox::{SandboxCause, SandboxFact};
pub use search::{Hit, HitState, Hits, Search, Sort};
pub use told::{call_line, call_words, shell_word};
