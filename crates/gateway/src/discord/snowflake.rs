//! Ids of Discord. An id holds its time, so ids are in order of time \[D\]. Must never read a clock.

use crate::failure::{Failure, Refused};

/// The first second of 2015, in Unix milliseconds: what ids count from \[D\].
const EPOCH_MS: i64 = 1_420_070_400_000;

/// The number of an id, if it is one.
pub(super) fn number(id: &str) -> Option<u64> {
    let is_number = !id.is_empty() && id.len() <= 20 && id.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { id.parse().ok() } else { None }
}

/// When the platform made this id, in Unix milliseconds.
pub(super) fn time_ms(id: &str) -> Option<i64> {
    Some(i64::try_from(number(id)? >> 22).ok()? + EPOCH_MS)
}

/// An id before all ids of this time or later.
pub(super) fn before(time_ms: i64) -> String {
    let since = u64::try_from(time_ms.saturating_sub(EPOCH_MS)).unwrap_or(0).min(u64::MAX >> 22);
    (since << 22).saturating_sub(1).to_string()
}

/// The id, checked: ids become parts of addresses, and some come from elsewhere.
///
/// # Errors
/// It is no id.
pub(super) fn checked(id: &str) -> Result<&str, Failure> {
    number(id).map(|_| id).ok_or(Failure::Refused(Refused::Other))
}

#[cfg(test)]
mod tests {
    use super::{before, checked, number, time_ms};

    #[test]
    fn time_is_read_from_an_id() {
        // The example of the vendor's documentation [D].
        assert_eq!(time_ms("175928847299117063"), Some(1_462_015_105_796));
        let before = before(1_462_015_105_796);
        assert!(number(&before) < number("175928847299117063"));
        assert_eq!(time_ms(&before), Some(1_462_015_105_795));
        assert_eq!(super::before(0), "0");
        assert_eq!(super::before(i64::MAX).parse::<u64>(), Ok((u64::MAX >> 22 << 22) - 1));
    }

    #[test]
    fn only_numbers_become_parts_of_addresses() {
        assert!(checked("175928847299117063").is_ok());
        for odd in ["", "1/../2", "-1", "+1", "99999999999999999999", "1?x=y", "١"] {
            assert!(checked(odd).is_err(), "{odd}");
        }
    }
}
