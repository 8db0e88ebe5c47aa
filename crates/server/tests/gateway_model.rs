//! Random messages, edits, commands, faults, kills and restarts in several places of a chat, with the real owner and the real gateway,
//! beside a naive model: nothing is answered twice or lost, and the chat shows what the path and the ledger say.

mod check;
mod owner;
mod platform;
mod play;
mod talk;
mod tally;

use play::Play;
use tally::Tally;

/// Sequences of a usual run. They run beside each other.
const SEQUENCES: usize = 10;

/// Steps of a sequence.
const STEPS: usize = 60;

/// The number of additional steps, if this variable is set, in sequences of the usual length.
const OPERATIONS: &str = "RETAKE_MODEL_OPERATIONS";

/// One sequence alone, if this variable is set.
const SEED: &str = "RETAKE_MODEL_SEED";

/// The seeds of a run: fixed ones, and new ones.
fn seeds() -> Vec<u64> {
    if let Ok(seed) = std::env::var(SEED) {
        return vec![seed.parse().expect("a number")];
    }
    let operations = std::env::var(OPERATIONS).map_or(0, |text| text.parse().expect("a number"));
    let fixed = (1..=SEQUENCES as u64 / 2).chain(std::iter::repeat_with(|| fastrand::u64(..1 << 32)));
    fixed.take(SEQUENCES + operations / STEPS).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_shows_what_the_path_and_the_ledger_say() {
    let mut tally = Tally::default();
    for seeds in seeds().chunks(SEQUENCES) {
        let plays: Vec<_> =
            seeds.iter().map(|seed| (*seed, tokio::spawn(Play::whole(*seed, STEPS)))).collect();
        for (seed, play) in plays {
            tally += play.await.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }
    if std::env::var_os(SEED).is_none() {
        tally.assert_wide();
    }
}
