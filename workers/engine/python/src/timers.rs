//! Timers of the store: messages that wait for a time.

use std::collections::{HashMap, HashSet};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use regent_commitlog as commitlog;

use crate::store::{Store, now_ms};

/// Time and log position within the slot that is delivered next, and queue offset.
type Progress = (i64, u64, u64);

/// Messages that are due, read from the log.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct DueTimers(commitlog::DueTimers);

#[pymethods]
impl DueTimers {
    #[getter]
    fn queues(&self) -> Vec<(String, i32, u64)> {
        let queues = self.0.queues().into_iter();
        queues
            .map(|((topic, queue_id), position)| (topic, queue_id, position))
            .collect()
    }

    #[getter]
    fn positions(&self) -> Vec<u64> {
        self.0.positions()
    }

    #[getter]
    fn messages(&self) -> Vec<(u64, String, i32)> {
        let messages = self.0.messages().into_iter();
        messages
            .map(|(position, (topic, queue_id))| (position, topic, queue_id))
            .collect()
    }
}

/// What one call delivered.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct DeliveredTimers {
    arrivals: Vec<(String, i32, u64)>,
    gone: Vec<u64>,
    discarded: Vec<(u64, String)>,
    failure: Option<String>,
    is_stuck: bool,
    held_count: usize,
}

/// How timers stand.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct TimerStatus {
    progress: Progress,
    waiting_count: u64,
    next_offset: u64,
    by_hour: Vec<(i64, u64)>,
    by_minute: Vec<(i64, u64)>,
    overdue_count: u64,
    due_ms: Option<(i64, i64)>,
}

fn progress_of((read_ms, slot_position, queue_offset): Progress) -> commitlog::TimerProgress {
    commitlog::TimerProgress {
        read_ms,
        slot_position,
        queue_offset,
    }
}

fn fields_of(progress: commitlog::TimerProgress) -> Progress {
    (
        progress.read_ms,
        progress.slot_position,
        progress.queue_offset,
    )
}

#[pymethods]
impl Store {
    fn follow_timers(&self, py: Python<'_>, count_max: usize) -> PyResult<(u64, u64)> {
        self.0.read(py, |store| Ok(store.follow_timers(count_max)?))
    }

    fn set_timer_progress(&self, py: Python<'_>, progress: Progress) -> PyResult<()> {
        self.0.run(py, |store| {
            store.set_timer_progress(progress_of(progress));
            Ok(())
        })
    }

    fn lead_timers(
        &self,
        py: Python<'_>,
        progress: Option<Progress>,
        delivered: Vec<u64>,
        now_ms: i64,
    ) -> PyResult<()> {
        self.0.run(py, |store| {
            let delivered = delivered.into_iter().collect();
            store.lead_timers(progress.map(progress_of), delivered, now_ms);
            Ok(())
        })
    }

    fn stop_timers(&self, py: Python<'_>) -> PyResult<()> {
        self.0.run(py, |store| {
            store.stop_timers();
            Ok(())
        })
    }

    fn due_timers(
        &self,
        py: Python<'_>,
        now_ms: i64,
        count_max: usize,
        bytes_max: usize,
    ) -> PyResult<Option<DueTimers>> {
        let due = self.0.read(py, |store| {
            Ok(store.due_timers(now_ms, count_max, bytes_max)?)
        })?;
        Ok(due.map(DueTimers))
    }

    #[pyo3(signature = (due, targets, *, may_hold, gone))]
    fn deliver_timers(
        &self,
        py: Python<'_>,
        due: &DueTimers,
        targets: Option<HashMap<(String, i32), (i32, u64)>>,
        may_hold: bool,
        gone: HashSet<u64>,
    ) -> PyResult<DeliveredTimers> {
        let passage = commitlog::Passage {
            may_hold,
            gone,
            appends_none: targets.is_none(),
        };
        let targets = targets.unwrap_or_default();
        let target = |queue: &commitlog::RealQueue| {
            let (queue_id, void_before) = *targets.get(queue)?;
            Some(commitlog::TimerTarget {
                queue_id,
                void_before,
            })
        };
        let delivered = self.0.run(py, |store| {
            Ok(store.deliver_timers(&due.0, target, passage, now_ms())?)
        })?;
        Ok(DeliveredTimers {
            arrivals: delivered.arrivals,
            gone: delivered.gone,
            discarded: delivered.discarded,
            failure: delivered.failure.map(|error| error.to_string()),
            is_stuck: delivered.is_stuck,
            held_count: delivered.held_count,
        })
    }

    fn flush_timers(&self, py: Python<'_>, now_ms: i64) -> PyResult<()> {
        self.0.run(py, |store| Ok(store.flush_timers(now_ms)?))
    }

    fn timer_progress(&self, py: Python<'_>) -> PyResult<Option<(Progress, bool)>> {
        let shown = self.0.run(py, |store| Ok(store.timer_progress()))?;
        Ok(shown.map(|(progress, is_whole)| (fields_of(progress), is_whole)))
    }

    fn timer_status(&self, py: Python<'_>, now_ms: i64) -> PyResult<TimerStatus> {
        let status = self.0.run(py, |store| Ok(store.timer_status(now_ms)))?;
        Ok(TimerStatus {
            progress: fields_of(status.progress),
            waiting_count: status.waiting_count,
            next_offset: status.next_offset,
            by_hour: status.by_hour,
            by_minute: status.by_minute,
            overdue_count: status.overdue_count,
            due_ms: status.due_ms,
        })
    }

    fn timers_by_topic(&self, py: Python<'_>) -> PyResult<Vec<(String, u64, u64)>> {
        let topics = self.0.run(py, |store| Ok(store.timers_by_topic()))?;
        let fields = |it: commitlog::TopicTimers| (it.topic, it.waiting_count, it.rolled_count);
        Ok(topics.into_iter().map(fields).collect())
    }

    fn timers_at(&self, py: Python<'_>, time_ms: i64) -> PyResult<u64> {
        self.0.run(py, |store| Ok(store.timers_at(time_ms)))
    }

    #[getter]
    fn has_timers_of_stock(&self, py: Python<'_>) -> PyResult<bool> {
        self.0.run(py, |store| Ok(store.has_timers_of_stock()))
    }

    fn timer_checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let bytes = self.0.run(py, |store| Ok(store.timer_checkpoint()))?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }
}
