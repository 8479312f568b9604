//! The locks that a call of the store may hold together, and the order in which they are taken.
//!
//! A thread takes locks of rising rank. A debug build checks that and panics, also where no other thread is
//! in the way; a release build has the bare locks. Not ranked are locks below which no other is taken: those of
//! segments, topics, index files, the published epochs, and those of the helpers and of one queue's directory.

use std::ops::{Deref, DerefMut};

use regent_sync::{Mutex, MutexGuard};

/// What the lock of each rank guards, and during which work it is held.
pub(crate) mod rank {
    /// Deleting old files: while segments, queue files and index files are removed.
    pub(crate) const EXPIRY: u8 = 0;
    /// The key index and other followers: while their files are written, and their times are put
    /// into the checkpoint.
    pub(crate) const FOLLOWERS: u8 = 1;
    /// The checkpoint and what it rests on: while queues are flushed and the checkpoint is synced.
    pub(crate) const CHECKPOINTER: u8 = 2;
    /// The flush of the log: while the log is flushed, or an epoch's file is written.
    pub(crate) const FLUSHER: u8 = 3;
    /// The epoch file: while it is written.
    pub(crate) const EPOCHS: u8 = 4;
    /// The end of the log and of each queue: while records are appended.
    pub(crate) const APPENDER: u8 = 5;
    /// How far write-back was started: while it is started.
    pub(crate) const WRITE_BACK: u8 = 6;
    /// Which entries readers do not see yet: while an append notes its entry, and a confirmation
    /// takes the notes.
    pub(crate) const SHOWN: u8 = 7;
    /// The timer wheel, its log and the deliveries: while they are read and written, and the log
    /// is read.
    pub(crate) const TIMERS: u8 = 8;
}

/// A lock of one rank.
#[derive(Debug, Default)]
pub(crate) struct Ranked<const RANK: u8, T>(Mutex<T>);

/// What a locked [`Ranked`] guards.
#[derive(Debug)]
pub(crate) struct RankedGuard<'a, const RANK: u8, T> {
    guard: MutexGuard<'a, T>,
    _held: Held<RANK>,
}

impl<const RANK: u8, T> Ranked<RANK, T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    #[inline(always)]
    pub(crate) fn lock(&self) -> RankedGuard<'_, RANK, T> {
        let held = Held::note();
        let guard = self.0.lock();
        RankedGuard { guard, _held: held }
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<const RANK: u8, T> Deref for RankedGuard<'_, RANK, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<const RANK: u8, T> DerefMut for RankedGuard<'_, RANK, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Stands for a lock that this thread holds.
#[derive(Debug)]
struct Held<const RANK: u8>;

#[cfg(not(debug_assertions))]
impl<const RANK: u8> Held<RANK> {
    #[inline(always)]
    fn note() -> Self {
        Self
    }
}

/// Does work that may take the locks of another store.
#[cfg(feature = "failpoints")]
pub(crate) fn apart<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(debug_assertions)]
    let held = checked::HELD.with(|held| held.replace(0));
    let done = work();
    #[cfg(debug_assertions)]
    checked::HELD.with(|now| now.set(held));
    done
}

#[cfg(debug_assertions)]
mod checked {
    use std::cell::Cell;

    use super::Held;

    regent_sync::thread_local! {
        /// A bit for each rank that the thread holds.
        pub(super) static HELD: Cell<u16> = const { Cell::new(0) };
    }

    impl<const RANK: u8> Held<RANK> {
        pub(super) fn note() -> Self {
            let held = HELD.with(Cell::get);
            assert!(
                held >> RANK == 0,
                "a lock of rank {RANK} was taken below locks of ranks {held:#011b}"
            );
            HELD.with(|now| now.set(held | 1 << RANK));
            Self
        }
    }

    impl<const RANK: u8> Drop for Held<RANK> {
        fn drop(&mut self) {
            HELD.with(|held| held.set(held.get() & !(1 << RANK)));
        }
    }
}

#[cfg(test)]
#[cfg(debug_assertions)]
mod tests {
    use super::*;

    #[test]
    fn locks_of_rising_rank_can_be_held_together_and_given_back_in_any_order() {
        let flusher = Ranked::<{ rank::FLUSHER }, _>::new(1);
        let appender = Ranked::<{ rank::APPENDER }, _>::new(2);

        for _ in 0..2 {
            let one = flusher.lock();
            let other = appender.lock();
            assert_eq!(*one + *other, 3);
            drop(one);
            drop(other);
        }
    }

    #[test]
    #[should_panic(expected = "a lock of rank 3 was taken below")]
    fn a_lock_that_is_taken_below_one_of_higher_rank_is_a_bug() {
        let flusher = Ranked::<{ rank::FLUSHER }, _>::new(());
        let appender = Ranked::<{ rank::APPENDER }, _>::new(());

        let _held = appender.lock();
        let _inverted = flusher.lock();
    }
}
