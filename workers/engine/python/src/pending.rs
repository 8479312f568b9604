//! The pending transactions.

use std::sync::Arc;

use pyo3::prelude::*;
use regent_hotpath as hotpath;

/// An iteration holds so many half messages at once.
const PAGE_COUNT: usize = 64;

/// The newest record of a half message, and when its producer may be asked.
#[pyclass(frozen, eq, module = "regent_engine")]
#[derive(PartialEq, Eq)]
pub(crate) struct Pending(hotpath::Pending);

#[pymethods]
impl Pending {
    #[new]
    fn new(offset: u64, log_position: u64, due_ms: i64, transaction_id: &str) -> Self {
        Self(hotpath::Pending {
            offset,
            log_position,
            due_ms,
            transaction_id: Arc::from(transaction_id),
        })
    }

    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset
    }

    #[getter]
    fn log_position(&self) -> u64 {
        self.0.log_position
    }

    #[getter]
    fn due_ms(&self) -> i64 {
        self.0.due_ms
    }

    #[getter]
    fn transaction_id(&self) -> &str {
        &self.0.transaction_id
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// The pending half messages by the queue offset of their first record.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct PendingTransactions(pub(crate) Arc<hotpath::PendingTransactions>);

#[pymethods]
impl PendingTransactions {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __iter__(&self) -> PendingIterator {
        PendingIterator {
            table: Arc::clone(&self.0),
            next: 0,
            end: self.0.end(),
            page: Vec::new().into_iter(),
        }
    }

    fn find(&self, first_offset: u64) -> Option<Pending> {
        self.0.find(first_offset).map(Pending)
    }

    fn put(&self, first_offset: u64, pending: &Pending) {
        self.0.put(first_offset, pending.0.clone());
    }

    fn decide(&self, first_offset: u64) {
        self.0.decide(first_offset);
    }

    fn note_operation(&self, operation_offset: u64, half_offset: u64) {
        self.0.note_operation(operation_offset, half_offset);
    }

    fn progress(&self, half_end: u64, operation_end: u64) -> (u64, u64) {
        self.0.progress(half_end, operation_end)
    }

    fn load(&self, pending: Vec<(u64, Py<Pending>)>, operations: Vec<(u64, u64)>) {
        let pending = pending.iter();
        let pending = pending.map(|(first_offset, it)| (*first_offset, it.get().0.clone()));
        self.0.load(pending.collect(), operations);
    }

    fn clear(&self) {
        self.0.clear();
    }

    #[getter]
    fn is_known(&self) -> bool {
        self.0.is_known()
    }
}

/// Iterates over what was pending when it began, page by page.
#[pyclass(module = "regent_engine")]
struct PendingIterator {
    table: Arc<hotpath::PendingTransactions>,
    next: u64,
    end: u64,
    page: std::vec::IntoIter<(u64, hotpath::Pending)>,
}

#[pymethods]
impl PendingIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self) -> Option<(u64, Pending)> {
        if self.page.as_slice().is_empty() {
            let page = self.table.page(self.next, self.end, PAGE_COUNT);
            self.page = page.into_iter();
        }
        let (first_offset, pending) = self.page.next()?;
        self.next = pending.offset + 1;
        Some((first_offset, Pending(pending)))
    }
}
