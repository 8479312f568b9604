//! What was appended to each topic: counted under the append lock, read without it.

use std::sync::Arc;

use regent_sync::atomic::{AtomicU64, Ordering};

use super::SharedQueues;
use crate::message::Traffic;

/// What was appended to one topic since the store was opened.
#[derive(Debug)]
pub(crate) struct TopicTraffic {
    topic: Arc<str>,
    message_count: AtomicU64,
    bytes: AtomicU64,
}

impl TopicTraffic {
    pub(super) fn new(topic: Arc<str>) -> Self {
        Self {
            topic,
            message_count: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Counts appended messages. Only the holder of the append lock may call this: two callers at a
    /// time would lose counts.
    #[inline]
    pub(crate) fn count(&self, message_count: u64, bytes: usize) {
        let add = |counter: &AtomicU64, more: u64| {
            counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        };
        add(&self.message_count, message_count);
        add(&self.bytes, bytes as u64);
    }

    /// Goes on from what another one counted.
    pub(super) fn adopt(&self, before: &Self) {
        let Traffic {
            message_count,
            bytes,
        } = before.get();
        self.message_count.store(message_count, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Traffic {
        Traffic {
            message_count: self.message_count.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

impl SharedQueues {
    /// The traffic of every topic that has any, by name. Appends go on meanwhile: only one to a new
    /// topic waits, until the list is copied.
    pub(crate) fn traffic(&self) -> Vec<(String, Traffic)> {
        let topics = self.traffic.read().clone();
        let counted = topics.iter().map(|it| (it.topic.to_string(), it.get()));
        let mut traffic: Vec<_> = counted.filter(|(_, it)| it.message_count > 0).collect();
        traffic.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        traffic
    }
}
