//! What an opening makes of a store (FORMAT.md 6, 6.1, 9).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::bytes::{crc32, integer};
use super::files::{Files, Numbered, QueueName};
use super::index::{IndexFile, key_hash};
use super::queue::{Entry, FILLER, Queue};
use super::record::{Found, Invalid, Record, Rules, is_torn, look};
use super::texts::{Checkpoint, Epochs, Marker, Stop, decode_journal, epochs_of, this_run};

const SMALLEST_RECORD: u64 = 91;

#[derive(Debug, Clone)]
pub struct Settings {
    pub cut_damage_at: Option<u64>,
    pub delay_levels_ms: Vec<i64>,
    pub segment_size: u64,
    pub queue_file_size: u64,
    pub rules: Rules,
    pub index_slots: usize,
    pub index_entries: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    pub position: u64,
    /// Where valid records go on.
    pub next_valid: Option<u64>,
}

/// A store as it is once recovery has gone by.
#[derive(Debug)]
pub struct Recovered {
    pub stop: Stop,
    pub begin: u64,
    pub end: u64,
    pub damage: Option<Damage>,
    /// Where valid records were cut, since what lies before them was never flushed.
    pub lost_unflushed: Option<Damage>,
    pub truncated_to: Option<u64>,
    /// Those from the start of validation on.
    pub validated_from: u64,
    pub records: Vec<Record>,
    pub queues: BTreeMap<QueueName, Queue>,
    pub epochs: Epochs,
    /// Names of the index files that stay.
    pub index: Vec<String>,
}

/// Recovers what is in a directory, in memory.
pub fn recover(dir: &Path, settings: Settings) -> Result<Recovered, String> {
    let files = Files::read(dir)?;
    let stop_run = this_run(dir);
    let marker = files
        .small("abort")
        .map(|text| Marker::decode(&String::from_utf8_lossy(text)));
    let stop = marker
        .as_ref()
        .map_or(Stop::Closed, |marker| marker.stop(&stop_run));
    let checkpoint = files
        .small("checkpoint")
        .and_then(|bytes| Checkpoint::decode(bytes));
    let epochs = epochs_of(
        files.small("epochFileCheckpoint"),
        files.small("epochFileCheckpoint.bak"),
    )?;
    let journal = files
        .small("truncation")
        .map(|bytes| decode_journal(bytes))
        .transpose()?;
    let has_spare = files.has_spare;
    let queues = queues(&files, settings.queue_file_size)?;
    let mut store = Store {
        settings,
        stop: if checkpoint.is_none() && stop != Stop::Closed {
            Stop::Unknown
        } else {
            stop
        },
        checkpoint: checkpoint.unwrap_or_default(),
        queues,
        log: files.log,
        epochs,
        index: files.index,
        rebuilt: BTreeSet::new(),
    };
    store.shape()?;
    if let Some((position, time)) = journal {
        store.truncate(position, time);
    }
    if let Some(marker) = marker.filter(|_| has_spare) {
        store.convert(&marker, files.seals.as_deref());
    }
    let mut recovered = store.recover();
    recovered.truncated_to = journal.map(|(position, _)| position);
    Ok(recovered)
}

fn queues(files: &Files, file_size: u64) -> Result<BTreeMap<QueueName, Queue>, String> {
    let mut queues = BTreeMap::new();
    for (name, content) in &files.queues {
        let last = content.last_key_value().map(|last| *last.0);
        for (base, bytes) in content {
            let length = bytes.len() as u64;
            let is_part = length.is_multiple_of(4096) && length < file_size;
            if length != file_size && !(Some(*base) == last && is_part) {
                return Err(format!("{name:?} has a file of {length} bytes"));
            }
        }
        queues.insert(name.clone(), Queue::decode(content, file_size));
    }
    Ok(queues)
}

/// A store whose recovery is under way.
struct Store {
    settings: Settings,
    stop: Stop,
    checkpoint: Checkpoint,
    log: Numbered,
    queues: BTreeMap<QueueName, Queue>,
    epochs: Epochs,
    index: BTreeMap<String, Vec<u8>>,
    rebuilt: BTreeSet<QueueName>,
}

/// The validated part of a log.
#[derive(Default)]
struct Walk {
    records: Vec<Record>,
    end: u64,
    damage: Option<Damage>,
    lost_unflushed: Option<Damage>,
}

