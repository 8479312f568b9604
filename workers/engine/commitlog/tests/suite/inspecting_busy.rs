//! Tools beside a broker that writes at the same moment: what they read is older than what they
//! read next.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use regent_commitlog::inspect::{FindingKind, LogWalk, Step, Survey, read_index};
use regent_commitlog::{NewMessage, Store, StoreConfig};

use crate::support::*;

const BODY: [u8; 900] = [b'x'; 900];
/// In the short form tools look so often at least, however busy the machine is.
const LOOK_COUNT_MIN: u32 = 5;

/// A store whose checkpoint speaks of one message, in another queue than those of the tests.
fn begun(config: &StoreConfig) -> Store {
    let store = Store::open(config.clone(), NOW_MS).unwrap();
    append(&store, "first", 0, &BODY);
    store.flush_tick(NOW_MS).unwrap();
    store
}

/// What a walk in small steps meets from here on, but for records.
fn remarks(walk: &mut LogWalk) -> Vec<String> {
    let mut remarks = Vec::new();
    while let Some(step) = walk.step().unwrap() {
        match step {
            Step::Record(_) | Step::End { .. } => {}
            other => remarks.push(format!("{other:?}")),
        }
    }
    remarks
}

fn findings(survey: &mut Survey) -> Vec<(FindingKind, String)> {
    while survey.advance(100).unwrap() {}
    let found = survey.findings().iter();
    found
        .map(|found| (found.kind, format!("{} {}", found.queue, found.text)))
        .collect()
}

/// A log in whose first segment a record is half written, as seen by who read it while its broker
/// wrote on: what is behind that record is there. With it, how to write the other half.
fn half_written(dir: &Path) -> (StoreConfig, u64, impl FnOnce() + use<>) {
    let config = config(dir);
    let store = Store::open(config.clone(), NOW_MS).unwrap();
    let appended: Vec<_> = (0..60)
        .map(|turn| append(&store, "orders", turn % 3, &BODY))
        .collect();
    store.close().unwrap();
    let half = appended[5].log_position + 200;
    let first = segment_path(dir, 0);
    overwrite(&first, half, &[0; 400]);
    let complete = move || overwrite(&first, half, &BODY[..400]);
    (config, appended[5].log_position, complete)
}

