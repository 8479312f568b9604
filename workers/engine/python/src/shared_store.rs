//! The store behind the face, shared by everything that uses it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use pyo3::prelude::*;
use regent_commitlog as commitlog;
use regent_io::Unusable;

use crate::error::{Failure, caught, into_python};
use crate::replication::Replicas;

/// A store until it is closed, and whether work in it has panicked.
pub(crate) struct SharedStore {
    store: RwLock<Option<commitlog::Store>>,
    poisoned: AtomicBool,
    /// The address in records and ids when an append names no other.
    pub(crate) host: SocketAddr,
    pub(crate) replicas: Replicas,
}

impl SharedStore {
    pub(crate) fn new(store: commitlog::Store, host: SocketAddr) -> Self {
        Self {
            store: RwLock::new(Some(store)),
            poisoned: AtomicBool::new(false),
            host,
            replicas: Replicas::default(),
        }
    }

    /// Run `work` with the interpreter lock free. A panic in it poisons the store.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&commitlog::Store) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        py.detach(|| self.run_detached(work))
            .map_err(|failure| into_python(py, failure))
    }

    /// [`Self::run`] for a thread that does not have the interpreter lock.
    pub(crate) fn run_detached<T>(
        &self,
        work: impl FnOnce(&commitlog::Store) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.guarded_detached(|| match self.store.read().as_ref() {
            Some(store) => work(store),
            None => Err(commitlog::StoreError::Closed.into()),
        })
    }

    /// Run `work` on a native thread, whose panics end the process and are not caught.
    pub(crate) fn run_native<T>(
        &self,
        work: impl FnOnce(&commitlog::Store) -> T,
    ) -> Result<T, Unusable> {
        if self.poisoned.load(Ordering::Acquire) {
            return Err(Unusable("the store refuses work after a panic".to_owned()));
        }
        match self.store.read().as_ref() {
            Some(store) => Ok(work(store)),
            None => Err(Unusable(commitlog::StoreError::Closed.to_string())),
        }
    }

    /// Take a search by key to its end, or until a further record would exceed `size_max` bytes.
    /// The calling thread must not have the interpreter lock.
    ///
    /// The store is free between two turns: work that needs it alone waits for one turn only.
    pub(crate) fn search_detached(
        &self,
        mut search: commitlog::KeySearch<'_>,
        size_max: usize,
        limit_ms: u64,
    ) -> Result<Vec<(u64, Vec<u8>)>, Failure> {
        let (limit, started) = (Duration::from_millis(limit_ms), Instant::now());
        let (mut found, mut size) = (Vec::new(), 0);
        loop {
            let record = self.run_detached(|store| {
                let Some(position) = store.advance(&mut search) else {
                    return Ok(None);
                };
                let record = store.read_record(position)?;
                store.check_maps()?;
                Ok(record.map(|record| (position, record)))
            })?;
            if let Some((position, record)) = record {
                size += record.len();
                if size > size_max && !found.is_empty() {
                    return Ok(found);
                }
                found.push((position, record));
            }
            if search.is_over() {
                let bytes = search.left_out_bytes();
                if found.is_empty() && bytes > 0 {
                    return Err(commitlog::StoreError::IndexBehind { bytes }.into());
                }
                return Ok(found);
            }
            if started.elapsed() >= limit {
                let bytes_left = search.tail_bytes_left();
                let too_long = if bytes_left > 0 {
                    commitlog::StoreError::TailTooLong {
                        bytes_left,
                        limit_ms,
                    }
                } else {
                    commitlog::StoreError::SearchTooLong {
                        followed_count: search.followed_count(),
                        limit_ms,
                    }
                };
                return Err(too_long.into());
            }
        }
    }

    /// Run `work` that copies bytes of the store's files: they do not count when a part of the
    /// files could not be had meanwhile.
    pub(crate) fn read<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&commitlog::Store) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        self.run(py, |store| {
            let bytes = work(store)?;
            store.check_maps()?;
            Ok(bytes)
        })
    }

    /// Run `work` alone in the store, once all other work in it is done.
    pub(crate) fn run_alone<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut commitlog::Store) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        self.guarded(py, || match self.store.write().as_mut() {
            Some(store) => work(store),
            None => Err(commitlog::StoreError::Closed.into()),
        })
    }

    /// Close the store and release its directory, once the work in it is done.
    ///
    /// The directory is released after a failure too: the next opening recovers what it holds.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            let mut held = self.store.write();
            let closed = self.guarded_detached(|| match held.as_ref() {
                Some(open) => Ok(open.close()?),
                None => Ok(()),
            });
            *held = None;
            closed
        })
        .map_err(|failure| into_python(py, failure))
    }

    fn guarded<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        py.detach(|| self.guarded_detached(work))
            .map_err(|failure| into_python(py, failure))
    }

    fn guarded_detached<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        if self.poisoned.load(Ordering::Acquire) {
            return Err(Failure::poisoned("the store refuses work after a panic"));
        }
        caught(work, || self.poisoned.store(true, Ordering::Release))
    }
}
