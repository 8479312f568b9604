//! The key index: the same bytes as a slow index by the specification, whatever happens.

use std::fs;
use std::path::Path;

use regent_commitlog::{KeySearch, NewMessage, Retention, Store};

use crate::support::index::{ENTRY_COUNT, Filler, IndexModel, Keyed, build, contents, files};
use crate::support::{
    NOW_MS, SEGMENT_SIZE, append, crash, element, index, overwrite, segment_path, tempdir,
};

fn index_timestamp(dir: &Path) -> i64 {
    let bytes = fs::read(dir.join("checkpoint")).unwrap();
    i64::from_be_bytes(bytes[16..24].try_into().unwrap())
}

fn end_timestamp(file: &[u8]) -> i64 {
    i64::from_be_bytes(file[8..16].try_into().unwrap())
}

#[test]
fn an_index_is_what_the_specification_says_byte_for_byte() {
    for seed in 0..10 {
        let dir = tempdir();
        let store = index::open(dir.path());
        let mut filler = Filler::new(seed);
        for count in [1, 3, 0, 40, 120] {
            filler.append(&store, count);
            build(&store);
            assert_eq!(contents(dir.path()), filler.model().files, "seed {seed}");
            filler.check_searches(&store);
        }
    }
}

#[test]
fn nothing_is_created_before_the_first_key() {
    let dir = tempdir();
    let store = index::open(dir.path());
    append(&store, "t", 0, b"no keys");
    build(&store);
    assert!(!dir.path().join("index").exists());

    let message = Keyed::new("t", "key").append(&store, b"");
    build(&store);

    assert_eq!(files(dir.path()).len(), 1);
    let status = store.index_status();
    assert_eq!((status.file_count, status.end_timestamp_ms), (1, NOW_MS));
    assert_eq!(status.end_position, message.position);
}

#[test]
fn every_message_of_a_batch_is_indexed() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let packed: Vec<u8> = ["a", "b", "c"]
        .iter()
        .flat_map(|key| element(b"body", format!("UNIQ_KEY\u{1}{key}\u{2}").as_bytes()))
        .collect();
    let mut appended = Vec::new();
    let shared = NewMessage::new("t", 0, b"");
    let mut writer = store.writer().unwrap();
    writer
        .append_batch(&shared, &packed, NOW_MS, &mut appended)
        .unwrap();
    drop(writer);
    build(&store);

    for (key, appended) in ["a", "b", "c"].iter().zip(appended) {
        let found = store.search(KeySearch::by_unique_key("t", key, 10, 0, i64::MAX));
        assert_eq!(found, [appended.log_position]);
    }
}

#[test]
fn names_are_local_times_and_rise_even_when_the_clock_does_not() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let mut last = 0;
    for (now_ms, utc_offset_s) in [(NOW_MS, 7_200), (NOW_MS + 60_000, 3_600), (NOW_MS, 0)] {
        for number in 0..ENTRY_COUNT - 1 {
            Keyed::new("t", &number.to_string()).append(&store, b"");
        }
        while store.advance_followers(now_ms, utc_offset_s).unwrap() > 0 {}
        last += 1;
        assert_eq!(files(dir.path()).len(), last);
    }

    let names: Vec<_> = files(dir.path())
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        names,
        [
            "20250916072000000",
            "20250916072000001",
            "20250916072000002"
        ]
    );
}

#[test]
fn an_index_goes_on_after_a_clean_stop_where_it_was() {
    for seed in 0..10 {
        let dir = tempdir();
        let mut filler = Filler::new(seed);
        for count in [0, 2, 30, 1, 0, 70] {
            let store = index::open(dir.path());
            filler.append(&store, count);
            // One piece may be all that is built before the stop.
            store.advance_followers(NOW_MS, 0).unwrap();
            let before = files(dir.path());
            store.close().unwrap();
            assert_eq!(
                store.advance_followers(NOW_MS, 0).unwrap_err().code(),
                "closed"
            );
            drop(store);
            assert_eq!(files(dir.path()), before);
        }
        let store = index::open(dir.path());
        build(&store);

        assert_eq!(contents(dir.path()), filler.model().files, "seed {seed}");
        assert_eq!(store.index_status().damaged_count, 0);
        filler.check_searches(&store);
    }
}

