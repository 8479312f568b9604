//! Grants of pulls, and pulls that wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regent_hotpath as hotpath;
use regent_hotpath::{Grant, Granted, LeadingSegment, PopGrant, PullFilter, PullKind, RetryTopic};

use crate::command::Command;
use crate::filter::{PropertyFilter, chosen};

/// Queue id, physical start, logical start; whether it takes messages.
type Segment = (i32, u64, u64, bool);

/// The logical queues of a static topic that a broker group leads.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct LeadingQueues(pub(crate) Arc<hotpath::LeadingQueues>);

#[pymethods]
impl LeadingQueues {
    #[new]
    fn new(segments: HashMap<i32, Segment>) -> Self {
        let segments = segments.into_iter().map(|(global_id, it)| {
            let (queue_id, physical_start, logical_start, takes_sends) = it;
            let segment = LeadingSegment {
                queue_id,
                physical_start,
                logical_start,
                takes_sends,
            };
            (global_id, segment)
        });
        Self(Arc::new(hotpath::LeadingQueues::new(segments)))
    }
}

/// What pulls of one kind may read, after a check of one of them.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct PullGrant(pub(crate) Arc<Granted>);

#[pymethods]
impl PullGrant {
    #[new]
    #[pyo3(signature = (code, group, topic, *, read_queue_count, tag_hashes, count_max, bytes_max,
        suggested_broker_id, parked_ms, moves_consumers, facts_version, property_filter=None,
        version=None, expression=None, expression_type=None, leading=None, retry_topics=None,
        may_forward=false, priority_percent=0))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        code: i32,
        group: &str,
        topic: &str,
        read_queue_count: i32,
        tag_hashes: Option<Vec<i32>>,
        count_max: usize,
        bytes_max: usize,
        suggested_broker_id: i64,
        parked_ms: Option<i64>,
        moves_consumers: bool,
        facts_version: u64,
        property_filter: Option<PyRef<'_, PropertyFilter>>,
        version: Option<i64>,
        expression: Option<&str>,
        expression_type: Option<&str>,
        leading: Option<&LeadingQueues>,
        retry_topics: Option<Vec<(String, u8, i32)>>,
        may_forward: bool,
        priority_percent: u32,
    ) -> Self {
        let filter = match version {
            Some(version) => PullFilter::Registered { version },
            None => PullFilter::Carried {
                expression: expression.unwrap_or_default(),
                expression_type: expression_type.unwrap_or_default(),
            },
        };
        let kind = PullKind {
            code,
            group,
            topic,
            filter,
        };
        let grant = Grant {
            read_queue_count,
            filter: chosen(tag_hashes, property_filter),
            count_max,
            bytes_max,
            suggested_broker_id,
            parked_ms,
            moves_consumers,
            facts_version,
            leading: leading.map(|it| Arc::clone(&it.0)),
            pop: retry_topics.map(|it| pop_grant(it, may_forward, priority_percent)),
        };
        Self(Arc::new(Granted::new(&kind, grant)))
    }
}

fn pop_grant(
    retry_topics: Vec<(String, u8, i32)>,
    may_forward: bool,
    priority_percent: u32,
) -> PopGrant {
    let retries = retry_topics
        .into_iter()
        .map(|(name, flag, queue_count)| RetryTopic {
            name,
            flag,
            queue_count,
        });
    PopGrant {
        retries: retries.collect(),
        may_forward,
        priority_percent,
    }
}

/// A pull that waited and needs a check.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct ParkedPull {
    #[pyo3(get)]
    command: Py<Command>,
    pull: Mutex<Option<hotpath::ParkedPull>>,
}

impl ParkedPull {
    pub(crate) fn new(py: Python<'_>, pull: hotpath::ParkedPull) -> PyResult<Self> {
        let command = pull.request();
        let command = command.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self {
            command: Py::new(py, Command::new(py, command)?)?,
            pull: Mutex::new(Some(pull)),
        })
    }

    /// Take the pull, once.
    pub(crate) fn take(&self) -> Option<hotpath::ParkedPull> {
        self.pull.lock().ok()?.take()
    }
}
