//! The properties of a message as a header carries them: a JSON string whose separators are
//! escaped. One pass resolves the escapes and separates the pairs.

use crate::properties::{NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR, pairs};
use crate::swar::string_stops;
use crate::text::Text;

const WORD: usize = 8;

/// A property string out of a header, in UTF-8. It keeps its memory from string to string.
#[derive(Debug, Default)]
pub struct PropertyString {
    bytes: Vec<u8>,
    /// The pairs, or nothing when they must be looked for.
    found: Vec<Pair>,
    is_searched: bool,
}

/// Where a name begins and ends, and the value after it ends.
#[derive(Debug, Clone, Copy)]
struct Pair {
    start: usize,
    name_end: usize,
    end: usize,
}

/// What separates the pairs of a string that is read, as far as they are simple: each with a
/// name, a value, and a separator in between.
#[derive(Debug)]
struct Cutter<'a> {
    found: &'a mut Vec<Pair>,
    start: usize,
    name_end: Option<usize>,
    is_simple: bool,
}

impl Cutter<'_> {
    #[inline]
    fn separator(&mut self, byte: u8, at: usize) {
        match (byte, self.name_end) {
            (NAME_VALUE_SEPARATOR, None) => self.name_end = Some(at),
            (PROPERTY_SEPARATOR, _) => self.end(at),
            _ => {}
        }
    }

    #[inline]
    fn end(&mut self, at: usize) {
        let (start, name_end) = (self.start, self.name_end.take().unwrap_or(at));
        self.is_simple &= name_end > start && at > name_end + 1;
        self.found.push(Pair {
            start,
            name_end,
            end: at,
        });
        self.start = at + 1;
    }
}

impl PropertyString {
    /// Take a string that was scanned already; none is an empty one.
    pub fn set(&mut self, text: Option<Text<'_>>) {
        self.bytes.clear();
        self.found.clear();
        self.is_searched = true;
        if let Some(text) = text {
            text.append_to(&mut self.bytes);
        }
    }

    /// Read the inside of a JSON string up to the quote that ends it. The returned rest begins with
    /// that quote. `None` if the string is malformed, or is written in a way that hardly any
    /// producer uses: then nothing of use is left here, and the caller scans the string otherwise.
    #[inline]
    pub fn read<'h>(&mut self, json: &'h [u8]) -> Option<&'h [u8]> {
        let Self {
            bytes,
            found,
            is_searched,
        } = self;
        found.clear();
        bytes.resize(bytes.capacity(), 0);
        let mut cutter = Cutter {
            found,
            start: 0,
            name_end: None,
            is_simple: true,
        };
        let (mut at, mut size, mut all) = (0, 0, 0);
        let end = loop {
            let word = json.get(at..)?.first_chunk::<WORD>()?;
            if bytes.len() < size + WORD {
                bytes.resize((2 * bytes.len()).max(32 * WORD), 0);
            }
            // What follows a stop is written over.
            bytes[size..size + WORD].copy_from_slice(word);
            let word = u64::from_le_bytes(*word);
            all |= word;
            let stops = string_stops(word);
            if stops == 0 {
                (at, size) = (at + WORD, size + WORD);
                continue;
            }
            let before = (stops.trailing_zeros() / 8) as usize;
            (at, size) = (at + before, size + before);
            let [b'\\', b'u', b'0', b'0', b'0', digit @ b'0'..=b'9', ..] = &json[at..] else {
                break at;
            };
            let byte = digit - b'0';
            bytes[size] = byte;
            cutter.separator(byte, size);
            (at, size) = (at + 6, size + 1);
        };
        if json[end] != b'"' {
            return None;
        }
        if cutter.start < size {
            cutter.end(size);
        }
        *is_searched = !cutter.is_simple;
        bytes.truncate(size);
        let is_ascii = all & 0x8080_8080_8080_8080 == 0;
        (is_ascii || std::str::from_utf8(bytes).is_ok()).then_some(&json[end..])
    }

    /// The string.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes of memory it keeps.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity() + self.found.capacity() * size_of::<Pair>()
    }

    /// Give the string away for memory to read the next one into.
    pub fn exchange(&mut self, other: &mut Vec<u8>) {
        std::mem::swap(&mut self.bytes, other);
    }

    /// Its pairs, as [`pairs`] gives them.
    pub fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let (found, searched) = if self.is_searched {
            (&[][..], &self.bytes[..])
        } else {
            (&self.found[..], &[][..])
        };
        let cut = |pair: &Pair| {
            let name = &self.bytes[pair.start..pair.name_end];
            (name, &self.bytes[pair.name_end + 1..pair.end])
        };
        found.iter().map(cut).chain(pairs(searched))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::string_content;

    /// Miri takes a thousand times as long.
    const ROUND_COUNT: usize = if cfg!(miri) { 1_000 } else { 200_000 };

    fn read(json: &[u8]) -> Option<(PropertyString, usize)> {
        let mut string = PropertyString::default();
        let rest = string.read(json)?.len();
        Some((string, rest))
    }

    #[test]
    fn a_string_of_a_producer_is_resolved_and_cut() {
        let json = br#"UNIQ_KEY\u00017F00\u0002WAIT\u0001true\u0002TAGS\u0001TagA","j":"0"}"#;

        let (string, rest) = read(json).unwrap();

        assert_eq!(
            string.bytes(),
            b"UNIQ_KEY\x017F00\x02WAIT\x01true\x02TAGS\x01TagA"
        );
        assert!(!string.is_searched);
        let pairs: Vec<_> = string.pairs().collect();
        let expected: [(&[u8], &[u8]); 3] = [
            (b"UNIQ_KEY", b"7F00"),
            (b"WAIT", b"true"),
            (b"TAGS", b"TagA"),
        ];
        assert_eq!(pairs, expected);
        assert_eq!(rest, br#"","j":"0"}"#.len());
    }

    #[test]
    fn whatever_is_read_is_what_the_scanner_and_the_search_find() {
        let parts: [&[u8]; 14] = [
            b"a",
            b"TAGS",
            b"\\u0001",
            b"\\u0002",
            b"\\u0003",
            b"\\u0010",
            b"\\n",
            b"\\",
            b"\x01",
            b"\x02",
            "é".as_bytes(),
            b"\xff",
            b"value of a property",
            b"\"",
        ];
        let mut random = 1_u64;
        let mut read_count = 0;
        let mut string = PropertyString::default();
        for _ in 0..ROUND_COUNT {
            let mut json = Vec::new();
            for _ in 0..random % 13 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                json.extend_from_slice(parts[(random >> 33) as usize % parts.len()]);
            }
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1442);
            json.extend_from_slice(b"\",\"j\":\"0\"");
            if let Some(rest) = string.read(&json) {
                read_count += 1;
                let (text, expected) = string_content(&json).unwrap();
                assert_eq!(rest, expected);
                assert_eq!(string.bytes(), text.to_bytes().as_ref());
                let found: Vec<_> = string.pairs().collect();
                assert_eq!(found, pairs(string.bytes()).collect::<Vec<_>>());
            }
        }
        assert!(read_count > ROUND_COUNT / 4, "{read_count}");
    }
}