impl Walk {
    /// The records with entries, by queue.
    fn places(&self) -> BTreeMap<QueueName, Vec<&Record>> {
        let mut places: BTreeMap<QueueName, Vec<&Record>> = BTreeMap::new();
        for record in self.records.iter().filter(|record| record.has_entry()) {
            let name = (record.topic.clone(), record.queue_id);
            places.entry(name).or_default().push(record);
        }
        places
    }
}

impl Store {
    /// Removes a segment that was being allocated; other sizes are errors.
    fn shape(&mut self) -> Result<(), String> {
        let size = self.settings.segment_size;
        if let Some((base, bytes)) = self.log.last_key_value()
            && (bytes.len() as u64) < size
            && bytes.iter().take(8).all(|byte| *byte == 0)
        {
            let base = *base;
            self.log.remove(&base);
        }
        let first = self.log.first_key_value().map_or(0, |first| *first.0);
        for (number, (base, bytes)) in (0..).zip(&self.log) {
            if bytes.len() as u64 != size || *base != first + number * size {
                return Err(format!("log segment {base} of {} bytes", bytes.len()));
            }
        }
        Ok(())
    }

    fn begin(&self) -> u64 {
        self.log.first_key_value().map_or(0, |first| *first.0)
    }

    fn flushed(&self) -> u64 {
        self.checkpoint.flushed()
    }

    /// FORMAT.md 9.
    fn truncate(&mut self, position: u64, time: i64) {
        self.epochs.retain(|epoch| epoch.1 < position);
        let checkpoint = &mut self.checkpoint;
        for moment in [
            &mut checkpoint.log_time,
            &mut checkpoint.queues_time,
            &mut checkpoint.index_time,
        ] {
            *moment = time.min(*moment);
        }
        let end = position.cast_signed();
        checkpoint.master_flushed = checkpoint.master_flushed.min(end);
        checkpoint.confirmed = checkpoint.confirmed.min(end);
        self.clear_from(position);
        if position == 0 {
            self.queues.clear();
        }
        for queue in self.queues.values_mut() {
            queue.cut(|entry| entry.position < position);
        }
        let begin = self.begin();
        let follows = |(name, queue): &(&QueueName, &Queue)| {
            let Some(last) = queue.entries.last().filter(|last| last.position >= begin) else {
                return true;
            };
            let Some((_, _, Found::Record(last))) = self.look(last.position) else {
                return false;
            };
            (&last.topic, last.queue_id) == (&name.0, name.1)
                && last.queue_offset + 1 == queue.end()
        };
        let others = self.queues.iter().filter(|queue| !follows(queue));
        self.rebuilt = others.map(|(name, _)| name.clone()).collect();
        if self.stop == Stop::Closed {
            self.stop = Stop::Unknown;
        }
    }

    fn clear_from(&mut self, position: u64) {
        self.log.retain(|base, _| *base <= position && position > 0);
        if let Some((base, bytes)) = self.log.iter_mut().next_back() {
            let at = usize::try_from(position - base).expect("a place in memory");
            if at < bytes.len() {
                bytes[at..].fill(0);
            }
        }
    }

    /// FORMAT.md 6.1.
    fn convert(&mut self, marker: &Marker, seals: Option<&[u8]>) {
        let slots = seals.into_iter().flat_map(|bytes| bytes.chunks(4096));
        let sealed = slots.filter_map(|slot| self.sealed(slot)).max();
        let flushed = self.flushed();
        let was_killed = self.stop == Stop::Killed;
        let position = if was_killed {
            marker.write_limit().filter(|limit| *limit >= flushed)
        } else if marker.run.is_empty() {
            None
        } else {
            sealed.map(|sealed| sealed.max(flushed))
        };
        let Some(position) = position else { return };
        self.clear_from(position);
        if !was_killed {
            self.checkpoint.master_flushed = position.cast_signed();
            self.checkpoint.confirmed = position.cast_signed();
        }
    }

    /// The end of a range that a seal is right about.
    fn sealed(&self, slot: &[u8]) -> Option<u64> {
        let from = integer(slot, 0, 8)?.cast_unsigned();
        let to = integer(slot, 8, 8)?.cast_unsigned();
        let crc = integer(slot, 16, 4)?;
        let own_crc = integer(slot, 20, 4)?;
        let is = |crc: i64, bytes: &[u8]| i64::from(crc32(bytes).cast_signed()) == crc;
        if !is(own_crc, &slot[..20]) || to < from {
            return None;
        }
        if from == to || to <= self.begin() {
            return Some(to);
        }
        let mut bytes = Vec::new();
        for (base, content) in &self.log {
            let end = base + content.len() as u64;
            if *base < to && end > from {
                let local = |position: u64| usize::try_from(position - base).ok();
                bytes.extend_from_slice(&content[local(from.max(*base))?..local(to.min(end))?]);
            }
        }
        let is_whole = bytes.len() as u64 == to - from;
        (is_whole && is(crc, &bytes)).then_some(to)
    }

