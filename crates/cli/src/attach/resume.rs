//! The events of a run over several owners: the next owner continues it. Must never show the same text twice.

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use retake_wire::{Client as _, Ended, Run, RunEvent, RunNotice};

use super::Attached;
use crate::connection::{LOST, own_notice};

/// Removes the text of a run that a new owner repeats.
#[derive(Default)]
struct ReplayFilter {
    told: String,
    /// The text from the new owner.
    again: Option<String>,
}

impl ReplayFilter {
    /// The new part of a text. The new owner may continue the answer, or repeat the model request and so send another answer.
    fn unheard(&mut self, text: String) -> Option<String> {
        let Self { told, again: Some(again) } = self else {
            self.told.push_str(&text);
            return Some(text);
        };
        let is_known = told.contains(&**again);
        again.push_str(&text);
        match (is_known, told.contains(&**again)) {
            (_, true) => None,
            (true, false) => again
                .strip_prefix(&**told)
                .map_or_else(|| Some(format!("\n{again}")), |more| Some(more.to_owned())),
            (false, false) => Some(text),
        }
    }
}

/// The events of a run. If its owner ends, the next owner continues it, by the same request id.
pub(super) fn resume_run(
    attached: Attached,
    run: Run,
    events: BoxStream<'static, RunEvent>,
) -> BoxStream<'static, RunEvent> {
    let state = (attached, run, events, ReplayFilter::default());
    let next = |(attached, run, mut events, mut heard): (
        Attached,
        Run,
        BoxStream<'static, RunEvent>,
        ReplayFilter,
    )| async move {
        loop {
            match events.next().await? {
                RunEvent::Ended(ended)
                    if heard.again.is_none() && ended.problem.as_ref().is_some_and(|it| it.code == LOST) =>
                {
                    heard.again = Some(String::new());
                    let again = async { attached.again().await?.run(run.clone()).await };
                    match again.await {
                        Ok(again) => events = again,
                        Err(problem) => {
                            let ended = Ended { problem: Some(problem), ..*ended };
                            let event = RunEvent::Ended(Box::new(ended));
                            return Some((event, (attached, run, stream::empty().boxed(), heard)));
                        }
                    }
                    let event = own_notice(RunNotice::OwnerReplaced);
                    return Some((event, (attached, run, events, heard)));
                }
                RunEvent::Started { .. } | RunEvent::Reasoning { .. } if heard.again.is_some() => {}
                RunEvent::Text { text } => {
                    if let Some(text) = heard.unheard(text) {
                        return Some((RunEvent::Text { text }, (attached, run, events, heard)));
                    }
                }
                event => return Some((event, (attached, run, events, heard))),
            }
        }
    };
    stream::unfold(state, next).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(before: &[&str], after: &[&str]) -> String {
        let mut heard = ReplayFilter::default();
        let mut said: String = before.iter().filter_map(|text| heard.unheard((*text).to_owned())).collect();
        heard.again = Some(String::new());
        said.push('|');
        said.extend(after.iter().filter_map(|text| heard.unheard((*text).to_owned())));
        said
    }

    #[test]
    fn text_that_a_new_owner_repeats_is_shown_once() {
        assert_eq!(heard(&["one ", "two "], &["one two "]), "one two |");
        assert_eq!(heard(&["one ", "two "], &["one "]), "one two |", "a little less was stored");
        assert_eq!(heard(&["one ", "two "], &["one two three ", "four"]), "one two |three four");
        assert_eq!(heard(&["one ", "two "], &["one ", "two ", "three ", "four"]), "one two |three four");
        assert_eq!(heard(&["one ", "two "], &["one ", "three ", "two "]), "one two |\none three two ");
        assert_eq!(heard(&[], &["one ", "two"]), "|one two");
    }
}
