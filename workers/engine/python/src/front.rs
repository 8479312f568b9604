//! Segments of a log that are read and put before another one as a whole.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use regent_commitlog as commitlog;

use crate::error::detached;
use crate::shared_store::SharedStore;
use crate::store::Store;

/// A segment on its way to the front of a log.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct FrontSegment {
    segment: commitlog::FrontSegment,
    store: Arc<SharedStore>,
}

#[pymethods]
impl FrontSegment {
    fn write(&self, py: Python<'_>, at: u64, data: &[u8]) -> PyResult<()> {
        detached(py, || Ok(self.segment.write(at, data)?))
    }

    fn insert(&self, py: Python<'_>) -> PyResult<()> {
        self.store
            .run(py, |store| Ok(store.insert_front(&self.segment)?))
    }
}

#[pymethods]
impl Store {
    fn begin_front(&self, py: Python<'_>, base: u64) -> PyResult<FrontSegment> {
        let segment = self.0.run(py, |store| Ok(store.begin_front(base)?))?;
        Ok(FrontSegment {
            segment,
            store: Arc::clone(&self.0),
        })
    }

    fn log_bytes<'py>(
        &self,
        py: Python<'py>,
        position: u64,
        size: usize,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let bytes = self.0.read(py, |store| {
            let slice = store.log_slice(position, size as u64);
            let whole = slice.filter(|slice| slice.bytes().len() == size);
            Ok(whole.map(|slice| slice.bytes().to_vec()))
        })?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }
}
