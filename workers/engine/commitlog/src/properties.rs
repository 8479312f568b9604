//! The text form of properties: the few keys that the store itself reads (storage-and-ha.md 2.6).

const NAME_VALUE_SEPARATOR: u8 = 1;
const PROPERTY_SEPARATOR: u8 = 2;

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
        let end = memchr::memchr(PROPERTY_SEPARATOR, rest).unwrap_or(rest.len());
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
pub(crate) fn tags_code(
    properties: &[u8],
    store_timestamp_ms: i64,
    delay_levels_ms: Option<&[i64]>,
) -> i64 {
    if let Some(levels) = delay_levels_ms
        && let Some(delay) = find_property(properties, b"DELAY")
        && let Some(level) = parse_level(delay)
    {
        let delay_ms = levels
            .get(level.min(levels.len()).wrapping_sub(1))
            .unwrap_or(&1_000);
        return store_timestamp_ms + delay_ms;
    }
    find_property(properties, b"TAGS").map_or(0, |tags| i64::from(java_hash(tags)))
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
