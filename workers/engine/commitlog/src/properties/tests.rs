//! Properties as stock reads them.

use super::*;
use crate::config::DELAY_LEVELS_MS;

#[test]
fn tag_hashes_are_those_of_java() {
    assert_eq!(java_hash(b""), 0);
    assert_eq!(java_hash(b"TagA"), 2_598_919);
    assert_eq!(java_hash(b"polygenelubricants"), i32::MIN);
    // Over UTF-16 units: one for the euro sign, two for the smiling face.
    assert_eq!(java_hash("\u{20ac}".as_bytes()), 0x20ac);
    assert_eq!(java_hash("\u{1f600}".as_bytes()), 0xd83d * 31 + 0xde00);
}

#[test]
fn entries_without_a_name_or_a_value_are_dropped() {
    let text = b"KEYS\x01k1 k2\x02\x01v\x02name\x01\x02plain\x02\x02TAGS\x01A";

    let entries: Vec<_> = property_entries(text).collect();

    assert_eq!(
        entries,
        [(&b"KEYS"[..], &b"k1 k2"[..]), (&b"TAGS"[..], &b"A"[..])]
    );
}

#[test]
fn the_last_of_two_equal_names_wins() {
    assert_eq!(
        find_property(b"TAGS\x01A\x02TAGS\x01B\x02", b"TAGS"),
        Some(&b"B"[..])
    );
}

#[test]
fn negative_hashes_stay_negative() {
    let tag = "polygenelubricants";

    let code = tags_code(format!("TAGS\x01{tag}\x02").as_bytes(), 0, None);

    assert_eq!(code, i64::from(i32::MIN));
}

#[test]
fn a_delayed_record_gets_its_delivery_time() {
    let levels = Some(&DELAY_LEVELS_MS[..]);

    assert_eq!(
        tags_code(b"DELAY\x013\x02TAGS\x01A\x02", 1_000, levels),
        11_000
    );
    assert_eq!(tags_code(b"DELAY\x0199\x02", 1_000, levels), 7_201_000);
    assert_eq!(tags_code(b"DELAY\x012\x02", 1_000, Some(&[])), 2_000);
    assert_eq!(
        tags_code(b"DELAY\x010\x02TAGS\x01TagA\x02", 1_000, levels),
        2_598_919
    );
    assert_eq!(
        tags_code(b"DELAY\x013\x02TAGS\x01TagA\x02", 1_000, None),
        2_598_919
    );
}

#[test]
fn a_delivery_time_beyond_all_times_is_the_last_one() {
    let code = tags_code(b"DELAY\x012\x02", i64::MAX - 1, Some(&DELAY_LEVELS_MS));

    assert_eq!(code, i64::MAX);
}
