//! Reading the messages of a queue, and how far readers may see.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use regent_commitlog as commitlog;
use regent_commitlog::{QueueRead, ReadOutcome, RecordSlices};
use regent_hotpath::GrantedFilter;

use crate::error::Failure;
use crate::filter::{PropertyFilter, chosen};
use crate::store::Store;
use crate::store_results::ReadResult;

#[pymethods]
impl Store {
    #[pyo3(signature = (topic, queue_id, offset, count_max=32, bytes_max=262_144, tag_hashes=None,
        property_filter=None))]
    #[expect(clippy::too_many_arguments, reason = "most have defaults in Python")]
    fn read(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        offset: i64,
        count_max: usize,
        bytes_max: usize,
        tag_hashes: Option<Vec<i32>>,
        property_filter: Option<PyRef<'_, PropertyFilter>>,
    ) -> PyResult<ReadResult> {
        let filter = chosen(tag_hashes, property_filter);
        let read = QueueRead {
            offset,
            count_max,
            bytes_max,
            filter: filter.as_ref().map(GrantedFilter::as_filter),
        };
        self.0.read(py, |store| {
            let (outcome, slices) = store.read_slices(topic, queue_id, &read)?;
            result(&outcome, &slices)
        })
    }

    #[pyo3(signature = (topic, queue_id, offset, count_max=32, bytes_max=262_144, tag_hashes=None,
        property_filter=None))]
    #[expect(clippy::too_many_arguments, reason = "most have defaults in Python")]
    fn read_resident(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        offset: i64,
        count_max: usize,
        bytes_max: usize,
        tag_hashes: Option<Vec<i32>>,
        property_filter: Option<PyRef<'_, PropertyFilter>>,
    ) -> PyResult<Option<ReadResult>> {
        let filter = chosen(tag_hashes, property_filter);
        let read = QueueRead {
            offset,
            count_max,
            bytes_max,
            filter: filter.as_ref().map(GrantedFilter::as_filter),
        };
        self.0.read(py, |store| {
            let found = store.read_resident(topic, queue_id, &read)?;
            found
                .map(|(outcome, slices)| result(&outcome, &slices))
                .transpose()
        })
    }

    #[getter]
    fn confirmed_position(&self, py: Python<'_>) -> PyResult<u64> {
        self.0.run(py, |store| Ok(store.confirmed_position()))
    }

    fn set_confirmed_position(
        &self,
        py: Python<'_>,
        position: Option<u64>,
    ) -> PyResult<Vec<(String, i32, u64)>> {
        let queues = self
            .0
            .run(py, |store| Ok(store.set_confirmed_position(position)))?;
        let place = |queue: commitlog::QueueRange| (queue.topic, queue.queue_id, queue.max_offset);
        Ok(queues.into_iter().map(place).collect())
    }

    fn held_offsets(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
    ) -> PyResult<Option<(u64, u64)>> {
        self.0
            .run(py, |store| Ok(store.held_offsets(topic, queue_id)))
    }

    fn held_entries(
        &self,
        py: Python<'_>,
        topic: &str,
        queue_id: i32,
        offset: u64,
        count: usize,
    ) -> PyResult<Vec<(u64, u32, i64)>> {
        let entries = self.0.run(py, |store| {
            Ok(store.held_entries(topic, queue_id, offset, count))
        })?;
        Ok(entries.iter().map(entry_fields).collect())
    }

    fn held_record<'py>(
        &self,
        py: Python<'py>,
        log_position: u64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let record = self
            .0
            .read(py, |store| Ok(store.held_record(log_position)?))?;
        Ok(record.map(|record| PyBytes::new(py, &record)))
    }

    fn copied_ends(
        &self,
        py: Python<'_>,
        topic: &str,
        log_position: u64,
    ) -> PyResult<Vec<(i32, u64)>> {
        self.0
            .read(py, |store| Ok(store.copied_ends(topic, log_position)?))
    }

    fn copied_positions(
        &self,
        py: Python<'_>,
        topic: &str,
        log_position: u64,
    ) -> PyResult<Vec<u64>> {
        self.0
            .read(py, |store| Ok(store.copied_positions(topic, log_position)?))
    }
}

/// Log position, size and tags code.
pub(crate) fn entry_fields(entry: &commitlog::QueueEntry) -> (u64, u32, i64) {
    (entry.log_position, entry.size, entry.tags_code)
}

fn result(outcome: &ReadOutcome, slices: &RecordSlices<'_>) -> Result<ReadResult, Failure> {
    let body = Python::attach(|py| copied(py, slices.size(), || slices.iter()));
    let body = body.map_err(|error| Failure::Value(error.to_string()))?;
    Ok(ReadResult {
        status: outcome.status.name(),
        next_offset: outcome.next_offset,
        min_offset: outcome.min_offset,
        max_offset: outcome.max_offset,
        count: outcome.count,
        body,
    })
}

/// Copies what was found, once: a bytes object outlives a truncation, which slices of the log do not.
///
/// What lies in memory and a client's socket takes at once goes there without it (ADR 16).
pub(crate) fn copied<'p, Pieces: Iterator<Item = &'p [u8]>>(
    py: Python<'_>,
    size: usize,
    pieces: impl Fn() -> Pieces,
) -> PyResult<Py<PyBytes>> {
    let body = match pieces().next() {
        Some(only) if only.len() == size => PyBytes::new(py, only),
        _ => PyBytes::new_with(py, size, |mut rest| {
            for part in pieces() {
                let (place, behind) = rest.split_at_mut(part.len());
                place.copy_from_slice(part);
                rest = behind;
            }
            Ok(())
        })?,
    };
    Ok(body.unbind())
}
