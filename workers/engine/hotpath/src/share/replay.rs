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
    /// The log positions of messages with a record that was written damaged.
    pub(crate) left_out: Vec<u64>,
}

/// A message of a lane.
#[derive(Debug)]
pub(crate) struct LaneMessage {
    /// Its log position.
    pub(crate) position: u64,
    /// The log position behind it.
    pub(crate) end: u64,
    pub(crate) records: Vec<Record>,
    /// Whether no record is damaged.
    pub(crate) is_whole: bool,
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
        left_out: Vec::new(),
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
            let message = reader.message(entry.log_position)?;
            for record in message.records {
                // What its writer did not judge so was cut off with the writer's log.
                let _ = replayed.lane.apply(&record);
            }
            if !message.is_whole {
                replayed.left_out.push(entry.log_position);
            }
        }
    }
    Ok(replayed)
}

/// Some messages of a lane from one on.
pub(crate) fn read_from(
    store: &Store,
    topic: &str,
    (offset, count): (u64, usize),
    version_max: u16,
) -> Result<Vec<LaneMessage>, StoreError> {
    let reader = Reader {
        store,
        topic,
        version_max,
    };
    let entries = store.held_entries(topic, LANE, offset, count).into_iter();
    entries
        .map(|entry| {
            let message = reader.message(entry.log_position)?;
            Ok(LaneMessage {
                end: entry.log_position + u64::from(entry.size),
                ..message
            })
        })
        .collect()
}

/// The log position of the first message of the last complete snapshot.
pub(crate) fn last_snapshot(
    store: &Store,
    topic: &str,
    version_max: u16,
) -> Result<Option<u64>, StoreError> {
    let (low, end) = store.queue_offsets(topic, LANE).unwrap_or_default();
    let reader = Reader {
        store,
        topic,
        version_max,
    };
    Ok(reader
        .last_snapshot(low, end)?
        .map(|(_, position)| position))
}

struct Reader<'a> {
    store: &'a Store,
    topic: &'a str,
    version_max: u16,
}

impl Reader<'_> {
    /// A message and its records; none if it has expired meanwhile.
    ///
    /// A message with a wrong checksum is damaged in this copy only: replicas verify what they copy. A record with a
    /// wrong checksum in a message with a right one was written so, and is the same at all members. Each of them
    /// leaves it out, so their states stay equal (queue-ownership.md 4.12, OI-7).
    fn message(&self, position: u64) -> Result<LaneMessage, StoreError> {
        let mut read = LaneMessage {
            position,
            end: position,
            records: Vec::new(),
            is_whole: true,
        };
        let Some(content) = self.store.held_record(position)? else {
            return Ok(read);
        };
        let damaged = |reason: String| StoreError::Corrupt { position, reason };
        let message = RecordView::parse(&content).map_err(|damage| damaged(damage.to_string()))?;
        if !message.is_intact() {
            return Err(damaged(
                "the checksum of a message of share queues is wrong".to_owned(),
            ));
        }
        for record in Records::up_to(self.version_max, message.body) {
            match record {
                Ok(Decoded::Known(record)) => read.records.push(record),
                Ok(Decoded::Unknown { .. }) => {}
                Err(_) => read.is_whole = false,
            }
        }
        Ok(read)
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
            let LaneMessage {
                records, is_whole, ..
            } = self.message(entry.log_position)?;
            if !is_whole {
                // It lacks a share queue, which has its state from the snapshot before.
                return Ok(false);
            }
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
