//! SHARED mode: any member of the broker group may own a share queue (queue-ownership.md 4.2 to 4.9, ADR 23).
//!
//! All of the state is in the lane, with the times of the wall clock, so each member has the same (OI-7). The master
//! is the sequencer: it judges records, its own and those of replicas, and appends them. A replica applies the lane
//! up to the confirmed position. It proposes what it hands out, and answers once it meets its own records there.

use std::sync::atomic::{AtomicU64, Ordering};

use ahash::{AHashMap, AHashSet};
use regent_commitlog::{AppendError, Store, StoreError};
use regent_share::{
    Body, Decoded, Delivery, FALLBACK, Ranges, Record, Records, Refused, Snapshot, WINDOW, Wired,
};

use super::{LANE, Reign, Reigning, Shares, encoded, messages_of, replay};
use crate::broker::{HotPathConfig, RETRY_PREFIX};
use crate::pull::Commit;

/// So many messages of the lane are read at a time.
const ENTRY_COUNT: usize = 512;

/// How far a replica has the lane, and what it has proposed.
#[derive(Debug, Default)]
pub(super) struct Following {
    /// The next message of the lane, by its queue offset.
    next: u64,
    /// What is proposed of each share queue and is not in this lane yet, by number.
    proposed: AHashMap<u64, Vec<(u64, Record)>>,
    /// The number of the records that are proposed next.
    number: u64,
    draft: Vec<u8>,
}

/// The lease by which this broker serves a share queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lease {
    epoch: u64,
    /// It ends then, by the clock of [`crate::Taker::elapsed_ms`], which goes on while this process is stopped.
    ends_ms: i64,
}

/// No two proposals of a process have the same number: the outcome of a proposal may come when the
/// replica has begun to follow again.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Records for the sequencer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposal {
    /// Their numbers here: until [`Shares::settle`] no consumer gets the messages again.
    pub numbers: Vec<u64>,
    /// The records, one behind the other: all of them have an effect, or none has.
    pub records: Vec<u8>,
}

impl Proposal {
    pub(crate) fn join(&mut self, other: Self) {
        self.numbers.extend(other.numbers);
        self.records.extend(other.records);
    }
}

/// What came of the wish to append records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appending {
    /// They are in the lane.
    Done {
        /// The log has them once it is confirmed up to here.
        position: u64,
        /// How far the groups are by now.
        commits: Vec<Commit>,
        /// The queues whose consumers may get messages now.
        ready: Vec<(String, i32)>,
        /// The queue offset behind the record, if one was written.
        lane_end: Option<u64>,
    },
    /// The writer owns one of the share queues no more.
    Fenced,
    /// The record would have no effect, or is of no SHARED topic.
    Refused,
}

/// A share queue of a SHARED topic, as this member's lane has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Topic.
    pub topic: String,
    /// Queue inside the topic.
    pub queue_id: i32,
    /// Consumer group.
    pub group: String,
    /// The lease epoch of the last owner.
    pub epoch: u64,
    /// The broker id of the owner; `None` without one.
    pub owner: Option<u64>,
    /// Whether a message can be delivered now. The owner has to end an overdue delivery before: without one it is
    /// a reason to own the share queue.
    pub has_messages: bool,
}

impl Following {
    pub(super) fn propose(&mut self, records: &[Record]) {
        for record in records {
            record.encode(&mut self.draft);
            let proposed = self.proposed.entry(record.sq_id).or_default();
            proposed.push((self.number, record.clone()));
        }
    }

    fn of(&self, sq_id: u64) -> impl Iterator<Item = &Record> {
        let proposed = self.proposed.get(&sq_id).into_iter().flatten();
        proposed.map(|(_, record)| record)
    }

    /// The messages of a share queue that are about to be handed out or left out.
    fn ranges(&self, sq_id: u64) -> impl Iterator<Item = &Ranges> {
        self.of(sq_id).filter_map(|record| match &record.body {
            Body::Acquire { ranges, .. } | Body::Gap { ranges } => Some(ranges),
            _ => None,
        })
    }
}

