//! The two ends of a replication connection.

use std::os::fd::RawFd;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use pyo3::prelude::*;
use regent_commitlog as commitlog;
use regent_replication as replication;
use regent_replication::{
    Agreement, Following, Greeting, Handshake, Heard, LinkError, Protocol, Sending, StoreAccess,
    duplicate,
};

use crate::error::{Failure, detached, into_python};
use crate::shared_store::SharedStore;
use crate::store::Store;

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Store(error) => error.into(),
            LinkError::Connection(_) | LinkError::HungUp => Self::Connection(error.to_string()),
            other => Self::Protocol(other.to_string()),
        }
    }
}

impl StoreAccess for SharedStore {
    type Error = Failure;

    fn with<T>(
        &self,
        work: impl FnOnce(&commitlog::Store) -> Result<T, LinkError>,
    ) -> Result<T, Failure> {
        self.run_detached(|store| Ok(work(store)?))
    }
}

/// The ways of the log to the connected replicas.
#[derive(Default)]
pub(crate) struct Replicas(Mutex<Vec<Weak<Sending<SharedStore>>>>);

impl Replicas {
    fn add(&self, sending: &Arc<Sending<SharedStore>>) {
        let mut all = self.0.lock();
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(sending));
    }

    /// Send what was appended: no replica that is slow holds up this thread.
    pub(crate) fn send_appended(&self) {
        for sending in self.0.lock().iter().filter_map(Weak::upgrade) {
            sending.send_appended();
        }
    }
}

/// One connected replica.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct MasterLink {
    sending: Arc<Sending<SharedStore>>,
}

#[pymethods]
impl MasterLink {
    #[new]
    #[pyo3(signature = (store, descriptor, size_max, *, plain_number=None))]
    fn new(
        py: Python<'_>,
        store: &Store,
        descriptor: RawFd,
        size_max: usize,
        plain_number: Option<i64>,
    ) -> PyResult<Self> {
        let store = Arc::clone(&store.0);
        detached(py, || {
            let socket = duplicate(descriptor).map_err(LinkError::from)?;
            let link = plain_number.map_or_else(
                replication::MasterLink::default,
                replication::MasterLink::plain,
            );
            let sending = Sending::begin(Arc::clone(&store), socket, size_max, link)?;
            let sending = Arc::new(sending);
            store.replicas.add(&sending);
            Ok(Self { sending })
        })
    }

    /// Whether a handshake was among the bytes, and the last report.
    fn receive(&self, py: Python<'_>, data: &[u8]) -> PyResult<(bool, Option<u64>)> {
        detached(py, || {
            let mut heard = Vec::new();
            self.sending.receive(data, &mut heard)?;
            let is_greeting = |said: &Heard| matches!(said, Heard::Handshake(_));
            let reported = heard.iter().rev().find_map(|said| match said {
                Heard::Report(end) => Some(*end),
                Heard::Handshake(_) => None,
            });
            Ok((heard.iter().any(is_greeting), reported))
        })
    }

    fn pump(&self, py: Python<'_>, confirmed: u64) -> PyResult<()> {
        detached(py, || self.sending.pump(confirmed))
    }

    #[pyo3(signature = (confirmed, *, is_due))]
    fn send_confirmed(&self, py: Python<'_>, confirmed: u64, is_due: bool) -> PyResult<()> {
        detached(py, || self.sending.send_confirmed(confirmed, is_due))
    }

    fn set_rate(&self, rate: u64) {
        self.sending.set_rate(rate);
    }

    fn close(&self) {
        self.sending.close();
    }

    /// Raise what ended the connection, once.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let failure = self.sending.take_failure();
        failure.map_or(Ok(()), |failure| Err(into_python(py, failure)))
    }

    #[getter]
    fn broker_id(&self) -> Option<i64> {
        let replica = self.sending.link(replication::MasterLink::replica);
        replica.map(|replica| replica.broker_id)
    }

    #[getter]
    fn is_learner(&self) -> bool {
        let replica = self.sending.link(replication::MasterLink::replica);
        replica.is_some_and(|replica| replica.is_learner)
    }

    #[getter]
    fn sent_bytes(&self) -> u64 {
        self.sending.sent_bytes()
    }

    #[getter]
    fn acknowledged(&self) -> u64 {
        self.sending.link(replication::MasterLink::acknowledged)
    }

    #[getter]
    fn next_position(&self) -> Option<u64> {
        self.sending.link(replication::MasterLink::next_position)
    }
}