    /// What lies at a position; nothing behind the last segment.
    fn look(&self, position: u64) -> Option<(u64, &Vec<u8>, Found)> {
        let (base, bytes) = self.log.range(..=position).next_back()?;
        let at = usize::try_from(position - base).ok()?;
        if at >= bytes.len() {
            return None;
        }
        let flushed = self.flushed();
        Some((
            *base,
            bytes,
            look(bytes, at, *base, flushed, self.settings.rules),
        ))
    }

    /// Where validation starts.
    fn start(&self) -> u64 {
        let is_early = |base: u64| match self.stop {
            Stop::Closed => {
                let last = |queue: &Queue| queue.entries.last().map(|entry| entry.position);
                self.queues
                    .values()
                    .filter_map(last)
                    .max()
                    .is_some_and(|newest| base <= newest)
            }
            _ => {
                let time = self.checkpoint.log_time.min(self.checkpoint.queues_time) - 3_000;
                let first = match self.look(base) {
                    Some((_, _, Found::Record(first))) => Some(first.store_timestamp),
                    _ => None,
                };
                base < self.flushed() && first.is_some_and(|first| first <= time)
            }
        };
        let bases = self.log.keys().rev().copied();
        bases
            .into_iter()
            .find(|base| is_early(*base))
            .unwrap_or(self.begin())
    }

    fn walk(&self, start: u64) -> Walk {
        let mut walk = Walk::default();
        let mut position = start;
        while let Some((base, bytes, found)) = self.look(position) {
            let invalid = match found {
                Found::Record(record) => {
                    position += record.size as u64;
                    walk.records.push(*record);
                    continue;
                }
                Found::Blank => {
                    position = base + bytes.len() as u64;
                    continue;
                }
                Found::Invalid(invalid) => invalid,
            };
            if self.stop == Stop::Closed && position == self.flushed() && position > 0 {
                break;
            }
            if self.settings.cut_damage_at == Some(position) && walk.damage.is_none() {
                break;
            }
            let next = self.next_valid(position, invalid);
            let at = usize::try_from(position - base).expect("a place in memory");
            let here = Damage {
                position,
                next_valid: next,
            };
            let was_flushed = position < self.flushed();
            if next.is_none() && !was_flushed {
                break;
            }
            let is_unflushed = match self.stop {
                Stop::Closed | Stop::Killed | Stop::Unknown => false,
                Stop::PowerCut { is_synchronous } => !is_synchronous || is_torn(bytes, at, invalid),
            };
            if is_unflushed && !was_flushed && walk.damage.is_none() {
                walk.lost_unflushed = Some(here);
                break;
            }
            walk.damage = walk.damage.or(Some(here));
            match next {
                Some(next) => position = next,
                None => break,
            }
        }
        walk.end = position;
        if position < self.flushed() {
            let next_valid = None;
            walk.damage = walk.damage.or(Some(Damage {
                position,
                next_valid,
            }));
        }
        walk
    }

    /// The first valid record behind an invalid one.
    fn next_valid(&self, position: u64, invalid: Invalid) -> Option<u64> {
        let end = self
            .log
            .last_key_value()
            .map(|(base, bytes)| base + bytes.len() as u64)?;
        let mut position = position + invalid.reach as u64;
        while position < end {
            let (_, _, found) = self.look(position)?;
            match found {
                Found::Record(_) => return Some(position),
                Found::Blank => position += 1,
                Found::Invalid(invalid) => position += invalid.reach as u64,
            }
        }
        None
    }

    fn recover(mut self) -> Recovered {
        let mut start = self.start();
        let mut walk = self.walk(start);
        let needing = self.needing_older(start, &walk);
        self.rebuilt.extend(needing);
        if start > self.begin() && !self.rebuilt.is_empty() {
            start = self.begin();
            walk = self.walk(start);
        }
        self.mend_queues(start, &walk);
        if walk.damage.is_none() {
            let begin = self.begin();
            self.log
                .retain(|base, _| *base < walk.end || *base == begin);
        }
        let begin = self.begin();
        Recovered {
            index: self.kept_index(&walk),
            stop: self.stop,
            begin,
            end: walk.end,
            damage: walk.damage,
            lost_unflushed: walk.lost_unflushed,
            truncated_to: None,
            validated_from: start,
            records: walk.records,
            queues: self.queues,
            epochs: self.epochs,
        }
    }

