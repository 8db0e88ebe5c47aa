//! Formatters: they run on the files that a call has written, and their changes belong to it. The model gets each change, so that
//! it knows the new version. Must never let a formatter's failure hide that the edit has succeeded.

use std::path::Path;
use std::time::Duration;

use retake_core::Fact;

use super::{FileNames, Programs, Written};
use crate::call::Call;
use crate::files::{PathBase, Place, content, seen, unknown, whole_hunks};
use crate::mcp::text::line;
use crate::shell::{ProgramRun, run_program};

/// How long a formatter may take.
const LIMIT: Duration = Duration::from_secs(10);

/// The longest reason for a failure.
const REASON: usize = 300;

/// A program that formats files in place.
#[derive(Clone, Debug)]
pub struct Formatter {
    /// Its name in the settings.
    pub name: String,
    /// The files that it formats.
    pub files: FileNames,
    /// The program and its arguments; the paths of the files follow.
    pub command: Vec<String>,
}

/// A version of a file; `None` if it is not there, or is no file.
type Version = Option<Vec<u8>>;

impl Programs {
    /// Runs the formatters, and stores what is known of the files. Returns remarks for the result.
    pub(super) async fn format(
        &self,
        call: &Call,
        ground: &PathBase,
        files: &[Written],
        facts: &mut Vec<Fact>,
    ) -> Vec<String> {
        let mut remarks = Vec::new();
        for formatter in &self.formatters {
            let fitting = files.iter().filter(|file| formatter.files.fit(&file.place.path));
            let places: Vec<Place> = fitting.clone().map(|file| file.place.clone()).collect();
            let before = versions(places).await;
            let there: Vec<(&Written, Vec<u8>)> =
                fitting.zip(before).filter_map(|(file, version)| Some((file, version?))).collect();
            let Some((first, _)) = there.first() else { continue };
            let places: Vec<Place> = there.iter().map(|(file, _)| file.place.clone()).collect();
            let failed = self.run(formatter, call, &places, &first.root).await;
            let after = versions(places).await;
            for ((file, before), after) in there.iter().zip(after) {
                let shown = ground.shown(&file.place.path);
                let (fact, change) = match after {
                    Some(after) if after == *before => continue,
                    Some(after) => match whole_hunks(before, &after) {
                        Some(hunks) => {
                            let change = format!("changed {shown}, and you know its result:]{hunks}");
                            (seen(&file.place, &after), change)
                        }
                        None => {
                            (unknown(&file.place), format!("changed {shown}: read it before you edit it]"))
                        }
                    },
                    None => (unknown(&file.place), format!("removed {shown}]")),
                };
                facts.push(fact);
                remarks.push(format!("[the formatter {} {change}", formatter.name));
            }
            if let Err(why) = failed {
                let why = line(&why, REASON);
                remarks.push(format!("[the formatter {} failed, and the edit stays: {why}]", formatter.name));
            }
        }
        remarks
    }

    async fn run(
        &self,
        formatter: &Formatter,
        call: &Call,
        places: &[Place],
        root: &Path,
    ) -> Result<(), String> {
        let paths = places.iter().filter_map(|place| place.path.to_str());
        let words: Vec<String> =
            formatter.command.iter().map(String::as_str).chain(paths).map(str::to_owned).collect();
        let within = Call { roots: call.writable.clone(), ..call.clone() };
        let program = ProgramRun { words: &words, folder: root, input: None, network: false, limit: LIMIT };
        run_program(&self.shell, &within, program).await.map_err(|failure| failure.to_string())
    }
}

/// The current versions of files.
async fn versions(places: Vec<Place>) -> Vec<Version> {
    let read = move || places.iter().map(content).collect();
    // Without them, nothing is known of the files.
    crate::blocking(read).await.unwrap_or_default()
}
