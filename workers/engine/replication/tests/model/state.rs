//! One state of the model: three brokers, a controller, and what was acknowledged to clients.

use std::fmt;

pub(crate) const BROKER_COUNT: usize = 3;
pub(crate) const EPOCH_MAX: u8 = 3;
pub(crate) const MESSAGE_MAX: u8 = 4;

/// Brokers as a bit set.
pub(crate) type Brokers = u8;

pub(crate) fn bit(broker: usize) -> Brokers {
    1 << broker
}

/// A message in a log: which epoch's master appended it, which message it is, its queue offset.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) epoch: u8,
    pub(crate) message: u8,
    pub(crate) offset: u8,
}

impl fmt::Debug for Entry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "m{}@{}e{}", self.message, self.offset, self.epoch)
    }
}

/// The messages of a broker; what lies behind the length is empty, so that equal logs are equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Log {
    length: u8,
    entries: [Entry; MESSAGE_MAX as usize],
}

impl Log {
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries[..usize::from(self.length)]
    }

    pub(crate) fn end(&self) -> u8 {
        self.length
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries[usize::from(self.length)] = entry;
        self.length += 1;
    }

    pub(crate) fn truncate(&mut self, length: u8) {
        self.entries[usize::from(length)..].fill(Entry::default());
        self.length = length;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Role {
    /// It knows of no master; so is every broker that has just started.
    Fenced,
    Replica,
    Master,
}

/// A change of the set on its way to the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Request {
    pub(crate) set: Brokers,
    /// Whether the set that it is to replace is still the controller's: the compare of its
    /// compare-and-set, which real ones make with epochs.
    pub(crate) is_current: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Broker {
    pub(crate) role: Role,
    /// Newest epoch it has heard of.
    pub(crate) epoch: u8,
    pub(crate) log: Log,
    pub(crate) next_offset: u8,
    /// Its last stop lost what was not on the disk.
    pub(crate) is_unclean: bool,
    /// As a replica: its log was compared with that of this epoch's master.
    pub(crate) is_following: bool,
    /// Where that master's log ended then: all that may have been acknowledged before.
    pub(crate) greeted_end: u8,
    /// As a master, from here on: where its log ended when it began to serve. All before that may
    /// have been acknowledged.
    pub(crate) term_start: u8,
    pub(crate) confirmed: u8,
    pub(crate) set: Brokers,
    /// Whether its set is the controller's.
    pub(crate) is_set_current: bool,
    pub(crate) proposed: Brokers,
    pub(crate) request: Option<Request>,
    /// What each other broker holds, while it is connected.
    pub(crate) held: [Option<u8>; BROKER_COUNT],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct State {
    pub(crate) brokers: [Broker; BROKER_COUNT],
    /// The controller's row.
    pub(crate) master: Option<u8>,
    pub(crate) epoch: u8,
    pub(crate) set: Brokers,
    pub(crate) message_count: u8,
    /// The highest confirmed position that a master of the controller's epoch had: its heartbeats
    /// report it.
    pub(crate) evidence: u8,
    /// Messages that were acknowledged to their senders as safe, as bits.
    pub(crate) acknowledged: u8,
    pub(crate) crash_count: u8,
}

impl Broker {
    fn new() -> Self {
        Self {
            role: Role::Fenced,
            epoch: 0,
            log: Log::default(),
            next_offset: 0,
            is_unclean: false,
            is_following: false,
            greeted_end: 0,
            term_start: 0,
            confirmed: 0,
            set: 0,
            is_set_current: false,
            proposed: 0,
            request: None,
            held: [None; BROKER_COUNT],
        }
    }

    /// Gives up whatever it was.
    pub(crate) fn retire(&mut self, role: Role) {
        self.role = role;
        self.is_following = false;
        self.greeted_end = 0;
        self.term_start = 0;
        self.confirmed = 0;
        self.set = 0;
        self.is_set_current = false;
        self.proposed = 0;
        self.request = None;
        self.held = [None; BROKER_COUNT];
    }

    pub(crate) fn end(&self) -> u8 {
        self.log.end()
    }

    /// Whether all messages of a bit set are in the log.
    pub(crate) fn has_all(&self, messages: u8) -> bool {
        let held = self
            .log
            .entries()
            .iter()
            .fold(0, |held, entry| held | 1 << entry.message);
        messages & !held == 0
    }
}

impl State {
    /// A group in which broker 0 is about to learn that it is master, alone in the set.
    pub(crate) fn first() -> Self {
        Self {
            brokers: std::array::from_fn(|_| Broker::new()),
            master: Some(0),
            epoch: 1,
            set: bit(0),
            message_count: 0,
            evidence: 0,
            acknowledged: 0,
            crash_count: 0,
        }
    }

    /// The same state under the numbering of brokers that sorts first: which broker is which does
    /// not matter.
    pub(crate) fn canonical(&self) -> Self {
        const ORDERS: [[usize; BROKER_COUNT]; 6] = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        let keys: [_; BROKER_COUNT] = std::array::from_fn(|at| self.key(at));
        // Where brokers differ by themselves, one order sorts first; ties are tried in each.
        let is_sorted = |order: &&[usize; BROKER_COUNT]| {
            keys[order[0]] <= keys[order[1]] && keys[order[1]] <= keys[order[2]]
        };
        let renamed = ORDERS.iter().filter(is_sorted);
        let renamed = renamed.map(|order| self.renamed(order));
        renamed.min().unwrap_or(*self)
    }

    /// What of a broker does not speak of others.
    fn key(&self, at: usize) -> (bool, bool, Broker) {
        let mut broker = self.brokers[at];
        broker.set = 0;
        broker.proposed = 0;
        broker.request = None;
        broker.held = [None; BROKER_COUNT];
        let is_master = self.master.is_some_and(|master| usize::from(master) == at);
        (is_master, self.set & bit(at) != 0, broker)
    }

    /// `order[new]` is the old number of a broker.
    fn renamed(&self, order: &[usize; BROKER_COUNT]) -> Self {
        let set_of = |old: Brokers| {
            (0..BROKER_COUNT)
                .filter(|new| old & bit(order[*new]) != 0)
                .fold(0, |set, new| set | bit(new))
        };
        let number_of = |old: u8| order.iter().position(|at| *at == usize::from(old));
        let mut state = *self;
        for (new, old) in order.iter().enumerate() {
            let mut broker = self.brokers[*old];
            broker.set = set_of(broker.set);
            broker.proposed = set_of(broker.proposed);
            broker.request = broker.request.map(|request| Request {
                set: set_of(request.set),
                ..request
            });
            broker.held = std::array::from_fn(|at| self.brokers[*old].held[order[at]]);
            state.brokers[new] = broker;
        }
        state.set = set_of(self.set);
        state.master = self
            .master
            .and_then(number_of)
            .and_then(|new| u8::try_from(new).ok());
        state
    }
}
