//! Timers of the open store: taking messages of the timer topic, and delivering those that are due.
//!
//! A delivered message is a copy that names the record of its timer as its
//! `prepared_transaction_offset`. So a delivery and its progress are one record (D14).

use std::collections::HashSet;

use super::Store;
use super::writer::Writer;
use crate::error::{AppendError, StoreError};
use crate::message::{NewMessage, QueueEntry};
use crate::properties::{find_property, property_entries};
use crate::queue::SharedQueue;
use crate::queue_layout::is_filler;
use crate::record::{Found, RecordView, locate};
use crate::timer_layout::{CANCELLED_KEY, TIMER_TOPIC, TimerEntry, TimerProgress};
use crate::timers::{Delivery, Passed, RealQueue, Source, Waiting};

/// The checksum of a record would be wrong for its copy, and brokers alone set the others.
const LEFT_OUT: [&[u8]; 3] = [b"__CRC32#", b"TIMER_DEQUEUE_MS", b"TIMER_ENQUEUE_MS"];

/// What becomes of a message that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Action {
    /// A copy goes to its topic.
    Deliver,
    /// A copy goes to the timer topic: it waits on.
    Roll,
    /// Nothing: it is cancelled, cancels another one, or is gone from the log.
    Nothing,
}

/// Messages that are due, in the order of their delivery.
#[derive(Debug)]
pub struct DueTimers {
    term: u64,
    source: Source,
    items: Vec<DueTimer>,
}

#[derive(Debug)]
struct DueTimer {
    waiting: Waiting,
    action: Action,
    record: Vec<u8>,
}

/// How the messages of one call of [`Store::deliver_timers`] may pass.
#[derive(Debug, Default)]
pub struct Passage {
    /// Whether a message without a target is held, so that others pass it.
    pub may_hold: bool,
    /// Log positions of messages that wait no more, since they are elsewhere: they are not copied.
    pub gone: HashSet<u64>,
    /// Whether this broker appends nothing: then no message gets another place to wait, either.
    pub appends_none: bool,
}

impl Passage {
    /// One that holds messages without a target.
    #[must_use]
    pub fn holding() -> Self {
        Self {
            may_hold: true,
            ..Self::default()
        }
    }
}

/// What a broker knows of a queue that due messages go to.
#[derive(Debug, Clone, Copy)]
pub struct TimerTarget {
    /// The queue that takes them.
    pub queue_id: i32,
    /// Messages before this log position were sent to a topic that was deleted since.
    pub void_before: u64,
}

/// What one call delivered.
#[derive(Debug, Default)]
pub struct DeliveredTimers {
    /// Queues that took messages: topic, id, and the offset of the next message.
    pub arrivals: Vec<(String, i32, u64)>,
    /// Messages that were passed over, since they are elsewhere.
    pub gone: Vec<u64>,
    /// Messages that can never be delivered: log position and reason.
    pub discarded: Vec<(u64, String)>,
    /// Why the rest was not delivered; it is due again.
    pub failure: Option<AppendError>,
    /// Whether the rest waits for a queue.
    pub is_stuck: bool,
    /// How many messages are held for their queues now, of this batch and others.
    pub held_count: usize,
}

impl DueTimers {
    /// The log positions of all messages.
    #[must_use]
    pub fn positions(&self) -> Vec<u64> {
        self.items.iter().map(DueTimer::log_position).collect()
    }

    /// The messages that are for a queue: log position, and queue.
    #[must_use]
    pub fn messages(&self) -> Vec<(u64, RealQueue)> {
        let delivered = self.items.iter().filter(|it| it.action == Action::Deliver);
        let message = |item: &DueTimer| {
            let queue = item.record().and_then(|record| real_queue(&record))?;
            Some((item.log_position(), queue))
        };
        delivered.filter_map(message).collect()
    }

    /// The queues that the messages are for, each once, with the least log position of its messages.
    #[must_use]
    pub fn queues(&self) -> Vec<(RealQueue, u64)> {
        let mut queues: Vec<(RealQueue, u64)> = Vec::new();
        for (position, queue) in self.messages() {
            if !queues.iter().any(|(known, _)| *known == queue) {
                queues.push((queue, position));
            }
        }
        queues
    }
}

