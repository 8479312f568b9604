//! The hot path.

use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use regent_commitlog as commitlog;
use regent_hotpath as hotpath;
use regent_hotpath::{
    Arrival, DecodedSend, HotPathConfig, Proposal, PullAnswers, Taker, Topic, WaitingPull,
    append_send, make_queue_file,
};
use regent_remoting::limits;
use regent_share::Delivery;

use crate::command::{Command, encoding_named, text_pairs};
use crate::error::{Failure, ProtocolError};
use crate::grant::{LeadingQueues, ParkedPull, PullGrant};
use crate::member_shares::{Proposed, proposed};
use crate::message::host;
use crate::pending::PendingTransactions;
use crate::shared_store::SharedStore;
use crate::store::Store;
use crate::store_reads::copied;

/// Longer answers that cannot go to the socket are for the dispatcher, which writes each before it
/// makes the next. Some of them at once are more than the allocator keeps when they are freed: at
/// 256 KiB each of them met 56 page faults, which cost more than the dispatcher does.
const SHORT_ANSWER_BYTES_MAX: usize = 64 << 10;

pub(crate) struct SharedHotPath {
    pub(crate) hot: hotpath::HotPath,
    pub(crate) store: Arc<SharedStore>,
}

/// What one broker's connections share.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct HotPath(pub(crate) Arc<SharedHotPath>);

