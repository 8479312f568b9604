//! The epochs of an open store (D12).

use regent_sync::RwLock;
use regent_sync::atomic::{AtomicU64, Ordering};

use super::Store;
use crate::epoch_file::EpochFile;
use crate::epochs::{Epoch, EpochList};
use crate::error::StoreError;
use crate::files::Replacement;
use crate::locks::{Ranked, rank};

/// The epochs of a store. Readers of the list never wait for the file.
#[derive(Debug)]
pub(crate) struct Epochs {
    /// What the synced file holds; locked for a copy of a pointer only.
    durable: RwLock<EpochList>,
    /// Locked while the file is written.
    file: Ranked<{ rank::EPOCHS }, EpochFile>,
    /// Where an epoch begins that is not in the synced file yet; `u64::MAX` without one.
    beginning_at: AtomicU64,
}

impl Epochs {
    pub(crate) fn new(file: EpochFile) -> Self {
        Self {
            durable: RwLock::new(file.list().clone()),
            file: Ranked::new(file),
            beginning_at: AtomicU64::new(u64::MAX),
        }
    }
}

impl Store {
    /// Begins an epoch at the end of the log; it is on the disk when this returns (D12).
    ///
    /// Beginning the newest epoch again changes nothing. An epoch may end without a record, and
    /// the same master may begin the next.
    ///
    /// Appends go on while the file is written. Their records belong to the epoch once it is on the disk; until
    /// then no flush covers them and no replica gets them ([`Store::replicable_end`]). A crash before that leaves
    /// them to the epoch before, whose master is this broker as well.
    ///
    /// # Errors
    /// The epoch is older than the newest one known, the store is closed, poisoned or read-only,
    /// or the file cannot be written: nothing has changed then, unless the store is poisoned by it
    /// because whether the epoch is on the disk is unknown.
    pub fn begin_epoch(&self, number: i32) -> Result<(), StoreError> {
        // A flush that began before covers no record of the epoch, and the next one waits for its file.
        let _flusher = self.flusher.lock();
        self.check_writable()?;
        let begun = self.change_epochs(|list| {
            let _appender = self.appender.lock();
            let end = self.log.max_position();
            list.begin(number, end)?;
            self.epochs.beginning_at.store(end, Ordering::Release);
            Ok(())
        });
        self.epochs.beginning_at.store(u64::MAX, Ordering::Release);
        begun
    }

    /// Forgets epochs without a byte in this log, which is a beginning of its master's, as
    /// [`EpochList::cut_unwritten`] does; that is on the disk when this returns.
    ///
    /// It is not done when the store is opened: a master that crashed must still know which epoch
    /// it began, so that it never begins it again. Nothing may be appended meanwhile.
    ///
    /// # Errors
    /// As for [`Store::begin_epoch`], if there is something to forget.
    pub fn forget_unwritten_epochs(&self, master: &EpochList) -> Result<(), StoreError> {
        self.change_epochs(|list| {
            list.cut_unwritten(self.log.max_position(), master);
            Ok(())
        })
    }

    /// Takes over which epochs wrote what lies before a log that is still empty; that is on the
    /// disk when this returns. This history distinguishes two such logs, and replicas that end
    /// there, from unrelated ones. Nothing may be appended meanwhile.
    ///
    /// # Errors
    /// As for [`Store::begin_epoch`].
    pub fn adopt_history(&self, earlier: EpochList) -> Result<(), StoreError> {
        self.change_epochs(|list| {
            if self.log.max_position() == 0 && !earlier.as_slice().is_empty() {
                *list = earlier;
            }
            Ok(())
        })
    }

    /// Takes over an epoch that a master began; it is on the disk when this returns (D12).
    ///
    /// Its start may lie ahead of this log's end: stock labels the last bytes of an epoch with the
    /// next one (storage-and-ha.md 11.4, trap 46). The newest epoch again changes nothing.
    ///
    /// # Errors
    /// The epoch does not follow the newest one known; as for [`Store::begin_epoch`] otherwise.
    pub fn adopt_epoch(&self, epoch: Epoch) -> Result<(), StoreError> {
        self.check_writable()?;
        if self.epochs().last() == Some(epoch) {
            return Ok(());
        }
        self.change_epochs(|list| match list.last() {
            Some(last) if last == epoch => Ok(()),
            _ => Ok(list.append(epoch)?),
        })
    }

    /// Forgets epochs that ended before the log begins, as [`EpochList::cut_before`] does.
    pub(crate) fn forget_expired_epochs(&self, min_position: u64) -> Result<(), StoreError> {
        self.change_epochs(|list| {
            list.cut_before(min_position);
            Ok(())
        })
    }

    /// Changes the list; it is in the synced file, then readers see it.
    fn change_epochs(
        &self,
        change: impl FnOnce(&mut EpochList) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut file = self.epochs.file.lock();
        let mut list = file.list().clone();
        change(&mut list)?;
        if list == *file.list() {
            return Ok(());
        }
        self.check_writable()?;
        file.write(list, |files| {
            self.poisoning(|| files.into_iter().try_for_each(Replacement::put))
        })?;
        *self.epochs.durable.write() = file.list().clone();
        Ok(())
    }

    /// Which epoch wrote which part of the log, as the synced epoch file says. Costs a copy of a pointer.
    #[must_use]
    pub fn epochs(&self) -> EpochList {
        self.epochs.durable.read().clone()
    }

    /// End of the part of the log whose epochs [`Store::epochs`], called afterwards, knows: the end of the log
    /// or, while an epoch's file is written, where that epoch begins.
    #[must_use]
    pub fn replicable_end(&self) -> u64 {
        let end = self.log.max_position();
        end.min(self.epochs.beginning_at.load(Ordering::Acquire))
    }
}
