//! The store.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use regent_commitlog as commitlog;
use regent_commitlog::{Boundary, CrcProperty, FlushMode, KeySearch, NewMessage, StoreConfig};

use crate::error::{caught, into_python};
use crate::message::host;
use crate::shared_store::SharedStore;
use crate::store_reads::entry_fields;
use crate::store_results::{Appended, IndexStatus};

pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A message that has no position yet: the attributes of an object of Python.
#[derive(FromPyObject)]
pub(crate) struct Draft {
    topic: String,
    queue_id: i32,
    body: PyBackedBytes,
    flag: i32,
    sys_flag: i32,
    born_timestamp_ms: i64,
    born_host: (String, u16),
    store_host: Option<(String, u16)>,
    reconsume_times: i32,
    prepared_position: i64,
}

impl Draft {
    /// The addresses of the producer and of the broker.
    pub(crate) fn hosts(&self, own: SocketAddr) -> PyResult<(SocketAddr, SocketAddr)> {
        let store_host = self.store_host.as_ref().map_or(Ok(own), host)?;
        Ok((host(&self.born_host)?, store_host))
    }

    pub(crate) fn message<'a>(
        &'a self,
        properties: &'a [u8],
        (born_host, store_host): (SocketAddr, SocketAddr),
    ) -> NewMessage<'a> {
        NewMessage {
            flag: self.flag,
            sys_flag: self.sys_flag,
            born_timestamp_ms: self.born_timestamp_ms,
            born_host,
            store_host,
            reconsume_times: self.reconsume_times,
            prepared_transaction_offset: self.prepared_position,
            properties,
            ..NewMessage::new(&self.topic, self.queue_id, &self.body)
        }
    }
}

/// One message store.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct Store(pub(crate) Arc<SharedStore>);

