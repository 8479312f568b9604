//! A lost part of a mapped file: an error that stops the store and names the file, never a signal.

use crate::error::StoreError;
use crate::files::segment_name;
use crate::log::SharedLog;
use crate::queue::SharedQueue;
use crate::store::Store;
use crate::sys::trap::has_lost;

impl Store {
    /// Fails if a page of this store's files could not be had, now or ever since it was opened.
    ///
    /// What was read before this call without such an error is what the files hold, and what was
    /// written is in the page cache. Costs a load as long as no store of this process lost anything.
    ///
    /// # Errors
    /// [`StoreError::Poisoned`], naming the file. The store refuses further work.
    #[inline]
    pub fn check_maps(&self) -> Result<(), StoreError> {
        if has_lost() {
            self.look_for_losses()
        } else {
            Ok(())
        }
    }

    #[cold]
    fn look_for_losses(&self) -> Result<(), StoreError> {
        let of_queues = || {
            let queues = self.queues.list();
            queues.iter().find_map(|(_, _, queue)| queue.loss())
        };
        let Some(loss) = self.log.loss().or_else(of_queues) else {
            return self.local().map_or(Ok(()), Self::look_for_losses);
        };
        self.poison(&loss);
        Err(StoreError::Poisoned { reason: loss })
    }
}

impl SharedLog {
    /// Which segment lost a part, and why.
    pub(crate) fn loss(&self) -> Option<String> {
        self.each_segment(|segment| {
            let path = self.dir().join(segment_name(segment.base));
            let why = segment.map.loss()?;
            Some(format!("{}: {why}", path.display()))
        })
    }
}

impl SharedQueue {
    /// Which file lost a part, and why.
    pub(crate) fn loss(&self) -> Option<String> {
        self.each_segment(|segment| {
            let path = self.dir().join(segment_name(segment.base));
            let why = segment.map.loss()?;
            Some(format!("{}: {why}", path.display()))
        })
    }
}
