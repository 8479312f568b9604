//! Committed bytes of each kind of file (FORMAT.md 11): the store writes them, and the store and the second
//! reader read the same in them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use regent_commitlog::{CrcProperty, NewMessage, RecordView, Store, StoreConfig};
use tempfile::TempDir;

use crate::second::open_alike;
use crate::second_reader::bytes::integer;
use crate::second_reader::index::IndexFile;
use crate::second_reader::queue::Entry;
use crate::second_reader::record::{self, Record};
use crate::second_reader::texts::{self, Checkpoint, Marker};
use crate::support::index::{self, ENTRY_COUNT, SLOT_COUNT};
use crate::support::{NOW_MS, segment_path, tempdir};

const VECTORS: &str = include_str!("../vectors/store.txt");
const SEGMENT_SIZE: u64 = 4096;
const FILES: [&str; 2] = ["checkpoint", "epochFileCheckpoint"];

/// The bytes of each vector, and what they say, line by line.
struct Vector {
    bytes: Vec<u8>,
    says: String,
}

fn vectors() -> BTreeMap<&'static str, Vector> {
    let mut vectors = BTreeMap::new();
    for part in VECTORS.split("\n\n").filter(|part| part.starts_with("# ")) {
        let (name, lines) = part[2..].split_once('\n').expect("a name and lines");
        let mut vector = Vector {
            bytes: Vec::new(),
            says: String::new(),
        };
        for line in lines.lines() {
            if let Some(text) = line.strip_prefix("= ") {
                vector.says += text;
                vector.says.push('\n');
            } else if let Some(text) = line.strip_prefix("\" ") {
                vector.bytes.extend([text.as_bytes(), b"\n"].concat());
            } else {
                let digits: String = line.split_whitespace().collect();
                let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
                vector.bytes.extend((0..digits.len()).step_by(2).map(byte));
            }
        }
        vectors.insert(name, vector);
    }
    vectors
}

fn config_of(dir: &Path) -> StoreConfig {
    let mut config = index::config(dir);
    config.segment_size_bytes = SEGMENT_SIZE;
    config.message_version_by_topic_length = true;
    config
}

fn messages(topic: &str) -> [NewMessage<'_>; 5] {
    let message = |topic, body| NewMessage {
        born_timestamp_ms: NOW_MS - 5,
        born_host: "10.0.0.5:50000".parse().unwrap(),
        store_host: "10.0.0.1:10911".parse().unwrap(),
        ..NewMessage::new(topic, 2, body)
    };
    let mut messages =
        [b"hi" as &[u8], b"hello", b"six", b"long", &[7; 3600]].map(|body| message("T", body));
    messages[1].properties = b"TAGS\x01A\x02KEYS\x01k1 k2\x02UNIQ_KEY\x01u1\x02";
    messages[2].born_host = "[2001:db8::5]:50000".parse().unwrap();
    messages[2].store_host = "[2001:db8::1]:10911".parse().unwrap();
    messages[3].topic = topic;
    messages
}

/// What the store writes for the messages and two epochs; nothing is left out.
fn written(dir: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    let topic = format!("%RETRY%{}", "g".repeat(125));
    let store = Store::open(config_of(dir), NOW_MS).unwrap();
    store.begin_epoch(1).unwrap();
    let mut places = Vec::new();
    for message in messages(&topic) {
        let appended = store.writer().unwrap().append(&message, NOW_MS).unwrap();
        places.push((appended.log_position as usize, appended.size as usize));
    }
    store.begin_epoch(3).unwrap();
    index::build(&store);
    store.close().unwrap();
    drop(store);
    let segment = fs::read(segment_path(dir, 0)).unwrap();
    let names = [
        "record plain",
        "record properties",
        "record IPv6",
        "record V2",
    ];
    let mut written: BTreeMap<_, _> = names
        .into_iter()
        .zip(&places)
        .map(|(name, (at, size))| (name, segment[*at..at + size].to_vec()))
        .collect();
    let blank = places[3].0 + places[3].1;
    written.insert("record blank", segment[blank..blank + 8].to_vec());
    let queue = fs::read(dir.join("consumequeue/T/2/00000000000000000000")).unwrap();
    written.insert("queue entry", queue[20..40].to_vec());
    written.insert("index", index::contents(dir).remove(0));
    for name in FILES {
        written.insert(name, fs::read(dir.join(name)).unwrap());
    }
    written
}

/// A record with a CRC property.
fn written_with_crc(dir: &Path) -> Vec<u8> {
    let mut config = config_of(dir);
    config.crc_property = CrcProperty::Verified;
    let store = Store::open(config, NOW_MS).unwrap();
    let message = &messages("T")[1];
    let size = store
        .writer()
        .unwrap()
        .append(message, NOW_MS)
        .unwrap()
        .size;
    fs::read(segment_path(dir, 0)).unwrap()[..size as usize].to_vec()
}