impl Shares {
    /// Begin to follow the lane, up to the position that readers see.
    ///
    /// # Errors
    /// The log is damaged there.
    pub fn follow(&self, store: &Store, reigning: Reigning) -> Result<(), AppendError> {
        let mut reign = Reign::new(reigning, replay::Replayed::default());
        reign.following = Some(Following {
            number: next_number(),
            ..Following::default()
        });
        reign.catch_up(store)?;
        *self.0.lock() = Some(reign);
        Ok(())
    }

    /// Apply what readers see of the lane by now. Returns the queues whose consumers may get messages now.
    ///
    /// # Errors
    /// The log is damaged there.
    pub fn advance(&self, store: &Store) -> Result<Vec<(String, i32)>, AppendError> {
        let mut reign = self.reign();
        match reign.as_mut().filter(|reign| reign.following.is_some()) {
            Some(reign) => Ok(reign.catch_up(store)?),
            None => Ok(Vec::new()),
        }
    }

    /// Serve a topic in SHARED mode from now on, or in PRIMARY mode. The master says so in the
    /// lane: the share queues then have no owner, and what consumers have is delivered again.
    /// Returns whether it wrote that.
    ///
    /// # Errors
    /// The store refused the records: some of the share queues have the former owner still.
    pub fn set_shared(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (topic, is_shared): (&str, bool),
        now_ms: i64,
    ) -> Result<bool, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = &mut *reign else {
            return Ok(false);
        };
        if reign.shared.contains(topic) == is_shared {
            return Ok(false);
        }
        if is_shared {
            reign.shared.insert(topic.to_owned());
        } else {
            reign.shared.remove(topic);
        }
        if reign.appends() {
            return reign.begin_mode(store, config, topic, now_ms);
        }
        if reign.is_acting {
            return Ok(false);
        }
        if let Some(following) = &mut reign.following {
            // Acquisitions of the topic were left out while its mode was not known here.
            following.next = 0;
        }
        reign.catch_up(store)?;
        Ok(false)
    }

    /// All share queues of SHARED topics in this lane.
    #[must_use]
    pub fn seen(&self, store: &Store, now_ms: i64) -> Vec<Seen> {
        let reign = self.reign();
        let Some(reign) = &*reign else {
            return Vec::new();
        };
        let shared = (reign.lane.iter()).filter(|(_, wired)| reign.is_shared(&wired.name.topic));
        shared
            .map(|(sq_id, wired)| reign.seen(store, (sq_id, wired), now_ms))
            .collect()
    }

    /// The share queues of a group in a SHARED topic in this lane.
    #[must_use]
    pub fn seen_of(&self, store: &Store, (topic, group): (&str, &str), now_ms: i64) -> Vec<Seen> {
        let reign = self.reign();
        let Some(reign) = reign.as_ref().filter(|reign| reign.is_shared(topic)) else {
            return Vec::new();
        };
        let ids = reign.lane.ids(topic, group).into_iter().flatten();
        ids.filter_map(|(_, sq_id)| Some((*sq_id, reign.lane.get(*sq_id)?)))
            .map(|found| reign.seen(store, found, now_ms))
            .collect()
    }

    /// Whether any share queue of a SHARED topic has an owner by this lane.
    #[must_use]
    pub fn is_any_owned(&self) -> bool {
        let reign = self.reign();
        reign.as_ref().is_some_and(|reign| {
            (reign.lane.iter()).any(|(_, wired)| {
                wired.queue.owner().is_some() && reign.is_shared(&wired.name.topic)
            })
        })
    }

    /// The broker id of the owner of a share queue by this lane; `None` without one.
    #[must_use]
    pub fn owner(&self, (topic, queue_id, group): (&str, i32, &str)) -> Option<u64> {
        self.reign().as_ref()?.owner(topic, queue_id, group)
    }

    /// Hand out messages of a share queue until a time of the clock that is never set. `false` if
    /// the lane does not say that the share queue is owned here, by this lease epoch.
    pub fn serve(
        &self,
        (topic, queue_id, group): (&str, i32, &str),
        epoch: u64,
        ends_ms: i64,
    ) -> bool {
        let mut reign = self.reign();
        let Some(reign) = reign.as_mut().filter(|reign| reign.is_shared(topic)) else {
            return false;
        };
        let Some(sq_id) = reign.lane.find(topic, queue_id, group) else {
            return false;
        };
        reign.serving.insert(sq_id, Lease { epoch, ends_ms });
        reign.lane.recheck(sq_id);
        let is_served = reign.serves(sq_id);
        if !is_served {
            reign.serving.remove(&sq_id);
        }
        is_served
    }

    /// Let the lease of a share queue that is served here end at another time.
    pub fn prolong(&self, (topic, queue_id, group): (&str, i32, &str), ends_ms: i64) {
        let mut reign = self.reign();
        let Some(reign) = &mut *reign else {
            return;
        };
        let sq_id = reign.lane.find(topic, queue_id, group);
        if let Some(lease) = sq_id.and_then(|sq_id| reign.serving.get_mut(&sq_id)) {
            lease.ends_ms = ends_ms;
        }
    }

    /// Hand out no message of a share queue any more. Returns whether its deliveries are proposed still.
    pub fn lock(&self, (topic, queue_id, group): (&str, i32, &str)) -> bool {
        let mut reign = self.reign();
        let Some(reign) = &mut *reign else {
            return false;
        };
        let Some(sq_id) = reign.lane.find(topic, queue_id, group) else {
            return false;
        };
        reign.serving.remove(&sq_id);
        reign.has_proposed(sq_id)
    }

    /// Whether this broker may hand out messages of any of the queues, or of the only one, of a group: at a time of
    /// the clock that is never set, or, with `None`, as long as its leases last.
    #[must_use]
    pub fn serves_any(
        &self,
        (topic, queue_id, group): (&str, Option<i32>, &str),
        elapsed_ms: Option<i64>,
    ) -> bool {
        let reign = self.reign();
        let Some(reign) = &*reign else {
            return false;
        };
        let ids = reign.lane.ids(topic, group).into_iter().flatten();
        let mut meant = ids.filter(|(id, _)| queue_id.is_none_or(|queue_id| queue_id == **id));
        meant.any(|(_, sq_id)| match elapsed_ms {
            Some(elapsed_ms) => reign.hands_out(*sq_id, elapsed_ms),
            None => reign.serves(*sq_id),
        })
    }

    /// The record by which a member owns a share queue, or gives it back (`None`).
    #[must_use]
    pub fn owning(
        &self,
        (topic, queue_id, group): (&str, i32, &str),
        epoch: Option<u64>,
        flags: u16,
    ) -> Option<Vec<u8>> {
        let reign = self.reign();
        let reign = reign.as_ref()?;
        let sq_id = reign.lane.find(topic, queue_id, group)?;
        let member = reign.member;
        let body = match epoch {
            Some(_) => Body::Own { member },
            None => Body::Unown { member },
        };
        let known = reign.lane.get(sq_id)?.queue.epoch();
        let mut bytes = Vec::new();
        Record {
            flags,
            sq_id,
            epoch: epoch.unwrap_or(known),
            body,
        }
        .encode(&mut bytes);
        Some(bytes)
    }

    /// Own a share queue as sequencer, because the control plane does not answer: its lease epoch, and what came
    /// of it. `None` if this broker is no master, or the share queue is unknown.
    ///
    /// # Errors
    /// The store refused the record.
    pub fn own_as_sequencer(
        &self,
        store: &Store,
        config: &HotPathConfig,
        name: (&str, i32, &str),
        now_ms: i64,
    ) -> Result<Option<(u64, Appending)>, AppendError> {
        let (topic, queue_id, group) = name;
        let known = {
            let reign = self.reign();
            let found = reign.as_ref().filter(|reign| reign.appends());
            let found = found.filter(|reign| reign.is_shared(topic));
            found.and_then(|reign| {
                let sq_id = reign.lane.find(topic, queue_id, group)?;
                Some((reign.lane.get(sq_id)?.queue.epoch() + 1, reign.member))
            })
        };
        let Some((epoch, member)) = known else {
            return Ok(None);
        };
        let Some(record) = self.owning(name, Some(epoch), FALLBACK) else {
            return Ok(None);
        };
        let outcome = self.append_unit(store, config, (member, &record), now_ms)?;
        Ok(Some((epoch, outcome)))
    }

    /// Append records of a member, all of them or none (4101). Records that are in the lane already are done.
    ///
    /// # Errors
    /// The store refused them.
    pub fn append_unit(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (member, records): (u64, &[u8]),
        now_ms: i64,
    ) -> Result<Appending, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = reign.as_mut().filter(|reign| reign.appends()) else {
            return Ok(Appending::Refused);
        };
        let mut wanted = Vec::new();
        for record in Records::new(records) {
            match record {
                Ok(Decoded::Known(record)) if reign.may_append(&record, member) => {
                    wanted.push(record);
                }
                _ => return Ok(Appending::Refused),
            }
        }
        wanted.retain(|record| !reign.has_record(record));
        let is_void = |record: &Record| reign.is_late(record) || reign.is_ahead(store, record);
        match reign.lane.judge_unit(&wanted) {
            Err((_, Refused::Fenced)) => return Ok(Appending::Fenced),
            Err(_) => return Ok(Appending::Refused),
            Ok(_) if wanted.iter().any(is_void) => return Ok(Appending::Refused),
            Ok(_) => {}
        }
        let lane_end = if wanted.is_empty() {
            None
        } else {
            reign.append(store, config, &wanted, now_ms)?
        };
        let gaps = wanted
            .iter()
            .filter(|it| matches!(it.body, Body::Gap { .. }));
        let commits = reign.commits(gaps.map(|record| record.sq_id));
        let ready = reign.ready_queues(wanted.iter());
        Ok(Appending::Done {
            position: reign.end,
            commits,
            ready,
            lane_end,
        })
    }

    /// End the deliveries of the share queues served here whose deadline has passed. Returns the queues whose
    /// messages can be delivered again; a replica has to propose it first, see [`Shares::take_proposal`].
    ///
    /// # Errors
    /// The store refused the records.
    pub fn expire_served(
        &self,
        store: &Store,
        config: &HotPathConfig,
        now_ms: i64,
    ) -> Result<Vec<(String, i32)>, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = &mut *reign else {
            return Ok(Vec::new());
        };
        let ids: Vec<_> = reign.serving.keys().copied().collect();
        let mut expired = Vec::new();
        for sq_id in ids
            .into_iter()
            .filter(|sq_id| reign.serves(*sq_id))
            .collect::<Vec<_>>()
        {
            expired.extend(reign.overdue(sq_id, now_ms));
        }
        if expired.is_empty() {
            return Ok(Vec::new());
        }
        let appended = reign.append(store, config, &expired, now_ms);
        if appended.is_err() {
            reign.recheck(&expired);
        }
        appended?;
        Ok(reign.ready_queues(expired.iter()))
    }

    /// What this broker has to propose by now.
    #[must_use]
    pub fn take_proposal(&self) -> Option<Proposal> {
        self.reign().as_mut()?.take_proposal()
    }

    /// Hear that a proposal is in this lane, or never will be. Returns the queues whose messages it held back: those
    /// that it did not hand out can be delivered now.
    pub fn settle(&self, numbers: &[u64]) -> Vec<(String, i32)> {
        let mut reign = self.reign();
        let Some(reign) = &mut *reign else {
            return Vec::new();
        };
        let Some(following) = &mut reign.following else {
            return Vec::new();
        };
        let numbers: AHashSet<_> = numbers.iter().copied().collect();
        let (mut settled, mut expired) = (Vec::new(), Vec::new());
        following.proposed.retain(|sq_id, proposed| {
            if proposed.iter().any(|(number, _)| numbers.contains(number)) {
                settled.push(*sq_id);
            }
            let is_of = |record: &Record| matches!(record.body, Body::Expire { .. });
            if (proposed.iter()).any(|(number, it)| numbers.contains(number) && is_of(it)) {
                expired.push(*sq_id);
            }
            proposed.retain(|(number, _)| !numbers.contains(number));
            !proposed.is_empty()
        });
        // One that was not carried out is overdue still.
        expired.iter().for_each(|sq_id| reign.lane.recheck(*sq_id));
        reign.served_queues(settled.into_iter())
    }

    /// The records that give back what others hand out whose outcome is unknown; `None` if they hand out nothing.
    ///
    /// A replica hands out none of the messages before both are settled. One that has another role by now has no
    /// number for the records, and has them appended all the same.
    #[must_use]
    pub fn withdraw(&self, records: &[u8]) -> Option<Proposal> {
        let releases: Vec<_> = Records::new(records)
            .filter_map(|record| match record {
                Ok(Decoded::Known(record)) => released(record),
                _ => None,
            })
            .collect();
        if releases.is_empty() {
            return None;
        }
        let mut reign = self.reign();
        if let Some(reign) = &mut *reign
            && let Some(following) = &mut reign.following
        {
            following.propose(&releases);
            return reign.take_proposal();
        }
        Some(Proposal {
            numbers: Vec::new(),
            records: encoded(releases.iter()),
        })
    }

    /// The state of a share queue, and the log position behind the last record that it has; `None` if it is
    /// unknown.
    #[must_use]
    pub fn state(&self, (topic, queue_id, group): (&str, i32, &str)) -> Option<(u64, Snapshot)> {
        let reign = self.reign();
        let reign = reign.as_ref()?;
        let wired = reign.lane.get(reign.lane.find(topic, queue_id, group)?)?;
        Some((reign.end, wired.queue.snapshot(true)))
    }
}

