//! Dates as people type them. Must never read the clock: the current time is a parameter.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

use crate::error::{Failure, usage};

/// The point in time that a text names, in Unix milliseconds. The text is a date, a date and time, a timestamp with its
/// offset, `today`, `yesterday`, or how long ago (`2 hours`, `3d`).
pub(crate) fn parse(text: &str, now_ms: i64) -> Result<i64, Failure> {
    parse_in(&TimeZone::system(), text.trim(), now_ms).ok_or_else(|| {
        usage(
            format!("{text:?} is not a date"),
            "write 2026-03-01, 2026-03-01T14:30, yesterday, or how long ago: \"3 days\", \"2h\"",
        )
    })
}

fn parse_in(zone: &TimeZone, text: &str, now_ms: i64) -> Option<i64> {
    if let Ok(exact) = text.parse::<Timestamp>() {
        return Some(exact.as_millisecond());
    }
    let now = Timestamp::from_millisecond(now_ms).ok()?.to_zoned(zone.clone());
    let then: Zoned = match text {
        "today" => now.start_of_day().ok()?,
        "yesterday" => now.checked_sub(1.day()).ok()?.start_of_day().ok()?,
        _ => match text.parse::<DateTime>() {
            Ok(local) => local.to_zoned(zone.clone()).ok()?,
            Err(_) => now.checked_sub(text.parse::<Span>().ok()?.abs()).ok()?,
        },
    };
    Some(then.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_people_type_them() {
        let ms = |text: &str| text.parse::<Timestamp>().expect("a time").as_millisecond();
        let zone = TimeZone::get("Europe/Berlin").expect("a zone");
        let now = ms("2026-03-12T15:30:00Z");
        for (text, then) in [
            ("2026-03-01", "2026-02-28T23:00:00Z"),
            ("2026-03-01T14:30", "2026-03-01T13:30:00Z"),
            ("2026-03-01 14:30", "2026-03-01T13:30:00Z"),
            ("2026-03-01T14:30:00Z", "2026-03-01T14:30:00Z"),
            ("today", "2026-03-11T23:00:00Z"),
            ("yesterday", "2026-03-10T23:00:00Z"),
            ("2h", "2026-03-12T13:30:00Z"),
            ("3 days ago", "2026-03-09T15:30:00Z"),
        ] {
            assert_eq!(parse_in(&zone, text, now), Some(ms(then)), "{text}");
        }
        assert_eq!(parse_in(&zone, "soon", now), None);
    }
}
