//! The state of one share queue (queue-ownership.md 4.5).

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use crate::entry::{Act, Delivery, Entry, ORDERED_TAG, Verdict, judge};
use crate::ranges::Ranges;

/// Most offsets between the first that is not finished and the first that was never delivered.
pub const WINDOW: u64 = 4096;

/// Equal entries that follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SnapshotRun {
    /// How many.
    pub count: u64,
    /// What each of them is.
    pub entry: Entry,
}

/// The whole state of a share queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Snapshot {
    /// The lease epoch of the last owner.
    pub epoch: u64,
    /// Whether that owner has it still.
    pub is_owned: bool,
    /// Handles of earlier epochs are void: the offset was reset since.
    pub reset_epoch: u64,
    /// The time of the last delivery.
    pub last_pop_time_ms: i64,
    /// Each offset before it is finished.
    pub start: u64,
    /// The entries from there on; what follows them was never delivered.
    pub runs: Vec<SnapshotRun>,
    /// Handles up to this time are void: the share queue was made or reset then. 0 if that is not known.
    pub reset_pop_time_ms: i64,
    /// The broker id of the owner; `None` where no other broker may own it, as in PRIMARY mode.
    pub owner: Option<u64>,
}

impl Snapshot {
    /// The state as the lane keeps it in PRIMARY mode: only what is finished.
    #[must_use]
    pub fn finished_only(&self) -> Self {
        let mut runs: Vec<SnapshotRun> = Vec::new();
        for run in &self.runs {
            let entry = match run.entry {
                Entry::Forgotten => Entry::Forgotten,
                _ => Entry::NEW,
            };
            push_run(&mut runs, run.count, entry);
        }
        Self {
            runs: without_rest(runs),
            owner: None,
            ..self.clone()
        }
    }

    /// The state for another member: times are later by so many milliseconds, and no client is known there.
    #[must_use]
    pub fn moved_by(&self, ms: i64) -> Self {
        let mut moved = self.clone();
        for run in &mut moved.runs {
            match &mut run.entry {
                Entry::Acquired {
                    client,
                    deadline_ms,
                    ..
                } => {
                    *client = 0;
                    *deadline_ms = deadline_ms.saturating_add(ms);
                }
                Entry::Available { visible_at_ms, .. } if *visible_at_ms > 0 => {
                    *visible_at_ms = visible_at_ms.saturating_add(ms).max(0);
                }
                Entry::Available { .. } | Entry::Forgotten => {}
            }
        }
        moved
    }
}

fn push_run(runs: &mut Vec<SnapshotRun>, count: u64, entry: Entry) {
    match runs.last_mut() {
        Some(run) if run.entry == entry => run.count += count,
        _ => runs.push(SnapshotRun { count, entry }),
    }
}

/// What was never delivered behind all other entries is not said.
fn without_rest(mut runs: Vec<SnapshotRun>) -> Vec<SnapshotRun> {
    if runs.last().is_some_and(|run| run.entry == Entry::NEW) {
        runs.pop();
    }
    runs
}

/// One share queue: a consumer group's view of one queue of a topic.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ShareQueue {
    epoch: u64,
    is_owned: bool,
    owner: Option<u64>,
    reset_epoch: u64,
    reset_pop_time_ms: i64,
    last_pop_time_ms: i64,
    start: u64,
    slots: VecDeque<Entry>,
    next_due: NextDue,
}

/// No entry becomes deliverable before this time; it says nothing of the state.
#[derive(Debug, Clone, Copy)]
struct NextDue(i64);

impl Default for NextDue {
    fn default() -> Self {
        Self(i64::MAX)
    }
}

impl PartialEq for NextDue {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for NextDue {}

impl Hash for NextDue {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}

impl ShareQueue {
    /// A share queue whose first message is at an offset.
    #[must_use]
    pub fn starting_at(start: u64) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    /// The lease epoch of the last owner.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether the last owner has it still.
    #[must_use]
    pub fn is_owned(&self) -> bool {
        self.is_owned
    }

    /// The broker id of the owner; `None` without one, or if the last snapshot does not name it.
    #[must_use]
    pub fn owner(&self) -> Option<u64> {
        self.owner.filter(|_| self.is_owned)
    }

