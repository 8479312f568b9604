//! From a lane of the state log to the state that its records make.

use regent_commitlog::{RecordView, Store, StoreError, java_hash};
use regent_share::{Body, Decoded, Lane, Record, Records};

use super::LANE;

const ENTRY_COUNT: usize = 512;

/// A lane that was read.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    pub(crate) lane: Lane,
    /// The log position behind the last record.
    pub(crate) end: u64,
    pub(crate) snapshot_position: Option<u64>,
    pub(crate) bytes_since_snapshot: u64,
}

/// Read a lane from its last complete snapshot on, whether or not readers see the records.
pub(crate) fn replay(store: &Store, topic: &str, version_max: u16) -> Result<Replayed, StoreError> {
    let (_, end) = store.held_offsets(topic, LANE).unwrap_or_default();
    replay_until(store, topic, end, version_max)
}

/// As [`replay`], up to a message of the lane.
pub(crate) fn replay_until(
    store: &Store,
    topic: &str,
    end: u64,
    version_max: u16,
) -> Result<Replayed, StoreError> {
    let (low, _) = store.held_offsets(topic, LANE).unwrap_or_default();
    let reader = Reader {
        store,
        topic,
        version_max,
    };
    let snapshot = reader.last_snapshot(low, end)?;
    let mut replayed = Replayed {
        lane: Lane::default(),
        end: 0,
        snapshot_position: snapshot.map(|(_, position)| position),
        bytes_since_snapshot: 0,
    };
    let start = snapshot.map_or(low, |(offset, _)| offset);
    let mut offset = start;
    while offset < end {
        let count = ENTRY_COUNT.min(usize::try_from(end - offset).unwrap_or(ENTRY_COUNT));
        let entries = store.held_entries(topic, LANE, offset, count);
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            offset += 1;
            replayed.end = entry.log_position + u64::from(entry.size);
            replayed.bytes_since_snapshot += u64::from(entry.size);
            for record in reader.records(entry.log_position)? {
                // What its writer did not judge so was cut off with the writer's log.
                let _ = replayed.lane.apply(&record);
            }
        }
    }
    Ok(replayed)
}

/// Some messages of a lane from one on: the log position behind each, and its records.
pub(crate) fn read_from(
    store: &Store,
    topic: &str,
    (offset, count): (u64, usize),
    version_max: u16,
) -> Result<Vec<(u64, Vec<Record>)>, StoreError> {
    let reader = Reader {
        store,
        topic,
        version_max,
    };
    let entries = store.held_entries(topic, LANE, offset, count).into_iter();
    entries
        .map(|entry| {
            let end = entry.log_position + u64::from(entry.size);
            Ok((end, reader.records(entry.log_position)?))
        })
        .collect()
}

struct Reader<'a> {
    store: &'a Store,
    topic: &'a str,
    version_max: u16,
}

impl Reader<'_> {
    /// The records of a message; none if it has expired meanwhile.
    fn records(&self, position: u64) -> Result<Vec<Record>, StoreError> {
        let Some(content) = self.store.held_record(position)? else {
            return Ok(Vec::new());
        };
        let damaged = |reason: String| StoreError::Corrupt { position, reason };
        let message = RecordView::parse(&content).map_err(|damage| damaged(damage.to_string()))?;
        let mut records = Vec::new();
        for read in Records::up_to(self.version_max, message.body) {
            match read.map_err(|error| damaged(error.to_string()))? {
                Decoded::Known(record) => records.push(record),
                Decoded::Unknown { .. } => {}
            }
        }
        Ok(records)
    }

    /// Queue offset and log position of the first message of the last complete snapshot.
    fn last_snapshot(&self, low: u64, end: u64) -> Result<Option<(u64, u64)>, StoreError> {
        let code = i64::from(java_hash(b"snapshot"));
        let mut behind = end;
        while behind > low {
            let start = low.max(behind.saturating_sub(ENTRY_COUNT as u64));
            let count = usize::try_from(behind - start).unwrap_or(ENTRY_COUNT);
            let entries = self.store.held_entries(self.topic, LANE, start, count);
            let entries: Vec<_> = (start..).zip(entries).collect();
            for (offset, entry) in entries.into_iter().rev() {
                if entry.tags_code == code && self.is_complete(offset, end)? {
                    return Ok(Some((offset, entry.log_position)));
                }
            }
            behind = start;
        }
        Ok(None)
    }

    /// Whether the end of a snapshot follows its first message.
    fn is_complete(&self, start: u64, end: u64) -> Result<bool, StoreError> {
        for offset in start..end {
            let entries = self.store.held_entries(self.topic, LANE, offset, 1);
            let Some(entry) = entries.first() else {
                return Ok(false);
            };
            let records = self.records(entry.log_position)?;
            if records
                .iter()
                .any(|it| matches!(it.body, Body::Mark { .. }))
            {
                return Ok(true);
            }
            let is_part = |it: &Record| matches!(it.body, Body::Wire { .. } | Body::Snap(_));
            if !records.iter().all(is_part) {
                return Ok(false);
            }
        }
        Ok(false)
    }
}
