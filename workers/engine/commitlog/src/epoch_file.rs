//! The epoch file of a store: `epochFileCheckpoint`, and `.bak` with what it held before.
//!
//! Each file is written under another name, synced and renamed, so that it is whole or old and
//! never torn. An epoch is in the synced file before it serves (D12).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use regent_sync::RwLock;
use regent_sync::atomic::{AtomicU64, Ordering};

use crate::checked_text;
use crate::epochs::{Epoch, EpochList};
use crate::error::StoreError;
use crate::files::{Replacement, remove_file, replace_file, sync_parent};
use crate::locks::{Ranked, rank};
use crate::store::Store;

/// The epochs of a store. Nobody who reads the list waits for the file.
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
            durable: RwLock::new(file.list.clone()),
            file: Ranked::new(file),
            beginning_at: AtomicU64::new(u64::MAX),
        }
    }
}

/// The file and the list it holds.
#[derive(Debug)]
pub(crate) struct EpochFile {
    path: PathBuf,
    list: EpochList,
    is_from_backup: bool,
}

impl EpochFile {
    /// Reads the file; when it is missing, empty or damaged, its backup. Neither is no epoch. One that
    /// cannot be read may be whole, and hold an epoch that its backup does not know.
    pub(crate) fn load(path: PathBuf) -> Result<Self, StoreError> {
        let main = read(&path);
        let is_from_backup = !matches!(main, Ok(Some(_)));
        let list = match main {
            Ok(Some(list)) => list,
            Ok(None) => read(&backup_of(&path))?.unwrap_or_default(),
            // What is wrong with the file itself says more than what is wrong with the backup.
            Err(error @ StoreError::DamagedFile { .. }) => {
                read(&backup_of(&path)).ok().flatten().ok_or(error)?
            }
            Err(error) => return Err(error),
        };
        Ok(Self {
            is_from_backup: is_from_backup && list != EpochList::default(),
            path,
            list,
        })
    }

    /// Whether the epochs come from the backup, which may lack the newest one.
    pub(crate) fn is_from_backup(&self) -> bool {
        self.is_from_backup
    }

    /// Makes a later list durable; what the file held before goes to the backup.
    ///
    /// A disk without room refuses before anything is changed: a broker that was elected then asks
    /// again until it has some. Any later error makes the store refuse further work.
    fn write(&mut self, store: &Store, list: EpochList) -> Result<(), StoreError> {
        let replace = |path: &Path, list| Replacement::prepare(path, encode(list).as_bytes());
        let mut replacements = Vec::with_capacity(2);
        if !self.list.as_slice().is_empty() {
            replacements.push(replace(&backup_of(&self.path), &self.list)?);
        }
        replacements.push(replace(&self.path, &list)?);
        store.poisoning(|| replacements.into_iter().try_for_each(Replacement::put))?;
        self.list = list;
        Ok(())
    }

    /// Cuts both files with the log, so that not even the backup knows an epoch behind its end.
    ///
    /// Both are written anew whatever they hold: an earlier attempt may not have been synced.
    pub(crate) fn cut_from(&mut self, position: u64) -> Result<(), StoreError> {
        self.list.cut_from(position);
        let paths = [backup_of(&self.path), self.path.clone()];
        if self.list.as_slice().is_empty() {
            // An empty list is no file, as in stock.
            paths.iter().try_for_each(|path| remove_file(path))?;
            return sync_parent(&self.path);
        }
        let content = encode(&self.list);
        paths
            .iter()
            .try_for_each(|path| replace_file(path, content.as_bytes()))
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

    /// Takes over which epochs wrote what lies before a log that is empty still; that is on the disk
    /// when this returns. It tells two such logs, and replicas that end there, from strangers. Nothing may be
    /// appended meanwhile.
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
            _ => list.append(epoch),
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
        let mut list = file.list.clone();
        change(&mut list)?;
        if list == file.list {
            return Ok(());
        }
        self.check_writable()?;
        file.write(self, list)?;
        *self.epochs.durable.write() = file.list.clone();
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

pub(crate) fn backup_of(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".bak");
    path.into()
}

fn encode(list: &EpochList) -> String {
    let line = |epoch: &Epoch| format!("{}-{}", epoch.number, epoch.start_position);
    let lines: Vec<String> = list.as_slice().iter().map(line).collect();
    checked_text::encode(&lines)
}

/// The list in a file; `None` when there is no file, or an empty one.
fn read(path: &Path) -> Result<Option<EpochList>, StoreError> {
    inspect(path)?.map_err(|reason| StoreError::DamagedFile {
        path: path.to_path_buf(),
        reason: format!(
            "{reason}; restore it or its .bak, or copy the whole store anew from its master"
        ),
    })
}

/// The list in a file as [`read`] takes it, or what is wrong with the file.
pub(crate) fn inspect(path: &Path) -> Result<Result<Option<EpochList>, &'static str>, StoreError> {
    match fs::read(path) {
        Ok(bytes) if bytes.is_empty() => Ok(Ok(None)),
        Ok(bytes) => Ok(decode(&bytes).map(Some)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Ok(None)),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

fn decode(bytes: &[u8]) -> Result<EpochList, &'static str> {
    let mut list = EpochList::default();
    for line in checked_text::decode(bytes)? {
        let epoch = parse(line).ok_or("a line of it is not an epoch and a position")?;
        let appended = list.append(epoch);
        appended.map_err(|_| "its epochs do not rise")?;
    }
    Ok(list)
}

fn parse(line: &str) -> Option<Epoch> {
    let (number, start) = line.split_once('-')?;
    let start: i64 = start.parse().ok()?;
    Some(Epoch {
        number: number.parse().ok()?,
        start_position: u64::try_from(start).ok()?,
    })
}
