//! Acknowledgements and POPs that go to another member of the broker group (ADR 27).

use regent_remoting::limits::{EXT_COUNT_MAX, FRAME_PREFIX_SIZE, HEADER_SIZE_MAX};
use regent_remoting::{Command, EncodeError, Frame, Header};

use super::Call;
use crate::forward::{Forward, Forwards, OWN_COUNT, SEQUENCER, write_ack, write_pop};
use crate::pop::{ANY_QUEUE, AckRequest, PopRequest};
use crate::pull::Granted;
use crate::pulled::Answering;
use crate::share::Reign;

/// Who answers a POP.
pub(super) enum Way {
    /// This member.
    Here,
    /// The only owner.
    Forwarded,
    Dispatcher,
}

/// Who owns the share queues that a POP asks for.
enum Owners {
    Own,
    Other(u64),
    /// Not all of them are owned, or by several members.
    Several,
}

impl Call<'_, '_, '_> {
    /// Pass an acknowledgement on to the sequencer. `false` leaves it for the dispatcher.
    pub(super) fn pass_on_ack(
        &mut self,
        frame: &Frame<'_>,
        header: &Header<'_>,
        request: &AckRequest<'_>,
    ) -> bool {
        if header.is_oneway() || request.is_marked || !frame.body.is_empty() {
            return false;
        }
        self.forward(SEQUENCER, frame, header, |out, number| {
            write_ack(out, number, request)
        })
    }

    /// Forward a POP to the member that owns all of its share queues, or leave it for the dispatcher: it asks owners in
    /// turn, and asks for share queues without an owner.
    pub(super) fn way_of_pop(
        &mut self,
        frame: &Frame<'_>,
        header: &Header<'_>,
        request: &PopRequest<'_>,
        granted: &Granted,
    ) -> Way {
        if request.is_marked || request.is_late(self.now_ms) {
            return Way::Here;
        }
        // The lock of share queues comes before that of the log.
        self.writer = None;
        let reign = self.hot.shares.reign();
        let owners = reign.as_ref().map(|it| owners(it, request, granted));
        drop(reign);
        let owner = match owners {
            None | Some(Owners::Own) => return Way::Here,
            Some(Owners::Other(owner)) => owner,
            Some(Owners::Several) => return Way::Dispatcher,
        };
        let may_forward = granted.grant.pop.as_ref().is_some_and(|it| it.may_forward);
        if !may_forward || !frame.body.is_empty() {
            return Way::Dispatcher;
        }
        let command = Command::decode(frame).ok();
        let Some(command) = command.filter(|it| it.ext.len() + OWN_COUNT <= EXT_COUNT_MAX) else {
            return Way::Dispatcher;
        };
        let is_forwarded = self.forward(owner, frame, header, |out, number| {
            write_pop(out, number, &command)
        });
        if is_forwarded {
            Way::Forwarded
        } else {
            Way::Dispatcher
        }
    }

    /// Write a request for a member. `false` if there is no connection to it.
    fn forward(
        &mut self,
        member: u64,
        frame: &Frame<'_>,
        header: &Header<'_>,
        write: impl FnOnce(&mut Vec<u8>, i32) -> Result<(), EncodeError>,
    ) -> bool {
        if !self.hot.has_link(member) {
            self.received.lacks_link = Some(member);
            return false;
        }
        let forwards = &mut self.received.forwards;
        let place = forwards.iter().position(|one| one.member == member);
        let place = place.unwrap_or_else(|| {
            forwards.push(Forwards::new(member));
            forwards.len() - 1
        });
        let forwards = &mut forwards[place];
        let number = self.hot.next_forward();
        let start = forwards.frames.len();
        let outcome = write(&mut forwards.frames, number);
        // The member refuses a longer header, and closes the connection with the requests of all clients.
        if outcome.is_err() || forwards.frames.len() - start > FRAME_PREFIX_SIZE + HEADER_SIZE_MAX {
            forwards.frames.truncate(start);
            return false;
        }
        forwards.requests.push(Forward {
            number,
            is_pop: member != SEQUENCER,
            answering: Answering {
                opaque: header.opaque,
                encoding: frame.encoding,
            },
            header: frame.header.into(),
        });
        true
    }
}

/// Who owns the share queues that a POP asks for, by the lane.
fn owners(reign: &Reign, request: &PopRequest<'_>, granted: &Granted) -> Owners {
    if !reign.is_shared(&granted.topic) {
        return Owners::Own;
    }
    let grant = &granted.grant;
    let topic: &str = &granted.topic;
    let queues = match request.queue_id {
        ANY_QUEUE => 0..grant.read_queue_count,
        queue_id => queue_id..queue_id.saturating_add(1),
    };
    let of_topic = queues.map(|queue_id| reign.owner(topic, queue_id, &granted.group));
    let retries = grant.pop.iter().filter(|_| !request.is_ordered);
    let retries = retries.flat_map(|pop| &pop.retries);
    let retries = retries.filter(|retry| reign.is_shared(&retry.name));
    let of_retries = retries.flat_map(|retry| {
        (0..retry.queue_count).map(|queue_id| reign.owner(&retry.name, queue_id, &granted.group))
    });
    let own = Some(reign.member());
    let (mut are_own, mut first, mut is_one) = (true, None, true);
    for (owner, is_retry) in of_topic
        .map(|owner| (owner, false))
        .chain(of_retries.map(|owner| (owner, true)))
    {
        // The lease keeper takes queues of retry topics without an owner, no matter which member
        // owns the others.
        are_own &= owner == own || (is_retry && owner.is_none());
        is_one &= *first.get_or_insert(owner) == owner;
    }
    match first.flatten() {
        _ if are_own => Owners::Own,
        Some(owner) if is_one => Owners::Other(owner),
        _ => Owners::Several,
    }
}
