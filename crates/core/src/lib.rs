//! The core of Retake: log, state and operations, as pure functions.
//!
//! It must never do I/O, wait, read a clock or draw random numbers: its input is data, its decisions are rows to
//! append. Read in this order: the ids, the path, the state's components, the operations, the decisions, the
//! projections.

mod access;
mod atom;
mod call_refusal;
mod chat;
mod confinement;
mod content;
mod conversation;
mod decide;
mod digest;
mod draft;
mod effect;
mod entry;
mod extent;
mod files;
mod fold;
mod id;
mod kept;
mod mark;
mod marked;
pub mod mcp;
mod memory;
pub mod name;
mod op;
mod outbox;
mod path;
mod permission;
mod plan;
mod preview;
mod principal;
mod prompt;
mod prompt_size;
mod ranges;
mod reading;
mod records;
mod refusal;
mod remedy;
mod request;
mod run;
mod session;
mod shell_line;
mod shell_word;
mod shortening;
mod state;
#[cfg(test)]
mod testing;
mod tree;
mod turn;
mod turns;
mod undo_history;
mod upkeep;
mod verb;
mod view;
mod walk;

pub use access::{AccessToken, Grant, GrantScope, Grants, Right, TokenUse};
pub use call_refusal::CallRefusal;
pub use chat::{
    ArrivalOutcome, AskedStep, ChatAccount, ChatArrival, ChatBinding, ChatButton, ChatEntry, ChatMessageRow,
    ChatNotice, ChatNoticeKind, ChatOrigin, ChatPerson, ChatPlace, ChatQuestion, ChatRole, ChatShare,
    Deletion, PlacePosts, Post, PostCounts, PostFailure, PostKey, PostKind, PostNo, PostResult, PostStanding,
    PostState, PostTask, PostWork, Preview, SendAttempt, StayCause, join_pieces, missing_parts, post_counts,
    split_joined, step_posts,
};
pub use confinement::{NoSandbox, SandboxFact};
pub use content::{
    COMMAND_PROMPT, CallForm, Fact, Part, Role, Source, ToolOutcome, Usage, calls_as_run, clean, joined_text,
};
pub use conversation::{AnswerPlace, ChangeOrigin, Commit, Conversation, Say, SeenState};
pub use decide::{FoldRequest, MarkRequest, Targets};
pub use digest::Digest;
pub use draft::{Draft, DraftPiece, DraftPlace, ShownDraft};
pub use effect::{CallTarget, Effect, EffectClass, EffectState, Intent};
pub use entry::{Entry, Flags, Meta, Totals, count_calls, opens_turn};
pub use extent::{FilesExtent, FilesRemark};
pub use files::{
    BadFilePath, BadHunks, BlockingAuthor, Choice, ChoiceOutcome, Chosen, Clash, Clashed, ClashedBy,
    ContentHash, CurrentPath, DeltaId, DesiredState, DiffHunks, EarlierStep, FileChange, FilePath, FilePlan,
    FileTotals, GitBack, GitFile, GitFileChange, GitFileRole, GitMove, GitPlace, GitRef, GitRemark,
    GitWorktree, GitWorktreeMove, Grade, HunkDefect, Layer, LeftPath, LeftReason, MergeBytes, Merged, Moves,
    NoSuchHunks, PathChange, PathDefect, PathList, PathMove, PathPlan, PathReason, PlanInput, PutBack,
    Rebuilt, Record, ReturningPaths, Stack, Uncertain, Uncovered, UncoveredReason, Verdict, WantedPath,
    merge, without_full_folders,
};
pub use fold::{Fold, FoldId, Foldable, FoldableRange, Folds, Normal};
pub use id::{
    BadId, ConversationId, EntryId, Head, LogNo, OpNo, Pos, RequestId, Revision, Seq, Time, WorkspaceNo,
};
pub use kept::{KeepState, Kept, KeptChange, KeptPath, Scope, Undecided};
pub use mark::{Mark, MarkChange, Marks};
pub use marked::Marked;
pub use memory::{
    FactsChanged, MEMORY_WORDS_MAX, MemoryFact, MemoryId, MemoryRequest, MemoryScope, ProvidedFact, RECALLED,
    REMEMBERED, Recalled, RecalledWords, provided_text, recalled_parts, recalled_text,
};
pub use op::{Change, LabelTarget, Operation, Reason};
pub use outbox::{
    Attempt, Claim, DELIVERY_MAX, Delivery, DeliveryEntry, DeliveryEvent, DeliveryOrder, DeliveryTerms,
    OutboxFailure, OutboxItem, OwedKind, Pending, PendingOp, Told, delivery_extent, owed,
};
pub use path::{Path, Span};
pub use permission::{AskCause, BadRule, CallRuling, Mode, Permission, Rule, RuleDefect, Ruling};
pub use plan::Plan;
pub use preview::{PREVIEW_MAX, preview, shorten};
pub use principal::{Principal, is_name};
pub use prompt::{Message, NO_MESSAGE, NO_RESULT, repaired, summary_message};
pub use prompt_size::{CountedAnswer, PromptSizes, parts_weight};
pub use ranges::{RangeChange, Ranges};
pub use reading::{Difference, Include, Piece, Projection, PromptPiece, Visibility, difference};
pub use records::Records;
pub use refusal::Refusal;
pub use remedy::{Field, Remedy};
pub use request::{
    Action, Apply, ArchiveState, CallWords, Caller, ListRequest, NewConversation, NewFork, NewSubagent,
    OpRange, PageRequest, Reading, Receipt, SayRequest, SearchRequest, Sort,
};
pub use run::{
    Fence, NewRun, Run, RunEffect, RunEnding, RunGround, RunInput, RunNo, RunRefusal, RunState, Runs,
    STALE_AFTER_MS, Steer, Stepped, Tail, Words,
};
pub use session::{
    Access, AnsweredRequest, CommandResult, Session, SessionAnswer, SessionCommand, Ticket, WaitCondition,
};
pub use shell_line::{PlainCommand, PlainLine, PlainWord, WordKind, plain_line};
pub use shell_word::shell_word;
pub use shortening::{Shortening, WholeResult};
pub use state::State;
pub use tree::{Leaf, LogSegment, Tree};
pub use turn::{CallAsked, CallPrint, SAME_RESULTS, Turn, TurnEffect, TurnEnd, TurnInput};
pub use turns::Target;
pub use undo_history::{Step, UndoHistory};
pub use upkeep::{BackupInfo, CheckMode, Checked, Finding, Repair};
pub use verb::Traits;
pub use view::{
    Alternative, Branch, CallLine, Capture, ChangeEvent, ChangeKind, Changes, CommitEvent, DeltaLine,
    EntryLine, EntryPage, Hit, Hits, MarkedLine, MarkedPage, Moved, NetChange, OpLine, OpPage, Planned,
    ReadOnly, ReceiptDetails, RunResult, ShownEntry, StartedCall, StepLine, StepTarget, Steps, Summary,
    TargetLine, TurnWork, Unanswered, WorkspaceInfo,
};
