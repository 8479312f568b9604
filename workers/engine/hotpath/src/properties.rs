//! What a send does to the properties of its message (remoting.md 2.2, 4.3).

use std::ops::Range;

use regent_commitlog::java_hash;
use regent_remoting::properties::{
    NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR, append_property, pairs,
};
use regent_remoting::{PropertyString, Text};

use crate::transactions::{IMMUNITY, add_half_properties, immunity_s, is_set_by_broker};

/// What the properties say about how to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A delayed, timed or otherwise special message.
    Cold,
    /// An ordinary message.
    Ordinary {
        /// Whether the sender wants to wait for the flush.
        waits: bool,
    },
    /// A half message of a transaction.
    Half {
        /// Whether the sender wants to wait for the flush.
        waits: bool,
        /// The age from which the producer may be asked, if the message names one.
        immunity_s: Option<i64>,
    },
}

/// Properties that make a message a special one. Such a message is delayed, timed, or a half of a
/// transaction; or it seems to be an inner batch, has escaped from another broker group, or has a
/// priority.
///
/// Light queues (`INNER_MULTI_DISPATCH`) are not served (FORMAT.md 3.1): such a message is an ordinary one.
pub const SPECIAL_PROPERTIES: [&str; 8] = [
    "DELAY",
    "INNER_NUM",
    "REGENT_ESCAPED_FROM",
    "TRAN_MSG",
    "TIMER_DELIVER_MS",
    "TIMER_DELAY_SEC",
    "TIMER_DELAY_MS",
    "_SYS_MSG_PRIORITY_",
];

/// What one property means to a send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Only the broker may set it.
    Reserved,
    /// It makes the message a special one.
    Special,
    /// It makes the message a half message.
    Transaction,
    /// Of a half message, only the broker may set it.
    ReservedInHalf,
    Immunity,
    UniqueKey,
    Wait,
    Tags,
    /// The application's own, or nothing to a send.
    Other,
}

impl Meaning {
    fn of(name: &[u8]) -> Self {
        match name {
            b"UNIQ_KEY" => Self::UniqueKey,
            b"WAIT" => Self::Wait,
            b"TAGS" => Self::Tags,
            b"POP_CK"
            | b"CLUSTER"
            | b"MSG_REGION"
            | b"TRACE_ON"
            | b"INNER_MULTI_QUEUE_OFFSET"
            | b"REGENT_COPY_OF" => Self::Reserved,
            b"TRAN_MSG" => Self::Transaction,
            IMMUNITY => Self::Immunity,
            _ if is_special(name) => Self::Special,
            _ if is_set_by_broker(name) => Self::ReservedInHalf,
            _ => Self::Other,
        }
    }
}

/// Names a property that makes a message special, in the properties of a message of a batch.
///
/// No message of a batch is set aside: it would be delivered at once. Values that make no message
/// special, such as a delay level of 0, may stay.
pub(crate) fn special_in_batch(properties: &[u8]) -> Option<&'static str> {
    let mut pairs_size = 0;
    for (name, value) in pairs(properties) {
        if is_special(name) && counts(name, value) {
            return special_name(name);
        }
        pairs_size += name.len() + value.len() + 2;
    }
    // The last pair may lack its separator. What is no pair lacks a name or a value.
    if pairs_size >= properties.len() {
        None
    } else {
        special_without_value(properties)
    }
}

/// Names a property that would make a message special, if it had a value.
fn special_without_value(properties: &[u8]) -> Option<&'static str> {
    properties
        .split(|byte| *byte == PROPERTY_SEPARATOR)
        .find_map(|entry| {
            special_name(entry.strip_suffix(&[NAME_VALUE_SEPARATOR]).unwrap_or(entry))
        })
}

#[cold]
fn special_name(name: &[u8]) -> Option<&'static str> {
    let mut names = SPECIAL_PROPERTIES.into_iter();
    names.find(|special| special.as_bytes() == name)
}