/// What a second reader says of a vector.
fn said(name: &str, bytes: &[u8]) -> String {
    let text = || String::from_utf8(bytes.to_vec()).unwrap();
    match name.split(' ').next().unwrap() {
        _ if name == "record blank" => {
            let (size, magic) = (integer(bytes, 0, 4).unwrap(), integer(bytes, 4, 4).unwrap());
            format!(
                "size {size}, magic {:08X}\n",
                magic.cast_unsigned() & 0xFFFF_FFFF
            )
        }
        "record" => {
            let position = integer(bytes, 28, 8).unwrap().cast_unsigned();
            let (record, ..) = record::decode(bytes, position).unwrap();
            let crc = record::crc_property(bytes);
            format!("{}CRC property {crc:?}\n", says_record(&record))
        }
        "queue" => format!("{:?}\n", Entry::decode(bytes).unwrap()),
        "index" => says_index(&IndexFile::decode(bytes, SLOT_COUNT, ENTRY_COUNT).unwrap()),
        "checkpoint" => format!("{:?}\n", Checkpoint::decode(bytes).unwrap()),
        "epochFileCheckpoint" => format!("{:?}\n", texts::decode_epochs(bytes).unwrap()),
        "truncation" => format!("{:?}\n", texts::decode_journal(bytes).unwrap()),
        "abort" => format!("{:?}\n", Marker::decode(&text()).stop("this run")),
        "seal" => {
            let at = |at, size| integer(bytes, at, size).unwrap();
            format!("from {} to {}\n", at(0, 8), at(8, 8))
        }
        _ => panic!("{name}"),
    }
}

fn says_record(record: &Record) -> String {
    let Record {
        position,
        size,
        queue_id,
        flag,
        queue_offset,
        sys_flag,
        ..
    } = record;
    let mut says = format!(
        "position {position}, size {size}, V{}\n",
        1 + u8::from(record.is_v2)
    );
    let queue = format!("{}/{queue_id} at {queue_offset}", record.topic);
    writeln!(says, "queue {queue}, flag {flag}, sysFlag {sys_flag}").unwrap();
    writeln!(
        says,
        "born {} at {:?}",
        record.born_timestamp, record.born_host
    )
    .unwrap();
    writeln!(
        says,
        "stored {} at {:?}",
        record.store_timestamp, record.store_host
    )
    .unwrap();
    writeln!(
        says,
        "reconsumed {}, prepared at {}",
        record.reconsume_times, record.prepared_offset
    )
    .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    writeln!(
        says,
        "body {:?}, properties {:?}",
        text(&record.body),
        text(&record.properties)
    )
    .unwrap();
    says
}

fn says_index(file: &IndexFile) -> String {
    let IndexFile {
        begin_time,
        end_time,
        begin_position,
        end_position,
        slot_count,
        next,
        ..
    } = file;
    let mut says =
        format!("times {begin_time} {end_time}, positions {begin_position} {end_position}\n");
    writeln!(
        says,
        "slots in use {slot_count}, next entry {next}, {:?}",
        file.slots
    )
    .unwrap();
    for (number, entry) in (1..).zip(&file.entries) {
        writeln!(says, "{number} {entry:?}").unwrap();
    }
    says
}

/// The same record as the store reads it.
fn as_second(view: &RecordView<'_>) -> Record {
    let host = |host: std::net::SocketAddr| {
        let address = match host.ip() {
            std::net::IpAddr::V4(address) => address.octets().to_vec(),
            std::net::IpAddr::V6(address) => address.octets().to_vec(),
        };
        [address, u32::from(host.port()).to_be_bytes().to_vec()].concat()
    };
    Record {
        position: view.log_position,
        size: view.bytes.len(),
        is_v2: view.bytes[7] == 0xAB,
        queue_id: view.queue_id,
        flag: view.flag,
        queue_offset: view.queue_offset,
        sys_flag: view.sys_flag,
        born_timestamp: view.born_timestamp_ms,
        born_host: host(view.born_host),
        store_timestamp: view.store_timestamp_ms,
        store_host: host(view.store_host),
        reconsume_times: view.reconsume_times,
        prepared_offset: view.prepared_transaction_offset,
        body: view.body.to_vec(),
        topic: String::from_utf8(view.topic.to_vec()).unwrap(),
        properties: view.properties.to_vec(),
    }
}

