//! Which half messages of this master are pending: neither committed nor rolled back.
//!
//! The log has all facts. The master adds each half message and removes each decision. A new master
//! reads the queues of half messages and of op records from the recorded progress on.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use ahash::AHashMap;
use parking_lot::Mutex;

/// The newest record of a half message, and when its producer may be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its queue offset.
    pub offset: u64,
    /// Its log position.
    pub log_position: u64,
    /// When the producer may be asked.
    pub due_ms: i64,
    /// The unique key of the message.
    pub transaction_id: Arc<str>,
}

/// The pending half messages by the queue offset of their first record.
#[derive(Debug, Default)]
pub struct PendingTransactions(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    by_first: AHashMap<u64, Pending>,
    /// The queue offsets of first records, by those of the newest ones.
    firsts: BTreeMap<u64, u64>,
    /// Op records, and the newest half message that each names.
    operations: VecDeque<(u64, u64)>,
    /// Whether what the log says is here.
    is_known: bool,
    /// Half messages from here on were stored by this master since it read its log.
    own_from: u64,
    /// Behind all half messages that were ever here.
    end: u64,
}

impl PendingTransactions {
    /// How many half messages are pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lock().by_first.len()
    }

    /// Whether none is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// So many of the pending half messages whose newest records are between two queue offsets, those with
    /// the oldest records first.
    #[must_use]
    pub fn page(&self, offset: u64, end: u64, count: usize) -> Vec<(u64, Pending)> {
        let table = self.0.lock();
        let firsts = table.firsts.range(offset..end).take(count);
        firsts
            .filter_map(|(_, first)| Some((*first, table.by_first.get(first)?.clone())))
            .collect()
    }

    /// The newest record of a half message, if it is pending.
    #[must_use]
    pub fn find(&self, first_offset: u64) -> Option<Pending> {
        self.0.lock().by_first.get(&first_offset).cloned()
    }

    /// Add a half message, or the copy that replaces its record.
    pub fn put(&self, first_offset: u64, pending: Pending) {
        self.0.lock().put(first_offset, pending);
    }

    /// Remove a half message that is committed, rolled back or given up.
    pub fn decide(&self, first_offset: u64) {
        self.0.lock().decide(first_offset);
    }

    /// Note that an op record names a half message.
    pub fn note_operation(&self, operation_offset: u64, half_offset: u64) {
        let mut table = self.0.lock();
        table.operations.push_back((operation_offset, half_offset));
        table.forget_operations(half_offset);
    }

    /// The queue offsets before which half messages and op records are not needed any more; the ends
    /// are those of the two queues.
    #[must_use]
    pub fn progress(&self, half_end: u64, operation_end: u64) -> (u64, u64) {
        let mut table = self.0.lock();
        table.forget_operations(half_end);
        let oldest = table.firsts.first_key_value();
        let half_offset = oldest.map_or(half_end, |(&offset, _)| offset);
        let operation = table.operations.front();
        (half_offset, operation.map_or(operation_end, |it| it.0))
    }

    /// Take what the log says, besides the half messages that were added meanwhile, and know all.
    pub fn load(&self, loaded: Vec<(u64, Pending)>, operations: Vec<(u64, u64)>) {
        let mut table = self.0.lock();
        for (first_offset, pending) in loaded {
            if !table.by_first.contains_key(&first_offset) {
                table.put(first_offset, pending);
            }
        }
        table.operations = operations.into();
        table.own_from = table.end;
        table.is_known = true;
    }

    /// Forget everything: this broker is not the master any more.
    pub fn clear(&self) {
        let mut table = self.0.lock();
        *table = Table {
            end: table.end,
            ..Table::default()
        };
    }

    /// Whether everything that is pending is here.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.0.lock().is_known
    }

    /// Behind all half messages that were ever here.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.0.lock().end
    }

    /// Whether a half message is pending whose first and only record this master has stored.
    pub(crate) fn is_own(&self, offset: u64, log_position: u64) -> bool {
        let table = self.0.lock();
        table.is_known
            && offset >= table.own_from
            && table
                .by_first
                .get(&offset)
                .is_some_and(|it| (it.offset, it.log_position) == (offset, log_position))
    }
}

