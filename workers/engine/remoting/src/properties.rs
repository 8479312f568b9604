//! The property string of a message: `name 1 value 2`, over and over (remoting.md 4.3).

use crate::swar::find_separator;

/// Stands between a name and its value.
pub const NAME_VALUE_SEPARATOR: u8 = 1;
/// Stands after each pair.
pub const PROPERTY_SEPARATOR: u8 = 2;
/// The most bytes of an encoded property string.
pub const PROPERTIES_SIZE_MAX: usize = 32_767;

/// Append one pair with its separators.
pub fn append_property(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.push(NAME_VALUE_SEPARATOR);
    out.extend_from_slice(value);
    out.push(PROPERTY_SEPARATOR);
}

/// The pairs of a property string, without those that stock's readers drop: without a value, or
/// with an empty name or value.
#[derive(Debug)]
pub struct Pairs<'a>(&'a [u8]);

/// Walk the pairs of a property string.
#[must_use]
pub fn pairs(properties: &[u8]) -> Pairs<'_> {
    Pairs(properties)
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.0.is_empty() {
            let bytes = self.0;
            let name_end = find_separator(bytes, 0).unwrap_or(bytes.len());
            let mut end = name_end;
            while end < bytes.len() && bytes[end] != PROPERTY_SEPARATOR {
                end = find_separator(bytes, end + 1).unwrap_or(bytes.len());
            }
            self.0 = bytes.get(end + 1..).unwrap_or_default();
            if let Some(value) = bytes.get(name_end + 1..end)
                && name_end > 0
                && !value.is_empty()
            {
                return Some((&bytes[..name_end], value));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Vec<(&[u8], &[u8])> {
        pairs(text).collect()
    }

    #[test]
    fn pairs_are_read_with_and_without_the_last_separator() {
        for text in [&b"A\x011\x02B\x012"[..], b"A\x011\x02B\x012\x02"] {
            assert_eq!(read(text), [(&b"A"[..], &b"1"[..]), (b"B", b"2")]);
        }
    }

    #[test]
    fn pairs_that_stock_drops_are_dropped() {
        let text = b"\x02A\x02\x01v\x02n\x01\x02\x02ok\x01a\x01b\x02end";
        assert_eq!(read(text), [(&b"ok"[..], &b"a\x01b"[..])]);
        assert_eq!(read(b""), []);
        assert_eq!(read(b"n\x01"), []);
        assert_eq!(read(b"\x01"), []);
    }
}
