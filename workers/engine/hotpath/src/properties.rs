//! What a send does to the properties of its message (remoting.md 2.2, 4.3).

use regent_remoting::Text;
use regent_remoting::properties::{append_property, pairs};

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

/// Scratch space for one message's properties, kept from message to message.
#[derive(Debug, Default)]
pub(crate) struct PropertyBuffer {
    received: Vec<u8>,
    stored: Vec<u8>,
    unique_key: Vec<u8>,
}

impl PropertyBuffer {
    /// Take a message's properties and keep what will be stored: all but those that only the
    /// broker may set.
    pub(crate) fn take(&mut self, properties: Option<Text<'_>>) -> Verdict {
        self.received.clear();
        self.stored.clear();
        self.unique_key.clear();
        if let Some(text) = properties {
            text.append_to(&mut self.received);
        }
        let mut waits = true;
        for (name, value) in pairs(&self.received) {
            match name {
                b"POP_CK" | b"CLUSTER" | b"MSG_REGION" | b"TRACE_ON" => continue,
                b"DELAY" | b"TRAN_MSG" | b"INNER_NUM" | b"INNER_BASE" | b"INNER_MULTI_DISPATCH" => {
                    return Verdict::Cold;
                }
                b"UNIQ_KEY" => {
                    self.unique_key.clear();
                    self.unique_key.extend_from_slice(value);
                }
                b"WAIT" => waits = !value.eq_ignore_ascii_case(b"false"),
                _ if name.starts_with(b"TIMER_") => return Verdict::Cold,
                _ => {}
            }
            append_property(&mut self.stored, name, value);
        }
        Verdict::Ordinary { waits }
    }

    /// Give the message a unique key when it has none.
    pub(crate) fn set_unique_key(&mut self, make: impl FnOnce() -> String) {
        if self.unique_key.is_empty() {
            self.unique_key.extend_from_slice(make().as_bytes());
            append_property(&mut self.stored, b"UNIQ_KEY", &self.unique_key);
        }
    }

    /// Add a property of the broker's.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            append_property(&mut self.stored, name.as_bytes(), value.as_bytes());
        }
    }

    pub(crate) fn stored(&self) -> &[u8] {
        &self.stored
    }

    /// The unique key, `None` while there is none.
    pub(crate) fn unique_key(&self) -> Option<&str> {
        let key = std::str::from_utf8(&self.unique_key).ok()?;
        (!key.is_empty()).then_some(key)
    }
}
