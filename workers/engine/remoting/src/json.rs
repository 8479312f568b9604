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
use crate::text::Text;

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn invalid<T>(&self) -> Result<T, HeaderError> {
        if self.at >= self.text.len() {
            return Err(HeaderError::Truncated);
        }
        Err(HeaderError::JsonInvalid(self.at))
    }

    #[inline]
    fn skip_space(&mut self) {
        // Hardly any header has space; one comparison tells.
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
        let (text, start) = (self.text, self.at);
        let stop = find_string_stop(text.as_bytes(), start).ok_or(HeaderError::Truncated)?;
        self.at = stop + 1;
        if text.as_bytes()[stop] == b'"' {
            return Ok(Text::plain(&text[start..stop]));
        }
        self.rest_of_escaped_string(start)
    }

    /// Scan on from a string's first escape, standing after its backslash.
    fn rest_of_escaped_string(&mut self, start: usize) -> Result<Text<'a>, HeaderError> {
        let text = self.text;
        loop {
            self.escape()?;
            let stop = find_string_stop(text.as_bytes(), self.at).ok_or(HeaderError::Truncated)?;
            self.at = stop + 1;
            if text.as_bytes()[stop] == b'"' {
                return Ok(Text::escaped(&text[start..stop]));
            }
        }
    }

    /// Check one escape, standing after its backslash.
    fn escape(&mut self) -> Result<(), HeaderError> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += match rest {
            [b'u', a, b, c, d, ..]
                if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) =>
            {
                5
            }
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

    /// Scan a number, returning its text and whether it is a whole one.
    fn number(&mut self) -> Result<(&'a str, bool), HeaderError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        let mut whole = true;
        if self.peek() == Some(b'.') {
            whole = false;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok((&self.text[start..self.at], whole))
    }

    fn literal(&mut self, literal: &str) -> Result<&'a str, HeaderError> {
        let start = self.at;
        if !self.text.as_bytes()[start..].starts_with(literal.as_bytes()) {
            return self.invalid();
        }
        self.at += literal.len();
        Ok(&self.text[start..self.at])
    }

    /// Scan an integer field; `null` leaves the default.
    fn integer(&mut self) -> Result<i32, HeaderError> {
        let first = self.value_start()?;
        let start = self.at;
        match first {
            b'n' => self.literal("null").map(|_| 0),
            b'-' | b'0'..=b'9' => {
                let (text, _) = self.number()?;
                text.parse().map_err(|_| HeaderError::TypeWrong(start))
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
            b'-' | b'0'..=b'9' => self.number()?.0,
            b'{' | b'[' => return Err(HeaderError::TypeWrong(self.at)),
            _ => return self.invalid(),
        };
        Ok(Some(Text::plain(text)))
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
        let (text, at) = (self.text, self.at);
        let bytes = text.as_bytes();
        if *bytes.get(at)? != b'"' {
            return None;
        }
        let key_end = find_string_stop(bytes, at + 1)?;
        if bytes.get(key_end..)?.first_chunk() != Some(b"\":\"") {
            return None;
        }
        let value_at = key_end + 3;
        let value_end = find_string_stop(bytes, value_at)?;
        if bytes[value_end] != b'"' {
            return None;
        }
        self.at = value_end + 1;
        Some((
            Text::plain(&text[at + 1..key_end]),
            Text::plain(&text[value_at..value_end]),
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

pub(crate) fn decode_header<'a>(
    bytes: &'a [u8],
    ext: &mut impl ExtSink<'a>,
) -> Result<Header<'a>, HeaderError> {
    let text = std::str::from_utf8(bytes).map_err(|_| HeaderError::NotUtf8)?;
    let mut scanner = Scanner { text, at: 0 };
    let mut header = Header::default();
    scanner.skip_space();
    scanner.object(|scanner, key| {
        let key = key.to_str();
        match key.as_ref() {
            "code" => header.code = scanner.integer()?,
            "version" => header.version = scanner.integer()?,
            "opaque" => header.opaque = scanner.integer()?,
            "flag" => header.flag = scanner.integer()?,
            "remark" => header.remark = scanner.optional_string()?,
            "language" => {
                header.language = scanner.optional_string()?.map_or(Language::JAVA, |name| {
                    Language::find(&name.to_str()).unwrap_or(Language::OTHER)
                });
            }
            "extFields" => scanner.ext_fields(ext)?,
            _ => scanner.skip_value(1)?,
        }
        Ok(())
    })?;
    scanner.skip_space();
    if scanner.at != text.len() {
        return Err(HeaderError::Trailing(scanner.at));
    }
    Ok(header)
}
