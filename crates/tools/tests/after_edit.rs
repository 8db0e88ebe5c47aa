//! What happens after an edit: formatters, and language servers.

mod formatters;
mod servers;
mod stage;
