//! Records that were not written whole (FORMAT.md 6).

use super::{PlainRecord, RecordView};

/// What a disk writes whole or not at all.
const SECTOR_SIZE: usize = 512;
/// Bytes of a record between its topic and its properties.
const PROPERTIES_LENGTH_SIZE: usize = 2;

/// Whether a record behind the flushed part has a sector with a part of topic or properties that was
/// never written; `at` is where the record starts in its file. Lengths and the body's checksum vouch
/// for everything else.
pub(crate) fn is_torn(record: &RecordView<'_>, at: u64, flushed: u64) -> bool {
    let size = record.bytes.len();
    let is_flushed = record.log_position + size as u64 <= flushed;
    !is_flushed && have_empty_sector(at, size, record.topic, record.properties)
}

/// As [`is_torn`], for an ordinary record.
#[inline(always)]
pub(crate) fn is_plain_torn(record: &PlainRecord<'_>, at: usize, flushed: u64) -> bool {
    let is_flushed = record.log_position + record.size as u64 <= flushed;
    !is_flushed && have_empty_sector(at as u64, record.size, record.topic, record.properties)
}

/// Whether a sector of topic or properties is empty; `at` is where in its file their record starts.
#[allow(clippy::cast_possible_truncation)] // only where in a sector it starts counts
#[inline(always)]
pub(crate) fn have_empty_sector(at: u64, size: usize, topic: &[u8], properties: &[u8]) -> bool {
    let properties_at = at as usize % SECTOR_SIZE + size - properties.len();
    let topic_at = properties_at - PROPERTIES_LENGTH_SIZE - topic.len();
    has_empty_sector(topic_at as u64, topic) || has_empty_sector(properties_at as u64, properties)
}

/// Whether properties could be taken for torn where their record's place is unlucky: zeros at an
/// end of them, or a sector full of zeros. Messages with such properties are refused. Otherwise a
/// sender could make a store that is killed lose the message, or become read-only.
#[inline(always)]
pub(crate) fn may_look_torn(properties: &[u8]) -> bool {
    properties.first() == Some(&0)
        || properties.last() == Some(&0)
        || properties.len() > SECTOR_SIZE && may_have_empty_sector(properties)
}

#[cold]
fn may_have_empty_sector(text: &[u8]) -> bool {
    // Wherever so many zeros begin, one of these places is among them.
    let mut probes = text.iter().skip(SECTOR_SIZE - 1).step_by(SECTOR_SIZE);
    let is_empty = |zeros: &[u8]| zeros.len() >= SECTOR_SIZE;
    probes.any(|byte| *byte == 0) && text.split(|byte| *byte != 0).any(is_empty)
}

/// Whether bytes that lie at `at` in a file are nothing but zeros in one of the sectors that they touch.
#[allow(clippy::cast_possible_truncation)] // only where in a sector they start counts
pub(crate) fn has_empty_sector(at: u64, mut text: &[u8]) -> bool {
    let mut at = at as usize % SECTOR_SIZE;
    while !text.is_empty() {
        let here = text.len().min(SECTOR_SIZE - at % SECTOR_SIZE);
        let (part, behind) = text.split_at(here);
        if part.iter().all(|byte| *byte == 0) {
            return true;
        }
        (at, text) = (at + here, behind);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each looks for zeros from every byte of a sector, which takes Miri five seconds or more.
    const ROUND_COUNT: usize = if cfg!(miri) { 10 } else { 4_000 };

    #[test]
    fn what_is_not_refused_looks_torn_nowhere() {
        let mut random = fastrand::Rng::with_seed(20);
        let mut refused_count = 0;
        for _ in 0..ROUND_COUNT {
            let size = random.usize(1..2_000);
            let mut text: Vec<u8> = (0..size).map(|_| random.u8(1..)).collect();
            let from = random.usize(..size);
            let to = (from + random.usize(..700)).min(size);
            text[from..to].fill(0);
            let looks_torn = (0..SECTOR_SIZE as u64).any(|at| has_empty_sector(at, &text));
            assert_eq!(may_look_torn(&text), looks_torn, "{size} {from} {to}");
            refused_count += usize::from(looks_torn);
        }
        let tenth = ROUND_COUNT / 10;
        assert!(
            (tenth..9 * tenth).contains(&refused_count),
            "{refused_count}"
        );
    }
}
