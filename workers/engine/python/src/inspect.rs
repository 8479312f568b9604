//! Looking at a store from outside, for tools.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use regent_commitlog::StoreConfig;
use regent_commitlog::inspect::{self, FindingKind};

use crate::error::{Failure, detached};
use crate::store::crc_property_of;

/// One thing that is wrong with a store.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Finding {
    kind: &'static str,
    severity: &'static str,
    queue: String,
    position: u64,
    file: PathBuf,
    byte: u64,
    text: String,
}

/// What the key index holds, and what a comparison with the log counted.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct IndexSurvey {
    file_count: usize,
    key_count: u64,
    end_position: u64,
    missing_count: u64,
    waiting_count: u64,
}

/// What the checkpoint says.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct CheckpointSurvey {
    log_timestamp_ms: i64,
    queue_timestamp_ms: i64,
    index_timestamp_ms: i64,
    flushed_position: u64,
    confirmed_position: u64,
}

/// One entry of the key index.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct IndexedKey {
    file: String,
    number: u32,
    hash: i32,
    log_position: u64,
    store_timestamp_ms: i64,
    previous: i32,
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
    #[pyo3(signature = (path, *, commit_log_path=None, compares=true, is_in_use=false,
        delay_levels_ms=None, index_slot_count=5_000_000, index_entry_count=20_000_000,
        crc_property="off"))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        commit_log_path: Option<PathBuf>,
        compares: bool,
        is_in_use: bool,
        delay_levels_ms: Option<Vec<i64>>,
        index_slot_count: u32,
        index_entry_count: u32,
        crc_property: &str,
    ) -> PyResult<Self> {
        let mut config = StoreConfig::new(path);
        config.commit_log_dir = commit_log_path;
        config.index_slot_count = index_slot_count;
        config.index_entry_count = index_entry_count;
        config.crc_property = crc_property_of(crc_property)?;
        if let Some(levels) = delay_levels_ms {
            config.delay_levels_ms = levels;
        }
        let survey = detached(py, || {
            Ok(if compares {
                inspect::Survey::comparing(&config, is_in_use)?
            } else {
                inspect::Survey::new(&config)?
            })
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
            file: found.file,
            byte: found.byte,
            text: found.text,
        });
        Ok(told.collect())
    }

    fn index(&self, py: Python<'_>) -> PyResult<IndexSurvey> {
        let index = self.with(py, |survey| Ok(survey.index()))?;
        Ok(IndexSurvey {
            file_count: index.file_count,
            key_count: index.key_count,
            end_position: index.end_position,
            missing_count: index.missing_count,
            waiting_count: index.waiting_count,
        })
    }

    fn epochs(&self, py: Python<'_>) -> PyResult<Vec<(i32, u64)>> {
        let epochs = self.with(py, |survey| Ok(survey.epochs().to_vec()))?;
        let epochs = epochs.iter();
        Ok(epochs
            .map(|epoch| (epoch.number, epoch.start_position))
            .collect())
    }

    fn checkpoint(&self, py: Python<'_>) -> PyResult<Option<CheckpointSurvey>> {
        let found = self.with(py, |survey| Ok(survey.checkpoint()))?;
        Ok(found.map(|found| CheckpointSurvey {
            log_timestamp_ms: found.log_timestamp_ms,
            queue_timestamp_ms: found.queue_timestamp_ms,
            index_timestamp_ms: found.index_timestamp_ms,
            flushed_position: found.flushed_position,
            confirmed_position: found.confirmed_position,
        }))
    }

    #[getter]
    fn truncation_position(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.with(py, |survey| Ok(survey.truncation_position()))
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

/// Name every kind of finding, with its severity.
#[pyfunction]
pub(crate) fn finding_kinds() -> Vec<(&'static str, &'static str)> {
    let kinds = FindingKind::ALL.iter();
    kinds.map(|kind| (kind.name(), kind.severity())).collect()
}

/// Read entries of the key index.
#[pyfunction]
#[pyo3(signature = (path, *, min_position=0, count=100, index_slot_count=5_000_000,
    index_entry_count=20_000_000))]
pub(crate) fn read_index(
    py: Python<'_>,
    path: PathBuf,
    min_position: u64,
    count: usize,
    index_slot_count: u32,
    index_entry_count: u32,
) -> PyResult<Vec<IndexedKey>> {
    let mut config = StoreConfig::new(path);
    config.index_slot_count = index_slot_count;
    config.index_entry_count = index_entry_count;
    let keys = detached(py, || {
        Ok(inspect::read_index(&config, min_position, count)?)
    })?;
    let keys = keys.into_iter().map(|key| IndexedKey {
        file: key.file,
        number: key.number,
        hash: key.hash,
        log_position: key.log_position,
        store_timestamp_ms: key.store_timestamp_ms,
        previous: key.previous,
    });
    Ok(keys.collect())
}
