//! The confirmed position: where reading ends when not every replica has all of the log (D7).
//!
//! Stock holds back the dispatch of records behind it (storage-and-ha.md 9.5). Here an append writes
//! its queue entry at once, and readers do not see the entries of such records: a queue ends for
//! them where its first one stands.

use ahash::AHashMap;

use crate::message::QueueRange;
use crate::queue::SharedQueue;
use crate::queue_layout::partition_point;
use crate::record::{Found, RecordView, locate, occupies_queue};
use crate::store::Store;

/// How much of the log is stepped through in any case to tell which queues became readable.
const STEPPED_BYTES_MIN: u64 = 64 << 10;
/// How much more is, for each queue there is. Beyond that, naming all of them costs less.
const STEPPED_BYTES_PER_QUEUE: u64 = 1 << 10;

impl Store {
    /// Position up to which readers see the log: its end, unless
    /// [`Store::set_confirmed_position`] set a limit before that.
    #[must_use]
    pub fn confirmed_position(&self) -> u64 {
        self.log.read_limit().min(self.log.max_position())
    }

    /// Shows readers the records that end at or before `position`, all of them with `None`, and
    /// returns the queues that became longer for readers since the last call, perhaps with others.
    ///
    /// The first limit may be anywhere; from then on it only rises, and a lower one changes
    /// nothing, until `None` lifts it. [`Store::truncate_to`] alone lowers it. It may lie behind the
    /// end of the log: what is appended up to there is seen at once. It is not kept on the disk.
    pub fn set_confirmed_position(&self, position: Option<u64>) -> Vec<QueueRange> {
        let mut shown = self.log.shown_position();
        if !self.log.raise_read_limit(position) {
            // All was shown by the appends themselves.
            *shown = 0;
            return Vec::new();
        }
        let end = self.confirmed_position();
        *shown = (*shown).max(self.log.min_position());
        let distance = end.saturating_sub(*shown);
        if (distance <= STEPPED_BYTES_MIN
            || distance <= self.queues.count() as u64 * STEPPED_BYTES_PER_QUEUE)
            && let Some((queues, next)) = self.queues_between(*shown, end)
        {
            *shown = next;
            return queues;
        }
        let queues = self.queues();
        let last_end = |range: &QueueRange| {
            let queue = self.queues.find(&range.topic, range.queue_id)?;
            let (first, end) = (range.min_offset, range.max_offset);
            let (_, last) = queue.last_record_entry(first, end)?;
            Some(last.end())
        };
        *shown = queues.iter().filter_map(last_end).max().unwrap_or(*shown);
        queues
    }

    /// First offset of a queue that readers do not see.
    pub(crate) fn readable_end(&self, queue: &SharedQueue) -> u64 {
        match self.log.read_limit() {
            u64::MAX => queue.max_offset(),
            limit => queue.end_within(limit),
        }
    }

    /// Queues of the records from one position, where a record begins, up to another, and where to go on the
    /// next time; `None` when the log cannot be stepped through.
    ///
    /// That is where the first record begins that ends behind `to`, or one whose queue entry another thread
    /// is about to write: a queue is told once more rather than never.
    fn queues_between(&self, from: u64, to: u64) -> Option<(Vec<QueueRange>, u64)> {
        let mut seen = Seen::default();
        let mut position = from;
        while position < to {
            let segment = self.log.segment_at(position)?;
            let rest = segment.bytes_from(position)?;
            match locate(rest, position).ok()? {
                Found::Blank => position = self.log.next_segment_start(position),
                Found::Record(record) => {
                    let end = position + record.bytes.len() as u64;
                    if end > to {
                        break;
                    }
                    note_queue(&mut seen, &record, position);
                    position = end;
                }
            }
        }
        let mut queues = Vec::new();
        for (topic, seen) in seen {
            let Ok(topic) = String::from_utf8(topic) else {
                continue;
            };
            for queue in seen {
                let Some(range) = self.range_of(&topic, queue.queue_id) else {
                    continue;
                };
                if range.max_offset < queue.end_offset {
                    position = position.min(queue.first_position);
                }
                queues.push(range);
            }
        }
        Some((queues, position))
    }

    fn range_of(&self, topic: &str, queue_id: i32) -> Option<QueueRange> {
        let (min_offset, max_offset) = self.queue_offsets(topic, queue_id)?;
        Some(QueueRange {
            topic: topic.to_owned(),
            queue_id,
            min_offset,
            max_offset,
        })
    }
}

impl SharedQueue {
    /// Offset of the first entry whose record ends behind `limit`.
    ///
    /// That is near the end as a rule, so it is looked for from there, in growing steps.
    pub(crate) fn end_within(&self, limit: u64) -> u64 {
        let min = self.min_offset();
        // A filler lies where the record before it does.
        let is_beyond = |offset| {
            let record = self.last_record_entry(min, offset + 1);
            record.is_some_and(|(_, entry)| entry.end() > limit)
        };
        let (mut low, mut high, mut step) = (min, self.max_offset(), 1);
        while low < high {
            let probe = high.saturating_sub(step).max(min);
            if !is_beyond(probe) {
                low = probe + 1;
                break;
            }
            (high, step) = (probe, step * 2);
        }
        partition_point(low, high, |offset| !is_beyond(offset))
    }
}

/// Queues by topic.
type Seen = AHashMap<Vec<u8>, Vec<SeenQueue>>;

/// A queue that records are in, or may be in.
struct SeenQueue {
    queue_id: i32,
    /// Where its first record begins.
    first_position: u64,
    /// The offset behind its last record.
    end_offset: u64,
}

fn note_queue(seen: &mut Seen, record: &RecordView<'_>, position: u64) {
    let end_offset = if occupies_queue(record.sys_flag) {
        record.queue_offset.saturating_add(1)
    } else {
        0
    };
    let new = SeenQueue {
        queue_id: record.queue_id,
        first_position: position,
        end_offset,
    };
    let Some(queues) = seen.get_mut(record.topic) else {
        seen.insert(record.topic.to_vec(), vec![new]);
        return;
    };
    match queues.iter_mut().find(|it| it.queue_id == record.queue_id) {
        Some(known) => known.end_offset = end_offset.max(known.end_offset),
        None => queues.push(new),
    }
}