#[test]
fn the_store_writes_the_vectors_byte_for_byte() {
    let (dir, other) = (tempdir(), tempdir());

    let mut written = written(dir.path());
    written.insert("record CRC property", written_with_crc(other.path()));

    let vectors = vectors();
    let mut others = String::new();
    for (name, bytes) in written {
        let mut expected = vectors
            .get(name)
            .map(|vector| vector.bytes.clone())
            .unwrap_or_default();
        if name == "checkpoint" {
            expected.resize(4096, 0);
        }
        if bytes != expected {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(others, "# {name}\n{hex}").unwrap();
        }
    }
    assert!(others.is_empty(), "{others}");
}

#[test]
fn the_second_reader_reads_in_the_vectors_what_they_are_said_to_hold() {
    let mut others = String::new();
    for (name, vector) in vectors() {
        let says = said(name, &vector.bytes);
        if says != vector.says {
            writeln!(others, "# {name}\n{says}").unwrap();
        }
    }
    assert!(others.is_empty(), "{others}");
}

/// A store of three records, the log of which is flushed up to the second; that one is wrong, and where it
/// and the log's end lie.
fn with_wrong_record(is_torn: bool) -> (TempDir, u64, u64) {
    let (dir, vectors) = (tempdir(), vectors());
    written(dir.path());
    let second = vectors["record plain"].bytes.len();
    let third = second + vectors["record properties"].bytes.len();
    let end = third + vectors["record IPv6"].bytes.len();
    let path = segment_path(dir.path(), 0);
    let mut segment = fs::read(&path).unwrap();
    let wrong = if is_torn { 8..12 } else { 88..89 };
    segment[second..third][wrong].fill(0);
    segment[end..].fill(0);
    fs::write(&path, segment).unwrap();
    set_checkpoint(dir.path(), NOW_MS, second as u64);
    fs::remove_file(segment_path(dir.path(), SEGMENT_SIZE)).unwrap();
    (dir, second as u64, end as u64)
}

/// The log of a store is flushed so far, and its records up to such a time.
fn set_checkpoint(dir: &Path, time_ms: i64, flushed: u64) {
    let mut checkpoint = vectors()["checkpoint"].bytes.clone();
    checkpoint[..8].copy_from_slice(&time_ms.to_be_bytes());
    checkpoint[8..16].copy_from_slice(&time_ms.to_be_bytes());
    checkpoint[24..32].copy_from_slice(&flushed.to_be_bytes());
    checkpoint[32..40].copy_from_slice(&flushed.to_be_bytes());
    fs::write(dir.join("checkpoint"), checkpoint).unwrap();
}

/// Where the log of such a store is damaged, and where it ends, with a dirty marker.
fn recovered(is_torn: bool, marker: Option<&[u8]>) -> (Option<u64>, u64) {
    let (dir, second, end) = with_wrong_record(is_torn);
    if let Some(marker) = marker {
        fs::write(dir.path().join("abort"), marker).unwrap();
    }
    let store = open_alike(config_of(dir.path())).unwrap().unwrap();
    let damage = store.recovery().damage.map(|damage| damage.position);
    assert!(damage.is_none_or(|damage| damage == second));
    assert!([second, end].contains(&store.max_position()));
    (damage, store.max_position())
}

#[test]
fn each_form_of_the_marker_says_what_a_wrong_record_is() {
    let (dir, second, end) = with_wrong_record(false);
    let (cut, damaged) = ((None, second), (Some(second), end));
    let run = texts::this_run(dir.path());
    let killed = format!("4711\n{run}\nasynchronous\n").into_bytes();
    let vectors = vectors();
    let form = |name| vectors[name].bytes.as_slice();

    for (marker, wrong, torn) in [
        (None, cut, cut),
        (Some(killed.as_slice()), damaged, damaged),
        (Some(form("abort asynchronous")), cut, cut),
        (Some(form("abort synchronous")), damaged, cut),
        (Some(form("abort of stock")), damaged, damaged),
        (Some(form("abort after a failed flush")), damaged, damaged),
        (Some(b""), damaged, damaged),
    ] {
        let text = marker.map(String::from_utf8_lossy);
        assert_eq!(recovered(false, marker), wrong, "{text:?}");
        assert_eq!(recovered(true, marker), torn, "{text:?}");
    }
}

#[test]
fn a_wrong_record_before_the_flushed_position_is_damage_whatever_the_marker_says() {
    let vectors = vectors();
    for name in ["abort asynchronous", "abort synchronous", "abort of stock"] {
        let (dir, second, end) = with_wrong_record(true);
        set_checkpoint(dir.path(), NOW_MS, end);
        fs::write(dir.path().join("abort"), &vectors[name].bytes).unwrap();

        let store = open_alike(config_of(dir.path())).unwrap().unwrap();

        let damage = store.recovery().damage.map(|damage| damage.position);
        assert_eq!(
            (damage, store.max_position()),
            (Some(second), end),
            "{name}"
        );
    }
}

