//! The two ends of a replication connection.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use regent_replication as replication;
use regent_replication::{Agreement, Greeting, Handshake, Heard, LinkError};

use crate::error::Failure;
use crate::shared_store::SharedStore;
use crate::store::Store;

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Store(error) => error.into(),
            other => Self::Protocol(other.to_string()),
        }
    }
}

/// One connected replica.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct MasterLink {
    link: Mutex<replication::MasterLink>,
    store: Arc<SharedStore>,
}

#[pymethods]
impl MasterLink {
    #[new]
    fn new(store: &Store) -> Self {
        Self {
            link: Mutex::default(),
            store: Arc::clone(&store.0),
        }
    }

    /// Whether a handshake was among the bytes, which `greeting` answers, and the last report.
    fn receive(&self, py: Python<'_>, data: &[u8]) -> PyResult<(bool, Option<u64>)> {
        self.store.run(py, |store| {
            let mut heard = Vec::new();
            self.link.lock().receive(data, store, &mut heard)?;
            let is_greeting = |said: &Heard| matches!(said, Heard::Handshake(_));
            let reported = heard.iter().rev().find_map(|said| match said {
                Heard::Report(end) => Some(*end),
                Heard::Handshake(_) => None,
            });
            Ok((heard.iter().any(is_greeting), reported))
        })
    }

    fn greeting(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        self.store
            .run(py, |store| Ok(replication::MasterLink::greeting(store)))
    }

    fn next_transfer(
        &self,
        py: Python<'_>,
        size_max: usize,
        confirmed: u64,
    ) -> PyResult<Option<Py<PyBytes>>> {
        self.store.run(py, |store| {
            let mut link = self.link.lock();
            let Some(transfer) = link.next_transfer(store, size_max, confirmed)? else {
                return Ok(None);
            };
            let (header, body) = (&transfer.header, transfer.body.bytes());
            let frame = Python::attach(|py| {
                PyBytes::new_with(py, header.len() + body.len(), |frame| {
                    let (head, rest) = frame.split_at_mut(header.len());
                    head.copy_from_slice(header);
                    rest.copy_from_slice(body);
                    Ok(())
                })
                .map(Bound::unbind)
            });
            frame
                .map(Some)
                .map_err(|error| Failure::Value(error.to_string()))
        })
    }

    fn heartbeat(&self, py: Python<'_>, confirmed: u64) -> PyResult<Option<Vec<u8>>> {
        self.store.run(py, |store| {
            let beat = self.link.lock().heartbeat(store, confirmed);
            Ok(beat.map(Vec::from))
        })
    }

    #[getter]
    fn broker_id(&self) -> Option<i64> {
        self.link.lock().replica().map(|replica| replica.broker_id)
    }

    #[getter]
    fn is_learner(&self) -> bool {
        let replica = self.link.lock().replica();
        replica.is_some_and(|replica| replica.is_learner)
    }

    #[getter]
    fn pending(&self, py: Python<'_>) -> PyResult<u64> {
        self.store
            .run(py, |store| Ok(self.link.lock().pending(store)))
    }

    #[getter]
    fn acknowledged(&self) -> u64 {
        self.link.lock().acknowledged()
    }

    #[getter]
    fn next_position(&self) -> Option<u64> {
        self.link.lock().next_position()
    }
}

/// The connection to the master.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct ReplicaLink {
    link: Mutex<replication::ReplicaLink>,
    greeting: Mutex<Option<Greeting>>,
    store: Arc<SharedStore>,
}

#[pymethods]
impl ReplicaLink {
    #[new]
    #[pyo3(signature = (store, *, broker_id, known_epoch, is_learner=false,
        is_from_last_segment=false))]
    fn new(
        store: &Store,
        broker_id: i64,
        known_epoch: i32,
        is_learner: bool,
        is_from_last_segment: bool,
    ) -> Self {
        let handshake = Handshake {
            is_from_last_segment,
            is_learner,
            broker_id,
        };
        Self {
            link: Mutex::new(replication::ReplicaLink::new(handshake, known_epoch)),
            greeting: Mutex::new(None),
            store: Arc::clone(&store.0),
        }
    }

    fn handshake(&self) -> Vec<u8> {
        self.link.lock().handshake()
    }

    /// Whether the master has greeted, and what it has confirmed.
    fn receive(&self, py: Python<'_>, data: &[u8]) -> PyResult<(bool, Option<u64>)> {
        self.store.run(py, |store| {
            let progress = self.link.lock().receive(data, store)?;
            let has_greeted = progress.greeting.is_some();
            if has_greeted {
                *self.greeting.lock() = progress.greeting;
            }
            Ok((has_greeted, progress.confirmed))
        })
    }

    /// Where the log must be cut; its end when nothing has to be.
    fn common_end(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.store.run(py, |store| {
            let greeting = self.greeting.lock();
            let Some(greeting) = greeting.as_ref() else {
                return Err(Failure::Value("the master has not greeted".into()));
            };
            let end = store.max_position();
            Ok(match replication::agree(&store.epochs(), end, greeting) {
                Agreement::Same => Some(end),
                Agreement::CutTo(position) => Some(position),
                Agreement::Apart => None,
            })
        })
    }

    /// Where the master's log ended when it greeted.
    #[getter]
    fn greeted_end(&self) -> Option<u64> {
        self.greeting
            .lock()
            .as_ref()
            .map(|greeting| greeting.log_end)
    }

    fn begin(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        self.store
            .run(py, |store| Ok(self.link.lock().begin(store)))
    }

    #[pyo3(signature = (held, *, is_due=false))]
    fn report(&self, held: u64, is_due: bool) -> Option<Vec<u8>> {
        self.link.lock().report(held, is_due)
    }
}
