//! Rebuilding queues and index, for tools.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::prelude::*;
use regent_commitlog::{self as commitlog, RebuildParts, StoreConfig, StoreError};

use crate::error::{Failure, detached};
use crate::store::crc_property_of;

/// What was rebuilt.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Rebuilt {
    queues: Vec<(String, i32, u64, u64)>,
    index_file_count: usize,
    key_count: u64,
    unqueued_count: u64,
    has_checkpoint: bool,
    wrong_crc_count: u64,
    first_wrong_crc: Option<u64>,
}

/// A rebuild that is under way, until it is finished or abandoned.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct Rebuild(Mutex<Option<commitlog::Rebuild>>);

#[pymethods]
impl Rebuild {
    #[new]
    #[pyo3(signature = (path, *, commit_log_path=None, queues=true, index=true,
        delay_levels_ms=None, queue_file_size_bytes=6_000_000,
        index_slot_count=5_000_000, index_entry_count=20_000_000, utc_offset_s=0,
        crc_property="off"))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        commit_log_path: Option<PathBuf>,
        queues: bool,
        index: bool,
        delay_levels_ms: Option<Vec<i64>>,
        queue_file_size_bytes: u64,
        index_slot_count: u32,
        index_entry_count: u32,
        utc_offset_s: i32,
        crc_property: &str,
    ) -> PyResult<Self> {
        let mut config = StoreConfig::new(path);
        config.commit_log_dir = commit_log_path;
        config.queue_file_size_bytes = queue_file_size_bytes;
        config.index_slot_count = index_slot_count;
        config.index_entry_count = index_entry_count;
        config.crc_property = crc_property_of(crc_property)?;
        if let Some(levels) = delay_levels_ms {
            config.delay_levels_ms = levels;
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ms = i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX);
        let parts = RebuildParts { queues, index };
        let rebuild = detached(py, || {
            Ok(commitlog::Rebuild::begin(
                config,
                parts,
                now_ms,
                utc_offset_s,
            )?)
        })?;
        Ok(Self(Mutex::new(Some(rebuild))))
    }

    fn advance(&self, py: Python<'_>, size: u64) -> PyResult<bool> {
        self.with(py, |rebuild| {
            let rebuild = rebuild.as_mut().ok_or(StoreError::Closed)?;
            Ok(rebuild.advance(size)?)
        })
    }

    #[getter]
    fn total_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |rebuild| {
            let rebuild = rebuild.as_ref().ok_or(StoreError::Closed)?;
            Ok(rebuild.total_bytes())
        })
    }

    #[getter]
    fn done_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |rebuild| {
            let rebuild = rebuild.as_ref().ok_or(StoreError::Closed)?;
            Ok(rebuild.done_bytes())
        })
    }

    #[pyo3(signature = (*, old_suffix=None))]
    fn finish(&self, py: Python<'_>, old_suffix: Option<String>) -> PyResult<Rebuilt> {
        let rebuilt = self.with(py, |rebuild| {
            let rebuild = rebuild.take().ok_or(StoreError::Closed)?;
            Ok(rebuild.finish(old_suffix.as_deref())?)
        })?;
        let queues = rebuilt.queues.into_iter().map(|queue| {
            (
                queue.topic,
                queue.queue_id,
                queue.min_offset,
                queue.max_offset,
            )
        });
        Ok(Rebuilt {
            queues: queues.collect(),
            index_file_count: rebuilt.index_file_count,
            key_count: rebuilt.key_count,
            unqueued_count: rebuilt.unqueued_count,
            has_checkpoint: rebuilt.has_checkpoint,
            wrong_crc_count: rebuilt.wrong_crc_count,
            first_wrong_crc: rebuilt.first_wrong_crc,
        })
    }

    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |rebuild| {
            rebuild.take();
            Ok(())
        })
    }
}

impl Rebuild {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Option<commitlog::Rebuild>) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        detached(py, || match self.0.lock() {
            Ok(mut rebuild) => work(&mut rebuild),
            Err(_) => Err(Failure::poisoned("the rebuild refuses work after a panic")),
        })
    }
}
