//! What a store must hold after a crash, and how a directory is held against it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regent_commitlog::{
    EpochList, FlushMode, KeySearch, NewMessage, RecordView, Store, StoreConfig, find_property,
    java_hash,
};

use crate::message::Message;
use crate::second::open_alike;
use crate::support::{NOW_MS, QUEUE_FILE_SIZE, contents, index};

/// So small, and queues flushed so often, that recovery rarely starts with the oldest segment.
pub const SEGMENT_SIZE: u64 = 8192;
const BLANK_MAGIC: [u8; 4] = [0xCB, 0xD4, 0x31, 0x94];

pub fn config(dir: &Path) -> StoreConfig {
    let mut config = index::config(dir);
    config.segment_size_bytes = SEGMENT_SIZE;
    config.queue_flush_interval_ms = 2_000;
    config
}

/// Fails a check with a text.
macro_rules! ensure {
    ($condition:expr, $($text:tt)*) => {
        if !$condition {
            return Err(format!($($text)*));
        }
    };
}

/// All that was handed to a store, and how much of it the store vouched for.
#[derive(Debug, Clone)]
pub struct Model {
    pub messages: Vec<Message>,
    /// Log position up to which the store said that records are on the disk.
    pub acked_end: u64,
    /// Where the log may begin at most.
    pub min_allowed: u64,
    /// Where a truncation that is under way cuts.
    pub cut: Option<u64>,
    /// Epoch lists one of which must be found.
    pub epochs: Vec<EpochList>,
    /// Whether messages wait for the disk.
    pub is_sync: bool,
}

/// What became of a crash image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Whole,
    /// Bytes are missing before valid records, and nothing shows that they were not flushed:
    /// read-only.
    ReadOnly,
}

/// A record as it lies in the log.
struct Logged {
    position: u64,
    size: usize,
    topic: String,
    queue_id: i32,
    queue_offset: u64,
    body: Vec<u8>,
    properties: Vec<u8>,
}

impl Model {
    pub fn new(is_sync: bool) -> Self {
        Self {
            messages: Vec::new(),
            acked_end: 0,
            min_allowed: 0,
            cut: None,
            epochs: vec![EpochList::default()],
            is_sync,
        }
    }

    /// How the store is opened: in `SYNC_FLUSH` blocks are written ahead, one at a time.
    pub fn config(&self, dir: &Path) -> StoreConfig {
        let mut config = config(dir);
        if self.is_sync {
            config.flush_mode = FlushMode::Sync;
            config.populate_ahead_bytes = 4096;
        }
        config
    }

    /// What must be there when the process alone dies: every message, whether flushed or not.
    /// `torn`, the newest, may be there.
    pub fn vouching_for_all_but(&self, torn: Option<&Message>) -> Self {
        let mut model = self.clone();
        if torn.is_some() {
            model.messages.last_mut().expect("a message").place = None;
        }
        let newest = model.messages.iter().rev().find_map(|one| one.place);
        model.acked_end = newest.map_or(model.acked_end, |(position, _)| position + 1);
        model
    }

    /// Opens the store of a directory, twice, and holds it against the model.
    pub fn check(&self, dir: &Path) -> Result<Verdict, String> {
        let store = open_alike(self.config(dir))?;
        let store = store.map_err(|error| format!("refused: {error}"))?;
        ensure!(
            self.epochs.contains(&store.epochs()),
            "epochs {:?} instead of {:?}",
            store.epochs(),
            self.epochs
        );
        ensure!(
            store.min_position() <= self.min_allowed,
            "begins at {}",
            store.min_position()
        );
        if store.recovery().damage.is_some() {
            self.check_read_only(dir, &store)?;
            return Ok(Verdict::ReadOnly);
        }
        let end = store.max_position();
        let logged = walk(dir, store.min_position(), end)?;
        self.check_log(&logged, store.min_position(), end)?;
        check_queues(dir, &store, &logged)?;
        check_cleared(dir, end)?;
        drop(store);
        let before = written(dir, end);
        let again = Store::open(self.config(dir), NOW_MS);
        let store = again.map_err(|error| format!("second: {error}"))?;
        ensure!(
            store.max_position() == end,
            "ends elsewhere the second time"
        );
        ensure!(written(dir, end) == before, "changed by opening it again");
        check_index(&store, &logged)?;
        check_goes_on(&store, &logged)?;
        check_cleared(dir, store.max_position())?;
        Ok(Verdict::Whole)
    }

