//! Unique keys for messages that come without one (remoting.md 4.5).

use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};

use regent_remoting::message_id::append_hex;

const DAY_MS: i64 = 86_400_000;

/// Makes keys in the clients' layout: address, process, salt, time in the month, counter.
#[derive(Debug)]
pub(crate) struct UniqueKeys {
    prefix: String,
    next: AtomicU32,
}

impl UniqueKeys {
    pub(crate) fn new(ip: IpAddr, seed: u64) -> Self {
        let mut prefix = String::new();
        match ip {
            IpAddr::V4(ip) => append_hex(&mut prefix, &ip.octets()),
            IpAddr::V6(ip) => append_hex(&mut prefix, &ip.octets()),
        }
        let [_, _, process @ .., s0, s1, s2, s3] = seed.to_be_bytes();
        append_hex(&mut prefix, &process);
        append_hex(&mut prefix, &[s0, s1, s2, s3]);
        Self {
            prefix,
            next: AtomicU32::new(0),
        }
    }

    pub(crate) fn next(&self, now_ms: i64) -> String {
        let counter = self.next.fetch_add(1, Ordering::Relaxed);
        let [_, _, high, low] = counter.to_be_bytes();
        let since_month = u32::try_from(now_ms - month_start_ms(now_ms)).unwrap_or_default();
        let mut key = self.prefix.clone();
        append_hex(&mut key, &since_month.to_be_bytes());
        append_hex(&mut key, &[high, low]);
        key
    }
}

/// The start of the month (UTC) that holds `now_ms`, in the civil calendar.
fn month_start_ms(now_ms: i64) -> i64 {
    let days = now_ms.div_euclid(DAY_MS);
    // Count from 0000-03-01, so that a leap day ends its year, in eras of 400 years.
    let day_of_era = (days + 719_468).rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5;
    (days - day_of_month) * DAY_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_starts_at_its_first_day() {
        // 2024-02-29T12:00Z, 2026-11-21T13:00Z, 2025-03-01T00:00Z, 1999-12-31T23:59:59Z.
        let cases = [
            (1_709_208_000_000, 1_706_745_600_000),
            (1_795_266_000_000, 1_793_491_200_000),
            (1_740_787_200_000, 1_740_787_200_000),
            (946_684_799_000, 944_006_400_000),
        ];
        for (now_ms, start_ms) in cases {
            assert_eq!(month_start_ms(now_ms), start_ms);
        }
    }

    #[test]
    fn keys_have_the_clients_length_and_differ() {
        let keys = UniqueKeys::new("127.0.0.1".parse().unwrap(), 42);

        let (first, second) = (keys.next(1_758_000_000_000), keys.next(1_758_000_000_000));

        assert_eq!((first.len(), second.len()), (32, 32));
        assert_ne!(first, second);
    }
}