    /// Handles of earlier lease epochs are void, since the offset was reset; 0 before the first reset.
    #[must_use]
    pub fn reset_epoch(&self) -> u64 {
        self.reset_epoch
    }

    /// The time of the last delivery.
    #[must_use]
    pub fn last_pop_time_ms(&self) -> i64 {
        self.last_pop_time_ms
    }

    /// Each offset before it is finished (SPSO).
    #[must_use]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The first offset that was never delivered, nor any behind it.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start + self.slots.len() as u64
    }

    /// How many offsets behind the end can be delivered now.
    #[must_use]
    pub fn window_left(&self) -> u64 {
        WINDOW.saturating_sub(self.slots.len() as u64)
    }

    /// What is known of a message.
    #[must_use]
    pub fn entry(&self, offset: u64) -> Entry {
        match offset.checked_sub(self.start) {
            None => Entry::Forgotten,
            Some(at) => usize::try_from(at)
                .ok()
                .and_then(|at| self.slots.get(at).copied())
                .unwrap_or(Entry::NEW),
        }
    }

    /// Whether a message is finished.
    #[must_use]
    pub fn is_finished(&self, offset: u64) -> bool {
        self.entry(offset) == Entry::Forgotten
    }

    /// All offsets that are finished. The first range is of those before the start.
    #[must_use]
    pub fn finished(&self) -> Ranges {
        let mut finished = Ranges::of(0..self.start);
        for (offset, entry) in self.entries() {
            if entry == Entry::Forgotten {
                finished.push(offset..offset + 1);
            }
        }
        finished
    }

    /// Each entry of the window, with its offset.
    pub fn entries(&self) -> impl Iterator<Item = (u64, Entry)> {
        (self.start..).zip(self.slots.iter().copied())
    }

    /// What an act with the handle of a delivery does to a message.
    #[must_use]
    pub fn judge(&self, offset: u64, act: Act, delivery: Delivery) -> Verdict {
        let is_outside = offset >= self.start.saturating_add(WINDOW);
        if is_outside || self.is_before_reset(delivery) {
            return Verdict::Stale;
        }
        judge(self.entry(offset), act, delivery)
    }

    fn is_before_reset(&self, delivery: Delivery) -> bool {
        // The topic or the group may have been deleted and made again since.
        if self.reset_pop_time_ms > 0 && delivery.pop_time_ms <= self.reset_pop_time_ms {
            return true;
        }
        if self.reset_epoch == 0 || delivery.tag == ORDERED_TAG {
            return false;
        }
        let epoch = delivery.epoch(self.epoch);
        epoch.is_none_or(|epoch| epoch < self.reset_epoch)
    }

    /// The next delivery of the owner: later than each before.
    #[must_use]
    pub fn next_delivery(&self, now_ms: i64, is_ordered: bool) -> Delivery {
        let tag = if is_ordered {
            ORDERED_TAG
        } else {
            Delivery::tag_of(self.epoch)
        };
        Delivery {
            pop_time_ms: now_ms.max(self.last_pop_time_ms + 1),
            tag,
        }
    }

    /// Messages that can be delivered again, or were passed over: in rising order.
    pub fn ready(&self, now_ms: i64, attempts: u16) -> impl Iterator<Item = u64> {
        let is_ready = move |entry: &Entry| {
            matches!(*entry, Entry::Available { count, visible_at_ms, .. }
                if visible_at_ms <= now_ms && count < attempts)
        };
        let slots = (self.start..).zip(&self.slots);
        slots
            .filter(move |(_, entry)| is_ready(entry))
            .map(|(offset, _)| offset)
    }

    /// Messages that no consumer has, and that were delivered as often as they may be.
    pub fn exhausted(&self, attempts: u16) -> impl Iterator<Item = u64> {
        let slots = (self.start..).zip(&self.slots);
        slots
            .filter(move |(_, entry)| {
                matches!(**entry, Entry::Available { count, .. } if count >= attempts)
            })
            .map(|(offset, _)| offset)
    }

    /// Whether an ordered share queue delivers nothing: a message is with a consumer, or delayed.
    #[must_use]
    pub fn is_blocked(&self, now_ms: i64) -> bool {
        self.slots.iter().any(|entry| match *entry {
            Entry::Acquired { .. } => true,
            Entry::Available { visible_at_ms, .. } => visible_at_ms > now_ms,
            Entry::Forgotten => false,
        })
    }