/// The connection to the master.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct ReplicaLink {
    hello: Vec<u8>,
    protocol: Protocol,
    /// Until the log is asked for.
    link: Mutex<Option<replication::ReplicaLink>>,
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
        let link = replication::ReplicaLink::new(handshake, known_epoch);
        Self {
            hello: link.handshake(),
            protocol: Protocol::AutoSwitch,
            link: Mutex::new(Some(link)),
            greeting: Mutex::new(None),
            store: Arc::clone(&store.0),
        }
    }

    #[staticmethod]
    fn plain(store: &Store) -> Self {
        Self {
            hello: Vec::new(),
            protocol: Protocol::Plain,
            link: Mutex::new(Some(replication::ReplicaLink::plain())),
            greeting: Mutex::new(None),
            store: Arc::clone(&store.0),
        }
    }

    fn handshake(&self) -> Vec<u8> {
        self.hello.clone()
    }

    /// Whether the master has greeted.
    fn receive(&self, py: Python<'_>, data: &[u8]) -> PyResult<bool> {
        self.store.run(py, |store| {
            let mut link = self.link.lock();
            let link = link.as_mut().ok_or_else(has_begun)?;
            let progress = link.receive(data, store)?;
            let has_greeted = progress.greeting.is_some();
            if has_greeted {
                *self.greeting.lock() = progress.greeting;
            }
            Ok(has_greeted)
        })
    }

    /// Where the log must be cut; its end when nothing has to be.
    fn common_end(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.store.run(py, |store| {
            let greeting = self.greeting.lock();
            let greeting = greeting.as_ref().ok_or_else(has_not_greeted)?;
            let end = store.max_position();
            Ok(match replication::agree(&store.epochs(), end, greeting) {
                Agreement::Same => Some(end),
                Agreement::CutTo(position) => Some(position),
                Agreement::Apart => None,
            })
        })
    }

    /// Whether the master knows of the epoch that wrote the end of this log.
    fn is_known(&self, py: Python<'_>) -> PyResult<bool> {
        self.store.run(py, |store| {
            let greeting = self.greeting.lock();
            let greeting = greeting.as_ref().ok_or_else(has_not_greeted)?;
            let end = store.max_position();
            Ok(store.epochs().is_known_to(&greeting.epochs, end))
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

    #[pyo3(signature = (descriptor, *, wake, reports_appended))]
    fn begin(
        &self,
        py: Python<'_>,
        descriptor: RawFd,
        wake: RawFd,
        reports_appended: bool,
    ) -> PyResult<LogCopy> {
        detached(py, || {
            if self.protocol == Protocol::AutoSwitch && self.greeting.lock().is_none() {
                return Err(has_not_greeted());
            }
            let socket = duplicate(descriptor).map_err(LinkError::from)?;
            let wake = duplicate(wake).map_err(LinkError::from)?;
            let link = self.link.lock().take().ok_or_else(has_begun)?;
            let store = Arc::clone(&self.store);
            let following = Following::begin(store, link, socket, wake, reports_appended)?;
            Ok(LogCopy { following })
        })
    }
}

/// The master's log on its way, on a thread.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct LogCopy {
    following: Following<SharedStore>,
}

#[pymethods]
impl LogCopy {
    fn look(&self) -> Option<u64> {
        self.following.look()
    }

    #[pyo3(signature = (held, *, is_due=false))]
    fn report(&self, py: Python<'_>, held: u64, is_due: bool) -> PyResult<bool> {
        detached(py, || self.following.report(held, is_due))
    }

    /// Raise what ended the connection, once.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let failure = self.following.take_failure();
        failure.map_or(Ok(()), |failure| Err(into_python(py, failure)))
    }

    #[getter]
    fn is_over(&self) -> bool {
        self.following.is_over()
    }

    #[getter]
    fn received_bytes(&self) -> u64 {
        self.following.received_bytes()
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.following.stop());
    }
}

impl Drop for LogCopy {
    /// The caller has the interpreter lock, which `stop` releases: the thread of the copy may wait
    /// for threads that wait for this lock.
    fn drop(&mut self) {
        Python::attach(|py| self.stop(py));
    }
}

fn has_begun() -> Failure {
    Failure::Value("the log was asked for already".into())
}

fn has_not_greeted() -> Failure {
    Failure::Value("the master has not greeted".into())
}
