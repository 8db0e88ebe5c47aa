//! Writes to the standard input of a job, and closes it. What a job does with its input is not known: a call needs an approval as a
//! command does.

use std::time::Duration;

use async_trait::async_trait;
use retake_core::{CallTarget, EffectClass, Intent};
use schemars::JsonSchema;
use serde::Deserialize;

use super::follow::{self, TICK};
use super::jobs::{RecordedJob, short};
use crate::arguments;
use crate::call::{Call, Output};
use crate::files::PathBase;
use crate::input_frames::{JobInputEnd, NotWritten};
use crate::own::OwnTool;

/// How long a job may take to read its input.
const TO_READ: Duration = Duration::from_secs(5);

/// The most bytes of one call.
const MOST: usize = 1 << 20;

/// What is written to a job.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InputArguments {
    /// The id of the job, from `shell` or `job_list`.
    id: String,
    /// The text, as it is: a line ends with a line break.
    #[serde(default)]
    text: String,
    /// Close its standard input after that.
    #[serde(default)]
    close: bool,
}

/// Writes to a job.
pub(super) struct JobInput;

#[async_trait]
impl OwnTool for JobInput {
    type Arguments = InputArguments;
    const NAME: &'static str = "job_input";
    const ABOUT: &'static str =
        "Writes to the standard input of a background job that was started with `input`, or closes it.";
    const CLASS: EffectClass = EffectClass::External;
    // The same answer may be due several times.
    const MAY_REPEAT: bool = true;

    fn intent(&self, given: InputArguments, _: &PathBase) -> Result<Intent, String> {
        let InputArguments { id, text, close } = given;
        let id = arguments::line(&id);
        if text.len() > MOST {
            return Err(format!("`text` is longer than {MOST} bytes; write it in several calls"));
        }
        let (line, touches) = match (text.is_empty(), close) {
            (true, false) => return Err("there is nothing to write in `text`, nor is `close` set".to_owned()),
            (true, true) => (format!("close the input of job {id}"), Vec::new()),
            (false, _) => {
                let then = if close { ", and close its input" } else { "" };
                (
                    format!("write to job {id}{then}: {}", arguments::line(&text)),
                    vec![CallTarget::Command(text.clone())],
                )
            }
        };
        let detail = text.trim_end().contains('\n').then_some(text);
        Ok(Intent { class: EffectClass::External, touches, line, detail })
    }

    async fn call(&self, call: Call, given: InputArguments) -> Result<Output, String> {
        let known = RecordedJob::of(&call, &given.id).await?;
        let id = short(&known.call);
        if follow::alive(&known.call).await == 0 {
            return Err(format!("job {id} has {}; nothing was written", known.state().await));
        }
        let (mut written, all) = (0, given.text.as_bytes());
        let done = write(&call, &known, all, given.close, &mut written).await;
        let of = format!("{written} of {} bytes were written", all.len());
        match done {
            Ok(()) if given.close => Ok(Output::ok(format!("{of} to job {id}; its input is closed"))),
            Ok(()) => Ok(Output::ok(format!("{of} to job {id}"))),
            Err(NotWritten::NoInput) => {
                Err(format!("job {id} has no input: start it with `background` and `input` to write to it"))
            }
            Err(NotWritten::Closed) => Err(format!("the input of job {id} is closed; {of}")),
            Err(NotWritten::Full) => Err(format!("job {id} does not read its input; {of}")),
            Err(NotWritten::Stopped) => Err(format!("{}; {of}", call.host.stopped_by())),
            Err(NotWritten::Failed(error)) => Err(format!("can't write to job {id}: {error}; {of}")),
        }
    }
}

/// Writes all of it, and waits for a while where the job is slow to read.
async fn write(
    call: &Call,
    known: &RecordedJob,
    all: &[u8],
    close: bool,
    written: &mut usize,
) -> Result<(), NotWritten> {
    let mut end = JobInputEnd::open(known.log().ok_or(NotWritten::NoInput)?)?;
    let (mut stopped, mut time) = (call.host.stopped(), call.host.sleep(TO_READ));
    loop {
        let done = match *written < all.len() {
            true => end.write(&all[*written..]),
            false if close => end.close().map(|()| 0),
            false => return Ok(()),
        };
        match done {
            Ok(0) => return Ok(()),
            Ok(more) => *written += more,
            Err(NotWritten::Full) => tokio::select! {
                biased;
                () = &mut stopped => return Err(NotWritten::Stopped),
                () = &mut time => return Err(NotWritten::Full),
                () = call.host.sleep(TICK) => {}
            },
            Err(other) => return Err(other),
        }
    }
}
