//! The second log of a store: that of the topics that are not replicated (queue-ownership.md 4.8, Q4).
//!
//! It is a separate store below the first one, and its positions begin at [`LOCAL_START`]. So a
//! position says in which of the two logs a record lies, and a topic says in which one its messages
//! are. No replica copies the second log. The master opens it when it begins to lead, and closes it
//! when another broker leads.

mod reign;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ahash::AHashSet;
use regent_sync::RwLock;

use super::Store;
use crate::config::{FlushMode, StoreConfig};
use crate::error::StoreError;
use crate::files::create_dir;
use crate::queue_layout::ENTRY_BYTES;
use reign::{Reign, Void};

/// The first position of the second log, at least: no replicated log grows so long.
pub const LOCAL_START: u64 = 1 << 62;

/// Where the second log is, below the directory of the store.
pub const LOCAL_DIR: &str = "local";

/// An offset of a queue without these bits is the generation of its log: a queue that begins again in a later one
/// never uses an offset for the second time.
pub const LOCAL_OFFSET_BITS: u32 = 40;

/// Later generations share the offsets of this one.
const GENERATION_MAX: u64 = 1 << 18;

/// How many positions belong to one generation, of so many one behind the other: a position of a log that is
/// gone names no record of the next one.
const POSITIONS_OF_GENERATION: u64 = 1 << 50;
const POSITION_RANGE_COUNT: u64 = 1 << 11;

/// The topics whose messages are in the second log.
pub(super) type LocalTopics = RwLock<AHashSet<Box<str>>>;

/// A second log that is open, for [`Store::use_local`].
#[derive(Debug)]
pub struct LocalStore(Box<Store>);

/// The second log while it is open, and the topics whose messages it holds.
#[derive(Debug)]
pub(crate) struct LocalLog {
    store: Box<Store>,
    topics: Arc<LocalTopics>,
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

    /// Whether the messages of a topic belong to the log of this store.
    #[inline]
    pub(super) fn is_log_of(&self, topic: &str) -> bool {
        match &self.local_topics {
            Some(topics) => topics.read().contains(topic),
            None => !self.is_local(topic),
        }
    }

    /// The offset at which the queues of a topic begin: 0 unless the second log has them.
    #[must_use]
    pub fn first_offset(&self, topic: &str) -> u64 {
        self.of(topic).config.first_queue_offset
    }

