//! The clients of a broker, which a thread of the engine serves.

use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use regent_commitlog::Store;
use regent_hotpath as hotpath;
use regent_io as io;
use regent_io::{HotAccess, Unusable, What};
use regent_replication::duplicate;

use crate::command::Command;
use crate::grant::ParkedPull;
use crate::hotpath::{Connection, HotPath, PulledOfQueue, SharedHotPath, pulled_of_queue};
use crate::member_shares::{Proposed, proposed};

impl HotAccess for SharedHotPath {
    fn hot(&self) -> &hotpath::HotPath {
        &self.hot
    }

    fn with<T>(&self, work: impl FnOnce(&Store) -> T) -> Result<T, Unusable> {
        self.store.run_native(work)
    }

    fn send_appended(&self) {
        self.store.replicas.send_appended();
    }
}

/// All clients of one broker.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct Clients {
    clients: Arc<io::Clients>,
    shared: Arc<SharedHotPath>,
}

#[pymethods]
impl Clients {
    #[new]
    fn new(hot: &HotPath) -> PyResult<Self> {
        Ok(Self {
            clients: Arc::new(io::Clients::start(Arc::clone(&hot.0))?),
            shared: Arc::clone(&hot.0),
        })
    }

    #[getter]
    fn descriptor(&self) -> RawFd {
        self.clients.descriptor().as_raw_fd()
    }

    #[pyo3(signature = (listener, *, is_fast))]
    fn listen(&self, listener: RawFd, is_fast: bool) -> PyResult<()> {
        self.clients.listen(duplicate(listener)?, is_fast);
        Ok(())
    }

    fn stop_listening(&self) {
        self.clients.stop_listening();
    }

    fn take(&self, py: Python<'_>) -> PyResult<ClientBatch> {
        ClientBatch::new(py, self, self.clients.take())
    }

    fn take_progress(&self, py: Python<'_>) -> PyResult<ClientBatch> {
        let batch = py.detach(|| self.clients.take_progress());
        ClientBatch::new(py, self, batch)
    }

    fn open_gate(&self, py: Python<'_>, is_open: bool) {
        py.detach(|| self.clients.open_gate(is_open));
    }

    fn pause(&self, py: Python<'_>) {
        py.detach(|| self.clients.pause());
    }

    fn resume(&self) {
        self.clients.resume();
    }

    fn hear_appends(&self, hears: bool) {
        self.clients.hear_appends(hears);
    }

    fn use_link(&self, member: u64, socket: RawFd) -> PyResult<()> {
        self.clients.use_link(member, duplicate(socket)?);
        Ok(())
    }

    fn retire_link(&self, member: u64) {
        self.clients.retire_link(member);
    }

    #[getter]
    fn forwarded_count(&self) -> usize {
        self.clients.forwarded_count()
    }

    fn take_turns(&self) {
        self.clients.take_turns();
    }

    fn close_idle(&self, idle_ms: i64) {
        self.clients.close_idle(idle_ms);
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.clients.stop());
    }
}

/// One client.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct Client {
    client: Arc<io::Client>,
    clients: Arc<io::Clients>,
    shared: Arc<SharedHotPath>,
}

#[pymethods]
impl Client {
    #[getter]
    fn id(&self) -> u64 {
        self.client.id
    }

    #[getter]
    fn peer(&self) -> (String, u16) {
        let peer = self.client.peer;
        (peer.ip().to_string(), peer.port())
    }

    #[getter]
    fn is_fast(&self) -> bool {
        self.client.is_fast
    }

    #[getter]
    fn is_gone(&self) -> bool {
        self.client.is_gone()
    }

    #[getter]
    fn is_congested(&self) -> bool {
        self.client.is_congested()
    }

    #[getter]
    fn unwritten_bytes(&self) -> usize {
        self.client.unwritten_bytes()
    }

    fn connection(&self) -> Connection {
        let (id, peer) = (self.client.id, self.client.peer);
        let connection = hotpath::Connection::numbered(id, peer, &self.shared.hot);
        Connection {
            shared: Arc::clone(&self.shared),
            connection: Mutex::new(connection),
        }
    }

    fn send(&self, frame: PyBackedBytes, body: PyBackedBytes) {
        self.clients
            .send(&self.client, [Box::new(frame), Box::new(body)]);
    }

    fn hold(&self, size: usize) {
        self.client.hold(size);
    }

    fn taken(&self, count: usize) {
        self.clients.taken(self.client.id, count);
    }

    fn go_on(&self) {
        self.clients.go_on(self.client.id);
    }

    fn checked(&self) {
        self.clients.checked(self.client.id);
    }

    fn settled(&self, size: usize) {
        self.clients.settled(self.client.id, size);
    }

