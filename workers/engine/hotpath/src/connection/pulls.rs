//! Pulls: those that are granted are answered, or wait for messages (remoting.md 2.3).

use std::sync::Arc;

use regent_commitlog::{QueueRead, ReadOutcome, ReadStatus, RecordSlices, Store};
use regent_remoting::{Encoding, Frame, Header, decode_header};

use super::{Call, Connection};
use crate::broker::HotPath;
use crate::leading::{Led, adds_delta};
use crate::parked::ParkedPull;
use crate::pop::NOTIFICATION;
use crate::pull::{Commit, Grant, Granted, GrantedFilter, PullFields, PullRequest, Taker};
use crate::pulled::{Answering, PullAnswer};
use crate::received::{Outcome, Received};
use crate::reply::{SUCCESS, SYSTEM_BUSY, SYSTEM_ERROR};

const PULL_NOT_FOUND: i32 = 19;
const PULL_RETRY_IMMEDIATELY: i32 = 20;
const PULL_OFFSET_MOVED: i32 = 21;

/// Ready pulls that a connection gets answers to in one turn.
const READY_A_TURN: usize = 128;

/// A pull that the dispatcher has checked, and that waits for messages.
#[derive(Debug)]
pub struct WaitingPull<'a> {
    /// Correlation id of the request.
    pub opaque: i32,
    /// How the header was written, and the answer is.
    pub encoding: Encoding,
    /// The header in that encoding.
    pub header: &'a [u8],
    /// The physical queue inside the topic of the grant.
    pub queue_id: i32,
    /// In a static topic the logical queue, of which the queue above has the last segment.
    pub global_id: Option<i32>,
    /// The first offset that is wanted.
    pub offset: u64,
    /// Most messages of the answer.
    pub count_max: usize,
    /// When the pull is answered in any case, by the clock of [`Taker::elapsed_ms`].
    pub deadline_ms: i64,
    /// Whether the client adds `offsetDelta` to offsets; for others the dispatcher writes them.
    pub adds_delta: bool,
    /// [`HotPath::wake_count`] before the dispatcher looked for messages.
    pub wake_count: u64,
}

impl Connection {
    /// No other connection of the broker has this id. [`HotPath::next_turn`] returns it.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Have a pull wait for messages. `false` if there is no room for it.
    pub fn park(&self, hot: &HotPath, granted: &Arc<Granted>, pull: &WaitingPull<'_>) -> bool {
        let led = pull.global_id.and_then(|id| granted.grant.led(id));
        let parked = ParkedPull {
            number: 0,
            connection: self.id,
            opaque: pull.opaque,
            encoding: pull.encoding,
            header: pull.header.into(),
            granted: Arc::clone(granted),
            queue_id: pull.queue_id,
            led,
            offset: pull.offset,
            count_max: pull.count_max,
            deadline_ms: pull.deadline_ms,
            ends_ms: pull.deadline_ms,
            is_pop: false,
            adds_delta: pull.adds_delta,
            is_over: false,
        };
        hot.park(parked, pull.wake_count)
    }

