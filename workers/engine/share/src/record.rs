//! Records of the state log (queue-ownership.md 4.4): what happened to messages, not what clients sent (Q2).
//!
//! ```text
//!  0 version u16 | 2 size u32, of all that follows | 6 type u16 | 8 flags u16 | 10 crc32c u32
//! 14 sqId u64 | 22 leaseEpoch u64 | 30 fields, each with its length as u32 before it
//! ```
//! Version and size come first (Q76). All big-endian. The checksum is of the whole record but for itself. New fields are added behind the
//! others, and older readers leave them out: what a version has never changes (Q74). The version of
//! a record is the version that added its type (`types.rs`, Q73). A reader of an older version
//! leaves the record out by its size.

use std::fmt;

use crate::checksum::crc32c;
use crate::entry::{Delivery, Entry};
use crate::queue::{ShareQueue, Snapshot, SnapshotRun};
use crate::ranges::Ranges;

mod types;

pub use types::{FIRST_VERSION, RecordType, VERSION};

/// Flag of ACCEPT and REJECT: the owner has decided, so that appliers do not decide again.
pub const DECIDED: u16 = 1;
/// Flag of UNOWN: the former owner wants the share queue again.
pub const RESUBSCRIBE: u16 = 2;
/// Flag of OWN: the sequencer took it, because the control plane did not answer.
pub const FALLBACK: u16 = 4;
/// Flag of WIRE: the share queue is gone, with its topic or its group.
pub const REMOVED: u16 = 8;

const PREFIX_SIZE: usize = 6;
const CRC_AT: usize = 10;
const CRC_END: usize = 14;
const HEAD_SIZE: usize = 30;

/// What happens to a message that is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Disposition {
    /// It is finished.
    Discard,
    /// A copy is in the topic of dead letters.
    DeadLetter,
    /// A copy is in the retry topic.
    Retry,
}

/// How a share queue is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Most deliveries of a message.
    pub attempts: u16,
    /// Whether messages that are given up are discarded.
    pub discards: bool,
    /// Whether messages are delivered in order.
    pub is_ordered: bool,
    /// Most offsets with a state.
    pub window: u32,
}

/// What a record says: the calls of the interface, with the positions of messages (Q59, Q61).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Body {
    /// The share queue is this one.
    Wire {
        /// Topic.
        topic: String,
        /// Queue inside the topic.
        queue_id: i32,
        /// Consumer group.
        group: String,
        /// How it is served.
        policy: Policy,
    },
    /// A member owns the share queue from here on.
    Own {
        /// Its broker id.
        member: u64,
    },
    /// The owner has it no more.
    Unown {
        /// Its broker id.
        member: u64,
    },
    /// The owner handed messages out.
    Acquire {
        /// The delivery.
        delivery: Delivery,
        /// To which client.
        client: u64,
        /// Which messages.
        ranges: Ranges,
        /// Until when.
        deadline_ms: i64,
    },
    /// A client finished messages.
    Accept {
        /// By which delivery it has them.
        delivery: Delivery,
        /// Which messages.
        ranges: Ranges,
    },
    /// A client gave messages back.
    Release {
        /// By which delivery it has them.
        delivery: Delivery,
        /// Which messages.
        ranges: Ranges,
        /// They are not delivered before this time.
        visible_at_ms: i64,
    },
    /// A client keeps messages longer.
    Renew {
        /// By which delivery it has them.
        delivery: Delivery,
        /// Which messages.
        ranges: Ranges,
        /// The time of the delivery as of now: its handle is void.
        pop_time_ms: i64,
        /// Until when.
        deadline_ms: i64,
    },
    /// Messages were given up.
    Reject {
        /// By which delivery a client had them.
        delivery: Delivery,
        /// Which messages.
        ranges: Ranges,
        /// What becomes of them.
        disposition: Disposition,
    },
    /// The time of deliveries is over.
    Expire {
        /// Which messages.
        ranges: Ranges,
        /// The deadline that passed.
        deadline_ms: i64,
    },
    /// Messages that the group does not want, or that are gone.
    Gap {
        /// Which messages.
        ranges: Ranges,
    },
    /// A client is gone.
    ClientGone {
        /// Which one.
        client: u64,
    },
    /// A member is gone.
    MemberGone {
        /// Its broker id.
        member: u64,
        /// Which of its lives.
        incarnation: u64,
    },
    /// The whole state of the share queue.
    Snap(Snapshot),
    /// A point in the lane, for the update of a member.
    Mark {
        /// Which one.
        sync_point: u64,
    },
    /// From here on records may be of this version, and of none above it (Q80).
    Version {
        /// The version of the broker group.
        version: u16,
    },
    /// All share queues of a topic, of a group, or of both are gone.
    Drop {
        /// Topic; `None` for each.
        topic: Option<String>,
        /// Consumer group; `None` for each.
        group: Option<String>,
    },
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Record {
    /// Which bits are set: [`DECIDED`], [`RESUBSCRIBE`], [`FALLBACK`], [`REMOVED`].
    pub flags: u16,
    /// The share queue, as WIRE names it; 0 for records of the whole lane. A MARK record has the last number
    /// that was given before it; 0 says nothing.
    pub sq_id: u64,
    /// The lease epoch of the writer.
    pub epoch: u64,
    /// What it says.
    pub body: Body,
}

