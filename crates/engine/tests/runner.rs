//! The integration tests of the engine, as one program.

mod again;
mod agent;
mod chats;
mod files;
mod outbox;
mod poster;
mod previews;
mod providers;
mod raw;
mod readings;
mod transfer;
mod turns;