#[cold]
fn counts(name: &[u8], value: &[u8]) -> bool {
    match name {
        b"DELAY" => {
            let level = std::str::from_utf8(value).map(str::parse::<i32>);
            !matches!(level, Ok(Ok(..=0)))
        }
        b"TRAN_MSG" => value.eq_ignore_ascii_case(b"true"),
        // Only the agent of a broker escapes messages, one by one; this is a copy of one. All messages of a
        // batch go to one queue.
        b"REGENT_ESCAPED_FROM" | b"_SYS_MSG_PRIORITY_" => false,
        _ => true,
    }
}

#[inline]
fn is_special(name: &[u8]) -> bool {
    // Most names begin otherwise.
    matches!(name.first(), Some(b'D' | b'I' | b'R' | b'T' | b'_'))
        && SPECIAL_PROPERTIES
            .iter()
            .any(|special| special.as_bytes() == name)
}

/// Scratch space for one message's properties, kept from message to message.
#[derive(Debug, Default)]
pub(crate) struct PropertyBuffer {
    received: PropertyString,
    stored: Vec<u8>,
    /// Where the unique key's value lies in `stored`; empty while there is none.
    unique_key: Range<usize>,
    tags_code: i64,
    /// The verdict on what is `stored`, if it is known already.
    judged: Option<Verdict>,
}

impl PropertyBuffer {
    /// How many bytes of memory it keeps.
    pub(crate) fn capacity(&self) -> usize {
        self.received.capacity() + self.stored.capacity()
    }

    /// Take a message's properties.
    pub(crate) fn set(&mut self, properties: Option<Text<'_>>) {
        self.judged = None;
        self.received.set(properties);
    }