/// Why bytes are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The bytes end inside the record, or its size is too small.
    #[error("a record of the state log is cut short")]
    Short,
    /// The checksum differs.
    #[error("the checksum of a record of the state log differs")]
    Checksum,
    /// Its version is not the one that added its type.
    #[error("the version of a record of the state log is not that of its type")]
    Version,
    /// Its fields make no sense.
    #[error("a field of a record of the state log is malformed")]
    Field,
}

/// One record that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded {
    /// One that this code knows.
    Known(Record),
    /// One of a later version or of a later type: it is left out.
    Unknown {
        /// Its version.
        version: u16,
    },
}

impl Body {
    /// The type of the record.
    #[must_use]
    pub fn record_type(&self) -> RecordType {
        match self {
            Self::Wire { .. } => RecordType::Wire,
            Self::Own { .. } => RecordType::Own,
            Self::Unown { .. } => RecordType::Unown,
            Self::Acquire { .. } => RecordType::Acquire,
            Self::Accept { .. } => RecordType::Accept,
            Self::Release { .. } => RecordType::Release,
            Self::Renew { .. } => RecordType::Renew,
            Self::Reject { .. } => RecordType::Reject,
            Self::Expire { .. } => RecordType::Expire,
            Self::Gap { .. } => RecordType::Gap,
            Self::ClientGone { .. } => RecordType::ClientGone,
            Self::MemberGone { .. } => RecordType::MemberGone,
            Self::Snap(_) => RecordType::Snap,
            Self::Mark { .. } => RecordType::Mark,
            Self::Version { .. } => RecordType::Version,
            Self::Drop { .. } => RecordType::Drop,
        }
    }
}

impl Record {
    /// Write the record behind what is in `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let record_type = self.body.record_type();
        out.extend_from_slice(&record_type.since().to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&record_type.code().to_be_bytes());
        out.extend_from_slice(&self.flags.to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.sq_id.to_be_bytes());
        out.extend_from_slice(&self.epoch.to_be_bytes());
        write_fields(&self.body, out);
        let size = u32::try_from(out.len() - start - PREFIX_SIZE).unwrap_or(u32::MAX);
        out[start + 2..start + PREFIX_SIZE].copy_from_slice(&size.to_be_bytes());
        let record = &out[start..];
        let crc = crc32c(&[&record[..CRC_AT], &record[CRC_END..]]);
        out[start + CRC_AT..start + CRC_END].copy_from_slice(&crc.to_be_bytes());
    }
}

/// The records in the body of a message of the state log, one behind the other.
///
/// A record of a later version or type is left out (Q77). A damaged one is an error, and the next record follows by
/// its size. So readers of different versions go on at the same record. Nothing follows a size that does not fit.
#[derive(Debug)]
pub struct Records<'a> {
    left: &'a [u8],
    version_max: u16,
}

