//! Replies for people: one text per kind, aligned to the width of the terminal. Must never show untrusted text that has not
//! passed [`crate::text::safe`]. Must never read a clock or the terminal: [`crate::text::Look`] is a parameter.

use retake_wire::Reply;

use crate::text::{Look, Text};

pub mod about;
pub mod agent;
pub mod calls;
pub mod chat;
pub mod commands;
pub mod content;
pub mod context;
pub mod effects;
pub mod elsewhere;
pub mod entries;
pub mod files;
pub mod flow;
pub mod folder;
pub mod hits;
pub mod hooks;
pub mod id;
pub mod lists;
pub mod mcp;
pub mod outbox;
pub mod owner;
pub mod plan;
pub mod posts;
pub mod receipt;
pub mod table;
pub mod tokens;
pub mod tree;
pub mod words;
pub mod workspace;

/// Any reply as text.
pub fn reply(look: &Look, reply: &Reply) -> Text {
    match reply {
        Reply::Receipt(it) => receipt::earlier(look, it),
        Reply::Done => "done\n".into(),
        Reply::Work(work) => work.doing.map(|doing| format!("{}\n", words::doing(doing))).into(),
        Reply::Plan(it) => plan::plan(look, it),
        Reply::Conversations(it) => lists::conversations(look, it),
        Reply::Conversation(it) => lists::conversation(look, it),
        Reply::Entries(it) => entries::entries(look, it),
        Reply::Prompt(it) => entries::prompt(look, it),
        Reply::Targets(it) => lists::targets(look, it),
        Reply::Alternatives(it) => lists::alternatives(look, it),
        Reply::Marked(it) => lists::marked(look, it),
        Reply::Operations(it) => lists::operations(look, it),
        Reply::Tree(it) => tree::tree(look, it),
        Reply::Hits(it) => hits::hits(look, it),
        Reply::Changes(it) => entries::list(look, &it.came, &[], &[]) + format!("revision {}\n", it.revision),
        Reply::Chunk(it) => it.text.as_str().into(),
        Reply::Models(it) => lists::models(look, it),
        Reply::CommandFiles(it) => commands::commands(look, it),
        Reply::Hooks(it) => hooks::hooks(look, it),
        Reply::McpServers(it) => mcp::servers(look, it),
        Reply::McpTools(it) => mcp::tools(look, it),
        Reply::Written(it) => lists::written(it).into(),
        Reply::Report(it) => lists::report(look, it),
        Reply::Captures(it) => files::captures(look, it),
        Reply::Workspaces(it) => files::workspaces(look, it),
        Reply::FilesStatus(it) => folder::status(it),
        Reply::Differences(it) => folder::differences(it),
        Reply::Workspace(it) => workspace::shown(look, it),
        Reply::Pruned(it) => workspace::pruned(it),
        Reply::Memory(it) => lists::memory(look, it),
        Reply::Todo(it) => agent::todo(look, it),
        Reply::Jobs(it) => agent::jobs(look, it),
        Reply::JobOutput(it) => agent::job_output(look, it),
        Reply::Tools(it) => agent::tools(look, it),
        Reply::Permissions(it) => agent::permissions(look, it),
        Reply::Waiting(it) => agent::waiting(look, it),
        Reply::Context(it) => context::context(look, it),
        Reply::Cost(it) => agent::cost(look, it),
        Reply::People(it) => chat::people(look, it),
        Reply::Places(it) => chat::places(look, it),
        Reply::Posts(it) => chat::posts(look, it),
        // Gateways read these, and people do not.
        Reply::GatewayConnected(_) | Reply::Arrived(_) | Reply::GatewayWork(_) | Reply::GatewaySettled(_) => {
            Text::new()
        }
        Reply::NewToken(it) => tokens::new_token(it),
        Reply::Tokens(it) => tokens::tokens(look, it),
        Reply::Outbox(it) => outbox::outbox(look, it),
        Reply::Status(it) => owner::status(look, it).into(),
        Reply::Draft(it) => content::parts(look, &it.parts, 0),
        Reply::Paths(it) => lists::paths(it).into(),
        Reply::History(it) => {
            it.prompts.iter().map(|prompt| crate::text::safe::line(prompt).into_owned() + "\n").collect()
        }
    }
}
