//! Reading records out of a log, for tools.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use regent_commitlog::inspect::{LogWalk, Step};

use crate::error::{Failure, detached};
use crate::message::{Record, decode_records};

/// What is to be said of a place in a log beside its records.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct LogRemark {
    position: u64,
    next_position: u64,
    is_gap: bool,
    text: String,
}

/// Reads a commit log directory, the oldest record first.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct LogReader(Mutex<LogWalk>);

#[pymethods]
impl LogReader {
    #[new]
    #[pyo3(signature = (path, *, abort_path=None, position=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        abort_path: Option<PathBuf>,
        position: Option<u64>,
    ) -> PyResult<Self> {
        let walk = detached(py, || {
            let mut walk = LogWalk::new(&path)?;
            if let Some(abort_path) = abort_path {
                walk = walk.limited_by(abort_path);
            }
            if let Some(position) = position {
                walk.seek(position)?;
            }
            Ok(walk)
        })?;
        Ok(Self(Mutex::new(walk)))
    }

    fn read(&self, py: Python<'_>, count: usize) -> PyResult<(Vec<Record>, Vec<LogRemark>)> {
        let (bytes, remarks) = detached(py, || match self.0.lock() {
            Ok(mut walk) => collect(&mut walk, count),
            Err(_) => Err(Failure::poisoned("the reader refuses work after a panic")),
        })?;
        Ok((decode_records(py, &bytes)?, remarks))
    }
}

/// The bytes of records, and what is to be said beside them.
type Collected = (Vec<u8>, Vec<LogRemark>);

fn collect(walk: &mut LogWalk, count: usize) -> Result<Collected, Failure> {
    let (mut records, mut remarks) = (Vec::new(), Vec::new());
    let mut read_count = 0;
    while read_count < count {
        let (position, next_position, text) = match walk.step()? {
            Some(Step::Record(record)) => {
                read_count += 1;
                records.extend_from_slice(record.bytes);
                continue;
            }
            Some(Step::WrongCrc(record)) => {
                read_count += 1;
                records.extend_from_slice(record.bytes);
                remarks.push(LogRemark {
                    position: record.log_position,
                    next_position: record.log_position + record.bytes.len() as u64,
                    is_gap: false,
                    text: "the record's own checksum does not fit".into(),
                });
                continue;
            }
            Some(Step::Damaged {
                position,
                damage,
                next,
            }) => (position, next, damage.to_string()),
            Some(Step::Missing { position, next }) => {
                (position, next, "the segments are missing".into())
            }
            Some(Step::Expired { .. }) => continue,
            Some(Step::End { .. }) | None => break,
        };
        remarks.push(LogRemark {
            position,
            next_position,
            is_gap: true,
            text,
        });
    }
    Ok((records, remarks))
}
