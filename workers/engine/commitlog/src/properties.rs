//! The text form of properties: the few keys that the store itself reads (storage-and-ha.md 2.6).

const NAME_VALUE_SEPARATOR: u8 = 1;
pub(crate) const PROPERTY_SEPARATOR: u8 = 2;

/// Entries with a name and a value; others are dropped as stock's reader drops them.
pub fn property_entries(properties: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    properties
        .split(|byte| *byte == PROPERTY_SEPARATOR)
        .filter_map(|entry| {
            let at = memchr::memchr(NAME_VALUE_SEPARATOR, entry)?;
            let (name, value) = (&entry[..at], &entry[at + 1..]);
            (!name.is_empty() && !value.is_empty()).then_some((name, value))
        })
}

/// Value of a property; the last one wins, as in stock's map.
#[must_use]
pub fn find_property<'a>(properties: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (mut rest, mut found) = (properties, None);
    while !rest.is_empty() {
        let end = entry_end(rest);
        let value = rest[..end].strip_prefix(name);
        if let Some([NAME_VALUE_SEPARATOR, value @ ..]) = value
            && !value.is_empty()
        {
            found = Some(value);
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    found
}

/// Length of the first entry. Entries are short: looking at eight bytes at a time costs less than
/// the call of a vector search.
#[inline]
fn entry_end(properties: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let mut at = 0;
    while let Some(chunk) = properties.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk) ^ (ONES * u64::from(PROPERTY_SEPARATOR));
        // Exact up to and with the first zero byte.
        let found = word.wrapping_sub(ONES) & !word & HIGHS;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = properties.get(at..).unwrap_or_default();
    let found = rest.iter().position(|byte| *byte == PROPERTY_SEPARATOR);
    at + found.unwrap_or(rest.len())
}

/// Java's `String.hashCode` of UTF-8 text: over UTF-16 units, wrapping at 32 bits.
#[must_use]
pub fn java_hash(text: &[u8]) -> i32 {
    let step = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    if text.is_ascii() {
        return text
            .iter()
            .fold(0, |hash, byte| step(hash, u16::from(*byte)));
    }
    String::from_utf8_lossy(text).encode_utf16().fold(0, step)
}

/// The third field of a queue entry: a tag's hash, or the delivery time of a delayed message.
///
/// Levels above the last count as the last; without any level a second is added, as in stock.
#[inline(always)]
pub(crate) fn tags_code(
    properties: &[u8],
    store_timestamp_ms: i64,
    delay_levels_ms: Option<&[i64]>,
) -> i64 {
    if let Some(levels) = delay_levels_ms
        && let Some(delay_ms) = delay_ms(properties, levels)
    {
        // No checksum covers the time.
        return store_timestamp_ms.saturating_add(delay_ms);
    }
    // Most messages have no tags, and few other names or keys have this letter.
    if memchr::memchr(b'G', properties).is_none() {
        return 0;
    }
    find_property(properties, b"TAGS").map_or(0, |tags| i64::from(java_hash(tags)))
}

#[cold]
fn delay_ms(properties: &[u8], levels_ms: &[i64]) -> Option<i64> {
    let level = parse_level(find_property(properties, b"DELAY")?)?;
    let index = level.min(levels_ms.len()).checked_sub(1);
    Some(index.map_or(1_000, |index| levels_ms[index]))
}

fn parse_level(text: &[u8]) -> Option<usize> {
    std::str::from_utf8(text)
        .ok()?
        .parse()
        .ok()
        .filter(|level| *level > 0)
}

#[cfg(test)]
mod tests;
