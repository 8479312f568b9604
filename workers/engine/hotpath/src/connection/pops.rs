//! POP: messages for any consumer of a group, each for a limited time (queue-ownership.md 4.9).
//!
//! No other consumer gets a message meanwhile (Q8). The same code serves a broker alone and a master (Q22).
//! A share queue that is locked, since a batch of it is out, or since another member owns it, is skipped (Q23).

use std::cmp::Reverse;
use std::sync::Arc;

use regent_commitlog::{AppendError, Filter, QueueRead, ReadStatus, RecordSlices};
use regent_remoting::{Encoding, Frame, Header, decode_header};
use regent_share::{Body, Delivery, Entry, Ranges, Record, WINDOW};

use super::Call;
use super::forwards::Way;
use crate::leading::LeadingSegment;
use crate::parked::ParkedPull;
use crate::pop::{ANY_QUEUE, Found, NOTIFICATION, PopRequest, write_nothing, write_notice};
use crate::pull::{Granted, GrantedFilter, PullFields};
use crate::received::PoppedOfQueue;
use crate::redelivered::append_redelivered;
use crate::reply::{SYSTEM_ERROR, failure_code};
use crate::share::{Attempt, LANE, Reign, append_logical, offset_of, records_of};

const POLLING_FULL: i32 = 209;
const POLLING_TIMEOUT: i32 = 210;

const TOO_MANY: &str = "too many consumers wait for messages";

/// When a message of an older segment is looked for again that was not there yet.
const OLDER_RETRY_MS: i64 = 200;

/// How many reads look for messages that pass a filter before the client is to ask again.
const READ_COUNT_MAX: usize = 64;

/// What came of a look for messages.
enum Popped {
    Answered,
    /// There is none; the next one that is hidden now may be delivered at this time.
    Nothing(Option<i64>),
    /// The share queues have to be named, or the disk has to be read: for the dispatcher.
    Cold,
}

/// What came of the wish to wait.
enum Parked {
    Waits,
    NoTime,
    NoRoom,
}

/// A share queue that a POP looks at.
struct Place<'a> {
    sq_id: u64,
    topic: &'a str,
    /// In a static topic the global id.
    queue_id: i32,
    /// What handles call its topic.
    flag: u8,
    /// The last segment of the logical queue of a static topic.
    segment: Option<LeadingSegment>,
}

/// Records that were read, one behind the other.
enum Records<'s> {
    Stored(RecordSlices<'s>),
    /// With the ids and offsets of a logical queue.
    Logical(Vec<u8>),
}

/// What one POP takes from its share queues.
struct Taking<'s> {
    is_ordered: bool,
    /// Whether other members may own such share queues, so that all is in the lane.
    is_shared: bool,
    /// The time by which messages are hidden: in SHARED mode that of the wall clock.
    clock_ms: i64,
    /// In SHARED mode, the tag of the share queues with messages: an answer has one.
    tag: Option<u16>,
    count_left: usize,
    bytes_left: usize,
    /// Records that are delivered again, and those of logical queues.
    copied: Vec<u8>,
    fresh: Vec<RecordSlices<'s>>,
    found: Found,
    /// Which messages of which share queue.
    taken: Vec<(u64, Ranges)>,
    /// The share queue whose last batch is delivered again.
    repeated: Option<u64>,
    popped: Vec<PoppedOfQueue>,
    is_cold: bool,
    /// A message of an older segment is not there, although the dispatcher has looked for it.
    is_older_away: bool,
    /// The filter left out so much that the rest is for another POP.
    is_cut: bool,
    /// Why a share queue could not be read.
    failure: Option<AppendError>,
}

/// What one share queue gives.
#[derive(Default)]
struct Part {
    offsets: Vec<u64>,
    gaps: Vec<u64>,
    /// Gaps from the start of an empty share queue on, which may be many.
    front: Option<std::ops::Range<u64>>,
    bytes: usize,
}

impl<'s> Call<'_, '_, 's> {
    /// Answer a POP of a kind that is granted, or have it wait. `false` leaves it for the dispatcher.
    pub(super) fn on_pop(
        &mut self,
        frame: &Frame<'_>,
        header: &Header<'_>,
        request: &PopRequest<'_>,
    ) -> bool {
        if self.taker.bytes_max == 0 || !request.is_sound() {
            return false;
        }
        let key = &mut self.scratch.pull_key;
        request.kind().write_key(key);
        let Some(granted) = self.hot.granted(key) else {
            return false;
        };
        match self.way_of_pop(frame, header, request, &granted) {
            Way::Forwarded => true,
            Way::Dispatcher => false,
            Way::Here => {
                let asker = (header.opaque, frame.encoding);
                self.pop_or_park(request, &granted, asker, frame.header, false)
            }
        }
    }

