//! Looking at a store from outside, for tools.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use pyo3::prelude::*;
use regent_commitlog::DELAY_LEVELS_MS;
use regent_commitlog::inspect::{self, LogWalk, Step};

use crate::error::{Failure, detached};
use crate::message::{Record, decode_records};

/// One thing that is wrong with a store.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Finding {
    kind: &'static str,
    severity: &'static str,
    queue: String,
    position: u64,
    text: String,
}

/// What the log holds of one queue.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct QueueSurvey {
    topic: String,
    queue_id: i32,
    record_count: u64,
    byte_count: u64,
    min_offset: u64,
    max_offset: u64,
    first_store_timestamp_ms: i64,
    last_store_timestamp_ms: i64,
}

/// A walk over a store that counts and compares.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct Survey(Mutex<inspect::Survey>);

#[pymethods]
impl Survey {
    #[new]
    #[pyo3(signature = (path, *, commit_log_path=None, checks_queues=true, delay_levels_ms=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        commit_log_path: Option<PathBuf>,
        checks_queues: bool,
        delay_levels_ms: Option<Vec<i64>>,
    ) -> PyResult<Self> {
        let levels = delay_levels_ms.unwrap_or_else(|| DELAY_LEVELS_MS.to_vec());
        let survey = detached(py, || {
            let commit_log = commit_log_path.as_deref();
            Ok(inspect::Survey::new(
                &path,
                commit_log,
                &levels,
                checks_queues,
            )?)
        })?;
        Ok(Self(Mutex::new(survey)))
    }

    fn advance(&self, py: Python<'_>, size: u64) -> PyResult<bool> {
        self.with(py, |survey| Ok(survey.advance(size)?))
    }

    #[getter]
    fn total_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |survey| Ok(survey.total_bytes()))
    }

    #[getter]
    fn done_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |survey| Ok(survey.done_bytes()))
    }

    #[getter]
    fn min_position(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |survey| Ok(survey.min_position()))
    }

    #[getter]
    fn end_position(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |survey| Ok(survey.end_position()))
    }

    #[getter]
    fn finding_count(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |survey| Ok(survey.finding_count()))
    }

    fn findings(&self, py: Python<'_>) -> PyResult<Vec<Finding>> {
        let found = self.with(py, |survey| Ok(survey.findings().to_vec()))?;
        let told = found.into_iter().map(|found| Finding {
            kind: found.kind.name(),
            severity: found.kind.severity(),
            queue: found.queue,
            position: found.position,
            text: found.text,
        });
        Ok(told.collect())
    }

    fn queues(&self, py: Python<'_>) -> PyResult<Vec<QueueSurvey>> {
        let queues = self.with(py, |survey| Ok(survey.queues()))?;
        let told = queues.into_iter().map(|queue| QueueSurvey {
            topic: queue.topic,
            queue_id: queue.queue_id,
            record_count: queue.record_count,
            byte_count: queue.byte_count,
            min_offset: queue.min_offset,
            max_offset: queue.max_offset,
            first_store_timestamp_ms: queue.first_store_timestamp_ms,
            last_store_timestamp_ms: queue.last_store_timestamp_ms,
        });
        Ok(told.collect())
    }
}

impl Survey {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut inspect::Survey) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        detached(py, || match self.0.lock() {
            Ok(mut survey) => work(&mut survey),
            Err(_) => Err(Failure::poisoned("the survey refuses work after a panic")),
        })
    }
}

/// Read records from a position on.
#[pyfunction]
#[pyo3(signature = (path, *, position=None, count=100))]
pub(crate) fn read_log(
    py: Python<'_>,
    path: PathBuf,
    position: Option<u64>,
    count: usize,
) -> PyResult<(Vec<Record>, Option<u64>)> {
    let (bytes, next) = detached(py, || collect(&path, position, count))?;
    let records = decode_records(py, &bytes.concat())?;
    Ok((records, next))
}

/// The bytes of records, and where more of them may follow.
type Collected = (Vec<Vec<u8>>, Option<u64>);

fn collect(path: &Path, position: Option<u64>, count: usize) -> Result<Collected, Failure> {
    let mut walk = LogWalk::new(path)?;
    if let Some(position) = position {
        walk.seek(position)?;
    }
    let (mut records, mut next) = (Vec::new(), None);
    while records.len() < count {
        match walk.step()? {
            Some(Step::Record(record)) => {
                next = Some(record.log_position + record.bytes.len() as u64);
                records.push(record.bytes.to_vec());
            }
            Some(Step::Damaged { .. } | Step::Missing { .. }) => {}
            Some(Step::End { .. }) | None => return Ok((records, None)),
        }
    }
    Ok((records, next))
}