/// The topic whose mode a topic has: of a retry topic, the topic of its messages.
fn topic_of_mode(topic: &str) -> &str {
    let retried = topic.strip_prefix(RETRY_PREFIX);
    let retried = retried.and_then(|it| it.split_once('+'));
    retried.map_or(topic, |(_, topic)| topic)
}

/// The record that gives messages back at once.
pub(super) fn release(sq_id: u64, epoch: u64, delivery: Delivery, ranges: Ranges) -> Record {
    Record {
        flags: 0,
        sq_id,
        epoch,
        body: Body::Release {
            delivery,
            ranges,
            visible_at_ms: 0,
        },
    }
}

/// The record that gives back what a record hands out.
fn released(record: Record) -> Option<Record> {
    let Body::Acquire {
        delivery, ranges, ..
    } = record.body
    else {
        return None;
    };
    Some(release(record.sq_id, record.epoch, delivery, ranges))
}

impl Reign {
    /// Whether this broker says what happens: it leads, or acts for its master.
    pub(crate) fn decides(&self) -> bool {
        self.following.is_none()
    }

    /// Whether this broker appends records.
    pub(crate) fn appends(&self) -> bool {
        self.decides() && !self.is_acting
    }

    /// Whether any member may own the share queues of a topic. A retry topic has the mode of its topic.
    pub(crate) fn is_shared(&self, topic: &str) -> bool {
        if self.is_acting || self.shared.is_empty() {
            return false;
        }
        self.shared.contains(topic_of_mode(topic))
    }

