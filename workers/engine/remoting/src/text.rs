//! Text borrowed from a header, with its JSON escapes still in place.

use std::borrow::Cow;

use crate::swar::find_backslash;

/// A string of a header as it stands there; escapes are checked when it is scanned, and resolved
/// only when someone asks for the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a>(Raw<'a>);

/// An enumeration, not a flag beside the text: its tag fills a word, and copies of it never
/// read back bytes of padding that were not written as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Raw<'a> {
    Plain(&'a [u8]),
    Escaped(&'a [u8]),
}

impl<'a> Text<'a> {
    /// Wrap text that stands for itself.
    #[inline]
    #[must_use]
    pub fn plain(raw: &'a str) -> Self {
        Self(Raw::Plain(raw.as_bytes()))
    }

    /// Wrap the inside of a JSON string without escapes, out of a header that is UTF-8.
    #[inline]
    pub(crate) fn part(raw: &'a [u8]) -> Self {
        Self(Raw::Plain(raw))
    }

    /// Wrap the inside of a JSON string that holds escapes, which its scanner has checked, out
    /// of a header that is UTF-8.
    pub(crate) fn escaped(raw: &'a [u8]) -> Self {
        Self(Raw::Escaped(raw))
    }

    /// Resolve the escapes, as UTF-8.
    #[inline]
    #[must_use]
    pub fn to_bytes(self) -> Cow<'a, [u8]> {
        match self.0 {
            Raw::Plain(plain) => Cow::Borrowed(plain),
            Raw::Escaped(raw) => {
                let mut resolved = Vec::with_capacity(raw.len());
                append_resolved(raw, &mut resolved);
                Cow::Owned(resolved)
            }
        }
    }

    /// The bytes as they stand in the header, escapes in place.
    #[inline]
    #[must_use]
    pub fn as_written(self) -> &'a [u8] {
        match self.0 {
            Raw::Plain(raw) | Raw::Escaped(raw) => raw,
        }
    }

    /// The text itself when it holds no escapes.
    #[inline]
    #[must_use]
    pub fn as_plain(self) -> Option<&'a [u8]> {
        match self.0 {
            Raw::Plain(plain) => Some(plain),
            Raw::Escaped(_) => None,
        }
    }

    /// Resolve the escapes.
    #[must_use]
    pub fn to_str(self) -> Cow<'a, str> {
        match self.to_bytes() {
            Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(bytes),
            },
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Append the resolved text as UTF-8.
    pub fn append_to(self, out: &mut Vec<u8>) {
        match self.0 {
            Raw::Plain(plain) => out.extend_from_slice(plain),
            Raw::Escaped(raw) => append_resolved(raw, out),
        }
    }

    /// Read a decimal number as Java's `Integer.parseInt` does.
    #[must_use]
    pub fn to_i32(self) -> Option<i32> {
        self.to_i64()?.try_into().ok()
    }

    /// Read a decimal number as Java's `Long.parseLong` does.
    #[must_use]
    pub fn to_i64(self) -> Option<i64> {
        match self.0 {
            Raw::Plain(plain) => parse_i64(plain),
            Raw::Escaped(_) => parse_i64(&self.to_bytes()),
        }
    }
}

/// So many digits stay within 64 bits.
const DIGITS_SAFE: usize = 18;

/// Read a sign and digits, all there is; `None` beyond 64 bits.
#[inline]
pub(crate) fn parse_i64(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > DIGITS_SAFE || text[0] == b'-' || text[0] == b'+' {
        return parse_any_i64(text);
    }
    let mut number = 0_i64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + i64::from(digit);
    }
    Some(number)
}

#[cold]
fn parse_any_i64(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    // Counting down from zero reaches the lowest number, too.
    let negated = digits.iter().try_fold(0_i64, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit <= 9).then_some(())?;
        number.checked_mul(10)?.checked_sub(i64::from(digit))
    })?;
    if is_negative {
        Some(negated)
    } else {
        negated.checked_neg()
    }
}

