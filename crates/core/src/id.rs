//! Names of things: ids, positions, heads. Each has its own type, so that none can be mistaken for another.
//!
//! Core creates no ids: it has no randomness, ids come from outside.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Uuid);

        impl $name {
            /// The id with these bytes.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Its bytes.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                text.parse().map(Self).map_err(|_| BadId { what: stringify!($name), text: text.to_owned() })
            }
        }
    };
}

uuid_id! {
    /// A conversation (UUIDv7).
    ConversationId
}
uuid_id! {
    /// An entry (UUIDv7). Never changes; unique in the tree of forks that shares a root.
    EntryId
}

/// A text that is not a valid id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("“{text}” is not a valid {what}")]
pub struct BadId {
    pub(crate) what: &'static str,
    pub(crate) text: String,
}

/// A point in time, in milliseconds since 1970-01-01 UTC. Never used for order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(pub i64);

/// The number of an operation in its conversation: 1, 2, 3 …; 0 is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpNo(pub u64);

impl OpNo {
    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for OpNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of an entry in its log: 1, 2, 3 … without gaps; 0 is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seq(pub u64);

/// The number of a conversation's commits, the scheduler's included. Orders events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The position of an entry: a log of the lineage, and the `seq` in it.
///
/// `depth` counts forks: 0 is the root conversation's log, 1 that of a fork of it, and so on down to the current conversation.
/// Along any path positions only grow, so their order is the order of the path
///.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pos {
    /// Number of forks between the root conversation and the one that owns the log.
    pub depth: u32,
    /// Number of the entry in that log, from 1.
    pub seq: u64,
}

impl Pos {
    /// The position of entry `seq` in the log at `depth`.
    pub const fn new(depth: u32, seq: u64) -> Self {
        Self { depth, seq }
    }
}

/// The name of a state: the number of the last operation and of the last entry. It only grows, so it names one state for ever.
/// Written `OP.SEQ`, as in `12.340`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Head {
    /// The last operation.
    pub op: OpNo,
    /// The last entry of the conversation's own log.
    pub seq: Seq,
}

impl Head {
    /// The head with operation `op` and last entry `seq`.
    pub const fn new(op: u64, seq: u64) -> Self {
        Self { op: OpNo(op), seq: Seq(seq) }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.op.0, self.seq.0)
    }
}

/// The limit of each number of a head, which has at most 15 digits.
const LARGEST: u64 = 1_000_000_000_000_000;

impl FromStr for Head {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = || BadId { what: "head (OP.SEQ, such as 12.340)", text: text.to_owned() };
        let (op, seq) = text.split_once('.').ok_or_else(bad)?;
        let number = |text: &str| text.parse().ok().filter(|number| *number < LARGEST).ok_or_else(bad);
        Ok(Self::new(number(op)?, number(seq)?))
    }
}

/// The number of a workspace, a folder that conversations work in, in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkspaceNo(pub u64);

/// The number of a log (a conversation) in its store; never shown to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogNo(pub i64);

/// The longest request id, in bytes.
const REQUEST_ID_MAX: usize = 128;

/// A client's name for one request: a repeated request gets the recorded receipt. Printable ASCII, 1 to 128 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(String);

impl RequestId {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of step `at` (from 2) of a request with several steps. The first step has the request's own id.
    ///
    /// # Errors
    ///
    /// The id is too long: with the number it has more than 128 characters.
    pub fn of_step(&self, at: usize) -> Result<Self, BadId> {
        format!("{self}~{at}").parse()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for RequestId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let fits = (1..=REQUEST_ID_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadId { what: "request id (1 to 128 printable ASCII characters)", text: text.to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_head_is_parsed_back() {
        let head = Head::new(12, 340);
        assert_eq!(head.to_string().parse(), Ok(head));
        for bad in ["", "12", "12.", ".3", "a.b", "-1.2", "1.2.3"] {
            assert!(bad.parse::<Head>().is_err(), "{bad}");
        }
    }

    #[test]
    fn request_ids_are_short_and_printable() {
        assert!("a-1_б".parse::<RequestId>().is_err());
        assert!("".parse::<RequestId>().is_err());
        assert!("x y".parse::<RequestId>().is_err());
        assert!("x".repeat(129).parse::<RequestId>().is_err());
        assert_eq!("x".repeat(128).parse::<RequestId>().map(|id| id.as_str().len()), Ok(128));
    }

    #[test]
    fn numbers_of_a_head_have_at_most_fifteen_digits() {
        assert_eq!("1.999999999999999".parse(), Ok(Head::new(1, 999_999_999_999_999)));
        assert!(
            "1.1000000000000000".parse::<Head>().is_err() && "1000000000000000.1".parse::<Head>().is_err()
        );
    }

    #[test]
    fn ids_are_shown_as_they_are_read() {
        let request: RequestId = "r-1".parse().expect("an id");
        assert_eq!((request.to_string(), OpNo(12).to_string()), ("r-1".to_owned(), "12".to_owned()));
        assert_eq!(request.of_step(2).map(|id| id.to_string()), Ok("r-1~2".to_owned()));
        assert!("x".repeat(127).parse::<RequestId>().expect("an id").of_step(2).is_err());
        let text = "01890000-0000-7000-8000-000000000001";
        let entry: EntryId = text.parse().expect("an id");
        assert_eq!((entry.to_string().as_str(), format!("{entry:?}")), (text, format!("EntryId({text})")));
        assert!("no id".parse::<ConversationId>().is_err());
        assert_eq!((OpNo(1).next(), Revision(1).next()), (OpNo(2), Revision(2)));
    }
}