impl<'a> Records<'a> {
    /// Read from the start of some bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::up_to(VERSION, bytes)
    }

    /// Read as a release of this version does.
    #[must_use]
    pub fn up_to(version_max: u16, bytes: &'a [u8]) -> Self {
        Self {
            left: bytes,
            version_max,
        }
    }

    fn take(&mut self) -> Result<Decoded, RecordError> {
        let left = std::mem::take(&mut self.left);
        let mut input = Input(left);
        let version = input.u16().ok_or(RecordError::Short)?;
        let size = input.u32().ok_or(RecordError::Short)? as usize;
        let end = PREFIX_SIZE.saturating_add(size);
        let record = left.get(..end).ok_or(RecordError::Short)?;
        self.left = &left[end..];
        if version == 0 {
            return Err(RecordError::Version);
        }
        if version > self.version_max {
            return Ok(Decoded::Unknown { version });
        }
        if record.len() < HEAD_SIZE {
            return Err(RecordError::Short);
        }
        let mut input = Input(&record[PREFIX_SIZE..]);
        let head = (|| {
            Some((
                input.u16()?,
                input.u16()?,
                input.u32()?,
                input.u64()?,
                input.u64()?,
            ))
        })();
        let (kind, flags, crc, sq_id, epoch) = head.ok_or(RecordError::Short)?;
        if crc32c(&[&record[..CRC_AT], &record[CRC_END..]]) != crc {
            return Err(RecordError::Checksum);
        }
        let Some(record_type) = RecordType::from_code(kind) else {
            return Ok(Decoded::Unknown { version });
        };
        if record_type.since() != version {
            return Err(RecordError::Version);
        }
        let body = read_fields(record_type, &mut input).ok_or(RecordError::Field)?;
        Ok(Decoded::Known(Record {
            flags,
            sq_id,
            epoch,
            body,
        }))
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Decoded, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left.is_empty() {
            return None;
        }
        Some(self.take())
    }
}

/// Writes fields, each with its length before it.
struct Output<'a>(&'a mut Vec<u8>);

impl Output<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.0.extend_from_slice(&size.to_be_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_be_bytes())
    }

    fn i64(&mut self, value: i64) -> &mut Self {
        self.bytes(&value.to_be_bytes())
    }

    fn delivery(&mut self, delivery: Delivery) -> &mut Self {
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&delivery.pop_time_ms.to_be_bytes());
        bytes[8..].copy_from_slice(&delivery.tag.to_be_bytes());
        self.bytes(&bytes)
    }

    fn ranges(&mut self, ranges: &Ranges) -> &mut Self {
        let mut bytes = Vec::with_capacity(12 * ranges.as_slice().len());
        for range in ranges.as_slice() {
            let count = u32::try_from(range.end - range.start).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&range.start.to_be_bytes());
            bytes.extend_from_slice(&count.to_be_bytes());
        }
        self.bytes(&bytes)
    }
}

fn write_fields(body: &Body, out: &mut Vec<u8>) {
    let mut out = Output(out);
    match body {
        Body::Wire {
            topic,
            queue_id,
            group,
            policy,
        } => {
            let mut bits = [0; 8];
            bits[..2].copy_from_slice(&policy.attempts.to_be_bytes());
            bits[2] = u8::from(policy.discards);
            bits[3] = u8::from(policy.is_ordered);
            bits[4..].copy_from_slice(&policy.window.to_be_bytes());
            out.bytes(topic.as_bytes())
                .bytes(&queue_id.to_be_bytes())
                .bytes(group.as_bytes())
                .bytes(&bits);
        }
        Body::Own { member } | Body::Unown { member } => {
            out.u64(*member);
        }
        Body::Acquire {
            delivery,
            client,
            ranges,
            deadline_ms,
        } => {
            out.delivery(*delivery)
                .u64(*client)
                .ranges(ranges)
                .i64(*deadline_ms);
        }
        Body::Accept { delivery, ranges } => {
            out.delivery(*delivery).ranges(ranges);
        }
        Body::Release {
            delivery,
            ranges,
            visible_at_ms,
        } => {
            out.delivery(*delivery).ranges(ranges).i64(*visible_at_ms);
        }
        Body::Renew {
            delivery,
            ranges,
            pop_time_ms,
            deadline_ms,
        } => {
            out.delivery(*delivery)
                .ranges(ranges)
                .i64(*pop_time_ms)
                .i64(*deadline_ms);
        }
        Body::Reject {
            delivery,
            ranges,
            disposition,
        } => {
            out.delivery(*delivery)
                .ranges(ranges)
                .bytes(&[*disposition as u8]);
        }
        Body::Expire {
            ranges,
            deadline_ms,
        } => {
            out.ranges(ranges).i64(*deadline_ms);
        }
        Body::Gap { ranges } => {
            out.ranges(ranges);
        }
        Body::ClientGone { client } => {
            out.u64(*client);
        }
        Body::MemberGone {
            member,
            incarnation,
        } => {
            out.u64(*member).u64(*incarnation);
        }
        Body::Snap(snapshot) => write_snapshot(snapshot, &mut out),
        Body::Mark { sync_point } => {
            out.u64(*sync_point);
        }
        Body::Version { version } => {
            out.bytes(&version.to_be_bytes());
        }
        Body::Drop { topic, group } => {
            for name in [topic, group] {
                out.bytes(name.as_ref().map_or(&[], |name| name.as_bytes()));
            }
        }
    }
}

