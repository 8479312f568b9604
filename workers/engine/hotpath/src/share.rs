//! The share queues of a broker: POP consumers are served from them (queue-ownership.md 4.2).
//!
//! This is about PRIMARY mode; `share/shared.rs` is about SHARED mode, and about replicas.
//!
//! The master owns every share queue of its broker group, so there is no lease (Q82). It remembers which
//! messages consumers have, without a record (Q83), and writes what is finished to the lane of the state log. So a
//! delivery costs what it costs on a standalone broker (Q68). One master owns them at a time (Q18). A broker that begins to lead makes the state from
//! that lane: of the last complete snapshot, and of all records behind it.
//!
//! A replica that acts for its absent master begins so as well. It writes nothing to the log, whose end is its
//! master's: what is finished is for its caller to keep ([`Shares::finished`]), and for its master to take over
//! ([`Shares::take_over`]).

use std::sync::Arc;

use ahash::{AHashMap, AHashSet};
use parking_lot::{Mutex, MutexGuard};
use regent_commitlog::{AppendError, Appended, NewMessage, Store};
use regent_share::{Body, Delivery, Lane, Policy, Ranges, Record, Refused, Snapshot, WINDOW};

use crate::broker::HotPathConfig;
use crate::leading::{LeadingQueues, LeadingSegment};

mod acts;
mod finished;
mod listing;
mod logical;
mod replay;
mod shared;
mod versions;

pub(crate) use acts::Wish;
pub use acts::{Change, Dead, Finished, Former, Renewed};
pub use finished::FinishedPart;
pub use listing::{Counts, Held, HeldMessage, Hold};
use logical::Older;
pub use logical::{GivenAway, decode_state};
pub(crate) use logical::{append_logical, offset_of, records_of};
use replay::Replayed;
pub use shared::{Appending, Proposal, Seen};
use shared::{Following, Lease};

/// The lane of the state log. All operations of a share queue are in it, in one order (Q35).
pub(crate) const LANE: i32 = 0;
/// Of the first message of a snapshot, so that its queue entry alone identifies it.
const SNAPSHOT_PROPERTIES: &[u8] = b"TAGS\x01snapshot\x02";
/// About as long becomes one message of the lane that has records of several share queues.
const BODY_BYTES: usize = 48 << 10;
/// So many bytes of records are written before the next snapshot: a new master reads no more.
const SNAPSHOT_AFTER_BYTES: u64 = 10 << 20;

/// The share queues of this broker while it leads or follows, nothing otherwise.
#[derive(Debug, Default)]
pub struct Shares(Mutex<Option<Reign>>);

/// What a reign begins with.
#[derive(Debug, Clone)]
pub struct Reigning {
    /// The topic of the state log.
    pub topic: String,
    /// The epoch of the master; 0 of a broker without a controller.
    pub epoch: u64,
    /// The id of the broker in its group.
    pub member: u64,
    /// Each segment of the log holds a snapshot, because the last one is never deleted.
    pub segment_size: u64,
    /// Whether this broker is a replica that acts for its master: then nothing is written.
    pub is_acting: bool,
    /// Distinguishes the clients of this process from those of others, in records.
    pub life: u32,
    /// The topics in SHARED mode.
    pub shared: AHashSet<String>,
    /// The newest version of records that this broker reads and writes.
    pub version_max: u16,
}

