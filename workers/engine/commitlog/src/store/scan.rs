//! Reading the messages of a queue, as stock's `getMessage` does it (storage-and-ha.md 5.8).

use regent_filter::Expression;

use crate::error::StoreError;
use crate::message::{Filter, QueueEntry, QueueRead, ReadOutcome, ReadStatus};
use crate::properties::property_entries;
use crate::queue::{QueueSegment, SharedQueue};
use crate::queue_layout::{ENTRY_SIZE, decode_entry, is_filler};
use crate::record::RecordView;
use crate::store::Store;
use crate::store::cold::Residency;
use crate::store::read::{LogCursor, Place};
use crate::store::slices::RecordSlices;

/// `maxFilterMessageSize`: how many bytes of entries a read examines at most, unless the count
/// asked for needs more.
const EXAMINED_BYTES_MAX: usize = 16_000;
/// How many operations of an expression a read evaluates at most, unless the count asked for needs
/// more: a long expression must not keep other readers waiting.
const EVALUATED_COUNT_MAX: usize = 400_000;
/// The processor is asked to fetch a record so many records before the look at it. Memory takes
/// about as long to come as a look at so many records that are there.
const FETCHED_AHEAD: usize = 4;
/// So many of the newest entries of a queue are in memory in any case.
const TAIL_COUNT: u64 = 1024;

impl Store {
    /// Reads messages of a queue, appending their records to `records`.
    ///
    /// # Errors
    /// A record is damaged: it is reported and not served (D13).
    pub fn read_queue(
        &self,
        topic: &str,
        queue_id: i32,
        read: &QueueRead<'_>,
        records: &mut Vec<u8>,
    ) -> Result<ReadOutcome, StoreError> {
        let (outcome, slices) = self.read_slices(topic, queue_id, read)?;
        records.reserve(slices.size());
        slices
            .iter()
            .for_each(|slice| records.extend_from_slice(slice));
        Ok(outcome)
    }

    /// Reads messages of a queue without copying them, but not before all of them are in memory: it
    /// is here that the disk is waited for.
    ///
    /// # Errors
    /// As for [`Store::read_queue`].
    pub fn read_slices(
        &self,
        topic: &str,
        queue_id: i32,
        read: &QueueRead<'_>,
    ) -> Result<(ReadOutcome, RecordSlices<'_>), StoreError> {
        let store = self.of(topic);
        let mut slices = RecordSlices::new(store);
        let mut scan = Scan::new(store, (topic, queue_id), *read, &mut slices);
        let outcome = scan.read()?;
        slices.fetch();
        store.give_back(&slices);
        Ok((outcome, slices))
    }

    /// As [`Store::read_slices`], but never waits for the disk: `None` when it would have to for
    /// the first message.
    ///
    /// # Errors
    /// As for [`Store::read_queue`].
    pub fn read_resident(
        &self,
        topic: &str,
        queue_id: i32,
        read: &QueueRead<'_>,
    ) -> Result<Option<(ReadOutcome, RecordSlices<'_>)>, StoreError> {
        let store = self.of(topic);
        let mut slices = RecordSlices::new(store);
        let mut scan = Scan::new(store, (topic, queue_id), *read, &mut slices);
        scan.residency = Some(Residency::new(store));
        let outcome = scan.read()?;
        let is_there = !scan.is_waiting;
        // Read ahead for a cold read, perhaps, which came no further.
        store.give_back(&slices);
        Ok(is_there.then_some((outcome, slices)))
    }
}

/// What a read finds at an offset where a queue has no message, and where the next read goes on.
fn outside(offset: i64, min_offset: u64, max_offset: u64) -> (ReadStatus, u64) {
    match u64::try_from(offset) {
        Ok(offset) if offset == max_offset => (ReadStatus::OffsetOverflowOne, offset),
        Ok(offset) if offset > max_offset => (ReadStatus::OffsetOverflowBadly, max_offset),
        _ => (ReadStatus::OffsetTooSmall, min_offset),
    }
}