#[pymethods]
impl HotPath {
    #[new]
    #[pyo3(signature = (store, *, broker_name, cluster_name, store_host,
        region="DefaultRegion".to_owned(), trace_on=true,
        frame_size_max=limits::FRAME_SIZE_MAX_DEFAULT))]
    fn new(
        store: &Store,
        broker_name: String,
        cluster_name: String,
        store_host: (String, u16),
        region: String,
        trace_on: bool,
        frame_size_max: usize,
    ) -> PyResult<Self> {
        let store_host: SocketAddr = host(&store_host)?;
        let config = HotPathConfig {
            broker_name,
            cluster_name,
            region,
            trace_on,
            store_host,
            frame_size_max,
            seed: seed(),
        };
        let hot = hotpath::HotPath::new(config);
        Ok(Self(Arc::new(SharedHotPath {
            hot,
            store: Arc::clone(&store.0),
        })))
    }

    #[pyo3(signature = (name, *, perm, read_queue_count, write_queue_count, leading=None))]
    fn set_topic(
        &self,
        py: Python<'_>,
        name: &str,
        perm: u32,
        read_queue_count: u32,
        write_queue_count: u32,
        leading: Option<&LeadingQueues>,
    ) {
        let topic = Topic {
            perm,
            read_queue_count,
            write_queue_count,
            leading: leading.map(|it| Arc::clone(&it.0)),
        };
        py.detach(|| self.0.hot.set_topic(name, topic));
    }

    fn remove_topic(&self, py: Python<'_>, name: &str) {
        py.detach(|| self.0.hot.remove_topic(name));
    }

    #[pyo3(signature = (writable, reason=None))]
    fn set_writable(&self, writable: bool, reason: Option<&str>) {
        let reason = reason.unwrap_or("the broker does not take messages now");
        self.0.hot.set_writable(writable, reason);
    }

    #[getter]
    fn transactions(&self) -> PendingTransactions {
        PendingTransactions(Arc::clone(self.0.hot.pending_transactions()))
    }

    fn take_transactions(&self, timeout_ms: Option<i64>) {
        self.0.hot.take_transactions(timeout_ms);
    }

    fn grant_pulls(&self, grant: &PullGrant) {
        self.0.hot.grant_pulls(&grant.0);
    }

    #[getter]
    fn wake_count(&self) -> u64 {
        self.0.hot.wake_count()
    }

    #[getter]
    fn facts_version(&self) -> u64 {
        self.0.hot.facts_version()
    }

    fn facts_changed(&self) {
        self.0.hot.facts_changed();
    }

    #[getter]
    fn parked_count(&self) -> usize {
        self.0.hot.parked_count()
    }

    #[getter]
    fn next_deadline_ms(&self) -> Option<i64> {
        self.0.hot.next_deadline_ms()
    }

    fn wake(&self, topic: &str, queue_id: i32, max_offset: u64) -> bool {
        self.0.hot.wake(topic, queue_id, max_offset)
    }

    fn confirm(
        &self,
        py: Python<'_>,
        position: Option<u64>,
        delay_topic: &str,
    ) -> PyResult<(bool, Vec<i32>)> {
        self.0.store.run(py, |store| {
            let (grown, is_turn_due) = self.0.hot.confirm(store, position);
            let delayed = grown.iter().filter(|queue| queue.topic == delay_topic);
            Ok((is_turn_due, delayed.map(|queue| queue.queue_id).collect()))
        })
    }

    fn expire_pulls(&self, elapsed_ms: i64) -> bool {
        self.0.hot.expire_pulls(elapsed_ms)
    }

    #[pyo3(signature = (topic, group=None))]
    fn release_pulls(&self, topic: &str, group: Option<&str>) -> bool {
        self.0.hot.release_pulls(topic, group)
    }

    fn release_all_pulls(&self) -> bool {
        self.0.hot.release_all_pulls()
    }

    fn next_turn(&self) -> Option<u64> {
        self.0.hot.next_turn()
    }

    fn wait_for_turn(&self, connection_id: u64) -> bool {
        self.0.hot.wait_for_turn(connection_id)
    }

    fn drop_parked(&self, connection_id: u64) {
        self.0.hot.drop_parked(connection_id);
    }

    #[getter]
    fn put_times(&self) -> (u64, [u64; hotpath::TURN_TIME_LIMITS_MS.len() + 1]) {
        let times = &self.0.hot.put_times;
        (times.longest_ms(), times.counts())
    }

    #[getter]
    fn pull_times(&self) -> (u64, [u64; hotpath::TURN_TIME_LIMITS_MS.len() + 1]) {
        let times = &self.0.hot.pull_times;
        (times.longest_ms(), times.counts())
    }

    fn append(
        &self,
        py: Python<'_>,
        command: &Command,
        peer: (String, u16),
        now_ms: i64,
    ) -> PyResult<Option<Received>> {
        let peer = host(&peer)?;
        let (is_taken, received) = self.with_send(py, command, |store, send| {
            let mut received = hotpath::Received::default();
            let is_taken = append_send(&self.0.hot, store, peer, send, now_ms, &mut received);
            (is_taken, received)
        })?;
        is_taken
            .then(|| Received::new(py, received, None))
            .transpose()
    }

    fn make_queue_file(&self, py: Python<'_>, command: &Command) -> PyResult<()> {
        self.with_send(py, command, |store, send| {
            make_queue_file(&self.0.hot, store, send);
        })
    }

    fn set_setting_aside(&self, setting_aside: bool) {
        self.0.hot.set_setting_aside(setting_aside);
    }

    fn set_handing_up(&self, handing_up: bool) {
        self.0.hot.set_handing_up(handing_up);
    }

    fn set_deferring(&self, deferring: bool) {
        self.0.hot.set_deferring(deferring);
    }
}

impl HotPath {
    /// Run work on a send that was decoded.
    fn with_send<T: Send>(
        &self,
        py: Python<'_>,
        command: &Command,
        work: impl FnOnce(&commitlog::Store, &DecodedSend<'_>) -> T + Send,
    ) -> PyResult<T> {
        let ext = text_pairs(command.ext.bind(py).as_any())?;
        let encoding = encoding_named(command.encoding)?;
        let (code, opaque, flag) = (command.code, command.opaque, command.flag);
        let body = command.body.as_bytes(py);
        self.0.store.run(py, |store| {
            let send = DecodedSend {
                code,
                opaque,
                flag,
                encoding,
                ext: ext.iter().map(|(key, value)| (&**key, &**value)).collect(),
                body,
            };
            Ok(work(store, &send))
        })
    }
}

/// Name the properties that make a message a special one, which the hot path leaves cold.
#[pyfunction]
pub(crate) fn special_properties() -> Vec<&'static str> {
    hotpath::SPECIAL_PROPERTIES.to_vec()
}

/// Give the ends of the ranges by which turns are counted, in milliseconds.
#[pyfunction]
pub(crate) fn turn_time_limits_ms() -> [u32; hotpath::TURN_TIME_LIMITS_MS.len()] {
    hotpath::TURN_TIME_LIMITS_MS
}