/// What comes of a message that is due.
enum Copied<'a> {
    /// Nothing goes to any queue.
    Nothing,
    /// It is elsewhere.
    Gone,
    /// Its queue takes no messages now.
    Waits(RealQueue),
    /// It can never be delivered.
    Discarded(String),
    /// A record for a queue, with other properties.
    Made(RealQueue, Box<RecordView<'a>>, Vec<u8>),
}

/// What became of a message that was due.
enum Taken {
    /// It is done with.
    Done,
    /// Its queue takes no messages now.
    Waits(RealQueue),
    /// The store takes no messages now.
    Failed,
}

impl DueTimer {
    fn log_position(&self) -> u64 {
        self.waiting.log_position()
    }

    fn record(&self) -> Option<RecordView<'_>> {
        RecordView::parse(&self.record).ok()
    }

    fn copy(
        &self,
        target: impl Fn(&RealQueue) -> Option<TimerTarget>,
        passage: &Passage,
        now_ms: i64,
    ) -> Copied<'_> {
        let Some(record) = self.record().filter(|_| self.action != Action::Nothing) else {
            return Copied::Nothing;
        };
        if passage.gone.contains(&self.log_position()) {
            return Copied::Gone;
        }
        let record = Box::new(record);
        let properties = copied_properties(&record, &self.action, now_ms);
        if self.action == Action::Roll {
            let queue = (TIMER_TOPIC.to_owned(), 0);
            if passage.appends_none {
                return Copied::Waits(queue);
            }
            return Copied::Made(queue, record, properties);
        }
        let Some(queue) = real_queue(&record) else {
            return Copied::Discarded("it names no topic and queue".into());
        };
        match target(&queue) {
            None => Copied::Waits(queue),
            Some(target) if self.log_position() < target.void_before => {
                Copied::Discarded("its topic was deleted, and created again".into())
            }
            Some(target) => Copied::Made((queue.0, target.queue_id), record, properties),
        }
    }
}

impl DeliveredTimers {
    /// Appends a copy.
    fn take(
        &mut self,
        writer: &mut Writer<'_>,
        item: &DueTimer,
        copied: Copied<'_>,
        now_ms: i64,
    ) -> Taken {
        let ((topic, queue_id), record, properties) = match copied {
            Copied::Nothing => return Taken::Done,
            Copied::Gone => {
                self.gone.push(item.log_position());
                return Taken::Done;
            }
            Copied::Waits(queue) => return Taken::Waits(queue),
            Copied::Discarded(reason) => {
                self.discarded.push((item.log_position(), reason));
                return Taken::Done;
            }
            Copied::Made(queue, record, properties) => (queue, record, properties),
        };
        match writer.append(&copy_of(&record, &topic, queue_id, &properties), now_ms) {
            Ok(appended) => {
                self.arrivals
                    .push((topic, queue_id, appended.queue_offset + 1));
                Taken::Done
            }
            Err(error @ (AppendError::Store(_) | AppendError::QueueSealed { .. })) => {
                self.failure = Some(error);
                Taken::Failed
            }
            Err(error) => {
                self.discarded
                    .push((item.log_position(), error.to_string()));
                Taken::Done
            }
        }
    }

    /// Appends copies of a batch, as far as the store takes them. Behind a message that is held no other
    /// one goes to the same queue.
    fn take_all(
        &mut self,
        writer: &mut Writer<'_>,
        due: &DueTimers,
        target: impl Fn(&RealQueue) -> Option<TimerTarget>,
        (mut holding, passage): (HashSet<RealQueue>, &Passage),
        now_ms: i64,
    ) -> Passed {
        let mut passed = Passed {
            count: 0,
            aside: Vec::new(),
            is_stuck: false,
        };
        for item in &due.items {
            let copied = item.copy(
                |queue| target(queue).filter(|_| !holding.contains(queue)),
                passage,
                now_ms,
            );
            match self.take(writer, item, copied, now_ms) {
                Taken::Done => {}
                Taken::Waits(queue) if passage.may_hold => {
                    holding.insert(queue.clone());
                    passed.aside.push((queue, item.waiting));
                }
                Taken::Waits(_) => {
                    passed.is_stuck = true;
                    break;
                }
                Taken::Failed => break,
            }
            passed.count += 1;
        }
        passed
    }
}

