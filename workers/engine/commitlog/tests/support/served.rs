//! Whether what a store serves is just what was appended to it.

use regent_commitlog::{Boundary, KeySearch, RecordView, Store};

use super::sample::{Sample, Sent, build_index};
use super::try_read;

/// Which bytes a record may differ in from what was appended, by the field they belong to.
pub type Excuse<'a> = &'a dyn Fn(&Sent, &[u8]) -> Option<&'static str>;

/// What a store answers when it is asked for everything.
#[derive(Debug, Default)]
pub struct Served {
    /// Records by queue that are what was appended.
    pub intact: u64,
    /// The field in which a record served by queue differs, and which no checksum covers.
    pub altered: Option<&'static str>,
    /// The same of a record served by position.
    pub altered_at_position: Option<&'static str>,
    /// Messages reported as damaged.
    pub refused: u64,
    /// Positions of messages that are neither served nor reported.
    pub missing: Vec<u64>,
    /// Searches by key that lack a message, and by time that give another one.
    pub searches_short: u64,
    /// What must not be.
    pub wrong: Vec<String>,
}

/// Reads everything by queue, by position, by time and by key.
pub fn read_everything(sample: &Sample, store: &Store, excuse: Excuse<'_>) -> Served {
    let mut reading = Reading {
        sample,
        store,
        excuse,
        served: Served::default(),
    };
    build_index(store);
    for sent in &sample.sent {
        reading.by_position(sent);
        // Some of them: every record that is looked at costs time in thousands of stores.
        if sent.queue_offset % 6 == 1 {
            reading.by_keys(sent);
        }
        if sent.has_entry {
            reading.by_offset(sent);
            if sent.queue_offset.is_multiple_of(6) {
                reading.by_time(sent);
            }
        }
    }
    reading.in_bulk();
    reading.served
}

struct Reading<'a> {
    sample: &'a Sample,
    store: &'a Store,
    excuse: Excuse<'a>,
    served: Served,
}

impl Reading<'_> {
    fn wrong(&mut self, text: String) {
        self.served.wrong.push(text);
    }

    /// Whether a record is the one appended there; `place` is what was asked for.
    fn judge(&mut self, record: &[u8], place: Option<(&str, i32, u64)>) -> bool {
        let Ok(view) = RecordView::parse(record) else {
            self.wrong(format!("{place:?}: no record at all"));
            return false;
        };
        let Some(sent) = self.sample.at(view.log_position) else {
            self.wrong(format!("{place:?}: a record that was never appended"));
            return false;
        };
        if sent.bytes == record {
            let own = (sent.topic.as_str(), sent.queue_id, sent.queue_offset);
            if place.is_some_and(|place| place != own) {
                self.wrong(format!("{place:?}: message {own:?} instead"));
            }
            return true;
        }
        match (self.excuse)(sent, record) {
            Some(field) if place.is_some() => self.served.altered = Some(field),
            Some(field) => self.served.altered_at_position = Some(field),
            None => self.wrong(format!("{place:?}: altered bytes at {}", sent.position)),
        }
        false
    }

    fn by_position(&mut self, sent: &Sent) {
        if let Ok(Some(record)) = self.store.read_record(sent.position) {
            self.judge(&record, None);
        }
    }

    fn by_offset(&mut self, sent: &Sent) {
        let place = (sent.topic.as_str(), sent.queue_id);
        match try_read(self.store, place, sent.queue_offset.cast_signed(), 1) {
            Ok((outcome, records)) if outcome.count == 0 => {
                self.served.missing.push(sent.position);
                if !records.is_empty() {
                    self.wrong(format!("{place:?} {}: uncounted bytes", sent.queue_offset));
                }
            }
            Ok((_, records)) => {
                let place = (place.0, place.1, sent.queue_offset);
                let is_intact = self.judge(&records, Some(place));
                self.served.intact += u64::from(is_intact);
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                self.served.refused += 1;
            }
        }
    }

    fn by_time(&mut self, sent: &Sent) {
        for boundary in [Boundary::Lower, Boundary::Upper] {
            let (topic, queue_id) = (&sent.topic, sent.queue_id);
            let found = self
                .store
                .offset_by_time(topic, queue_id, sent.stored_ms, boundary);
            let is_other = found.is_ok_and(|offset| offset != sent.queue_offset);
            self.served.searches_short += u64::from(is_other);
        }
    }

    fn by_keys(&mut self, sent: &Sent) {
        for key in &sent.keys {
            let found = self
                .store
                .search(KeySearch::by_key(&sent.topic, key, 64, 0, i64::MAX));
            self.served.searches_short += u64::from(!found.contains(&sent.position));
            for position in found {
                let Some(other) = self.sample.at(position) else {
                    self.wrong(format!("key {key} leads to {position}, where nothing is"));
                    continue;
                };
                let record = self.store.read_record(position);
                let is_altered = matches!(&record, Ok(Some(record)) if *record != other.bytes);
                let has_key = other.topic == sent.topic && other.keys.contains(key);
                if !is_altered && !has_key {
                    self.wrong(format!("key {key} leads to {:?}", other.keys));
                }
            }
        }
    }

    /// Every queue that the store says it has, from its start to its end, many messages at once.
    fn in_bulk(&mut self) {
        for queue in self.store.queues() {
            let mut offset = queue.min_offset;
            let mut reads = 0;
            while offset < queue.max_offset && reads < 1_000 {
                reads += 1;
                let (topic, queue_id) = (queue.topic.as_str(), queue.queue_id);
                let place = (topic, queue_id);
                let Ok((outcome, records)) = try_read(self.store, place, offset.cast_signed(), 32)
                else {
                    offset += 1;
                    continue;
                };
                let mut rest = records.as_slice();
                while let Ok(view) = RecordView::parse(rest) {
                    self.judge(view.bytes, Some((topic, queue_id, view.queue_offset)));
                    rest = &rest[view.bytes.len()..];
                }
                if !rest.is_empty() {
                    self.wrong(format!("{topic}/{queue_id} {offset}: bytes of no record"));
                }
                offset = outcome.next_offset.max(offset + 1);
            }
        }
    }
}