/// What distinguishes this process from others: its id, and when it made its hot path.
fn seed() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::from(std::process::id()) << 32 | u64::from(since.subsec_nanos())
}

/// Group, topic, queue; pulls with messages and without, messages, bytes; the next offset.
pub(crate) type PulledOfQueue = (String, String, i32, usize, usize, usize, usize, u64);

pub(crate) fn pulled_of_queue(it: hotpath::Pulled) -> PulledOfQueue {
    (
        it.group.to_string(),
        it.topic.to_string(),
        it.queue_id,
        it.pulls,
        it.missed,
        it.messages,
        it.bytes,
        it.next_offset,
    )
}

/// What one chunk came to.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct Received {
    #[pyo3(get)]
    replies: Py<PyBytes>,
    #[pyo3(get)]
    deferred: Py<PyBytes>,
    #[pyo3(get)]
    deferred_position: u64,
    deferred_deliveries: Vec<(u64, Delivery)>,
    proposal: Option<Proposal>,
    #[pyo3(get)]
    cold: Vec<Py<Command>>,
    #[pyo3(get)]
    set_aside: Option<Py<Command>>,
    arrivals: Vec<Arrival>,
    #[pyo3(get)]
    store_failure: Option<String>,
    #[pyo3(get)]
    pull_answers: Option<Py<PyBytes>>,
    #[pyo3(get)]
    left: usize,
    #[pyo3(get)]
    pulled: Vec<PulledOfQueue>,
    #[pyo3(get)]
    commits: Vec<(String, String, i32, i64)>,
    #[pyo3(get)]
    is_turn_due: bool,
    #[pyo3(get)]
    is_parked: bool,
    #[pyo3(get)]
    unchecked: Option<Py<ParkedPull>>,
}

#[pymethods]
impl Received {
    #[getter]
    fn has_appended(&self) -> bool {
        !self.arrivals.is_empty()
    }

    #[getter]
    fn deferred_deliveries(&self) -> Vec<(u64, i64, u16)> {
        let deliveries = self.deferred_deliveries.iter();
        deliveries
            .map(|(sq_id, it)| (*sq_id, it.pop_time_ms, it.tag))
            .collect()
    }

    #[getter]
    fn proposal(&self, py: Python<'_>) -> Option<Proposed> {
        self.proposal.as_ref().map(|it| proposed(py, it))
    }

    #[getter]
    fn arrivals(&self) -> Vec<(&str, i32, u64)> {
        let arrivals = self.arrivals.iter();
        arrivals
            .map(|it| (&*it.topic, it.queue_id, it.max_offset))
            .collect()
    }
}

impl Received {
    fn new(
        py: Python<'_>,
        received: hotpath::Received,
        pull_answers: Option<Py<PyBytes>>,
    ) -> PyResult<Self> {
        let cold = received.cold.into_iter();
        let cold: PyResult<_> = cold
            .map(|command| Py::new(py, Command::new(py, command)?))
            .collect();
        let set_aside = received.set_aside;
        let set_aside: PyResult<_> = set_aside
            .map(|command| Py::new(py, Command::new(py, command)?))
            .transpose();
        let unchecked = received.unchecked;
        let unchecked: PyResult<_> = unchecked
            .map(|pull| Py::new(py, ParkedPull::new(py, pull)?))
            .transpose();
        Ok(Self {
            replies: PyBytes::new(py, &received.replies).unbind(),
            deferred: PyBytes::new(py, &received.deferred).unbind(),
            deferred_position: received.deferred_position,
            deferred_deliveries: received.deferred_deliveries,
            proposal: received.proposal,
            cold: cold?,
            set_aside: set_aside?,
            arrivals: received.arrivals,
            store_failure: received.store_failure,
            pull_answers,
            left: received.left,
            pulled: received.pulled.into_iter().map(pulled_of_queue).collect(),
            commits: received
                .commits
                .into_iter()
                .map(|it| (it.group, it.topic, it.queue_id, it.offset))
                .collect(),
            is_turn_due: received.is_turn_due,
            is_parked: received.is_parked,
            unchecked: unchecked?,
        })
    }
}

