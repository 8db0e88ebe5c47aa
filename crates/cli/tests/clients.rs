//! The results for people and scripts, with a scripted client: standard output, standard error, exit code and requests together.

mod branches;
mod files;
mod fixtures;
mod folder;
mod scripted;

mod agent;
mod chat;
mod chat_more;
mod chats;
mod commands;
mod errors;
mod folders;
mod hooks;
mod json;
mod marked;
mod mcp;
mod owner;
mod rendering;
mod tokens;
mod verbs;
