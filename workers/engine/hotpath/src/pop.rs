//! POP: what its requests say, and its answers (remoting.md 2.4).

use std::borrow::Cow;
use std::fmt::Write;

use regent_remoting::{EncodeError, Encoding, FLAG_RESPONSE, Fields, FrameWriter, Language};
use regent_share::Delivery;

use crate::pull::{PullFilter, PullKind};
use crate::reply::{SUCCESS, VERSION};

pub(crate) const POP_MESSAGE: i32 = 200_050;
pub(crate) const ACK_MESSAGE: i32 = 200_051;
pub(crate) const NOTIFICATION: i32 = 200_054;

/// Most messages of an answer.
pub(crate) const POP_COUNT_MAX: usize = 32;
/// The queue id of a consumer that takes messages of any queue.
pub(crate) const ANY_QUEUE: i32 = -1;
/// A request that comes so long after the end of its wait is of a client that has given up.
const LATE_MS: i64 = 500;

/// How a group receives messages of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopGrant {
    /// Topics whose messages are delivered along with those of the topic.
    pub retries: Vec<RetryTopic>,
    /// Whether its POPs may go to another member that owns all of its share queues (ADR 27).
    pub may_forward: bool,
    /// How many of a hundred POPs of any queue look at the queues from the last one on: those of higher
    /// priority.
    pub priority_percent: u32,
}

/// A topic of messages to be delivered again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryTopic {
    /// Its name.
    pub name: String,
    /// What handles call it: 1 or 2.
    pub flag: u8,
    /// Its queues.
    pub queue_count: i32,
}

/// A POP whose header is whole.
#[derive(Debug)]
pub(crate) struct PopRequest<'a> {
    pub(crate) group: Cow<'a, str>,
    pub(crate) topic: Cow<'a, str>,
    pub(crate) queue_id: i32,
    pub(crate) count_max: i32,
    pub(crate) invisible_ms: i64,
    pub(crate) poll_ms: i64,
    pub(crate) born_ms: i64,
    pub(crate) expression_type: Cow<'a, str>,
    pub(crate) expression: Cow<'a, str>,
    pub(crate) is_ordered: bool,
    pub(crate) attempt: Cow<'a, str>,
    /// Whether another broker sent it, or a step of an operation: it goes no further.
    pub(crate) is_marked: bool,
}

impl PopRequest<'_> {
    pub(crate) fn kind(&self) -> PullKind<'_> {
        PullKind {
            code: POP_MESSAGE,
            group: &self.group,
            topic: &self.topic,
            filter: PullFilter::Carried {
                expression: &self.expression,
                expression_type: &self.expression_type,
            },
        }
    }

    /// Whether the dispatcher need not refuse it.
    pub(crate) fn is_sound(&self) -> bool {
        let count_max = i32::try_from(POP_COUNT_MAX).unwrap_or(i32::MAX);
        (1..=count_max).contains(&self.count_max) && self.invisible_ms > 0
    }

    /// Whether its client has given up meanwhile.
    pub(crate) fn is_late(&self, now_ms: i64) -> bool {
        self.born_ms > 0 && now_ms - self.born_ms > self.poll_ms.saturating_add(LATE_MS)
    }

    /// How long it waits for a message from now on.
    pub(crate) fn wait_ms(&self, now_ms: i64) -> i64 {
        let passed = if self.born_ms > 0 {
            (now_ms - self.born_ms).max(0)
        } else {
            0
        };
        self.poll_ms.saturating_sub(passed)
    }
}

/// An acknowledgement whose header is whole.
#[derive(Debug)]
pub(crate) struct AckRequest<'a> {
    pub(crate) group: Cow<'a, str>,
    pub(crate) topic: Cow<'a, str>,
    pub(crate) queue_id: i32,
    pub(crate) handle: Cow<'a, str>,
    pub(crate) offset: u64,
    /// As of a POP.
    pub(crate) is_marked: bool,
}

/// Collects what a POP delivers, queue by queue.
#[derive(Debug, Default)]
pub(crate) struct Found {
    starts: String,
    offsets: String,
    counts: String,
    pub(crate) rest_count: u64,
}

impl Found {
    /// Add the messages of a queue, in rising order.
    pub(crate) fn add(&mut self, flag: u8, queue_id: i32, offsets: &[u64]) {
        let Some(first) = offsets.first() else {
            return;
        };
        let separator = if self.starts.is_empty() { "" } else { ";" };
        let _ = write!(self.starts, "{separator}{flag} {queue_id} {first}");
        let _ = write!(self.offsets, "{separator}{flag} {queue_id} ");
        for (at, offset) in offsets.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(self.offsets, "{comma}{offset}");
        }
    }

    /// Say how often an ordered message was delivered before.
    pub(crate) fn add_count(&mut self, flag: u8, queue_id: i32, offset: u64, count: u16) {
        let separator = if self.counts.is_empty() { "" } else { ";" };
        let _ = write!(
            self.counts,
            "{separator}{flag} qo{queue_id}%{offset} {count}"
        );
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Write the frame without its body.
    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        (opaque, encoding): (i32, Encoding),
        (delivery, invisible_ms): (Delivery, i64),
        body_size: usize,
    ) -> Result<(), EncodeError> {
        let fields = Fields {
            code: SUCCESS,
            language: Language::JAVA,
            version: VERSION,
            opaque,
            flag: FLAG_RESPONSE,
            remark: Some("FOUND"),
        };
        let mut writer = FrameWriter::begin(out, encoding, &fields);
        writer.ext_number("popTime", delivery.pop_time_ms);
        writer.ext_number("invisibleTime", invisible_ms);
        writer.ext_number("reviveQid", delivery.tag);
        writer.ext_number("restNum", self.rest_count);
        writer.ext_plain("startOffsetInfo", &self.starts);
        writer.ext_plain("msgOffsetInfo", &self.offsets);
        if !self.counts.is_empty() {
            writer.ext_plain("orderCountInfo", &self.counts);
        }
        writer.finish_before(body_size).map(drop)
    }
}

/// Write whether there are messages for a group (`NOTIFICATION`).
pub(crate) fn write_notice(
    out: &mut Vec<u8>,
    (opaque, encoding): (i32, Encoding),
    has_message: bool,
    is_full: bool,
) {
    let fields = Fields {
        code: SUCCESS,
        language: Language::JAVA,
        version: VERSION,
        opaque,
        flag: FLAG_RESPONSE,
        remark: None,
    };
    let mut writer = FrameWriter::begin(out, encoding, &fields);
    for (name, value) in [("hasMsg", has_message), ("pollingFull", is_full)] {
        writer.ext_plain(name, if value { "true" } else { "false" });
    }
    // It always fits.
    let _ = writer.finish(&[]);
}

/// Write the answer of a POP that finds nothing. Clients read these fields in any case.
pub(crate) fn write_nothing(
    out: &mut Vec<u8>,
    (opaque, encoding): (i32, Encoding),
    code: i32,
    remark: &str,
) {
    let fields = Fields {
        code,
        language: Language::JAVA,
        version: VERSION,
        opaque,
        flag: FLAG_RESPONSE,
        remark: Some(remark),
    };
    let mut writer = FrameWriter::begin(out, encoding, &fields);
    for name in ["popTime", "invisibleTime", "reviveQid", "restNum"] {
        writer.ext_plain(name, "0");
    }
    // It always fits.
    let _ = writer.finish(&[]);
}