/// One client connection.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct Connection {
    pub(crate) shared: Arc<SharedHotPath>,
    // A panic poisons this lock, so that a half-read stream is never read on.
    pub(crate) connection: Mutex<hotpath::Connection>,
}

#[pymethods]
impl Connection {
    #[new]
    fn new(hot: &HotPath, peer: (String, u16)) -> PyResult<Self> {
        let connection = hotpath::Connection::new(host(&peer)?, &hot.0.hot);
        Ok(Self {
            shared: Arc::clone(&hot.0),
            connection: Mutex::new(connection),
        })
    }

    #[pyo3(signature = (data, now_ms, *, start=0, size=None, pull_bytes_max=0, socket=None, elapsed_ms=0))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn receive(
        &self,
        py: Python<'_>,
        data: &[u8],
        now_ms: i64,
        start: usize,
        size: Option<usize>,
        pull_bytes_max: usize,
        socket: Option<RawFd>,
        elapsed_ms: i64,
    ) -> PyResult<Received> {
        let rest = data.get(start..).unwrap_or_default();
        let data = rest.get(..size.unwrap_or(usize::MAX)).unwrap_or(rest);
        let (received, outcome, rest) = self.shared.store.run(py, |store| {
            let mut received = hotpath::Received::default();
            let mut connection = self.locked()?;
            let hot = &self.shared.hot;
            let mut answers = PullAnswers::default();
            let taker = Taker {
                bytes_max: pull_bytes_max,
                answer_bytes_max: socket.map_or(SHORT_ANSWER_BYTES_MAX, |_| usize::MAX),
                answers: &mut answers,
                elapsed_ms,
            };
            let began_at = Instant::now();
            let outcome = connection.receive_pulls(hot, store, data, now_ms, &mut received, taker);
            let rest = handed_over(store, &answers, socket)?;
            hot.note_turn(&received, began_at.elapsed());
            Ok((received, outcome, rest))
        })?;
        let received = Received::new(py, received, rest)?;
        let Err(error) = outcome else {
            return Ok(received);
        };
        let exception = ProtocolError::new_err(error.to_string());
        exception
            .value(py)
            .setattr("replies", received.replies.bind(py))?;
        exception.value(py).setattr("received", received)?;
        Err(exception)
    }
    #[getter]
    fn id(&self) -> PyResult<u64> {
        let connection = self.connection.lock();
        connection
            .map(|it| it.id())
            .map_err(|_| PyRuntimeError::new_err(POISONED))
    }

    #[pyo3(signature = (command, grant, queue_id, offset, count_max, deadline_ms, *, wake_count, global_id=None, adds_delta=true))]
    #[expect(clippy::too_many_arguments, reason = "each is of another kind")]
    fn park(
        &self,
        py: Python<'_>,
        command: &Command,
        grant: &PullGrant,
        queue_id: i32,
        offset: u64,
        count_max: usize,
        deadline_ms: i64,
        wake_count: u64,
        global_id: Option<i32>,
        adds_delta: bool,
    ) -> PyResult<bool> {
        let header = command.header(py)?;
        let pull = WaitingPull {
            opaque: command.opaque,
            encoding: encoding_named(command.encoding)?,
            header: &header,
            queue_id,
            global_id,
            offset,
            count_max,
            deadline_ms,
            adds_delta,
            wake_count,
        };
        let connection = self.connection.lock();
        let connection = connection.map_err(|_| PyRuntimeError::new_err(POISONED))?;
        Ok(connection.park(&self.shared.hot, &grant.0, &pull))
    }

    #[pyo3(signature = (*, bytes_max, now_ms, elapsed_ms, socket=None))]
    fn answer_parked(
        &self,
        py: Python<'_>,
        bytes_max: usize,
        now_ms: i64,
        elapsed_ms: i64,
        socket: Option<RawFd>,
    ) -> PyResult<Received> {
        let how = Answering {
            bytes_max,
            elapsed_ms,
            socket,
        };
        let (received, ()) = self.answer(py, how, |connection, hot, store, received, taker| {
            connection.answer_parked(hot, store, received, taker, now_ms);
        })?;
        Ok(received)
    }

    #[pyo3(signature = (command, grant, *, now_ms, elapsed_ms, may_wait, socket=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn pop(
        &self,
        py: Python<'_>,
        command: &Command,
        grant: &PullGrant,
        now_ms: i64,
        elapsed_ms: i64,
        may_wait: bool,
        socket: Option<RawFd>,
    ) -> PyResult<(bool, Received)> {
        let header = command.header(py)?;
        let encoding = encoding_named(command.encoding)?;
        let (opaque, granted) = (command.opaque, Arc::clone(&grant.0));
        let how = Answering {
            bytes_max: usize::MAX,
            elapsed_ms,
            socket,
        };
        let (received, is_taken) =
            self.answer(py, how, |connection, hot, store, received, taker| {
                let request = (opaque, encoding, &*header);
                let clock = (now_ms, may_wait);
                connection.pop(hot, store, request, &granted, received, taker, clock)
            })?;
        Ok((is_taken, received))
    }

    #[pyo3(signature = (pull, grant, *, now_ms, elapsed_ms, socket=None))]
    fn resume(
        &self,
        py: Python<'_>,
        pull: &ParkedPull,
        grant: &PullGrant,
        now_ms: i64,
        elapsed_ms: i64,
        socket: Option<RawFd>,
    ) -> PyResult<Received> {
        let granted = Arc::clone(&grant.0);
        let Some(pull) = pull.take() else {
            return Err(PyValueError::new_err("the pull was resumed before"));
        };
        let how = Answering {
            bytes_max: usize::MAX,
            elapsed_ms,
            socket,
        };
        let (received, ()) = self.answer(py, how, |connection, hot, store, received, taker| {
            connection.resume(hot, store, pull, granted, received, taker, now_ms);
        })?;
        Ok(received)
    }
}

