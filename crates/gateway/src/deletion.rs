//! Which posts are deleted together, as data: for all platforms, by their capabilities. Must never leave a post out.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::Duration;

use crate::adapter::Probe;
use crate::capabilities::{Capabilities, DeletionWindow};

/// How long before a limit of age we stop relying on it: our clock and the platform's differ, and a call takes time.
const MARGIN: Duration = Duration::from_mins(2);

/// A post that is to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPost {
    /// Its platform id.
    pub id: String,
    /// When it was sent, by the platform's clock, in Unix milliseconds.
    pub sent_ms: i64,
}

/// The calls that delete these posts of one chat, each with the ids of its posts: one id is a single deletion, several are a batch.
/// A post that is too old for a batch is deleted by itself. The nearest deadline goes first; where there is none, the newest post.
pub fn batches(
    capabilities: &Capabilities,
    probe: Probe,
    posts: &[OwnPost],
    now_ms: i64,
) -> Vec<Vec<String>> {
    // An id that is in a batch twice makes some platforms refuse all of it.
    let mut known = HashSet::new();
    let mut posts: Vec<&OwnPost> = posts.iter().filter(|post| known.insert(&post.id)).collect();
    match capabilities.deletes {
        DeletionWindow::Hard(_) | DeletionWindow::Policy => posts.sort_by_key(|post| post.sent_ms),
        DeletionWindow::Always | DeletionWindow::Never => posts.sort_by_key(|post| Reverse(post.sent_ms)),
    }
    let is_permitted = matches!(probe, Probe::Yes { bulk: true });
    let Some(bulk) = capabilities.bulk.filter(|_| is_permitted) else {
        return posts.into_iter().map(|post| vec![post.id.clone()]).collect();
    };
    let oldest = i64::try_from(bulk.oldest.saturating_sub(MARGIN).as_millis()).unwrap_or(i64::MAX);
    let is_young = |post: &&OwnPost| now_ms.saturating_sub(post.sent_ms) < oldest;
    let (young, old): (Vec<&OwnPost>, Vec<&OwnPost>) = posts.into_iter().partition(is_young);
    let ids = |posts: &[&OwnPost]| posts.iter().map(|post| post.id.clone()).collect::<Vec<_>>();
    let mut calls = Vec::new();
    for part in young.chunks(bulk.most.max(1)) {
        if part.len() >= bulk.least.max(2) {
            calls.push(ids(part));
        } else {
            calls.extend(part.iter().map(|post| ids(&[post])));
        }
    }
    calls.extend(old.iter().map(|post| ids(&[post])));
    calls
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{OwnPost, batches};
    use crate::adapter::Probe;
    use crate::capabilities::{
        BulkDeletion, Capabilities, CommandPrefix, DeletionWindow, LengthUnit, Remains,
    };

    const DAY_MS: i64 = 86_400_000;
    const NOW_MS: i64 = 1_790_000_000_000;

    fn platform(deletes: DeletionWindow, bulk: Option<BulkDeletion>) -> Capabilities {
        Capabilities {
            platform: "test",
            title: "Test",
            commands: CommandPrefix::Slash,
            longest: 1_000,
            unit: LengthUnit::Chars,
            deletes,
            bulk,
            remains: Remains::Nothing,
            edits_are_messages: false,
            edits: true,
            resend: &[],
            previews: [false, false],
            buttons: false,
            ephemeral: false,
            spacing: [Duration::ZERO; 2],
        }
    }

    fn like_discord() -> Capabilities {
        let bulk = BulkDeletion { least: 2, most: 100, oldest: Duration::from_hours(14 * 24) };
        platform(DeletionWindow::Always, Some(bulk))
    }

    fn like_telegram() -> Capabilities {
        let window = Duration::from_hours(48);
        let bulk = BulkDeletion { least: 1, most: 100, oldest: window };
        platform(DeletionWindow::Hard(window), Some(bulk))
    }

    fn aged(id: usize, age_ms: i64) -> OwnPost {
        OwnPost { id: id.to_string(), sent_ms: NOW_MS - age_ms }
    }

    fn lengths(calls: &[Vec<String>]) -> Vec<usize> {
        calls.iter().map(Vec::len).collect()
    }

    /// Case 53: only recent posts go into a batch, and only with the permission.
    #[test]
    fn gateways_case_53_old_posts_and_posts_without_permission_are_deleted_singly() {
        let posts =
            [aged(1, 15 * DAY_MS), aged(2, 1_000), aged(3, 2_000), aged(4, 15 * DAY_MS), aged(5, 3_000)];
        let calls = batches(&like_discord(), Probe::Yes { bulk: true }, &posts, NOW_MS);
        assert_eq!(calls, [vec!["2", "3", "5"], vec!["1"], vec!["4"]]);
        for probe in [Probe::Yes { bulk: false }, Probe::Unknown, Probe::NotPermitted] {
            assert_eq!(lengths(&batches(&like_discord(), probe, &posts, NOW_MS)), [1; 5], "{probe:?}");
        }
        let none = platform(DeletionWindow::Always, None);
        assert_eq!(lengths(&batches(&none, Probe::Yes { bulk: true }, &posts, NOW_MS)), [1; 5]);
        // The clocks may differ by the margin.
        let edge = [aged(1, 14 * DAY_MS - 60_000), aged(2, 14 * DAY_MS - 180_000), aged(3, 0)];
        let calls = batches(&like_discord(), Probe::Yes { bulk: true }, &edge, NOW_MS);
        assert_eq!(calls, [vec!["3", "2"], vec!["1"]]);
    }

    /// Case 51: 250 posts are three calls.
    #[test]
    fn gateways_case_51_many_posts_are_few_calls_and_the_nearest_deadline_goes_first() {
        let posts: Vec<OwnPost> = (0..250).map(|id| aged(id, i64::try_from(id).unwrap() * 1_000)).collect();
        let calls = batches(&like_telegram(), Probe::Yes { bulk: true }, &posts, NOW_MS);
        assert_eq!(lengths(&calls), [100, 100, 50]);
        assert_eq!((calls[0][0].as_str(), calls[2][49].as_str()), ("249", "0"));
    }

    #[test]
    fn one_post_more_than_a_batch_is_deleted_singly_and_one_id_only_once() {
        let mut posts: Vec<OwnPost> = (0..101).map(|id| aged(id, 1_000)).collect();
        posts.push(posts[0].clone());
        assert_eq!(lengths(&batches(&like_discord(), Probe::Yes { bulk: true }, &posts, NOW_MS)), [100, 1]);
    }

    proptest! {
        #[test]
        fn every_post_is_in_exactly_one_call(
            ages in proptest::collection::vec(0..20 * DAY_MS, 0..230),
            bulk: bool,
        ) {
            let posts: Vec<OwnPost> = ages.iter().enumerate().map(|(id, age)| aged(id, *age)).collect();
            for platform in [like_discord(), like_telegram()] {
                let calls = batches(&platform, Probe::Yes { bulk }, &posts, NOW_MS);
                prop_assert!(calls.iter().all(|call| (1..=100).contains(&call.len())));
                let mut ids: Vec<String> = calls.concat();
                let mut expected: Vec<String> = posts.iter().map(|post| post.id.clone()).collect();
                ids.sort();
                expected.sort();
                prop_assert_eq!(ids, expected);
            }
        }
    }
}