#[test]
fn a_record_that_was_half_written_when_it_was_read_is_no_damage() {
    let dir = tempdir();
    let (_, _, complete) = half_written(dir.path());
    let mut walk = LogWalk::new(&dir.path().join("commitlog")).unwrap();
    let Some(Step::Record(_)) = walk.step().unwrap() else {
        panic!("the first record is there");
    };

    complete();

    let mut count = 1;
    while let Some(step) = walk.step().unwrap() {
        match step {
            Step::Record(_) => count += 1,
            Step::End { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(count, 60);
}

#[test]
fn a_survey_takes_a_half_written_record_for_no_lost_message() {
    let dir = tempdir();
    let (config, _, complete) = half_written(dir.path());
    let mut survey = Survey::comparing(&config, true).unwrap();
    assert!(survey.advance(100).unwrap());

    complete();

    assert_eq!(findings(&mut survey), []);
}

#[test]
fn a_record_that_stays_half_written_is_damage_with_lost_messages() {
    let dir = tempdir();
    let (config, position, _) = half_written(dir.path());

    let mut survey = Survey::comparing(&config, true).unwrap();

    let found = findings(&mut survey);
    assert_eq!(found[0].0, FindingKind::DamagedLog);
    assert_eq!(found[1].0, FindingKind::LostMessages);
    assert_eq!(survey.findings()[0].position, position);
}

#[test]
fn what_a_broker_has_begun_to_write_at_the_end_is_not_torn() {
    let dir = tempdir();
    let config = config(dir.path());
    let store = begun(&config);
    let last = append(&store, "orders", 0, &BODY);
    let end = last.log_position + u64::from(last.size);
    overwrite(&segment_path(dir.path(), 0), end, &[0, 0, 3, 0xE8, 0xDA]);

    let mut survey = Survey::comparing(&config, true).unwrap();

    assert_eq!(findings(&mut survey), []);
    assert_eq!(survey.end_position(), end);
}

/// Overwrites the entry of queue `orders/<id>` at this offset with zeros: not written yet.
fn unwrite_entry(dir: &Path, queue_id: i32, offset: u64) {
    let queue = dir.join(format!("consumequeue/orders/{queue_id}"));
    let base = 20 * offset - 20 * offset % QUEUE_FILE_SIZE;
    overwrite(
        &queue.join(format!("{base:020}")),
        20 * offset - base,
        &[0; 20],
    );
}

/// As [`begun`], with nine messages of which the checkpoint says nothing, in three queues.
fn begun_with_nine(config: &StoreConfig) -> Store {
    let store = begun(config);
    for turn in 0..9 {
        append(&store, "orders", turn % 3, &BODY);
    }
    store
}

#[test]
fn the_entry_of_the_newest_record_may_be_missing_in_a_store_in_use() {
    let dir = tempdir();
    let config = config(dir.path());
    let _store = begun_with_nine(&config);
    // The last four, as of a batch: its records are written first, then its entries.
    for (queue_id, offset) in [(2, 1), (0, 2), (1, 2), (2, 2)] {
        unwrite_entry(dir.path(), queue_id, offset);
    }

    let mut survey = Survey::comparing(&config, true).unwrap();

    assert_eq!(findings(&mut survey), []);
}

#[test]
fn an_entry_that_is_missing_before_a_later_one_is_a_finding_in_a_store_in_use() {
    let dir = tempdir();
    let config = config(dir.path());
    let _store = begun_with_nine(&config);
    unwrite_entry(dir.path(), 1, 2);

    let mut survey = Survey::comparing(&config, true).unwrap();

    let found = findings(&mut survey);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, FindingKind::MissingEntry);
}

#[test]
fn entries_that_were_there_at_the_last_flush_may_not_be_missing() {
    let dir = tempdir();
    let config = config(dir.path());
    let store = begun_with_nine(&config);
    store.flush_tick(NOW_MS).unwrap();
    for offset in 0..3 {
        unwrite_entry(dir.path(), 0, offset);
    }

    let mut survey = Survey::comparing(&config, true).unwrap();

    let found = findings(&mut survey);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found
            .iter()
            .all(|found| found.0 == FindingKind::MissingEntry)
    );
}

#[test]
fn a_log_that_expires_before_it_is_walked_over_casts_no_doubt_on_the_checkpoint() {
    let dir = tempdir();
    let config = config(dir.path());
    let store = begun(&config);
    let fill_segment = |number: u64| {
        while store.max_position() <= number * SEGMENT_SIZE {
            append_at(&store, "orders", 0, &BODY, NOW_MS + number.cast_signed());
        }
    };
    fill_segment(1);
    fill_segment(2);
    store.flush_tick(NOW_MS).unwrap();
    let mut survey = Survey::comparing(&config, true).unwrap();
    assert!(survey.advance(100).unwrap());

    fill_segment(5);
    store.flush().unwrap();
    store.expire(&too_much(), NOW_MS).unwrap();

    assert_eq!(findings(&mut survey), []);
}

#[test]
fn surveys_and_walks_beside_a_writing_thread_find_nothing() {
    let dir = tempdir();
    let config = roomy(dir.path());
    let store = begun(&config);

    let met = look_beside(&config, |is_over| write_until(&store, is_over));

    assert_eq!(met, [""; 0]);
}

#[test]
fn surveys_and_walks_beside_a_replica_that_copies_find_nothing() {
    let (master_dir, dir) = (tempdir(), tempdir());
    let master = begun(&roomy(master_dir.path()));
    write_until(&master, &AtomicBool::new(false));
    let config = roomy(dir.path());
    let replica = Store::open(config.clone(), NOW_MS).unwrap();
    copy(&master, &replica);
    replica.flush_tick(NOW_MS).unwrap();

    let met = look_beside(&config, |is_over| {
        while !is_over.load(Ordering::Relaxed) && copy(&master, &replica) {}
    });

    assert_eq!(met, [""; 0]);
}

#[test]
fn index_files_that_a_broker_makes_and_writes_are_not_damaged() {
    let dir = tempdir();
    let mut config = roomy(dir.path());
    config.index_slot_count = 100;
    config.index_entry_count = 200_000;
    let store = begun(&config);
    let keys: Vec<_> = (0..2_000).map(|number| number.to_string()).collect();
    let is_over = &AtomicBool::new(false);
    let size_max = log_size_max();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) && store.max_position() < size_max {
                let keys = Some(keys.join(" "));
                let message = index::Keyed::new("orders", "unique");
                index::Keyed { keys, ..message }.append(&store, b"");
                index::build(&store);
            }
        });
        let mut met = Vec::new();
        let mut looks = Looks::begin();
        while looks.go_on() {
            let survey = Survey::comparing(&config, true).unwrap();
            met.extend(survey.findings().iter().map(|found| found.text.clone()));
            if let Err(error) = read_index(&config, u64::MAX, 1) {
                met.push(error.to_string());
            }
        }
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(met, [""; 0]);
    });
}

