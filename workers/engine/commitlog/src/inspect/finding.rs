//! What can be wrong with a store, and how bad that is.

use std::path::PathBuf;

#[cfg(test)]
mod tests;

/// Findings kept; more are only counted.
const FINDINGS_KEPT_MAX: usize = 1000;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// Bytes in the log that are no record, with records behind them.
    DamagedLog,
    /// Segments between two others are gone.
    MissingSegments,
    /// The log ends before the position it was flushed to.
    LostTail,
    /// Messages of a queue that lie where the log is damaged, missing or lost.
    LostMessages,
    /// Records with the right checksum of their body and a wrong one of the whole record, which
    /// stores without the CRC property serve.
    WrongRecordCrc,
    /// A segment whose size or name is not that of the others.
    OddSegment,
    /// A queue file whose size is not that of the others, or a topic with both kinds of queues.
    OddQueueFile,
    /// The newest segment was still being allocated when the process died.
    UnfinishedSegment,
    /// A record torn by a crash; the next start cuts it.
    TornRecord,
    /// A record without its queue entry; the next start after a crash, or a rebuild, writes it.
    MissingEntry,
    /// A queue entry that does not fit its record; a rebuild writes it again.
    WrongEntry,
    /// Queue entries without a record; a rebuild drops them.
    StrayEntries,
    /// A queue whose files are gone, as after its topic was deleted.
    AbsentQueue,
    /// An index file whose size, header or first or last entry is impossible.
    DamagedIndex,
    /// A chain of an index file that leaves out entries.
    BrokenIndexChain,
    /// An index entry that is not what its record says.
    WrongIndexEntry,
    /// Keys of records in the indexed part of the log without an index entry.
    MissingIndexKeys,
    /// Index entries behind the end of the log.
    IndexBehindLog,
    /// Index files that a crash left in an unknown state; the next start makes them again.
    UnflushedIndex,
    /// The log's last records are not indexed yet.
    UnfinishedIndex,
    /// The index has no entries for tags, as before `RocketMQ` 5.5.
    IndexWithoutTags,
    /// Neither the epoch file nor its backup can be read.
    DamagedEpochs,
    /// The epoch file cannot be read; its backup may lack the newest epoch.
    EpochsFromBackup,
    /// The backup of the epoch file cannot be read.
    DamagedEpochBackup,
    /// Epochs that begin behind the end of the log.
    EpochsBehindLog,
    /// The log begins before its oldest epoch.
    LogBeforeEpochs,
    /// No checkpoint, although the log has records.
    AbsentCheckpoint,
    /// The checkpoint holds a time that no record has reached.
    WrongCheckpoint,
    /// The store was not closed.
    UncleanStop,
    /// A truncation is under way; the next start finishes it.
    InterruptedTruncation,
    /// The journal of a truncation cannot be read.
    DamagedJournal,
    /// A file or directory that the store never reads.
    Leftover,
}

impl FindingKind {
    /// Every kind.
    pub const ALL: [Self; 32] = [
        Self::DamagedLog,
        Self::MissingSegments,
        Self::LostTail,
        Self::LostMessages,
        Self::WrongRecordCrc,
        Self::OddSegment,
        Self::OddQueueFile,
        Self::UnfinishedSegment,
        Self::TornRecord,
        Self::MissingEntry,
        Self::WrongEntry,
        Self::StrayEntries,
        Self::AbsentQueue,
        Self::DamagedIndex,
        Self::BrokenIndexChain,
        Self::WrongIndexEntry,
        Self::MissingIndexKeys,
        Self::IndexBehindLog,
        Self::UnflushedIndex,
        Self::UnfinishedIndex,
        Self::IndexWithoutTags,
        Self::DamagedEpochs,
        Self::EpochsFromBackup,
        Self::DamagedEpochBackup,
        Self::EpochsBehindLog,
        Self::LogBeforeEpochs,
        Self::AbsentCheckpoint,
        Self::WrongCheckpoint,
        Self::UncleanStop,
        Self::InterruptedTruncation,
        Self::DamagedJournal,
        Self::Leftover,
    ];