const POISONED: &str = "the connection refuses work after a panic";

/// How answers of pulls leave.
#[derive(Clone, Copy)]
struct Answering {
    bytes_max: usize,
    elapsed_ms: i64,
    socket: Option<RawFd>,
}

impl Connection {
    fn locked(&self) -> Result<MutexGuard<'_, hotpath::Connection>, Failure> {
        let connection = self.connection.lock();
        connection.map_err(|_| Failure::poisoned(POISONED))
    }

    /// Run work that answers pulls, and write the answers.
    fn answer<T: Send>(
        &self,
        py: Python<'_>,
        how: Answering,
        work: impl for<'s> FnOnce(
            &mut hotpath::Connection,
            &hotpath::HotPath,
            &'s commitlog::Store,
            &mut hotpath::Received,
            Taker<'_, 's>,
        ) -> T
        + Send,
    ) -> PyResult<(Received, T)> {
        let (received, rest, done) = self.shared.store.run(py, |store| {
            let mut received = hotpath::Received::default();
            let mut connection = self.locked()?;
            let hot = &self.shared.hot;
            let mut answers = PullAnswers::default();
            let taker = Taker {
                bytes_max: how.bytes_max,
                answer_bytes_max: usize::MAX,
                answers: &mut answers,
                elapsed_ms: how.elapsed_ms,
            };
            let began_at = Instant::now();
            let done = work(&mut connection, hot, store, &mut received, taker);
            let rest = handed_over(store, &answers, how.socket)?;
            hot.note_turn(&received, began_at.elapsed());
            Ok((received, rest, done))
        })?;
        Ok((Received::new(py, received, rest)?, done))
    }
}

/// Has the socket take answers, and copies what it does not take.
fn handed_over(
    store: &commitlog::Store,
    answers: &PullAnswers<'_>,
    socket: Option<RawFd>,
) -> Result<Option<Py<PyBytes>>, Failure> {
    if answers.size() == 0 {
        return Ok(None);
    }
    // What a lost part of a file holds is an error for the system, and zeros once one of us looked.
    store.check_maps()?;
    let sent = socket.map_or(0, |socket| answers.write_to(socket));
    let left = answers.size() - sent;
    let rest = (left > 0)
        .then(|| Python::attach(|py| copied(py, left, || answers.rest(sent))))
        .transpose();
    store.check_maps()?;
    rest.map_err(|error| Failure::Value(error.to_string()))
}