fn append_resolved(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some(at) = find_backslash(rest) {
        let (before, escape) = rest.split_at(at);
        out.extend_from_slice(before);
        rest = match escape {
            // What separates properties, by far the most frequent.
            [
                b'\\',
                b'u',
                b'0',
                b'0',
                b'0',
                digit @ b'0'..=b'9',
                after @ ..,
            ] => {
                out.push(digit - b'0');
                after
            }
            _ => append_escape(&escape[1..], out),
        };
    }
    out.extend_from_slice(rest);
}

/// Resolve one escape, `rest` starting after the backslash, and return what follows it.
fn append_escape<'b>(rest: &'b [u8], out: &mut Vec<u8>) -> &'b [u8] {
    let Some((&kind, after)) = rest.split_first() else {
        return rest;
    };
    let byte = match kind {
        b'u' => return append_unicode(after, out),
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        same => same,
    };
    out.push(byte);
    after
}

/// Resolve the digits of a `\u` escape. A surrogate without its other half becomes `?`, which is
/// what Java's UTF-8 encoder writes for it.
fn append_unicode<'b>(digits: &'b [u8], out: &mut Vec<u8>) -> &'b [u8] {
    let Some((unit, after)) = unit(digits) else {
        return digits;
    };
    if unit < 0x80 {
        out.push(unit.to_le_bytes()[0]);
        return after;
    }
    let low = || {
        let (low, after) = self::unit(after.strip_prefix(b"\\u")?)?;
        (0xDC00..0xE000).contains(&low).then_some((low, after))
    };
    let (code, after) = match unit {
        0xD800..0xDC00 => match low() {
            Some((low, after)) => (0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00), after),
            None => (u32::from(b'?'), after),
        },
        _ => (unit, after),
    };
    let character = char::from_u32(code).unwrap_or('?');
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    after
}

/// What stands for no digit.
const NO_DIGIT: u8 = 0xFF;

/// The value of each hexadecimal digit.
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value] as usize] = value as u8;
        digits[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

/// Read four hexadecimal digits.
#[inline]
fn unit(digits: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, after) = digits.split_first_chunk::<4>()?;
    let [a, b, c, d] = digits.map(|digit| DIGITS[usize::from(digit)]);
    if a | b | c | d > 15 {
        return None;
    }
    Some((
        u32::from(a) << 12 | u32::from(b) << 8 | u32::from(c) << 4 | u32::from(d),
        after,
    ))
}

/// Whether the four digits of a `\u` escape come first.
#[inline]
pub(crate) fn starts_with_unit(digits: &[u8]) -> bool {
    unit(digits).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(raw: &str) -> String {
        Text::escaped(raw.as_bytes()).to_str().into_owned()
    }

    #[test]
    fn escapes_become_what_they_stand_for() {
        assert_eq!(
            resolved(r#"a\"b\\c\/d\n\t\r\b\f"#),
            "a\"b\\c/d\n\t\r\u{8}\u{c}"
        );
        assert_eq!(resolved(r"K\u0001V\u0002\u00e9\u4E2d"), "K\u{1}V\u{2}é中");
    }

    #[test]
    fn a_pair_of_surrogates_is_one_character() {
        assert_eq!(resolved(r"\uD83D\uDE00!"), "😀!");
    }

    #[test]
    fn a_lone_surrogate_becomes_a_question_mark_as_in_java() {
        assert_eq!(resolved(r"a\ud83db"), "a?b");
        assert_eq!(resolved(r"\ude00"), "?");
        assert_eq!(resolved(r"\ud83d\u0041"), "?A");
        assert_eq!(resolved(r"\ud83d\ud83d\ude00"), "?😀");
    }

    #[test]
    fn numbers_are_read_whole_or_not_at_all() {
        assert_eq!(Text::plain("-12").to_i32(), Some(-12));
        assert_eq!(Text::plain("12x").to_i32(), None);
        assert_eq!(Text::plain("2147483648").to_i32(), None);
        assert_eq!(Text::plain("2147483648").to_i64(), Some(2_147_483_648));
        assert_eq!(Text::plain("+7").to_i64(), Some(7));
        assert_eq!(Text::plain("-9223372036854775808").to_i64(), Some(i64::MIN));
        for text in [
            "",
            "-",
            "+",
            "--1",
            "9223372036854775808",
            " 1",
            "1.0",
            "\u{661}",
        ] {
            assert_eq!(Text::plain(text).to_i64(), None, "{text}");
        }
    }
}
