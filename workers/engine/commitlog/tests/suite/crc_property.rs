//! Records that end in a checksum of all their bytes (storage-and-ha.md 2.7).

use std::fs;
use std::path::Path;

use regent_commitlog::inspect::{FindingKind, LogWalk, Step, Survey};
use regent_commitlog::{
    AppendError, CrcProperty, NewMessage, Rebuild, RebuildParts, Rebuilt, RecordDamage, RecordView,
    Store, StoreConfig, StoreError,
};

use crate::support::*;

fn crc_config(dir: &Path) -> StoreConfig {
    let mut config = config(dir);
    config.crc_property = CrcProperty::Verified;
    config
}

fn open_with_crc(dir: &Path) -> Store {
    Store::open(crc_config(dir), NOW_MS).unwrap()
}

/// The digits of the property of a record, computed as the specification says.
fn property_of(record: &[u8]) -> Vec<u8> {
    let crc = crc32fast::hash(&record[..record.len() - 20]) & 0x7FFF_FFFF;
    let digits: String = format!("{crc:010}").chars().rev().collect();
    format!("__CRC32#\u{1}{digits}\u{2}").into_bytes()
}

fn append_properties(store: &Store, properties: &[u8]) -> Result<u64, AppendError> {
    let message = NewMessage {
        properties,
        ..NewMessage::new("a", 0, b"body")
    };
    let appended = store.writer().unwrap().append(&message, NOW_MS)?;
    Ok(appended.log_position)
}

fn append_batch(store: &Store, elements: &[&[u8]]) -> Vec<u64> {
    let packed: Vec<u8> = elements
        .iter()
        .flat_map(|properties| element(b"body", properties))
        .collect();
    let mut appended = Vec::new();
    let shared = NewMessage::new("a", 0, &[]);
    let mut writer = store.writer().unwrap();
    writer
        .append_batch(&shared, &packed, NOW_MS, &mut appended)
        .unwrap();
    appended.iter().map(|one| one.log_position).collect()
}

/// The properties of a stored record but for its CRC property, which must be right.
fn stored_properties(store: &Store, position: u64) -> Vec<u8> {
    let record = store.read_record(position).unwrap().unwrap();
    let properties = RecordView::parse(&record).unwrap().properties;
    let (own, crc) = properties.split_at(properties.len() - 20);
    assert_eq!(crc, property_of(&record));
    own.to_vec()
}

#[test]
fn a_message_is_stored_with_the_separator_it_lacks_and_without_a_property_it_brings() {
    let dir = tempdir();
    let store = open_with_crc(dir.path());
    for (given, stored) in [
        ("", ""),
        ("TAGS\u{1}x\u{2}", "TAGS\u{1}x\u{2}"),
        ("TAGS\u{1}x", "TAGS\u{1}x\u{2}"),
        (
            "TAGS\u{1}x\u{2}__CRC32#\u{1}0987654321\u{2}",
            "TAGS\u{1}x\u{2}",
        ),
    ] {
        let position = append_properties(&store, given.as_bytes()).unwrap();

        assert_eq!(stored_properties(&store, position), stored.as_bytes());
    }
}

#[test]
fn a_batch_gets_no_separator_and_its_entries_are_those_of_a_rebuild() {
    let dir = tempdir();
    let store = open_with_crc(dir.path());
    let given: [&[u8]; 3] = [b"TAGS\x01x\x02", b"TAGS\x01x", b""];

    let positions = append_batch(&store, &given);

    for (position, given) in positions.into_iter().zip(given) {
        assert_eq!(stored_properties(&store, position), given);
    }
    store.close().unwrap();
    drop(store);
    let before = contents(dir.path());
    fs::remove_dir_all(dir.path().join("consumequeue")).unwrap();
    drop(open_with_crc(dir.path()));
    assert_eq!(contents(dir.path()), before);
}

#[test]
fn the_limit_of_properties_counts_the_property() {
    let dir = tempdir();
    let store = open_with_crc(dir.path());
    let properties = |size: usize, end: &str| {
        let value = "v".repeat(size - 2 - end.len());
        format!("k\u{1}{value}{end}").into_bytes()
    };

    assert!(append_properties(&store, &properties(32_747, "\u{2}")).is_err_and(is_too_large));
    assert!(
        append_properties(&store, &properties(32_748, "\u{2}"))
            .is_err_and(|error| { matches!(error, AppendError::PropertiesTooLarge(32_768)) })
    );
    assert!(
        append_properties(&store, &properties(32_747, ""))
            .is_err_and(|error| { matches!(error, AppendError::PropertiesTooLarge(32_768)) })
    );
}

/// Segments of the tests are smaller than the longest properties.
fn is_too_large(error: AppendError) -> bool {
    matches!(error, AppendError::MessageTooLarge { .. })
}

