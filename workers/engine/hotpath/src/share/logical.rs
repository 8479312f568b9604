//! Share queues of static topics: their queue id is the global one, and their offsets are logical
//! (queue-ownership.md 4.19).
//!
//! The last segment of a logical queue is read here. Messages of older segments come from the dispatcher, which
//! reads them wherever they are. A share queue leaves with its logical queue: UNOWN ends the lane's say, and its
//! state goes to the next owner.

use regent_commitlog::{
    AppendError, Filter, RecordView, Store, find_property, java_hash, property_entries,
};
use regent_share::{Body, Decoded, Record, Records, Snapshot, Wired};

use super::{Beginning, Reign, Shares, messages_of};
use crate::broker::HotPathConfig;
use crate::leading::LeadingSegment;

const SIZE: std::ops::Range<usize> = 0..4;
const QUEUE_ID: std::ops::Range<usize> = 12..16;
pub(crate) const QUEUE_OFFSET: std::ops::Range<usize> = 20..28;

/// Records of an older segment, with logical ids and offsets, one behind the other.
#[derive(Debug)]
pub(super) struct Older {
    from: u64,
    /// Behind the last offset that was read; it may lie in the next segment.
    next: u64,
    records: Vec<u8>,
}

/// The state of a share queue whose logical queue has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenAway {
    /// Its consumer group.
    pub group: String,
    /// The lease epoch of its last owner here.
    pub epoch: u64,
    /// A SNAP record, in which times count from now on.
    pub record: Vec<u8>,
}

/// The greatest epoch and time of a state: the next ones are counted from them.
const STATE_VALUE_MAX: i64 = i64::MAX / 2;

/// Read the state of a share queue from another broker group; `None` if it is malformed.
#[must_use]
pub fn decode_state(record: &[u8], elapsed_ms: i64) -> Option<Snapshot> {
    let Ok(Decoded::Known(Record {
        body: Body::Snap(state),
        ..
    })) = Records::new(record).next()?
    else {
        return None;
    };
    let is_countable = state.epoch.max(state.reset_epoch) <= STATE_VALUE_MAX.unsigned_abs()
        && state.last_pop_time_ms <= STATE_VALUE_MAX;
    is_countable.then(|| state.moved_by(elapsed_ms))
}

impl Older {
    /// The records from an offset on that pass a filter, and where to go on; `None` if the offset was not read.
    fn read(
        &self,
        offset: u64,
        (count_max, bytes_max): (usize, usize),
        filter: Option<Filter<'_>>,
    ) -> Option<(Vec<u8>, u64)> {
        if !(self.from..self.next).contains(&offset) {
            return None;
        }
        let (mut found, mut count) = (Vec::new(), 0);
        for record in records_of(&self.records) {
            let own = offset_of(record)?;
            if own < offset {
                continue;
            }
            if count == count_max || (count > 0 && found.len() + record.len() > bytes_max) {
                return Some((found, own));
            }
            if filter.is_none_or(|filter| passes(filter, record)) {
                found.extend_from_slice(record);
                count += 1;
            }
        }
        Some((found, self.next))
    }
}

/// Records that lie one behind the other.
pub(crate) fn records_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let size = rest.get(SIZE)?.try_into().ok()?;
        let (record, behind) = rest.split_at_checked(u32::from_be_bytes(size) as usize)?;
        rest = behind;
        (!record.is_empty()).then_some(record)
    })
}

pub(crate) fn offset_of(record: &[u8]) -> Option<u64> {
    let offset = record.get(QUEUE_OFFSET)?.try_into().ok()?;
    Some(u64::from_be_bytes(offset))
}

/// Add a record of the last segment as its consumers see it: with the global id and the logical offset.
pub(crate) fn append_logical(
    out: &mut Vec<u8>,
    record: &[u8],
    global_id: i32,
    segment: LeadingSegment,
) -> bool {
    let Some(physical) = offset_of(record) else {
        return false;
    };
    let start = out.len();
    out.extend_from_slice(record);
    out[start..][QUEUE_ID].copy_from_slice(&global_id.to_be_bytes());
    let offset = segment.to_logical(physical);
    out[start..][QUEUE_OFFSET].copy_from_slice(&offset.to_be_bytes());
    true
}

/// Whether a record passes a filter. One that cannot be read is left to the consumer.
fn passes(filter: Filter<'_>, record: &[u8]) -> bool {
    let Ok(view) = RecordView::parse(record) else {
        return true;
    };
    match filter {
        Filter::Tags(hashes) => {
            let tags = find_property(view.properties, b"TAGS").unwrap_or_default();
            hashes.contains(&java_hash(tags))
        }
        Filter::Properties(expression) => expression.matches(property_entries(view.properties)),
    }
}