    /// Take a message's properties out of a JSON header, as [`PropertyString::read`] does.
    #[inline]
    pub(crate) fn read<'h>(&mut self, json: &'h [u8]) -> Option<&'h [u8]> {
        self.judged = None;
        self.received.read(json)
    }

    /// Store properties that came before, with another key of the same size at `key_at`.
    #[inline]
    pub(crate) fn repeat(&mut self, stored: &[u8], key_at: usize, key: &[u8]) {
        self.stored.clear();
        self.stored.extend_from_slice(stored);
        self.unique_key = key_at..key_at + key.len();
        self.stored[self.unique_key.clone()].copy_from_slice(key);
    }

    /// Say what [`Self::keep`] would find out of what is stored.
    #[inline]
    pub(crate) fn judged(&mut self, verdict: Verdict, tags_code: i64) {
        self.judged = Some(verdict);
        self.tags_code = tags_code;
    }

    /// What was received, escapes resolved.
    pub(crate) fn received(&self) -> &[u8] {
        self.received.bytes()
    }

    /// Judge what was received, and keep what will be stored: all but what only the broker may
    /// set. Nothing stays received.
    pub(crate) fn keep(&mut self) -> Verdict {
        match self.judged {
            Some(verdict) => verdict,
            None => self.judge(false),
        }
    }

    /// As [`Self::keep`], of a message whose special properties the dispatcher has checked: a half
    /// message may have them.
    pub(crate) fn keep_checked(&mut self) -> Verdict {
        self.judge(true)
    }

    fn judge(&mut self, is_checked: bool) -> Verdict {
        self.stored.clear();
        self.unique_key = 0..0;
        self.tags_code = 0;
        let (mut waits, mut immunity, mut kept_size) = (true, None, 0);
        let (mut is_special, mut is_half, mut has_reserved_in_half) = (false, None, false);
        for (name, value) in self.received.pairs() {
            match Meaning::of(name) {
                Meaning::Reserved => continue,
                Meaning::Special => is_special = true,
                Meaning::Transaction => is_half = Some(value.eq_ignore_ascii_case(b"true")),
                Meaning::ReservedInHalf => has_reserved_in_half = true,
                Meaning::Immunity => immunity = immunity_s(value),
                Meaning::UniqueKey => {
                    let start = kept_size + name.len() + 1;
                    self.unique_key = start..start + value.len();
                }
                Meaning::Wait => waits = !value.eq_ignore_ascii_case(b"false"),
                Meaning::Tags => self.tags_code = i64::from(java_hash(value)),
                Meaning::Other => {}
            }
            kept_size += name.len() + value.len() + 2;
        }
        let verdict = match is_half {
            Some(true) if is_checked || !is_special => Verdict::Half {
                waits,
                immunity_s: immunity,
            },
            None if !is_special => Verdict::Ordinary { waits },
            _ => return Verdict::Cold,
        };
        let leaves_out_more = is_half.is_some() && has_reserved_in_half;
        if self.store(kept_size, leaves_out_more) {
            verdict
        } else {
            Verdict::Cold
        }
    }

    /// Fill `stored`, of a half message perhaps without what only the broker may set there. When every
    /// received byte is kept, there is nothing to leave out. `false` when what has to be left out would
    /// make the message a special one.
    fn store(&mut self, kept_size: usize, leaves_out_more: bool) -> bool {
        let received = self.received.bytes();
        let lacks_end = received
            .last()
            .is_some_and(|byte| *byte != PROPERTY_SEPARATOR);
        if !leaves_out_more && kept_size == received.len() + usize::from(lacks_end) {
            self.received.exchange(&mut self.stored);
            if lacks_end {
                self.stored.push(PROPERTY_SEPARATOR);
            }
            return true;
        }
        if special_without_value(received).is_some() {
            return false;
        }
        for (name, value) in self.received.pairs() {
            match Meaning::of(name) {
                Meaning::Reserved => continue,
                Meaning::ReservedInHalf if leaves_out_more => continue,
                Meaning::UniqueKey => {
                    let start = self.stored.len() + name.len() + 1;
                    self.unique_key = start..start + value.len();
                }
                _ => {}
            }
            append_property(&mut self.stored, name, value);
        }
        true
    }

    /// Give the message a unique key when it has none.
    pub(crate) fn set_unique_key(&mut self, make: impl FnOnce() -> String) {
        if self.unique_key.is_empty() {
            let key = make();
            append_property(&mut self.stored, b"UNIQ_KEY", key.as_bytes());
            let end = self.stored.len() - 1;
            self.unique_key = end - key.len()..end;
        }
    }

    /// Add properties of the broker's, encoded.
    pub(crate) fn add(&mut self, encoded: &[u8]) {
        self.stored.extend_from_slice(encoded);
    }

    /// Add what the half message of a message for a queue has besides.
    pub(crate) fn add_half(&mut self, topic: &str, queue_id: i32) {
        let unique_key = self.unique_key().to_vec();
        add_half_properties(&mut self.stored, topic, queue_id, &unique_key);
    }

    pub(crate) fn stored(&self) -> &[u8] {
        &self.stored
    }

    /// The hash of the tags, or 0 without.
    pub(crate) fn tags_code(&self) -> i64 {
        self.tags_code
    }

    /// Where the unique key begins in what is stored.
    pub(crate) fn unique_key_at(&self) -> usize {
        self.unique_key.start
    }

    /// The unique key, in UTF-8; empty while there is none.
    pub(crate) fn unique_key(&self) -> &[u8] {
        self.stored.get(self.unique_key.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_special_name_is_found_with_and_without_a_value_wherever_it_is() {
        // Case A12.
        for name in SPECIAL_PROPERTIES
            .into_iter()
            .filter(|name| counts(name.as_bytes(), b"TRUE"))
        {
            for entry in [
                format!("{name}\u{1}TRUE"),
                format!("{name}\u{1}"),
                name.into(),
            ] {
                for text in [
                    entry.clone(),
                    format!("{entry}\u{2}WAIT\u{1}true\u{2}"),
                    format!("WAIT\u{1}true\u{2}{entry}"),
                    format!("WAIT\u{1}true\u{2}\u{2}{entry}\u{2}"),
                ] {
                    assert_eq!(special_in_batch(text.as_bytes()), Some(name), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn usual_properties_name_nothing_special() {
        for text in [
            "",
            "UNIQ_KEY\u{1}7F0000010A2B18B4AAC2000000010000\u{2}WAIT\u{1}true\u{2}TAGS\u{1}DELAY",
            "DELAY\u{1}0\u{2}TRAN_MSG\u{1}false\u{2}",
            "REGENT_ESCAPED_FROM\u{1}TestCluster/broker-a/4711\u{2}",
            "DELAYED\u{1}\u{2}NODELAY\u{2}KEYS\u{1}TRAN_MSG\u{2}",
        ] {
            assert_eq!(special_in_batch(text.as_bytes()), None, "{text:?}");
        }
    }
}
