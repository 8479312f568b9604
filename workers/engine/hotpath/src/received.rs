//! What came of the bytes that one connection received.

use std::sync::Arc;

use regent_remoting::Command;
use regent_share::Delivery;

use crate::forward::Forwards;
use crate::parked::ParkedPull;
use crate::pull::{Commit, Granted, Pulled};
use crate::share::Proposal;

/// Up to so many queues are merged as they come; if there are more, by sorting at the end.
const ARRIVALS_SEARCHED_MAX: usize = 16;
/// Up to so many readers are merged as they come; if there are more, some are named twice.
const READERS_SEARCHED_MAX: usize = 16;

/// What came of a pull.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Found { messages: usize, bytes: usize },
    Missed,
    Parked,
}

/// What a POP took from one queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoppedOfQueue {
    pub(crate) queue_id: i32,
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
    /// Behind the last message.
    pub(crate) next_offset: u64,
}

/// A queue that grew.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// The topic.
    pub topic: Arc<str>,
    /// The queue inside the topic.
    pub queue_id: i32,
    /// The offset of the queue's next message.
    pub max_offset: u64,
}

/// What came of the bytes received.
#[derive(Debug, Default)]
pub struct Received {
    /// To write at once.
    pub replies: Vec<u8>,
    /// To write once the store's flushed position, or what replicas hold, has reached
    /// `deferred_position`.
    pub deferred: Vec<u8>,
    /// The end of the last message that `deferred` answers for.
    pub deferred_position: u64,
    /// What `deferred` delivers, by number of the share queue: to undo if it is never written.
    pub deferred_deliveries: Vec<(u64, Delivery)>,
    /// Records that a replica sends to the sequencer; `deferred` waits until they are in its lane.
    pub proposal: Option<Proposal>,
    /// Requests that the hot path leaves alone, and answers, in order.
    pub cold: Vec<Command>,
    /// A send whose queue lacks a file for it: have [`make_queue_file`](crate::make_queue_file) make it on
    /// another thread. The chunk is left from there on, so that the order of the connection is kept.
    pub set_aside: Option<Command>,
    /// The queues that grew, each once.
    pub arrivals: Vec<Arrival>,
    /// Why the store did not take a message that it should have taken.
    pub store_failure: Option<String>,
    /// What was answered to pulls, by group, topic and queue; the answers went to the
    /// [`Taker`](crate::Taker).
    pub pulled: Vec<Pulled>,
    /// Bytes of the records in all those answers.
    pub pulled_bytes: usize,
    /// Bytes at the end of the chunk that were not looked at: `pulled_bytes` had reached its limit,
    /// or they are behind a send that was set aside.
    pub left: usize,
    /// What those pulls commit, in order.
    pub commits: Vec<Commit>,
    /// Whether parked pulls became ready, so that their connections take turns now.
    pub is_turn_due: bool,
    /// Whether a POP waits from now on.
    pub is_parked: bool,
    /// A parked pull that needs a check: what it was granted by has changed.
    pub unchecked: Option<ParkedPull>,
    /// Requests for other members of the broker group, to which there are connections.
    pub forwards: Vec<Forwards>,
    /// A member to which requests would go if there were a connection.
    pub lacks_link: Option<u64>,
}

impl Received {
    pub(crate) fn note_arrival(&mut self, topic: &Arc<str>, queue_id: i32, max_offset: u64) {
        let known = self.arrivals.iter_mut().rev().take(ARRIVALS_SEARCHED_MAX);
        for arrival in known {
            if arrival.queue_id == queue_id && Arc::ptr_eq(&arrival.topic, topic) {
                arrival.max_offset = max_offset;
                return;
            }
        }
        self.arrivals.push(Arrival {
            topic: Arc::clone(topic),
            queue_id,
            max_offset,
        });
    }

    /// Note a pull: that it was answered with so many messages, or without, or that it waits.
    pub(crate) fn note_pulled(
        &mut self,
        granted: &Granted,
        queue_id: i32,
        outcome: Outcome,
        next_offset: u64,
    ) {
        let (pulls, missed, messages, bytes) = match outcome {
            Outcome::Found { messages, bytes } => (1, 0, messages, bytes),
            Outcome::Missed => (0, 1, 0, 0),
            Outcome::Parked => (0, 0, 0, 0),
        };
        self.pulled_bytes += bytes;
        let known = self.pulled.iter_mut().rev().take(READERS_SEARCHED_MAX);
        for pulled in known {
            if pulled.queue_id == queue_id
                && Arc::ptr_eq(&pulled.group, &granted.group)
                && Arc::ptr_eq(&pulled.topic, &granted.topic)
            {
                pulled.pulls += pulls;
                pulled.missed += missed;
                pulled.messages += messages;
                pulled.bytes += bytes;
                pulled.next_offset = next_offset;
                return;
            }
        }
        self.pulled.push(Pulled {
            group: Arc::clone(&granted.group),
            topic: Arc::clone(&granted.topic),
            queue_id,
            pulls,
            missed,
            messages,
            bytes,
            next_offset,
        });
    }

    /// Note what POP took from queues.
    pub(crate) fn note_popped(&mut self, granted: &Granted, popped: &[PoppedOfQueue]) {
        for one in popped {
            let outcome = Outcome::Found {
                messages: one.messages,
                bytes: one.bytes,
            };
            self.note_pulled(granted, one.queue_id, outcome, one.next_offset);
        }
    }

    /// Keep each queue once, with its highest offset.
    pub(crate) fn merge_arrivals(&mut self) {
        if self.arrivals.len() <= ARRIVALS_SEARCHED_MAX {
            return;
        }
        self.arrivals.sort_unstable_by(|one, other| other.cmp(one));
        self.arrivals
            .dedup_by(|later, kept| later.queue_id == kept.queue_id && later.topic == kept.topic);
    }
}