#[test]
fn after_an_unclean_stop_only_files_known_to_be_flushed_are_kept() {
    for seed in 0..10 {
        let dir = tempdir();
        let store = index::open(dir.path());
        let mut filler = Filler::new(seed);
        filler.append(&store, 60);
        build(&store);
        let flushed_ms = index_timestamp(dir.path());
        let crashed = crash(dir.path());
        // What was not flushed may be anything.
        for (name, content) in files(crashed.path()).iter().rev() {
            if end_timestamp(content) <= flushed_ms {
                break;
            }
            let path = crashed.path().join("index").join(name);
            overwrite(&path, 60, &[0x5A; 100]);
        }

        let recovered = index::open(crashed.path());

        let built = filler.model().files;
        let kept = contents(crashed.path());
        assert!(built.starts_with(&kept) && kept.len() < built.len());
        filler.append(&recovered, 30);
        build(&recovered);
        assert_eq!(
            contents(crashed.path()),
            filler.model().files,
            "seed {seed}"
        );
        assert_eq!(recovered.index_status().damaged_count, 0);
    }
}

#[test]
fn files_that_end_at_one_time_are_not_distinguished_by_the_checkpoint() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let messages: Vec<_> = (0..ENTRY_COUNT * 3)
        .map(|number| Keyed::new("t", &number.to_string()).append(&store, b""))
        .collect();
    build(&store);
    build(&store);
    assert_eq!(index_timestamp(dir.path()), NOW_MS);
    let crashed = crash(dir.path());

    let recovered = index::open(crashed.path());

    assert_eq!(contents(crashed.path()).len(), 1);
    build(&recovered);
    assert_eq!(contents(crashed.path()), IndexModel::of(&messages).files);
}

#[test]
fn a_checkpoint_does_not_vouch_for_files_built_again() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let mut filler = Filler::new(3);
    filler.append(&store, 60);
    build(&store);
    store.close().unwrap();
    drop(store);
    assert!(index_timestamp(dir.path()) > 0);
    let (oldest, _) = files(dir.path()).swap_remove(0);
    fs::write(dir.path().join("index").join(oldest), b"damaged").unwrap();

    let store = index::open(dir.path());
    assert!(contents(dir.path()).is_empty());
    store.advance_followers(NOW_MS, 0).unwrap();

    // The index was built again, and the checkpoint knew nothing of the new files when that began.
    assert!(contents(dir.path()).len() > 5);
    assert_eq!(index_timestamp(dir.path()), 0);
    build(&store);
    assert_eq!(contents(dir.path()), filler.model().files);
}

#[test]
fn a_cut_forgets_what_lay_behind_it_at_once_and_leaves_what_the_log_still_holds() {
    for seed in 0..10 {
        let dir = tempdir();
        let mut store = index::open(dir.path());
        let mut filler = Filler::new(seed);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..6 {
            filler.append(&store, 40);
            build(&store);
            let all = filler.messages.clone();
            let kept = random.usize(..all.len());
            let cut = all[kept].position;
            filler.messages.truncate(kept);

            store.truncate_to(cut).unwrap();

            assert!(store.index_status().position <= cut);
            for message in &all {
                let Some(key) = &message.unique_key else {
                    continue;
                };
                let found = store.search(KeySearch::by_key(message.topic, key, 64, 0, i64::MAX));
                assert!(found.iter().all(|position| *position < cut));
            }
            build(&store);
            assert_eq!(contents(dir.path()), filler.model().files, "seed {seed}");
        }
    }
}

