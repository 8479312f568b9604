//! Ends of transactions: request 37 (remoting.md 2.5).

use std::borrow::Cow;

use regent_remoting::{ExtSink, Text};

const END_TRANSACTION: i32 = 37;
const COMMITS: i32 = 8;
const ROLLS_BACK: i32 = 12;

const NAMES: [&str; FIELD_COUNT] = [
    "producerGroup",
    "tranStateTableOffset",
    "commitLogOffset",
    "commitOrRollback",
    "fromTransactionCheck",
    "regentFence",
];
const FIELD_COUNT: usize = 6;
const PRODUCER_GROUP: usize = 0;
const QUEUE_OFFSET: usize = 1;
const LOG_POSITION: usize = 2;
const DECISION: usize = 3;
const FROM_CHECK: usize = 4;
/// The dispatcher carries out fenced requests.
const FENCE: usize = 5;

pub(crate) fn is_end(code: i32) -> bool {
    code == END_TRANSACTION
}

/// Collects the fields of an end of a transaction.
#[derive(Debug, Default)]
pub(crate) struct EndFields<'a> {
    fields: [Option<Text<'a>>; FIELD_COUNT],
}

impl<'a> ExtSink<'a> for EndFields<'a> {
    fn clear(&mut self) {
        *self = Self::default();
    }

    #[inline]
    fn put(&mut self, key: Text<'a>, value: Option<Text<'a>>) {
        let key = key.to_bytes();
        if let Some(place) = NAMES.iter().position(|name| name.as_bytes() == &*key) {
            self.fields[place] = value;
        }
    }
}

/// A decision, and the half message that it names.
#[derive(Debug)]
pub(crate) struct EndRequest<'a> {
    pub(crate) producer_group: Cow<'a, str>,
    pub(crate) queue_offset: u64,
    pub(crate) log_position: u64,
    pub(crate) commits: bool,
    pub(crate) from_check: bool,
}

impl<'a> EndFields<'a> {
    /// Read the request; `None` when a field is missing or malformed, or nothing is decided, which is
    /// for the dispatcher to answer.
    pub(crate) fn request(&self) -> Option<EndRequest<'a>> {
        let fields = &self.fields;
        let offset = |place: usize| u64::try_from(fields[place]?.to_i64()?).ok();
        let commits = match fields[DECISION]?.to_i32()? {
            COMMITS => true,
            ROLLS_BACK => false,
            _ => return None,
        };
        let from_check = match fields[FROM_CHECK].map(Text::to_bytes).as_deref() {
            None | Some(b"false") => false,
            Some(b"true") => true,
            Some(_) => return None,
        };
        fields[FENCE].is_none().then_some(())?;
        Some(EndRequest {
            producer_group: fields[PRODUCER_GROUP]?.to_str(),
            queue_offset: offset(QUEUE_OFFSET)?,
            log_position: offset(LOG_POSITION)?,
            commits,
            from_check,
        })
    }
}
