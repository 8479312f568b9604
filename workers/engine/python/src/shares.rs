//! The share queues of POP.

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use regent_hotpath as hotpath;
use regent_hotpath::{Beginning, Change, FinishedPart, Former, Held, HeldMessage, Hold, Reigning};
use regent_share::{Delivery, Disposition, Handle, Policy, Ranges, WINDOW};

use crate::error::detached;
use crate::grant::LeadingQueues;
use crate::hotpath::HotPath;
use crate::store::{Draft, now_ms};

/// What came of a wish to finish messages.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Finished {
    successes: Vec<bool>,
    position: u64,
    commits: Vec<(String, String, i32, i64)>,
}

impl From<hotpath::Finished> for Finished {
    fn from(finished: hotpath::Finished) -> Self {
        let commits = finished.commits.into_iter();
        Self {
            successes: finished.successes,
            position: finished.position,
            commits: commits
                .map(|it| (it.group, it.topic, it.queue_id, it.offset))
                .collect(),
        }
    }
}

/// A share queue as its owner has it.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct HeldShare {
    topic: String,
    queue_id: i32,
    group: String,
    attempts: u16,
    discards: bool,
    is_ordered: bool,
    window: u32,
    epoch: u64,
    reset_epoch: u64,
    is_used: bool,
    start: u64,
    end: u64,
    acquired_count: u64,
    returned_count: u64,
    finished_count: u64,
    oldest_acquired_at_ms: Option<i64>,
    oldest_delivered_at_ms: Option<i64>,
    delivered_count: u64,
    redelivered_count: u64,
    accepted_count: u64,
    dead_lettered_count: u64,
    discarded_count: u64,
    retried_count: u64,
}

impl From<Held> for HeldShare {
    fn from(held: Held) -> Self {
        let (policy, counts) = (held.policy, held.counts);
        Self {
            topic: held.name.topic,
            queue_id: held.name.queue_id,
            group: held.name.group,
            attempts: policy.attempts,
            discards: policy.discards,
            is_ordered: policy.is_ordered,
            window: policy.window,
            epoch: held.epoch,
            reset_epoch: held.reset_epoch,
            is_used: held.is_used,
            start: held.start,
            end: held.end,
            acquired_count: held.acquired_count,
            returned_count: held.returned_count,
            finished_count: held.finished_count,
            oldest_acquired_at_ms: held.oldest_acquired_at_ms,
            oldest_delivered_at_ms: held.oldest_delivered_at_ms,
            delivered_count: counts.delivered,
            redelivered_count: counts.redelivered,
            accepted_count: counts.accepted,
            dead_lettered_count: counts.dead_lettered,
            discarded_count: counts.discarded,
            retried_count: counts.retried,
        }
    }
}

/// A message that was delivered, and is not finished.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct HeldShareMessage {
    offset: u64,
    connection_id: Option<u64>,
    pop_time_ms: i64,
    tag: u16,
    first_pop_ms: i64,
    due_ms: i64,
    count: u16,
}

impl From<HeldMessage> for HeldShareMessage {
    fn from(message: HeldMessage) -> Self {
        Self {
            offset: message.offset,
            connection_id: message.client,
            pop_time_ms: message.delivery.pop_time_ms,
            tag: message.delivery.tag,
            first_pop_ms: message.first_pop_ms,
            due_ms: message.due_ms,
            count: message.count,
        }
    }
}

fn policy(attempts: u16, discards: bool, is_ordered: bool) -> Policy {
    Policy {
        attempts,
        discards,
        is_ordered,
        window: u32::try_from(WINDOW).unwrap_or(u32::MAX),
    }
}

/// The number of a share queue, the epoch of its last reset, and what is finished of it.
type FinishedFields = (u64, u64, Vec<(u64, u64)>);

fn rising(pairs: &[(u64, u64)]) -> PyResult<Ranges> {
    let mut ranges = Ranges::default();
    for &(start, end) in pairs {
        if start >= end || ranges.end().is_some_and(|last| start < last) {
            return Err(PyValueError::new_err("ranges rise, and are not empty"));
        }
        ranges.push(start..end);
    }
    Ok(ranges)
}