    /// Answer parked pulls that are ready, until there are enough answers; for the rest the connection waits
    /// for another turn. The last one may be [`Received::unchecked`].
    pub fn answer_parked<'s>(
        &mut self,
        hot: &HotPath,
        store: &'s Store,
        received: &mut Received,
        taker: Taker<'_, 's>,
        now_ms: i64,
    ) {
        let topics = hot.topics();
        let (id, peer, scratch) = (self.id, self.peer, &mut self.scratch);
        let mut call = Call::new(hot, store, &topics, peer, now_ms, scratch, received, taker);
        call.connection = id;
        for _ in 0..READY_A_TURN {
            if call.received.pulled_bytes >= call.taker.bytes_max {
                break;
            }
            let Some(pull) = hot.parked().take_ready(id) else {
                break;
            };
            let granted = if hot.holds(&pull.granted) {
                Some(Arc::clone(&pull.granted))
            } else {
                hot.granted(&pull.granted.key)
            };
            let Some(granted) = granted else {
                // Once it is checked, the same grant may do for the others.
                call.received.unchecked = Some(pull);
                break;
            };
            call.resume(pull, granted);
        }
        received.is_turn_due = hot.wait_for_turn(id);
    }

    /// Answer a pull of [`Received::unchecked`] that passed the checks again, or have it wait again.
    #[expect(clippy::too_many_arguments, reason = "each is of another kind")]
    pub fn resume<'s>(
        &mut self,
        hot: &HotPath,
        store: &'s Store,
        pull: ParkedPull,
        granted: Arc<Granted>,
        received: &mut Received,
        taker: Taker<'_, 's>,
        now_ms: i64,
    ) {
        let topics = hot.topics();
        let (id, peer, scratch) = (self.id, self.peer, &mut self.scratch);
        let mut call = Call::new(hot, store, &topics, peer, now_ms, scratch, received, taker);
        call.connection = id;
        call.resume(pull, granted);
    }

    /// Answer a POP or a NOTIFICATION that passed the checks, or have it wait. `false` leaves it: its share queues have no
    /// names yet, or its messages are on the disk alone and it must not wait for them.
    #[expect(clippy::too_many_arguments, reason = "each is of another kind")]
    pub fn pop<'s>(
        &mut self,
        hot: &HotPath,
        store: &'s Store,
        (opaque, encoding, header): (i32, Encoding, &[u8]),
        granted: &Arc<Granted>,
        received: &mut Received,
        taker: Taker<'_, 's>,
        (now_ms, may_wait): (i64, bool),
    ) -> bool {
        let mut fields = PullFields::default();
        let code = decode_header(encoding, header, &mut fields).map(|it| it.code);
        let (Some(request), Ok(code)) = (fields.pop(), code) else {
            return false;
        };
        let topics = hot.topics();
        let (id, peer, scratch) = (self.id, self.peer, &mut self.scratch);
        let mut call = Call::new(hot, store, &topics, peer, now_ms, scratch, received, taker);
        call.connection = id;
        let asker = (opaque, encoding);
        if code == NOTIFICATION {
            return call.notify_or_park(&request, granted, asker, header);
        }
        call.pop_or_park(&request, granted, asker, header, may_wait)
    }
}

impl<'s> Call<'_, '_, 's> {
    /// Answer a pull of a kind that is granted if it finds messages in memory, or have it wait if there are
    /// none. `false` leaves it, untouched, for the dispatcher.
    pub(super) fn on_pull(
        &mut self,
        frame: &Frame<'_>,
        header: &Header<'_>,
        pull: &PullRequest<'_>,
    ) -> bool {
        if self.taker.bytes_max == 0 {
            return false;
        }
        let key = &mut self.scratch.pull_key;
        pull.kind().write_key(key);
        let Some(granted) = self.hot.granted(key) else {
            return false;
        };
        let grant = &granted.grant;
        if grant.leading.is_some() && !adds_delta(header) {
            return false;
        }
        let Some((place, commit)) = placed(&granted, pull) else {
            return false;
        };
        // That takes a while, in which others may append.
        self.writer = None;
        let count_max = pull.count_max(grant);
        let Ok(Some((found, records))) = self.read(place, count_max) else {
            return false;
        };
        let (code, next_offset) = judge(&found, place.offset, grant);
        let is_taken = if code == SUCCESS {
            let answering = Answering {
                opaque: header.opaque,
                encoding: frame.encoding,
            };
            records.size() <= self.taker.answer_bytes_max
                && self.answer_pull(answering, place, &found, records)
        } else {
            let parked_ms = pull.parked_ms(grant).filter(|_| code == PULL_NOT_FOUND);
            parked_ms.is_some_and(|parked_ms| {
                let is_parked = self.park(ParkedPull {
                    number: 0,
                    connection: self.connection,
                    opaque: header.opaque,
                    encoding: frame.encoding,
                    header: frame.header.into(),
                    granted: Arc::clone(&granted),
                    queue_id: place.queue_id,
                    led: place.led,
                    offset: next_offset,
                    count_max,
                    deadline_ms: self.taker.elapsed_ms + parked_ms,
                    ends_ms: self.taker.elapsed_ms + parked_ms,
                    is_pop: false,
                    adds_delta: true,
                    is_over: false,
                });
                if is_parked {
                    let asked = u64::try_from(place.offset).unwrap_or(0);
                    self.received
                        .note_pulled(&granted, place.queue_id, Outcome::Parked, asked);
                }
                is_parked
            })
        };
        if is_taken {
            self.received.commits.extend(commit);
        }
        is_taken
    }