impl Table {
    fn put(&mut self, first_offset: u64, pending: Pending) {
        self.decide(first_offset);
        self.end = self.end.max(pending.offset + 1);
        self.firsts.insert(pending.offset, first_offset);
        self.by_first.insert(first_offset, pending);
    }

    fn decide(&mut self, first_offset: u64) {
        if let Some(former) = self.by_first.remove(&first_offset) {
            self.firsts.remove(&former.offset);
        }
    }

    /// Drop the op records before which no half message is pending: their half messages lie before the
    /// oldest one, or before `half_end` if there is none.
    fn forget_operations(&mut self, half_end: u64) {
        let oldest = self.firsts.first_key_value();
        let bound = oldest.map_or(half_end, |(&offset, _)| offset);
        while self.operations.front().is_some_and(|it| it.1 < bound) {
            self.operations.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(offset: u64) -> Pending {
        Pending {
            offset,
            log_position: 100 * offset,
            due_ms: 0,
            transaction_id: Arc::from("K"),
        }
    }

    fn table(offsets: impl IntoIterator<Item = u64>) -> PendingTransactions {
        let table = PendingTransactions::default();
        table.load(Vec::new(), Vec::new());
        for offset in offsets {
            table.put(offset, pending(offset));
        }
        table
    }

    #[test]
    fn the_progress_stays_before_what_is_pending() {
        let table = table(0..4);
        for (operation_offset, half_offset) in (0..).zip([2, 0, 3]) {
            table.decide(half_offset);
            table.note_operation(operation_offset, half_offset);
        }

        assert_eq!(table.progress(4, 3), (1, 0));
        table.decide(1);
        table.note_operation(3, 1);
        assert_eq!(table.progress(4, 4), (4, 4));
    }

    #[test]
    fn op_records_are_kept_only_as_long_as_an_older_half_message_is_pending() {
        let table = table([0]);
        for half_offset in 1..1000 {
            table.put(half_offset, pending(half_offset));
            table.note_operation(half_offset, half_offset);
            table.decide(half_offset);
        }
        assert_eq!(table.0.lock().operations.len(), 999);

        table.note_operation(1000, 0);
        table.decide(0);
        table.put(1000, pending(1000));
        table.note_operation(1001, 1000);

        assert_eq!(table.0.lock().operations.len(), 1);
    }

    #[test]
    fn a_copy_takes_the_place_of_the_record_before_and_is_not_this_masters_own() {
        let table = table([0, 1]);
        assert!(table.is_own(0, 0));

        table.put(0, pending(2));

        let all = table.page(0, table.end(), 9);
        assert_eq!(all, [(1, pending(1)), (0, pending(2))]);
        assert_eq!(table.page(0, table.end(), 1), all[..1]);
        assert_eq!(table.page(2, table.end(), 9), all[1..]);
        assert_eq!(table.page(0, 2, 9), all[..1]);
        assert_eq!(table.find(0), Some(pending(2)));
        assert!(!table.is_own(0, 0) && !table.is_own(2, 200) && table.is_own(1, 100));
    }

    #[test]
    fn what_was_begun_before_the_log_was_read_stays() {
        let table = PendingTransactions::default();
        table.put(5, pending(5));
        assert!(!table.is_own(5, 500));

        table.load(vec![(4, pending(4)), (5, pending(9))], vec![(0, 3)]);

        assert_eq!(table.page(0, 9, 9), [(4, pending(4)), (5, pending(5))]);
        // The log may know of a topic that was deleted since.
        assert!(!table.is_own(4, 400) && !table.is_own(5, 500));
        table.put(6, pending(6));
        assert!(table.is_own(6, 600));

        table.clear();
        assert!(table.is_empty() && !table.is_known() && !table.is_own(6, 600));
        assert_eq!(table.end(), 7);
    }
}