    fn seen(&self, store: &Store, (sq_id, wired): (u64, &Wired), now_ms: i64) -> Seen {
        let (name, queue) = (wired.name.clone(), &wired.queue);
        let mut ready = queue.ready(now_ms, wired.policy.attempts);
        let end = self.bounds(store, sq_id).map_or(0, |(_, max)| max);
        let is_new = queue.window_left() > 0 && end > queue.end();
        Seen {
            topic: name.topic,
            queue_id: name.queue_id,
            group: name.group,
            epoch: queue.epoch(),
            owner: queue.owner(),
            has_messages: ready.next().is_some() || is_new || queue.is_overdue(now_ms),
        }
    }

    pub(super) fn is_shared_queue(&self, sq_id: u64) -> bool {
        if self.shared.is_empty() {
            return false;
        }
        let wired = self.lane.get(sq_id);
        wired.is_some_and(|wired| self.is_shared(&wired.name.topic))
    }

    /// Whether this broker owns a share queue of a SHARED topic, by the lane and by its lease.
    pub(crate) fn serves(&self, sq_id: u64) -> bool {
        let queue = self.lane.get(sq_id).map(|wired| &wired.queue);
        // A lane with records of a later version is not all here.
        let is_read = self.lane.version() <= self.version_max;
        let owned = queue.filter(|queue| is_read && queue.owner() == Some(self.member));
        let lease = self.serving.get(&sq_id);
        owned.is_some_and(|queue| lease.is_some_and(|lease| lease.epoch == queue.epoch()))
    }