    fn await_room(&self) {
        self.clients.await_room(self.client.id);
    }

    fn close(&self) {
        self.clients.close(self.client.id);
    }

    fn abort(&self) {
        self.clients.abort(self.client.id);
    }
}

/// What happened to clients.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct ClientBatch {
    /// Client, group, topic, queue, offset.
    commits: Vec<(u64, String, String, i32, i64)>,
    /// Client, whether it asked just now, and what.
    pulled: Vec<(u64, bool, PulledOfQueue)>,
    passed_on_count: usize,
    has_appended: bool,
    events: Vec<Py<ClientEvent>>,
}

impl ClientBatch {
    fn new(py: Python<'_>, clients: &Clients, batch: io::Batch) -> PyResult<Self> {
        let commits = batch.commits.into_iter().map(|(client, it)| {
            let hotpath::Commit {
                group,
                topic,
                queue_id,
                offset,
            } = it;
            (client, group, topic, queue_id, offset)
        });
        let pulled = batch.pulled.into_iter();
        let pulled = pulled.map(|it| (it.client, it.is_asked, pulled_of_queue(it.pulled)));
        let events = batch.events.into_iter();
        let events: PyResult<_> = events
            .map(|event| Py::new(py, ClientEvent::new(py, clients, event)?))
            .collect();
        Ok(Self {
            commits: commits.collect(),
            pulled: pulled.collect(),
            passed_on_count: batch.passed_on_count,
            has_appended: batch.has_appended,
            events: events?,
        })
    }
}

type Deferred = (Py<PyBytes>, u64, Vec<(u64, i64, u16)>, Option<Proposed>);

/// What happened to one client: one of the fields is set.
#[pyclass(frozen, get_all, module = "regent_engine")]
#[derive(Default)]
pub(crate) struct ClientEvent {
    client_id: u64,
    opened: Option<Py<Client>>,
    requests: Option<Vec<Py<Command>>>,
    set_aside: Option<Vec<Py<Command>>>,
    unchecked: Option<Py<ParkedPull>>,
    /// Frames, the end of their messages, what they deliver, and what a replica proposes first.
    deferred: Option<Deferred>,
    store_failure: Option<String>,
    broken_protocol: Option<String>,
    has_room: bool,
    lacks_link: Option<u64>,
    lost_link: Option<(u64, String)>,
    unclaimed: Option<(u64, Py<Command>, Py<Command>)>,
    is_closed: bool,
    reason: Option<String>,
}

impl ClientEvent {
    fn new(py: Python<'_>, clients: &Clients, event: io::Event) -> PyResult<Self> {
        let mut made = Self {
            client_id: event.client,
            ..Self::default()
        };
        match event.what {
            What::Opened(client) => {
                let client = Client {
                    client,
                    clients: Arc::clone(&clients.clients),
                    shared: Arc::clone(&clients.shared),
                };
                made.opened = Some(Py::new(py, client)?);
            }
            What::Requests(requests) => made.requests = Some(commands(py, requests)?),
            What::SetAside(requests) => made.set_aside = Some(commands(py, requests)?),
            What::Unchecked(pull) => {
                made.unchecked = Some(Py::new(py, ParkedPull::new(py, *pull)?)?);
            }
            What::Deferred(deferred) => {
                let frames = PyBytes::new(py, &deferred.frames).unbind();
                let deliveries = deferred.deliveries.iter();
                let deliveries = deliveries.map(|(id, it)| (*id, it.pop_time_ms, it.tag));
                let proposal = deferred.proposal.map(|it| proposed(py, &it));
                let deliveries = deliveries.collect();
                made.deferred = Some((frames, deferred.position, deliveries, proposal));
            }
            What::StoreFailed(reason) => made.store_failure = Some(reason),
            What::BrokeProtocol(reason) => made.broken_protocol = Some(reason),
            What::HasRoom => made.has_room = true,
            What::LacksLink(member) => made.lacks_link = Some(member),
            What::LinkLost(member, reason) => made.lost_link = Some((member, reason)),
            What::Unclaimed(member, request, answer) => {
                let request = Py::new(py, Command::new(py, *request)?)?;
                let answer = Py::new(py, Command::new(py, *answer)?)?;
                made.unclaimed = Some((member, request, answer));
            }
            What::Closed(reason) => {
                made.is_closed = true;
                made.reason = reason;
            }
        }
        Ok(made)
    }
}

fn commands(py: Python<'_>, requests: Vec<regent_remoting::Command>) -> PyResult<Vec<Py<Command>>> {
    let requests = requests.into_iter();
    requests
        .map(|request| Py::new(py, Command::new(py, request)?))
        .collect()
}