/// The time in which this broker decides, or follows the one that does.
#[derive(Debug)]
pub(crate) struct Reign {
    topic: Arc<str>,
    member: u64,
    segment_size: u64,
    pub(crate) is_acting: bool,
    life: u32,
    /// The topics in SHARED mode.
    shared: AHashSet<String>,
    /// The share queues of these topics that this broker serves, each with its lease.
    serving: AHashMap<u64, Lease>,
    /// Of a replica that does not act: how far its lane is, and what it sends to the sequencer.
    following: Option<Following>,
    /// The lease epoch of all share queues in PRIMARY mode that were used in this reign.
    pub(crate) epoch: u64,
    pub(crate) lane: Lane,
    owned: AHashSet<u64>,
    /// What was done in this reign, by share queue.
    counts: AHashMap<u64, Counts>,
    /// The last attempt to receive from an ordered share queue.
    pub(crate) attempts: AHashMap<u64, Attempt>,
    /// The static topics: the ids of their queues are logical.
    logical: AHashSet<String>,
    /// Of share queues of static topics: where the last segment of their logical queue is.
    segments: AHashMap<u64, LeadingSegment>,
    /// Messages of older segments that were read for their consumers.
    older: AHashMap<u64, Older>,
    /// Where the next consumer that asks for any queue begins.
    pub(crate) turn: u32,
    /// The log position behind the last record.
    pub(crate) end: u64,
    snapshot_position: Option<u64>,
    bytes_since_snapshot: u64,
    /// The log positions of messages with a damaged record that every member leaves out, and that no snapshot follows.
    left_out: Vec<u64>,
    /// The version of the broker group: the next record comes behind a VERSION record, if it is later than the lane's.
    wanted_version: u16,
    /// The newest version of records that this broker reads.
    version_max: u16,
    /// The time of the last delivery of a share queue that was removed in this reign.
    removed_pop_time_ms: i64,
}

/// An attempt to receive from an ordered share queue.
#[derive(Debug)]
pub(crate) struct Attempt {
    /// What its consumer calls it.
    pub(crate) name: Box<str>,
    pub(crate) delivery: Delivery,
    /// How many answers carry the delivery: a consumer that got none asks again.
    pub(crate) answer_count: u32,
}

/// One share queue that is missing, and where it begins.
#[derive(Debug, Clone, Default)]
pub struct Beginning {
    /// The queue inside the topic; of a static topic the logical queue.
    pub queue_id: i32,
    /// The first message that the group gets, where the share queue is new.
    pub start: u64,
    /// Of a static topic: the last segment of the logical queue.
    pub segment: Option<LeadingSegment>,
    /// The state of its last owner in another broker group (queue-ownership.md 4.19).
    pub state: Option<Snapshot>,
}

impl Shares {
    /// Begin to decide, with the state that the log holds. Returns the version of the lane: if this broker does not
    /// read it, records are missing from the state, and nothing begins (O45).
    ///
    /// # Errors
    /// The log is damaged there.
    pub fn lead(&self, store: &Store, reigning: Reigning) -> Result<u16, AppendError> {
        let replayed = replay::replay(store, &reigning.topic, reigning.version_max)?;
        let version = replayed.lane.version();
        if version <= reigning.version_max {
            *self.0.lock() = Some(Reign::new(reigning, replayed));
        }
        Ok(version)
    }

    /// Decide nothing any more.
    pub fn stand_down(&self) {
        *self.0.lock() = None;
    }