    /// A stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DamagedLog => "damaged_log",
            Self::MissingSegments => "missing_segments",
            Self::LostTail => "lost_tail",
            Self::LostMessages => "lost_messages",
            Self::WrongRecordCrc => "wrong_record_crc",
            Self::OddSegment => "odd_segment",
            Self::OddQueueFile => "odd_queue_file",
            Self::UnfinishedSegment => "unfinished_segment",
            Self::TornRecord => "torn_record",
            Self::MissingEntry => "missing_entry",
            Self::WrongEntry => "wrong_entry",
            Self::StrayEntries => "stray_entries",
            Self::AbsentQueue => "absent_queue",
            Self::DamagedIndex => "damaged_index",
            Self::BrokenIndexChain => "broken_index_chain",
            Self::WrongIndexEntry => "wrong_index_entry",
            Self::MissingIndexKeys => "missing_index_keys",
            Self::IndexBehindLog => "index_behind_log",
            Self::UnflushedIndex => "unflushed_index",
            Self::UnfinishedIndex => "unfinished_index",
            Self::IndexWithoutTags => "index_without_tags",
            Self::DamagedEpochs => "damaged_epochs",
            Self::EpochsFromBackup => "epochs_from_backup",
            Self::DamagedEpochBackup => "damaged_epoch_backup",
            Self::EpochsBehindLog => "epochs_behind_log",
            Self::LogBeforeEpochs => "log_before_epochs",
            Self::AbsentCheckpoint => "absent_checkpoint",
            Self::WrongCheckpoint => "wrong_checkpoint",
            Self::UncleanStop => "unclean_stop",
            Self::InterruptedTruncation => "interrupted_truncation",
            Self::DamagedJournal => "damaged_journal",
            Self::Leftover => "leftover",
        }
    }

    fn is_note(self) -> bool {
        self.severity() == "note"
    }

    /// How bad it is. `lost`: messages cannot be read; `blocked`: a broker cannot start; `derived`:
    /// a rebuild from the log repairs it; `weakened`: a safeguard is gone; `note`: it is no fault.
    #[must_use]
    pub fn severity(self) -> &'static str {
        match self {
            Self::DamagedLog | Self::MissingSegments | Self::LostTail | Self::LostMessages => {
                "lost"
            }
            Self::OddSegment | Self::OddQueueFile | Self::DamagedEpochs | Self::DamagedJournal => {
                "blocked"
            }
            Self::MissingEntry
            | Self::WrongEntry
            | Self::StrayEntries
            | Self::DamagedIndex
            | Self::BrokenIndexChain
            | Self::WrongIndexEntry
            | Self::MissingIndexKeys
            | Self::IndexBehindLog
            | Self::AbsentCheckpoint
            | Self::WrongCheckpoint => "derived",
            Self::EpochsFromBackup | Self::DamagedEpochBackup => "weakened",
            Self::WrongRecordCrc
            | Self::UnfinishedSegment
            | Self::TornRecord
            | Self::AbsentQueue
            | Self::UnflushedIndex
            | Self::UnfinishedIndex
            | Self::IndexWithoutTags
            | Self::EpochsBehindLog
            | Self::LogBeforeEpochs
            | Self::UncleanStop
            | Self::InterruptedTruncation
            | Self::Leftover => "note",
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The queue, as `topic/queue id`; empty for everything else.
    pub queue: String,
    /// A queue offset for a queue, else the log position it is about; 0 where there is none.
    pub position: u64,
    /// The file or directory that it is in.
    pub file: PathBuf,
    /// Where in that file; 0 for all of it.
    pub byte: u64,
    /// What was found there.
    pub text: String,
}

/// A number of things, in words.
pub(super) fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// Findings as they are collected.
#[derive(Debug, Default)]
pub(super) struct Findings {
    kept: Vec<Finding>,
    /// Those of them that are no fault.
    notes_kept: usize,
    count: u64,
}

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        self.count += 1;
        let is_note = finding.kind.is_note();
        if self.kept.len() >= FINDINGS_KEPT_MAX {
            // Notes without number, of deleted topics for example, are to hide no fault.
            if is_note || self.notes_kept == 0 {
                return;
            }
            let last = self.kept.iter().rposition(|kept| kept.kind.is_note());
            self.kept.remove(last.unwrap_or_default());
            self.notes_kept -= 1;
        }
        self.notes_kept += usize::from(is_note);
        self.kept.push(finding);
    }

    /// Adds what concerns a file and no queue.
    pub(super) fn add_in_file(
        &mut self,
        kind: FindingKind,
        (file, byte): (PathBuf, u64),
        position: u64,
        text: String,
    ) {
        self.add(Finding {
            kind,
            queue: String::new(),
            position,
            file,
            byte,
            text,
        });
    }

    pub(super) fn kept(&self) -> &[Finding] {
        &self.kept
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }
}
