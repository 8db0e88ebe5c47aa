//! Fake chat platforms for tests: what all of them share (faults, a virtual clock, a log of calls, events that can be delivered
//! again), and the platforms. A fake must never do what nobody has verified: an unverified fact is no success.

mod control;
pub mod discord;
mod events;
mod serving;
pub mod slack;
mod socket;
pub mod telegram;

pub use control::{Call, Control, Fault, Refusal};
pub use events::Events;
pub use serving::{Serving, lost};
pub use socket::{Socket, accept};
