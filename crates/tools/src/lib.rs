//! What a model can do to the world: its tools, and the MCP servers that bring more.
//!
//! A tool carries out the model's request and reports the result. It must never decide about its permission: core
//! does, called by the engine. It has no state of its own: a [`Fact`](retake_core::Fact) on the path has it, so that a
//! rewind reverts it. It does not know the store, captures or a terminal. The engine captures the folder before and
//! after each call that may write, whatever the tool reports.

mod after_edit;
mod arguments;
mod ask;
mod blocking;
mod call;
mod call_environment;
mod cgroup;
pub mod destination;
mod fetch;
mod files;
mod guarded;
mod input_frames;
mod kept;
mod language;
mod listed;
pub mod mcp;
mod memory;
mod own;
mod piped_process;
mod plan;
pub mod processes;
mod regular;
mod repair;
mod sandbox;
mod secret;
mod set;
mod shell;
mod skill;
mod spooled_output;
mod subagent;
mod supervisor;
pub mod tls;
mod todo;
pub mod umask;

pub use after_edit::{AfterEdit, FileNames, Formatter, with_programs};
pub use ask::ask_tool;
pub use blocking::blocking;
pub use call::{Attached, Call, Host, Output, Piece, SubagentTask, ToolQuestion};
pub use call_environment::CallEnvironment;
pub use fetch::{FetchConfig, fetch_tool};
pub use files::{IgnoreRules, file_tools, read_fact};
pub use guarded::{BadItem, Guard, Guarded, check_guarded};
pub use kept::keep;
pub use language::LanguageServer;
pub use memory::memory_tools;
pub use plan::{MODE_FACT, PLAN_TOOL, plan_tool};
pub use repair::{Repair, RepairedCall, repair};
pub use sandbox::{Sandbox, Sandboxed, is_closed};
pub use secret::Secrets;
pub use set::{Schema, Tool, Toolbox, schema_of};
pub use shell::{
    Confined, Network, ProgramFailure, ProgramRun, SHELL, ShellConfig, class_of, code_of, is_log_of,
    run_program, shell_tools,
};
pub use skill::{SkillText, skill_tool};
pub use subagent::{SUBAGENT, subagent_tool};
pub use supervisor::{Supervisor, supervise};
pub use todo::todo_tool;
