//! Random work on the key index: whatever happens, a finished build is the slow one's.

use regent_commitlog::Store;
use tempfile::TempDir;

use crate::support::index::{Filler, build, contents, files, open};
use crate::support::{NOW_MS, crash, overwrite, tempdir};

/// Stops the store in some way and opens it again.
fn reopen(random: &mut fastrand::Rng, dir: TempDir, store: Store) -> (TempDir, Store) {
    if random.bool() {
        store.close().unwrap();
        drop(store);
        let store = open(dir.path());
        return (dir, store);
    }
    let copy = crash(dir.path());
    drop(store);
    let checkpoint = std::fs::read(copy.path().join("checkpoint")).unwrap();
    let flushed_ms = i64::from_be_bytes(checkpoint[16..24].try_into().unwrap());
    for (name, content) in files(copy.path()).into_iter().rev() {
        let end_ms = i64::from_be_bytes(content[8..16].try_into().unwrap());
        if end_ms <= flushed_ms || random.bool() {
            break;
        }
        // Not known to be on the disk, so it may hold anything.
        let at = random.usize(0..content.len() - 30);
        let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(30).collect();
        overwrite(&copy.path().join("index").join(name), at as u64, &noise);
    }
    let store = open(copy.path());
    (copy, store)
}

/// Flips bytes of one file of a store in use.
fn damage(random: &mut fastrand::Rng, dir: &TempDir) {
    let files = files(dir.path());
    if let Some((name, content)) = random.choice(&files) {
        let at = random.usize(40..content.len() - 4);
        let path = dir.path().join("index").join(name);
        overwrite(&path, at as u64, &random.u32(..).to_be_bytes());
    }
}

/// A store with a few messages.
fn begun(seed: u64) -> (fastrand::Rng, TempDir, Store, Filler) {
    let dir = tempdir();
    let store = open(dir.path());
    let mut filler = Filler::new(seed);
    filler.append(&store, 5);
    store.flush_tick(NOW_MS).unwrap();
    (fastrand::Rng::with_seed(seed), dir, store, filler)
}

#[test]
fn an_index_equals_one_built_at_once_whatever_happens_in_between() {
    for seed in 0..12 {
        let (mut random, mut dir, mut store, mut filler) = begun(seed);
        for step in 0..60 {
            match random.u8(..12) {
                0 => (dir, store) = reopen(&mut random, dir, store),
                1 => store.flush_tick(NOW_MS + step * 5_000).unwrap(),
                2 => {
                    let count = filler.messages.len();
                    let kept = random.usize(count / 2..count);
                    store.truncate_to(filler.messages[kept].position).unwrap();
                    filler.messages.truncate(kept);
                    filler.append(&store, 1);
                }
                3..6 => drop(store.advance_followers(NOW_MS + step, 0).unwrap()),
                _ => filler.append(&store, 3),
            }
        }
        build(&store);
        println!("seed {seed}");
        assert_eq!(contents(dir.path()), filler.model().files);
        filler.check_searches(&store);
    }
}

#[test]
fn no_damage_makes_an_index_panic_hang_or_lie() {
    for seed in 0..12 {
        let (mut random, mut dir, mut store, mut filler) = begun(seed);
        for _ in 0..40 {
            match random.u8(..8) {
                0 => (dir, store) = reopen(&mut random, dir, store),
                1..3 => damage(&mut random, &dir),
                3..5 => filler.append(&store, 3),
                5 => drop(store.advance_followers(NOW_MS, 0).unwrap()),
                _ => filler.assert_no_lie(&store),
            }
        }
        println!("seed {seed}");
        build(&store);
        filler.assert_no_lie(&store);
        drop((store, dir));
    }
}
