//! Acknowledgements and POPs that go to another member of the broker group (ADR 27).

use regent_remoting::{Command, EncodeError, Frame, Header};

use super::Call;
use crate::forward::{Forward, Forwards, SEQUENCER, write_ack, write_pop};
use crate::pop::{ANY_QUEUE, AckRequest, PopRequest};
use crate::pull::Granted;
use crate::pulled::Answering;
use crate::share::Reign;

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

    /// Forward a POP to the member that owns all of its share queues. `false` if there is none.
    pub(super) fn forward_pop(
        &mut self,
        frame: &Frame<'_>,
        header: &Header<'_>,
        request: &PopRequest<'_>,
        granted: &Granted,
    ) -> bool {
        let may_forward = granted.grant.pop.as_ref().is_some_and(|it| it.may_forward);
        let is_ordinary = may_forward && !request.is_marked && frame.body.is_empty();
        if !is_ordinary || request.is_late(self.now_ms) {
            return false;
        }
        // The lock of share queues comes before that of the log.
        self.writer = None;
        let reign = self.hot.shares.reign();
        let owner = reign
            .as_ref()
            .and_then(|reign| other_owner(reign, request, granted));
        drop(reign);
        let (Some(owner), Ok(command)) = (owner, Command::decode(frame)) else {
            return false;
        };
        self.forward(owner, frame, header, |out, number| {
            write_pop(out, number, &command)
        })
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
        if write(&mut forwards.frames, number).is_err() {
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

/// The other member that owns all share queues which a POP asks for, by the lane; `None` if there is none.
fn other_owner(reign: &Reign, request: &PopRequest<'_>, granted: &Granted) -> Option<u64> {
    if !reign.is_shared(&granted.topic) {
        return None;
    }
    let grant = &granted.grant;
    let topic: &str = &granted.topic;
    let queues = match request.queue_id {
        ANY_QUEUE => 0..grant.read_queue_count,
        queue_id => queue_id..queue_id.checked_add(1)?,
    };
    let retries = grant.pop.iter().filter(|_| !request.is_ordered);
    let retries = retries.flat_map(|pop| &pop.retries);
    let retries = retries.map(|retry| (&*retry.name, 0..retry.queue_count));
    let mut owner = None;
    for (topic, queues) in [(topic, queues)].into_iter().chain(retries) {
        for queue_id in queues {
            let found = reign.owner(topic, queue_id, &granted.group)?;
            if *owner.get_or_insert(found) != found {
                return None;
            }
        }
    }
    owner.filter(|owner| *owner != reign.member())
}
