//! What the owner hears.

use std::sync::Arc;

use regent_hotpath::{Commit, ParkedPull, Proposal, Pulled};
use regent_remoting::Command;
use regent_share::Delivery;

use crate::client::Client;

/// One thing that happened to a client.
#[derive(Debug)]
pub struct Event {
    /// The client that it concerns, by [`Client::id`].
    pub client: u64,
    /// What happened.
    pub what: What,
}

/// What happens to clients.
#[derive(Debug)]
pub enum What {
    /// It connected.
    Opened(Arc<Client>),
    /// Requests that the hot path leaves, in the order of arrival.
    Requests(Vec<Command>),
    /// A send whose queue lacks a file, and requests behind it, whose queues may lack files as well. The client
    /// waits for [`Clients::go_on`](crate::Clients::go_on).
    SetAside(Vec<Command>),
    /// A parked pull whose grant has changed. The client waits for
    /// [`Clients::checked`](crate::Clients::checked).
    Unchecked(Box<ParkedPull>),
    /// Answers that are given once messages are safe.
    Deferred(Deferred),
    /// A message that the store should have taken, and did not.
    StoreFailed(String),
    /// It sent what no reader can make sense of, and is closed.
    BrokeProtocol(String),
    /// It has read its answers, so that more of its requests may be served.
    HasRoom,
    /// A member to which requests would go if there were a connection; of no client. The owner is asked once,
    /// until it calls [`Clients::use_link`](crate::Clients::use_link) or
    /// [`Clients::retire_link`](crate::Clients::retire_link).
    LacksLink(u64),
    /// The connection to a member is lost, and why; of no client. The owner is asked for another one after
    /// [`Clients::retire_link`](crate::Clients::retire_link).
    LinkLost(u64, String),
    /// A POP whose client has left, and the answer of a member with messages.
    Unclaimed(u64, Box<Command>, Box<Command>),
    /// Its connection is closed, perhaps because of an error. No more events of it follow.
    Closed(Option<String>),
}

/// Answers that wait.
#[derive(Debug)]
pub struct Deferred {
    /// The frames of the answers.
    pub frames: Vec<u8>,
    /// The end of the last message that they answer for.
    pub position: u64,
    /// What they deliver, by number of the share queue: to undo if they are never written.
    pub deliveries: Vec<(u64, Delivery)>,
    /// The records that a replica has to send to its master first, perhaps for no answer.
    pub proposal: Option<Proposal>,
}

/// What was answered to one client's pulls of one queue.
#[derive(Debug, Clone)]
pub struct PulledByClient {
    /// Whose pulls they were.
    pub client: u64,
    /// Whether the client asked just now, not before it waited.
    pub is_asked: bool,
    /// What of which queue.
    pub pulled: Pulled,
}

/// All that happened since the owner looked last.
#[derive(Debug, Default)]
pub struct Batch {
    /// What pulls commit, with the client whose pull was the last. It comes before the events.
    pub commits: Vec<(u64, Commit)>,
    /// What pulls were answered.
    pub pulled: Vec<PulledByClient>,
    /// How many requests the sequencer has answered.
    pub passed_on_count: usize,
    /// Whether messages were appended.
    pub has_appended: bool,
    /// The rest, in order.
    pub events: Vec<Event>,
}
