//! Repeated measurements and their summary: the median, because a single slow disk write does not
//! change it.

use std::time::Instant;

/// The least number of repetitions.
pub(crate) const REPETITIONS: u64 = 30;

/// Runs a function; returns the microseconds and its result.
pub(crate) fn timed<T>(run: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(f64, T)> {
    let start = Instant::now();
    let value = run()?;
    Ok((start.elapsed().as_secs_f64() * 1e6, value))
}

/// The median of a number of runs, in microseconds.
pub(crate) fn median_of(runs: u64, mut run: impl FnMut(u64) -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let times = (0..runs).map(|number| timed(|| run(number)).map(|(time, ())| time));
    Ok(median(times.collect::<anyhow::Result<_>>()?))
}

/// The median; 0 for no samples.
pub(crate) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    match samples.len() {
        0 => 0.0,
        length if length % 2 == 1 => samples[middle],
        _ => (samples[middle - 1] + samples[middle]) / 2.0,
    }
}

/// A percentile.
pub(crate) fn at(samples: &[f64], percent: usize) -> f64 {
    let mut samples = samples.to_vec();
    samples.sort_by(f64::total_cmp);
    samples.get((samples.len() * percent / 100).min(samples.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![]), 0.0);
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 100.0]), 3.0);
    }
}