impl Store {
    /// Takes messages of the timer topic onto the wheel, `count_max` at most; returns how many, and how many
    /// are left.
    ///
    /// It takes also those that readers do not see yet. Where the wheel has no place for a message, it
    /// waits until the place is free.
    ///
    /// # Errors
    /// No room for a file, or another failure of the system: the next call goes on.
    pub fn follow_timers(&self, count_max: usize) -> Result<(u64, u64), StoreError> {
        self.check_open()?;
        let queue = self.queues.find(TIMER_TOPIC, 0);
        let Some(queue) = queue.filter(|_| !self.is_read_only()) else {
            return Ok((0, 0));
        };
        let mut timers = self.timers.lock();
        let (min, end) = (queue.min_offset(), queue.max_offset());
        timers.next_offset = timers.next_offset.clamp(min.min(end), end);
        let begin = timers.next_offset;
        for _ in 0..count_max {
            let offset = timers.next_offset;
            if offset >= end {
                break;
            }
            let is_taken = self.with_timer(&queue, offset, |record| timers.take(&record));
            match is_taken.transpose()? {
                Some(true) => {}
                Some(false) => return Ok((offset - begin, 0)),
                None => timers.next_offset += 1,
            }
        }
        let next = timers.next_offset;
        Ok((next - begin, end.saturating_sub(next)))
    }

