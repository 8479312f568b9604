//! Exceptions, and the border that no panic crosses.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::create_exception;
use pyo3::exceptions::{PyConnectionError, PyException, PyValueError};
use pyo3::prelude::*;
use regent_commitlog as commitlog;
use regent_remoting::{EncodeError, FrameError};

create_exception!(
    regent_engine,
    ProtocolError,
    PyException,
    "The peer sent what no reader can make sense of; the connection must be closed."
);
create_exception!(
    regent_engine,
    StoreError,
    PyException,
    "The store refused or failed; `code` names why in a stable form."
);

/// The `code` of work refused because earlier work panicked.
const CODE_POISONED: &str = "poisoned";

/// An error on its way to Python.
#[derive(Debug)]
pub(crate) enum Failure {
    Protocol(String),
    Connection(String),
    Store {
        code: &'static str,
        message: String,
        /// The log position of the damage.
        position: Option<u64>,
    },
    Value(String),
}

impl Failure {
    /// Work refused because of an earlier panic.
    pub(crate) fn poisoned(message: &str) -> Self {
        Self::Store {
            code: CODE_POISONED,
            message: message.to_owned(),
            position: None,
        }
    }
}

impl From<FrameError> for Failure {
    fn from(error: FrameError) -> Self {
        Self::Protocol(error.to_string())
    }
}

impl From<EncodeError> for Failure {
    fn from(error: EncodeError) -> Self {
        Self::Value(error.to_string())
    }
}

impl From<commitlog::StoreError> for Failure {
    fn from(error: commitlog::StoreError) -> Self {
        Self::Store {
            code: error.code(),
            message: error.to_string(),
            position: damaged_at(&error),
        }
    }
}

impl From<commitlog::AppendError> for Failure {
    fn from(error: commitlog::AppendError) -> Self {
        let position = match &error {
            commitlog::AppendError::Store(error) => damaged_at(error),
            _ => None,
        };
        Self::Store {
            code: error.code(),
            message: error.to_string(),
            position,
        }
    }
}

fn damaged_at(error: &commitlog::StoreError) -> Option<u64> {
    match error {
        commitlog::StoreError::Corrupt { position, .. } => Some(*position),
        _ => None,
    }
}

/// Make the exception that stands for a failure.
pub(crate) fn into_python(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Protocol(message) => ProtocolError::new_err(message),
        Failure::Connection(message) => PyConnectionError::new_err(message),
        Failure::Value(message) => PyValueError::new_err(message),
        Failure::Store {
            code,
            message,
            position,
        } => {
            let error = StoreError::new_err(message);
            let value = error.value(py);
            let named = value.setattr("code", code);
            match named.and_then(|()| value.setattr("position", position)) {
                Ok(()) => error,
                Err(failed) => failed,
            }
        }
    }
}

/// Run `work`; after a panic in it run `on_panic` and fail.
pub(crate) fn caught<T>(
    work: impl FnOnce() -> Result<T, Failure>,
    on_panic: impl FnOnce(),
) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        on_panic();
        Err(Failure::poisoned(&panic_text(panic.as_ref())))
    })
}

/// Run `work` that leaves nothing behind, with the interpreter lock free.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    py.detach(|| caught(work, || ()))
        .map_err(|failure| into_python(py, failure))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the engine panicked: {}", text.unwrap_or("no message"))
}
