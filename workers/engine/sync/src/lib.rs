//! Locks, atomics and threads of the engine.
//!
//! They are those of `parking_lot` and the standard library. With the feature `schedules` they are those of
//! shuttle: all threads of a test then take turns on one, and a seed chooses whose turn it is at each
//! lock, atomic and wait. Only work inside `explore` runs with the feature.

#![forbid(unsafe_code)]

#[cfg(feature = "schedules")]
mod explore;
#[cfg(feature = "schedules")]
mod scheduled;

#[cfg(feature = "schedules")]
pub use explore::explore;
#[cfg(feature = "schedules")]
pub use scheduled::{Condvar, Mutex, MutexGuard, RwLock};
#[cfg(feature = "schedules")]
pub use shuttle::{
    sync::{atomic, mpsc},
    thread, thread_local,
};

#[cfg(not(feature = "schedules"))]
pub use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
#[cfg(not(feature = "schedules"))]
pub use std::{
    sync::{atomic, mpsc},
    thread, thread_local,
};

/// Whether a test chooses whose turn it is. No thread may wait in the system then: the thread that
/// it waits for would get no turn.
pub const IS_SCHEDULED: bool = cfg!(feature = "schedules");
