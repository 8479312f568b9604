//! What can go wrong, one enumeration per family, each with a stable code for other languages.

use std::io;
use std::path::PathBuf;

use crate::epochs::EpochRefused;
use crate::log_damage::LogDamage;

/// Why a store cannot be opened, read, flushed or closed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process, or another store of this one, holds the lock file.
    #[error("the store at {path} is in use by another process")]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// Bytes that must be intact are not.
    #[error("the store is damaged at log position {position}: {reason}")]
    Corrupt {
        /// Position of the first damaged record.
        position: u64,
        /// What is wrong there.
        reason: String,
    },
    /// A file in the store directory has a size or name that no store writes.
    #[error("unexpected file {path}: {reason}")]
    UnexpectedFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The store has queues of a kind that only stock serves.
    #[error(
        "{path} holds {kind} queues, which only RocketMQ serves: open the store with RocketMQ, or \
         delete the topics there"
    )]
    UnservedQueues {
        /// The directory with these queues.
        path: PathBuf,
        /// `batch` or `light`.
        kind: &'static str,
    },
    /// A record holds several messages, which only stock serves.
    #[error(
        "the record of topic {topic} at log position {position} is an inner batch, which only \
         RocketMQ serves: keep this log with RocketMQ until the record has expired"
    )]
    InnerBatch {
        /// Position of the record.
        position: u64,
        /// Its topic.
        topic: String,
    },
    /// A small file that only this store writes, or stock, holds something else.
    #[error("{path} is damaged: {reason}")]
    DamagedFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what an operator can do.
        reason: String,
    },
    /// The log is damaged, so that nothing may be appended or flushed (D13).
    #[error(
        "the store is read-only, because {path} is {damage}: replace that file, or cut the log \
         there (cut_damage_at={})", damage.position
    )]
    ReadOnly {
        /// The segment with the first damage.
        path: PathBuf,
        /// The first damage.
        damage: Box<LogDamage>,
    },
    /// The log cannot be cut there.
    #[error("the log cannot be cut at {position}: {reason}")]
    NoBoundary {
        /// Where it was to be cut.
        position: u64,
        /// Why not.
        reason: &'static str,
    },
    /// An epoch does not follow the newest one.
    #[error(transparent)]
    EpochRefused(#[from] EpochRefused),
    /// A search by key was given up, whatever it had found: less than all is no answer.
    #[error(
        "the search was given up after {followed_count} entries of the key index, which took \
         longer than {limit_ms} ms: narrow its range of times"
    )]
    SearchTooLong {
        /// Entries looked at.
        followed_count: u64,
        /// How long it was allowed to take.
        limit_ms: u64,
    },
    /// A search by key had to read so much of the log that it was given up.
    #[error(
        "the search was given up after {limit_ms} ms: {bytes_left} bytes of the log, which the key \
         index does not hold yet, were still to be read: ask again later"
    )]
    TailTooLong {
        /// Bytes that were not read.
        bytes_left: u64,
        /// How long it was allowed to take.
        limit_ms: u64,
    },
    /// A search by key found nothing in an index that lacks much of the log.
    #[error(
        "no message with this key is in the key index, but the index does not hold the last \
         {bytes} bytes of the log yet: ask again later"
    )]
    IndexBehind {
        /// Bytes of the log that were not looked through.
        bytes: u64,
    },
    /// A setting is out of range.
    #[error("invalid setting: {0}")]
    Setting(String),
    /// No space left to preallocate a file.
    #[error(
        "the disk is full: no space to allocate {path} ({source}); make room on it, and the work \
         goes on by itself"
    )]
    DiskFull {
        /// The file that could not be allocated.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// An earlier flush failed or a thread panicked inside the store: reopen it.
    #[error("the store refuses work until it is reopened, because it failed before: {reason}")]
    Poisoned {
        /// The failure.
        reason: String,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// Any other answer of the system.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
}

impl StoreError {
    /// A short stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Locked { .. } => "locked",
            Self::Corrupt { .. } => "corrupt",
            Self::UnexpectedFile { .. } => "unexpected_file",
            Self::UnservedQueues { .. } => "unserved_queues",
            Self::InnerBatch { .. } => "inner_batch",
            Self::DamagedFile { .. } => "damaged_file",
            Self::ReadOnly { .. } => "read_only",
            Self::NoBoundary { .. } => "no_boundary",
            Self::EpochRefused(_) => "epoch_refused",
            Self::SearchTooLong { .. } | Self::TailTooLong { .. } => "search_too_long",
            Self::IndexBehind { .. } => "index_behind",
            Self::Setting(_) => "invalid_setting",
            Self::DiskFull { .. } => "disk_full",
            Self::Poisoned { .. } => "poisoned",
            Self::Closed => "closed",
            Self::Io { .. } => "io",
        }
    }

    /// The same error for one more caller.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::DiskFull { path, source } | Self::Io { path, source } => {
                let copy = || io::Error::new(source.kind(), source.to_string());
                let source = source.raw_os_error();
                Self::io(path, source.map_or_else(copy, io::Error::from_raw_os_error))
            }
            other => Self::Io {
                path: PathBuf::new(),
                source: io::Error::other(other.to_string()),
            },
        }
    }

    /// The same error where room on the disk is of no use: the store has to be reopened.
    pub(crate) fn whatever_room(self) -> Self {
        match self {
            Self::DiskFull { path, source } => Self::Io { path, source },
            other => other,
        }
    }

    /// Whether the system refused something.
    pub(crate) fn is_of_system(&self) -> bool {
        matches!(self, Self::DiskFull { .. } | Self::Io { .. })
    }

    /// Whether the system could not open one more file. Only opening answers that: nothing was synced
    /// or written before it was asked.
    pub(crate) fn is_for_want_of_files(&self) -> bool {
        let Self::Io { source, .. } = self else {
            return false;
        };
        matches!(source.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
    }

    /// Whether a file that was just listed is not there.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Names the file; a full disk, quota or file-size limit becomes [`StoreError::DiskFull`].
    pub(crate) fn io(path: impl Into<PathBuf>, source: io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::DiskFull { path, source },
            _ => Self::Io { path, source },
        }
    }
}

