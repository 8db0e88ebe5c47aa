//! Waits for a job: for its end, for new output or for a text in its output, with a time limit. Waiting must never change the job.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;

use memchr::memmem;
use schemars::JsonSchema;
use serde::Deserialize;

use super::follow::{self, TICK};
use super::jobs;
use crate::call::Call;

/// The default time limit.
const LIMIT_S: u64 = 60;

/// The longest time limit.
const MOST_S: u64 = 600;

/// The number of looks at the output for each look at the processes, which takes longer.
const LOOKS: u32 = 5;

/// The bytes of output that are searched at once.
const PIECE: usize = 256 << 10;

/// What is waited for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WaitFor {
    End,
    Output,
    Text,
}

/// A wait as it is requested.
pub(super) struct Wait {
    what: WaitFor,
    text: Vec<u8>,
    limit: Duration,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// The job has ended.
    Ended,
    /// It has printed what was waited for.
    Printed,
    /// The time is over.
    TimeOver,
    /// The call was stopped.
    Stopped,
}

impl Wait {
    /// The wait with these arguments; none without `wait`.
    pub(super) fn of(
        what: Option<WaitFor>,
        text: Option<String>,
        limit_s: Option<u64>,
    ) -> Result<Option<Self>, String> {
        let limit = Duration::from_secs(limit_s.unwrap_or(LIMIT_S).clamp(1, MOST_S));
        let text = text.unwrap_or_default().into_bytes();
        match (what, text.is_empty()) {
            (Some(WaitFor::Text), true) => Err("`wait: text` needs the text in `text`".to_owned()),
            (Some(WaitFor::End | WaitFor::Output) | None, false) => {
                Err("`text` is only for `wait: text`".to_owned())
            }
            (None, true) if limit_s.is_some() => Err("`wait_s` needs `wait`".to_owned()),
            (what, _) => Ok(what.map(|what| Self { what, text, limit })),
        }
    }

    /// Whether it waits for something that the job prints.
    pub(super) fn is_for_output(&self) -> bool {
        self.what != WaitFor::End
    }

    /// The byte from which on output counts, with the log as it is now.
    pub(super) fn from(&self, log: Option<&Path>, from: Option<u64>) -> Option<u64> {
        let now = || log.and_then(|log| Some(jobs::open(log).ok()?.metadata().ok()?.len()));
        from.or_else(|| if self.what == WaitFor::Output { now() } else { None })
    }

    /// Waits for a job, whose output is in this log, from a byte on.
    pub(super) async fn wait(&self, call: &Call, job: &str, log: Option<&Path>, from: Option<u64>) -> Waited {
        let mut search = Search { text: self.text.clone(), next: from.unwrap_or_default() };
        let (mut stopped, mut time) = (call.host.stopped(), call.host.sleep(self.limit));
        for look in 0_u32.. {
            // Checked first: output before its end is then included.
            let has_ended = look.is_multiple_of(LOOKS) && follow::alive(job).await == 0;
            let has_printed = match self.what {
                WaitFor::End => false,
                WaitFor::Output => self.from(log, None) > from,
                WaitFor::Text => {
                    let Some(log) = log.map(Path::to_owned) else { return Waited::Ended };
                    let look = move || (search.finds(&log), search);
                    let Ok((finds, next)) = crate::blocking(look).await else { return Waited::Stopped };
                    search = next;
                    finds
                }
            };
            if has_printed {
                return Waited::Printed;
            }
            if has_ended {
                return Waited::Ended;
            }
            tokio::select! {
                biased;
                () = &mut stopped => return Waited::Stopped,
                () = &mut time => return Waited::TimeOver,
                () = call.host.sleep(TICK) => {}
            }
        }
        Waited::TimeOver
    }

    /// Whether the wait has brought what was waited for.
    pub(super) fn is_met(&self, waited: Waited) -> bool {
        match waited {
            Waited::Printed => true,
            Waited::Ended => self.what == WaitFor::End,
            Waited::TimeOver | Waited::Stopped => false,
        }
    }

    /// The note on how it ended.
    pub(super) fn said(&self, waited: Waited, stopped_by: &str) -> String {
        let text = || String::from_utf8_lossy(&self.text).into_owned();
        match (waited, self.what) {
            (Waited::Printed, WaitFor::Text) => format!("[it has printed “{}”]", text()),
            (Waited::Printed, _) => "[it has printed something]".to_owned(),
            (Waited::Ended, WaitFor::End) => "[it has ended]".to_owned(),
            (Waited::Ended, WaitFor::Output) => "[it has ended, and printed nothing more]".to_owned(),
            (Waited::Ended, WaitFor::Text) => format!("[it has ended, and never printed “{}”]", text()),
            (Waited::TimeOver, _) => format!("[the {} s are over]", self.limit.as_secs()),
            (Waited::Stopped, _) => format!("[the wait was {stopped_by}]"),
        }
    }
}

/// The search for a text in a growing log.
struct Search {
    text: Vec<u8>,
    /// Where the next look begins.
    next: u64,
}

impl Search {
    /// Whether the text is in what came since the last look. A log that cannot be read has nothing.
    fn finds(&mut self, log: &Path) -> bool {
        let Ok(mut file) = jobs::open(log) else { return false };
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if file.seek(SeekFrom::Start(self.next)).is_err()
                || file.by_ref().take((PIECE + self.text.len()) as u64).read_to_end(&mut bytes).is_err()
            {
                return false;
            }
            if memmem::find(&bytes, &self.text).is_some() {
                return true;
            }
            // Its beginning may be at the end of what was read.
            let done = bytes.len().saturating_sub(self.text.len() - 1);
            self.next += done as u64;
            if done < PIECE {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_however_it_arrives() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("a.log");
        let whole = ["x".repeat(PIECE - 1), "ready now".to_owned(), "y".repeat(2 * PIECE)].concat();
        for cut in [0, PIECE - 1, PIECE, PIECE + 3, PIECE + 5, PIECE + 8, whole.len()] {
            let mut search = Search { text: b"ready".to_vec(), next: 0 };
            std::fs::write(&log, &whole[..cut]).expect("written");
            assert_eq!(search.finds(&log), cut >= PIECE + 4, "{cut}");
            std::fs::write(&log, &whole).expect("written");
            assert!(cut >= PIECE + 4 || search.finds(&log), "{cut}");
        }
        assert!(!Search { text: b"ready".to_vec(), next: PIECE as u64 }.finds(&log));
        assert!(!Search { text: b"ready".to_vec(), next: 0 }.finds(&folder.path().join("none")));
    }
}
