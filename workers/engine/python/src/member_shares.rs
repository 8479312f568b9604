//! The share queues of POP that any member of a broker group may own (SHARED mode).

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use regent_hotpath::{self as hotpath, Proposal, Reigning};
use regent_share::{RESUBSCRIBE, Record};

use crate::hotpath::HotPath;
use crate::store::now_ms;

/// Numbers, and the records.
pub(crate) type Proposed = (Vec<u64>, Py<PyBytes>);

pub(crate) fn proposed(py: Python<'_>, proposal: &Proposal) -> Proposed {
    let records = PyBytes::new(py, &proposal.records).unbind();
    (proposal.numbers.clone(), records)
}

/// What came of the wish to append records to the lane.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Appending {
    /// DONE, FENCED or REFUSED.
    verdict: &'static str,
    position: u64,
    commits: Vec<(String, String, i32, i64)>,
    ready: Vec<(String, i32)>,
}

impl From<hotpath::Appending> for Appending {
    fn from(outcome: hotpath::Appending) -> Self {
        let failed = |verdict| Self {
            verdict,
            position: 0,
            commits: Vec::new(),
            ready: Vec::new(),
        };
        match outcome {
            hotpath::Appending::Fenced => failed("FENCED"),
            hotpath::Appending::Refused => failed("REFUSED"),
            hotpath::Appending::Done {
                position,
                commits,
                ready,
                ..
            } => Self {
                verdict: "DONE",
                position,
                commits: (commits.into_iter())
                    .map(|it| (it.group, it.topic, it.queue_id, it.offset))
                    .collect(),
                ready,
            },
        }
    }
}

/// Topic, queue, group; lease epoch, owner, whether a message can be delivered.
type Seen = (String, i32, String, u64, Option<u64>, bool);

fn named(it: hotpath::Seen) -> Seen {
    let (topic, queue_id, group) = (it.topic, it.queue_id, it.group);
    (topic, queue_id, group, it.epoch, it.owner, it.has_messages)
}

#[pymethods]
impl HotPath {
    #[pyo3(signature = (topic, *, member, life, shared_topics, version_max=regent_share::VERSION))]
    fn follow_shares(
        &self,
        py: Python<'_>,
        topic: String,
        member: u64,
        life: u32,
        shared_topics: Vec<String>,
        version_max: u16,
    ) -> PyResult<()> {
        let reigning = Reigning {
            topic,
            epoch: 0,
            member,
            segment_size: 1,
            is_acting: false,
            life,
            shared: shared_topics.into_iter().collect(),
            version_max,
        };
        let hot = &self.0.hot;
        (self.0.store).run(py, |store| Ok(hot.shares.follow(store, reigning)?))
    }

    fn advance_shares(&self, py: Python<'_>) -> PyResult<Vec<(String, i32)>> {
        let hot = &self.0.hot;
        (self.0.store).run(py, |store| Ok(hot.shares.advance(store)?))
    }

    fn set_shared(&self, py: Python<'_>, topic: &str, is_shared: bool) -> PyResult<bool> {
        let hot = &self.0.hot;
        (self.0.store).run(py, |store| {
            let mode = (topic, is_shared);
            Ok(hot.shares.set_shared(store, hot.config(), mode, now_ms())?)
        })
    }

    fn left_out_shares(&self) -> Vec<u64> {
        self.0.hot.shares.left_out()
    }

    fn seen_shares(&self, py: Python<'_>) -> PyResult<Vec<Seen>> {
        let hot = &self.0.hot;
        let seen = (self.0.store).run(py, |store| Ok(hot.shares.seen(store, now_ms())))?;
        Ok(seen.into_iter().map(named).collect())
    }

    fn seen_shares_of(&self, py: Python<'_>, topic: &str, group: &str) -> PyResult<Vec<Seen>> {
        let hot = &self.0.hot;
        let seen = (self.0.store).run(py, |store| {
            Ok(hot.shares.seen_of(store, (topic, group), now_ms()))
        })?;
        Ok(seen.into_iter().map(named).collect())
    }

    fn is_any_share_owned(&self) -> bool {
        self.0.hot.shares.is_any_owned()
    }

    fn share_owner(&self, topic: &str, queue_id: i32, group: &str) -> Option<u64> {
        self.0.hot.shares.owner((topic, queue_id, group))
    }

