//! The JSON header (remoting.md 1.2), scanned once without building a tree.
//!
//! Strictness: JSON's grammar holds, except that control characters may stand unescaped inside
//! strings, as some clients write them. Unknown keys are skipped. Ext values may be numbers or
//! booleans, taken as the text they are written with.

use crate::error::HeaderError;
use crate::header::{ExtSink, Header};
use crate::language::Language;
use crate::limits::{EXT_COUNT_MAX, JSON_DEPTH_MAX};
use crate::swar::find_string_stop;
use crate::text::{Text, parse_i64, starts_with_unit};

struct Scanner<'a> {
    /// The header, which is UTF-8.
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn invalid<T>(&self) -> Result<T, HeaderError> {
        if self.at >= self.bytes.len() {
            return Err(HeaderError::Truncated);
        }
        Err(HeaderError::JsonInvalid(self.at))
    }

    #[inline]
    fn skip_space(&mut self) {
        // Hardly any header has space; one comparison shows that.
        if self.peek().is_some_and(|byte| byte <= b' ') {
            self.skip_some_space();
        }
    }

    #[cold]
    fn skip_some_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), HeaderError> {
        if self.peek() != Some(byte) {
            return self.invalid();
        }
        self.at += 1;
        Ok(())
    }

    /// Skip space, and say which byte a value starts with.
    #[inline]
    fn value_start(&mut self) -> Result<u8, HeaderError> {
        self.skip_space();
        match self.peek() {
            Some(byte) => Ok(byte),
            None => Err(HeaderError::Truncated),
        }
    }

    #[inline]
    fn string(&mut self) -> Result<Text<'a>, HeaderError> {
        self.expect(b'"')?;
        let (bytes, start) = (self.bytes, self.at);
        let stop = find_string_stop(bytes, start).ok_or(HeaderError::Truncated)?;
        self.at = stop + 1;
        if bytes[stop] == b'"' {
            return Ok(Text::part(&bytes[start..stop]));
        }
        self.rest_of_escaped_string(start)
    }

    /// Scan on from a string's first escape, standing after its backslash.
    fn rest_of_escaped_string(&mut self, start: usize) -> Result<Text<'a>, HeaderError> {
        let bytes = self.bytes;
        loop {
            self.escape()?;
            let stop = find_string_stop(bytes, self.at).ok_or(HeaderError::Truncated)?;
            self.at = stop + 1;
            if bytes[stop] == b'"' {
                return Ok(Text::escaped(&bytes[start..stop]));
            }
        }
    }

    /// Check one escape, standing after its backslash.
    fn escape(&mut self) -> Result<(), HeaderError> {
        let rest = &self.bytes[self.at..];
        self.at += match rest {
            // What separates properties, by far the most frequent.
            [b'u', b'0', b'0', b'0', b'0'..=b'9', ..] => 5,
            [b'u', digits @ ..] if starts_with_unit(digits) => 5,
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 1,
            [] => return Err(HeaderError::Truncated),
            _ => return Err(HeaderError::JsonInvalid(self.at)),
        };
        Ok(())
    }

    fn digits(&mut self) -> Result<(), HeaderError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            return self.invalid();
        }
        Ok(())
    }

    /// Scan a number, returning its text.
    fn number(&mut self) -> Result<&'a [u8], HeaderError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(&self.bytes[start..self.at])
    }

    fn literal(&mut self, literal: &str) -> Result<&'a [u8], HeaderError> {
        let start = self.at;
        if !self.bytes[start..].starts_with(literal.as_bytes()) {
            return self.invalid();
        }
        self.at += literal.len();
        Ok(&self.bytes[start..self.at])
    }

    /// Take up to nine digits and no sign, as nearly all numbers are; `None` moves nothing.
    #[inline]
    fn short_integer(&mut self) -> Option<i32> {
        let rest = self.bytes.get(self.at..)?;
        let mut number = 0;
        for (size, byte) in rest.iter().take(10).enumerate() {
            match byte {
                b'0'..=b'9' if size < 9 => number = number * 10 + i32::from(byte - b'0'),
                b',' | b'}' if size == 1 || (size > 1 && rest[0] != b'0') => {
                    self.at += size;
                    return Some(number);
                }
                _ => return None,
            }
        }
        None
    }

    /// Scan an integer field; `null` leaves the default.
    fn integer(&mut self) -> Result<i32, HeaderError> {
        let first = self.value_start()?;
        if let Some(number) = self.short_integer() {
            return Ok(number);
        }
        let start = self.at;
        match first {
            b'n' => self.literal("null").map(|_| 0),
            b'-' | b'0'..=b'9' => {
                let number = parse_i64(self.number()?).and_then(|number| number.try_into().ok());
                number.ok_or(HeaderError::TypeWrong(start))
            }
            _ => Err(HeaderError::TypeWrong(start)),
        }
    }

    fn optional_string(&mut self) -> Result<Option<Text<'a>>, HeaderError> {
        match self.value_start()? {
            b'n' => self.literal("null").map(|_| None),
            b'"' => self.string().map(Some),
            _ => Err(HeaderError::TypeWrong(self.at)),
        }
    }

    fn ext_value(&mut self) -> Result<Option<Text<'a>>, HeaderError> {
        let text = match self.value_start()? {
            b'"' => return self.string().map(Some),
            b'n' => return self.literal("null").map(|_| None),
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            b'-' | b'0'..=b'9' => self.number()?,
            b'{' | b'[' => return Err(HeaderError::TypeWrong(self.at)),
            _ => return self.invalid(),
        };
        Ok(Some(Text::part(text)))
    }

    /// Walk an object, calling `field` standing before each value.
    fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, Text<'a>) -> Result<(), HeaderError>,
    ) -> Result<(), HeaderError> {
        self.expect(b'{')?;
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.skip_space();
            let key = self.string()?;
            self.skip_space();
            self.expect(b':')?;
            field(self, key)?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.invalid(),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), HeaderError> {
        self.expect(b'[')?;
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.skip_value(depth)?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.invalid(),
            }
        }
    }

    /// Skip a value of a key we don't know. Recursion ends at [`JSON_DEPTH_MAX`].
    fn skip_value(&mut self, depth: usize) -> Result<(), HeaderError> {
        if depth > JSON_DEPTH_MAX {
            return Err(HeaderError::TooDeep);
        }
        match self.value_start()? {
            b'{' => self.object(|scanner, _| scanner.skip_value(depth + 1)),
            b'[' => self.array(depth + 1),
            b'"' => self.string().map(|_| ()),
            b't' => self.literal("true").map(|_| ()),
            b'f' => self.literal("false").map(|_| ()),
            b'n' => self.literal("null").map(|_| ()),
            _ => self.number().map(|_| ()),
        }
    }

    fn ext_fields(&mut self, ext: &mut impl ExtSink<'a>) -> Result<(), HeaderError> {
        ext.clear();
        match self.value_start()? {
            b'n' => return self.literal("null").map(|_| ()),
            b'{' => {}
            _ => return Err(HeaderError::TypeWrong(self.at)),
        }
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        for _ in 0..EXT_COUNT_MAX {
            let (key, value) = match self.plain_entry() {
                Some((key, value)) => (key, Some(value)),
                None => self.any_entry()?,
            };
            ext.put(key, value);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.invalid(),
            }
        }
        Err(HeaderError::ExtTooMany)
    }

    /// Take an entry written as `"key":"value"`, without spaces and escapes, as nearly all are.
    /// `None` leaves it to [`Self::any_entry`].
    #[inline]
    fn plain_entry(&mut self) -> Option<(Text<'a>, Text<'a>)> {
        let (bytes, at) = (self.bytes, self.at);
        let key_end = match bytes.get(at..)? {
            // Sends have keys of one letter.
            [b'"', b'a'..=b'z', b'"', b':', b'"', ..] => at + 2,
            [b'"', ..] => {
                let key_end = find_string_stop(bytes, at + 1)?;
                if bytes.get(key_end..)?.first_chunk() != Some(b"\":\"") {
                    return None;
                }
                key_end
            }
            _ => return None,
        };
        let value_at = key_end + 3;
        let value_end = find_string_stop(bytes, value_at)?;
        if bytes[value_end] != b'"' {
            return None;
        }
        self.at = value_end + 1;
        Some((
            Text::part(&bytes[at + 1..key_end]),
            Text::part(&bytes[value_at..value_end]),
        ))
    }

    fn any_entry(&mut self) -> Result<(Text<'a>, Option<Text<'a>>), HeaderError> {
        self.skip_space();
        let key = self.string()?;
        self.skip_space();
        self.expect(b':')?;
        Ok((key, self.ext_value()?))
    }
}