impl Shares {
    /// Keep messages of an older segment for the consumers of a share queue, instead of former ones.
    ///
    /// The records have logical ids and offsets, from an offset on; up to `next` there are no other ones.
    pub fn put_older(
        &self,
        (topic, queue_id, group): (&str, i32, &str),
        (from, next): (u64, u64),
        records: Vec<u8>,
    ) {
        let mut reign = self.reign();
        if let Some(reign) = &mut *reign
            && let Some(sq_id) = reign.find(topic, queue_id, group)
        {
            let older = Older {
                from,
                next,
                records,
            };
            reign.older.insert(sq_id, older);
        }
    }

    /// The next message of a share queue, if it lies in an older segment and was not read yet.
    #[must_use]
    pub fn older_wish(
        &self,
        (topic, queue_id, group): (&str, i32, &str),
        elapsed_ms: i64,
    ) -> Option<u64> {
        let mut reign = self.reign();
        let reign = reign.as_mut()?;
        let sq_id = reign.find(topic, queue_id, group)?;
        reign.expire(sq_id, elapsed_ms);
        let segment = reign.segment(sq_id)?;
        let wired = reign.lane.get(sq_id)?;
        let queue = &wired.queue;
        let ready = queue.ready(elapsed_ms, wired.policy.attempts);
        let new = Some(queue.end()).filter(|_| queue.window_left() > 0);
        let is_unread = |offset: &u64| {
            let older = reign.older.get(&sq_id);
            !older.is_some_and(|older| (older.from..older.next).contains(offset))
        };
        let mut wanted = ready.chain(new);
        wanted.find(|offset| *offset < segment.logical_start && is_unread(offset))
    }

    /// Give the share queues of logical queues away (UNOWN), no matter which broker group owns them
    /// next. Returns whether there were any. From then on the topic is known as a static one.
    ///
    /// # Errors
    /// The store refused the records. No message is delivered or finished until they are owned again.
    pub fn give_away(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (topic, queue_ids): (&str, &[i32]),
        now_ms: i64,
    ) -> Result<bool, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = reign.as_mut().filter(|reign| reign.appends()) else {
            return Ok(false);
        };
        reign.logical.insert(topic.to_owned());
        let meant = reign.lane.iter().filter(|(_, wired)| {
            let name = &wired.name;
            name.topic == topic && queue_ids.contains(&name.queue_id) && wired.queue.is_owned()
        });
        let records: Vec<_> = meant
            .map(|(sq_id, wired)| {
                let record = Record {
                    flags: 0,
                    sq_id,
                    epoch: wired.queue.epoch(),
                    body: Body::Unown {
                        member: reign.member,
                    },
                };
                (vec![record], sq_id)
            })
            .collect();
        records.iter().for_each(|(_, sq_id)| reign.leave(*sq_id));
        let is_any = !records.is_empty();
        for (records, _) in messages_of(records) {
            reign.append(store, config, &records, now_ms)?;
        }
        Ok(is_any)
    }

    /// The states of the share queues of a logical queue that were given away.
    #[must_use]
    pub fn given_away(&self, (topic, queue_id): (&str, i32), elapsed_ms: i64) -> Vec<GivenAway> {
        let reign = self.reign();
        let Some(reign) = &*reign else {
            return Vec::new();
        };
        let meant = reign.lane.iter().filter(|(_, wired)| {
            let name = &wired.name;
            name.topic == topic && name.queue_id == queue_id && !wired.queue.is_owned()
        });
        meant
            .map(|(_, wired)| {
                let state = wired.queue.snapshot(true).moved_by(-elapsed_ms);
                let mut record = Vec::new();
                Record {
                    flags: 0,
                    sq_id: 0,
                    epoch: state.epoch,
                    body: Body::Snap(state),
                }
                .encode(&mut record);
                GivenAway {
                    group: wired.name.group.clone(),
                    epoch: wired.queue.epoch(),
                    record,
                }
            })
            .collect()
    }

    /// The lease epoch of a share queue, and whether its last owner has it still; `None` if it is unknown.
    #[must_use]
    pub fn ownership(&self, (topic, queue_id, group): (&str, i32, &str)) -> Option<(u64, bool)> {
        let reign = self.reign();
        let reign = reign.as_ref()?;
        let queue = &reign
            .lane
            .get(reign.lane.find(topic, queue_id, group)?)?
            .queue;
        Some((queue.epoch(), queue.is_owned()))
    }
}

impl Reign {
    /// A share queue whose messages can be finished. A logical one has to be used in this reign before: until
    /// then it may have left.
    pub(crate) fn find_finishing(&self, topic: &str, queue_id: i32, group: &str) -> Option<u64> {
        if self.logical.contains(topic) {
            return self.find(topic, queue_id, group);
        }
        self.lane.find(topic, queue_id, group)
    }