/// Bytes of a run: count, kind, count of deliveries, last delivery, client, deadline, first delivery.
const RUN_SIZE: usize = 4 + 1 + 2 + 8 + 2 + 8 + 8 + 8;

fn write_snapshot(snapshot: &Snapshot, out: &mut Output<'_>) {
    let mut runs = Vec::with_capacity(RUN_SIZE * snapshot.runs.len());
    for run in &snapshot.runs {
        let (kind, count, delivery, client, time_ms, first_pop_ms) = match run.entry {
            Entry::Available {
                count,
                last,
                first_pop_ms,
                visible_at_ms,
            } => {
                let kind = u8::from(last.is_some());
                (kind, count, last, 0, visible_at_ms, first_pop_ms)
            }
            Entry::Acquired {
                delivery,
                client,
                deadline_ms,
                count,
                first_pop_ms,
            } => (2, count, Some(delivery), client, deadline_ms, first_pop_ms),
            Entry::Forgotten => (3_u8, 0, None, 0, 0, 0),
        };
        let Delivery { pop_time_ms, tag } = delivery.unwrap_or(Delivery {
            pop_time_ms: 0,
            tag: 0,
        });
        runs.extend_from_slice(&u32::try_from(run.count).unwrap_or(u32::MAX).to_be_bytes());
        runs.push(kind);
        runs.extend_from_slice(&count.to_be_bytes());
        runs.extend_from_slice(&pop_time_ms.to_be_bytes());
        runs.extend_from_slice(&tag.to_be_bytes());
        runs.extend_from_slice(&client.to_be_bytes());
        runs.extend_from_slice(&time_ms.to_be_bytes());
        runs.extend_from_slice(&first_pop_ms.to_be_bytes());
    }
    out.u64(snapshot.epoch)
        .bytes(&[u8::from(snapshot.is_owned)])
        .u64(snapshot.reset_epoch)
        .i64(snapshot.last_pop_time_ms)
        .u64(snapshot.start)
        .bytes(&runs);
    // Readers of the first release know no field here.
    if snapshot.reset_pop_time_ms != 0 || snapshot.owner.is_some() {
        out.i64(snapshot.reset_pop_time_ms);
    }
    if let Some(owner) = snapshot.owner {
        out.u64(owner);
    }
}

/// Reads numbers and fields.
struct Input<'a>(&'a [u8]);

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl<'a> Input<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_be_bytes)
    }

    fn field(&mut self) -> Option<Input<'a>> {
        let size = usize::try_from(self.u32()?).ok()?;
        let (field, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(Input(field))
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.field()?.0.to_vec()).ok()
    }

    /// A name that may be absent: then its field is empty.
    #[expect(clippy::option_option, reason = "malformed, or absent")]
    fn name(&mut self) -> Option<Option<String>> {
        Some(Some(self.text()?).filter(|name| !name.is_empty()))
    }

    fn delivery(&mut self) -> Option<Delivery> {
        let mut field = self.field()?;
        Some(Delivery {
            pop_time_ms: field.i64()?,
            tag: field.u16()?,
        })
    }

    fn ranges(&mut self) -> Option<Ranges> {
        let mut field = self.field()?;
        let mut ranges = Ranges::default();
        while !field.0.is_empty() {
            let (start, count) = (field.u64()?, u64::from(field.u32()?));
            let end = start.checked_add(count)?;
            if ranges.end().is_some_and(|last| start < last) {
                return None;
            }
            ranges.push(start..end);
        }
        Some(ranges)
    }
}