/// Read the inside of a JSON string, up to the quote that ends it, with which the rest begins.
/// `None` when it is malformed.
#[cfg(test)]
pub(crate) fn string_content(bytes: &[u8]) -> Option<(Text<'_>, &[u8])> {
    let stop = find_string_stop(bytes, 0)?;
    let (text, end) = if bytes[stop] == b'"' {
        (Text::part(&bytes[..stop]), stop)
    } else {
        let mut scanner = Scanner {
            bytes,
            at: stop + 1,
        };
        let text = scanner.rest_of_escaped_string(0).ok()?;
        (text, scanner.at - 1)
    };
    let (inside, rest) = bytes.split_at(end);
    (inside.is_ascii() || std::str::from_utf8(inside).is_ok()).then_some((text, rest))
}

pub(crate) fn decode_header<'a>(
    bytes: &'a [u8],
    ext: &mut impl ExtSink<'a>,
) -> Result<Header<'a>, HeaderError> {
    // Most are plain ASCII, which is found out faster.
    if !bytes.is_ascii() {
        std::str::from_utf8(bytes).map_err(|_| HeaderError::NotUtf8)?;
    }
    let mut scanner = Scanner { bytes, at: 0 };
    let mut header = Header::default();
    scanner.skip_space();
    scanner.object(|scanner, key| {
        match key.to_bytes().as_ref() {
            b"code" => header.code = scanner.integer()?,
            b"version" => header.version = scanner.integer()?,
            b"opaque" => header.opaque = scanner.integer()?,
            b"flag" => header.flag = scanner.integer()?,
            b"remark" => header.remark = scanner.optional_string()?,
            b"language" => {
                header.language = scanner.optional_string()?.map_or(Language::JAVA, |name| {
                    Language::find(&name.to_str()).unwrap_or(Language::OTHER)
                });
            }
            b"extFields" => scanner.ext_fields(ext)?,
            _ => scanner.skip_value(1)?,
        }
        Ok(())
    })?;
    scanner.skip_space();
    if scanner.at != bytes.len() {
        return Err(HeaderError::Trailing(scanner.at));
    }
    Ok(header)
}
