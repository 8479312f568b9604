//! The small files beside the log: epochs and their backup, checkpoint, journal, abort mark.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::finding::{FindingKind, Findings};
use super::walk::LogWalk;
use crate::checkpoint::Checkpoint;
use crate::config::StoreConfig;
use crate::epoch_file::inspect;
use crate::epochs::{Epoch, EpochList};
use crate::error::StoreError;
use crate::files::backup_of;
use crate::index::Trust;
use crate::log_end::LogEnd;
use crate::mark::Mark;
use crate::system_run::system_run;
use crate::truncation::Truncation;

/// Three times, then two positions, of eight bytes each.
const CHECKPOINT_TIMES: [&str; 3] = [
    "physicMsgTimestamp",
    "logicsMsgTimestamp",
    "indexMsgTimestamp",
];

/// What the checkpoint says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckpointSurvey {
    /// Store time of the newest record known to be on the disk.
    pub log_timestamp_ms: i64,
    /// Store time up to which every queue entry is on the disk.
    pub queue_timestamp_ms: i64,
    /// Store time up to which full index files are on the disk.
    pub index_timestamp_ms: i64,
    /// Log position up to which the log is on the disk.
    pub flushed_position: u64,
    /// Log position up to which readers may see it.
    pub confirmed_position: u64,
}

type Read<T> = Result<Option<T>, &'static str>;

/// The content of the files; an error is what is wrong with one.
#[derive(Debug)]
pub(super) struct Control {
    root: PathBuf,
    epoch_path: PathBuf,
    epochs: Read<EpochList>,
    backup: Read<EpochList>,
    journal: Read<Truncation>,
    checkpoint: Option<Checkpoint>,
    has_abort_mark: bool,
}

impl Control {
    pub(super) fn load(root: &Path) -> Result<Self, StoreError> {
        let epoch_path = root.join("epochFileCheckpoint");
        Ok(Self {
            epochs: inspect(&epoch_path)?,
            backup: inspect(&backup_of(&epoch_path))?,
            journal: Truncation::inspect(&root.join("truncation"))?,
            checkpoint: Checkpoint::find(&root.join("checkpoint"))?,
            has_abort_mark: Mark::find(&root.join("abort"))?.is_some(),
            root: root.to_path_buf(),
            epoch_path,
        })
    }

    /// The list that a store goes by: the file's, or else its backup's.
    pub(super) fn epochs(&self) -> &[Epoch] {
        let mut lists = [&self.epochs, &self.backup].into_iter();
        let list = lists.find_map(|list| list.as_ref().ok()?.as_ref());
        list.map_or(&[], EpochList::as_slice)
    }

    pub(super) fn checkpoint(&self) -> Option<CheckpointSurvey> {
        self.checkpoint.map(|found| CheckpointSurvey {
            log_timestamp_ms: found.log_timestamp_ms,
            queue_timestamp_ms: found.queue_timestamp_ms,
            index_timestamp_ms: found.index_timestamp_ms,
            flushed_position: found.flushed_position,
            confirmed_position: found.confirmed_position,
        })
    }

    pub(super) fn truncation_position(&self) -> Option<u64> {
        let journal = self.journal.ok().flatten();
        journal.map(|truncation| truncation.position)
    }

    /// End of the part of the log that must be intact, once a truncation is finished.
    pub(super) fn known_flushed_position(&self) -> u64 {
        let flushed = self.checkpoint.unwrap_or_default().known_flushed_position();
        flushed.min(self.truncation_position().unwrap_or(u64::MAX))
    }

    /// Walks over the log as the next start will read it.
    pub(super) fn walk(&self, config: &StoreConfig) -> Result<LogWalk, StoreError> {
        let log_dir = config.log_dir();
        let mark = Mark::find(&self.root.join("abort"))?;
        let run = system_run(&[&self.root, &log_dir]);
        let flushed = self.checkpoint.map(|_| self.known_flushed_position());
        Ok(LogWalk::new(&log_dir)?
            .judging_by(config.crc_property)
            .ending_as(LogEnd::of(mark.as_ref(), run.as_deref(), flushed)))
    }

    /// Whether the last user closed the store, and left no truncation to be finished.
    pub(super) fn was_clean(&self) -> bool {
        !self.has_abort_mark && self.journal == Ok(None)
    }

    /// Which index files the next start will believe.
    pub(super) fn index_trust(&self, is_in_use: bool) -> Trust {
        if self.was_clean() || is_in_use {
            return Trust::All;
        }
        Trust::FlushedBefore(self.checkpoint.unwrap_or_default().index_timestamp_ms)
    }

