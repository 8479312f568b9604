//! A search by key goes in short turns, and between two of them anything may happen to the index.

use std::thread;

use regent_commitlog::{KeySearch, Retention, Store};

use crate::support::index::{Keyed, build};
use crate::support::{NOW_MS, index, tempdir};

const TURN_LINK_COUNT: usize = 64;

fn append(store: &Store, key: &str) -> u64 {
    Keyed::new("t", key).append(store, b"").position
}

fn search(key: &str) -> KeySearch<'_> {
    KeySearch::by_key("t", key, 64, 0, i64::MAX)
}

/// Advances to the end and counts the turns.
fn finish(store: &Store, search: &mut KeySearch<'_>) -> usize {
    let mut turn_count = 0;
    while !search.is_over() {
        store.advance(search);
        turn_count += 1;
    }
    turn_count
}

/// Advances until some entries were followed.
fn advance_to(store: &Store, search: &mut KeySearch<'_>, followed_count: u64) {
    while search.followed_count() < followed_count {
        store.advance(search);
    }
}

/// A store whose index has all in one file, and whose entries share few chains.
fn open_wide(dir: &std::path::Path) -> Store {
    let mut config = index::config(dir);
    config.index_entry_count = 10_000;
    Store::open(config, NOW_MS).unwrap()
}

#[test]
fn no_turn_follows_a_chain_for_long_whatever_its_entries_are() {
    let dir = tempdir();
    let store = open_wide(dir.path());
    for number in 0..7_000 {
        append(&store, &format!("other {number}"));
    }
    build(&store);
    let begin = NOW_MS - 1_000_000;
    // Entries of other hashes in one of seven chains, and all of a chain newer than what is wanted.
    let mut searches = [
        search("absent"),
        KeySearch::by_unique_key("t", "other 7", 64, begin, i64::MAX),
        KeySearch::by_tags("t", "absent", 64, 0, i64::MAX),
    ];

    for search in &mut searches {
        let turn_count = finish(&store, search);

        let followed = usize::try_from(search.followed_count()).unwrap();
        assert!(followed > 5 * TURN_LINK_COUNT, "{followed}");
        assert!(turn_count > followed / TURN_LINK_COUNT, "{turn_count}");
    }
}

#[test]
fn entries_newer_than_the_range_are_followed_in_turns_too() {
    let dir = tempdir();
    let store = open_wide(dir.path());
    append(&store, "k");
    for number in 1..=1_000 {
        let stored_ms = NOW_MS + 10_000 + number;
        let message = Keyed {
            stored_ms,
            ..Keyed::new("t", "k")
        };
        message.append(&store, b"");
    }
    build(&store);
    let mut old = KeySearch::by_key("t", "k", 64, NOW_MS, NOW_MS + 1);

    let turn_count = finish(&store, &mut old);

    assert!(turn_count > 1_000 / TURN_LINK_COUNT, "{turn_count}");
    assert_eq!(old.into_found(), [0]);
}

#[test]
fn a_turn_looks_at_one_record() {
    let dir = tempdir();
    let store = open_wide(dir.path());
    for _ in 0..10 {
        append(&store, "BB");
    }
    build(&store);
    let mut colliding = search("Aa");

    assert!(finish(&store, &mut colliding) >= 10);
    assert!(colliding.into_found().is_empty());
}

#[test]
fn the_index_grows_while_a_search_goes_on() {
    let dir = tempdir();
    let store = open_wide(dir.path());
    for _ in 0..5_000 {
        append(&store, "BB");
    }
    build(&store);
    let position = thread::scope(|scope| {
        let long = scope.spawn(|| {
            // "Aa" has the hash of "BB", so that this goes on until it has looked at all it may.
            for _ in 0..20 {
                assert!(
                    store
                        .search(KeySearch::by_key("t", "Aa", 64, 0, i64::MAX))
                        .is_empty()
                );
            }
        });
        loop {
            let position = append(&store, "new");
            build(&store);
            if long.is_finished() {
                break position;
            }
        }
    });

    assert_eq!(
        store.search(KeySearch::by_key("t", "new", 1, 0, i64::MAX)),
        [position]
    );
}

#[test]
fn a_search_does_not_see_what_is_indexed_after_it_passed_by() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let mut positions: Vec<_> = (0..30).map(|_| append(&store, "k")).collect();
    build(&store);
    let mut search = search("k");
    advance_to(&store, &mut search, 5);

    for _ in 0..30 {
        append(&store, "k");
    }
    build(&store);
    finish(&store, &mut search);

    positions.reverse();
    assert_eq!(search.into_found(), positions);
}

#[test]
fn a_search_goes_on_with_the_next_older_file_when_its_own_is_cut_off() {
    let dir = tempdir();
    let mut store = index::open(dir.path());
    let positions: Vec<_> = (0..33).map(|_| append(&store, "k")).collect();
    build(&store);
    assert_eq!(store.index_status().file_count, 3);
    let mut search = search("k");
    advance_to(&store, &mut search, 3);

    // Nothing is left for the newest file, and the older ones come back under their names.
    store.truncate_to(positions[22]).unwrap();
    build(&store);
    assert_eq!(store.index_status().file_count, 2);
    finish(&store, &mut search);

    let mut expected = vec![positions[32], positions[31], positions[30]];
    expected.extend(positions[..22].iter().rev());
    assert_eq!(search.into_found(), expected);
}

#[test]
fn another_file_of_the_same_name_is_not_taken_for_damaged() {
    let dir = tempdir();
    let mut store = index::open(dir.path());
    let positions: Vec<_> = (0..33).map(|_| append(&store, "k")).collect();
    build(&store);
    let names = |dir| index::files(dir).into_iter().map(|(name, _)| name);
    let before: Vec<_> = names(dir.path()).collect();
    let mut search = search("k");
    advance_to(&store, &mut search, 3);

    store.truncate_to(positions[24]).unwrap();
    build(&store);
    // It is built again under its name, with two entries; the search stood at the eighth.
    assert!(before.iter().cloned().eq(names(dir.path())));
    finish(&store, &mut search);

    let mut expected = vec![positions[32], positions[31], positions[30]];
    expected.extend(positions[..22].iter().rev());
    assert_eq!(search.into_found(), expected);
    store.advance_followers(NOW_MS, 0).unwrap();
    assert_eq!(store.index_status().damaged_count, 0);
    assert_eq!(
        store
            .search(KeySearch::by_key("t", "k", 64, 0, i64::MAX))
            .len(),
        24
    );
}

#[test]
fn a_search_ends_where_the_older_files_have_expired() {
    let dir = tempdir();
    let store = index::open(dir.path());
    let body = vec![7; 2_000];
    let positions: Vec<_> = (0..200)
        .map(|_| Keyed::new("t", "k").append(&store, &body).position)
        .collect();
    build(&store);
    store.flush().unwrap();
    let mut search = search("k");
    advance_to(&store, &mut search, 3);
    let file_count = store.index_status().file_count;

    let all = Retention {
        is_forced: true,
        segment_count_max: usize::MAX,
        ..Retention::default()
    };
    assert!(store.expire(&all, NOW_MS).unwrap().segment_count > 0);
    assert!(store.index_status().file_count < file_count);
    finish(&store, &mut search);

    let is_there = |position: &&u64| **position >= store.min_position();
    let mut expected: Vec<_> = positions[197..].to_vec();
    expected.extend(positions[..197].iter().filter(is_there));
    expected.sort_unstable_by(|one, other| other.cmp(one));
    expected.truncate(64);
    assert_eq!(search.into_found(), expected);
}
