//! Numbers in property values, as Java reads them.

/// Read a value as Java's `Integer.valueOf` does, but for digits outside of ASCII.
pub(crate) fn parse_int(text: &[u8]) -> Option<i32> {
    parse_long(text)?.try_into().ok()
}

/// Read a value as Java's `Long.valueOf` does, but for digits outside of ASCII.
pub(crate) fn parse_long(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Read a value as Java's `Double.valueOf` does, but for hexadecimal numbers.
pub(crate) fn parse_double(text: &[u8]) -> Option<f64> {
    let text = trimmed(text);
    let (is_negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let size = match rest {
        b"NaN" => return Some(f64::NAN),
        b"Infinity" => f64::INFINITY,
        [digits @ .., b'f' | b'F' | b'd' | b'D'] => parse_decimal(digits)?,
        digits => parse_decimal(digits)?,
    };
    Some(if is_negative { -size } else { size })
}

/// Java's `trim`: everything up to the blank goes.
fn trimmed(text: &[u8]) -> &[u8] {
    let is_kept = |byte: &u8| *byte > b' ';
    let from = text.iter().position(is_kept).unwrap_or(text.len());
    let to = text.iter().rposition(is_kept).map_or(from, |at| at + 1);
    &text[from..to]
}

fn parse_decimal(text: &[u8]) -> Option<f64> {
    // What else the standard library reads are names and signs.
    let is_number = text
        .first()
        .is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.');
    std::str::from_utf8(text)
        .ok()
        .filter(|_| is_number)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_read_as_java_reads_them() {
        for (text, expected) in [
            ("1.5", Some(1.5)),
            (" 1.5\t\r\n", Some(1.5)),
            ("5.", Some(5.0)),
            (".5", Some(0.5)),
            ("5.E10", Some(5e10)),
            ("+1e3", Some(1000.0)),
            ("-7d", Some(-7.0)),
            ("7F", Some(7.0)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("1e999", Some(f64::INFINITY)),
            ("", None),
            (" ", None),
            (".", None),
            ("d", None),
            ("inf", None),
            ("nan", None),
            ("infinity", None),
            ("1 2", None),
            ("+-1", None),
            ("1e", None),
            ("1_000", None),
        ] {
            assert_eq!(parse_double(text.as_bytes()), expected, "{text:?}");
        }
        assert!(parse_double(b"-NaN").is_some_and(f64::is_nan));
    }

    #[test]
    fn integers_have_a_sign_and_digits_only() {
        assert_eq!(parse_int(b"+5"), Some(5));
        assert_eq!(parse_int(b"-2147483648"), Some(i32::MIN));
        assert_eq!(parse_int(b"2147483648"), None);
        assert_eq!(parse_long(b"9223372036854775807"), Some(i64::MAX));
        for text in [
            &b" 5"[..],
            b"5.0",
            b"",
            b"+",
            b"\xff",
            b"9223372036854775808",
        ] {
            assert_eq!(parse_long(text), None);
        }
    }
}
