//! What is finished of a share queue, from the member that knows it to the one that decides next.
//!
//! A replica that acts for its absent master writes no record, so its master takes this over. To take the same over
//! again changes nothing, and of several such states the order does not matter.

use regent_commitlog::{AppendError, Store};
use regent_share::{Body, DECIDED, Delivery, Ranges, Record};

use super::{Finished, Shares};
use crate::broker::HotPathConfig;

/// All that is finished of a share queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedPart {
    /// Its number in the lane. A group that was deleted and made again has another one.
    pub sq_id: u64,
    /// The lease epoch of its last reset: what was finished before a reset says nothing afterwards.
    pub reset_epoch: u64,
    /// The offsets. The first range is of all that lies before the first message that is not finished.
    pub ranges: Ranges,
}

impl Shares {
    /// What is finished of a share queue; `None` if it is unknown.
    #[must_use]
    pub fn finished(&self, (topic, queue_id, group): (&str, i32, &str)) -> Option<FinishedPart> {
        let reign = self.reign();
        let lane = &reign.as_ref()?.lane;
        let sq_id = lane.find(topic, queue_id, group)?;
        let queue = &lane.get(sq_id)?.queue;
        Some(FinishedPart {
            sq_id,
            reset_epoch: queue.reset_epoch(),
            ranges: queue.finished(),
        })
    }

    /// Finish what another member has finished, also messages that consumers have.
    ///
    /// `None` if the share queue is unknown here or is another one, or if it was reset since: then nothing changes.
    ///
    /// # Errors
    /// The store refused the record; nothing is finished.
    pub fn take_over(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (topic, queue_id, group): (&str, i32, &str),
        part: &FinishedPart,
        now_ms: i64,
    ) -> Result<Option<Finished>, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = reign.as_mut().filter(|reign| reign.decides()) else {
            return Ok(None);
        };
        let found = reign.lane.find(topic, queue_id, group);
        let wired = found.and_then(|sq_id| reign.lane.get(sq_id));
        let Some((sq_id, queue)) = found.zip(wired.map(|wired| &wired.queue)) else {
            return Ok(None);
        };
        if (sq_id, queue.reset_epoch()) != (part.sq_id, part.reset_epoch) {
            return Ok(None);
        }
        // No message lies behind the end of the queue, so no member can have finished one there.
        let (_, end) = store.held_offsets(topic, queue_id).unwrap_or_default();
        let ranges = part.ranges.within(queue.start()..end);
        let is_news = ranges.as_slice().iter().any(|range| {
            let inside = range.start..range.end.min(queue.end());
            range.end > queue.end() || inside.into_iter().any(|it| !queue.is_finished(it))
        });
        let mut finished = Finished {
            successes: vec![true],
            position: reign.end,
            ..Finished::default()
        };
        if is_news {
            let delivery = Delivery {
                pop_time_ms: 0,
                tag: Delivery::tag_of(reign.epoch),
            };
            let record = Record {
                flags: DECIDED,
                sq_id,
                epoch: reign.epoch,
                body: Body::Accept { delivery, ranges },
            };
            if reign.lane.judge(&record).is_err() {
                // No share queue of this name has a window with these offsets.
                return Ok(None);
            }
            finished.lane_end = reign.append(store, config, &[record], now_ms)?;
            finished.position = reign.end;
            finished.commits = reign.commits([sq_id].into_iter());
        }
        Ok(Some(finished))
    }
}
