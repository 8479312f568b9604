//! Every step that changes what the disk holds, named, so that a test can look at it or fail it.
//!
//! Without the feature `failpoints` a step is nothing but its work.
#![allow(unreachable_pub, reason = "public only with the feature")]

use std::path::Path;

/// What a step does to the file or directory at its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "failpoints"), allow(dead_code))]
pub enum Step<'a> {
    /// Creates a file, if it is not there yet.
    Create,
    /// Gives a file a size, or disk blocks.
    Resize,
    /// Writes a small file.
    Write,
    /// Syncs a file with all it holds.
    SyncFile,
    /// Syncs a range of a mapped file.
    SyncRange {
        /// First byte.
        from: usize,
        /// Byte behind the last.
        to: usize,
    },
    /// Has the system begin to write a range of a file, without waiting for it.
    StartWriteBack {
        /// First byte.
        from: usize,
        /// Byte behind the last.
        to: usize,
    },
    /// Syncs the names in a directory.
    SyncDir,
    /// Renames a file to another name.
    Rename(&'a Path),
    /// Exchanges two directories.
    Exchange(&'a Path),
    /// Removes a file.
    Remove,
    /// Creates a directory and those above it, as far as they are missing.
    CreateDir,
    /// Removes a directory with all in it.
    RemoveDir,
}

#[cfg(not(feature = "failpoints"))]
#[inline]
pub(crate) fn step<T>(
    _: Step<'_>,
    _: &Path,
    work: impl FnOnce() -> std::io::Result<T>,
) -> std::io::Result<T> {
    work()
}

#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub(crate) fn between_record_parts() {}

#[cfg(feature = "failpoints")]
pub use watched::{Event, Hook, Watch, watch, watching_records};
#[cfg(feature = "failpoints")]
pub(crate) use watched::{between_record_parts, step};

#[cfg(feature = "failpoints")]
mod watched {
    use std::cell::RefCell;
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use parking_lot::RwLock;

    use super::Step;
    use crate::locks::apart;

    /// A step that is about to be done, or was.
    #[derive(Debug, Clone, Copy)]
    pub struct Event<'a> {
        /// What it does.
        pub step: Step<'a>,
        /// The file or directory.
        pub path: &'a Path,
        /// Whether it was done.
        pub is_done: bool,
    }

    /// Sees an event; an error becomes that of the step, which is then not done if it was not yet.
    pub type Hook = Arc<dyn Fn(&Event<'_>) -> io::Result<()> + Send + Sync>;

    static WATCHED: RwLock<Vec<(PathBuf, Hook)>> = RwLock::new(Vec::new());

    type RecordHook = Box<dyn FnMut()>;

    thread_local! {
        static RECORD_HOOK: RefCell<Option<RecordHook>> = const { RefCell::new(None) };
    }

    /// Has `hook` run wherever this thread has written one part of a record and not the next, as long
    /// as `work` runs: what the files hold then is what a kill there leaves.
    pub fn watching_records<T>(hook: impl FnMut() + 'static, work: impl FnOnce() -> T) -> T {
        RECORD_HOOK.set(Some(Box::new(hook)));
        let result = work();
        RECORD_HOOK.set(None);
        result
    }

    pub(crate) fn between_record_parts() {
        // Taken out meanwhile: the hook may append to a separate store.
        if let Some(mut hook) = RECORD_HOOK.take() {
            hook();
            RECORD_HOOK.set(Some(hook));
        }
    }

    /// Watches a directory until it is dropped.
    #[derive(Debug)]
    pub struct Watch(PathBuf);

    /// Has `hook` see every step below `root`, on whatever thread it is done.
    #[must_use]
    pub fn watch(root: &Path, hook: Hook) -> Watch {
        WATCHED.write().push((root.to_path_buf(), hook));
        Watch(root.to_path_buf())
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            WATCHED.write().retain(|(root, _)| *root != self.0);
        }
    }

    fn hit(event: Event<'_>) -> io::Result<()> {
        let find =
            |(root, hook): &(PathBuf, Hook)| event.path.starts_with(root).then(|| Arc::clone(hook));
        // The lock is not held while the hook runs: the hook may open a separate store.
        let hook = WATCHED.read().iter().find_map(find);
        hook.map_or(Ok(()), |hook| apart(|| hook(&event)))
    }

    pub(crate) fn step<T>(
        step: Step<'_>,
        path: &Path,
        work: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let event = Event {
            step,
            path,
            is_done: false,
        };
        hit(event)?;
        let done = work()?;
        hit(Event {
            is_done: true,
            ..event
        })?;
        Ok(done)
    }
}