    /// Does something with the record of an offset of the timer topic, if it is there.
    fn with_timer<T>(
        &self,
        queue: &SharedQueue,
        offset: u64,
        work: impl FnOnce(RecordView<'_>) -> T,
    ) -> Option<T> {
        let entry: QueueEntry = queue.entry(offset).filter(|entry| !is_filler(entry))?;
        let segment = self.log.segment_at(entry.log_position)?;
        let rest = segment.bytes_from(entry.log_position)?;
        match locate(rest, entry.log_position).ok()? {
            Found::Record(record)
                if record.topic == TIMER_TOPIC.as_bytes() && record.queue_offset == offset =>
            {
                Some(work(record))
            }
            _ => None,
        }
    }

    /// Takes over how far the timers are: of a broker that does not deliver.
    pub fn set_timer_progress(&self, progress: TimerProgress) {
        let mut timers = self.timers.lock();
        if timers.delivery.is_none() {
            timers.progress = progress;
        }
    }

    /// Begins to deliver, from a progress on or, with `None`, from that of the files. Nothing is delivered
    /// before all messages of the timer topic are on the wheel.
    ///
    /// `delivered` are the log positions of messages of which the log holds copies that the progress does
    /// not cover.
    pub fn lead_timers(
        &self,
        progress: Option<TimerProgress>,
        delivered: HashSet<u64>,
        now_ms: i64,
    ) {
        let queue = self.queues.find(TIMER_TOPIC, 0);
        let end = queue.as_ref().map_or(0, |queue| queue.max_offset());
        let mut timers = self.timers.lock();
        let steps = timers.steps;
        timers.progress = progress.unwrap_or(timers.progress);
        timers.progress.read_ms = steps.floor(timers.progress.read_ms);
        let progress = timers.progress;
        let term = self.next_timer_term();
        let mut delivery = Delivery::new(term, delivered, &progress, (end, now_ms));
        // Before the first slot nothing can be late.
        if let Some(queue) = queue.filter(|_| progress.read_ms > 0) {
            for offset in progress.queue_offset..timers.next_offset {
                self.with_timer(&queue, offset, |record| {
                    if let Some(entry) = steps.place(&record) {
                        delivery.note(&entry, offset, &progress, steps);
                    }
                });
            }
        }
        timers.delivery = Some(delivery);
    }

    /// Delivers nothing more, not even what was read already.
    pub fn stop_timers(&self) {
        self.timers.lock().delivery = None;
    }

    /// Reads messages that are due, at most `count_max`, and no more than `bytes_max` but for the first;
    /// `None` where none is, or this broker does not deliver.
    ///
    /// # Errors
    /// A record cannot be read now.
    pub fn due_timers(
        &self,
        now_ms: i64,
        count_max: usize,
        bytes_max: usize,
    ) -> Result<Option<DueTimers>, StoreError> {
        self.check_open()?;
        let next = {
            let mut timers = self.timers.lock();
            let is_due = timers.open_due(now_ms, |entry| self.cancelled_key(entry));
            let delivery = timers.delivery.as_ref().filter(|_| is_due);
            delivery.and_then(|it| Some((it.term, it.next(count_max)?)))
        };
        // The disk may be slow: others need the lock meanwhile.
        let Some((term, batch)) = next else {
            return Ok(None);
        };
        let (mut items, mut size) = (Vec::new(), 0);
        for waiting in batch.messages {
            let item = self.due_timer(waiting, &batch.cancelled)?;
            size += item.record.len();
            if !items.is_empty() && size > bytes_max {
                break;
            }
            items.push(item);
        }
        Ok(Some(DueTimers {
            term,
            source: batch.source,
            items,
        }))
    }

    fn due_timer(
        &self,
        waiting: Waiting,
        cancelled: &HashSet<Vec<u8>>,
    ) -> Result<DueTimer, StoreError> {
        let record = match self.held_record(waiting.log_position()) {
            Err(StoreError::Corrupt { .. }) => None,
            read => read?,
        };
        let nothing = DueTimer {
            waiting,
            action: Action::Nothing,
            record: Vec::new(),
        };
        let Some(record) = record else {
            return Ok(nothing);
        };
        let Ok(view) = RecordView::parse(&record) else {
            return Ok(nothing);
        };
        let is_cancelled = || own_key(&view).is_some_and(|key| cancelled.contains(&key));
        let action = if waiting.entry.is_rolled() {
            Action::Roll
        } else if waiting.entry.cancels() || is_cancelled() {
            return Ok(nothing);
        } else {
            Action::Deliver
        };
        Ok(DueTimer {
            waiting,
            action,
            record,
        })
    }

    /// Topic and unique key of the message that a message of the timer topic cancels.
    fn cancelled_key(&self, entry: &TimerEntry) -> Option<Vec<u8>> {
        let position = u64::try_from(entry.log_position).ok()?;
        let record = self.held_record(position).ok()??;
        let view = RecordView::parse(&record).ok()?;
        find_property(view.properties, CANCELLED_KEY).map(<[u8]>::to_vec)
    }

    /// Copies messages that are due to their topics, as far as the store takes them.
    ///
    /// `target` says for each queue of [`DueTimers::queues`] where its messages go. A message
    /// without a target is held if it may be, and tried again between two slots; else it holds up
    /// all that follow. While messages are held, the progress stays as it was: a failover delivers
    /// from there on.
    ///
    /// # Errors
    /// The store is closed, poisoned or read-only.
    pub fn deliver_timers(
        &self,
        due: &DueTimers,
        target: impl Fn(&RealQueue) -> Option<TimerTarget>,
        passage: Passage,
        now_ms: i64,
    ) -> Result<DeliveredTimers, StoreError> {
        let mut delivered = DeliveredTimers::default();
        // A message that is held already is not held once more.
        let is_held = due.source == Source::Held;
        let holding = {
            let timers = self.timers.lock();
            let Some(delivery) = timers.delivery.as_ref().filter(|it| it.term == due.term) else {
                return Ok(delivered);
            };
            let queues = due.queues().into_iter().map(|(queue, _)| queue);
            let holding = queues.filter(|queue| !is_held && delivery.held.holds(queue));
            holding.collect()
        };
        let passed = {
            let mut writer = self.writer()?;
            let passage = Passage {
                may_hold: passage.may_hold && !is_held,
                ..passage
            };
            delivered.take_all(&mut writer, due, target, (holding, &passage), now_ms)
        };
        delivered.is_stuck = passed.is_stuck && !is_held;
        let mut timers = self.timers.lock();
        let timers = &mut *timers;
        if let Some(delivery) = &mut timers.delivery {
            let step_ms = timers.steps.step_ms;
            delivery.delivered(due.source, passed, &mut timers.progress, step_ms);
            delivered.held_count = delivery.held.count();
            timers.has_delivered = true;
        }
        Ok(delivered)
    }

    /// How far the deliveries are, for a record of the log, and whether that covers all of them; `None` while
    /// messages are held, when the last one must stay.
    #[must_use]
    pub fn timer_progress(&self) -> Option<(TimerProgress, bool)> {
        let timers = self.timers.lock();
        let is_holding = timers.held_count() > 0;
        (!is_holding).then(|| (timers.shown_progress(), timers.is_settled()))
    }

    /// Messages, less those that are cancelled, in the slot of a time.
    #[must_use]
    pub fn timers_at(&self, time_ms: i64) -> u64 {
        self.timers.lock().count_at(time_ms)
    }

    /// Whether stock wrote the files of timers: then no record of the log says how far they are.
    #[must_use]
    pub fn has_timers_of_stock(&self) -> bool {
        self.timers.lock().is_of_stock()
    }

    /// The integers of `config/timercheck`, if there is one.
    #[must_use]
    pub fn timer_checkpoint(&self) -> Option<Vec<u8>> {
        self.timers.lock().checkpoint_bytes()
    }

    /// Writes wheel, timer log and their checkpoint to the disk, if they have changed, behind the log.
    ///
    /// # Errors
    /// A failed flush poisons the store (D13), but not a checkpoint that could not be written.
    pub fn flush_timers(&self, now_ms: i64) -> Result<(), StoreError> {
        self.flush_timers_after(|| self.flush().map(drop), now_ms)
    }

    /// As [`Store::flush_timers`], with another way to flush the log.
    pub(crate) fn flush_timers_after(
        &self,
        flush_log: impl FnOnce() -> Result<(), StoreError>,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        let begun = self.timers.lock().begin_flush(now_ms)?;
        if let Some(flush) = begun {
            flush_log()?;
            self.flushing(|| flush.sync())?;
            flush.write()?;
            self.timers.lock().end_flush(&flush);
        }
        Ok(())
    }
}

/// The queue that a message of the timer topic was sent to, unless no message may go there.
fn real_queue(record: &RecordView<'_>) -> Option<RealQueue> {
    let topic = find_property(record.properties, b"REAL_TOPIC")?;
    let queue_id = find_property(record.properties, b"REAL_QID")?;
    let queue_id = std::str::from_utf8(queue_id).ok()?.parse().ok()?;
    Some((std::str::from_utf8(topic).ok()?.to_owned(), queue_id))
}

/// Topic and unique key, as a message that cancels this one names them.
fn own_key(record: &RecordView<'_>) -> Option<Vec<u8>> {
    let topic = find_property(record.properties, b"REAL_TOPIC")?;
    let key = find_property(record.properties, b"UNIQ_KEY")?;
    Some([topic, b"+", key].concat())
}

/// The properties of a copy (storage-and-ha.md 6.7).
fn copied_properties(record: &RecordView<'_>, action: &Action, now_ms: i64) -> Vec<u8> {
    let mut copied = Vec::with_capacity(record.properties.len() + 80);
    let mut add = |name: &[u8], value: &[u8]| {
        copied.extend_from_slice(name);
        copied.push(1);
        copied.extend_from_slice(value);
        copied.push(2);
    };
    let rolls: &[u8] = b"TIMER_ROLL_TIMES";
    for (name, value) in property_entries(record.properties) {
        let is_changed = *action == Action::Roll && name == rolls;
        if !LEFT_OUT.contains(&name) && !is_changed {
            add(name, value);
        }
    }
    if *action == Action::Roll {
        let before = find_property(record.properties, rolls);
        let before = before.and_then(|text| std::str::from_utf8(text).ok()?.parse::<u32>().ok());
        let count = before.unwrap_or(0).saturating_add(1);
        add(rolls, count.to_string().as_bytes());
    } else {
        let taken = record.store_timestamp_ms.to_string();
        add(b"TIMER_ENQUEUE_MS", taken.as_bytes());
        add(b"TIMER_DEQUEUE_MS", now_ms.to_string().as_bytes());
    }
    copied
}

fn copy_of<'a>(
    record: &RecordView<'a>,
    topic: &'a str,
    queue_id: i32,
    properties: &'a [u8],
) -> NewMessage<'a> {
    NewMessage {
        flag: record.flag,
        sys_flag: record.sys_flag,
        born_timestamp_ms: record.born_timestamp_ms,
        born_host: record.born_host,
        store_host: record.store_host,
        reconsume_times: record.reconsume_times,
        prepared_transaction_offset: i64::try_from(record.log_position).unwrap_or(0),
        properties,
        ..NewMessage::new(topic, queue_id, record.body)
    }
}