    /// The messages of one delivery.
    #[must_use]
    pub fn batch(&self, delivery: Delivery) -> Ranges {
        let slots = (self.start..).zip(&self.slots);
        slots
            .filter(|(_, entry)| {
                matches!(**entry, Entry::Acquired { delivery: own, .. } if own == delivery)
            })
            .map(|(offset, _)| offset)
            .collect()
    }

    /// How many messages are with consumers.
    #[must_use]
    pub fn in_flight_count(&self) -> usize {
        let is_acquired = |entry: &&Entry| matches!(entry, Entry::Acquired { .. });
        self.slots.iter().filter(is_acquired).count()
    }

    /// When a message that is hidden now can be delivered, at the earliest; `None` if there is none.
    #[must_use]
    pub fn next_due_ms(&self) -> Option<i64> {
        (self.next_due.0 != i64::MAX).then_some(self.next_due.0)
    }

    /// Whether the deadline of any delivery has passed.
    #[must_use]
    pub fn is_overdue(&self, now_ms: i64) -> bool {
        let is_over = |entry: &Entry| matches!(*entry, Entry::Acquired { deadline_ms, .. } if deadline_ms <= now_ms);
        self.slots.iter().any(is_over)
    }

    /// The deadlines that have passed, each with its messages: what the owner has to let expire.
    #[must_use]
    pub fn overdue(&mut self, now_ms: i64) -> Vec<(i64, Ranges)> {
        if now_ms < self.next_due.0 {
            return Vec::new();
        }
        let mut overdue: Vec<(i64, Ranges)> = Vec::new();
        let mut next_due = i64::MAX;
        for (offset, entry) in (self.start..).zip(&self.slots) {
            match *entry {
                Entry::Acquired { deadline_ms, .. } if deadline_ms <= now_ms => {
                    let known = overdue
                        .iter_mut()
                        .find(|(deadline, _)| *deadline == deadline_ms);
                    match known {
                        Some((_, ranges)) => ranges.push(offset..offset + 1),
                        None => overdue.push((deadline_ms, Ranges::of(offset..offset + 1))),
                    }
                }
                Entry::Acquired { deadline_ms, .. } => next_due = next_due.min(deadline_ms),
                Entry::Available { visible_at_ms, .. } if visible_at_ms > now_ms => {
                    next_due = next_due.min(visible_at_ms);
                }
                _ => {}
            }
        }
        self.next_due.0 = next_due;
        overdue
    }

    /// The whole state. Without acquisitions it says only what is finished.
    #[must_use]
    pub fn snapshot(&self, with_acquisitions: bool) -> Snapshot {
        let mut runs: Vec<SnapshotRun> = Vec::new();
        for &entry in &self.slots {
            push_run(&mut runs, 1, entry);
        }
        let whole = Snapshot {
            epoch: self.epoch,
            is_owned: self.is_owned,
            reset_epoch: self.reset_epoch,
            last_pop_time_ms: self.last_pop_time_ms,
            start: self.start,
            runs: without_rest(runs),
            reset_pop_time_ms: self.reset_pop_time_ms,
            owner: self.owner(),
        };
        if with_acquisitions {
            whole
        } else {
            whole.finished_only()
        }
    }

    /// Whether a snapshot is within the limits of a share queue.
    #[must_use]
    pub fn accepts(snapshot: &Snapshot) -> bool {
        let counts = snapshot.runs.iter().map(|run| run.count);
        let total = counts.fold(0, u64::saturating_add);
        total <= WINDOW && snapshot.start <= u64::MAX - 2 * WINDOW
    }

    /// Take on a state.
    ///
    /// # Panics
    /// If [`ShareQueue::accepts`] does not accept it.
    pub(crate) fn restore(&mut self, snapshot: &Snapshot) {
        assert!(Self::accepts(snapshot), "the caller looks first");
        let mut slots = VecDeque::new();
        for run in &snapshot.runs {
            let count = usize::try_from(run.count).unwrap_or(0);
            slots.resize(slots.len() + count, run.entry);
        }
        *self = Self {
            epoch: snapshot.epoch,
            is_owned: snapshot.is_owned,
            owner: snapshot.owner.filter(|_| snapshot.is_owned),
            reset_epoch: snapshot.reset_epoch,
            reset_pop_time_ms: snapshot.reset_pop_time_ms,
            last_pop_time_ms: snapshot.last_pop_time_ms,
            start: snapshot.start,
            slots,
            next_due: NextDue(0),
        };
        self.advance();
    }

