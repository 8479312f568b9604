//! What recovery reports of a store that was opened.

use crate::log_damage::LogDamage;

/// What recovery found and did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Whether the last user closed the store.
    pub was_clean: bool,
    /// Whether a flush of the last user failed, so that what was in memory only does not count.
    pub had_failed_flush: bool,
    /// Where the log was cut to finish a truncation.
    pub truncated_to: Option<u64>,
    /// Where the log of a store ends that a former version left, and that was converted (FORMAT.md 6.1).
    pub converted_at: Option<u64>,
    /// The epoch file was not readable, and its backup may lack the newest epoch.
    pub are_epochs_from_backup: bool,
    /// Damage that makes the store read-only.
    pub damage: Option<LogDamage>,
    /// Where the log was cut because the system went down before all of it was flushed, although records
    /// follow what is gone.
    pub lost_unflushed: Option<LogDamage>,
    /// Position from which records were validated.
    pub scanned_from: u64,
    /// End of the log.
    pub end_position: u64,
    /// Records validated in the last pass.
    pub record_count: u64,
    /// Bytes behind the end that were cleared because they were not zero, or too many to look at, in
    /// pages.
    pub cleared_bytes: u64,
    /// Queue entries that were missing and were written.
    pub entries_added: u64,
    /// Queue entries without a record that were dropped.
    pub entries_dropped: u64,
    /// Queues rebuilt from the start of the log.
    pub queues_rebuilt: u64,
    /// Offsets for which the log holds no record although later ones exist.
    pub offsets_missing: u64,
    /// Records whose topic or queue id cannot name a queue directory.
    pub records_unqueued: u64,
}