#[test]
fn a_wrong_bit_in_a_header_is_found_by_recovery_by_reads_and_by_a_survey() {
    let dir = tempdir();
    let store = open_with_crc(dir.path());
    let positions = fill(&store, 120);
    store.close().unwrap();
    drop(store);
    for number in [3, 117] {
        let crashed = crash(dir.path());
        let position = positions[number];
        let base = position - position % SEGMENT_SIZE;
        // The port of the born host: nothing else looks at it.
        let at = position - base + 55;
        overwrite(&segment_path(crashed.path(), base), at, &[1]);

        let mut survey = Survey::new(&crc_config(crashed.path())).unwrap();
        while survey.advance(1 << 20).unwrap() {}
        let opened = open_with_crc(crashed.path());

        let found = &survey.findings()[0];
        assert_eq!(found.kind, FindingKind::DamagedLog);
        assert_eq!(found.position, position);
        assert!(
            found.text.contains("checksum of the record"),
            "{}",
            found.text
        );
        let is_validated = position >= opened.recovery().scanned_from;
        assert_eq!(is_validated, number == 117);
        if is_validated {
            let damage = opened.recovery().damage.unwrap();
            assert_eq!(damage.position, position);
            assert_eq!(damage.kind, RecordDamage::RecordCrc);
        }
        let (topic, queue_id, _) = numbered(number as u64);
        let offset = i64::try_from(number / 3).unwrap();
        let read = try_read(&opened, (topic, queue_id), offset, 1);
        assert_eq!(read.unwrap_err().code(), "corrupt");
        let read = opened.read_record(position);
        assert_eq!(read.unwrap_err().code(), "corrupt");
    }
}

#[test]
fn records_without_the_property_are_read_unless_it_is_required() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 6);
    drop(store);
    let store = open_with_crc(dir.path());
    assert_eq!(store.recovery().damage, None);
    append(&store, "a", 0, &numbered(6).2);
    drop(store);

    let mut required = crc_config(dir.path());
    required.crc_property = CrcProperty::Required;
    let opened = Store::open(required.clone(), NOW_MS).unwrap();

    let damage = opened.recovery().damage.unwrap();
    assert_eq!(damage.kind, RecordDamage::NoRecordCrc);
    assert_eq!(damage.position, 0);
    assert_eq!(damage.next_valid_position, Some(positions[6]));
    drop(opened);
    assert_holds(&open_with_crc(dir.path()), 7);
}

#[test]
fn a_store_in_which_the_property_is_required_recovers_what_it_wrote() {
    let dir = tempdir();
    let mut required = crc_config(dir.path());
    required.crc_property = CrcProperty::Required;
    let store = Store::open(required.clone(), NOW_MS).unwrap();
    fill(&store, 60);
    let positions = append_batch(&store, &[b"TAGS\x01x", b""]);
    drop(store);

    let opened = Store::open(required, NOW_MS).unwrap();

    assert_eq!(opened.recovery().damage, None);
    assert_eq!(opened.recovery().record_count, 62);
    assert!(opened.read_record(positions[1]).unwrap().is_some());
}

/// What looks like the property and is not right.
const MADE_UP: &[u8] = b"TAGS\x01x\x02__CRC32#\x010123456789\x02";

fn findings(config: &StoreConfig) -> Vec<(FindingKind, u64, String)> {
    let mut survey = Survey::comparing(config, false).unwrap();
    while survey.advance(1 << 20).unwrap() {}
    let found = survey.findings().iter();
    found
        .map(|found| (found.kind, found.position, found.text.clone()))
        .collect()
}

fn rebuild(config: StoreConfig) -> Result<Rebuilt, StoreError> {
    let parts = RebuildParts {
        queues: true,
        index: false,
    };
    Rebuild::begin(config, parts, NOW_MS, 0)?.finish(None)
}

#[test]
fn a_property_that_a_client_made_up_costs_no_message_where_the_option_is_off() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = append_batch(&store, &[b"", MADE_UP, b"", MADE_UP]);
    assert_eq!(read_all(&store, "a", 0).len(), 4);
    store.close().unwrap();
    drop(store);
    let queues = dir.path().join("consumequeue");
    let before = contents(&queues);

    let text = "2 records whose own checksum does not fit, this one first".to_owned();
    let note = (FindingKind::WrongRecordCrc, positions[1], text);
    let found = findings(&config(dir.path()));
    assert_eq!(found.first(), Some(&note));
    // The keys of the batch are not indexed yet: there is a note of that as well.
    assert!(found[1..].iter().all(|found| found.0.severity() == "note"));
    assert_eq!(FindingKind::WrongRecordCrc.severity(), "note");
    let mut walk = LogWalk::new(&dir.path().join("commitlog")).unwrap();
    walk.seek(positions[1]).unwrap();
    let Some(Step::WrongCrc(record)) = walk.step().unwrap() else {
        panic!("the walk passes over it");
    };
    assert_eq!(record.properties, MADE_UP);

    let rebuilt = rebuild(config(dir.path())).unwrap();

    assert_eq!(
        (rebuilt.wrong_crc_count, rebuilt.first_wrong_crc),
        (2, Some(positions[1]))
    );
    assert_eq!(contents(&queues), before);
    assert_eq!(read_all(&open(dir.path()), "a", 0).len(), 4);
}

#[test]
fn where_the_option_is_on_a_wrong_property_is_damage_and_no_rebuild_is_made_of_it() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = append_batch(&store, &[b"", MADE_UP, b""]);
    store.close().unwrap();
    drop(store);

    let found = findings(&crc_config(dir.path()));

    assert_eq!(
        (found[0].0, found[0].1),
        (FindingKind::DamagedLog, positions[1])
    );
    let refused = rebuild(crc_config(dir.path())).unwrap_err();
    assert_eq!(refused.code(), "corrupt");
}

#[test]
fn a_wrong_bit_in_a_body_is_damage_whatever_the_property_says() {
    let dir = tempdir();
    let store = open_with_crc(dir.path());
    let positions = fill(&store, 6);
    store.close().unwrap();
    drop(store);
    // The last byte of the body's length and the topic's are before it: the body is behind byte 88.
    overwrite(&segment_path(dir.path(), 0), positions[2] + 88, &[0xFF]);

    let found = findings(&config(dir.path()));

    assert_eq!(
        (found[0].0, found[0].1),
        (FindingKind::DamagedLog, positions[2])
    );
}
