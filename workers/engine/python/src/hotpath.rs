//! The hot path.

use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use regent_commitlog as commitlog;
use regent_hotpath as hotpath;
use regent_hotpath::{
    DecodedSend, Grant, HotPathConfig, PullAnswers, PullFilter, PullKind, Taker, Topic,
    append_send, make_queue_file,
};
use regent_remoting::limits;

use crate::command::{Command, encoding_named, text_pairs};
use crate::error::{Failure, ProtocolError};
use crate::filter::{PropertyFilter, chosen};
use crate::message::host;
use crate::shared_store::SharedStore;
use crate::store::Store;
use crate::store_reads::copied;

/// Longer answers that cannot go to the socket are for the dispatcher, which writes each before it
/// makes the next. Some of them at once are more than the allocator keeps when they are freed: at
/// 256 KiB each of them met 56 page faults, which cost more than the dispatcher does.
const SHORT_ANSWER_BYTES_MAX: usize = 64 << 10;

struct SharedHotPath {
    hot: hotpath::HotPath,
    store: Arc<SharedStore>,
}

/// What one broker's connections share.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct HotPath(Arc<SharedHotPath>);

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

    #[pyo3(signature = (name, *, perm, read_queue_count, write_queue_count))]
    fn set_topic(
        &self,
        py: Python<'_>,
        name: &str,
        perm: u32,
        read_queue_count: u32,
        write_queue_count: u32,
    ) {
        let topic = Topic {
            perm,
            read_queue_count,
            write_queue_count,
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

    #[pyo3(signature = (group, topic, *, read_queue_count, tag_hashes, count_max, bytes_max,
        suggested_broker_id, facts_version, property_filter=None, version=None, expression=None,
        expression_type=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn grant_pulls(
        &self,
        group: &str,
        topic: &str,
        read_queue_count: i32,
        tag_hashes: Option<Vec<i32>>,
        count_max: usize,
        bytes_max: usize,
        suggested_broker_id: i64,
        facts_version: u64,
        property_filter: Option<PyRef<'_, PropertyFilter>>,
        version: Option<i64>,
        expression: Option<&str>,
        expression_type: Option<&str>,
    ) {
        let filter = match version {
            Some(version) => PullFilter::Registered { version },
            None => PullFilter::Carried {
                expression: expression.unwrap_or_default(),
                expression_type: expression_type.unwrap_or_default(),
            },
        };
        let kind = PullKind {
            group,
            topic,
            filter,
        };
        let grant = Grant {
            read_queue_count,
            filter: chosen(tag_hashes, property_filter),
            count_max,
            bytes_max,
            suggested_broker_id,
            facts_version,
        };
        self.0.hot.grant_pulls(&kind, grant);
    }

    #[getter]
    fn facts_version(&self) -> u64 {
        self.0.hot.facts_version()
    }

    fn facts_changed(&self) {
        self.0.hot.facts_changed();
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

/// Tell this process from others: its id, and when it made its hot path.
fn seed() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::from(std::process::id()) << 32 | u64::from(since.subsec_nanos())
}

/// What one chunk came to.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Received {
    replies: Py<PyBytes>,
    deferred: Py<PyBytes>,
    deferred_position: u64,
    cold: Vec<Py<Command>>,
    set_aside: Option<Py<Command>>,
    arrivals: Vec<(String, i32, u64)>,
    store_failure: Option<String>,
    pull_answers: Option<Py<PyBytes>>,
    left: usize,
    pulled: Vec<(String, String, i32, usize, usize, usize, u64)>,
    commits: Vec<(String, String, i32, i64)>,
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
        let arrivals = received.arrivals.into_iter();
        Ok(Self {
            replies: PyBytes::new(py, &received.replies).unbind(),
            deferred: PyBytes::new(py, &received.deferred).unbind(),
            deferred_position: received.deferred_position,
            cold: cold?,
            set_aside: set_aside?,
            arrivals: arrivals
                .map(|arrival| {
                    (
                        arrival.topic.to_string(),
                        arrival.queue_id,
                        arrival.max_offset,
                    )
                })
                .collect(),
            store_failure: received.store_failure,
            pull_answers,
            left: received.left,
            pulled: received
                .pulled
                .into_iter()
                .map(|it| {
                    (
                        it.group,
                        it.topic,
                        it.queue_id,
                        it.pulls,
                        it.messages,
                        it.bytes,
                        it.next_offset,
                    )
                })
                .collect(),
            commits: received
                .commits
                .into_iter()
                .map(|it| (it.group, it.topic, it.queue_id, it.offset))
                .collect(),
        })
    }
}

/// One client connection.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct Connection {
    shared: Arc<SharedHotPath>,
    // A panic poisons this lock, so that a half-read stream is never read on.
    connection: Mutex<hotpath::Connection>,
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

    #[pyo3(signature = (data, now_ms, *, start=0, size=None, pull_bytes_max=0, socket=None))]
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
    ) -> PyResult<Received> {
        let rest = data.get(start..).unwrap_or_default();
        let data = rest.get(..size.unwrap_or(usize::MAX)).unwrap_or(rest);
        let (received, outcome, rest) = self.shared.store.run(py, |store| {
            let mut received = hotpath::Received::default();
            let mut connection = self
                .connection
                .lock()
                .map_err(|_| Failure::poisoned("the connection refuses work after a panic"))?;
            let hot = &self.shared.hot;
            let mut answers = PullAnswers::default();
            let taker = Taker {
                bytes_max: pull_bytes_max,
                answer_bytes_max: socket.map_or(SHORT_ANSWER_BYTES_MAX, |_| usize::MAX),
                answers: &mut answers,
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
