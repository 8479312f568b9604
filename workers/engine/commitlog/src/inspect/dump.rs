//! Reading out records and index entries, for tools.

use std::path::Path;

use super::control::Control;
use super::index_file::IndexedFile;
use super::walk::LogWalk;
use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::index::list_stamps;
use crate::index_layout::{FIRST_NUMBER, Header};

/// Stands before the oldest record of a store's log; returns also up to where the log is known to have
/// been flushed: it has lost its end where the walk ends earlier.
///
/// # Errors
/// A setting is out of range, or the directory cannot be read.
pub fn walk_log(config: &StoreConfig) -> Result<(LogWalk, u64), StoreError> {
    let config = &config.clone().validated()?;
    // Before the log, which a store in use flushes meanwhile.
    let control = Control::load(&config.root)?;
    let walk = control.walk(config)?;
    Ok((walk, control.known_flushed_position()))
}

/// One entry of the key index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedKey {
    /// Name of its file.
    pub file: String,
    /// Number in that file.
    pub number: u32,
    /// The key's hash.
    pub hash: i32,
    /// Log position of the record.
    pub log_position: u64,
    /// Store time, to a second.
    pub store_timestamp_ms: i64,
    /// Number of the entry before it in its chain, 0 for none.
    pub previous: i32,
}

/// Reads entries of records at `min_position` or behind it, the oldest first, at most `count_max`.
///
/// # Errors
/// A setting is out of range, or a file cannot be read or is not an index file of the configured shape.
pub fn read_index(
    config: &StoreConfig,
    min_position: u64,
    count_max: usize,
) -> Result<Vec<IndexedKey>, StoreError> {
    let config = &config.clone().validated()?;
    let dir = config.root.join("index");
    let mut keys = Vec::new();
    let mut previous: Option<Header> = None;
    let stamps = list_stamps(&dir)?;
    for (at, stamp) in (1..).zip(&stamps) {
        let is_newest = at == stamps.len();
        let mut file = match open(config, &dir, *stamp, previous.as_ref(), is_newest) {
            // It has expired since it was listed.
            Err(error) if error.is_gone() => continue,
            opened => opened?,
        };
        let header = file.header;
        // The first entry counts from the end of the file before.
        let first_base_ms =
            previous.map_or(header.begin_timestamp_ms, |file| file.end_timestamp_ms);
        previous = Some(header);
        if header.end_position < min_position {
            continue;
        }
        for number in FIRST_NUMBER..header.next_number {
            if keys.len() >= count_max {
                return Ok(keys);
            }
            let Some(entry) = file.entry(number)? else {
                continue;
            };
            if entry.log_position < min_position {
                continue;
            }
            let is_first = number == FIRST_NUMBER;
            let base_ms = if is_first {
                first_base_ms
            } else {
                header.begin_timestamp_ms
            };
            keys.push(IndexedKey {
                file: format!("{stamp:017}"),
                number,
                hash: entry.key_hash,
                log_position: entry.log_position,
                store_timestamp_ms: base_ms.saturating_add(i64::from(entry.elapsed_s) * 1000),
                previous: entry.previous,
            });
        }
    }
    Ok(keys)
}

fn open(
    config: &StoreConfig,
    dir: &Path,
    stamp: u64,
    previous: Option<&Header>,
    is_newest: bool,
) -> Result<IndexedFile, StoreError> {
    let opened = IndexedFile::open(dir, stamp, config.index_shape(), previous, is_newest)?;
    opened.map_err(|((path, _), reason)| StoreError::DamagedFile { path, reason })
}
