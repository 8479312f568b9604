//! What a store needs besides appends and reads: flushes, positions, counts, epochs, its end.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use regent_commitlog as commitlog;

use crate::store::{Store, now_ms};
use crate::store_results::{Counters, Damage, Expired};

#[pymethods]
impl Store {
    fn flush(&self, py: Python<'_>) -> PyResult<u64> {
        self.0.run(py, |store| Ok(store.flush()?))
    }

    fn seal_queue(&self, py: Python<'_>, topic: &str, queue_id: i32) -> PyResult<u64> {
        self.0
            .run(py, |store| Ok(store.seal_queue(topic, queue_id)?))
    }

    fn unseal_queue(&self, py: Python<'_>, topic: &str, queue_id: i32) -> PyResult<u64> {
        self.0
            .run(py, |store| Ok(store.unseal_queue(topic, queue_id)?))
    }

    fn start_write_back(&self, py: Python<'_>) -> PyResult<u64> {
        self.0.run(py, |store| Ok(store.start_write_back()?))
    }

    #[getter]
    fn failure(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.0
            .run(py, |store| Ok(store.failure().map(str::to_owned)))
    }

    fn tick(&self, py: Python<'_>, now_ms: i64) -> PyResult<()> {
        self.0.run(py, |store| Ok(store.flush_tick(now_ms)?))
    }

    #[pyo3(signature = (now_ms, *, age_ms=None, log_bytes_max=None, needed_from=None, is_forced=false,
        segment_count_max=10))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn expire(
        &self,
        py: Python<'_>,
        now_ms: i64,
        age_ms: Option<i64>,
        log_bytes_max: Option<u64>,
        needed_from: Option<u64>,
        is_forced: bool,
        segment_count_max: usize,
    ) -> PyResult<Expired> {
        let retention = commitlog::Retention {
            age_ms,
            log_bytes_max,
            needed_from,
            is_forced,
            segment_count_max,
        };
        let gone = self
            .0
            .run(py, |store| Ok(store.expire(&retention, now_ms)?))?;
        Ok(Expired {
            segment_count: gone.segment_count,
            byte_count: gone.byte_count,
            queue_file_count: gone.queue_file_count,
        })
    }

    #[getter]
    fn flushed_position(&self, py: Python<'_>) -> PyResult<u64> {
        self.0.run(py, |store| Ok(store.flushed_position()))
    }

    #[getter]
    fn populated_position(&self, py: Python<'_>) -> PyResult<u64> {
        self.0.run(py, |store| Ok(store.populated_position()))
    }

    #[getter]
    fn min_position(&self, py: Python<'_>) -> PyResult<u64> {
        self.0.run(py, |store| Ok(store.min_position()))
    }

    #[getter]
    fn max_position(&self, py: Python<'_>) -> PyResult<u64> {
        self.0.run(py, |store| Ok(store.max_position()))
    }

    fn counters(&self, py: Python<'_>) -> PyResult<Counters> {
        let counters = self.0.run(py, |store| Ok(store.counters()))?;
        let topics = PyDict::new(py);
        for (topic, traffic) in counters.topics {
            topics.set_item(topic, (traffic.message_count, traffic.bytes))?;
        }
        Ok(Counters {
            messages: counters.total.message_count,
            bytes: counters.total.bytes,
            topics: topics.unbind(),
        })
    }

    #[pyo3(signature = (topic, *, before=None))]
    fn delete_topic(&self, py: Python<'_>, topic: &str, before: Option<u64>) -> PyResult<()> {
        self.0.run(py, |store| {
            match before {
                Some(position) => store.delete_queues_before(topic, position)?,
                None => store.delete_queues_of(topic)?,
            }
            Ok(())
        })
    }

    #[getter]
    fn damage(&self, py: Python<'_>) -> PyResult<Option<Damage>> {
        self.0.run(py, |store| {
            let damage = store.recovery().damage.zip(store.read_only_reason());
            Ok(damage.map(|(damage, reason)| Damage {
                position: damage.position,
                kind: damage.kind.to_string(),
                next_valid_position: damage.next_valid_position,
                reason: reason.to_string(),
            }))
        })
    }

    /// Where the log was cut, and where records go on that were cut with what is gone.
    #[getter]
    fn lost_unflushed(&self, py: Python<'_>) -> PyResult<Option<(u64, Option<u64>)>> {
        self.0.run(py, |store| {
            let lost = store.recovery().lost_unflushed;
            Ok(lost.map(|lost| (lost.position, lost.next_valid_position)))
        })
    }

    #[getter]
    fn was_converted(&self, py: Python<'_>) -> PyResult<bool> {
        self.0
            .run(py, |store| Ok(store.recovery().converted_at.is_some()))
    }

    #[getter]
    fn had_failed_flush(&self, py: Python<'_>) -> PyResult<bool> {
        self.0
            .run(py, |store| Ok(store.recovery().had_failed_flush))
    }

    #[getter]
    fn are_epochs_from_backup(&self, py: Python<'_>) -> PyResult<bool> {
        self.0
            .run(py, |store| Ok(store.recovery().are_epochs_from_backup))
    }

    fn begin_epoch(&self, py: Python<'_>, number: i32) -> PyResult<()> {
        self.0.run(py, |store| Ok(store.begin_epoch(number)?))
    }

    fn epochs(&self, py: Python<'_>) -> PyResult<Vec<(i32, u64)>> {
        let epochs = self.0.run(py, |store| Ok(store.epochs()))?;
        let epochs = epochs.as_slice().iter();
        Ok(epochs
            .map(|epoch| (epoch.number, epoch.start_position))
            .collect())
    }

    fn note_reign(&self, py: Python<'_>, epoch: i32) -> PyResult<()> {
        self.0
            .run(py, |store| Ok(store.note_reign(epoch, now_ms())?))
    }

    /// Whether the second log holds what it held before.
    fn begin_local(
        &self,
        py: Python<'_>,
        generation: u64,
        epoch: i32,
        topics: Vec<String>,
    ) -> PyResult<bool> {
        let (local, is_kept) = self.0.run(py, |store| {
            Ok(store.open_local(generation, epoch, now_ms())?)
        })?;
        self.0.run_alone(py, |store| {
            store.use_local(local, topics)?;
            Ok(is_kept)
        })
    }

    fn give_up_local(&self, py: Python<'_>, epoch: i32) -> PyResult<()> {
        self.0
            .run(py, |store| Ok(store.give_up_local(epoch, now_ms())?))
    }

    fn first_offset(&self, py: Python<'_>, topic: &str) -> PyResult<u64> {
        self.0.run(py, |store| Ok(store.first_offset(topic)))
    }

    fn end_local(&self, py: Python<'_>) -> PyResult<()> {
        self.0.run_alone(py, |store| Ok(store.end_local()?))
    }

    fn set_local(&self, py: Python<'_>, topic: &str, is_local: bool) -> PyResult<()> {
        self.0
            .run(py, |store| Ok(store.set_local(topic, is_local)?))
    }

    fn truncate_to(&self, py: Python<'_>, position: u64) -> PyResult<()> {
        self.0
            .run_alone(py, |store| Ok(store.truncate_to(position)?))
    }

    fn restart_followers(&self, py: Python<'_>) -> PyResult<()> {
        self.0.run(py, |store| Ok(store.restart_followers()?))
    }

    fn empty(&self, py: Python<'_>) -> PyResult<()> {
        self.0.run_alone(py, |store| Ok(store.empty()?))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py)
    }
}
