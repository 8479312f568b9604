//! Two stores and the connection between them.
#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test program has its own copy and uses a part"
)]

use std::fs;
use std::path::Path;

use regent_commitlog::{NewMessage, QueueEntry, Store, StoreConfig};
use regent_replication::{
    Agreement, Handshake, Heard, LinkError, MasterLink, ReplicaLink, Reports, Transfer, agree,
};

pub const NOW_MS: i64 = 1_758_000_000_000;
pub const SEGMENT_SIZE: u64 = 16_384;
pub const REPLICA: Handshake = Handshake {
    is_from_last_segment: false,
    is_learner: false,
    broker_id: 2,
};

pub fn open(dir: &Path) -> Store {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = SEGMENT_SIZE;
    // Ten entries to a queue file.
    config.queue_file_size_bytes = 200;
    config.index_enabled = false;
    Store::open(config, NOW_MS).unwrap()
}

pub fn append(store: &Store, topic: &str, queue_id: i32, body: &[u8]) {
    let message = NewMessage::new(topic, queue_id, body);
    store.writer().unwrap().append(&message, NOW_MS).unwrap();
}

pub fn append_some(store: &Store, topic: &str, count: u32) {
    for number in 0..count {
        append(store, topic, 0, &number.to_be_bytes());
    }
}

/// Every whole record and blank, as they lie in the segments.
pub fn log_of(store: &Store) -> Vec<u8> {
    let mut position = store.min_position();
    let mut log = Vec::new();
    while let Some(slice) = store.log_slice(position, u64::MAX) {
        log.extend_from_slice(slice.bytes());
        position += slice.bytes().len() as u64;
    }
    log
}

/// Where each queued record begins.
pub fn records(store: &Store) -> Vec<u64> {
    let entries = queues_of(store).into_iter().flat_map(|queue| queue.3);
    let mut positions: Vec<_> = entries.map(|entry| entry.log_position).collect();
    positions.sort_unstable();
    positions
}

/// The store after a power cut that left so many of its records.
pub fn cut_power(store: Store, dir: &Path, kept_count: usize) -> Store {
    let lost_from = records(&store).get(kept_count).copied();
    drop(store);
    let lost_from = usize::try_from(lost_from.unwrap_or(u64::MAX)).unwrap();
    for (name, mut content) in segment_files(dir) {
        let base: usize = name.parse().unwrap();
        let kept = lost_from.saturating_sub(base).min(content.len());
        content[kept..].fill(0);
        fs::write(dir.join("commitlog").join(name), content).unwrap();
    }
    let store = open(dir);
    // What is left is on the disk already; now the store says so.
    store.flush().unwrap();
    store
}

pub type Queues = Vec<(String, i32, u64, Vec<QueueEntry>)>;

/// Each queue's readable entries, but for queues without any.
pub fn queues_of(store: &Store) -> Queues {
    let mut queues = Vec::new();
    for range in store.queues() {
        let entries =
            store.queue_entries(&range.topic, range.queue_id, range.min_offset, usize::MAX);
        if !entries.is_empty() {
            queues.push((range.topic, range.queue_id, range.min_offset, entries));
        }
    }
    queues
}