    /// Says whether the messages of a topic are in the second log; those of a topic that is no more are removed,
    /// also from what a later opening finds. It has no effect while the log is closed.
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
            local.store.give_up_topic(topic)?;
        }
        Ok(())
    }

    /// Removes the queues of a topic that is no more, now and at each later opening.
    fn give_up_topic(&self, topic: &str) -> Result<(), StoreError> {
        let (min, end) = (self.min_position(), self.max_position());
        Void::add(&self.config.root, topic, (min, end))?;
        self.delete_queues_of(topic)
    }

    /// Notes that this broker leads an epoch, before it does. If another broker may have led since the second log
    /// was used, that is moved away, and the next [`Store::expire`] removes it. Without a second log nothing is
    /// done. A broker without epochs gives 0: no other one has led then.
    ///
    /// # Errors
    /// The system refuses.
    pub fn note_reign(&self, epoch: i32, now_ms: i64) -> Result<(), StoreError> {
        let root = self.config.root.join(LOCAL_DIR);
        if !root.exists() {
            return Ok(());
        }
        match Reign::find(&root)? {
            Some(former) if former.is_continued_by(epoch) => Reign { epoch, ..former }.put(&root),
            _ => self.put_away(&root, now_ms),
        }
    }

    /// Opens the second log for a master that has called [`Store::note_reign`], to be taken by
    /// [`Store::use_local`]; says as well whether it holds what it held before. Otherwise it is empty, and of a
    /// generation, which is to be higher than those before.
    ///
    /// # Errors
    /// The log is damaged, or open already, or the system refuses; see [`StoreError`]. Nothing is given up.
    pub fn open_local(
        &self,
        generation: u64,
        epoch: i32,
        now_ms: i64,
    ) -> Result<(LocalStore, bool), StoreError> {
        self.check_writable()?;
        let root = self.config.root.join(LOCAL_DIR);
        let former = if root.exists() {
            Reign::find(&root)?
        } else {
            None
        };
        if former.is_none() && root.exists() {
            // A crash came before it was complete.
            self.put_away(&root, now_ms)?;
        }
        let reign = former.unwrap_or(Reign { generation, epoch });
        let store = Self::open(self.local_config(&root, reign.generation), now_ms)?;
        if let Some(reason) = store.read_only_reason() {
            store.close()?;
            return Err(reason);
        }
        if store.max_position() == 0 {
            let range = reign.generation % POSITION_RANGE_COUNT;
            let start = LOCAL_START + range * POSITIONS_OF_GENERATION;
            let start = start.next_multiple_of(self.config.segment_size_bytes);
            store.append_copied(start, &[])?;
        }
        for void in Void::list(&root)? {
            store.delete_queues_before(&void.topic, void.position)?;
        }
        reign.put(&root)?;
        Ok((LocalStore(Box::new(store)), former.is_some()))
    }

    /// Takes the second log, which has the messages of some topics. Its queues of other topics are removed: these
    /// are no more.
    ///
    /// # Errors
    /// The queues cannot be removed.
    pub fn use_local(
        &mut self,
        local: LocalStore,
        topics: impl IntoIterator<Item = String>,
    ) -> Result<(), StoreError> {
        let topics: AHashSet<_> = topics.into_iter().map(String::into_boxed_str).collect();
        let mut store = local.0;
        let mut gone: Vec<_> = store.queues().into_iter().map(|it| it.topic).collect();
        gone.retain(|topic| !topics.contains(topic.as_str()));
        gone.dedup();
        for topic in gone {
            store.give_up_topic(&topic)?;
        }
        let topics = Arc::new(RwLock::new(topics));
        store.local_topics = Some(Arc::clone(&topics));
        self.local = Some(LocalLog { store, topics });
        Ok(())
    }

    /// Closes the second log, which keeps what it holds until [`Store::open_local`]. Closing it twice is fine.
    ///
    /// # Errors
    /// As for [`Store::close`]; the log is released all the same.
    pub fn end_local(&mut self) -> Result<(), StoreError> {
        self.local
            .take()
            .map_or(Ok(()), |local| local.store.close())
    }

    /// Gives a second log up that is closed, since another broker leads a later epoch than it was used in. The next
    /// [`Store::expire`] removes it.
    ///
    /// # Errors
    /// The system refuses.
    pub fn give_up_local(&self, epoch: i32, now_ms: i64) -> Result<(), StoreError> {
        let root = self.config.root.join(LOCAL_DIR);
        if self.local.is_some() || !root.exists() {
            return Ok(());
        }
        match Reign::find(&root)? {
            Some(reign) if reign.epoch >= epoch => Ok(()),
            _ => self.put_away(&root, now_ms),
        }
    }

    /// Moves a log to where the next [`Store::expire`] removes it: many files take a while.
    fn put_away(&self, root: &Path, now_ms: i64) -> Result<(), StoreError> {
        let removed = self.directory.queue_home(&self.config).removed();
        create_dir(&removed)?;
        let away = removed.join(format!("{LOCAL_DIR}.{now_ms}"));
        fs::rename(root, &away).map_err(|error| StoreError::io(root, error))
    }

    fn local_config(&self, root: &Path, generation: u64) -> StoreConfig {
        // Of whole files: a queue that begins within one begins with fillers.
        let entries_of_file = self.config.queue_file_size_bytes / ENTRY_BYTES;
        let first = generation.min(GENERATION_MAX) << LOCAL_OFFSET_BITS;
        StoreConfig {
            root: root.to_path_buf(),
            commit_log_dir: None,
            // What the machine loses with its power, its master loses anyway.
            flush_mode: FlushMode::Async,
            first_queue_offset: first.next_multiple_of(entries_of_file),
            cut_damage_at: None,
            ..self.config.clone()
        }
    }
}