#[pymethods]
impl Store {
    #[new]
    #[pyo3(signature = (path, *, commit_log_path=None, segment_size_bytes=1 << 30,
        queue_file_size_bytes=6_000_000, flush_mode="async", message_body_size_max=4 << 20,
        delay_levels_ms=None, crc_property="off", index_enabled=true, index_slot_count=5_000_000,
        index_entry_count=20_000_000, populate_ahead_bytes=32 << 20,
        hot_size_bytes=u64::MAX, cold_cache_bytes=256 << 20, timer_precision_ms=1000,
        timer_window_steps=172_800, timer_log_file_size_bytes=100 << 20, store_host=None,
        cut_damage_at=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        commit_log_path: Option<PathBuf>,
        segment_size_bytes: u64,
        queue_file_size_bytes: u64,
        flush_mode: &str,
        message_body_size_max: usize,
        delay_levels_ms: Option<Vec<i64>>,
        crc_property: &str,
        index_enabled: bool,
        index_slot_count: u32,
        index_entry_count: u32,
        populate_ahead_bytes: u64,
        hot_size_bytes: u64,
        cold_cache_bytes: u64,
        timer_precision_ms: i64,
        timer_window_steps: i64,
        timer_log_file_size_bytes: u64,
        store_host: Option<(String, u16)>,
        cut_damage_at: Option<u64>,
    ) -> PyResult<Self> {
        let mut config = StoreConfig::new(path);
        config.commit_log_dir = commit_log_path;
        config.segment_size_bytes = segment_size_bytes;
        config.queue_file_size_bytes = queue_file_size_bytes;
        config.flush_mode = match flush_mode {
            "async" => FlushMode::Async,
            "sync" => FlushMode::Sync,
            _ => return Err(PyValueError::new_err("flush_mode is async or sync")),
        };
        config.message_body_size_max = message_body_size_max;
        config.crc_property = crc_property_of(crc_property)?;
        config.index_enabled = index_enabled;
        config.index_slot_count = index_slot_count;
        config.index_entry_count = index_entry_count;
        config.populate_ahead_bytes = populate_ahead_bytes;
        config.hot_size_bytes = hot_size_bytes;
        config.cold_cache_bytes = cold_cache_bytes;
        config.timer_precision_ms = timer_precision_ms;
        config.timer_window_steps = timer_window_steps;
        config.timer_log_file_size_bytes = timer_log_file_size_bytes;
        config.cut_damage_at = cut_damage_at;
        if let Some(levels) = delay_levels_ms {
            config.delay_levels_ms = levels;
        }
        let host = host(&store_host.unwrap_or_else(|| ("127.0.0.1".to_owned(), 10_911)))?;
        let store = py
            .detach(|| caught(|| Ok(commitlog::Store::open(config, now_ms())?), || ()))
            .map_err(|failure| into_python(py, failure))?;
        Ok(Self(Arc::new(SharedStore::new(store, host))))
    }

    #[pyo3(signature = (topic, queue_id, body, properties, *, flag=0, sys_flag=0,
        born_timestamp_ms=0, born_host=None, reconsume_times=0, prepared_transaction_offset=0,
        store_host=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn append(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        body: &[u8],
        properties: &[u8],
        flag: i32,
        sys_flag: i32,
        born_timestamp_ms: i64,
        born_host: Option<(String, u16)>,
        reconsume_times: i32,
        prepared_transaction_offset: i64,
        store_host: Option<(String, u16)>,
    ) -> PyResult<Appended> {
        let store_host = store_host.as_ref().map_or(Ok(self.0.host), host)?;
        let born_host = host(&born_host.unwrap_or_else(|| ("127.0.0.1".to_owned(), 0)))?;
        let message = NewMessage {
            flag,
            sys_flag,
            born_timestamp_ms,
            born_host,
            store_host,
            reconsume_times,
            prepared_transaction_offset,
            properties,
            ..NewMessage::new(topic, queue_id, body)
        };
        let appended = self.0.run(py, |store| {
            Ok(store.of(topic).writer()?.append(&message, now_ms())?)
        })?;
        Ok(Appended::new(&appended, store_host))
    }

    fn append_unit(
        &self,
        py: Python<'_>,
        drafts: Vec<(Draft, PyBackedBytes)>,
    ) -> PyResult<Vec<Appended>> {
        let hosts = drafts
            .iter()
            .map(|(draft, _)| draft.hosts(self.0.host))
            .collect::<PyResult<Vec<_>>>()?;
        let messages: Vec<_> = drafts
            .iter()
            .zip(&hosts)
            .map(|((draft, properties), hosts)| draft.message(properties, *hosts))
            .collect();
        let appended = self.0.run(py, |store| {
            let first = messages.first().map_or("", |message| message.topic);
            Ok(store.of(first).writer()?.append_unit(&messages, now_ms())?)
        })?;
        let placed = appended.iter().zip(&hosts);
        Ok(placed
            .map(|(appended, (_, store_host))| Appended::new(appended, *store_host))
            .collect())
    }

    fn entries(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        offset: u64,
        count: usize,
    ) -> PyResult<Vec<(u64, u32, i64)>> {
        let entries = self.0.run(py, |store| {
            Ok(store.queue_entries(topic, queue_id, offset, count))
        })?;
        Ok(entries.iter().map(entry_fields).collect())
    }

    fn record<'py>(
        &self,
        py: Python<'py>,
        log_position: u64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let record = self
            .0
            .read(py, |store| Ok(store.read_record(log_position)?))?;
        Ok(record.map(|record| PyBytes::new(py, &record)))
    }

    fn offsets(&self, py: Python<'_>, topic: &str, queue_id: i32) -> PyResult<Option<(u64, u64)>> {
        self.0
            .run(py, |store| Ok(store.queue_offsets(topic, queue_id)))
    }

    fn queues(&self, py: Python<'_>) -> PyResult<Vec<(String, i32, u64, u64)>> {
        let queues = self.0.run(py, |store| Ok(store.queues()))?;
        let queues = queues.into_iter();
        Ok(queues
            .map(|queue| {
                (
                    queue.topic,
                    queue.queue_id,
                    queue.min_offset,
                    queue.max_offset,
                )
            })
            .collect())
    }

    #[pyo3(signature = (topic, queue_id, timestamp_ms, boundary="LOWER"))]
    fn offset_by_time(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        timestamp_ms: i64,
        boundary: &str,
    ) -> PyResult<u64> {
        let boundary = match boundary {
            "LOWER" => Boundary::Lower,
            "UPPER" => Boundary::Upper,
            _ => return Err(PyValueError::new_err("boundary is LOWER or UPPER")),
        };
        self.0.run(py, |store| {
            Ok(store.offset_by_time(topic, queue_id, timestamp_ms, boundary)?)
        })
    }

    fn store_timestamp(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        offset: u64,
    ) -> PyResult<i64> {
        let found = self.0.run(py, |store| {
            Ok(store.store_timestamp_at(topic, queue_id, offset)?)
        })?;
        Ok(found.unwrap_or(-1))
    }

    fn earliest_store_timestamp(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
    ) -> PyResult<i64> {
        let found = self.0.run(py, |store| {
            Ok(store.earliest_store_timestamp(topic, queue_id)?)
        })?;
        Ok(found.unwrap_or(-1))
    }

    #[pyo3(signature = (topic, key, *, kind="key", count_max=32, size_max=usize::MAX, begin_ms=0,
        end_ms=i64::MAX, timeout_ms=30_000, with_tail=false))]
    #[expect(clippy::too_many_arguments, reason = "most have defaults in Python")]
    fn find_by_key<'py>(
        &self,
        py: Python<'py>,
        topic: &str,
        key: &str,
        kind: &str,
        count_max: usize,
        size_max: usize,
        begin_ms: i64,
        end_ms: i64,
        timeout_ms: u64,
        with_tail: bool,
    ) -> PyResult<Vec<(u64, Bound<'py, PyBytes>)>> {
        let search_of = match kind {
            "key" => KeySearch::by_key,
            "unique_key" => KeySearch::by_unique_key,
            "tags" => KeySearch::by_tags,
            _ => return Err(PyValueError::new_err("kind is key, unique_key or tags")),
        };
        let mut search = search_of(topic, key, count_max, begin_ms, end_ms);
        if with_tail {
            search = search.with_tail();
        }
        let found = py
            .detach(|| self.0.search_detached(search, size_max, timeout_ms))
            .map_err(|failure| into_python(py, failure))?;
        let found = found.into_iter();
        Ok(found
            .map(|(position, record)| (position, PyBytes::new(py, &record)))
            .collect())
    }

    fn advance_followers(&self, py: Python<'_>, now_ms: i64, utc_offset_s: i32) -> PyResult<u64> {
        self.0.run(py, |store| {
            Ok(store.advance_followers(now_ms, utc_offset_s)?)
        })
    }

    fn index_status(&self, py: Python<'_>) -> PyResult<IndexStatus> {
        self.0.run(py, |store| Ok(store.index_status().into()))
    }
}

/// The setting of this name.
pub(crate) fn crc_property_of(name: &str) -> PyResult<CrcProperty> {
    match name {
        "off" => Ok(CrcProperty::Off),
        "verified" => Ok(CrcProperty::Verified),
        "required" => Ok(CrcProperty::Required),
        _ => Err(PyValueError::new_err(
            "crc_property is off, verified or required",
        )),
    }
}
