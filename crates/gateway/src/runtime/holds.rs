//! The names under which holds are stored. A bucket that the platform names is stored once for each kind of call in it, because
//! only the calls say to which work it applies. Must never lose a hold.

use std::str::FromStr as _;

use crate::rate::{Bucket, Call, Hold};

const CALLS: &[(Call, &str)] =
    &[(Call::Send, "send"), (Call::Edit, "edit"), (Call::Delete, "delete"), (Call::Other, "other")];

/// The stored names of a hold.
pub(super) fn names(hold: &Hold) -> Vec<String> {
    let Bucket::Named(name) = &hold.bucket else { return vec![hold.bucket.to_string()] };
    let stored = |(chat, call): &(String, Call)| {
        let (_, kind) = CALLS.iter().find(|(it, _)| it == call).expect("BUG: each kind has a name");
        format!("call:{}", serde_json::json!([kind, chat, name]))
    };
    hold.calls.iter().map(stored).collect()
}

/// The hold of a stored name. A name that nobody knows holds the whole account.
pub(super) fn read(name: &str, until_ms: i64) -> Hold {
    let of_calls = || {
        let (kind, chat, bucket): (String, String, String) =
            serde_json::from_str(name.strip_prefix("call:")?).ok()?;
        let (call, _) = CALLS.iter().find(|(_, it)| *it == kind)?;
        Some(Hold { bucket: Bucket::Named(bucket), until_ms, calls: vec![(chat, *call)] })
    };
    of_calls().unwrap_or_else(|| {
        let bucket = Bucket::from_str(name).unwrap_or(Bucket::Account);
        Hold { bucket, until_ms, calls: Vec::new() }
    })
}

/// Until when calls of a kind in a chat are held, if they are.
pub(super) fn until(holds: &[Hold], chat: &str, call: Call) -> Option<i64> {
    let is_meant = |hold: &&Hold| match &hold.bucket {
        Bucket::Account => true,
        Bucket::Chat(it) => it == chat,
        Bucket::Named(_) => hold.calls.iter().any(|(it, kind)| it == chat && *kind == call),
    };
    holds.iter().filter(is_meant).map(|hold| hold.until_ms).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_hold_is_in_force_for_the_same_calls() {
        let calls = vec![("!a:b\"c".to_owned(), Call::Edit), ("2".to_owned(), Call::Delete)];
        let holds = [
            Hold { bucket: Bucket::Account, until_ms: 5, calls: Vec::new() },
            Hold { bucket: Bucket::Chat("a:b".into()), until_ms: 5, calls: Vec::new() },
            Hold { bucket: Bucket::Named("x:y".into()), until_ms: 5, calls },
        ];
        for hold in holds {
            let stored = names(&hold);
            let back: Vec<Hold> = stored.iter().map(|name| read(name, 5)).collect();
            assert_eq!(back.iter().flat_map(|it| it.calls.clone()).collect::<Vec<_>>(), hold.calls);
            assert!(back.iter().all(|it| it.bucket == hold.bucket), "{stored:?}");
        }
        assert_eq!(read("call:[1]", 5).bucket, Bucket::Account);
    }
}