    /// As [`Call::on_pop`], with a grant; `may_wait` if the disk may be read.
    pub(super) fn pop_or_park(
        &mut self,
        request: &PopRequest<'_>,
        granted: &Arc<Granted>,
        asker: (i32, Encoding),
        header: &[u8],
        may_wait: bool,
    ) -> bool {
        if request.is_late(self.now_ms) {
            write_nothing(
                &mut self.received.replies,
                asker,
                POLLING_TIMEOUT,
                "it comes too late",
            );
            return true;
        }
        let due_ms = match self.pop(request, granted, asker, may_wait) {
            Ok(Popped::Answered) => return true,
            Ok(Popped::Cold) => return false,
            Ok(Popped::Nothing(due_ms)) => due_ms,
            Err(error) => {
                let (code, remark) = (failure_code(&error), error.to_string());
                write_nothing(&mut self.received.replies, asker, code, &remark);
                return true;
            }
        };
        match self.park_pop(request, granted, asker, header, due_ms) {
            Parked::Waits => {}
            Parked::NoTime => {
                let remark = "NO_MESSAGE_IN_QUEUE";
                write_nothing(&mut self.received.replies, asker, POLLING_TIMEOUT, remark);
            }
            Parked::NoRoom => {
                write_nothing(&mut self.received.replies, asker, POLLING_FULL, TOO_MANY);
            }
        }
        true
    }

    /// Have a request wait, at the longest as long as it says.
    fn park_pop(
        &mut self,
        request: &PopRequest<'_>,
        granted: &Arc<Granted>,
        asker: (i32, Encoding),
        header: &[u8],
        due_ms: Option<i64>,
    ) -> Parked {
        let wait_ms = granted.grant.parked_ms.unwrap_or(i64::MAX);
        let wait_ms = wait_ms
            .min(request.wait_ms(self.now_ms))
            .min(crate::parked::PARKED_MS_MAX);
        let ends_ms = self.taker.elapsed_ms.saturating_add(wait_ms);
        if wait_ms <= 0 {
            return Parked::NoTime;
        }
        let is_parked = self.park(ParkedPull {
            number: 0,
            connection: self.connection,
            opaque: asker.0,
            encoding: asker.1,
            header: header.into(),
            granted: Arc::clone(granted),
            queue_id: parked_at(request, granted),
            led: None,
            offset: 0,
            count_max: 0,
            deadline_ms: due_ms.map_or(ends_ms, |due_ms| due_ms.min(ends_ms)),
            ends_ms,
            is_pop: true,
            adds_delta: true,
            is_over: false,
        });
        self.received.is_parked |= is_parked;
        if is_parked {
            Parked::Waits
        } else {
            Parked::NoRoom
        }
    }

    /// Say whether there are messages for a group, once there are, or after a wait.
    pub(super) fn notify_or_park(
        &mut self,
        request: &PopRequest<'_>,
        granted: &Arc<Granted>,
        asker: (i32, Encoding),
        header: &[u8],
    ) -> bool {
        let (has_message, due_ms) = match self.has_message(request, granted) {
            None => return false,
            Some(found) => found,
        };
        let is_full = if has_message {
            false
        } else {
            match self.park_pop(request, granted, asker, header, due_ms) {
                Parked::Waits => return true,
                Parked::NoTime => false,
                Parked::NoRoom => true,
            }
        };
        write_notice(&mut self.received.replies, asker, has_message, is_full);
        true
    }

    /// Answer whether there are messages as [`Call::has_message`] found, or have the request wait again.
    fn resume_notice(
        &mut self,
        pull: ParkedPull,
        found: Option<(bool, Option<i64>)>,
        granted: &Arc<Granted>,
    ) {
        let asker = (pull.opaque, pull.encoding);
        let Some((has_message, due_ms)) = found else {
            return self.pass_on(&pull);
        };
        let waits = !has_message && !pull.is_over;
        if waits && self.park_again(pull, granted, due_ms) {
            return;
        }
        write_notice(&mut self.received.replies, asker, has_message, false);
    }

    /// Have a request wait on, until the time at which its wait was to end. `false` if there is no room.
    fn park_again(
        &self,
        mut pull: ParkedPull,
        granted: &Arc<Granted>,
        due_ms: Option<i64>,
    ) -> bool {
        pull.granted = Arc::clone(granted);
        pull.deadline_ms = due_ms.map_or(pull.ends_ms, |due_ms| due_ms.min(pull.ends_ms));
        self.park(pull)
    }

    /// Whether there is any message for a group, and when the next hidden one is due. `None` if a share
    /// queue has no name yet.
    fn has_message(
        &self,
        request: &PopRequest<'_>,
        granted: &Granted,
    ) -> Option<(bool, Option<i64>)> {
        let mut reign = self.hot.shares.reign();
        let reign = reign.as_mut()?;
        let places = places(reign, request, granted, self.taker.elapsed_ms)?;
        let clock_ms = self.clock_of(reign, &granted.topic);
        for place in &places {
            reign.expire(place.sq_id, self.taker.elapsed_ms);
            if request.is_ordered
                && repeated_attempt(reign, place.sq_id, &request.attempt).is_some()
            {
                return Some((true, None));
            }
            let Some(wired) = reign.lane.get(place.sq_id) else {
                continue;
            };
            let (queue, attempts) = (&wired.queue, wired.policy.attempts);
            let mut ready = queue.ready(clock_ms, attempts);
            let is_ready = ready.any(|offset| !reign.is_proposed(place.sq_id, offset));
            let is_any = is_ready || (queue.window_left() > 0 && self.rest_of(reign, place) > 0);
            if is_any && !(request.is_ordered && queue.is_blocked(clock_ms)) {
                return Some((true, None));
            }
        }
        Some((false, self.next_due(reign, &places, clock_ms)))
    }

    /// The time by which messages of a topic are hidden.
    fn clock_of(&self, reign: &Reign, topic: &str) -> i64 {
        if reign.is_shared(topic) {
            self.now_ms
        } else {
            self.taker.elapsed_ms
        }
    }