    pub(crate) fn own(&mut self, epoch: u64, member: u64) {
        self.epoch = epoch;
        self.is_owned = true;
        self.owner = Some(member);
    }

    pub(crate) fn disown(&mut self) {
        self.is_owned = false;
        self.owner = None;
    }

    /// Look for overdue deliveries again, also for those that were named before.
    pub(crate) fn recheck(&mut self) {
        self.next_due.0 = 0;
    }

    /// Drop what consumers have, and keep what is finished.
    pub(crate) fn drop_acquisitions(&mut self) {
        let state = Snapshot {
            owner: self.owner(),
            ..self.snapshot(false)
        };
        self.restore(&state);
    }

    /// Hand messages out; those that are finished stay so.
    pub(crate) fn acquire(
        &mut self,
        ranges: &Ranges,
        delivery: Delivery,
        client: u64,
        until_ms: i64,
    ) {
        self.last_pop_time_ms = self.last_pop_time_ms.max(delivery.pop_time_ms);
        self.next_due.0 = self.next_due.0.min(until_ms);
        self.change(ranges, |entry| match entry {
            Entry::Available {
                count,
                first_pop_ms,
                ..
            } => Entry::Acquired {
                delivery,
                client,
                deadline_ms: until_ms,
                count: count.saturating_add(1),
                first_pop_ms: if count == 0 {
                    delivery.pop_time_ms
                } else {
                    first_pop_ms
                },
            },
            other => other,
        });
    }

    pub(crate) fn forget(&mut self, ranges: &Ranges) {
        if let Some(first) = ranges.as_slice().first()
            && first.start <= self.start
            && first.end >= self.end()
        {
            // It may be longer than the window.
            self.slots.clear();
            self.start = first.end;
        }
        self.change(ranges, |_| Entry::Forgotten);
        self.advance();
    }

    pub(crate) fn give_back(&mut self, ranges: &Ranges, visible_at_ms: i64) {
        self.next_due.0 = self.next_due.0.min(visible_at_ms);
        self.change(ranges, |entry| entry.returned(visible_at_ms));
    }

    pub(crate) fn renew(&mut self, ranges: &Ranges, pop_time_ms: i64, until_ms: i64) {
        self.last_pop_time_ms = self.last_pop_time_ms.max(pop_time_ms);
        self.next_due.0 = self.next_due.0.min(until_ms);
        self.change(ranges, |entry| match entry {
            Entry::Acquired {
                delivery,
                client,
                count,
                first_pop_ms,
                ..
            } => Entry::Acquired {
                delivery: Delivery {
                    pop_time_ms,
                    ..delivery
                },
                client,
                deadline_ms: until_ms,
                count,
                first_pop_ms,
            },
            other => other,
        });
    }

    /// End the deliveries of a client, or of all clients.
    pub(crate) fn return_all(&mut self, client: Option<u64>) {
        for slot in &mut self.slots {
            if let Entry::Acquired { client: own, .. } = slot
                && client.is_none_or(|client| client == *own)
            {
                *slot = slot.returned(0);
            }
        }
    }

    /// Undo a delivery that no consumer saw: its messages can be delivered at once, and it does not count.
    ///
    /// The delivery before it is not known any more. Returns whether it had any message still.
    pub(crate) fn undo(&mut self, delivery: Delivery) -> bool {
        let batch = self.batch(delivery);
        self.change(&batch, |entry| match entry {
            Entry::Acquired { count: 0 | 1, .. } => Entry::NEW,
            Entry::Acquired {
                count,
                first_pop_ms,
                ..
            } => Entry::Available {
                count: count - 1,
                last: None,
                first_pop_ms,
                visible_at_ms: 0,
            },
            other => other,
        });
        !batch.is_empty()
    }