/// The fields of a record; `None` if they are malformed.
fn read_fields(record_type: RecordType, input: &mut Input<'_>) -> Option<Body> {
    Some(match record_type {
        RecordType::Wire => read_wire(input)?,
        RecordType::Own => Body::Own {
            member: input.field()?.u64()?,
        },
        RecordType::Unown => Body::Unown {
            member: input.field()?.u64()?,
        },
        RecordType::Acquire => Body::Acquire {
            delivery: input.delivery()?,
            client: input.field()?.u64()?,
            ranges: input.ranges()?,
            deadline_ms: input.field()?.i64()?,
        },
        RecordType::Accept => Body::Accept {
            delivery: input.delivery()?,
            ranges: input.ranges()?,
        },
        RecordType::Release => Body::Release {
            delivery: input.delivery()?,
            ranges: input.ranges()?,
            visible_at_ms: input.field()?.i64()?,
        },
        RecordType::Renew => Body::Renew {
            delivery: input.delivery()?,
            ranges: input.ranges()?,
            pop_time_ms: input.field()?.i64()?,
            deadline_ms: input.field()?.i64()?,
        },
        RecordType::Reject => Body::Reject {
            delivery: input.delivery()?,
            ranges: input.ranges()?,
            disposition: match input.field()?.u8()? {
                0 => Disposition::Discard,
                1 => Disposition::DeadLetter,
                2 => Disposition::Retry,
                _ => return None,
            },
        },
        RecordType::Expire => Body::Expire {
            ranges: input.ranges()?,
            deadline_ms: input.field()?.i64()?,
        },
        RecordType::Gap => Body::Gap {
            ranges: input.ranges()?,
        },
        RecordType::ClientGone => Body::ClientGone {
            client: input.field()?.u64()?,
        },
        RecordType::MemberGone => Body::MemberGone {
            member: input.field()?.u64()?,
            incarnation: input.field()?.u64()?,
        },
        RecordType::Snap => Body::Snap(read_snapshot(input)?),
        RecordType::Mark => Body::Mark {
            sync_point: input.field()?.u64()?,
        },
        RecordType::Version => Body::Version {
            version: input.field()?.u16().filter(|version| *version != 0)?,
        },
        RecordType::Drop => Body::Drop {
            topic: input.name()?,
            group: input.name()?,
        },
    })
}

fn read_wire(input: &mut Input<'_>) -> Option<Body> {
    let topic = input.text()?;
    let queue_id = i32::from_be_bytes(input.field()?.array()?);
    let group = input.text()?;
    let mut bits = input.field()?;
    let policy = Policy {
        attempts: bits.u16()?,
        discards: bits.u8()? != 0,
        is_ordered: bits.u8()? != 0,
        window: bits.u32()?,
    };
    Some(Body::Wire {
        topic,
        queue_id,
        group,
        policy,
    })
}

fn read_snapshot(input: &mut Input<'_>) -> Option<Snapshot> {
    let mut snapshot = Snapshot {
        epoch: input.field()?.u64()?,
        is_owned: input.field()?.u8()? != 0,
        reset_epoch: input.field()?.u64()?,
        last_pop_time_ms: input.field()?.i64()?,
        start: input.field()?.u64()?,
        runs: Vec::new(),
        reset_pop_time_ms: 0,
        owner: None,
    };
    let mut runs = input.field()?;
    if !input.0.is_empty() {
        snapshot.reset_pop_time_ms = input.field()?.i64()?;
    }
    if !input.0.is_empty() {
        snapshot.owner = Some(input.field()?.u64()?);
    }
    while !runs.0.is_empty() {
        let count = u64::from(runs.u32()?);
        let kind = runs.u8()?;
        let deliveries = runs.u16()?;
        let delivery = Delivery {
            pop_time_ms: runs.i64()?,
            tag: runs.u16()?,
        };
        let (client, time_ms, first_pop_ms) = (runs.u64()?, runs.i64()?, runs.i64()?);
        let entry = match kind {
            0 | 1 => Entry::Available {
                count: deliveries,
                last: (kind == 1).then_some(delivery),
                first_pop_ms,
                visible_at_ms: time_ms,
            },
            2 => Entry::Acquired {
                delivery,
                client,
                deadline_ms: time_ms,
                count: deliveries,
                first_pop_ms,
            },
            3 => Entry::Forgotten,
            _ => return None,
        };
        snapshot.runs.push(SnapshotRun { count, entry });
    }
    ShareQueue::accepts(&snapshot).then_some(snapshot)
}

#[cfg(test)]
mod tests;
