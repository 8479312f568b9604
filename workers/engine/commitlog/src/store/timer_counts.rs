//! Counts of the messages that wait for a time: by hour, by minute and by topic.
//!
//! The counts are not kept: they follow from wheel and timer log. A part of these is read at a
//! time, so that deliveries do not wait for the whole.

use std::collections::{BTreeMap, HashMap};

use super::Store;
use crate::properties::find_property;
use crate::record::RecordView;
use crate::timer_layout::{NOWHERE, TimerEntry};
use crate::timers::{PART_COUNT, TimerStatus, TopicTimers};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// So many entries of one slot are read while deliveries wait.
const ENTRY_COUNT: usize = 4096;

/// The sums over the slots that were looked at.
#[derive(Debug, Default)]
struct Sums {
    by_hour: BTreeMap<i64, u64>,
    by_minute: BTreeMap<i64, u64>,
    overdue_count: u64,
    due_ms: Option<(i64, i64)>,
}

impl Sums {
    /// Adds messages of the slot at a time.
    fn add(&mut self, time_ms: i64, count: u64, step_ms: i64, now_ms: i64) {
        if count == 0 {
            return;
        }
        let due_ms = time_ms.saturating_add(step_ms);
        let (first, last) = self.due_ms.unwrap_or((due_ms, due_ms));
        self.due_ms = Some((first.min(due_ms), last.max(due_ms)));
        *self.by_hour.entry(start_of(HOUR_MS, time_ms)).or_insert(0) += count;
        if due_ms <= now_ms {
            self.overdue_count += count;
        } else if time_ms < start_of(MINUTE_MS, now_ms) + MINUTE_MS + HOUR_MS {
            let minute_ms = start_of(MINUTE_MS, time_ms);
            *self.by_minute.entry(minute_ms).or_insert(0) += count;
        }
    }
}

/// What is known of the topics with one hash.
#[derive(Debug, Default)]
struct HashSums {
    waiting_count: i64,
    rolled_count: i64,
    /// Log position of the newest message: it is in the log at least as long as the others.
    newest: i64,
}

impl HashSums {
    fn add(&mut self, entry: &TimerEntry) {
        let weight = i64::from(entry.weight());
        self.waiting_count += weight;
        self.rolled_count += if entry.is_rolled() { weight } else { 0 };
        self.newest = self.newest.max(entry.log_position);
    }
}

impl Store {
    /// How timers stand.
    #[must_use]
    pub fn timer_status(&self, now_ms: i64) -> TimerStatus {
        let mut sums = Sums::default();
        for part in 0..PART_COUNT {
            let timers = self.timers.lock();
            for (time_ms, count) in timers.waiting_slots(part) {
                sums.add(time_ms, count, timers.steps.step_ms, now_ms);
            }
        }
        let timers = self.timers.lock();
        for entry in timers.held_back() {
            sums.add(entry.due_ms(), 1, timers.steps.step_ms, now_ms);
        }
        TimerStatus {
            progress: timers.shown_progress(),
            next_offset: timers.next_offset,
            waiting_count: sums.by_hour.values().sum(),
            by_hour: sums.by_hour.into_iter().collect(),
            by_minute: sums.by_minute.into_iter().collect(),
            overdue_count: sums.overdue_count,
            due_ms: sums.due_ms,
        }
    }

    /// The topics with messages that wait, in the order of their names. Topics whose names have the same
    /// Java hash are one, with the name of the newest message, since the timer log has hashes only.
    #[must_use]
    pub fn timers_by_topic(&self) -> Vec<TopicTimers> {
        let mut sums: HashMap<i32, HashSums> = HashMap::new();
        for part in 0..PART_COUNT {
            let ends = self.timers.lock().waiting_ends(part);
            for mut at in ends {
                while at != NOWHERE {
                    let (entries, before) = self.timers.lock().entries_back_from(at, ENTRY_COUNT);
                    for entry in &entries {
                        sums.entry(entry.topic_hash).or_default().add(entry);
                    }
                    at = before;
                }
            }
        }
        for entry in self.timers.lock().held_back() {
            sums.entry(entry.topic_hash).or_default().add(entry);
        }
        let mut topics: Vec<_> = sums.values().filter_map(|it| self.named(it)).collect();
        topics.sort_by(|one, other| one.topic.cmp(&other.topic));
        topics
    }

    /// The sums of a hash with the name of a topic; `None` where nothing waits, or all expired.
    fn named(&self, sums: &HashSums) -> Option<TopicTimers> {
        let waiting_count = u64::try_from(sums.waiting_count).ok();
        let waiting_count = waiting_count.filter(|count| *count > 0)?;
        let record = self.held_record(u64::try_from(sums.newest).ok()?).ok()??;
        let view = RecordView::parse(&record).ok()?;
        let topic = find_property(view.properties, b"REAL_TOPIC")?;
        Some(TopicTimers {
            topic: std::str::from_utf8(topic).ok()?.to_owned(),
            waiting_count,
            rolled_count: u64::try_from(sums.rolled_count).unwrap_or(0),
        })
    }
}

fn start_of(span_ms: i64, time_ms: i64) -> i64 {
    time_ms - time_ms.rem_euclid(span_ms)
}
