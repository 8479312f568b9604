//! The log of one lane, which a failover can cut.

use regent_share::{Body, Lane, Policy, Ranges, Record, ShareQueue};

pub(crate) const SQ: u64 = 1;

/// The records since WIRE.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct LaneLog {
    pub(crate) records: Vec<Record>,
    /// So many records are in the log of each later master.
    pub(crate) confirmed: usize,
}

impl LaneLog {
    /// The state that the first records make.
    pub(crate) fn lane(&self, count: usize) -> Lane {
        let mut lane = Lane::default();
        let policy = Policy {
            attempts: 16,
            discards: false,
            is_ordered: false,
            window: 4096,
        };
        let body = Body::Wire {
            topic: "Orders".into(),
            queue_id: 0,
            group: "billing".into(),
            policy,
        };
        lane.apply(&record(0, 0, body)).unwrap();
        for one in &self.records[..count] {
            lane.apply(one)
                .expect("it was judged before it was appended");
        }
        lane
    }

    /// A new master has so many of the records, and no other one.
    pub(crate) fn cut(&mut self, count: usize) {
        self.records.truncate(count);
        self.confirmed = count;
    }
}

pub(crate) fn queue(lane: &Lane) -> &ShareQueue {
    &lane.get(SQ).unwrap().queue
}

pub(crate) fn record(epoch: u64, flags: u16, body: Body) -> Record {
    Record {
        flags,
        sq_id: SQ,
        epoch,
        body,
    }
}

pub(crate) fn one(offset: u64) -> Ranges {
    Ranges::of(offset..offset + 1)
}
