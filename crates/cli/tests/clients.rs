//! What people and scripts see, against a client that answers from a script: standard output, standard error, exit code and requests
//! together.

mod branches;
mod files;
mod fixtures;
mod folder;
mod scripted;

mod agent;
mod chat;
mod chat_more;
mod errors;
mod folders;
mod json;
mod marked;
mod mcp;
mod owner;
mod rendering;
mod verbs;
