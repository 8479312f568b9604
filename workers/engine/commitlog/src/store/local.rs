//! The second log of a store: that of the topics that are not replicated (queue-ownership.md 4.8, Q4).
//!
//! It is a store of its own below the first one, and its positions begin at [`LOCAL_START`]. So a position
//! says in which of the two logs a record lies, and a topic says in which one its messages are. No replica
//! copies the second log. The master opens it when it begins to lead, and closes it when another broker leads.

use std::fs;
use std::path::Path;

use ahash::AHashSet;
use regent_sync::RwLock;

use super::Store;
use crate::config::{FlushMode, StoreConfig};
use crate::error::StoreError;
use crate::files::create_dir;

/// The first position of the second log, at least: no replicated log grows so long.
pub const LOCAL_START: u64 = 1 << 62;

/// Below the directory of the store.
const LOCAL_DIR: &str = "local";

/// How many offsets of a queue belong to one epoch: a queue that begins again in a later epoch never uses an
/// offset for the second time.
const OFFSETS_OF_EPOCH: u64 = 1 << 40;

/// A second log that is open, for [`Store::use_local`].
#[derive(Debug)]
pub struct LocalStore(Box<Store>);

/// The second log while it is open, and the topics whose messages it holds.
#[derive(Debug)]
pub(crate) struct LocalLog {
    store: Box<Store>,
    topics: RwLock<AHashSet<Box<str>>>,
}

impl Store {
    /// Whether the messages of a topic are in the second log, which is open then.
    #[inline]
    #[must_use]
    pub fn is_local(&self, topic: &str) -> bool {
        self.local.is_some() && self.local_of(topic).is_some()
    }

    /// The store with the messages of a topic, to append to it.
    #[inline]
    #[must_use]
    pub fn of(&self, topic: &str) -> &Self {
        if self.local.is_none() {
            return self;
        }
        self.local_of(topic).unwrap_or(self)
    }

    /// The store with the record of a position.
    #[inline]
    pub(crate) fn at(&self, log_position: u64) -> &Self {
        match &self.local {
            Some(local) if log_position >= LOCAL_START => &local.store,
            _ => self,
        }
    }

    /// The store of the second log, while that is open.
    pub(crate) fn local(&self) -> Option<&Self> {
        self.local.as_ref().map(|local| &*local.store)
    }

    #[inline(never)]
    fn local_of(&self, topic: &str) -> Option<&Self> {
        let local = self.local.as_ref()?;
        let is_local = local.topics.read().contains(topic);
        is_local.then_some(&*local.store)
    }

    /// Says whether the messages of a topic are in the second log; those of a topic that is no more are removed.
    /// It has no effect while the log is closed.
    ///
    /// # Errors
    /// The queues cannot be removed, as for [`Store::delete_queues_of`].
    pub fn set_local(&self, topic: &str, is_local: bool) -> Result<(), StoreError> {
        let Some(local) = &self.local else {
            return Ok(());
        };
        if is_local {
            local.topics.write().insert(topic.into());
            return Ok(());
        }
        if local.topics.write().remove(topic) {
            local.store.delete_queues_of(topic)?;
        }
        Ok(())
    }

    /// Opens the second log for the master of an epoch, to be taken by [`Store::use_local`]; says as well whether
    /// it holds all messages of the epochs before. A broker without epochs gives 0, and then it does.
    ///
    /// A master whose second log is not that of the epoch before begins an empty one: another broker has led
    /// meanwhile. What was there is removed by the next [`Store::expire`], and so is a damaged log.
    ///
    /// # Errors
    /// The second log is open already, or the system refuses; see [`StoreError`].
    pub fn open_local(&self, epoch: i32, now_ms: i64) -> Result<(LocalStore, bool), StoreError> {
        self.check_writable()?;
        let config = self.local_config(epoch);
        let kept = Self::open_kept(config.clone(), epoch, now_ms)?;
        let is_kept = kept.is_some();
        let store = if let Some(store) = kept {
            store
        } else {
            self.put_away(&config.root, now_ms)?;
            Self::open(config, now_ms)?
        };
        if store.max_position() == 0 {
            let start = LOCAL_START.next_multiple_of(self.config.segment_size_bytes);
            store.append_copied(start, &[])?;
        }
        if epoch > 0 {
            store.begin_epoch(epoch)?;
        }
        Ok((LocalStore(Box::new(store)), is_kept))
    }

    /// Takes the second log, which holds the messages of no topic before [`Store::set_local`].
    pub fn use_local(&mut self, local: LocalStore) {
        self.local = Some(LocalLog {
            store: local.0,
            topics: RwLock::default(),
        });
    }

    /// Moves a log to where the next [`Store::expire`] removes it: many files take a while.
    fn put_away(&self, root: &Path, now_ms: i64) -> Result<(), StoreError> {
        let removed = self.directory.queue_home(&self.config).removed();
        create_dir(&removed)?;
        let away = removed.join(format!("{LOCAL_DIR}.{now_ms}"));
        fs::rename(root, &away).map_err(|error| StoreError::io(root, error))
    }

    /// Closes the second log, which keeps what it holds until [`Store::open_local`]. Closing it twice is fine.
    ///
    /// # Errors
    /// As for [`Store::close`]; the log is let go all the same.
    pub fn end_local(&mut self) -> Result<(), StoreError> {
        self.local
            .take()
            .map_or(Ok(()), |local| local.store.close())
    }

    /// Opens a log that goes on in an epoch; `None` for one that is damaged, or is not that of the epoch before.
    fn open_kept(config: StoreConfig, epoch: i32, now_ms: i64) -> Result<Option<Self>, StoreError> {
        let store = match Self::open(config, now_ms) {
            Err(StoreError::Corrupt { .. } | StoreError::UnexpectedFile { .. }) => return Ok(None),
            opened => opened?,
        };
        let last = store.epochs().last().map_or(0, |last| last.number);
        let goes_on = epoch == 0 || epoch == last || Some(epoch) == last.checked_add(1);
        if store.is_read_only() || !goes_on {
            store.close()?;
            return Ok(None);
        }
        Ok(Some(store))
    }

    fn local_config(&self, epoch: i32) -> StoreConfig {
        let epoch = u64::try_from(epoch).unwrap_or(0);
        StoreConfig {
            root: self.config.root.join(LOCAL_DIR),
            commit_log_dir: None,
            // What the machine loses with its power, its master loses anyway.
            flush_mode: FlushMode::Async,
            first_queue_offset: epoch * OFFSETS_OF_EPOCH,
            cut_damage_at: None,
            ..self.config.clone()
        }
    }
}