    /// The log position behind the last record of the lane; 0 before the first one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.0.lock().as_ref().map_or(0, |reign| reign.end)
    }

    /// The log positions of the messages of the lane with a damaged record that every member leaves out (O34). Those
    /// before the last snapshot do not matter any more.
    #[must_use]
    pub fn left_out(&self) -> Vec<u64> {
        let reign = self.0.lock();
        reign
            .as_ref()
            .map_or_else(Vec::new, |it| it.left_out.clone())
    }

    pub(crate) fn reign(&self) -> MutexGuard<'_, Option<Reign>> {
        self.0.lock()
    }

    /// Which queues of a topic lack a share queue of a group that can be used in this reign, by this policy. Of
    /// a static topic these are logical queues.
    #[must_use]
    pub fn missing(
        &self,
        (topic, group): (&str, &str),
        queue_count: i32,
        leading: Option<&LeadingQueues>,
        policy: Policy,
    ) -> Vec<i32> {
        let reign = self.0.lock();
        let Some(reign) = reign.as_ref().filter(|reign| reign.decides()) else {
            return Vec::new();
        };
        let ids = leading.map_or_else(|| (0..queue_count).collect(), LeadingQueues::ids);
        let is_missing = |id: &i32| {
            let segment = leading.and_then(|leading| leading.led(*id));
            let sq_id = if reign.is_shared(topic) {
                reign.lane.find(topic, *id, group)
            } else {
                reign.find_at(topic, *id, group, segment.map(|led| led.segment))
            };
            sq_id.is_none_or(|sq_id| !reign.has_policy(sq_id, policy))
        };
        ids.into_iter().filter(is_missing).collect()
    }

    /// Name the missing share queues of a group, and own them; in SHARED mode a lease says who owns them.
    ///
    /// The owner's lease epoch comes after that of each state which it takes over.
    ///
    /// # Errors
    /// The store refused the records: some of the share queues may be missing still.
    pub fn begin(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (topic, group): (&str, &str),
        policy: Policy,
        beginnings: &[Beginning],
        now_ms: i64,
    ) -> Result<(), AppendError> {
        let mut reign = self.0.lock();
        let Some(reign) = reign.as_mut().filter(|reign| reign.decides()) else {
            return Ok(());
        };
        let is_shared = reign.is_shared(topic);
        if !is_shared {
            reign.outrun((topic, group), beginnings);
        }
        let mut begun = Vec::new();
        for beginning in beginnings {
            let known = reign.lane.find(topic, beginning.queue_id, group);
            let sq_id = known.unwrap_or(reign.lane.next_id() + begun.len() as u64);
            let made_ms = now_ms.max(reign.removed_pop_time_ms);
            let [wire, state] = new_queue(sq_id, (topic, group), policy, beginning, made_ms);
            let is_newer = reign.is_newer(sq_id, beginning);
            let is_named = known.is_none() || !reign.has_policy(sq_id, policy);
            let named = Some(wire).filter(|_| is_named);
            let stated = Some(state).filter(|_| known.is_none() || is_newer);
            let own = Record {
                flags: 0,
                sq_id,
                epoch: reign.epoch,
                body: Body::Own {
                    member: reign.member,
                },
            };
            let owned = Some(own).filter(|_| !is_shared && !reign.owned.contains(&sq_id));
            let records: Vec<_> = [named, stated, owned].into_iter().flatten().collect();
            begun.push((records, (sq_id, beginning, is_newer)));
        }
        for (records, part) in messages_of(begun) {
            reign.append(store, config, &records, now_ms)?;
            for (sq_id, beginning, is_taken_over) in part {
                if is_shared {
                    continue;
                }
                reign.owned.insert(sq_id);
                reign.place(sq_id, beginning.segment);
                if let Some(state) = beginning.state.as_ref().filter(|_| is_taken_over) {
                    reign.remember_state(sq_id, state);
                }
            }
        }
        Ok(())
    }

    /// Write a snapshot if one is due. Returns whether one was written.
    ///
    /// # Errors
    /// The store refused it.
    pub fn keep_snapshot(
        &self,
        store: &Store,
        config: &HotPathConfig,
        now_ms: i64,
    ) -> Result<bool, AppendError> {
        let mut reign = self.0.lock();
        match &mut *reign {
            Some(reign) if reign.decides() && reign.is_snapshot_due(store) => {
                reign.write_snapshot(store, config, now_ms)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Let a group begin at an offset of a queue: what consumers have of it is void. `false` if the group has no
    /// share queue there, or if this broker only acts for its master.
    ///
    /// All share queues are then owned again, with the next lease epoch: it distinguishes their
    /// handles from earlier ones. In SHARED mode only this one is, by the member that gets its
    /// lease.
    ///
    /// # Errors
    /// The store refused the record; nothing changes.
    pub fn reset(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (topic, queue_id, group): (&str, i32, &str),
        start: u64,
        now_ms: i64,
    ) -> Result<bool, AppendError> {
        let mut reign = self.0.lock();
        let Some(reign) = reign.as_mut().filter(|reign| reign.appends()) else {
            return Ok(false);
        };
        let Some(sq_id) = reign.lane.find(topic, queue_id, group) else {
            return Ok(false);
        };
        let is_shared = reign.is_shared(topic);
        let epoch = reign.epoch_of(sq_id) + 1;
        let last = reign
            .lane
            .get(sq_id)
            .map(|wired| wired.queue.snapshot(false));
        // A former master may have delivered by a later time than the lane has.
        let last_pop_time_ms = last.map_or(now_ms, |last| now_ms.max(last.last_pop_time_ms));
        let state = Snapshot {
            epoch,
            reset_epoch: epoch,
            start: start.min(u64::MAX - 2 * WINDOW),
            last_pop_time_ms,
            reset_pop_time_ms: last_pop_time_ms,
            ..Snapshot::default()
        };
        let record = Record {
            flags: 0,
            sq_id,
            epoch,
            body: Body::Snap(state),
        };
        reign.append(store, config, &[record], now_ms)?;
        reign.attempts.remove(&sq_id);
        if !is_shared {
            // The epoch of the state is taken: the owner's comes after it.
            reign.epoch = epoch + 1;
            reign.owned.clear();
        }
        Ok(true)
    }

    /// Forget the share queues of a topic, of a group, or of both.
    ///
    /// # Errors
    /// The store refused the records: some of the share queues may be there still.
    pub fn remove(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (topic, group): (Option<&str>, Option<&str>),
        now_ms: i64,
    ) -> Result<(), AppendError> {
        let mut reign = self.0.lock();
        let Some(reign) = reign.as_mut().filter(|reign| reign.decides()) else {
            return Ok(());
        };
        if let Some(topic) = topic.filter(|_| group.is_none()) {
            reign.logical.remove(topic);
        }
        for (records, ids) in reign.removal(topic, group) {
            reign.note_removed(&ids);
            reign.append(store, config, &records, now_ms)?;
            for sq_id in ids {
                reign.leave(sq_id);
                reign.counts.remove(&sq_id);
            }
        }
        Ok(())
    }
}

/// The records of some share queues, put together so that each message of the lane has a bounded size. What
/// belongs to one share queue is in one message.
fn messages_of<T>(parts: Vec<(Vec<Record>, T)>) -> Vec<(Vec<Record>, Vec<T>)> {
    let mut messages: Vec<(Vec<Record>, Vec<T>)> = Vec::new();
    let (mut body, mut size) = (Vec::new(), usize::MAX);
    for (records, part) in parts {
        body.clear();
        records.iter().for_each(|record| record.encode(&mut body));
        match messages.last_mut() {
            Some((last, parts)) if size + body.len() <= BODY_BYTES => {
                last.extend(records);
                parts.push(part);
                size += body.len();
            }
            _ => {
                messages.push((records, vec![part]));
                size = body.len();
            }
        }
    }
    messages
}

/// The records that name a share queue and say where it begins. Handles up to the time when it is made are void:
/// they are of a former share queue of that name, and so of other messages.
fn new_queue(
    sq_id: u64,
    (topic, group): (&str, &str),
    policy: Policy,
    beginning: &Beginning,
    made_ms: i64,
) -> [Record; 2] {
    let state = match &beginning.state {
        Some(state) => Snapshot {
            is_owned: false,
            ..state.finished_only()
        },
        None => Snapshot {
            start: beginning.start.min(u64::MAX - 2 * WINDOW),
            last_pop_time_ms: made_ms,
            reset_pop_time_ms: made_ms,
            ..Snapshot::default()
        },
    };
    let record = |body| Record {
        flags: 0,
        sq_id,
        epoch: state.epoch,
        body,
    };
    [
        record(Body::Wire {
            topic: topic.to_owned(),
            queue_id: beginning.queue_id,
            group: group.to_owned(),
            policy,
        }),
        record(Body::Snap(state.clone())),
    ]
}

impl Reign {
    fn new(reigning: Reigning, replayed: Replayed) -> Self {
        let lane = replayed.lane;
        let last = lane.iter().map(|(_, wired)| wired.queue.epoch()).max();
        let mut reign = Self {
            topic: reigning.topic.into(),
            member: reigning.member,
            segment_size: reigning.segment_size,
            is_acting: reigning.is_acting,
            life: reigning.life,
            shared: reigning.shared,
            serving: AHashMap::new(),
            following: None,
            epoch: reigning.epoch.max(last.unwrap_or(0) + 1),
            wanted_version: lane.version(),
            version_max: reigning.version_max,
            lane,
            owned: AHashSet::new(),
            counts: AHashMap::new(),
            attempts: AHashMap::new(),
            logical: AHashSet::new(),
            segments: AHashMap::new(),
            older: AHashMap::new(),
            turn: 0,
            end: replayed.end,
            snapshot_position: replayed.snapshot_position,
            bytes_since_snapshot: replayed.bytes_since_snapshot,
            left_out: replayed.left_out,
            removed_pop_time_ms: 0,
        };
        reign.drop_acquisitions();
        reign
    }

    /// The topic of the state log.
    pub(crate) fn topic(&self) -> &Arc<str> {
        &self.topic
    }

    /// A share queue that this broker may hand messages out of.
    pub(crate) fn find(&self, topic: &str, queue_id: i32, group: &str) -> Option<u64> {
        let sq_id = self.lane.find(topic, queue_id, group)?;
        let is_usable = if self.is_shared(topic) {
            self.serves(sq_id)
        } else {
            self.owned.contains(&sq_id)
        };
        is_usable.then_some(sq_id)
    }

    /// Whether messages are given up as a policy says.
    fn has_policy(&self, sq_id: u64, policy: Policy) -> bool {
        self.lane.get(sq_id).is_some_and(|wired| {
            (wired.policy.attempts, wired.policy.discards) == (policy.attempts, policy.discards)
        })
    }

    /// Append records to the lane, all of them or none, and apply them. A broker that acts for its master only
    /// applies them, and one that follows proposes them. Returns the queue offset behind the record, if one was
    /// written.
    pub(crate) fn append(
        &mut self,
        store: &Store,
        config: &HotPathConfig,
        records: &[Record],
        now_ms: i64,
    ) -> Result<Option<u64>, AppendError> {
        if let Some(following) = &mut self.following {
            following.propose(records);
            return Ok(None);
        }
        if self.is_acting {
            records.iter().for_each(|record| self.apply(record));
            return Ok(None);
        }
        let switch = self.switch();
        let body = encoded(switch.iter().chain(records));
        let topic = Arc::clone(&self.topic);
        let message = lane_message(&topic, config, &body, now_ms, &[]);
        let appended = store.writer()?.append(&message, now_ms)?;
        self.note(&appended, switch.iter().chain(records));
        Ok(Some(appended.queue_offset + 1))
    }

    /// Append messages and records of the lane as one unit, the records last.
    pub(crate) fn append_with(
        &mut self,
        store: &Store,
        config: &HotPathConfig,
        messages: &[NewMessage<'_>],
        records: &[Record],
        now_ms: i64,
    ) -> Result<Vec<Appended>, AppendError> {
        let switch = self.switch();
        let body = encoded(switch.iter().chain(records));
        let topic = Arc::clone(&self.topic);
        let mut unit = messages.to_vec();
        unit.push(lane_message(&topic, config, &body, now_ms, &[]));
        let appended = store.writer()?.append_unit(&unit, now_ms)?;
        if let Some(last) = appended.last() {
            self.note(last, switch.iter().chain(records));
        }
        Ok(appended)
    }

    fn note<'a>(&mut self, appended: &Appended, records: impl Iterator<Item = &'a Record>) {
        self.end = appended.log_position + u64::from(appended.size);
        self.bytes_since_snapshot += u64::from(appended.size);
        for record in records {
            self.apply(record);
        }
    }

    fn apply(&mut self, record: &Record) {
        let applied = self.apply_read(record);
        debug_assert!(applied.is_ok(), "{applied:?}: {record:?}");
    }

    /// Apply a record that another broker judged. What its writer did not judge so was cut off with its log.
    fn apply_read(&mut self, record: &Record) -> Result<(), Refused> {
        let again_count = self.redelivered_count(record);
        let applied = self.lane.apply(record)?;
        if record.sq_id != 0 {
            let counts = self.counts.entry(record.sq_id).or_default();
            counts.add(&record.body, applied.done.count(), again_count);
        }
        Ok(())
    }

    /// Do what only this broker remembers (`acquireLog=none`).
    pub(crate) fn remember(&mut self, sq_id: u64, body: Body) {
        let record = Record {
            flags: 0,
            sq_id,
            epoch: self.epoch,
            body,
        };
        self.apply(&record);
    }

    /// End the deliveries whose deadline has passed; those of a share queue that has left are its new owner's.
    pub(crate) fn expire(&mut self, sq_id: u64, elapsed_ms: i64) {
        if !self.has(sq_id) || self.is_shared_queue(sq_id) {
            return;
        }
        for (deadline_ms, ranges) in self.lane.overdue(sq_id, elapsed_ms) {
            // After the reset of another share queue, this one has its former epoch until its next use.
            let queue = self.lane.get(sq_id).map(|wired| &wired.queue);
            let record = Record {
                flags: 0,
                sq_id,
                epoch: queue.map_or(self.epoch, regent_share::ShareQueue::epoch),
                body: Body::Expire {
                    ranges,
                    deadline_ms,
                },
            };
            self.apply(&record);
        }
    }

    /// Messages that the group does not want, or that are gone.
    pub(crate) fn gap(&self, sq_id: u64, ranges: Ranges) -> Record {
        Record {
            flags: 0,
            sq_id,
            epoch: self.epoch_of(sq_id),
            body: Body::Gap { ranges },
        }
    }

    /// Note the last deliveries of share queues that are about to be removed.
    fn note_removed(&mut self, ids: &[u64]) {
        let removed = ids.iter().filter_map(|sq_id| self.lane.get(*sq_id));
        let times = removed.map(|wired| wired.queue.last_pop_time_ms());
        self.removed_pop_time_ms = times.fold(self.removed_pop_time_ms, i64::max);
    }

    fn segment_of(&self, position: u64) -> u64 {
        position / self.segment_size
    }

    fn is_snapshot_due(&self, store: &Store) -> bool {
        if self.is_acting || self.lane.last_id() == 0 {
            return false;
        }
        let end = self.segment_of(store.max_position());
        self.bytes_since_snapshot > SNAPSHOT_AFTER_BYTES
            || self
                .snapshot_position
                .is_none_or(|at| self.segment_of(at) != end)
    }

    /// Write the whole lane. A snapshot across two segments would expire in parts; a second one fits, if any
    /// does.
    fn write_snapshot(
        &mut self,
        store: &Store,
        config: &HotPathConfig,
        now_ms: i64,
    ) -> Result<(), AppendError> {
        let bodies = self.snapshot_bodies();
        let topic = Arc::clone(&self.topic);
        let mut writer = store.writer()?;
        for _ in 0..2 {
            let (mut first, mut last): (Option<u64>, Option<u64>) = (None, None);
            for body in &bodies {
                let properties = if first.is_none() {
                    SNAPSHOT_PROPERTIES
                } else {
                    &[]
                };
                let message = lane_message(&topic, config, body, now_ms, properties);
                let appended = writer.append(&message, now_ms)?;
                first.get_or_insert(appended.log_position);
                last = Some(appended.log_position);
                self.end = appended.log_position + u64::from(appended.size);
            }
            // One whose last message failed is none.
            self.snapshot_position = last;
            if first.map(|at| self.segment_of(at)) == last.map(|at| self.segment_of(at)) {
                break;
            }
        }
        self.bytes_since_snapshot = 0;
        self.left_out.clear();
        Ok(())
    }

    /// The bodies of a snapshot's messages: the last one ends with a MARK record, which has the last number that
    /// was given. The number of a removed share queue is never given again.
    fn snapshot_bodies(&self) -> Vec<Vec<u8>> {
        let mut bodies = vec![Vec::new()];
        for records in self.lane.snapshot(|name| self.is_shared(&name.topic)) {
            let mut body = Vec::new();
            records.iter().for_each(|record| record.encode(&mut body));
            match bodies.last_mut() {
                Some(last) if last.len() + body.len() <= BODY_BYTES => {
                    last.extend_from_slice(&body);
                }
                _ => bodies.push(body),
            }
        }
        let end = Record {
            flags: 0,
            sq_id: self.lane.last_id(),
            epoch: self.epoch,
            body: Body::Mark { sync_point: 0 },
        };
        if let Some(last) = bodies.last_mut() {
            // Readers of the first release end a snapshot at any other record than MARK in an earlier message.
            last.extend(encoded(self.version_record().iter().chain([&end])));
        }
        bodies
    }
}

fn encoded<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<u8> {
    let mut body = Vec::new();
    records.for_each(|record| record.encode(&mut body));
    body
}

fn lane_message<'a>(
    topic: &'a str,
    config: &HotPathConfig,
    body: &'a [u8],
    now_ms: i64,
    properties: &'a [u8],
) -> NewMessage<'a> {
    NewMessage {
        born_timestamp_ms: now_ms,
        born_host: config.store_host,
        store_host: config.store_host,
        properties,
        ..NewMessage::new(topic, LANE, body)
    }
}
