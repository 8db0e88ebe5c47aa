//! Points in time in words, in the local time zone. Must never read the clock: both times are parameters.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// Says when `then_ms` was, relative to `now_ms` (both milliseconds since 1970): "just now", "5 minutes ago", "today
/// 14:03", "yesterday 14:03", else date and time.
#[must_use]
pub fn relative(now_ms: i64, then_ms: i64) -> String {
    relative_in(&TimeZone::system(), now_ms, then_ms)
}

/// The same in at most four columns: "now", "5m", "3h", "12d", "2y".
#[must_use]
pub fn short(now_ms: i64, then_ms: i64) -> String {
    let day = 24 * HOUR;
    match now_ms.saturating_sub(then_ms) {
        ..MINUTE => "now".to_owned(),
        ago @ MINUTE..HOUR => format!("{}m", ago / MINUTE),
        ago if ago < day => format!("{}h", ago / HOUR),
        ago if ago < 1_000 * day => format!("{}d", ago / day),
        ago => format!("{}y", (ago / (365 * day)).min(999)),
    }
}

/// A duration in words, from milliseconds: "3 s", "10 min", "2 h 5 min", "4 days".
#[must_use]
pub fn lasted(ms: i64) -> String {
    let day = 24 * HOUR;
    match ms {
        ..MINUTE => format!("{} s", ms / 1_000),
        MINUTE..HOUR => format!("{} min", ms / MINUTE),
        _ if ms < 2 * day => match ms % HOUR / MINUTE {
            0 => format!("{} h", ms / HOUR),
            minutes => format!("{} h {minutes} min", ms / HOUR),
        },
        _ => format!("{} days", ms / day),
    }
}

fn relative_in(zone: &TimeZone, now_ms: i64, then_ms: i64) -> String {
    // The clocks of two devices differ a little, so the near future counts as now.
    match now_ms.saturating_sub(then_ms) {
        ago @ ..MINUTE if ago > -MINUTE => return "just now".to_owned(),
        ago @ MINUTE..HOUR => {
            let minutes = ago / MINUTE;
            return if minutes == 1 { "1 minute ago".to_owned() } else { format!("{minutes} minutes ago") };
        }
        _ => {}
    }
    let (Ok(now), Ok(then)) = (Timestamp::from_millisecond(now_ms), Timestamp::from_millisecond(then_ms))
    else {
        return "at an unknown time".to_owned();
    };
    let (now, then) = (now.to_zoned(zone.clone()), then.to_zoned(zone.clone()));
    let clock = then.strftime("%H:%M");
    if then.date() == now.date() {
        format!("today {clock}")
    } else if then.date().checked_add(1.day()).is_ok_and(|next| next == now.date()) {
        format!("yesterday {clock}")
    } else {
        format!("{} {clock}", then.date())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(zone: &str, now: &str, then: &str) -> String {
        let ms = |s: &str| s.parse::<Timestamp>().expect("a time").as_millisecond();
        relative_in(&TimeZone::get(zone).expect("a zone"), ms(now), ms(then))
    }

    #[test]
    fn times_are_in_words() {
        for (then, expected) in [
            ("2026-03-12T15:30:00Z", "just now"),
            ("2026-03-12T15:30:20Z", "just now"),
            ("2026-03-12T15:29:00Z", "1 minute ago"),
            ("2026-03-12T15:24:59Z", "5 minutes ago"),
            ("2026-03-12T14:30:01Z", "59 minutes ago"),
            ("2026-03-12T14:30:00Z", "today 14:30"),
            ("2026-03-11T14:03:00Z", "yesterday 14:03"),
            ("2026-03-10T23:59:00Z", "2026-03-10 23:59"),
            ("2026-03-12T18:00:00Z", "today 18:00"),
            ("2027-01-01T00:00:00Z", "2027-01-01 00:00"),
        ] {
            assert_eq!(said("UTC", "2026-03-12T15:30:00Z", then), expected, "{then}");
        }
    }

    #[test]
    fn times_in_a_few_columns() {
        for (ago, expected) in [
            (-1, "now"),
            (MINUTE, "1m"),
            (HOUR - 1, "59m"),
            (23 * HOUR, "23h"),
            (999 * 24 * HOUR, "999d"),
            (3 * 365 * 24 * HOUR, "3y"),
        ] {
            assert_eq!(short(1_000_000_000_000, 1_000_000_000_000 - ago), expected);
        }
        assert_eq!(short(i64::MAX, i64::MIN), "999y");
    }

    #[test]
    fn how_long_something_lasted() {
        for (ms, expected) in [
            (1_999, "1 s"),
            (59_999, "59 s"),
            (10 * MINUTE, "10 min"),
            (2 * HOUR, "2 h"),
            (47 * HOUR + 5 * MINUTE, "47 h 5 min"),
            (49 * HOUR, "2 days"),
        ] {
            assert_eq!(lasted(ms), expected);
        }
    }

    #[test]
    fn the_day_is_the_local_one() {
        assert_eq!(said("Asia/Tokyo", "2026-03-12T16:30:00Z", "2026-03-12T14:30:00Z"), "yesterday 23:30");
    }

    #[test]
    fn time_out_of_range_is_unknown() {
        assert_eq!(relative_in(&TimeZone::UTC, 0, i64::MIN), "at an unknown time");
    }
}
