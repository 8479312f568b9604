//! Acknowledgements: those of one chunk become one message of the state log (queue-ownership.md 4.10).
//!
//! A message is finished in memory, then its record is appended, then the answer waits for the confirmed
//! position (Q31). No thread waits for an answer (Q32).

use regent_remoting::{Frame, Header};
use regent_share::{Handle, ORDERED_TAG};

use super::Call;
use crate::forward::NO_MESSAGE;
use crate::pop::AckRequest;
use crate::pulled::Answering;
use crate::reply::{SERVICE_NOT_AVAILABLE, done, failure_code};
use crate::share::{LANE, Wish};

/// An acknowledgement that waits for the others of its chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ack {
    wish: Wish,
    answering: Answering,
    is_oneway: bool,
}

impl Call<'_, '_, '_> {
    /// Take an acknowledgement. `false` leaves it for the dispatcher.
    pub(super) fn on_ack(
        &mut self,
        frame: &Frame<'_>,
        header: &Header<'_>,
        request: &AckRequest<'_>,
    ) -> bool {
        let Some(handle) = Handle::parse(&request.handle) else {
            return false;
        };
        // The lock of share queues comes before that of the log.
        self.writer = None;
        let reign = self.hot.shares.reign();
        let is_passed_on = reign
            .as_ref()
            .is_some_and(|reign| !reign.decides() && reign.is_shared(&request.topic));
        if is_passed_on {
            drop(reign);
            return self.pass_on_ack(frame, header, request);
        }
        // Of a broker that acts for its master, the dispatcher keeps what is finished.
        let leading = reign.as_ref().filter(|reign| reign.appends());
        let found = leading.and_then(|reign| {
            reign.find_finishing(&request.topic, request.queue_id, &request.group)
        });
        drop(reign);
        let Some(sq_id) = found else {
            return false;
        };
        self.acks.push(Ack {
            wish: Wish {
                sq_id,
                delivery: handle.delivery,
                offset: request.offset,
            },
            answering: Answering {
                opaque: header.opaque,
                encoding: frame.encoding,
            },
            is_oneway: header.is_oneway(),
        });
        true
    }

    /// Finish the messages of all acknowledgements so far, and answer them.
    pub(super) fn settle(&mut self) {
        if self.acks.is_empty() {
            return;
        }
        self.writer = None;
        let acks = std::mem::take(&mut self.acks);
        let wishes: Vec<_> = acks.iter().map(|ack| ack.wish).collect();
        let mut leading = self.hot.shares.reign();
        let Some(reign) = leading.as_mut().filter(|reign| reign.appends()) else {
            return self.refuse_all(&acks, SERVICE_NOT_AVAILABLE, "the broker leads no more");
        };
        let finished = reign.finish(self.store, &self.hot.config, &wishes, self.now_ms);
        let finished = match finished {
            Ok(finished) => finished,
            Err(error) => {
                self.received.store_failure = Some(error.to_string());
                return self.refuse_all(&acks, failure_code(&error), &error.to_string());
            }
        };
        if let Some(end) = finished.lane_end {
            self.received.note_arrival(reign.topic(), LANE, end);
        }
        let answered = acks.iter().zip(&finished.successes);
        let ordered =
            answered.filter(|(ack, is_done)| **is_done && ack.wish.delivery.tag == ORDERED_TAG);
        let mut places: Vec<_> = ordered
            .filter_map(|(ack, _)| reign.waited_at(ack.wish.sq_id))
            .collect();
        drop(leading);
        // The next batch of an ordered group waited for the end of this one, and new messages for room.
        places.extend(finished.widened);
        for (topic, queue_id) in places {
            self.received.is_turn_due |= self.hot.wake_pops(&topic, queue_id);
        }
        self.received.commits.extend(finished.commits);
        for (ack, is_done) in acks.iter().zip(finished.successes) {
            if ack.is_oneway {
                continue;
            }
            let Answering { opaque, encoding } = ack.answering;
            if !is_done {
                let remark = "the handle is of another delivery of the message";
                ack.answering
                    .refuse(&mut self.received.replies, NO_MESSAGE, remark);
            } else if self.is_deferring {
                let known = self.received.deferred_position;
                self.received.deferred_position = known.max(finished.position);
                done(&mut self.received.deferred, encoding, opaque);
            } else {
                done(&mut self.received.replies, encoding, opaque);
            }
        }
    }

    fn refuse_all(&mut self, acks: &[Ack], code: i32, remark: &str) {
        for ack in acks.iter().filter(|ack| !ack.is_oneway) {
            ack.answering
                .refuse(&mut self.received.replies, code, remark);
        }
    }
}