/// Group, lease epoch, SNAP record.
type GivenAway<'py> = (String, u64, Bound<'py, PyBytes>);

/// The time of a delivery as of now, its tag, and the log position to wait for, if there is one.
type Changed = (i64, u16, Option<u64>);

/// Topic, queue, group, offset, deliveries.
type Dead = (String, i32, String, u64, u16);

#[pymethods]
impl HotPath {
    #[pyo3(signature = (topic, *, epoch, member, segment_size_bytes, is_acting=false, life=0,
        shared_topics=Vec::new(), version_max=regent_share::VERSION))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn lead_shares(
        &self,
        py: Python<'_>,
        topic: String,
        epoch: u64,
        member: u64,
        segment_size_bytes: u64,
        is_acting: bool,
        life: u32,
        shared_topics: Vec<String>,
        version_max: u16,
    ) -> PyResult<u16> {
        let reigning = Reigning {
            topic,
            epoch,
            member,
            segment_size: segment_size_bytes.max(1),
            is_acting,
            life,
            shared: shared_topics.into_iter().collect(),
            version_max,
        };
        let hot = &self.0.hot;
        (self.0.store).run(py, |store| Ok(hot.shares.lead(store, reigning)?))
    }

    #[getter]
    fn shares_version(&self) -> Option<u16> {
        self.0.hot.shares.version()
    }

    fn raise_shares_version(&self, py: Python<'_>, version: u16) -> PyResult<bool> {
        let hot = &self.0.hot;
        (self.0.store).run(py, |store| {
            Ok(hot
                .shares
                .raise_version(store, hot.config(), version, now_ms())?)
        })
    }

    fn compact_shares(&self, py: Python<'_>, version: u16) -> PyResult<bool> {
        let hot = &self.0.hot;
        (self.0.store).run(py, |store| {
            Ok(hot.shares.compact(store, hot.config(), version, now_ms())?)
        })
    }

    #[getter]
    fn shares_end(&self) -> u64 {
        self.0.hot.shares.end()
    }

    fn stand_down_shares(&self) {
        self.0.hot.shares.stand_down();
    }

    #[pyo3(signature = (topic, group, queue_count, *, attempts, discards, leading=None))]
    fn missing_shares(
        &self,
        topic: &str,
        group: &str,
        queue_count: i32,
        attempts: u16,
        discards: bool,
        leading: Option<&LeadingQueues>,
    ) -> Vec<i32> {
        let policy = policy(attempts, discards, false);
        let leading = leading.map(|it| &*it.0);
        (self.0.hot.shares).missing((topic, group), queue_count, leading, policy)
    }

    #[pyo3(signature = (topic, group, starts, *, attempts, discards, is_ordered, leading=None,
        states=None, elapsed_ms=0))]
    #[expect(clippy::too_many_arguments, reason = "most are keywords in Python")]
    fn begin_shares(
        &self,
        py: Python<'_>,
        topic: &str,
        group: &str,
        starts: Vec<(i32, u64)>,
        attempts: u16,
        discards: bool,
        is_ordered: bool,
        leading: Option<&LeadingQueues>,
        states: Option<HashMap<i32, PyBackedBytes>>,
        elapsed_ms: i64,
    ) -> PyResult<()> {
        let states = states.unwrap_or_default();
        let mut beginnings = Vec::with_capacity(starts.len());
        for (queue_id, start) in starts {
            let state = states.get(&queue_id).map(|record| {
                let malformed = || PyValueError::new_err("the state is malformed");
                hotpath::decode_state(record, elapsed_ms).ok_or_else(malformed)
            });
            beginnings.push(Beginning {
                queue_id,
                start,
                segment: leading.and_then(|it| it.0.segment(queue_id)),
                state: state.transpose()?,
            });
        }
        let policy = policy(attempts, discards, is_ordered);
        let hot = &self.0.hot;
        self.0.store.run(py, |store| {
            let name = (topic, group);
            let config = hot.config();
            Ok(hot
                .shares
                .begin(store, config, name, policy, &beginnings, now_ms())?)
        })
    }

    #[pyo3(signature = (topic, queue_id, group, *, pop_time_ms, tag, offsets))]
    #[expect(clippy::too_many_arguments, reason = "most are keywords in Python")]
    fn accept_shares(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        group: &str,
        pop_time_ms: i64,
        tag: u16,
        offsets: Vec<u64>,
    ) -> PyResult<Option<Finished>> {
        let hot = &self.0.hot;
        let which = (Delivery { pop_time_ms, tag }, &offsets[..]);
        let finished = self.0.store.run(py, |store| {
            let name = (topic, queue_id, group);
            Ok(hot
                .shares
                .accept(store, hot.config(), name, which, now_ms())?)
        })?;
        Ok(finished.map(Finished::from))
    }

    fn finished_share(&self, topic: &str, queue_id: i32, group: &str) -> Option<FinishedFields> {
        let part = self.0.hot.shares.finished((topic, queue_id, group))?;
        let ranges = part.ranges.as_slice().iter();
        let ranges = ranges.map(|range| (range.start, range.end)).collect();
        Some((part.sq_id, part.reset_epoch, ranges))
    }

    #[pyo3(signature = (topic, queue_id, group, *, number, reset_epoch, ranges))]
    #[expect(clippy::too_many_arguments, reason = "most are keywords in Python")]
    fn take_over_share(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        group: &str,
        number: u64,
        reset_epoch: u64,
        ranges: Vec<(u64, u64)>,
    ) -> PyResult<Option<Finished>> {
        let part = FinishedPart {
            sq_id: number,
            reset_epoch,
            ranges: rising(&ranges)?,
        };
        let hot = &self.0.hot;
        let finished = self.0.store.run(py, |store| {
            let name = (topic, queue_id, group);
            Ok(hot
                .shares
                .take_over(store, hot.config(), name, &part, now_ms())?)
        })?;
        Ok(finished.map(Finished::from))
    }

    #[pyo3(signature = (topic, queue_id, group, *, pop_time_ms, tag, offset, hidden_ms, gives_back,
        elapsed_ms))]
    #[expect(clippy::too_many_arguments, reason = "most are keywords in Python")]
    fn change_share(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        group: &str,
        pop_time_ms: i64,
        tag: u16,
        offset: u64,
        hidden_ms: i64,
        gives_back: bool,
        elapsed_ms: i64,
    ) -> PyResult<Option<Changed>> {
        let which = (Delivery { pop_time_ms, tag }, offset);
        let clocks = (now_ms(), elapsed_ms);
        let hot = &self.0.hot;
        let change = if gives_back {
            Change::GiveBack(hidden_ms)
        } else {
            Change::Keep(hidden_ms)
        };
        let renewed = self.0.store.run(py, |store| {
            let (name, config) = ((topic, queue_id, group), hot.config());
            Ok(hot
                .shares
                .change(store, config, name, which, change, clocks)?)
        })?;
        Ok(renewed.map(|it| (it.delivery.pop_time_ms, it.delivery.tag, it.position)))
    }

    fn is_share_full(&self, topic: &str, queue_id: i32, group: &str) -> bool {
        self.0.hot.shares.is_full((topic, queue_id, group))
    }

    fn next_of_share(
        &self,
        topic: &str,
        queue_id: i32,
        group: &str,
        elapsed_ms: i64,
    ) -> Option<u64> {
        let shares = &self.0.hot.shares;
        shares.next_offset((topic, queue_id, group), (now_ms(), elapsed_ms))
    }

    fn client_left_shares(
        &self,
        py: Python<'_>,
        client: u64,
        group: &str,
    ) -> PyResult<Vec<(String, i32)>> {
        let hot = &self.0.hot;
        self.0.store.run(py, |store| {
            let who = (client, group);
            Ok(hot.shares.client_gone(store, hot.config(), who, now_ms())?)
        })
    }

    fn undo_deliveries(
        &self,
        py: Python<'_>,
        deliveries: Vec<(u64, i64, u16)>,
    ) -> PyResult<Vec<(String, i32)>> {
        let delivery = |pop_time_ms, tag| Delivery { pop_time_ms, tag };
        let deliveries: Vec<_> = (deliveries.into_iter())
            .map(|(sq_id, pop_time_ms, tag)| (sq_id, delivery(pop_time_ms, tag)))
            .collect();
        let hot = &self.0.hot;
        self.0.store.run(py, |store| {
            let config = hot.config();
            Ok(hot.shares.undo(store, config, &deliveries, now_ms())?)
        })
    }

    #[pyo3(signature = (elapsed_ms, count_max, *, topic=None, group=None))]
    fn list_shares(
        &self,
        py: Python<'_>,
        elapsed_ms: i64,
        count_max: usize,
        topic: Option<&str>,
        group: Option<&str>,
    ) -> PyResult<(Vec<HeldShare>, usize)> {
        let shares = &self.0.hot.shares;
        detached(py, || {
            let (listed, count) = shares.list((topic, group), elapsed_ms, count_max);
            Ok((listed.into_iter().map(HeldShare::from).collect(), count))
        })
    }

    fn share_delivered_count(&self, topic: &str, queue_id: i32, group: &str) -> u64 {
        let shares = &self.0.hot.shares;
        shares.delivered_count((topic, queue_id, group))
    }

    fn share_messages(
        &self,
        topic: &str,
        queue_id: i32,
        group: &str,
        elapsed_ms: i64,
    ) -> Vec<HeldShareMessage> {
        let shares = &self.0.hot.shares;
        let found = shares.messages((topic, queue_id, group), elapsed_ms);
        found.into_iter().map(HeldShareMessage::from).collect()
    }

    fn release_share(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        group: &str,
        holds: Vec<(u64, i64, u16)>,
    ) -> PyResult<u64> {
        let holds = holds.into_iter();
        let holds: Vec<Hold> = holds
            .map(|(offset, pop_time_ms, tag)| (offset, Delivery { pop_time_ms, tag }))
            .collect();
        let hot = &self.0.hot;
        self.0.store.run(py, |store| {
            let (name, config) = ((topic, queue_id, group), hot.config());
            Ok(hot.shares.release(store, config, name, &holds, now_ms())?)
        })
    }

    fn reset_share(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        group: &str,
        start: u64,
    ) -> PyResult<bool> {
        let hot = &self.0.hot;
        self.0.store.run(py, |store| {
            let name = (topic, queue_id, group);
            Ok(hot
                .shares
                .reset(store, hot.config(), name, start, now_ms())?)
        })
    }

    fn put_older(
        &self,
        topic: &str,
        queue_id: i32,
        group: &str,
        offset: u64,
        next_offset: u64,
        records: Vec<u8>,
    ) {
        let shares = &self.0.hot.shares;
        shares.put_older((topic, queue_id, group), (offset, next_offset), records);
    }

    fn older_wish(&self, topic: &str, queue_id: i32, group: &str, elapsed_ms: i64) -> Option<u64> {
        let shares = &self.0.hot.shares;
        shares.older_wish((topic, queue_id, group), elapsed_ms)
    }

    fn give_shares_away(&self, py: Python<'_>, topic: &str, queue_ids: Vec<i32>) -> PyResult<bool> {
        let hot = &self.0.hot;
        self.0.store.run(py, |store| {
            let which = (topic, &queue_ids[..]);
            Ok(hot.shares.give_away(store, hot.config(), which, now_ms())?)
        })
    }

    fn shares_given_away<'py>(
        &self,
        py: Python<'py>,
        topic: &str,
        queue_id: i32,
        elapsed_ms: i64,
    ) -> Vec<GivenAway<'py>> {
        let states = self.0.hot.shares.given_away((topic, queue_id), elapsed_ms);
        let states = states.into_iter();
        states
            .map(|it| (it.group, it.epoch, PyBytes::new(py, &it.record)))
            .collect()
    }

    fn share_ownership(&self, topic: &str, queue_id: i32, group: &str) -> Option<(u64, bool)> {
        self.0.hot.shares.ownership((topic, queue_id, group))
    }

    fn pop_count(&self, topic: &str, queue_id: i32, group: &str) -> usize {
        self.0.hot.pop_count(topic, queue_id, group)
    }

    fn dead_shares(&self, elapsed_ms: i64, count_max: usize) -> Vec<Dead> {
        let dead = self.0.hot.shares.dead(elapsed_ms, count_max).into_iter();
        dead.map(|it| (it.topic, it.queue_id, it.group, it.offset, it.count))
            .collect()
    }

    #[pyo3(signature = (topic, queue_id, group, offset, *, disposition, copy=None, given_back=None, count=None))]
    #[expect(clippy::too_many_arguments, reason = "most are keywords in Python")]
    fn reject_share(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        group: &str,
        offset: u64,
        disposition: &str,
        copy: Option<(Draft, PyBackedBytes)>,
        given_back: Option<(i64, u16)>,
        count: Option<u16>,
    ) -> PyResult<Option<Finished>> {
        let disposition = match disposition {
            "DISCARD" => Disposition::Discard,
            "DLQ" => Disposition::DeadLetter,
            "RETRY" => Disposition::Retry,
            _ => {
                let reason = "disposition is DISCARD, DLQ or RETRY";
                return Err(PyValueError::new_err(reason));
            }
        };
        let former = match (given_back, count) {
            (Some((pop_time_ms, tag)), _) => Former::Delivery(Delivery { pop_time_ms, tag }),
            (None, Some(count)) => Former::Count(count),
            (None, None) => Former::Any,
        };
        let hosts = copy
            .as_ref()
            .map(|(draft, _)| draft.hosts(self.0.store.host));
        let hosts = hosts.transpose()?;
        let copy = copy.as_ref().zip(hosts);
        let copy = copy.map(|((draft, properties), hosts)| draft.message(properties, hosts));
        let hot = &self.0.hot;
        let finished = self.0.store.run(py, |store| {
            let (name, which) = ((topic, queue_id, group), (offset, disposition, former));
            Ok(hot
                .shares
                .reject(store, hot.config(), name, which, copy, now_ms())?)
        })?;
        Ok(finished.map(Finished::from))
    }

    fn keep_shares(&self, py: Python<'_>) -> PyResult<bool> {
        let hot = &self.0.hot;
        (self.0.store).run(py, |store| {
            Ok(hot.shares.keep_snapshot(store, hot.config(), now_ms())?)
        })
    }

    #[pyo3(signature = (*, topic=None, group=None))]
    fn remove_shares(
        &self,
        py: Python<'_>,
        topic: Option<&str>,
        group: Option<&str>,
    ) -> PyResult<()> {
        let hot = &self.0.hot;
        (self.0.store).run(py, |store| {
            Ok(hot
                .shares
                .remove(store, hot.config(), (topic, group), now_ms())?)
        })
    }

    fn wake_pops(&self, topic: &str, queue_id: i32) -> bool {
        self.0.hot.wake_pops(topic, queue_id)
    }
}

/// The time of a delivery, its tag, how long the message was to be hidden, the flag of its topic, and the
/// broker group.
type HandleFields = (i64, u16, i64, u8, String);

/// Read the handle of a delivered message; None if it is malformed.
#[pyfunction]
pub(crate) fn parse_pop_handle(text: &str) -> Option<HandleFields> {
    let handle = Handle::parse(text)?;
    Some((
        handle.delivery.pop_time_ms,
        handle.delivery.tag,
        handle.invisible_ms,
        handle.retry_flag,
        handle.broker_name.to_owned(),
    ))
}
