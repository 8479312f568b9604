//! The version of the lane of a master: later records come only behind a VERSION record (queue-ownership.md 4.15).

#![allow(clippy::unwrap_used)]

use std::path::Path;

use ahash::AHashSet;
use regent_commitlog::{RecordView, Store};
use regent_hotpath::{Beginning, HotPath, Reigning};
use regent_share::{Body, Decoded, Policy, Record, Records, VERSION};
use regent_testing::{NOW_MS, hot_path, open_store};
use tempfile::TempDir;

const LANE: &str = "rmq_sys_SHARE_STATE_cluster-1";
const SEGMENT_SIZE: u64 = 8 << 20;
const QUEUE_COUNT: i32 = 3;

struct Broker {
    store: Store,
    hot: HotPath,
    dir: TempDir,
}

impl Broker {
    fn new(version_max: u16) -> Self {
        let (broker, version) = Self::open(TempDir::new().unwrap(), version_max);
        assert_eq!(version, 1);
        broker
    }

    fn open(dir: TempDir, version_max: u16) -> (Self, u16) {
        let (store, hot) = open(dir.path());
        let reigning = Reigning {
            topic: LANE.to_owned(),
            epoch: 0,
            member: 1,
            segment_size: SEGMENT_SIZE,
            is_acting: false,
            life: 7,
            shared: AHashSet::new(),
            version_max,
        };
        let version = hot.shares.lead(&store, reigning).unwrap();
        (Self { store, hot, dir }, version)
    }

    /// Only the log is left, and a release of this version is the next master.
    fn fail_over(self, version_max: u16) -> (Self, u16) {
        let Self { store, hot, dir } = self;
        drop((store, hot));
        Self::open(dir, version_max)
    }

    fn begin(&self, group: &str) {
        let policy = Policy {
            attempts: 3,
            discards: false,
            is_ordered: false,
            window: 4096,
        };
        let beginnings: Vec<_> = (0..QUEUE_COUNT)
            .map(|queue_id| Beginning {
                queue_id,
                ..Beginning::default()
            })
            .collect();
        let (shares, config) = (&self.hot.shares, self.hot.config());
        let name = ("Orders", group);
        (shares.begin(&self.store, config, name, policy, &beginnings, NOW_MS)).unwrap();
    }

    fn raise(&self, version: u16) -> bool {
        let (shares, config) = (&self.hot.shares, self.hot.config());
        (shares.raise_version(&self.store, config, version, NOW_MS)).unwrap()
    }

    fn remove(&self, group: &str) {
        let (shares, config) = (&self.hot.shares, self.hot.config());
        (shares.remove(&self.store, config, (None, Some(group)), NOW_MS)).unwrap();
    }

    fn compact(&self, version: u16) {
        let (shares, config) = (&self.hot.shares, self.hot.config());
        assert!((shares.compact(&self.store, config, version, NOW_MS)).unwrap());
    }

    fn groups(&self) -> Vec<String> {
        let (listed, _) = self.hot.shares.list((None, None), 0, 100);
        let mut groups: Vec<_> = listed.into_iter().map(|held| held.name.group).collect();
        groups.dedup();
        groups
    }

    fn records(&self) -> Vec<Record> {
        let (low, end) = self.store.held_offsets(LANE, 0).unwrap();
        let count = usize::try_from(end - low).unwrap();
        let mut found = Vec::new();
        for entry in self.store.held_entries(LANE, 0, low, count) {
            let content = self.store.held_record(entry.log_position).unwrap().unwrap();
            let message = RecordView::parse(&content).unwrap();
            found.extend(Records::new(message.body).map(|read| match read.unwrap() {
                Decoded::Known(record) => record,
                Decoded::Unknown { version } => panic!("a record of version {version}"),
            }));
        }
        found
    }

    fn names(&self) -> Vec<&'static str> {
        let records = self.records();
        records
            .iter()
            .map(|it| it.body.record_type().name())
            .collect()
    }
}

fn open(dir: &Path) -> (Store, HotPath) {
    (open_store(dir, SEGMENT_SIZE, NOW_MS), hot_path(1))
}

/// OI-10: at each position the lane has only records of the version of the last VERSION record before it.
fn check_versions(records: &[Record]) {
    let mut version = 1;
    for record in records {
        assert!(
            record.body.record_type().since() <= version,
            "{record:?} in version {version}"
        );
        if let Body::Version { version: next } = record.body {
            version = next;
        }
    }
}

/// Q79, OI-10: it is of the newest version, and its group is not.
#[test]
fn o44_a_newer_master_writes_the_older_records_until_its_group_is_raised() {
    let broker = Broker::new(VERSION);
    broker.begin("billing");
    broker.begin("audit");

    broker.remove("billing");

    let before = broker.names();
    assert!(!before.contains(&"VERSION") && !before.contains(&"DROP"));
    assert!(broker.raise(2));
    assert!(!broker.raise(2), "one record says so");
    assert!(!broker.raise(1), "it does not fall so");
    broker.remove("audit");
    assert_eq!(broker.names()[before.len()..], ["VERSION", "DROP"]);
    check_versions(&broker.records());
    assert_eq!(broker.hot.shares.version(), Some(2));
}

/// Q80: the first record of a lane is behind the VERSION record, and a lane that is not used gets none.
#[test]
fn a_group_without_share_queues_has_no_version_record_before_its_first_share_queue() {
    let broker = Broker::new(VERSION);

    assert!(!broker.raise(2));

    assert_eq!(broker.store.held_offsets(LANE, 0), None);
    broker.begin("billing");
    assert_eq!(broker.names()[..2], ["VERSION", "WIRE"]);
    check_versions(&broker.records());
}

#[test]
fn the_next_master_has_the_version_of_the_lane_and_what_a_record_dropped() {
    let broker = Broker::new(VERSION);
    broker.begin("billing");
    broker.begin("audit");
    broker.raise(2);
    broker.remove("billing");

    let (broker, version) = broker.fail_over(VERSION);

    assert_eq!(version, 2);
    assert_eq!(broker.groups(), ["audit"]);
    // It begins at a snapshot, which has the version as well.
    let (shares, config) = (&broker.hot.shares, broker.hot.config());
    assert!((shares.keep_snapshot(&broker.store, config, NOW_MS)).unwrap());
    assert_eq!(broker.names().last(), Some(&"MARK"));
    let (broker, version) = broker.fail_over(VERSION);
    assert_eq!(version, 2);
    assert_eq!(broker.groups(), ["audit"]);
    check_versions(&broker.records());
}

#[test]
fn o45_a_release_of_version_1_leads_no_lane_of_version_2_until_it_is_compacted() {
    let broker = Broker::new(VERSION);
    broker.begin("billing");
    broker.begin("audit");
    broker.raise(2);
    broker.remove("billing");

    let (broker, version) = broker.fail_over(1);

    assert_eq!(version, 2);
    assert_eq!(broker.hot.shares.version(), None, "it owns nothing");
    let (broker, _) = broker.fail_over(VERSION);
    broker.compact(1);
    assert_eq!(broker.hot.shares.version(), Some(1));
    broker.begin("late");
    broker.remove("late");
    check_versions(&broker.records());
    let (broker, version) = broker.fail_over(1);
    assert_eq!(version, 1);
    assert_eq!(broker.groups(), ["audit"]);
}