/// One read in progress.
struct Scan<'a, 's> {
    store: &'a Store,
    place: Place<'a>,
    read: QueueRead<'a>,
    records: &'a mut RecordSlices<'s>,
    cursor: LogCursor<'a>,
    status: ReadStatus,
    next_offset: u64,
    count: usize,
    bytes: usize,
    /// Entries before this position are known to be gone.
    gone_before: u64,
    /// What is known to be in memory, if nothing else may be looked at.
    residency: Option<Residency>,
    /// Whether even the first message was not in memory.
    is_waiting: bool,
}

impl<'a, 's> Scan<'a, 's> {
    fn new(
        store: &'a Store,
        place: Place<'a>,
        read: QueueRead<'a>,
        records: &'a mut RecordSlices<'s>,
    ) -> Self {
        Self {
            store,
            place,
            read,
            records,
            cursor: LogCursor::new(store, place),
            status: ReadStatus::NoMatchedMessage,
            next_offset: 0,
            count: 0,
            bytes: 0,
            gone_before: 0,
            residency: None,
            is_waiting: false,
        }
    }

    fn read(&mut self) -> Result<ReadOutcome, StoreError> {
        let (topic, queue_id) = self.place;
        let (mut min_offset, mut max_offset) = (0, 0);
        (self.status, self.next_offset) = match self.store.queues.find(topic, queue_id) {
            None => match self.store.offsets_of_new_queue() {
                None => (ReadStatus::NoMatchedLogicQueue, 0),
                Some((first, end)) => {
                    (min_offset, max_offset) = (first, end);
                    outside(self.read.offset, first, end)
                }
            },
            Some(queue) => {
                min_offset = queue.min_offset();
                max_offset = self.store.readable_end(&queue);
                match u64::try_from(self.read.offset).ok() {
                    _ if max_offset == 0 => (ReadStatus::NoMessageInQueue, 0),
                    Some(offset) if offset >= min_offset && offset < max_offset => {
                        self.run(&queue, offset, max_offset)?;
                        (self.status, self.next_offset)
                    }
                    _ => outside(self.read.offset, min_offset, max_offset),
                }
            }
        };
        Ok(ReadOutcome {
            status: self.status,
            next_offset: self.next_offset,
            min_offset,
            max_offset,
            count: self.count,
        })
    }