    /// As [`Reign::find`], where the last segment of the logical queue is this one.
    pub(crate) fn find_at(
        &self,
        topic: &str,
        queue_id: i32,
        group: &str,
        segment: Option<LeadingSegment>,
    ) -> Option<u64> {
        let sq_id = self.find(topic, queue_id, group)?;
        let is_there = match (self.segment(sq_id), segment) {
            (Some(own), Some(segment)) => own.is_place_of(segment),
            (own, segment) => own.is_none() && segment.is_none(),
        };
        is_there.then_some(sq_id)
    }

    /// The last segment of the logical queue of a share queue; `None` in another topic.
    pub(crate) fn segment(&self, sq_id: u64) -> Option<LeadingSegment> {
        self.segments.get(&sq_id).copied()
    }

    /// Whether it is known where the messages of a share queue are. Of a logical queue that is known once the
    /// share queue is owned in this reign.
    pub(super) fn is_placed(&self, sq_id: u64, wired: &Wired) -> bool {
        self.segments.contains_key(&sq_id) || !self.logical.contains(&wired.name.topic)
    }

    /// Whether no other broker group owns a share queue.
    pub(super) fn has(&self, sq_id: u64) -> bool {
        let wired = self.lane.get(sq_id);
        wired.is_some_and(|wired| wired.queue.is_owned())
    }

    /// Use a share queue no more until it is owned again.
    pub(super) fn leave(&mut self, sq_id: u64) {
        self.owned.remove(&sq_id);
        self.attempts.remove(&sq_id);
        self.segments.remove(&sq_id);
        self.older.remove(&sq_id);
    }

    pub(super) fn place(&mut self, sq_id: u64, segment: Option<LeadingSegment>) {
        match segment {
            Some(segment) => self.segments.insert(sq_id, segment),
            None => self.segments.remove(&sq_id),
        };
        self.older.remove(&sq_id);
    }

    /// Make the lease epoch of this reign later than that of each share queue to be owned, or of
    /// its state. All others are then owned again, since the handles of all have one epoch.
    pub(super) fn outrun(&mut self, (topic, group): (&str, &str), beginnings: &[Beginning]) {
        let mut last = 0;
        for beginning in beginnings {
            let known = self.lane.find(topic, beginning.queue_id, group);
            let known = known.filter(|sq_id| !self.owned.contains(sq_id));
            let known = known.and_then(|sq_id| self.lane.get(sq_id));
            last = last.max(known.map_or(0, |wired| wired.queue.epoch()));
            last = last.max(beginning.state.as_ref().map_or(0, |state| state.epoch));
        }
        if last >= self.epoch {
            self.epoch = last + 1;
            self.owned.clear();
        }
    }

    /// Whether the state of another broker group is later than what is known of a share queue.
    pub(super) fn is_newer(&self, sq_id: u64, beginning: &Beginning) -> bool {
        beginning.state.as_ref().is_some_and(|state| {
            let known = self.lane.get(sq_id).map(|wired| wired.queue.epoch());
            known.is_none_or(|epoch| state.epoch > epoch)
        })
    }

    /// Remember which messages consumers have of a share queue that was taken over (`acquireLog=none`).
    pub(super) fn remember_state(&mut self, sq_id: u64, state: &Snapshot) {
        let state = Snapshot {
            epoch: self.epoch,
            is_owned: true,
            ..state.clone()
        };
        self.remember(sq_id, Body::Snap(state));
    }

    /// Messages of an older segment; `None` if they were not read yet.
    pub(crate) fn read_older(
        &self,
        sq_id: u64,
        offset: u64,
        limits: (usize, usize),
        filter: Option<Filter<'_>>,
    ) -> Option<(Vec<u8>, u64)> {
        self.older.get(&sq_id)?.read(offset, limits, filter)
    }

    /// Drop messages of an older segment that all consumers have finished.
    pub(crate) fn drop_older(&mut self, sq_id: u64) {
        let start = self.lane.get(sq_id).map_or(0, |wired| wired.queue.start());
        if self
            .older
            .get(&sq_id)
            .is_some_and(|older| older.next <= start)
        {
            self.older.remove(&sq_id);
        }
    }

    /// The first offset of the queue of a share queue here, and the one behind the last; `None` without a queue.
    /// Of a logical queue these are the logical offsets of the last segment.
    pub(crate) fn bounds(&self, store: &Store, sq_id: u64) -> Option<(u64, u64)> {
        let name = &self.lane.get(sq_id)?.name;
        let Some(segment) = self.segment(sq_id) else {
            return store.queue_offsets(&name.topic, name.queue_id);
        };
        let start = segment.physical_start;
        let found = store.queue_offsets(&name.topic, segment.queue_id);
        let (min, max) = found.unwrap_or((start, start));
        Some((segment.to_logical(min), segment.to_logical(max)))
    }
}
