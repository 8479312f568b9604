//! Reading records out of a log, for tools.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use regent_commitlog::StoreConfig;
use regent_commitlog::inspect::{LogWalk, Step, walk_log};

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

/// Reads the log of a store, the oldest record first.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct LogReader(Mutex<Reading>);

struct Reading {
    walk: LogWalk,
    /// Up to where the log is known to have been flushed.
    flushed_position: u64,
}

#[pymethods]
impl LogReader {
    #[new]
    #[pyo3(signature = (path, *, commit_log_path=None, position=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        commit_log_path: Option<PathBuf>,
        position: Option<u64>,
    ) -> PyResult<Self> {
        let mut config = StoreConfig::new(path);
        config.commit_log_dir = commit_log_path;
        let reading = detached(py, || {
            let (mut walk, flushed_position) = walk_log(&config)?;
            if let Some(position) = position {
                walk.seek(position)?;
            }
            Ok(Reading {
                walk,
                flushed_position,
            })
        })?;
        Ok(Self(Mutex::new(reading)))
    }

    fn read(&self, py: Python<'_>, count: usize) -> PyResult<(Vec<Record>, Vec<LogRemark>)> {
        let (bytes, remarks) = detached(py, || match self.0.lock() {
            Ok(mut reading) => collect(&mut reading, count),
            Err(_) => Err(Failure::poisoned("the reader refuses work after a panic")),
        })?;
        Ok((decode_records(py, &bytes)?, remarks))
    }
}

/// The bytes of records, and what is to be said beside them.
type Collected = (Vec<u8>, Vec<LogRemark>);

fn collect(reading: &mut Reading, count: usize) -> Result<Collected, Failure> {
    let flushed = reading.flushed_position;
    let (mut records, mut remarks) = (Vec::new(), Vec::new());
    let mut read_count = 0;
    while read_count < count {
        let (position, next_position, text) = match reading.walk.step()? {
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
            Some(Step::End { position, .. }) if position < flushed => {
                let text = "they were flushed once, and are lost";
                (position, flushed, text.into())
            }
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