    /// Whether this broker may hand out messages of a share queue now. A process that was stopped may meet requests
    /// that came meanwhile, before anything else: its lease may have ended by then (O23, OI-11).
    pub(crate) fn hands_out(&self, sq_id: u64, elapsed_ms: i64) -> bool {
        let lease = self.serving.get(&sq_id);
        lease.is_some_and(|lease| elapsed_ms < lease.ends_ms) && self.serves(sq_id)
    }

    /// The broker id of the owner of a share queue by this lane; `None` without one.
    pub(crate) fn owner(&self, topic: &str, queue_id: i32, group: &str) -> Option<u64> {
        let sq_id = self.lane.find(topic, queue_id, group)?;
        self.lane.get(sq_id)?.queue.owner()
    }

    /// The id of this broker in its group.
    pub(crate) fn member(&self) -> u64 {
        self.member
    }

    /// The lease epoch for records about a share queue.
    pub(crate) fn epoch_of(&self, sq_id: u64) -> u64 {
        if !self.is_shared_queue(sq_id) {
            return self.epoch;
        }
        let queue = self.lane.get(sq_id).map(|wired| &wired.queue);
        queue.map_or(self.epoch, regent_share::ShareQueue::epoch)
    }

    /// How records name the client of a connection.
    pub(crate) fn client_of(&self, connection: u64) -> u64 {
        u64::from(self.life) << 32 | connection & u64::from(u32::MAX)
    }