    fn serve_share(
        &self,
        topic: &str,
        queue_id: i32,
        group: &str,
        epoch: u64,
        ends_ms: Option<i64>,
    ) -> bool {
        let ends_ms = ends_ms.unwrap_or(i64::MAX);
        (self.0.hot.shares).serve((topic, queue_id, group), epoch, ends_ms)
    }

    fn prolong_share(&self, topic: &str, queue_id: i32, group: &str, ends_ms: Option<i64>) {
        let ends_ms = ends_ms.unwrap_or(i64::MAX);
        (self.0.hot.shares).prolong((topic, queue_id, group), ends_ms);
    }

    fn lock_share(&self, topic: &str, queue_id: i32, group: &str) -> bool {
        self.0.hot.shares.lock((topic, queue_id, group))
    }

    fn serves_any_share(
        &self,
        topic: &str,
        queue_id: Option<i32>,
        group: &str,
        elapsed_ms: Option<i64>,
    ) -> bool {
        (self.0.hot.shares).serves_any((topic, queue_id, group), elapsed_ms)
    }

    fn own_record<'py>(
        &self,
        py: Python<'py>,
        topic: &str,
        queue_id: i32,
        group: &str,
        epoch: u64,
    ) -> Option<Bound<'py, PyBytes>> {
        let shares = &self.0.hot.shares;
        let record = shares.owning((topic, queue_id, group), Some(epoch), 0)?;
        Some(PyBytes::new(py, &record))
    }

    fn unown_record<'py>(
        &self,
        py: Python<'py>,
        topic: &str,
        queue_id: i32,
        group: &str,
        wants_again: bool,
    ) -> Option<Bound<'py, PyBytes>> {
        let flags = if wants_again { RESUBSCRIBE } else { 0 };
        let shares = &self.0.hot.shares;
        let record = shares.owning((topic, queue_id, group), None, flags)?;
        Some(PyBytes::new(py, &record))
    }

    fn own_share_as_sequencer(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        group: &str,
    ) -> PyResult<Option<(u64, Appending)>> {
        let hot = &self.0.hot;
        let owned = self.0.store.run(py, |store| {
            let name = (topic, queue_id, group);
            Ok(hot
                .shares
                .own_as_sequencer(store, hot.config(), name, now_ms())?)
        })?;
        Ok(owned.map(|(epoch, outcome)| (epoch, outcome.into())))
    }

    fn append_share_records(
        &self,
        py: Python<'_>,
        member: u64,
        records: &[u8],
    ) -> PyResult<Appending> {
        let hot = &self.0.hot;
        let outcome = self.0.store.run(py, |store| {
            let unit = (member, records);
            Ok(hot
                .shares
                .append_unit(store, hot.config(), unit, now_ms())?)
        })?;
        Ok(outcome.into())
    }

    fn expire_served_shares(&self, py: Python<'_>) -> PyResult<Vec<(String, i32)>> {
        let hot = &self.0.hot;
        (self.0.store).run(py, |store| {
            Ok(hot.shares.expire_served(store, hot.config(), now_ms())?)
        })
    }

    fn take_share_proposal(&self, py: Python<'_>) -> Option<Proposed> {
        let proposal = self.0.hot.shares.take_proposal()?;
        Some(proposed(py, &proposal))
    }

    fn settle_shares(&self, numbers: Vec<u64>) -> Vec<(String, i32)> {
        self.0.hot.shares.settle(&numbers)
    }

    fn withdraw_shares(&self, py: Python<'_>, records: &[u8]) -> Option<Proposed> {
        let proposal = self.0.hot.shares.withdraw(records)?;
        Some(proposed(py, &proposal))
    }

    fn share_state<'py>(
        &self,
        py: Python<'py>,
        topic: &str,
        queue_id: i32,
        group: &str,
    ) -> Option<(u64, Bound<'py, PyBytes>)> {
        let (position, state) = self.0.hot.shares.state((topic, queue_id, group))?;
        let mut record = Vec::new();
        Record {
            flags: 0,
            sq_id: 0,
            epoch: state.epoch,
            body: regent_share::Body::Snap(state),
        }
        .encode(&mut record);
        Some((position, PyBytes::new(py, &record)))
    }
}