    /// Every record that was vouched for is served, and the damage lies behind them.
    fn check_read_only(&self, dir: &Path, store: &Store) -> Result<(), String> {
        let damage = store.recovery().damage.expect("damage");
        ensure!(!is_flushed_part_known(dir), "read-only: {damage}");
        let acked = self
            .cut
            .map_or(self.acked_end, |cut| cut.min(self.acked_end));
        ensure!(
            damage.position >= acked,
            "flushed up to {acked}, but {damage}"
        );
        for message in &self.messages {
            let Some((position, _)) = message.place else {
                continue;
            };
            if position >= acked || position < store.min_position() {
                continue;
            }
            let read = store.read_record(position);
            let record = read.map_err(|error| format!("at {position}: {error}"))?;
            let record = record.ok_or(format!("nothing at {position}"))?;
            let view = RecordView::parse(&record).map_err(|error| format!("{error}"))?;
            ensure!(view.body == message.body, "another body at {position}");
        }
        Ok(())
    }

    /// The log is a run of the messages, up to and with all that were vouched for.
    fn check_log(&self, logged: &[Logged], min: u64, end: u64) -> Result<(), String> {
        let reaches = end >= self.acked_end || self.cut == Some(end);
        ensure!(reaches, "ends at {end}, flushed up to {}", self.acked_end);
        let is_gone = |message: &&Message| message.place.is_some_and(|place| place.0 < min);
        let first = self.messages.iter().take_while(is_gone).count();
        let known = &self.messages[first..];
        ensure!(
            logged.len() <= known.len(),
            "{} phantoms",
            logged.len() - known.len()
        );
        for (record, message) in logged.iter().zip(known) {
            let at = record.position;
            ensure!(record.body == message.body, "another message at {at}");
            let is_whole = record.properties == message.properties.as_bytes();
            ensure!(is_whole, "other properties at {at}");
            let is_its = record.topic == message.topic && record.queue_id == message.queue_id;
            ensure!(is_its, "another queue at {at}");
            let place = (record.position, record.queue_offset);
            ensure!(
                message.place.is_none_or(|known| known == place),
                "{:?} is at {place:?}",
                message.place
            );
        }
        let next = known.get(logged.len()).and_then(|next| next.place);
        let is_all = next.is_none_or(|next| next.0 >= end);
        ensure!(is_all, "{next:?} is missing before {end}");
        Ok(())
    }
}

/// Reads the log without the store's help.
fn walk(dir: &Path, min: u64, end: u64) -> Result<Vec<Logged>, String> {
    let mut logged = Vec::new();
    let mut position = min;
    while position < end {
        let base = position - position % SEGMENT_SIZE;
        let path = dir.join("commitlog").join(format!("{base:020}"));
        let segment = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut at = usize::try_from(position - base).unwrap();
        while at < segment.len() && base + (at as u64) < end {
            if segment[at + 4..at + 8] == BLANK_MAGIC {
                at = segment.len();
                break;
            }
            let position = base + at as u64;
            let parsed = RecordView::parse(&segment[at..]);
            let view = parsed.map_err(|damage| format!("at {position}: {damage}"))?;
            ensure!(
                view.is_intact() && view.log_position == position,
                "a lie at {position}"
            );
            logged.push(Logged {
                position,
                size: view.bytes.len(),
                topic: String::from_utf8(view.topic.to_vec()).unwrap(),
                queue_id: view.queue_id,
                queue_offset: view.queue_offset,
                body: view.body.to_vec(),
                properties: view.properties.to_vec(),
            });
            at += view.bytes.len();
        }
        position = base + at as u64;
    }
    Ok(logged)
}

/// No cut record is left that could come back behind shorter ones.
pub fn check_cleared(dir: &Path, end: u64) -> Result<(), String> {
    let base = end - end % SEGMENT_SIZE;
    let path = dir.join("commitlog").join(format!("{base:020}"));
    let segment = fs::read(path).unwrap_or_default();
    let behind = segment.get(usize::try_from(end - base).unwrap()..);
    let is_cleared = behind.is_none_or(|bytes| bytes.iter().all(|byte| *byte == 0));
    ensure!(is_cleared, "not cleared behind {end}");
    Ok(())
}

type Queues = BTreeMap<(String, i32), BTreeMap<u64, Vec<u8>>>;

/// What the queues must hold, by the specification alone.
fn entries_of(logged: &[Logged]) -> Queues {
    let mut queues = Queues::new();
    for record in logged {
        let hash = find_property(&record.properties, b"TAGS").map_or(0, java_hash);
        let entry = [
            record.position.to_be_bytes().to_vec(),
            u32::try_from(record.size).unwrap().to_be_bytes().to_vec(),
            i64::from(hash).to_be_bytes().to_vec(),
        ];
        let queue = queues
            .entry((record.topic.clone(), record.queue_id))
            .or_default();
        queue.insert(record.queue_offset, entry.concat());
    }
    queues
}

