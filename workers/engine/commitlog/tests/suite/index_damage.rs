//! Damaged index files: no panic, no endless search, no wrong answer, and built again.

use std::fs;

use regent_commitlog::KeySearch;

use crate::support::index::{
    ENTRY_COUNT, Filler, IndexModel, Keyed, SLOT_COUNT, build, contents, files, pick,
};
use crate::support::{NOW_MS, SEGMENT_SIZE, append, index, overwrite, segment_path, tempdir};

#[test]
fn a_file_of_another_size_is_set_aside_and_built_again() {
    for size in [0, 40, 307, 309, 5_000] {
        let dir = tempdir();
        let store = index::open(dir.path());
        let mut filler = Filler::new(9);
        filler.append(&store, 60);
        build(&store);
        store.close().unwrap();
        drop(store);
        let (name, _) = files(dir.path()).swap_remove(2);
        let file = fs::OpenOptions::new()
            .write(true)
            .open(dir.path().join("index").join(name));
        file.unwrap().set_len(size).unwrap();

        let store = index::open(dir.path());

        assert_eq!(store.index_status().damaged_count, 1);
        assert_eq!(contents(dir.path()), filler.model().files[..2]);
        assert_eq!(
            fs::metadata(dir.path().join("index/damaged"))
                .unwrap()
                .len(),
            size
        );
        build(&store);
        assert_eq!(contents(dir.path()), filler.model().files);
    }
}

#[test]
fn other_files_in_the_directory_are_left_alone() {
    let dir = tempdir();
    fs::create_dir(dir.path().join("index")).unwrap();
    let names = [
        "notes",
        "2025091605200000",
        "202509160520000000",
        "2025091605200000x",
    ];
    for name in names {
        fs::write(dir.path().join("index").join(name), name).unwrap();
    }
    let store = index::open(dir.path());
    Keyed::new("t", "key").append(&store, b"");
    build(&store);

    assert_eq!(store.index_status().file_count, 1);
    for name in names {
        assert_eq!(
            fs::read_to_string(dir.path().join("index").join(name)).unwrap(),
            name
        );
    }
}

#[test]
fn a_file_that_does_not_know_its_newest_records_keys_is_set_aside() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let message = Keyed::new("t", "key").append(&store, b"");
    build(&store);
    store.close().unwrap();
    drop(store);
    let (name, content) = files(dir.path()).swap_remove(0);
    // The hash of the only entry, number 1 behind seven slots.
    overwrite(&dir.path().join("index").join(name), 40 + 28 + 20, &[1]);

    let store = index::open(dir.path());

    assert_eq!(store.index_status().damaged_count, 1);
    build(&store);
    assert_eq!(contents(dir.path()), [content]);
    assert_eq!(
        store.search(KeySearch::by_key("t", "key", 9, 0, i64::MAX)),
        [message.position]
    );
}

#[test]
fn searches_in_damaged_files_end_and_never_return_a_wrong_message() {
    let mut random = fastrand::Rng::with_seed(4);
    for seed in 0..40 {
        let dir = tempdir();
        let mut store = index::open(dir.path());
        let mut filler = Filler::new(seed);
        filler.append(&store, 60);
        build(&store);
        let stays_open = random.bool();
        if !stays_open {
            store.close().unwrap();
        }
        // In a store in use the maps are the files.
        for (name, content) in files(dir.path()) {
            for _ in 0..random.usize(..4) {
                let at = random.usize(40..content.len() - 4);
                let any = random.i32(..);
                let number = pick(&mut random, [0, 1, 2, 5, 11, 12, -1, i32::MAX, any]);
                let path = dir.path().join("index").join(&name);
                overwrite(&path, at as u64 / 4 * 4, &i32::to_be_bytes(number));
            }
        }
        if !stays_open {
            drop(store);
            store = index::open(dir.path());
        }

        filler.assert_no_lie(&store);
        filler.append(&store, 30);
        build(&store);
        filler.assert_no_lie(&store);
    }
}

#[test]
fn a_chain_that_loops_leads_to_a_new_file() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let positions = [0; 3].map(|_| Keyed::new("t", "key").append(&store, b"").position);
    build(&store);
    let (name, intact) = files(dir.path()).swap_remove(0);
    let path = dir.path().join("index").join(name);
    // Entry 2 points to entry 3, which points to entry 2.
    overwrite(&path, 40 + 28 + 2 * 20 + 16, &3_i32.to_be_bytes());

    let found = store.search(KeySearch::by_key("t", "key", 9, 0, i64::MAX));

    assert_eq!(found, [positions[2]]);
    build(&store);
    assert_eq!(store.index_status().damaged_count, 1);
    assert_eq!(contents(dir.path()), [intact]);
    let found = store.search(KeySearch::by_key("t", "key", 9, 0, i64::MAX));
    assert_eq!(found, [positions[2], positions[1], positions[0]]);
}

