//! The epoch file of a store: `epochFileCheckpoint`, and `.bak` with what it held before.
//!
//! Each file is written under another name, synced and renamed, so that it is whole or old and
//! never torn. An epoch is in the synced file before it serves (D12).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::checked_text;
use crate::epochs::{Epoch, EpochList};
use crate::error::StoreError;
use crate::files::{Replacement, backup_of, remove_file, replace_file, sync_parent};

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

    /// The list that the file holds.
    pub(crate) fn list(&self) -> &EpochList {
        &self.list
    }

    /// Whether the epochs come from the backup, which may lack the newest one.
    pub(crate) fn is_from_backup(&self) -> bool {
        self.is_from_backup
    }

    /// Makes a later list durable; what the file held before goes to the backup.
    ///
    /// A disk without room refuses before anything is changed: a broker that was elected then asks
    /// again until it has some. Whether the list is on the disk is unknown after an error of `put`.
    pub(crate) fn write(
        &mut self,
        list: EpochList,
        put: impl FnOnce(Vec<Replacement>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let replace = |path: &Path, list| Replacement::prepare(path, encode(list).as_bytes());
        let mut replacements = Vec::with_capacity(2);
        if !self.list.as_slice().is_empty() {
            replacements.push(replace(&backup_of(&self.path), &self.list)?);
        }
        replacements.push(replace(&self.path, &list)?);
        put(replacements)?;
        self.list = list;
        Ok(())
    }

    /// Cuts both files with the log, so that not even the backup knows an epoch behind its end.
    ///
    /// Both are written again whatever they hold: an earlier attempt may not have been synced.
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
            "{reason}; restore it or its .bak, or copy the whole store again from its master"
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