/// Files of the commit log with their sizes and content.
pub fn segment_files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir.join("commitlog"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// A connection: what is on its way, and the state machines at its ends.
#[derive(Debug)]
pub struct Wire {
    pub master: MasterLink,
    pub replica: ReplicaLink,
    reports: Option<Reports>,
    to_master: Vec<u8>,
    to_replica: Vec<u8>,
    /// Greatest confirmed position that the replica has received.
    pub confirmed: u64,
    pub heard: Vec<Heard>,
}

impl Wire {
    pub fn new(handshake: Handshake, known_epoch: i32) -> Self {
        let replica = ReplicaLink::new(handshake, known_epoch);
        Self {
            to_master: replica.handshake(),
            master: MasterLink::default(),
            replica,
            reports: None,
            to_replica: Vec::new(),
            confirmed: 0,
            heard: Vec::new(),
        }
    }

    /// A connection of the default protocol: the replica reports at once.
    pub fn plain(replica_store: &Store) -> Self {
        let mut replica = ReplicaLink::plain();
        let mut reports = replica.begin(replica_store);
        let first = reports.next(replica_store.max_position(), false);
        Self {
            to_master: first.into_iter().flatten().collect(),
            master: MasterLink::plain(7),
            replica,
            reports: Some(reports),
            to_replica: Vec::new(),
            confirmed: 0,
            heard: Vec::new(),
        }
    }

    /// Lets up to `size_max` bytes arrive at the master, which answers a handshake.
    pub fn up(&mut self, master: &Store, size_max: usize) -> Result<(), LinkError> {
        let size = size_max.min(self.to_master.len());
        let arriving: Vec<u8> = self.to_master.drain(..size).collect();
        let mut heard = Vec::new();
        self.master.receive(&arriving, master, &mut heard)?;
        for said in &heard {
            if matches!(said, Heard::Handshake(_)) {
                self.to_replica.extend(MasterLink::greeting(master));
            }
        }
        self.heard.extend(heard);
        Ok(())
    }

    /// Lets the master send once.
    pub fn send(&mut self, master: &Store, size_max: usize) -> Result<bool, LinkError> {
        let confirmed = master.max_position();
        let transfer = self.master.next_transfer(master, size_max, confirmed)?;
        let Some(Transfer { header, body }) = transfer else {
            return Ok(false);
        };
        self.to_replica.extend(header);
        self.to_replica.extend_from_slice(body.bytes());
        Ok(true)
    }

    pub fn heartbeat(&mut self, master: &Store) {
        let beat = self.master.heartbeat(master, master.max_position());
        self.to_replica.extend(beat.into_iter().flatten());
    }

    /// Lets up to `size_max` bytes arrive at the replica, which cuts its log if it must.
    pub fn down(&mut self, replica: &mut Store, size_max: usize) -> Result<(), LinkError> {
        let size = size_max.min(self.to_replica.len());
        let mut arriving: Vec<u8> = self.to_replica.drain(..size).collect();
        if size.is_multiple_of(2) {
            // As a thread does that knows how much is still to come.
            let room = self.replica.room(size);
            let filled = room.len();
            room.copy_from_slice(&arriving[..filled]);
            self.replica.fill(filled, replica)?;
            arriving.drain(..filled);
        }
        let progress = self.replica.receive(&arriving, replica)?;
        if let Some(greeting) = progress.greeting {
            match agree(&replica.epochs(), replica.max_position(), &greeting) {
                Agreement::Same => {}
                Agreement::CutTo(position) => {
                    replica.truncate_to(position)?;
                    // What is kept is on the disk already; now the store says so.
                    replica.flush()?;
                }
                Agreement::Apart => panic!("nothing in common"),
            }
            self.reports = Some(self.replica.begin(replica));
        }
        self.confirmed = self.confirmed.max(progress.confirmed.unwrap_or(0));
        let held = replica.max_position();
        let report = self.reports.as_mut().and_then(|it| it.next(held, false));
        self.to_master.extend(report.into_iter().flatten());
        Ok(())
    }

    /// Changes a byte on its way to the replica.
    pub fn flip(&mut self, at: usize) {
        self.to_replica[at] ^= 0x10;
    }

    pub fn on_its_way(&self) -> usize {
        self.to_replica.len()
    }

    /// Goes on until the replica holds everything and the master knows.
    pub fn finish(&mut self, master: &Store, replica: &mut Store) -> Result<(), LinkError> {
        loop {
            self.up(master, usize::MAX)?;
            self.down(replica, usize::MAX)?;
            let has_sent = self.send(master, 3_000)?;
            if !has_sent && self.to_master.is_empty() && self.to_replica.is_empty() {
                return Ok(());
            }
        }
    }
}
