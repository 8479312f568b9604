//! Which keys a record is found by (storage-and-ha.md 4.2), and whether it has one.

use crate::properties::{find_property, java_hash};
use crate::record::{RecordView, has_index_entries};

const UNIQUE_KEY: &[u8] = b"UNIQ_KEY";
const KEYS: &[u8] = b"KEYS";
const TAGS: &[u8] = b"TAGS";

/// Stands between topic and tags, where the other keys have nothing: stock's since 5.5.
const TAGS_MARK: &[u8] = b"T#";

/// A key that a message is looked for by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// The unique key, or one of the keys that its producer gave.
    Key(&'a str),
    /// The unique key only.
    UniqueKey(&'a str),
    /// All of `TAGS`.
    Tags(&'a str),
}

impl Wanted<'_> {
    pub(crate) fn hash(&self, topic: &str) -> i32 {
        let (mark, key): (&[u8], _) = match self {
            Self::Key(key) | Self::UniqueKey(key) => (b"", key),
            Self::Tags(tags) => (TAGS_MARK, tags),
        };
        hash(topic.as_bytes(), mark, key.as_bytes(), &mut Vec::new())
    }

    /// Whether a record really has the key: the index knows hashes only (storage-and-ha.md 11.2,
    /// trap 26).
    pub(crate) fn is_key_of(&self, topic: &str, record: &RecordView<'_>) -> bool {
        let property = |name| find_property(record.properties, name);
        record.topic == topic.as_bytes()
            && has_index_entries(record.sys_flag)
            && match self {
                Self::Key(key) => {
                    let is_wanted = |found: &[u8]| found == key.as_bytes();
                    property(UNIQUE_KEY).is_some_and(is_wanted)
                        || property(KEYS).is_some_and(|keys| parts(keys).any(is_wanted))
                }
                Self::UniqueKey(key) => property(UNIQUE_KEY) == Some(key.as_bytes()),
                Self::Tags(tags) => property(TAGS) == Some(tags.as_bytes()),
            }
    }
}

/// Calls `take` with the hash of each key of a record, in the order in which they are indexed.
///
/// `text` is scratch space, so that a record costs no allocation.
pub(crate) fn each_hash(record: &RecordView<'_>, text: &mut Vec<u8>, mut take: impl FnMut(i32)) {
    if !has_index_entries(record.sys_flag) {
        return;
    }
    let property = |name| find_property(record.properties, name);
    if let Some(key) = property(UNIQUE_KEY) {
        take(hash(record.topic, b"", key, text));
    }
    for key in property(KEYS).into_iter().flat_map(parts) {
        take(hash(record.topic, b"", key, text));
    }
    if let Some(tags) = property(TAGS) {
        take(hash(record.topic, TAGS_MARK, tags, text));
    }
}

fn parts(keys: &[u8]) -> impl Iterator<Item = &[u8]> {
    keys.split(|byte| *byte == b' ')
        .filter(|part| !part.is_empty())
}

/// Java's hash of the key text without its sign; 0 for the one that has no positive
/// (storage-and-ha.md 11.2, trap 25).
fn hash(topic: &[u8], mark: &[u8], key: &[u8], text: &mut Vec<u8>) -> i32 {
    text.clear();
    for part in [topic, b"#", mark, key] {
        text.extend_from_slice(part);
    }
    java_hash(text).checked_abs().unwrap_or(0)
}