#[test]
fn a_damaged_record_ends_the_index_and_is_reported() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let before = Keyed::new("t", "before").append(&store, b"");
    let damaged = Keyed::new("t", "damaged").append(&store, b"");
    Keyed::new("t", "behind").append(&store, b"");
    overwrite(&segment_path(dir.path(), 0), damaged.position + 4, &[0; 4]);

    for _ in 0..2 {
        let refused = store.advance_followers(NOW_MS, 0).unwrap_err();
        assert_eq!(refused.code(), "corrupt", "{refused}");
    }

    assert_eq!(store.index_status().position, damaged.position);
    assert_eq!(
        store.search(KeySearch::by_key("t", "before", 9, 0, i64::MAX)),
        [before.position]
    );
}

#[test]
fn an_index_that_cannot_be_written_loses_nothing() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let mut filler = Filler::new(2);
    filler.append(&store, 40);
    // A file where the directory has to be.
    fs::write(dir.path().join("index"), b"").unwrap();
    for _ in 0..2 {
        assert!(store.advance_followers(NOW_MS, 0).is_err());
        filler.append(&store, 10);
    }
    assert_eq!(store.index_status().file_count, 0);

    fs::remove_file(dir.path().join("index")).unwrap();
    build(&store);

    assert_eq!(contents(dir.path()), filler.model().files);
}

#[test]
fn a_file_that_cannot_be_removed_leaves_no_gap() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let messages = [0; 40].map(|_| Keyed::new("t", "key").append(&store, b""));
    build(&store);
    let built = files(dir.path());
    let path = |at: usize| dir.path().join("index").join(&built[at].0);
    // Entry 3 of the oldest file points forward, which a search finds; then all must go.
    overwrite(&path(0), 40 + 28 + 3 * 20 + 16, &9_i32.to_be_bytes());
    assert!(
        store
            .search(KeySearch::by_key("t", "key", 64, 0, i64::MAX))
            .len()
            < 40
    );
    fs::remove_file(path(2)).unwrap();
    fs::create_dir(path(2)).unwrap();

    for _ in 0..2 {
        let refused = store.advance_followers(NOW_MS, 0).unwrap_err();
        assert_eq!(refused.code(), "io");
        assert_eq!(store.index_status().file_count, 3);
    }
    fs::remove_dir(path(2)).unwrap();
    build(&store);

    assert_eq!(contents(dir.path()), IndexModel::of(&messages).files);
}

#[test]
fn a_read_only_store_is_searched_and_its_index_stays_as_it_is() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let mut filler = Filler::new(8);
    filler.append(&store, 60);
    build(&store);
    store.flush_tick(NOW_MS).unwrap();
    drop(store);
    let damaged_at = filler.messages[50].position;
    let base = damaged_at - damaged_at % SEGMENT_SIZE;
    overwrite(&segment_path(dir.path(), base), damaged_at - base, &[0; 8]);
    let before = files(dir.path());

    let store = index::open(dir.path());

    assert!(store.read_only_reason().is_some());
    assert_eq!(store.advance_followers(NOW_MS, 0).unwrap(), 0);
    filler.assert_no_lie(&store);
    let has_key = |message: &&Keyed| message.unique_key.is_some() && message.sys_flag != 0xC;
    let known = filler.messages[..50].iter().find(has_key).unwrap();
    let key = known.unique_key.as_ref().unwrap();
    let found = store.search(KeySearch::by_key(known.topic, key, 64, 0, i64::MAX));
    assert!(found.contains(&known.position));
    store.close().unwrap();
    assert_eq!(files(dir.path()), before);
}

#[test]
fn a_first_file_that_holds_no_key_yet_is_no_damage() {
    let dir = tempdir();
    let store = index::open(dir.path());
    append(&store, "t", 0, b"without a key");
    store.close().unwrap();
    drop(store);
    // Stock makes a file before it knows whether there is a key to put.
    let name = "20250916052000000";
    let size = 40 + 4 * SLOT_COUNT + 20 * ENTRY_COUNT;
    fs::create_dir_all(dir.path().join("index")).unwrap();
    fs::write(dir.path().join("index").join(name), vec![0; size]).unwrap();

    let store = index::open(dir.path());

    assert_eq!(store.index_status().damaged_count, 0);
    let message = Keyed::new("t", "key").append(&store, b"");
    build(&store);
    assert_eq!(files(dir.path())[0].0, name);
    let search = KeySearch::by_key("t", "key", 64, 0, i64::MAX);
    assert_eq!(store.search(search), [message.position]);
}
