//! How a gateway is, for those who run it. Must never decide anything.

use std::sync::Arc;

use tokio::sync::watch;

use crate::failure::Failure;

/// How a gateway is. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<watch::Sender<Condition>>);

/// How a gateway is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// It has not reached its platform yet.
    #[default]
    Starting,
    /// It works, as far as is known.
    Works,
    /// It goes on trying after this failure.
    Fails(Failure),
}

impl Health {
    /// How the gateway is now, and each change.
    pub fn watch(&self) -> watch::Receiver<Condition> {
        self.0.subscribe()
    }

    /// A failure that the gateway tries to get over. Returns whether it is news: the same one again is none.
    pub(super) fn fails(&self, failure: &Failure) -> bool {
        self.0.send_if_modified(|known| {
            let is_news = !matches!(known, Condition::Fails(known) if is_same(known, failure));
            if is_news {
                *known = Condition::Fails(failure.clone());
            }
            is_news
        })
    }

    /// The platform answers.
    pub(super) fn works(&self) {
        self.0.send_if_modified(|known| std::mem::replace(known, Condition::Works) != Condition::Works);
    }
}

/// Whether two failures are the same for a person: a wait of another length is no news.
fn is_same(one: &Failure, other: &Failure) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_is_news_once_until_the_platform_answers() {
        let health = Health::default();
        let mut seen = health.watch();
        assert!(health.fails(&Failure::Unreachable));
        assert!(!health.fails(&Failure::Unreachable));
        assert_eq!(*seen.borrow_and_update(), Condition::Fails(Failure::Unreachable));
        assert!(health.fails(&Failure::Unreadable), "another one");
        health.works();
        assert_eq!(*seen.borrow_and_update(), Condition::Works);
        health.works();
        assert!(!seen.has_changed().expect("it lives"));
        assert!(health.fails(&Failure::Unreachable));
    }
}