    /// Examines entries of the file that holds `offset`.
    fn run(&mut self, queue: &SharedQueue, offset: u64, max: u64) -> Result<(), StoreError> {
        let found = queue.segment_at(offset);
        let must_wait = max - offset > TAIL_COUNT
            && (found.as_ref()).is_some_and(|place| self.must_wait_for(place));
        if must_wait {
            self.is_waiting = true;
            return Ok(());
        }
        let file = found
            .as_ref()
            .and_then(|(segment, at)| segment.map.bytes().get(*at..));
        let Some(entries) = file.filter(|entries| entries.len() >= ENTRY_SIZE) else {
            self.status = ReadStatus::OffsetFoundNull;
            self.next_offset = queue.next_file_offset(offset);
            return Ok(());
        };
        self.next_offset = offset;
        let evaluated_max = match self.read.filter {
            Some(Filter::Properties(expression)) => EVALUATED_COUNT_MAX / expression.cost().max(1),
            _ => usize::MAX,
        };
        let examined_max = EXAMINED_BYTES_MAX.div_ceil(ENTRY_SIZE).min(evaluated_max);
        let examined_max = examined_max.max(self.read.count_max) as u64;
        let end = max.min(offset.saturating_add(examined_max));
        if let Some(first) = decode_entry(entries) {
            self.read = self.store.limited(&self.read, first.log_position);
        }
        let entries = entries.chunks_exact(ENTRY_SIZE);
        let mut ahead = entries.clone().skip(FETCHED_AHEAD);
        for (offset, entry) in (offset..end).zip(entries) {
            if let Some(later) = ahead.next().and_then(decode_entry)
                && self.passes(later.tags_code)
            {
                self.cursor.fetch(&later);
            }
            let entry = decode_entry(entry).ok_or_else(|| StoreError::Corrupt {
                position: 0,
                reason: format!("entry {offset} of the queue is not valid"),
            });
            if let Ok(entry) = &entry {
                if self.is_full(entry) {
                    break;
                }
                if !self.is_there(entry) {
                    self.is_waiting = self.count == 0;
                    break;
                }
            }
            match entry.and_then(|entry| self.examine(offset, &entry)) {
                Ok(()) => self.next_offset = offset + 1,
                // What was found before the damage is served; the next read reports it.
                Err(_) if self.count > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes the record of an offset's entry, or passes it over.
    fn examine(&mut self, offset: u64, entry: &QueueEntry) -> Result<(), StoreError> {
        if entry.log_position < self.gone_before {
            return Ok(());
        }
        if !self.passes(entry.tags_code) {
            self.pass_over();
            return Ok(());
        }
        let record = self.cursor.record(offset, entry)?;
        if let (Some(record), Some(Filter::Properties(expression))) = (record, self.read.filter)
            && !matches(expression, record)
        {
            self.pass_over();
            return Ok(());
        }
        let size = record.map(<[u8]>::len);
        let (Some(size), Some(segment)) = (size, &self.cursor.segment) else {
            if self.bytes == 0 {
                self.status = ReadStatus::MessageWasRemoving;
            }
            // A filler has no position, and says nothing of the entries behind it.
            if !is_filler(entry) {
                self.gone_before = self.store.log.next_segment_start(entry.log_position);
            }
            return Ok(());
        };
        self.records.push(segment, entry.log_position, size);
        self.bytes += size;
        self.count += 1;
        self.status = ReadStatus::Found;
        self.gone_before = 0;
        Ok(())
    }

    /// Notes that the filter leaves an entry out.
    fn pass_over(&mut self) {
        if self.bytes == 0 {
            self.status = ReadStatus::NoMatchedMessage;
        }
    }

    fn is_full(&self, entry: &QueueEntry) -> bool {
        let bytes = self.bytes.saturating_add(entry.size as usize);
        self.count > 0 && (self.count >= self.read.count_max || bytes > self.read.bytes_max)
    }

    /// Whether the entries wanted would have to come from the disk.
    fn must_wait_for(&self, (segment, at): &(QueueSegment, usize)) -> bool {
        let size = self.read.count_max.saturating_mul(ENTRY_SIZE);
        let size = size.min(segment.map.bytes().len().saturating_sub(*at));
        self.residency.is_some()
            && (segment.map.resident_bytes(*at, size)).is_ok_and(|resident| resident < size)
    }

    /// Whether the record of an entry may be looked at.
    fn is_there(&mut self, entry: &QueueEntry) -> bool {
        if !self.passes(entry.tags_code) {
            return true;
        }
        let (position, size) = (entry.log_position, entry.size as usize);
        let residency = self.residency.as_mut();
        residency.is_none_or(|residency| residency.is_there(self.store, position, size))
    }

    /// Matching compares the low 32 bits of a hash. Below its range lie addresses of stock's extension
    /// files, which are not read: as in stock without them, it is left to the consumer to filter.
    #[allow(clippy::cast_possible_truncation)]
    fn passes(&self, tags_code: i64) -> bool {
        let is_address = || tags_code < i64::from(i32::MIN);
        match self.read.filter {
            Some(Filter::Tags(hashes)) => hashes.contains(&(tags_code as i32)) || is_address(),
            // Only the record shows it.
            None | Some(Filter::Properties(_)) => true,
        }
    }
}

/// Whether the properties of a record match. One that cannot be read is left to the consumer.
fn matches(expression: &Expression, record: &[u8]) -> bool {
    RecordView::parse(record).map_or(true, |record| {
        expression.matches(property_entries(record.properties))
    })
}

#[cfg(test)]
mod tests;