/// Why a message was not appended. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// Empty, too long, or a name that would leave the store directory.
    #[error("illegal topic name")]
    IllegalTopic,
    /// Negative or above [`crate::QUEUE_ID_MAX`].
    #[error("illegal queue id {0}")]
    IllegalQueueId(i32),
    /// The body is over `message_body_size_max`, or the record over 64 KiB more than that.
    #[error("message of {size} bytes is over the limit of {limit}")]
    MessageTooLarge {
        /// Size found.
        size: usize,
        /// Size allowed.
        limit: usize,
    },
    /// Properties are over 32 767 bytes.
    #[error("properties of {0} bytes are over the limit of 32767")]
    PropertiesTooLarge(usize),
    /// Properties that could be taken for never written after a crash (FORMAT.md 2).
    #[error("properties must neither begin nor end with a NUL byte, nor have 512 of them in a row")]
    BlankProperties,
    /// A packed batch that is empty, or whose lengths do not add up.
    #[error("malformed batch: {0}")]
    MalformedBatch(&'static str),
    /// A message of a batch has a property that only a message outside a batch may have.
    #[error("a message of a batch cannot have the property {0}: send that message by itself")]
    SpecialInBatch(&'static str),
    /// The message is said to be an inner batch, which only stock stores.
    #[error("inner batches are not stored; send the messages as a plain batch")]
    InnerBatch,
    /// The topic has the name of a light queue, which only stock has.
    #[error("light queues are not stored: a topic name cannot begin with %LMQ%")]
    LightQueue,
    /// The queue takes no messages: see [`crate::Store::seal_queue`].
    #[error("queue {queue_id} of topic {topic} is sealed: its messages go to another queue")]
    QueueSealed {
        /// Topic of the queue.
        topic: String,
        /// Id of the queue.
        queue_id: i32,
    },
    /// The topic's messages are in the other log of the store: see [`crate::Store::of`].
    #[error("messages of a topic that is not replicated are not stored with others")]
    OtherLog,
    /// The store could not make room or refuses work.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AppendError {
    /// A short stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::PropertiesTooLarge(_) => "properties_too_large",
            Self::BlankProperties => "blank_properties",
            Self::QueueSealed { .. } => "queue_sealed",
            Self::IllegalTopic
            | Self::IllegalQueueId(_)
            | Self::MessageTooLarge { .. }
            | Self::InnerBatch
            | Self::LightQueue
            | Self::OtherLog
            | Self::MalformedBatch(_)
            | Self::SpecialInBatch(_) => "illegal_message",
        }
    }
}