#[test]
fn a_log_that_was_cut_while_the_store_was_closed_cuts_the_index() {
    for seed in 0..10 {
        let dir = tempdir();
        let store = index::open(dir.path());
        let mut filler = Filler::new(seed);
        filler.append(&store, 80);
        build(&store);
        store.close().unwrap();
        drop(store);
        // Some record of the last segment, which is where a clean opening looks.
        let behind = 2 + usize::try_from(seed).unwrap();
        let kept = filler.messages.len() - behind;
        let cut = filler.messages[kept].position;
        let path = segment_path(dir.path(), cut - cut % SEGMENT_SIZE);
        overwrite(&path, cut % SEGMENT_SIZE, &[0; 40]);
        let mut config = index::config(dir.path());
        config.cut_damage_at = Some(cut);

        let store = Store::open(config, NOW_MS).unwrap();

        assert_eq!(store.max_position(), cut);
        filler.messages.truncate(kept);
        assert!(filler.model().files.starts_with(&contents(dir.path())[..]));
        filler.append(&store, 20);
        build(&store);
        assert_eq!(contents(dir.path()), filler.model().files, "seed {seed}");
    }
}

#[test]
fn files_of_expired_records_are_removed_but_never_the_newest() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let mut filler = Filler::new(1);
    filler.append(&store, 250);
    build(&store);
    store.flush().unwrap();
    let mut expected = filler.model().files;
    let end_of = |file: &Vec<u8>| u64::from_be_bytes(file[24..32].try_into().unwrap());
    let retention = Retention {
        is_forced: true,
        segment_count_max: 1,
        ..Retention::default()
    };
    for _ in 0..3 {
        store.expire(&retention, NOW_MS).unwrap();
        let min_position = store.min_position();
        expected.retain(|file| end_of(file) >= min_position);
        assert_eq!(contents(dir.path()), expected);
    }
    assert!(expected.len() < filler.model().files.len());
    // Messages without keys push the rest of the log out.
    for _ in 0..250 {
        append(&store, "t", 0, &[0; 500]);
    }
    store.flush().unwrap();
    while store.expire(&retention, NOW_MS).unwrap().segment_count > 0 {}

    build(&store);

    assert_eq!(contents(dir.path()), expected[expected.len() - 1..]);
}

#[test]
fn an_index_begins_with_the_oldest_record_that_the_log_has() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let mut filler = Filler::new(5);
    filler.append(&store, 200);
    store.close().unwrap();
    drop(store);
    fs::remove_file(segment_path(dir.path(), 0)).unwrap();

    let store = index::open(dir.path());
    build(&store);

    filler
        .messages
        .retain(|message| message.position >= SEGMENT_SIZE);
    assert_eq!(contents(dir.path()), filler.model().files);
}

#[test]
fn a_disabled_index_is_searched_and_not_built() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let first = Keyed::new("t", "first").append(&store, b"");
    build(&store);
    store.close().unwrap();
    drop(store);

    let mut config = index::config(dir.path());
    config.index_enabled = false;
    let store = Store::open(config, NOW_MS).unwrap();
    let second = Keyed::new("t", "second").append(&store, b"");
    assert_eq!(store.advance_followers(NOW_MS, 0).unwrap(), 0);

    let found = |store: &Store, key| store.search(KeySearch::by_key("t", key, 9, 0, i64::MAX));
    assert_eq!(found(&store, "first"), [first.position]);
    assert!(found(&store, "second").is_empty());
    store.close().unwrap();
    drop(store);
    let store = index::open(dir.path());
    build(&store);
    assert_eq!(contents(dir.path()), IndexModel::of(&[first, second]).files);
}

#[test]
fn searches_and_appends_go_on_while_the_index_is_built() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let count = 3_000;
    std::thread::scope(|scope| {
        let appending = scope.spawn(|| {
            for number in 0..count {
                Keyed::new("t", &format!("U{number}")).append(&store, b"");
            }
        });
        while !appending.is_finished() {
            store.advance_followers(NOW_MS, 0).unwrap();
            let found = store.search(KeySearch::by_unique_key("t", "U7", 9, 0, i64::MAX));
            assert!(found.len() <= 1);
        }
    });

    build(&store);
    for number in (0..count).step_by(100) {
        let found = store.search(KeySearch::by_unique_key(
            "t",
            &format!("U{number}"),
            9,
            0,
            i64::MAX,
        ));
        assert_eq!(found.len(), 1);
    }
}
