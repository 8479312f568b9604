//! Names of index files: a local time as 17 digits, `yyyyMMddHHmmssSSS`.

const DAY_MS: i64 = 86_400_000;
/// The last moment of the year 9999, which 17 digits can name.
const LAST_MS: i64 = 253_402_300_799_999;

/// The stamp of a time; the caller knows how far the local time is ahead of UTC.
pub(crate) fn stamp(now_ms: i64, utc_offset_s: i32) -> u64 {
    let local_ms = now_ms.saturating_add(i64::from(utc_offset_s) * 1000);
    let local_ms = local_ms.clamp(0, LAST_MS);
    let (day, ms) = (local_ms / DAY_MS, local_ms % DAY_MS);
    let (year, month, day) = date(day);
    let (hour, minute) = (ms / 3_600_000, ms / 60_000 % 60);
    let fields = [
        (year, 1),
        (month, 100),
        (day, 100),
        (hour, 100),
        (minute, 100),
    ];
    let minutes = fields
        .iter()
        .fold(0, |stamp, (field, width)| stamp * width + field);
    (minutes * 100_000 + ms % 60_000).unsigned_abs()
}

/// Year, month and day of the month, counted from 1, of a day after 1970-01-01.
fn date(mut day: i64) -> (i64, i64, i64) {
    let mut year = 1970;
    while day >= year_length(year) {
        day -= year_length(year);
        year += 1;
    }
    let february = year_length(year) - 337;
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    (year, month, day + 1)
}

fn year_length(year: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if is_leap { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::stamp;

    #[test]
    fn stamps_are_local_dates() {
        let expected = [
            (0, 0, 19_700_101_000_000_000),
            (1_758_000_000_123, 0, 20_250_916_052_000_123),
            (1_758_000_000_123, 7_200, 20_250_916_072_000_123),
            (1_758_000_000_123, -28_800, 20_250_915_212_000_123),
            (951_782_399_999, 0, 20_000_228_235_959_999),
            (951_782_400_000, 0, 20_000_229_000_000_000),
            (951_868_800_000, 0, 20_000_301_000_000_000),
            (4_107_542_399_000, 0, 21_000_228_235_959_000),
            (4_107_542_400_000, 0, 21_000_301_000_000_000),
            (1_735_689_599_999, 0, 20_241_231_235_959_999),
            (i64::MAX, 0, 99_991_231_235_959_999),
            (1_735_689_599_999, 1, 20_250_101_000_000_999),
        ];
        for (now_ms, utc_offset_s, stamped) in expected {
            assert_eq!(
                stamp(now_ms, utc_offset_s),
                stamped,
                "{now_ms} {utc_offset_s}"
            );
        }
    }
}