    /// Reports what needs no look into the log.
    pub(super) fn begin(&self, is_in_use: bool, has_log: bool, findings: &mut Findings) {
        let at = |name: &str| (self.root.join(name), 0);
        match self.journal {
            Ok(None) => {}
            Ok(Some(Truncation { position, .. })) => {
                let text = format!("the log is being cut at {position}");
                let kind = FindingKind::InterruptedTruncation;
                findings.add_in_file(kind, at("truncation"), position, text);
            }
            Err(reason) => {
                let kind = FindingKind::DamagedJournal;
                findings.add_in_file(kind, at("truncation"), 0, reason.to_owned());
            }
        }
        if self.has_abort_mark && !is_in_use {
            let text = "the process that had the store open did not close it".into();
            findings.add_in_file(FindingKind::UncleanStop, at("abort"), 0, text);
        }
        if self.checkpoint.is_none() && has_log {
            let text = "it is missing, too short, or holds a negative position".into();
            findings.add_in_file(FindingKind::AbsentCheckpoint, at("checkpoint"), 0, text);
        }
        self.begin_epochs(findings);
    }

    fn begin_epochs(&self, findings: &mut Findings) {
        let place = (self.epoch_path.clone(), 0);
        let backup_place = (backup_of(&self.epoch_path), 0);
        match (&self.epochs, &self.backup) {
            (Ok(Some(_)), Err(reason)) => {
                let kind = FindingKind::DamagedEpochBackup;
                findings.add_in_file(kind, backup_place, 0, (*reason).to_owned());
            }
            (Ok(_), Ok(None)) | (Ok(Some(_)), Ok(_)) => {}
            (Ok(None), Ok(Some(_))) => {
                let text = "it is missing or empty, its backup is not".into();
                findings.add_in_file(FindingKind::EpochsFromBackup, place, 0, text);
            }
            (Err(reason), Ok(Some(_))) => {
                let text = format!("{reason}, its backup is readable");
                findings.add_in_file(FindingKind::EpochsFromBackup, place, 0, text);
            }
            (Ok(None), Err(reason)) => {
                let text = format!("it is missing or empty, and of its backup: {reason}");
                findings.add_in_file(FindingKind::DamagedEpochs, place, 0, text);
            }
            (Err(reason), _) => {
                let text = format!("{reason}, and it has no usable backup");
                findings.add_in_file(FindingKind::DamagedEpochs, place, 0, text);
            }
        }
    }

    /// Compares epochs and checkpoint with the log, whose newest record has the given time, if that is
    /// known.
    pub(super) fn on_end(
        &self,
        log: Range<u64>,
        newest_timestamp_ms: Option<i64>,
        findings: &mut Findings,
    ) {
        let place = || (self.epoch_path.clone(), 0);
        let cut_at = self.truncation_position().unwrap_or(u64::MAX);
        let epochs = self.epochs();
        if let Some(first) = epochs
            .first()
            .filter(|first| first.start_position > log.start)
        {
            let text = format!("the log begins at {}, {first}", log.start);
            findings.add_in_file(FindingKind::LogBeforeEpochs, place(), log.start, text);
        }
        for epoch in epochs {
            if (log.end + 1..cut_at).contains(&epoch.start_position) {
                let text = format!("{epoch}, the log ends at {}", log.end);
                let kind = FindingKind::EpochsBehindLog;
                findings.add_in_file(kind, place(), epoch.start_position, text);
            }
        }
        let Some((checkpoint, newest_timestamp_ms)) = self.checkpoint.zip(newest_timestamp_ms)
        else {
            return;
        };
        // A lost tail is reported already, and a truncation will lower the times.
        if log.end < self.known_flushed_position() || cut_at != u64::MAX {
            return;
        }
        let times = [
            checkpoint.log_timestamp_ms,
            checkpoint.queue_timestamp_ms,
            checkpoint.index_timestamp_ms,
        ];
        for ((time_ms, name), byte) in times
            .into_iter()
            .zip(CHECKPOINT_TIMES)
            .zip((0..).step_by(8))
        {
            if !(0..=newest_timestamp_ms).contains(&time_ms) {
                let text =
                    format!("{name} is {time_ms}, the newest record's {newest_timestamp_ms}");
                let place = (self.root.join("checkpoint"), byte);
                findings.add_in_file(FindingKind::WrongCheckpoint, place, 0, text);
            }
        }
    }
}
