//! Properties that differ from earlier ones of the same producer in their unique key only.

use crate::properties::{PropertyBuffer, Verdict};

const KEY_NAME: &[u8] = b"UNIQ_KEY\\u0001";

/// Clients make keys of 16 bytes, written in hex (remoting.md 4.5).
const KEY_SIZE: usize = 32;
/// Connections without number may keep a few of them each.
const REPEATED_SIZE_MAX: usize = 4096;
const OTHER_KEY: &[u8; KEY_SIZE] = b"0123456789abcdefFEDCBA9876543210";

/// Properties as a JSON header has them, cut at the value of the unique key, and what they come to.
#[derive(Debug)]
pub(crate) struct RepeatedProperties {
    before: Box<[u8]>,
    /// With the quote that ends the string.
    after: Box<[u8]>,
    stored: Box<[u8]>,
    key_at: usize,
    verdict: Verdict,
    tags_code: i64,
}

impl RepeatedProperties {
    /// Cut the properties that `json` begins with. `None` if there is no key as clients make keys,
    /// or if the message is not for the hot path. `None` also if the properties are too long.
    pub(crate) fn new(json: &[u8]) -> Option<Self> {
        let mut buffer = PropertyBuffer::default();
        let rest = buffer.read(json)?;
        let size = json.len() - rest.len();
        if size > REPEATED_SIZE_MAX {
            return None;
        }
        let name_at = json[..size]
            .windows(KEY_NAME.len())
            .position(|bytes| bytes == KEY_NAME)?;
        let (before, value) = json[..=size].split_at(name_at + KEY_NAME.len());
        let (key, after) = value.split_first_chunk::<KEY_SIZE>()?;
        let verdict = buffer.keep();
        if verdict == Verdict::Cold {
            return None;
        }
        let repeated = Self {
            before: before.into(),
            after: after.into(),
            stored: buffer.stored().into(),
            key_at: buffer.unique_key_at(),
            verdict,
            tags_code: buffer.tags_code(),
        };
        (is_simple(key) && buffer.unique_key() == key && repeated.is_sound()?).then_some(repeated)
    }

    /// Whether another key comes to the same as if it were read without this. What looks like the
    /// key may be part of something else, or one of two.
    fn is_sound(&self) -> Option<bool> {
        // What may follow a string: reading takes a word at a time.
        let json = [&*self.before, OTHER_KEY, &self.after, b",\"j\":\"0\""].concat();
        let (mut read, mut repeated) = (PropertyBuffer::default(), PropertyBuffer::default());
        let rest = read.read(&json)?;
        let verdict = read.keep();
        Some(
            self.read(&json, &mut repeated) == Some(rest)
                && repeated.keep() == verdict
                && repeated.stored() == read.stored()
                && repeated.unique_key() == read.unique_key()
                && repeated.tags_code() == read.tags_code(),
        )
    }

    /// Take properties that are written like these; the rest begins with the quote that ends them.
    #[inline]
    pub(crate) fn read<'h>(&self, json: &'h [u8], buffer: &mut PropertyBuffer) -> Option<&'h [u8]> {
        let value = json.strip_prefix(&*self.before)?;
        let (key, rest) = value.split_first_chunk::<KEY_SIZE>()?;
        if !rest.starts_with(&self.after) || !is_simple(key) {
            return None;
        }
        buffer.repeat(&self.stored, self.key_at, key);
        buffer.judged(self.verdict, self.tags_code);
        Some(&rest[self.after.len() - 1..])
    }
}

/// Letters and digits, which stand for themselves everywhere.
#[inline]
fn is_simple(key: &[u8; KEY_SIZE]) -> bool {
    key.iter()
        .map(|byte| byte.is_ascii_alphanumeric())
        .fold(true, |all, is_one| all & is_one)
}
