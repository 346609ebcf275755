//! Dates that a server asks to wait for: as HTTP has them, and as servers write them all the same.

use std::borrow::Cow;
use std::time::UNIX_EPOCH;

/// Returns the seconds from 1970 to a date of HTTP, also with another name of its zone, or to one of RFC 3339.
pub(super) fn seconds_from_1970(text: &str) -> Option<f64> {
    let text = text.trim();
    let zone = [" +0000", " -0000", " UTC", " UT", " Z"].into_iter().find_map(|zone| text.strip_suffix(zone));
    let with_zone = zone.map_or(Cow::Borrowed(text), |date| Cow::Owned(format!("{date} GMT")));
    match httpdate::parse_http_date(&with_zone) {
        Ok(date) => Some(date.duration_since(UNIX_EPOCH).ok()?.as_secs_f64()),
        Err(_) => rfc_3339(text),
    }
}

/// `2015-10-21T07:28:00.5+02:00`; one without a zone could be any time of a day.
fn rfc_3339(text: &str) -> Option<f64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let (time, offset) = match time.strip_suffix(['Z', 'z']) {
        Some(time) => (time, 0.0),
        None => {
            let at = time.rfind(['+', '-'])?;
            let (hours, minutes) = time[at + 1..].split_once(':')?;
            let size = 3600.0 * within(hours, 0, 23)? + 60.0 * within(minutes, 0, 59)?;
            (&time[..at], if time[at..].starts_with('-') { -size } else { size })
        }
    };
    let mut date = date.split('-');
    let year = within(date.next()?, 1970, 9999)?;
    let days = days_from_1970(year, within(date.next()?, 1, 12)?, within(date.next()?, 1, 31)?);
    let mut time = time.splitn(3, ':');
    let (hours, minutes) = (within(time.next()?, 0, 23)?, within(time.next()?, 0, 59)?);
    let seconds: f64 = time.next()?.parse().ok().filter(|seconds| (0.0..61.0).contains(seconds))?;
    date.next().is_none().then_some(86_400.0 * days + 3600.0 * hours + 60.0 * minutes + seconds - offset)
}

fn within(digits: &str, least: u16, most: u16) -> Option<f64> {
    digits.parse().ok().filter(|number| (least..=most).contains(number)).map(f64::from)
}

/// Days from 1970 to a day of the Gregorian calendar. Years begin in March here: the day of a leap year is their last.
fn days_from_1970(year: f64, month: f64, day: f64) -> f64 {
    let (year, month) = if month < 3.0 { (year - 1.0, month + 9.0) } else { (year, month - 3.0) };
    let leap_days = libm::floor(year / 4.0) - libm::floor(year / 100.0) + libm::floor(year / 400.0);
    365.0 * year + leap_days + libm::floor((153.0 * month + 2.0) / 5.0) + day - 719_469.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_servers_write_them() {
        for text in [
            "Wed, 21 Oct 2015 07:28:00 GMT",
            "Wed, 21 Oct 2015 07:28:00 +0000",
            "Wed, 21 Oct 2015 07:28:00 UTC",
            "2015-10-21T07:28:00Z",
            "2015-10-21T07:28:00.000+00:00",
            "2015-10-21 09:28:00+02:00",
            " 2015-10-20T23:28:00-08:00 ",
        ] {
            assert_eq!(seconds_from_1970(text), Some(1_445_412_480.0), "{text}");
        }
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T00:00:00.5Z", 951_782_400.5),
            ("2026-12-31T23:59:59Z", 1_798_761_599.0),
        ] {
            assert_eq!(seconds_from_1970(text), Some(seconds), "{text}");
        }
        for text in ["2015-10-21T07:28:00", "2015-10-21", "2015-13-21T07:28:00Z", "2015-10-21T07:28:61Z", "soon", "Z"] {
            assert_eq!(seconds_from_1970(text), None, "{text}");
        }
    }
}