    fn change(&mut self, ranges: &Ranges, to: impl Fn(Entry) -> Entry) {
        for range in ranges.as_slice() {
            for offset in range.start.max(self.start)..range.end {
                let at = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
                if at >= self.slots.len() {
                    self.slots.resize(at + 1, Entry::NEW);
                }
                self.slots[at] = to(self.slots[at]);
            }
        }
    }

    /// Move the start behind what is finished.
    fn advance(&mut self) {
        while self.slots.front() == Some(&Entry::Forgotten) {
            self.slots.pop_front();
            self.start += 1;
        }
        if self.slots.is_empty() {
            self.next_due = NextDue::default();
            if self.slots.capacity() > 256 {
                self.slots = VecDeque::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(pop_time_ms: i64) -> Delivery {
        Delivery {
            pop_time_ms,
            tag: 1,
        }
    }

    fn handed_out(range: std::ops::Range<u64>) -> ShareQueue {
        let mut queue = ShareQueue::starting_at(range.start);
        queue.own(1, 7);
        queue.acquire(&Ranges::of(range), delivery(1000), 7, 1060);
        queue
    }

    #[test]
    fn the_start_moves_over_what_is_finished() {
        let mut queue = handed_out(10..14);

        queue.forget(&Ranges::of(11..13));
        assert_eq!((queue.start(), queue.end()), (10, 14));
        assert_eq!(queue.finished().as_slice(), [0..10, 11..13]);
        queue.forget(&Ranges::of(10..11));

        assert_eq!((queue.start(), queue.end()), (13, 14));
        assert_eq!(queue.entry(10), Entry::Forgotten);
        assert_eq!(queue.entry(14), Entry::NEW);
        assert_eq!(queue.finished(), Ranges::of(0..13));
    }

    #[test]
    fn an_expired_message_is_ready_before_new_ones_and_counts_its_deliveries() {
        let mut queue = handed_out(0..2);
        assert!(queue.overdue(1059).is_empty());

        let overdue = queue.overdue(1060);
        assert_eq!(overdue, [(1060, Ranges::of(0..2))]);
        queue.give_back(&overdue[0].1, 0);

        assert_eq!(queue.ready(1060, 16).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(queue.entry(0).count(), 1);
        assert_eq!(queue.judge(0, Act::Accept, delivery(1000)), Verdict::Done);
        queue.acquire(&Ranges::of(0..1), delivery(1061), 8, 1120);
        assert_eq!(queue.judge(0, Act::Accept, delivery(1000)), Verdict::Stale);
        let Entry::Acquired {
            count,
            first_pop_ms,
            ..
        } = queue.entry(0)
        else {
            panic!("it was handed out");
        };
        assert_eq!((count, first_pop_ms), (2, 1000));
    }

    #[test]
    fn a_message_at_the_limit_of_attempts_is_not_ready_but_exhausted() {
        let mut queue = handed_out(0..1);
        queue.give_back(&Ranges::of(0..1), 0);

        assert_eq!(queue.ready(2000, 1).count(), 0);
        assert_eq!(queue.exhausted(1).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn a_delivery_that_is_undone_does_not_count() {
        let mut queue = handed_out(0..3);
        queue.forget(&Ranges::of(2..3));
        queue.give_back(&Ranges::of(1..2), 0);
        queue.acquire(&Ranges::of(1..2), delivery(1001), 7, 1060);

        assert!(queue.undo(delivery(1000)) && queue.undo(delivery(1001)));

        assert_eq!((queue.entry(0), queue.entry(1).count()), (Entry::NEW, 1));
        assert!(queue.is_finished(2));
        assert_eq!(queue.ready(0, 2).collect::<Vec<_>>(), [0, 1]);
        // No other consumer has the message of the first delivery.
        assert_eq!(queue.judge(1, Act::Accept, delivery(1000)), Verdict::Done);
        assert!(!queue.undo(delivery(1001)));
    }

    #[test]
    fn an_old_handle_is_void_after_a_renewal() {
        let mut queue = handed_out(0..1);

        queue.renew(&Ranges::of(0..1), 1005, 2000);

        assert_eq!(queue.judge(0, Act::Accept, delivery(1000)), Verdict::Stale);
        assert_eq!(queue.judge(0, Act::Accept, delivery(1005)), Verdict::Done);
        assert!(queue.next_delivery(900, false).pop_time_ms > 1005);
    }

    #[test]
    fn offsets_behind_the_window_are_refused() {
        let queue = ShareQueue::starting_at(5);

        assert_eq!(
            queue.judge(5 + WINDOW - 1, Act::Accept, delivery(1)),
            Verdict::Done
        );
        assert_eq!(
            queue.judge(5 + WINDOW, Act::Accept, delivery(1)),
            Verdict::Stale
        );
    }

    #[test]
    fn a_snapshot_without_acquisitions_says_what_is_finished() {
        let mut queue = handed_out(0..6);
        queue.forget(&Ranges::of(2..4));

        let mut other = ShareQueue::default();
        other.restore(&queue.snapshot(false));

        assert_eq!(other.snapshot(false), queue.snapshot(false));
        assert_eq!((other.start(), other.end()), (0, 4));
        assert_eq!(other.entry(0), Entry::NEW);
        assert_eq!(other.entry(2), Entry::Forgotten);
        other.restore(&queue.snapshot(true));
        assert_eq!(other, queue);
    }

    #[test]
    fn a_snapshot_for_another_member_keeps_how_long_messages_are_hidden() {
        let mut queue = handed_out(0..3);
        queue.give_back(&Ranges::of(1..2), 5000);

        let moved = queue.snapshot(true).moved_by(-1000).moved_by(40);

        let mut other = ShareQueue::default();
        other.restore(&moved);
        assert!(other.overdue(99).is_empty());
        assert_eq!(other.overdue(100), [(100, [0, 2].into_iter().collect())]);
        assert_eq!(other.ready(4039, 16).count(), 0);
        assert_eq!(other.ready(4040, 16).collect::<Vec<_>>(), [1]);
        assert_eq!(moved.finished_only(), queue.snapshot(false));
        assert_eq!(other.judge(0, Act::Accept, delivery(1000)), Verdict::Done);
    }

    #[test]
    fn handles_from_before_a_reset_are_void() {
        let mut queue = handed_out(0..1);
        queue.restore(&Snapshot {
            epoch: 2,
            reset_epoch: 2,
            start: 0,
            ..Snapshot::default()
        });

        assert_eq!(queue.judge(0, Act::Accept, delivery(1000)), Verdict::Stale);
        let since = Delivery {
            pop_time_ms: 1,
            tag: 2,
        };
        assert_eq!(queue.judge(0, Act::Accept, since), Verdict::Done);
    }

    #[test]
    fn handles_of_a_former_share_queue_of_the_name_are_void() {
        let mut queue = ShareQueue::default();
        queue.restore(&Snapshot {
            last_pop_time_ms: 1000,
            reset_pop_time_ms: 1000,
            ..Snapshot::default()
        });
        queue.own(1, 7);

        let next = queue.next_delivery(900, false);

        assert_eq!(queue.judge(0, Act::Accept, delivery(1000)), Verdict::Stale);
        assert_eq!(queue.judge(0, Act::Accept, next), Verdict::Done);
    }

    #[test]
    fn handles_from_before_a_reset_stay_void_after_any_number_of_epochs() {
        let mut queue = ShareQueue::default();
        queue.restore(&Snapshot {
            epoch: 2,
            reset_epoch: 2,
            last_pop_time_ms: 1000,
            reset_pop_time_ms: 1000,
            ..Snapshot::default()
        });

        // A reset of each queue of a large topic takes so many epochs that tags come again.
        queue.own(3000, 7);

        assert_eq!(queue.judge(0, Act::Accept, delivery(1000)), Verdict::Stale);
    }

    #[test]
    fn ordered_handles_from_before_a_reset_are_void_by_their_time() {
        let mut queue = handed_out(0..1);
        let reset = Snapshot {
            epoch: 2,
            reset_epoch: 2,
            reset_pop_time_ms: 1000,
            last_pop_time_ms: 1000,
            ..Snapshot::default()
        };
        queue.restore(&reset);
        let former = Delivery {
            pop_time_ms: 1000,
            tag: ORDERED_TAG,
        };

        let next = queue.next_delivery(900, true);

        assert_eq!(queue.judge(0, Act::Accept, former), Verdict::Stale);
        assert_eq!(queue.judge(0, Act::Accept, next), Verdict::Done);
        assert_eq!(queue.snapshot(false), reset);
    }
}