fn check_queues(dir: &Path, store: &Store, logged: &[Logged]) -> Result<(), String> {
    let expected = entries_of(logged);
    for ((topic, queue_id), entries) in &expected {
        let (first, last) = (
            entries.keys().next().unwrap(),
            entries.keys().last().unwrap(),
        );
        ensure!(
            entries.len() as u64 == last - first + 1,
            "a gap in {topic}/{queue_id}"
        );
        let range = store.queue_offsets(topic, *queue_id);
        ensure!(
            range == Some((*first, last + 1)),
            "{topic}/{queue_id} is {range:?}"
        );
        ensure!(
            *first == 0 || store.min_position() > 0,
            "{topic}/{queue_id} begins late"
        );
    }
    let none = BTreeMap::new();
    for range in store.queues() {
        let queue = (range.topic, range.queue_id);
        let entries = expected.get(&queue).unwrap_or(&none);
        let first = entries.keys().next().copied().unwrap_or(range.max_offset);
        let path = dir
            .join("consumequeue")
            .join(&queue.0)
            .join(queue.1.to_string());
        ensure!(
            !entries.is_empty() || store.min_position() > 0 || range.max_offset == 0,
            "{queue:?} has entries without a record"
        );
        for (offset, entry) in stored_entries(&path)? {
            let zeros = vec![0; 20];
            let is_right = offset < first || entry == *entries.get(&offset).unwrap_or(&zeros);
            ensure!(is_right, "{queue:?} differs at {offset}");
        }
        for offset in entries.keys() {
            let held = store.queue_entries(&queue.0, queue.1, *offset, 1);
            ensure!(held.len() == 1, "{queue:?} lacks {offset}");
        }
    }
    Ok(())
}

/// Every entry in the files of a queue, zeros too.
fn stored_entries(dir: &Path) -> Result<Vec<(u64, Vec<u8>)>, String> {
    let mut stored = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        let base: u64 = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let bytes = fs::read(&path).unwrap();
        ensure!(
            bytes.len() as u64 == QUEUE_FILE_SIZE,
            "{} is short",
            path.display()
        );
        stored.extend((base / 20..).zip(bytes.chunks(20).map(<[u8]>::to_vec)));
    }
    Ok(stored)
}

/// Log, queues and epochs, but for segments made ahead, which come and go. What the index was at a
/// clean stop is not known to be on the disk after the next start.
fn written(dir: &Path, end: u64) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut found = contents(dir);
    found.retain(|name, _| {
        let base = name.file_name().unwrap().to_str().unwrap().parse::<u64>();
        let is_ahead = name.starts_with("commitlog") && base.is_ok_and(|base| base >= end);
        !is_ahead && !name.starts_with("index")
    });
    found
}

/// Whether there is a checkpoint, and no flush has failed since.
fn is_flushed_part_known(dir: &Path) -> bool {
    let checkpoint = fs::read(dir.join("checkpoint")).unwrap_or_default();
    let mark = fs::read_to_string(dir.join("abort")).unwrap_or_default();
    checkpoint.len() >= 40 && !mark.contains("unflushed")
}

/// A search finds all records with a key, and no other.
fn check_index(store: &Store, logged: &[Logged]) -> Result<(), String> {
    let mut expected: BTreeMap<(&str, &[u8]), Vec<u64>> = BTreeMap::new();
    for record in logged {
        let key = find_property(&record.properties, b"KEYS").unwrap();
        let positions = expected.entry((&record.topic, key)).or_default();
        positions.insert(0, record.position);
    }
    while store
        .advance_followers(NOW_MS, 0)
        .map_err(|error| format!("index: {error}"))?
        > 0
    {}
    for ((topic, key), positions) in expected {
        let key = std::str::from_utf8(key).unwrap();
        let mut found = store.search(KeySearch::by_key(topic, key, 64, 0, i64::MAX));
        // What the index still knows of expired records.
        found.retain(|position| *position >= store.min_position());
        ensure!(
            found == positions,
            "{topic} {key}: {found:?}, not {positions:?}"
        );
    }
    Ok(())
}

/// The next append continues its queue and the log.
fn check_goes_on(store: &Store, logged: &[Logged]) -> Result<(), String> {
    let Some(last) = logged.last() else {
        return Ok(());
    };
    let message = NewMessage::new(&last.topic, last.queue_id, b"next");
    let mut writer = store.writer().map_err(|error| error.to_string())?;
    let appended = writer
        .append(&message, NOW_MS)
        .map_err(|error| error.to_string())?;
    drop(writer);
    ensure!(
        appended.queue_offset == last.queue_offset + 1,
        "goes on at {appended:?}"
    );
    store.close().map_err(|error| error.to_string())
}
