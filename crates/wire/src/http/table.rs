//! The table of endpoints: the method, path and reply of every request. One line each.

use super::Endpoint;
use super::Method::{self, Delete, Get, Patch, Post, Put};

/// Starts a run. The response is the stream of its events.
pub const RUNS: &str = "/v1/runs";

/// Subscribes to a conversation. The response is the stream of its events.
pub const EVENTS: &str = "/v1/conversations/{conversation}/events";

/// Subscribes to the list of conversations. The response is the stream of its events.
pub const LIST_EVENTS: &str = "/v1/events";

/// A complete export. The response is its text, streamed while it is read.
pub const EXPORT: &str = "/v1/conversations/{conversation}/export/stream";

/// An import. The request body contains its lines.
pub const IMPORT: &str = "/v1/imports/stream";

/// Every request except runs.
pub const ENDPOINTS: &[Endpoint] = &[
    row("create", Post, "/v1/conversations", "receipt"),
    row("list", Get, "/v1/conversations", "conversations"),
    row("info", Get, "/v1/conversations/{conversation}", "conversation"),
    row("set_archived", Put, "/v1/conversations/{conversation}/archived", "done"),
    row("fork", Post, "/v1/conversations/{conversation}/forks", "receipt"),
    row("say", Post, "/v1/conversations/{conversation}/entries", "receipt"),
    row("log", Get, "/v1/conversations/{conversation}/entries", "entries"),
    row("edit", Put, "/v1/conversations/{conversation}/entries/{entry}", "receipt"),
    row("alternatives", Get, "/v1/conversations/{conversation}/entries/{entry}/alternatives", "alternatives"),
    row("marked", Get, "/v1/conversations/{conversation}/marks", "marked"),
    asks("plan", "/v1/conversations/{conversation}/plans", "plan"),
    row("apply", Post, "/v1/conversations/{conversation}/operations", "receipt"),
    row("ops", Get, "/v1/conversations/{conversation}/operations", "operations"),
    row("targets", Get, "/v1/conversations/{conversation}/targets", "targets"),
    row("tree", Get, "/v1/conversations/{conversation}/tree", "tree"),
    row("prompt", Get, "/v1/conversations/{conversation}/prompt", "prompt"),
    row("catch_up", Get, "/v1/conversations/{conversation}/changes", "changes"),
    asks("context", "/v1/conversations/{conversation}/context", "context"),
    row("cost", Get, "/v1/conversations/{conversation}/cost", "cost"),
    row("cancel", Delete, "/v1/conversations/{conversation}/run", "done"),
    row("waiting", Get, "/v1/conversations/{conversation}/waiting", "waiting"),
    row("unqueue", Delete, "/v1/conversations/{conversation}/waiting", "waiting"),
    row("decide", Post, "/v1/conversations/{conversation}/approvals/{id}", "done"),
    row("respond", Post, "/v1/conversations/{conversation}/questions/{id}", "done"),
    row("draft", Get, "/v1/conversations/{conversation}/draft", "draft"),
    row("set_draft", Put, "/v1/conversations/{conversation}/draft", "done"),
    row("claim_draft", Post, "/v1/conversations/{conversation}/draft/claims", "draft"),
    row("todo", Get, "/v1/conversations/{conversation}/todo", "todo"),
    row("jobs", Get, "/v1/conversations/{conversation}/jobs", "jobs"),
    row("job_output", Get, "/v1/conversations/{conversation}/jobs/{job}", "job_output"),
    row("job_stop", Delete, "/v1/conversations/{conversation}/jobs/{job}", "jobs"),
    row("tools", Get, "/v1/conversations/{conversation}/tools", "tools"),
    row("permissions", Get, "/v1/conversations/{conversation}/permissions", "permissions"),
    row("set_permissions", Patch, "/v1/conversations/{conversation}/permissions", "permissions"),
    row("checkpoint", Post, "/v1/conversations/{conversation}/checkpoints", "captures"),
    row("files_log", Get, "/v1/conversations/{conversation}/captures", "captures"),
    row("files_status", Get, "/v1/conversations/{conversation}/files", "files_status"),
    asks("files_diff", "/v1/conversations/{conversation}/differences", "differences"),
    row("export", Get, "/v1/conversations/{conversation}/export", "chunk"),
    row("import_start", Post, "/v1/imports", "receipt"),
    row("import_lines", Post, "/v1/imports/{conversation}/lines", "done"),
    row("import_end", Post, "/v1/imports/{conversation}/end", "receipt"),
    row("earlier_request", Get, "/v1/requests/{key}", "receipt"),
    row("search", Get, "/v1/search", "hits"),
    row("list_memory", Get, "/v1/memory", "memory"),
    row("memory_home", Put, "/v1/memory/home", "receipt"),
    row("remember", Post, "/v1/conversations/{conversation}/memory", "receipt"),
    row("edit_memory", Put, "/v1/conversations/{conversation}/memory/{fact}", "receipt"),
    row("forget", Delete, "/v1/conversations/{conversation}/memory/{fact}", "receipt"),
    row("history", Get, "/v1/history", "history"),
    row("draft_in", Get, "/v1/draft", "draft"),
    row("set_draft_in", Put, "/v1/draft", "done"),
    row("claim_draft_in", Post, "/v1/draft/claims", "draft"),
    row("paths", Get, "/v1/conversations/{conversation}/paths", "paths"),
    row("folder_paths", Get, "/v1/paths", "paths"),
    row("models", Get, "/v1/models", "models"),
    row("command_files", Get, "/v1/commands", "command_files"),
    row("mcp_list", Get, "/v1/mcp/servers", "mcp_servers"),
    row("mcp_tools", Get, "/v1/mcp/tools", "mcp_tools"),
    row("mcp_add", Post, "/v1/mcp/servers", "written"),
    row("mcp_remove", Delete, "/v1/mcp/servers/{name}", "written"),
    row("mcp_allow", Post, "/v1/mcp/servers/{name}/approval", "written"),
    row("hooks_list", Get, "/v1/hooks", "hooks"),
    row("hook_approve", Post, "/v1/hooks/{name}/approval", "hooks"),
    row("hook_revoke", Delete, "/v1/hooks/{name}/approval", "hooks"),
    row("workspaces", Get, "/v1/workspaces", "workspaces"),
    row("workspace_show", Get, "/v1/workspaces/{workspace}", "workspace"),
    row("workspace_forget", Delete, "/v1/workspaces/{workspace}", "workspace"),
    row("workspace_prune", Post, "/v1/workspaces/prune", "pruned"),
    row("status", Get, "/v1/status", "status"),
    row("stop", Post, "/v1/stop", "done"),
    row("work", Get, "/v1/work", "work"),
    row("outbox", Get, "/v1/outbox", "outbox"),
    row("outbox_retry", Post, "/v1/outbox/attempts", "outbox"),
    row("outbox_drop", Post, "/v1/outbox/drops", "outbox"),
    row("gateway_connect", Post, "/v1/gateways/{account}/connection", "gateway_connected"),
    row("arrive", Post, "/v1/gateways/{account}/arrivals", "arrived"),
    row("gateway_cursor", Put, "/v1/gateways/{account}/cursor", "done"),
    row("gateway_take", Post, "/v1/gateways/{account}/work", "gateway_work"),
    row("gateway_settle", Post, "/v1/gateways/{account}/posts/{post}", "gateway_settled"),
    row("gateway_hold", Put, "/v1/gateways/{account}/holds/{bucket}", "done"),
    row("pair", Post, "/v1/people", "people"),
    row("unpair", Delete, "/v1/people/{account}/{person}", "people"),
    row("people_list", Get, "/v1/people", "people"),
    row("bind", Post, "/v1/places", "places"),
    row("place_list", Get, "/v1/places", "places"),
    row("posts", Get, "/v1/conversations/{conversation}/posts", "posts"),
    row("token_create", Post, "/v1/tokens", "new_token"),
    row("token_list", Get, "/v1/tokens", "tokens"),
    row("token_revoke", Delete, "/v1/tokens/{name}", "tokens"),
    row("backup", Post, "/v1/backups", "written"),
    row("doctor", Post, "/v1/doctor", "report"),
];

const fn row(name: &'static str, method: Method, path: &'static str, reply: &'static str) -> Endpoint {
    Endpoint { name, method, path, reply, reads: matches!(method, Get) }
}

/// A request that changes nothing although it has a body.
const fn asks(name: &'static str, path: &'static str, reply: &'static str) -> Endpoint {
    Endpoint { reads: true, ..row(name, Post, path, reply) }
}
