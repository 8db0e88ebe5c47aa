//! Times of messages, which are their ids: text such as `1790000000.000100`, never a number, because a number cannot hold them. Must
//! never be used for anything but comparing and showing times.

/// The time in Unix milliseconds.
pub(super) fn ms(ts: &str) -> Option<i64> {
    let (seconds, fraction) = ts.split_once('.').unwrap_or((ts, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(seconds) || !is_number(fraction) {
        return None;
    }
    let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
    seconds.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(thousandths.parse().ok()?)
}

/// The id of a moment.
pub(super) fn of_ms(ms: i64) -> String {
    let ms = ms.max(0);
    format!("{}.{:03}000", ms / 1000, ms % 1000)
}

/// What sorts ids by time.
pub(super) fn order(ts: &str) -> (usize, &str) {
    let seconds = ts.split('.').next().unwrap_or_default();
    (seconds.len(), ts)
}

#[cfg(test)]
mod tests {
    use super::{ms, of_ms, order};

    #[test]
    fn times_are_text() {
        assert_eq!(ms("1790000000.123456"), Some(1_790_000_000_123));
        assert_eq!((ms("1790000000"), ms("5.1")), (Some(1_790_000_000_000), Some(5100)));
        assert_eq!((ms(""), ms("x.1"), ms("99999999999999999999.0")), (None, None, None));
        assert_eq!(
            (of_ms(1_790_000_000_123).as_str(), of_ms(-1).as_str()),
            ("1790000000.123000", "0.000000")
        );
        assert!(order("999999999.5") < order("1000000000.1") && order("5.000001") < order("5.000002"));
    }
}
