//! Messages outside a store: records, properties, ids.

use std::net::{IpAddr, SocketAddr};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use regent_commitlog::{RecordView, property_entries};
use regent_remoting::message_id::{append_message_id, parse_message_id};
use regent_remoting::properties::{
    NAME_VALUE_SEPARATOR, PROPERTIES_SIZE_MAX, PROPERTY_SEPARATOR, append_property,
};

use crate::command::text_pairs;
use crate::error::ProtocolError;

/// One stored message, decoded.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Record {
    topic: String,
    queue_id: i32,
    queue_offset: u64,
    log_position: u64,
    flag: i32,
    sys_flag: i32,
    born_timestamp_ms: i64,
    born_host: (String, u16),
    store_timestamp_ms: i64,
    store_host: (String, u16),
    reconsume_times: i32,
    prepared_transaction_offset: i64,
    body: Py<PyBytes>,
    properties: Py<PyDict>,
    property_string: Py<PyBytes>,
    size: usize,
}

fn host_pair(host: SocketAddr) -> (String, u16) {
    (host.ip().to_string(), host.port())
}

/// Read a numeric address.
pub(crate) fn host(pair: &(String, u16)) -> PyResult<SocketAddr> {
    let ip: IpAddr = pair
        .0
        .parse()
        .map_err(|_| PyValueError::new_err(format!("{:?} is no numeric address", pair.0)))?;
    Ok(SocketAddr::new(ip, pair.1))
}

/// Decode the records of a pull answer's body.
#[pyfunction]
pub(crate) fn decode_records(py: Python<'_>, data: &[u8]) -> PyResult<Vec<Record>> {
    let mut records = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let record = RecordView::parse(rest).map_err(|damage| {
            ProtocolError::new_err(format!("{damage}, {} bytes before the end", rest.len()))
        })?;
        rest = &rest[record.bytes.len()..];
        records.push(Record {
            topic: String::from_utf8_lossy(record.topic).into_owned(),
            queue_id: record.queue_id,
            queue_offset: record.queue_offset,
            log_position: record.log_position,
            flag: record.flag,
            sys_flag: record.sys_flag,
            born_timestamp_ms: record.born_timestamp_ms,
            born_host: host_pair(record.born_host),
            store_timestamp_ms: record.store_timestamp_ms,
            store_host: host_pair(record.store_host),
            reconsume_times: record.reconsume_times,
            prepared_transaction_offset: record.prepared_transaction_offset,
            body: PyBytes::new(py, record.body).unbind(),
            properties: parse_properties(py, record.properties)?.unbind(),
            property_string: PyBytes::new(py, record.properties).unbind(),
            size: record.bytes.len(),
        });
    }
    Ok(records)
}

/// Encode properties as the property string of a message.
#[pyfunction]
pub(crate) fn encode_properties<'py>(
    py: Python<'py>,
    properties: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut out = Vec::new();
    for (name, value) in text_pairs(properties)? {
        let is_separator = |&byte: &u8| matches!(byte, NAME_VALUE_SEPARATOR | PROPERTY_SEPARATOR);
        if name.is_empty()
            || name
                .bytes()
                .chain(value.bytes())
                .any(|byte| is_separator(&byte))
        {
            return Err(PyValueError::new_err(format!(
                "property {:?} can't be encoded",
                &*name
            )));
        }
        append_property(&mut out, name.as_bytes(), value.as_bytes());
    }
    if out.len() > PROPERTIES_SIZE_MAX {
        return Err(PyValueError::new_err(format!(
            "properties of {} bytes exceed the limit of {PROPERTIES_SIZE_MAX}",
            out.len()
        )));
    }
    Ok(PyBytes::new(py, &out))
}

/// Decode a property string; bytes that are not UTF-8 are replaced.
#[pyfunction(name = "parse_properties")]
pub(crate) fn parse_properties<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let parsed = PyDict::new(py);
    for (name, value) in property_entries(data) {
        parsed.set_item(
            String::from_utf8_lossy(name),
            String::from_utf8_lossy(value),
        )?;
    }
    Ok(parsed)
}

/// The hash of a tag that consume queues hold: Java's `String.hashCode`.
#[pyfunction]
pub(crate) fn tag_hash(tag: &str) -> i32 {
    regent_commitlog::java_hash(tag.as_bytes())
}

/// The offset message id of a record.
#[pyfunction(name = "offset_message_id")]
pub(crate) fn offset_message_id(host: String, port: u16, log_position: u64) -> PyResult<String> {
    let mut id = String::new();
    append_message_id(&mut id, self::host(&(host, port))?, log_position);
    Ok(id)
}

/// The host, port and log position inside an offset message id.
#[pyfunction]
pub(crate) fn parse_offset_message_id(id: &str) -> PyResult<(String, u16, u64)> {
    let (host, log_position) = parse_message_id(id)
        .ok_or_else(|| PyValueError::new_err(format!("{id:?} is no offset message id")))?;
    Ok((host.ip().to_string(), host.port(), log_position))
}
