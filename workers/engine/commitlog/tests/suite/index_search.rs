//! Searching by key: only what the log confirms, in stock's order and within its limits.

use regent_commitlog::{KeySearch, Store};

use crate::support::index::{Keyed, build};
use crate::support::{NOW_MS, index, tempdir};

fn append(store: &Store, message: Keyed) -> u64 {
    message.append(store, b"").position
}

#[test]
fn keys_with_one_hash_are_distinguished_by_the_record() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let one = append(&store, Keyed::new("t", "Aa"));
    let other = append(&store, Keyed::new("t", "BB"));
    // "t#BB" and "t#Aa" share a hash with these topics' keys, too.
    append(&store, Keyed::new("AaAa", "x"));
    append(&store, Keyed::new("BBBB", "x"));
    build(&store);

    let find = |key| store.search(KeySearch::by_key("t", key, 10, 0, i64::MAX));
    assert_eq!(find("Aa"), [one]);
    assert_eq!(find("BB"), [other]);
    assert_eq!(
        store
            .search(KeySearch::by_key("AaAa", "x", 10, 0, i64::MAX))
            .len(),
        1
    );
    assert!(
        store
            .search(KeySearch::by_key("AaBB", "x", 10, 0, i64::MAX))
            .is_empty()
    );
}

#[test]
fn each_kind_of_key_is_found_as_itself() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let message = Keyed {
        keys: Some("k1 k2".into()),
        tags: Some("red"),
        ..Keyed::new("t", "unique")
    };
    let position = append(&store, message);
    build(&store);

    let (from, to) = (0, i64::MAX);
    for key in ["unique", "k1", "k2"] {
        assert_eq!(
            store.search(KeySearch::by_key("t", key, 10, from, to)),
            [position]
        );
    }
    assert_eq!(
        store.search(KeySearch::by_unique_key("t", "unique", 10, from, to)),
        [position]
    );
    assert_eq!(
        store.search(KeySearch::by_tags("t", "red", 10, from, to)),
        [position]
    );
    for key in ["k1 k2", "k", "", "red", "T#red"] {
        assert!(
            store
                .search(KeySearch::by_key("t", key, 10, from, to))
                .is_empty(),
            "{key:?}"
        );
    }
    assert!(
        store
            .search(KeySearch::by_unique_key("t", "k1", 10, from, to))
            .is_empty()
    );
    assert!(
        store
            .search(KeySearch::by_tags("t", "unique", 10, from, to))
            .is_empty()
    );
}

#[test]
fn the_newest_come_first_and_at_most_sixty_four() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let mut positions: Vec<_> = (0..100)
        .map(|_| append(&store, Keyed::new("t", "same")))
        .collect();
    positions.reverse();
    build(&store);

    let find = |count| store.search(KeySearch::by_key("t", "same", count, 0, i64::MAX));
    assert_eq!(find(usize::MAX), positions[..64]);
    assert_eq!(find(5), positions[..5]);
    assert!(find(0).is_empty());
}

#[test]
fn times_are_compared_in_whole_seconds_from_the_begin_of_the_file() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let positions: Vec<_> = [0, 1_999, 5_000]
        .map(|after_ms| {
            let stored_ms = NOW_MS + after_ms;
            append(
                &store,
                Keyed {
                    stored_ms,
                    ..Keyed::new("t", "key")
                },
            )
        })
        .to_vec();
    build(&store);

    let find = |begin, end| {
        store.search(KeySearch::by_key(
            "t",
            "key",
            10,
            NOW_MS + begin,
            NOW_MS + end,
        ))
    };
    assert_eq!(find(0, 5_000), [positions[2], positions[1], positions[0]]);
    // The second message counts as stored at 1 000.
    assert_eq!(find(500, 1_500), [positions[1]]);
    assert!(find(1_500, 2_500).is_empty());
    assert_eq!(find(5_000, 9_000), [positions[2]]);
    assert!(find(5_001, 9_000).is_empty());
    assert_eq!(find(-9_000, 0), [positions[0]]);
}

#[test]
fn a_search_looks_at_a_bounded_number_of_records() {
    let dir = tempdir();
    let mut config = index::config(dir.path());
    config.index_entry_count = 10_000;
    let store = Store::open(config, NOW_MS).unwrap();
    append(&store, Keyed::new("t", "Aa"));
    for _ in 0..5_000 {
        append(&store, Keyed::new("t", "BB"));
    }
    build(&store);

    assert_eq!(
        store
            .search(KeySearch::by_key("t", "BB", 64, 0, i64::MAX))
            .len(),
        64
    );
    assert!(
        store
            .search(KeySearch::by_key("t", "Aa", 64, 0, i64::MAX))
            .is_empty()
    );
}

#[test]
fn records_of_a_rollback_are_not_indexed_and_half_messages_are() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let positions = [0x0, 0x4, 0x8, 0xC].map(|sys_flag| {
        append(
            &store,
            Keyed {
                sys_flag,
                ..Keyed::new("t", "key")
            },
        )
    });
    build(&store);

    let found = store.search(KeySearch::by_key("t", "key", 10, 0, i64::MAX));

    assert_eq!(found, [positions[2], positions[1], positions[0]]);
}
