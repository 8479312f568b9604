//! What a send does to the properties of its message (remoting.md 2.2, 4.3).

use std::ops::Range;

use regent_remoting::properties::{PROPERTY_SEPARATOR, append_property};
use regent_remoting::{PropertyString, Text};

/// What the properties say about how to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A delayed, timed, transactional or otherwise special message.
    Cold,
    /// An ordinary message.
    Ordinary {
        /// Whether the sender wants to wait for the flush.
        waits: bool,
    },
}

/// What one property means to a send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Only the broker may set it.
    Reserved,
    /// It makes the message a special one.
    Special,
    UniqueKey,
    Wait,
    /// The application's own, or nothing to a send.
    Other,
}

impl Meaning {
    fn of(name: &[u8]) -> Self {
        match name {
            b"UNIQ_KEY" => Self::UniqueKey,
            b"WAIT" => Self::Wait,
            b"POP_CK" | b"CLUSTER" | b"MSG_REGION" | b"TRACE_ON" => Self::Reserved,
            b"DELAY" | b"TRAN_MSG" | b"INNER_NUM" | b"INNER_BASE" | b"INNER_MULTI_DISPATCH" => {
                Self::Special
            }
            _ if name.starts_with(b"TIMER_") => Self::Special,
            _ => Self::Other,
        }
    }
}

/// Scratch space for one message's properties, kept from message to message.
#[derive(Debug, Default)]
pub(crate) struct PropertyBuffer {
    received: PropertyString,
    stored: Vec<u8>,
    /// Where the unique key's value lies in `stored`; empty while there is none.
    unique_key: Range<usize>,
}

impl PropertyBuffer {
    /// Take a message's properties.
    pub(crate) fn set(&mut self, properties: Option<Text<'_>>) {
        self.received.set(properties);
    }

    /// Take a message's properties out of a JSON header, as [`PropertyString::read`] does.
    #[inline]
    pub(crate) fn read<'h>(&mut self, json: &'h [u8]) -> Option<&'h [u8]> {
        self.received.read(json)
    }

    /// What was received, escapes resolved.
    pub(crate) fn received(&self) -> &[u8] {
        self.received.bytes()
    }

    /// Judge what was received, and keep what will be stored: all but what only the broker may
    /// set. Nothing stays received.
    pub(crate) fn keep(&mut self) -> Verdict {
        self.stored.clear();
        self.unique_key = 0..0;
        let (mut waits, mut kept_size) = (true, 0);
        for (name, value) in self.received.pairs() {
            match Meaning::of(name) {
                Meaning::Reserved => continue,
                Meaning::Special => return Verdict::Cold,
                Meaning::UniqueKey => {
                    let start = kept_size + name.len() + 1;
                    self.unique_key = start..start + value.len();
                }
                Meaning::Wait => waits = !value.eq_ignore_ascii_case(b"false"),
                Meaning::Other => {}
            }
            kept_size += name.len() + value.len() + 2;
        }
        self.store(kept_size);
        Verdict::Ordinary { waits }
    }

    /// Fill `stored`. When every received byte is kept, there is nothing to leave out.
    fn store(&mut self, kept_size: usize) {
        let received = self.received.bytes();
        let lacks_end = received
            .last()
            .is_some_and(|byte| *byte != PROPERTY_SEPARATOR);
        if kept_size == received.len() + usize::from(lacks_end) {
            self.received.exchange(&mut self.stored);
            if lacks_end {
                self.stored.push(PROPERTY_SEPARATOR);
            }
            return;
        }
        for (name, value) in self.received.pairs() {
            if Meaning::of(name) != Meaning::Reserved {
                append_property(&mut self.stored, name, value);
            }
        }
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

    pub(crate) fn stored(&self) -> &[u8] {
        &self.stored
    }

    /// The unique key, in UTF-8; empty while there is none.
    pub(crate) fn unique_key(&self) -> &[u8] {
        self.stored.get(self.unique_key.clone()).unwrap_or_default()
    }
}
