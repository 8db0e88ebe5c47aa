//! What happens after an edit: formatters, and language servers.

mod formatters;
mod real;
mod servers;
mod stage;