    /// Queues that need older records than the validated ones.
    fn needing_older(&self, start: u64, walk: &Walk) -> BTreeSet<QueueName> {
        let places = walk.places();
        let needs = |(name, queue): &(&QueueName, &Queue)| {
            if queue.has_gap || (queue.has_rest && self.stop == Stop::Closed) {
                return true;
            }
            let Some(first) = places.get(*name).map(|records| records[0].queue_offset) else {
                let is_stray = |entry: &Entry| entry.position >= start;
                let has_lost = queue.has_rest || queue.entries.last().is_some_and(is_stray);
                return has_lost && walk.damage.is_none();
            };
            let before = first.checked_sub(1).and_then(|before| queue.at(before));
            let disagrees = before.is_some_and(|entry| entry.position >= start);
            let is_short = queue.end() < first || disagrees;
            queue.first > first || (is_short && start > self.begin())
        };
        let mut names: BTreeSet<_> = self
            .queues
            .iter()
            .filter(needs)
            .map(|queue| queue.0.clone())
            .collect();
        let is_late = |(name, records): &(&QueueName, &Vec<&Record>)| {
            !self.queues.contains_key(*name) && records[0].queue_offset > 0
        };
        names.extend(places.iter().filter(is_late).map(|(name, _)| name.clone()));
        names
    }

    /// Gives each validated record its entry; rebuilt queues keep those of expired records.
    fn mend_queues(&mut self, start: u64, walk: &Walk) {
        let places = walk.places();
        for name in places.keys() {
            self.queues.entry(name.clone()).or_default();
        }
        let begin = self.begin();
        for (name, queue) in &mut self.queues {
            let validated = places.get(name).map_or(&[][..], Vec::as_slice);
            let is_its = |entry: &Entry| {
                let mut positions = validated.iter().map(|record| record.position);
                entry.position < start || positions.any(|position| position == entry.position)
            };
            if self.rebuilt.contains(name) {
                queue.cut(|entry| entry.position < begin);
            } else if walk.damage.is_none() {
                queue.cut(is_its);
            }
            if queue.entries.is_empty() {
                queue.first = 0;
            }
            for record in validated {
                put(queue, record, &self.settings.delay_levels_ms);
            }
            if let Some(last) = validated.last().filter(|_| walk.damage.is_none()) {
                let length = last.queue_offset + 1 - queue.first;
                queue
                    .entries
                    .truncate(usize::try_from(length).expect("a place in memory"));
            }
        }
    }

    /// FORMAT.md 7.
    fn kept_index(&self, walk: &Walk) -> Vec<String> {
        let index_slots = self.settings.index_slots;
        let index_entries = self.settings.index_entries;
        if walk.damage.is_some() {
            return self.index.keys().cloned().collect();
        }
        let mut kept = Vec::new();
        let mut newest = i64::MIN;
        for (name, bytes) in &self.index {
            let Some(file) = IndexFile::decode(bytes, index_slots, index_entries) else {
                break;
            };
            let was_flushed = file.is_full(index_entries)
                && file.end_time <= self.checkpoint.index_time
                && file.end_time > newest;
            let is_behind = file.end_position >= walk.end.cast_signed();
            if is_behind || (self.stop != Stop::Closed && !was_flushed) || !self.is_right(&file) {
                break;
            }
            newest = file.end_time;
            kept.push(name.clone());
        }
        kept
    }

    /// Whether the newest record of an index file has the keys that it says, as far as it did not expire.
    fn is_right(&self, file: &IndexFile) -> bool {
        let Some(last) = file.entries.last() else {
            return false;
        };
        match self.look(last.position) {
            _ if last.position < self.begin() => true,
            Some((_, _, Found::Record(record))) => {
                record.keys().iter().any(|key| key_hash(key) == last.hash)
            }
            _ => false,
        }
    }
}

/// Gives a record its entry, unless its offset leaves out more messages than the log has room for.
fn put(queue: &mut Queue, record: &Record, delay_levels_ms: &[i64]) {
    let last = queue.entries.iter().rev().find(|entry| **entry != FILLER);
    let room = last.map(|last| record.position.saturating_sub(last.position) / SMALLEST_RECORD);
    if room.is_some_and(|room| record.queue_offset > queue.end() + room) {
        return;
    }
    let entry = Entry {
        position: record.position,
        size: i32::try_from(record.size).expect("a size has four bytes"),
        tags_code: record.tags_code(delay_levels_ms),
    };
    queue.put(record.queue_offset, entry);
}