/// Whether this is the long form: it has the variable that the long forms of all tests have.
fn is_long() -> bool {
    std::env::var("REGENT_ALL_CASES").is_ok_and(|given| given != "0")
}

fn log_size_max() -> u64 {
    if is_long() { 256 << 20 } else { 128 << 20 }
}

/// How long tools look at a store that is being written.
struct Looks {
    begin: Instant,
    time: Duration,
    count: u32,
}

impl Looks {
    fn begin() -> Self {
        Self {
            begin: Instant::now(),
            time: Duration::from_millis(if is_long() { 3_000 } else { 500 }),
            count: 0,
        }
    }

    fn go_on(&mut self) -> bool {
        self.count += 1;
        self.begin.elapsed() < self.time || self.count <= LOOK_COUNT_MIN
    }
}

fn roomy(dir: &Path) -> StoreConfig {
    let mut config = config(dir);
    config.segment_size_bytes = 32 << 20;
    config.queue_file_size_bytes = 60_000;
    config
}

/// What surveys and walks report while `write` runs.
fn look_beside(config: &StoreConfig, write: impl FnOnce(&AtomicBool) + Send) -> Vec<String> {
    let is_over = &AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(move || write(is_over));
        let mut met = Vec::new();
        let mut looks = Looks::begin();
        while looks.go_on() {
            let mut survey = Survey::comparing(config, true).unwrap();
            let found = findings(&mut survey).into_iter();
            met.extend(found.map(|found| format!("{found:?}")));
            let mut walk = LogWalk::new(&config.root.join("commitlog")).unwrap();
            met.extend(remarks(&mut walk));
        }
        is_over.store(true, Ordering::Relaxed);
        met
    })
}

/// Messages of many sizes, alone and in batches, one after the other.
fn write_until(store: &Store, is_over: &AtomicBool) {
    let batch = element(&BODY, b"").repeat(20);
    let size_max = log_size_max();
    let mut turn = 0;
    while !is_over.load(Ordering::Relaxed) && store.max_position() < size_max {
        turn += 1;
        let mut writer = store.writer().unwrap();
        let size = usize::try_from(turn * 37 % 900).unwrap() + 1;
        let message = NewMessage::new("orders", turn % 4, &BODY[..size]);
        if turn % 10 == 0 {
            writer
                .append_batch(&message, &batch, NOW_MS, &mut Vec::new())
                .unwrap();
        } else {
            writer.append(&message, NOW_MS).unwrap();
        }
        drop(writer);
        if turn % 4096 == 0 {
            store.flush_tick(NOW_MS).unwrap();
        }
    }
}

/// Copies about 128 KiB of a master's log; `false` at its end.
fn copy(master: &Store, replica: &Store) -> bool {
    let position = replica.max_position();
    let Some(slice) = master.log_slice(position, 128 << 10) else {
        return false;
    };
    replica.append_copied(position, slice.bytes()).unwrap() > 0
}