    /// The connection of a client that a record names; 0 of another process.
    pub(super) fn connection_of(&self, client: u64) -> u64 {
        if client >> 32 == u64::from(self.life) {
            client & u64::from(u32::MAX)
        } else {
            0
        }
    }

    /// Whether a message is about to be handed out or left out.
    pub(crate) fn is_proposed(&self, sq_id: u64, offset: u64) -> bool {
        self.following.as_ref().is_some_and(|following| {
            let mut ranges = following.ranges(sq_id);
            ranges.any(|it| it.as_slice().iter().any(|range| range.contains(&offset)))
        })
    }

    /// Whether any delivery of a share queue is proposed.
    pub(crate) fn has_proposed(&self, sq_id: u64) -> bool {
        let following = self.following.as_ref();
        following.is_some_and(|following| following.ranges(sq_id).next().is_some())
    }

    /// The first offset behind all that were handed out or left out, or are about to be.
    pub(crate) fn new_from(&self, sq_id: u64) -> u64 {
        let known = self.lane.get(sq_id).map_or(0, |wired| wired.queue.end());
        let following = self.following.iter();
        let ranges = following.flat_map(|following| following.ranges(sq_id));
        ranges.filter_map(Ranges::end).fold(known, u64::max)
    }

    /// The time of the last delivery that is proposed; 0 without one.
    pub(crate) fn proposed_pop_ms(&self, sq_id: u64) -> i64 {
        let following = self.following.iter();
        let records = following.flat_map(|following| following.of(sq_id));
        let times = records.filter_map(|record| match &record.body {
            Body::Acquire { delivery, .. } => Some(delivery.pop_time_ms),
            _ => None,
        });
        times.max().unwrap_or(0)
    }

    pub(crate) fn take_proposal(&mut self) -> Option<Proposal> {
        let following = self.following.as_mut()?;
        if following.draft.is_empty() {
            return None;
        }
        let number = std::mem::replace(&mut following.number, next_number());
        Some(Proposal {
            numbers: vec![number],
            records: std::mem::take(&mut following.draft),
        })
    }

