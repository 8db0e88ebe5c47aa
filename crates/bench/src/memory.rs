//! What a turn recalls: the newest facts, and those with some words, out of facts in few and in many conversations.

use std::time::Instant;

use retake_core::{MemoryRequest, MemoryScope};
use retake_engine::MemoryChange;

use crate::MemoryArguments;
use crate::report::Report;
use crate::samples::median;
use crate::turn::Desk;

/// The conversations of the smaller measurement.
const FEW: u64 = 10;

/// The facts that a turn gets at most.
const LIMIT: usize = 20;

/// Measures everything.
pub(crate) fn run(arguments: &MemoryArguments) -> anyhow::Result<Report> {
    let folder = crate::own_folder(&arguments.dir)?;
    let mut report = Report::default();
    report.text("version", env!("CARGO_PKG_VERSION"));
    report.count("conversations", arguments.conversations);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut newest = Vec::new();
        for (name, count) in [("few", FEW), ("many", arguments.conversations)] {
            let desk = Desk::open_with(&folder.path().join(name), Vec::new()).await?;
            let engine = desk.engine();
            for number in 0..count {
                let conversation = desk.begin(None).await?;
                let words = format!("fact {number} of the year {}", 1900 + number % 100);
                let change = MemoryChange::Remember(words, MemoryScope::Folder, None);
                engine.change_memory(conversation, change, engine.by(None)).await?;
            }
            let reader = desk.begin(None).await?;
            for (what, words) in [("newest", None), ("words", Some("year 1907".to_owned()))] {
                let unknown_to = words.is_none().then_some(reader);
                let mut times = Vec::new();
                for _ in 0..arguments.runs {
                    let request = MemoryRequest {
                        words: words.clone(),
                        limit: LIMIT,
                        unknown_to,
                        ..MemoryRequest::default()
                    };
                    let start = Instant::now();
                    let facts = engine.memory_in(reader, request).await?;
                    times.push(start.elapsed().as_secs_f64() * 1e6);
                    anyhow::ensure!(facts.len() <= LIMIT && !facts.is_empty(), "{} facts", facts.len());
                }
                let time = median(times);
                report.add(format!("{what}_{name}_us"), time);
                newest.push(time);
            }
        }
        report.measure("newest_many_to_few", newest[2] / newest[0]);
        report.measure("words_many_to_few", newest[3] / newest[1]);
        anyhow::Ok(())
    })?;
    Ok(report)
}
