//! Chat platforms for tests: fakes, and a real Matrix server as a separate process. What all fakes share: faults, a virtual clock, a log
//! of calls, and events that can be delivered again. A fake must never do what nobody has verified: an unverified fact is no success.

mod control;
pub mod discord;
mod events;
mod serving;
pub mod slack;
mod socket;
pub mod synapse;
pub mod telegram;

pub use control::{Call, Control, Fault, Refusal};
pub use events::Events;
pub use serving::{Serving, lost};
pub use socket::{Socket, accept};