    /// The records that end the deliveries of a share queue whose deadline has passed.
    pub(crate) fn overdue(&mut self, sq_id: u64, now_ms: i64) -> Vec<Record> {
        let epoch = self.epoch_of(sq_id);
        let overdue = self.lane.overdue(sq_id, now_ms).into_iter();
        let following = self.following.as_ref();
        let is_news = |deadline_ms: i64| {
            let proposed = following.into_iter().flat_map(|it| it.of(sq_id));
            let is_same = |record: &Record| matches!(record.body, Body::Expire { deadline_ms: own, .. } if own == deadline_ms);
            !proposed.into_iter().any(is_same)
        };
        let news = overdue.filter(|(deadline_ms, _)| is_news(*deadline_ms));
        news.map(|(deadline_ms, ranges)| Record {
            flags: 0,
            sq_id,
            epoch,
            body: Body::Expire {
                ranges,
                deadline_ms,
            },
        })
        .collect()
    }

    /// Name the deliveries again that records were to end, because the store refused the records.
    pub(crate) fn recheck(&mut self, records: &[Record]) {
        for record in records {
            self.lane.recheck(record.sq_id);
        }
    }

    /// In PRIMARY mode the lane says nothing of acquisitions. What it has of them is of another mode before.
    pub(super) fn drop_acquisitions(&mut self) {
        let ids = self.lane.iter().map(|(sq_id, _)| sq_id);
        let ids: Vec<_> = ids.filter(|sq_id| !self.is_shared_queue(*sq_id)).collect();
        ids.into_iter()
            .for_each(|sq_id| self.lane.drop_acquisitions(sq_id));
    }

    /// Say in the lane that the share queues of a topic have no owner, and no consumer has a
    /// message.
    ///
    /// On this broker that holds even if the store refuses the records: by the clock of the other
    /// mode, no delivery would end.
    fn begin_mode(
        &mut self,
        store: &Store,
        config: &HotPathConfig,
        topic: &str,
        now_ms: i64,
    ) -> Result<bool, AppendError> {
        let meant = self.lane.iter();
        let meant = meant.filter(|(_, wired)| topic_of_mode(&wired.name.topic) == topic);
        let ids: Vec<_> = meant.map(|(sq_id, _)| sq_id).collect();
        let mut states = Vec::new();
        for sq_id in ids {
            self.leave(sq_id);
            self.serving.remove(&sq_id);
            self.lane.drop_acquisitions(sq_id);
            if let Some(wired) = self.lane.get(sq_id) {
                let state = Snapshot {
                    is_owned: false,
                    ..wired.queue.snapshot(false)
                };
                let record = Record {
                    flags: 0,
                    sq_id,
                    epoch: state.epoch,
                    body: Body::Snap(state),
                };
                states.push((vec![record], ()));
            }
        }
        let is_any = !states.is_empty();
        for (records, _) in messages_of(states) {
            self.append(store, config, &records, now_ms)?;
        }
        Ok(is_any)
    }

    /// Whether a member may have a record appended.
    fn may_append(&self, record: &Record, member: u64) -> bool {
        let is_sound = match &record.body {
            Body::Own { member: own } | Body::Unown { member: own } => *own == member,
            // An owner hands out what the window has.
            Body::Acquire { ranges, .. } | Body::Expire { ranges, .. } => ranges.count() <= WINDOW,
            Body::Gap { .. } | Body::Release { .. } | Body::ClientGone { .. } => true,
            _ => false,
        };
        is_sound && self.is_shared_queue(record.sq_id)
    }

    /// Whether a record is in the lane already: its answer was lost, and it was sent again.
    fn has_record(&self, record: &Record) -> bool {
        let Some(wired) = self.lane.get(record.sq_id) else {
            return false;
        };
        let queue = &wired.queue;
        let is_own_epoch = queue.epoch() == record.epoch;
        match &record.body {
            Body::Own { member } => is_own_epoch && queue.owner() == Some(*member),
            Body::Unown { .. } => is_own_epoch && !queue.is_owned(),
            Body::Acquire {
                delivery, ranges, ..
            } => !ranges.is_empty() && queue.batch(*delivery) == *ranges,
            _ => false,
        }
    }