#[test]
fn validation_starts_where_the_times_and_the_flushed_position_say() {
    const LATER_MS: i64 = NOW_MS + 10_000;
    for (time_ms, flushed, is_found) in [
        (LATER_MS + 2_999, SEGMENT_SIZE + 1, true),
        (LATER_MS + 3_000, SEGMENT_SIZE + 1, false),
        (LATER_MS + 3_000, SEGMENT_SIZE, true),
    ] {
        let dir = tempdir();
        let store = Store::open(config_of(dir.path()), NOW_MS).unwrap();
        for now_ms in [NOW_MS, LATER_MS] {
            let message = NewMessage::new("T", 0, &[7; 3_900]);
            store.writer().unwrap().append(&message, now_ms).unwrap();
        }
        store.flush_tick(LATER_MS).unwrap();
        let end = store.max_position();
        drop(store);
        let flushed = if flushed > SEGMENT_SIZE { end } else { flushed };
        set_checkpoint(dir.path(), time_ms, flushed);
        let path = segment_path(dir.path(), 0);
        let mut segment = fs::read(&path).unwrap();
        segment[100] ^= 1;
        fs::write(&path, segment).unwrap();

        let store = open_alike(config_of(dir.path())).unwrap().unwrap();

        let damage = store.recovery().damage.map(|damage| damage.position);
        assert_eq!(damage, is_found.then_some(0), "{time_ms} {flushed}");
    }
}

#[test]
fn a_store_with_the_journal_ends_where_it_says() {
    let (dir, second, _) = with_wrong_record(false);
    fs::write(
        dir.path().join("truncation"),
        &vectors()["truncation"].bytes,
    )
    .unwrap();

    let store = open_alike(config_of(dir.path())).unwrap().unwrap();

    assert_eq!(store.recovery().truncated_to, Some(second));
    assert_eq!(store.max_position(), second);
}

#[test]
fn a_former_store_ends_where_its_seal_says() {
    let (dir, second, _) = with_wrong_record(false);
    let spare = dir.path().join("commitlog/spare");
    let vectors = vectors();
    fs::create_dir(&spare).unwrap();
    fs::write(spare.join("seal"), &vectors["seal"].bytes).unwrap();
    fs::write(
        dir.path().join("abort"),
        &vectors["abort of a former version"].bytes,
    )
    .unwrap();

    let store = open_alike(config_of(dir.path())).unwrap().unwrap();

    assert_eq!(store.recovery().converted_at, Some(second));
    assert_eq!(store.max_position(), second);
}

#[test]
fn delays_checksums_and_an_operators_consent_mean_the_same_to_both() {
    let dir = tempdir();
    let mut config = config_of(dir.path());
    config.crc_property = CrcProperty::Required;
    let store = Store::open(config.clone(), NOW_MS).unwrap();
    for level in ["0", "1", "3", "99"] {
        let properties = format!("TAGS\u{1}A\u{2}DELAY\u{1}{level}\u{2}");
        let message = NewMessage {
            properties: properties.as_bytes(),
            ..NewMessage::new("SCHEDULE_TOPIC_XXXX", 0, b"later")
        };
        store.writer().unwrap().append(&message, NOW_MS).unwrap();
    }
    let wrong = store.queue_entries("SCHEDULE_TOPIC_XXXX", 0, 1, 1)[0].log_position;
    drop(store);
    let path = segment_path(dir.path(), 0);
    let mut segment = fs::read(&path).unwrap();
    // The user's flag, which only the CRC property covers.
    segment[usize::try_from(wrong).unwrap() + 19] ^= 1;
    fs::write(&path, segment).unwrap();

    let damaged = open_alike(config.clone()).unwrap().unwrap();

    assert_eq!(
        damaged.recovery().damage.map(|damage| damage.position),
        Some(wrong)
    );
    assert_eq!(
        damaged.queue_entries("SCHEDULE_TOPIC_XXXX", 0, 0, 9).len(),
        4
    );
    drop(damaged);
    config.cut_damage_at = Some(wrong);
    let cut = open_alike(config).unwrap().unwrap();
    assert_eq!(cut.max_position(), wrong);
}

#[test]
fn the_store_reads_the_same_in_the_records() {
    let vectors = vectors();
    let records = vectors
        .iter()
        .filter(|vector| vector.0.starts_with("record"));
    let records: Vec<_> = records
        .filter(|vector| *vector.0 != "record blank")
        .collect();
    assert_eq!(records.len(), 5);
    for (name, vector) in records {
        let view = RecordView::parse(&vector.bytes).unwrap();

        assert!(view.is_intact());
        let says = says_record(&as_second(&view));
        assert!(vector.says.starts_with(&says), "{name}: {says}");
    }
}