    /// Have a pull wait that has just looked for messages. `false` if there is no room.
    pub(super) fn park(&self, pull: ParkedPull) -> bool {
        self.hot.park(pull, self.wake_count)
    }

    /// Answer a pull that has waited, or have it wait on behind messages that its filter leaves out.
    fn resume(&mut self, mut pull: ParkedPull, granted: Arc<Granted>) {
        self.wake_count = self.hot.wake_count();
        if pull.is_pop {
            return self.resume_pop(pull, &granted);
        }
        if !granted.has_filter_of(&pull.granted) {
            // The client would drop messages that its old filter leaves out, so it gets none. No message
            // of the new filter is skipped: the client pulls from here again.
            return self.send_again(&pull, PULL_NOT_FOUND);
        }
        let led = pull.led.and_then(|led| granted.grant.led(led.global_id));
        if led != pull.led {
            // The logical queue continues elsewhere: the pull that the client repeats goes there.
            return self.send_again(&pull, PULL_RETRY_IMMEDIATELY);
        }
        pull.granted = granted;
        let granted = Arc::clone(&pull.granted);
        let offset = i64::try_from(pull.offset).unwrap_or(i64::MAX);
        let place = Place {
            granted: &granted,
            queue_id: pull.queue_id,
            led,
            offset,
        };
        let answering = Answering {
            opaque: pull.opaque,
            encoding: pull.encoding,
        };
        let (found, records) = match self.read(place, pull.count_max) {
            Ok(Some(read)) => read,
            // The client repeats the pull at once, and that pull reads the disk.
            Ok(None) => return self.send_again(&pull, PULL_RETRY_IMMEDIATELY),
            Err(error) => {
                let replies = &mut self.received.replies;
                return answering.refuse(replies, SYSTEM_ERROR, &error.to_string());
            }
        };
        let (code, next_offset) = judge(&found, offset, &granted.grant);
        let is_for_dispatcher = code == PULL_OFFSET_MOVED || (code == SUCCESS && !pull.adds_delta);
        if is_for_dispatcher && led.is_some() {
            // It knows the ends of the logical queue, where readers are moved, and writes offsets.
            return self.send_again(&pull, PULL_RETRY_IMMEDIATELY);
        }
        let is_empty = matches!(code, PULL_NOT_FOUND | PULL_RETRY_IMMEDIATELY);
        // One read examines a limited number of entries: the wait goes on behind the last of them.
        if is_empty && next_offset >= found.max_offset && !pull.is_over {
            pull.offset = next_offset;
            if !self.park(pull) {
                let replies = &mut self.received.replies;
                answering.refuse(replies, SYSTEM_BUSY, TOO_MANY);
            }
        } else if !self.answer_pull(answering, place, &found, records) {
            let replies = &mut self.received.replies;
            answering.refuse(replies, SYSTEM_ERROR, "the answer is too long for a frame");
        }
    }

    fn read(
        &self,
        place: Place<'_>,
        count_max: usize,
    ) -> Result<Option<(ReadOutcome, RecordSlices<'s>)>, regent_commitlog::StoreError> {
        let grant = &place.granted.grant;
        let wanted = QueueRead {
            offset: place.offset,
            count_max,
            bytes_max: grant.bytes_max,
            filter: grant.filter.as_ref().map(GrantedFilter::as_filter),
        };
        self.store
            .read_resident(&place.granted.topic, place.queue_id, &wanted)
    }