    /// When a message of these share queues that is hidden now can be delivered, by the clock that is never set.
    fn next_due(&self, reign: &Reign, places: &[Place<'_>], clock_ms: i64) -> Option<i64> {
        let due_ms = next_due(reign, places)?;
        Some(
            due_ms
                .saturating_sub(clock_ms)
                .saturating_add(self.taker.elapsed_ms),
        )
    }

    /// Answer a POP that has waited, or have it wait again.
    pub(super) fn resume_pop(&mut self, pull: ParkedPull, granted: &Arc<Granted>) {
        let asker = (pull.opaque, pull.encoding);
        let mut fields = PullFields::default();
        let code = decode_header(pull.encoding, &pull.header, &mut fields).map(|it| it.code);
        let (Some(request), Ok(code)) = (fields.pop(), code) else {
            let remark = "the request cannot be read again";
            return write_nothing(&mut self.received.replies, asker, SYSTEM_ERROR, remark);
        };
        if code == NOTIFICATION {
            let found = self.has_message(&request, granted);
            return self.resume_notice(pull, found, granted);
        }
        match self.pop(&request, granted, asker, false) {
            Ok(Popped::Answered) => {}
            Ok(Popped::Cold) => self.pass_on(&pull),
            Ok(Popped::Nothing(_)) if pull.is_over => {
                let remark = "NO_MESSAGE_IN_QUEUE";
                write_nothing(&mut self.received.replies, asker, POLLING_TIMEOUT, remark);
            }
            Ok(Popped::Nothing(due_ms)) => {
                if !self.park_again(pull, granted, due_ms) {
                    write_nothing(&mut self.received.replies, asker, POLLING_FULL, TOO_MANY);
                }
            }
            Err(error) => {
                let (code, remark) = (failure_code(&error), error.to_string());
                write_nothing(&mut self.received.replies, asker, code, &remark);
            }
        }
    }

    /// Leave a request that has waited for the dispatcher: what is left of its wait counts from now on.
    fn pass_on(&mut self, pull: &ParkedPull) {
        let Ok(mut command) = pull.request() else {
            return;
        };
        let left_ms = pull.ends_ms.saturating_sub(self.taker.elapsed_ms).max(0);
        let left_ms = if pull.is_over { 0 } else { left_ms };
        command.ext.insert("pollTime".into(), left_ms.to_string());
        command.ext.insert("bornTime".into(), "0".into());
        self.received.cold.push(command);
    }

    fn pop(
        &mut self,
        request: &PopRequest<'_>,
        granted: &Arc<Granted>,
        asker: (i32, Encoding),
        may_wait: bool,
    ) -> Result<Popped, AppendError> {
        self.settle();
        // Others may append meanwhile, and the lock of share queues comes before that of the log.
        self.writer = None;
        let hot = self.hot;
        let mut reign = hot.shares.reign();
        let Some(reign) = &mut *reign else {
            return Ok(Popped::Cold);
        };
        let Some(places) = places(reign, request, granted, self.taker.elapsed_ms) else {
            return Ok(Popped::Cold);
        };
        let bytes_max = granted.grant.bytes_max.min(self.taker.answer_bytes_max);
        let mut taking = Taking::new(request, bytes_max);
        taking.is_shared = reign.is_shared(&granted.topic);
        taking.clock_ms = self.clock_of(reign, &granted.topic);
        let asked = (request, &**granted);
        let taken = self.take_from(reign, &places, asked, &mut taking, may_wait);
        let popped = taken.and_then(|delivery| {
            if taking.found.is_empty() {
                let due_ms = self.next_due(reign, &places, taking.clock_ms);
                return taking.nothing(self.taker.elapsed_ms, due_ms);
            }
            self.hand_out(reign, &places, asked, asker, (delivery, taking))
        });
        if let Some(proposal) = reign.take_proposal() {
            let known = self.received.proposal.get_or_insert_default();
            known.join(proposal);
        }
        popped
    }

    /// Answer with what was taken, once it is noted who has it.
    fn hand_out(
        &mut self,
        reign: &mut Reign,
        places: &[Place<'_>],
        (request, granted): (&PopRequest<'_>, &Granted),
        asker: (i32, Encoding),
        (delivery, mut taking): (Delivery, Taking<'s>),
    ) -> Result<Popped, AppendError> {
        let acquisitions = self.acquisitions(reign, request, &mut taking, delivery);
        let proof = if taking.is_shared {
            self.log_deliveries(reign, places, &acquisitions)?
        } else {
            self.prove(reign, places)?
        };
        if proof.is_some() {
            let ids = acquisitions.iter().map(|record| record.sq_id);
            let ids = ids.chain(taking.repeated);
            let deliveries = ids.map(|sq_id| (sq_id, delivery));
            self.received.deferred_deliveries.extend(deliveries);
        }
        if let Some(attempt) = taking.repeated.and_then(|id| reign.attempts.get_mut(&id)) {
            attempt.answer_count += 1;
        }
        self.received.note_popped(granted, &taking.popped);
        for record in acquisitions {
            if request.is_ordered {
                let attempt = Attempt {
                    name: (&*request.attempt).into(),
                    delivery,
                    answer_count: 1,
                };
                reign.attempts.insert(record.sq_id, attempt);
            }
            if !taking.is_shared {
                reign.remember(record.sq_id, record.body);
            }
        }
        self.answer_pop(asker, (delivery, request.invisible_ms), taking, proof);
        Ok(Popped::Answered)
    }

    /// What a POP hands out of each share queue.
    fn acquisitions(
        &self,
        reign: &Reign,
        request: &PopRequest<'_>,
        taking: &mut Taking<'s>,
        delivery: Delivery,
    ) -> Vec<Record> {
        let client = if taking.is_shared {
            reign.client_of(self.connection)
        } else {
            self.connection
        };
        let deadline_ms = taking.clock_ms.saturating_add(request.invisible_ms);
        let taken = std::mem::take(&mut taking.taken).into_iter();
        taken
            .map(|(sq_id, ranges)| Record {
                flags: 0,
                sq_id,
                epoch: reign.epoch_of(sq_id),
                body: Body::Acquire {
                    delivery,
                    client,
                    ranges,
                    deadline_ms,
                },
            })
            .collect()
    }

    /// Say in the lane who has the messages (Q20, Q25; `acquireLog=commit`), in place of the record that proves
    /// ownership: the position for the answer to wait for. A replica proposes it.
    fn log_deliveries(
        &mut self,
        reign: &mut Reign,
        places: &[Place<'_>],
        acquisitions: &[Record],
    ) -> Result<Option<u64>, AppendError> {
        if acquisitions.is_empty() {
            // A batch that is delivered again is in the lane already.
            if let Some(place) = places.first() {
                self.append_gap(reign, place.sq_id, Ranges::default())?;
            }
        } else {
            self.append_records(reign, acquisitions)?;
        }
        let waits = self.is_deferring || !reign.decides();
        Ok(waits.then_some(reign.end))
    }

    fn append_records(&mut self, reign: &mut Reign, records: &[Record]) -> Result<(), AppendError> {
        let config = &self.hot.config;
        if let Some(end) = reign.append(self.store, config, records, self.now_ms)? {
            self.received.note_arrival(reign.topic(), LANE, end);
        }
        Ok(())
    }

    /// End the deliveries of a share queue whose deadline has passed.
    fn expire(
        &mut self,
        reign: &mut Reign,
        place: &Place<'_>,
        taking: &Taking<'s>,
    ) -> Result<(), AppendError> {
        if !taking.is_shared {
            reign.expire(place.sq_id, self.taker.elapsed_ms);
            return Ok(());
        }
        let overdue = reign.overdue(place.sq_id, self.now_ms);
        if overdue.is_empty() {
            return Ok(());
        }
        let appended = self.append_records(reign, &overdue);
        if appended.is_err() {
            reign.recheck(&overdue);
        }
        appended
    }

    /// Take messages of some share queues by one delivery. A share queue that cannot be read holds up no other.
    fn take_from(
        &mut self,
        reign: &mut Reign,
        places: &[Place<'_>],
        (request, granted): (&PopRequest<'_>, &Granted),
        taking: &mut Taking<'s>,
        may_wait: bool,
    ) -> Result<Delivery, AppendError> {
        for place in places {
            self.expire(reign, place, taking)?;
        }
        // The order of the places is another one with each request.
        let repeated = places.iter().filter(|_| request.is_ordered).find_map(|it| {
            let delivery = repeated_attempt(reign, it.sq_id, &request.attempt)?;
            Some((it, delivery))
        });
        if let Some((place, delivery)) = repeated {
            self.take_again(reign, place, delivery, taking)?;
            return Ok(delivery);
        }
        let mut delivery = next_delivery(reign, places, self.now_ms, request.is_ordered);
        for place in places {
            if request.is_ordered {
                if !taking.taken.is_empty() {
                    break;
                }
                if is_blocked(reign, place.sq_id, taking.clock_ms) {
                    continue;
                }
            }
            let tag = Delivery::tag_of(reign.epoch_of(place.sq_id));
            if taking.is_shared && taking.tag.is_some_and(|known| known != tag) {
                taking.found.rest_count += self.rest_of(reign, place);
                continue;
            }
            if taking.count_left > 0 && taking.bytes_left > 0 && !taking.is_cold {
                let filter = granted.grant.filter.as_ref().filter(|_| place.flag == 0);
                if let Err(error) = self.take(reign, place, filter, taking, may_wait) {
                    taking.failure.get_or_insert(error);
                }
            }
            if taking.is_shared && !taking.taken.is_empty() {
                taking.tag = Some(tag);
            }
            taking.found.rest_count += self.rest_of(reign, place);
        }
        if let Some(tag) = taking.tag.filter(|_| !request.is_ordered) {
            delivery.tag = tag;
        }
        Ok(delivery)
    }

    /// Append a record for an answer to wait for, where another broker may become master: its position.
    ///
    /// A former master that does not know of the next one confirms nothing any more. So it hands out no message,
    /// which may be finished since (Q9, Q18). The record says nothing but who the owner is (Q83).
    fn prove(
        &mut self,
        reign: &mut Reign,
        places: &[Place<'_>],
    ) -> Result<Option<u64>, AppendError> {
        // A replica that acts for its master appends nothing.
        let is_proved = self.hot.is_deferring() && !reign.is_acting;
        let Some(place) = places.first().filter(|_| is_proved) else {
            return Ok(None);
        };
        self.append_gap(reign, place.sq_id, Ranges::default())?;
        Ok(Some(reign.end))
    }

    /// Take messages of a share queue: those that are delivered again first, then new ones.
    fn take(
        &mut self,
        reign: &mut Reign,
        place: &Place<'_>,
        filter: Option<&GrantedFilter>,
        taking: &mut Taking<'s>,
        may_wait: bool,
    ) -> Result<(), AppendError> {
        let Some((min, max)) = reign.bounds(self.store, place.sq_id) else {
            return Ok(());
        };
        self.drop_expired(reign, place, min)?;
        reign.drop_older(place.sq_id);
        let mut part = Part::default();
        let ready = self.take_ready(reign, place, (filter, max), taking, &mut part, may_wait);
        let read = match ready {
            // The messages that are left come before new ones.
            Ok(are_all_taken) if taking.is_ordered && !are_all_taken => Ok(()),
            Ok(_) => self.take_new(reign, place, (filter, max), taking, &mut part, may_wait),
            Err(error) => Err(error),
        };
        // What was read before a failure is in the answer already.
        let kept = self.keep_part(reign, place, part, taking);
        read.and(kept)
    }

    fn keep_part(
        &mut self,
        reign: &mut Reign,
        place: &Place<'_>,
        part: Part,
        taking: &mut Taking<'s>,
    ) -> Result<(), AppendError> {
        let mut gaps = Ranges::default();
        gaps.push(part.front.unwrap_or(0..0));
        let rest: Ranges = part.gaps.into_iter().collect();
        rest.as_slice()
            .iter()
            .for_each(|range| gaps.push(range.clone()));
        if let Some(last) = part.offsets.last() {
            let (queue_id, next_offset) = place.stored(last + 1);
            taking.popped.push(PoppedOfQueue {
                queue_id,
                messages: part.offsets.len(),
                bytes: part.bytes,
                next_offset,
            });
            taking.found.add(place.flag, place.queue_id, &part.offsets);
            taking
                .taken
                .push((place.sq_id, part.offsets.into_iter().collect()));
        }
        if gaps.is_empty() {
            return Ok(());
        }
        self.finish_gap(reign, place.sq_id, gaps)
    }

    /// Finish messages that retention has deleted.
    fn drop_expired(
        &mut self,
        reign: &mut Reign,
        place: &Place<'_>,
        min: u64,
    ) -> Result<(), AppendError> {
        let start = queue_start(reign, place.sq_id);
        if reign.is_proposed(place.sq_id, start) {
            return Ok(());
        }
        let is_older = |segment: LeadingSegment| start < segment.logical_start;
        if start < min && !place.segment.is_some_and(is_older) {
            self.finish_gap(reign, place.sq_id, Ranges::of(start..min))?;
        }
        Ok(())
    }

    fn finish_gap(
        &mut self,
        reign: &mut Reign,
        sq_id: u64,
        gaps: Ranges,
    ) -> Result<(), AppendError> {
        self.append_gap(reign, sq_id, gaps)?;
        if !reign.decides() {
            return Ok(());
        }
        let commits = reign.commits([sq_id].into_iter());
        self.received.commits.extend(commits);
        Ok(())
    }

    fn append_gap(
        &mut self,
        reign: &mut Reign,
        sq_id: u64,
        gaps: Ranges,
    ) -> Result<(), AppendError> {
        let record = reign.gap(sq_id, gaps);
        self.append_records(reign, &[record])
    }

    /// Read messages that were delivered before, or passed over, one by one. Whether none is left, unless
    /// the answer is full.
    fn take_ready(
        &mut self,
        reign: &Reign,
        place: &Place<'_>,
        (filter, max): (Option<&GrantedFilter>, u64),
        taking: &mut Taking<'s>,
        part: &mut Part,
        may_wait: bool,
    ) -> Result<bool, AppendError> {
        let Some(wired) = reign.lane.get(place.sq_id) else {
            return Ok(true);
        };
        let (queue, attempts) = (&wired.queue, wired.policy.attempts);
        for offset in queue.ready(taking.clock_ms, attempts) {
            if reign.is_proposed(place.sq_id, offset) {
                continue;
            }
            if taking.count_left == 0 || taking.bytes_left == 0 {
                return Ok(true);
            }
            if offset >= max {
                return Ok(false);
            }
            let entry = queue.entry(offset);
            let filter = filter.filter(|_| entry.count() == 0);
            let read = self.read_at(reign, place, (offset, 1), filter, taking, may_wait)?;
            let Some((found, next)) = read else {
                taking.note_cold(place, offset, may_wait);
                return Ok(false);
            };
            if found.offsets().eq([offset]) {
                let is_added = self.repeat(&found, entry, offset, place, taking, part);
                if !is_added && taking.is_ordered {
                    return Ok(false);
                }
            } else if next > offset {
                // The filter leaves it out, or retention has deleted it.
                part.gaps.push(offset);
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Add one message to the answer, with the number of its deliveries. `false` if it is no record.
    fn repeat(
        &self,
        found: &Records<'s>,
        entry: Entry,
        offset: u64,
        place: &Place<'_>,
        taking: &mut Taking<'s>,
        part: &mut Part,
    ) -> bool {
        let (count, first_ms) = match entry {
            Entry::Available {
                count,
                first_pop_ms,
                ..
            } => (count, first_pop_ms),
            Entry::Acquired {
                count,
                first_pop_ms,
                ..
            } => (count.saturating_sub(1), first_pop_ms),
            Entry::Forgotten => (0, 0),
        };
        let first_ms = if count == 0 { self.now_ms } else { first_ms };
        let size = found.size();
        let is_added = found
            .parts()
            .all(|record| append_redelivered(&mut taking.copied, record, count, first_ms));
        if !is_added {
            return false;
        }
        if count > 0 {
            taking
                .found
                .add_count(place.flag, place.queue_id, offset, count);
        }
        taking.count_left -= 1;
        taking.bytes_left = taking.bytes_left.saturating_sub(size);
        part.offsets.push(offset);
        part.bytes += size;
        true
    }

    /// Read messages that were never delivered, as they lie in the log.
    fn take_new(
        &mut self,
        reign: &Reign,
        place: &Place<'_>,
        (filter, max): (Option<&GrantedFilter>, u64),
        taking: &mut Taking<'s>,
        part: &mut Part,
        may_wait: bool,
    ) -> Result<(), AppendError> {
        let Some(wired) = reign.lane.get(place.sq_id) else {
            return Ok(());
        };
        let (start, mut from) = (wired.queue.start(), reign.new_from(place.sq_id));
        // The window of an empty share queue begins with the first message that is found.
        let limit = (from > start).then_some(start + WINDOW);
        for _ in 0..READ_COUNT_MAX {
            let is_full = limit.is_some_and(|limit| from >= limit);
            if taking.count_left == 0 || taking.bytes_left == 0 || from >= max || is_full {
                return Ok(());
            }
            let wanted = (from, taking.count_left);
            let read = self.read_at(reign, place, wanted, filter, taking, may_wait)?;
            let Some((found, next)) = read else {
                taking.note_cold(place, from, may_wait);
                return Ok(());
            };
            let offsets: Vec<u64> = found.offsets().collect();
            let first = offsets.first().map_or(u64::MAX, |first| first + WINDOW);
            let limit = limit.unwrap_or(first);
            let fitting = offsets.iter().take_while(|offset| **offset < limit).count();
            let (offsets_fitting, next) = (&offsets[..fitting], next.min(limit));
            part.add_gaps(from, next, offsets_fitting, start);
            if fitting > 0 {
                let found = if fitting == offsets.len() {
                    found
                } else {
                    let again =
                        self.read_at(reign, place, (from, fitting), filter, taking, true)?;
                    again.map_or(found, |(again, _)| again)
                };
                taking.count_left -= fitting;
                taking.bytes_left = taking.bytes_left.saturating_sub(found.size());
                part.bytes += found.size();
                part.offsets.extend_from_slice(offsets_fitting);
                taking.add(found);
                return Ok(());
            }
            if next <= from || !offsets.is_empty() {
                return Ok(());
            }
            from = next;
        }
        taking.is_cut = true;
        Ok(())
    }

    /// Read some messages of a queue; `None` if that has to wait for the disk, or for another broker group.
    fn read_at(
        &self,
        reign: &Reign,
        place: &Place<'_>,
        (offset, count_max): (u64, usize),
        filter: Option<&GrantedFilter>,
        taking: &Taking<'s>,
        may_wait: bool,
    ) -> Result<Option<(Records<'s>, u64)>, AppendError> {
        let filter = filter.map(GrantedFilter::as_filter);
        let limits = (count_max, taking.bytes_left);
        let Some(segment) = place.segment else {
            let name = (place.topic, place.queue_id);
            let read = self.read_stored(name, offset, limits, filter, may_wait)?;
            return Ok(read.map(|(found, next)| (Records::Stored(found), next)));
        };
        if offset < segment.logical_start {
            let read = reign.read_older(place.sq_id, offset, limits, filter);
            return Ok(read.map(|(found, next)| (Records::Logical(found), next)));
        }
        let (queue_id, physical) = place.stored(offset);
        let name = (place.topic, queue_id);
        let read = self.read_stored(name, physical, limits, filter, may_wait)?;
        Ok(read.map(|(found, next)| {
            let mut logical = Vec::with_capacity(found.size());
            for record in found.iter().flat_map(records_of) {
                append_logical(&mut logical, record, place.queue_id, segment);
            }
            (Records::Logical(logical), segment.to_logical(next))
        }))
    }

    fn read_stored(
        &self,
        (topic, queue_id): (&str, i32),
        offset: u64,
        (count_max, bytes_max): (usize, usize),
        filter: Option<Filter<'_>>,
        may_wait: bool,
    ) -> Result<Option<(RecordSlices<'s>, u64)>, AppendError> {
        let wanted = QueueRead {
            offset: i64::try_from(offset).unwrap_or(i64::MAX),
            count_max,
            bytes_max,
            filter,
        };
        let read = match self.store.read_resident(topic, queue_id, &wanted)? {
            None if may_wait => Some(self.store.read_slices(topic, queue_id, &wanted)?),
            read => read,
        };
        Ok(read.map(|(outcome, records)| {
            let moves = matches!(
                outcome.status,
                ReadStatus::Found
                    | ReadStatus::NoMatchedMessage
                    | ReadStatus::MessageWasRemoving
                    | ReadStatus::OffsetFoundNull
            );
            let next = if moves { outcome.next_offset } else { offset };
            (records, next.max(offset))
        }))
    }

    /// Deliver a batch again to the consumer that did not get the answer (`attemptId`).
    fn take_again(
        &mut self,
        reign: &Reign,
        place: &Place<'_>,
        delivery: Delivery,
        taking: &mut Taking<'s>,
    ) -> Result<(), AppendError> {
        let Some(wired) = reign.lane.get(place.sq_id) else {
            return Ok(());
        };
        let mut part = Part::default();
        for offset in wired.queue.batch(delivery).offsets() {
            let entry = wired.queue.entry(offset);
            let read = self.read_at(reign, place, (offset, 1), None, taking, true)?;
            if let Some((found, _)) = read
                && found.offsets().eq([offset])
                && taking.count_left > 0
            {
                self.repeat(&found, entry, offset, place, taking, &mut part);
            }
        }
        taking.found.add(place.flag, place.queue_id, &part.offsets);
        taking.repeated = Some(place.sq_id);
        Ok(())
    }

    fn rest_of(&self, reign: &Reign, place: &Place<'_>) -> u64 {
        let offsets = reign.bounds(self.store, place.sq_id);
        let queue = reign.lane.get(place.sq_id).map(|wired| &wired.queue);
        let ends = offsets.filter(|_| queue.is_some());
        ends.map_or(0, |(_, max)| {
            max.saturating_sub(reign.new_from(place.sq_id))
        })
    }

    fn answer_pop(
        &mut self,
        asker: (i32, Encoding),
        (delivery, invisible_ms): (Delivery, i64),
        taking: Taking<'s>,
        proof: Option<u64>,
    ) {
        let fresh = taking.fresh.iter().map(RecordSlices::size);
        let body_size = taking.copied.len() + fresh.sum::<usize>();
        let head = &mut self.scratch.pull_head;
        head.clear();
        let written = taking
            .found
            .write(head, asker, (delivery, invisible_ms), body_size);
        if let Err(error) = written {
            let remark = error.to_string();
            return write_nothing(&mut self.received.replies, asker, SYSTEM_ERROR, &remark);
        }
        head.extend_from_slice(&taking.copied);
        if let Some(position) = proof {
            let deferred = &mut self.received.deferred;
            deferred.extend_from_slice(head);
            let fresh = taking.fresh.iter().flat_map(RecordSlices::iter);
            fresh.for_each(|record| deferred.extend_from_slice(record));
            self.received.deferred_position = position;
            return;
        }
        self.taker.answers.push_bytes(head);
        for records in taking.fresh {
            self.taker.answers.push(&[], records);
        }
    }
}

impl Place<'_> {
    /// Where a message is stored: its queue here, and its offset there, the start of the segment for older ones.
    fn stored(&self, offset: u64) -> (i32, u64) {
        self.segment.map_or((self.queue_id, offset), |segment| {
            let behind = offset.saturating_sub(segment.logical_start);
            (segment.queue_id, segment.physical_start + behind)
        })
    }
}

impl Records<'_> {
    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let (stored, logical) = match self {
            Self::Stored(records) => (Some(records), None),
            Self::Logical(records) => (None, Some(&records[..])),
        };
        let stored = stored.into_iter().flat_map(RecordSlices::iter);
        stored.chain(logical.filter(|records| !records.is_empty()))
    }

    fn size(&self) -> usize {
        match self {
            Self::Stored(records) => records.size(),
            Self::Logical(records) => records.len(),
        }
    }

    fn offsets(&self) -> impl Iterator<Item = u64> {
        self.parts().flat_map(records_of).filter_map(offset_of)
    }
}

impl<'s> Taking<'s> {
    fn new(request: &PopRequest<'_>, bytes_max: usize) -> Self {
        Self {
            is_ordered: request.is_ordered,
            is_shared: false,
            clock_ms: 0,
            tag: None,
            count_left: usize::try_from(request.count_max).unwrap_or(1),
            bytes_left: bytes_max,
            copied: Vec::new(),
            fresh: Vec::new(),
            found: Found::default(),
            taken: Vec::new(),
            repeated: None,
            popped: Vec::new(),
            is_cold: false,
            is_older_away: false,
            is_cut: false,
            failure: None,
        }
    }

    /// What to answer without any message, while the next hidden one is due at some time.
    fn nothing(self, elapsed_ms: i64, due_ms: Option<i64>) -> Result<Popped, AppendError> {
        if self.is_cold {
            Ok(Popped::Cold)
        } else if self.is_cut {
            Ok(Popped::Nothing(Some(elapsed_ms)))
        } else if self.is_older_away {
            let again_ms = elapsed_ms.saturating_add(OLDER_RETRY_MS);
            Ok(Popped::Nothing(Some(again_ms)))
        } else {
            self.failure.map_or(Ok(Popped::Nothing(due_ms)), Err)
        }
    }

    fn add(&mut self, found: Records<'s>) {
        match found {
            Records::Stored(records) => self.fresh.push(records),
            Records::Logical(records) => self.copied.extend_from_slice(&records),
        }
    }

    /// Note that a message has to be fetched, once: the dispatcher did so before it lets the POP wait for disks.
    fn note_cold(&mut self, place: &Place<'_>, offset: u64, may_wait: bool) {
        let is_older = |segment: LeadingSegment| offset < segment.logical_start;
        if may_wait && place.segment.is_some_and(is_older) {
            self.is_older_away = true;
        } else {
            self.is_cold = true;
        }
    }
}

impl Part {
    /// Note what lies between the messages found up to an offset: the group does not want it.
    fn add_gaps(&mut self, from: u64, next: u64, offsets: &[u64], start: u64) {
        let mut from = from;
        let behind_front = self.front.as_ref().map_or(start, |front| front.end);
        if from == behind_front && self.offsets.is_empty() {
            let end = offsets.first().map_or(next, |first| *first);
            self.front = Some(start..end);
            from = end;
        }
        let mut wanted = offsets.iter().peekable();
        for offset in from..next {
            if wanted.next_if_eq(&&offset).is_none() {
                self.gaps.push(offset);
            }
        }
    }
}

/// The queue at which a POP waits: messages come to the last segment of a logical queue.
fn parked_at(request: &PopRequest<'_>, granted: &Granted) -> i32 {
    let led = granted.grant.led(request.queue_id);
    led.map_or(request.queue_id.max(ANY_QUEUE), |led| led.segment.queue_id)
}

/// The share queues that a POP asks for, in the order of this turn; `None` if one of them is not named yet. In
/// SHARED mode those that another member owns are left out, and `None` means that all are.
fn places<'a>(
    reign: &mut Reign,
    request: &PopRequest<'_>,
    granted: &'a Granted,
    elapsed_ms: i64,
) -> Option<Vec<Place<'a>>> {
    let group: &str = &granted.group;
    let leading = granted.grant.leading.as_deref();
    let queues = match (leading, request.queue_id) {
        (Some(leading), ANY_QUEUE) => leading.ids(),
        (None, ANY_QUEUE) => (0..granted.grant.read_queue_count).collect(),
        (_, queue_id) => vec![queue_id],
    };
    let mut places = Vec::new();
    let is_shared = reign.is_shared(&granted.topic);
    let mut add = |topic: &'a str, flag, queue_id, segment| {
        if is_shared {
            let known = reign.lane.find(topic, queue_id, group);
            // Only the master names share queues.
            let is_named_here = known.is_none() && reign.decides();
            if !is_named_here && !known.is_some_and(|sq_id| reign.hands_out(sq_id, elapsed_ms)) {
                return Some(());
            }
        }
        let sq_id = reign.find_at(topic, queue_id, group, segment)?;
        places.push(Place {
            sq_id,
            topic,
            queue_id,
            flag,
            segment,
        });
        Some(())
    };
    for queue_id in queues {
        let led = leading.map(|leading| leading.led(queue_id));
        // Another broker group leads it by now: for the dispatcher.
        let segment = match led {
            Some(led) => Some(led?.segment),
            None => None,
        };
        add(&granted.topic, 0, queue_id, segment)?;
    }
    let retries = granted.grant.pop.as_ref().filter(|_| !request.is_ordered);
    let retries = retries.into_iter().flat_map(|pop| &pop.retries);
    for retry in retries.filter(|retry| reign.is_shared(&retry.name) == is_shared) {
        for queue_id in 0..retry.queue_count {
            add(&retry.name, retry.flag, queue_id, None)?;
        }
    }
    if is_shared && places.is_empty() {
        return None;
    }
    reign.turn = reign.turn.wrapping_add(1);
    let turn = reign.turn as usize;
    let pop = granted.grant.pop.as_ref().filter(|_| !request.is_ordered);
    if pop.is_some_and(|pop| turn % 100 < pop.priority_percent as usize) {
        // Messages of retry topics come last.
        places.sort_by_key(|place| (place.flag != 0, Reverse(place.queue_id)));
    } else {
        let count = places.len().max(1);
        places.rotate_left(turn % count);
    }
    Some(places)
}

/// One delivery for all share queues of an answer: later than each of theirs.
fn next_delivery(reign: &Reign, places: &[Place<'_>], now_ms: i64, is_ordered: bool) -> Delivery {
    let deliveries = places.iter().filter_map(|place| {
        let now_ms = now_ms.max(reign.proposed_pop_ms(place.sq_id) + 1);
        let queue = &reign.lane.get(place.sq_id)?.queue;
        Some(queue.next_delivery(now_ms, is_ordered))
    });
    deliveries.max().unwrap_or(Delivery {
        pop_time_ms: now_ms,
        tag: 0,
    })
}

/// When a message of these share queues that is hidden now can be delivered.
fn next_due(reign: &Reign, places: &[Place<'_>]) -> Option<i64> {
    let queues = places
        .iter()
        .filter_map(|place| reign.lane.get(place.sq_id));
    queues.filter_map(|wired| wired.queue.next_due_ms()).min()
}

/// The delivery of an attempt whose messages its consumer has still.
fn repeated_attempt(reign: &Reign, sq_id: u64, attempt: &str) -> Option<Delivery> {
    let Attempt { name, delivery, .. } = reign.attempts.get(&sq_id)?;
    let queue = &reign.lane.get(sq_id)?.queue;
    let is_same = !attempt.is_empty() && **name == *attempt;
    (is_same && !queue.batch(*delivery).is_empty()).then_some(*delivery)
}

fn is_blocked(reign: &Reign, sq_id: u64, clock_ms: i64) -> bool {
    let wired = reign.lane.get(sq_id);
    let is_blocked = wired.is_some_and(|wired| wired.queue.is_blocked(clock_ms));
    is_blocked || reign.has_proposed(sq_id)
}

fn queue_start(reign: &Reign, sq_id: u64) -> u64 {
    reign
        .lane
        .get(sq_id)
        .map_or(u64::MAX, |wired| wired.queue.start())
}
