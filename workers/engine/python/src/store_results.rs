//! What the store answers.

use std::net::SocketAddr;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use regent_commitlog as commitlog;
use regent_remoting::message_id::append_message_id;

/// Where an appended message went.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Appended {
    pub(crate) queue_offset: u64,
    pub(crate) log_position: u64,
    pub(crate) size: u32,
    pub(crate) store_timestamp_ms: i64,
    pub(crate) message_id: String,
}

impl Appended {
    pub(crate) fn new(appended: &commitlog::Appended, store_host: SocketAddr) -> Self {
        let mut message_id = String::new();
        append_message_id(&mut message_id, store_host, appended.log_position);
        Self {
            queue_offset: appended.queue_offset,
            log_position: appended.log_position,
            size: appended.size,
            store_timestamp_ms: appended.store_timestamp_ms,
            message_id,
        }
    }
}

/// What a queue read found.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct ReadResult {
    pub(crate) status: &'static str,
    pub(crate) next_offset: u64,
    pub(crate) min_offset: u64,
    pub(crate) max_offset: u64,
    pub(crate) count: usize,
    pub(crate) body: Py<PyBytes>,
}

/// Messages and record bytes appended since the store was opened.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Counters {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) topics: Py<PyDict>,
}

/// How far the key index is.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct IndexStatus {
    pub(crate) position: u64,
    pub(crate) file_count: usize,
    pub(crate) end_timestamp_ms: i64,
    pub(crate) end_position: u64,
    pub(crate) damaged_count: u64,
}

impl From<commitlog::IndexStatus> for IndexStatus {
    fn from(status: commitlog::IndexStatus) -> Self {
        Self {
            position: status.position,
            file_count: status.file_count,
            end_timestamp_ms: status.end_timestamp_ms,
            end_position: status.end_position,
            damaged_count: status.damaged_count,
        }
    }
}

/// The first damage in a log, which makes its store read-only.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Damage {
    pub(crate) position: u64,
    pub(crate) kind: String,
    pub(crate) next_valid_position: Option<u64>,
    pub(crate) reason: String,
}

/// What was deleted for its age, or for want of room.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Expired {
    pub(crate) segment_count: usize,
    pub(crate) byte_count: u64,
    pub(crate) queue_file_count: usize,
}