    /// Answer with the result of a read. `false` if it is too long for a frame.
    fn answer_pull(
        &mut self,
        answering: Answering,
        place: Place<'_>,
        found: &ReadOutcome,
        records: RecordSlices<'s>,
    ) -> bool {
        let granted = place.granted;
        let (code, next_offset) = judge(found, place.offset, &granted.grant);
        let body_size = if code == SUCCESS { records.size() } else { 0 };
        let answer = PullAnswer {
            opaque: answering.opaque,
            code,
            remark: Some(found.status.name()),
            suggested_broker_id: granted.grant.suggested_broker_id,
            next_offset: shown(place.led, next_offset),
            min_offset: shown(place.led, found.min_offset),
            max_offset: shown(place.led, found.max_offset),
            offset_delta: place.led.map(|led| led.segment.delta()),
            body_size,
        };
        let head = &mut self.scratch.pull_head;
        head.clear();
        if answer.write(head, answering.encoding).is_err() {
            return false;
        }
        let outcome = if code == SUCCESS {
            self.taker.answers.push(head, records);
            Outcome::Found {
                messages: found.count,
                bytes: body_size,
            }
        } else {
            self.received.replies.extend_from_slice(head);
            Outcome::Missed
        };
        self.received
            .note_pulled(granted, place.queue_id, outcome, next_offset);
        true
    }

    /// Have the client pull again from where it waits.
    fn send_again(&mut self, pull: &ParkedPull, code: i32) {
        let offsets = self.store.queue_offsets(&pull.granted.topic, pull.queue_id);
        let (min_offset, max_offset) = offsets.unwrap_or_default();
        let answer = PullAnswer {
            opaque: pull.opaque,
            code,
            remark: None,
            suggested_broker_id: pull.granted.grant.suggested_broker_id,
            next_offset: shown(pull.led, pull.offset),
            min_offset: shown(pull.led, min_offset),
            max_offset: shown(pull.led, max_offset),
            offset_delta: pull.led.map(|led| led.segment.delta()),
            body_size: 0,
        };
        // Without a body and a remark it always fits.
        let _ = answer.write(&mut self.received.replies, pull.encoding);
    }
}

const TOO_MANY: &str = "[OVERLOAD] too many pulls are held";

/// By what, in which physical queue, and from which offset there on.
#[derive(Clone, Copy)]
struct Place<'a> {
    granted: &'a Granted,
    queue_id: i32,
    /// In a static topic the logical queue, of which the queue above has the last segment.
    led: Option<Led>,
    offset: i64,
}

/// Where a pull reads, and what it commits, in physical ids and offsets. `None` is for the dispatcher: the
/// queue does not exist, or another segment has the offset.
fn placed<'a>(granted: &'a Granted, pull: &PullRequest<'_>) -> Option<(Place<'a>, Option<Commit>)> {
    let commit = pull.commit();
    let grant = &granted.grant;
    if grant.leading.is_none() {
        let place = Place {
            granted,
            queue_id: pull.queue_id,
            led: None,
            offset: pull.offset,
        };
        let exists = (0..grant.read_queue_count).contains(&pull.queue_id);
        return exists.then_some((place, commit));
    }
    let led = grant.led(pull.queue_id)?;
    let place = Place {
        granted,
        queue_id: led.segment.queue_id,
        led: Some(led),
        offset: led.segment.to_physical(pull.offset)?,
    };
    let commit = match commit {
        Some(commit) => Some(Commit {
            queue_id: place.queue_id,
            offset: led.segment.to_physical(commit.offset)?,
            ..commit
        }),
        None => None,
    };
    Some((place, commit))
}

/// An offset as clients see it.
fn shown(led: Option<Led>, physical: u64) -> u64 {
    led.map_or(physical, |led| led.segment.to_logical(physical))
}

/// The code of a read's answer, and the next offset of the client.
fn judge(found: &ReadOutcome, offset: i64, grant: &Grant) -> (i32, u64) {
    let from = u64::try_from(offset).unwrap_or(0);
    let code = match found.status {
        ReadStatus::Found => SUCCESS,
        ReadStatus::NoMatchedMessage | ReadStatus::MessageWasRemoving => PULL_RETRY_IMMEDIATELY,
        ReadStatus::OffsetOverflowOne | ReadStatus::OffsetFoundNull => PULL_NOT_FOUND,
        // At offset 0 the queue is only empty: 21 would make clients persist a jump.
        ReadStatus::NoMatchedLogicQueue | ReadStatus::NoMessageInQueue if offset == 0 => {
            PULL_NOT_FOUND
        }
        _ => PULL_OFFSET_MOVED,
    };
    if code != PULL_OFFSET_MOVED {
        (code, found.next_offset.max(from))
    } else if grant.moves_consumers {
        (code, found.next_offset)
    } else {
        (PULL_NOT_FOUND, from)
    }
}
