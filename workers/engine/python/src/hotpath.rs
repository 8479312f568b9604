//! The hot path.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use regent_hotpath as hotpath;
use regent_hotpath::{HotPathConfig, Topic};
use regent_remoting::limits;

use crate::command::Command;
use crate::error::{Failure, ProtocolError};
use crate::message::host;
use crate::shared_store::SharedStore;
use crate::store::Store;

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
        region="DefaultRegion".to_owned(), frame_size_max=limits::FRAME_SIZE_MAX_DEFAULT))]
    fn new(
        store: &Store,
        broker_name: String,
        cluster_name: String,
        store_host: (String, u16),
        region: String,
        frame_size_max: usize,
    ) -> PyResult<Self> {
        let store_host: SocketAddr = host(&store_host)?;
        let config = HotPathConfig {
            broker_name,
            cluster_name,
            region,
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

    fn set_deferring(&self, deferring: bool) {
        self.0.hot.set_deferring(deferring);
    }
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
    arrivals: Vec<(String, i32, u64)>,
    store_failure: Option<String>,
}

impl Received {
    fn new(py: Python<'_>, received: hotpath::Received) -> PyResult<Self> {
        let cold = received.cold.into_iter();
        let cold: PyResult<_> = cold
            .map(|command| Py::new(py, Command::new(py, command)?))
            .collect();
        let arrivals = received.arrivals.into_iter();
        Ok(Self {
            replies: PyBytes::new(py, &received.replies).unbind(),
            deferred: PyBytes::new(py, &received.deferred).unbind(),
            deferred_position: received.deferred_position,
            cold: cold?,
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

    #[pyo3(signature = (data, now_ms, *, start=0, size=None))]
    fn receive(
        &self,
        py: Python<'_>,
        data: &[u8],
        now_ms: i64,
        start: usize,
        size: Option<usize>,
    ) -> PyResult<Received> {
        let rest = data.get(start..).unwrap_or_default();
        let data = rest.get(..size.unwrap_or(usize::MAX)).unwrap_or(rest);
        let (received, outcome) = self.shared.store.run(py, |store| {
            let mut received = hotpath::Received::default();
            let mut connection = self
                .connection
                .lock()
                .map_err(|_| Failure::poisoned("the connection refuses work after a panic"))?;
            let hot = &self.shared.hot;
            let outcome = connection.receive(hot, store, data, now_ms, &mut received);
            Ok((received, outcome))
        })?;
        let received = Received::new(py, received)?;
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