    /// Whether something happened before the record of a delivery came here: one of its messages was finished, or
    /// another message was renewed by the same time, so that one handle would be that of two deliveries.
    fn is_late(&self, record: &Record) -> bool {
        let Body::Acquire {
            delivery, ranges, ..
        } = &record.body
        else {
            return false;
        };
        let queue = self.lane.get(record.sq_id).map(|wired| &wired.queue);
        queue.is_none_or(|queue| {
            ranges.offsets().any(|offset| queue.is_finished(offset))
                || !queue.batch(*delivery).is_empty()
        })
    }

    /// Whether a record hands out or leaves out a message that the log does not have.
    fn is_ahead(&self, store: &Store, record: &Record) -> bool {
        let (Body::Acquire { ranges, .. } | Body::Gap { ranges }) = &record.body else {
            return false;
        };
        let name = self.lane.get(record.sq_id).map(|wired| &wired.name);
        let offsets = name.and_then(|name| store.held_offsets(&name.topic, name.queue_id));
        ranges.end() > Some(offsets.map_or(0, |(_, end)| end))
    }

    /// The queues whose messages can be delivered again because of some records.
    fn ready_queues<'a>(&self, records: impl Iterator<Item = &'a Record>) -> Vec<(String, i32)> {
        let records = records.filter(|record| makes_ready(&record.body));
        self.served_queues(records.map(|record| record.sq_id))
    }

    /// The queues of those share queues that this broker serves, or served until now.
    fn served_queues(&self, ids: impl Iterator<Item = u64>) -> Vec<(String, i32)> {
        let mut queues = Vec::new();
        for sq_id in ids {
            let Some(wired) = self.lane.get(sq_id) else {
                continue;
            };
            let queue = (wired.name.topic.clone(), wired.name.queue_id);
            // Consumers of one that was lost are to go elsewhere.
            if self.serving.contains_key(&sq_id) && !queues.contains(&queue) {
                queues.push(queue);
            }
        }
        queues
    }

    /// Apply what readers see of the lane. A lane that does not continue what is known is replayed.
    fn catch_up(&mut self, store: &Store) -> Result<Vec<(String, i32)>, StoreError> {
        let topic = self.topic.to_string();
        let (low, end) = store.queue_offsets(&topic, LANE).unwrap_or_default();
        let next = self
            .following
            .as_ref()
            .map_or(0, |following| following.next);
        if next < low || next > end || (next == 0 && end > 0) {
            let replayed = replay::replay_until(store, &topic, end, self.version_max)?;
            (self.lane, self.end) = (replayed.lane, replayed.end);
            self.left_out = replayed.left_out;
            self.drop_acquisitions();
            if let Some(following) = &mut self.following {
                following.next = end;
            }
            return Ok(Vec::new());
        }
        let (mut at, mut changed) = (next, AHashMap::new());
        let mut has_snapshot = false;
        while at < end {
            let count = ENTRY_COUNT.min(usize::try_from(end - at).unwrap_or(ENTRY_COUNT));
            let read = replay::read_from(store, &topic, (at, count), self.version_max)?;
            if read.is_empty() {
                break;
            }
            for message in read {
                at += 1;
                self.end = message.end;
                if !message.is_whole {
                    self.left_out.push(message.position);
                }
                for record in message.records {
                    let _ = self.apply_read(&record);
                    has_snapshot |= matches!(record.body, Body::Mark { .. });
                    if makes_ready(&record.body) {
                        changed.insert(record.sq_id, record);
                    }
                }
            }
        }
        if let Some(following) = &mut self.following {
            following.next = at;
        }
        if has_snapshot && !self.left_out.is_empty() {
            let snapshot = replay::last_snapshot(store, &topic, self.version_max)?;
            self.left_out.retain(|at| Some(*at) > snapshot);
        }
        Ok(self.ready_queues(changed.values()))
    }
}

/// Whether messages may be delivered that could not be before a record.
fn makes_ready(body: &Body) -> bool {
    matches!(
        body,
        Body::Release { .. }
            | Body::Expire { .. }
            | Body::ClientGone { .. }
            | Body::Accept { .. }
            | Body::Reject { .. }
            | Body::Gap { .. }
            | Body::Snap(_)
            | Body::Own { .. }
            | Body::Unown { .. }
    )
}
