//! The property string of a message: `name 1 value 2`, over and over (remoting.md 4.3).

/// Stands between a name and its value.
pub const NAME_VALUE_SEPARATOR: u8 = 1;
/// Stands after each pair.
pub const PROPERTY_SEPARATOR: u8 = 2;
/// The most bytes of an encoded property string.
pub const PROPERTIES_SIZE_MAX: usize = 32_767;

/// Walk the pairs of a property string, skipping what stock readers drop: pairs without a
/// separator, or with an empty name or value.
pub fn properties(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    bytes
        .split(|&byte| byte == PROPERTY_SEPARATOR)
        .filter_map(|pair| {
            let at = pair.iter().position(|&byte| byte == NAME_VALUE_SEPARATOR)?;
            let (name, value) = (&pair[..at], &pair[at + 1..]);
            (!name.is_empty() && !value.is_empty()).then_some((name, value))
        })
}

/// Append one pair with its separators.
pub fn append_property(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.push(NAME_VALUE_SEPARATOR);
    out.extend_from_slice(value);
    out.push(PROPERTY_SEPARATOR);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_with_and_without_the_last_separator() {
        for text in [&b"A\x011\x02B\x012"[..], b"A\x011\x02B\x012\x02"] {
            let pairs: Vec<_> = properties(text).collect();
            assert_eq!(pairs, [(&b"A"[..], &b"1"[..]), (b"B", b"2")]);
        }
    }

    #[test]
    fn pairs_that_stock_drops_are_dropped() {
        let pairs: Vec<_> = properties(b"\x02A\x02\x01v\x02n\x01\x02ok\x01a\x01b\x02").collect();
        assert_eq!(pairs, [(&b"ok"[..], &b"a\x01b"[..])]);
    }
}
