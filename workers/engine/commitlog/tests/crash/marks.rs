//! What the mark of an unclean stop says after a power cut: never what a former run wrote into it.

use fastrand::Rng;
use regent_commitlog::FlushMode;

use crate::disk::Disk;
use crate::second::{open, open_with};
use crate::support::{NOW_MS, append, config, go_down, overwrite, segment_path};
use crate::tempdir;

const SEEDS: std::ops::Range<u64> = 0..20;

#[test]
fn what_waited_for_the_disk_is_not_taken_for_what_did_not_once_a_bit_of_it_is_wrong() {
    for seed in SEEDS {
        let dir = tempdir();
        let killed = open(dir.path());
        append(&killed, "t", 0, b"before");
        killed.flush_tick(NOW_MS).unwrap();
        drop(killed);
        let (disk, watching) = Disk::watching(dir.path(), seed);
        let mut synchronous = config(dir.path());
        synchronous.flush_mode = FlushMode::Sync;
        let store = open_with(synchronous);
        let spoilt = append(&store, "t", 0, b"acknowledged").log_position;
        append(&store, "t", 0, b"acknowledged as well");
        store.flush().unwrap();
        let end = store.max_position();
        drop(watching);
        drop(store);
        let image = tempdir();
        let disk = disk.lock().unwrap();
        disk.crash(image.path(), &mut Rng::with_seed(seed)).unwrap();
        go_down(image.path());
        overwrite(&segment_path(image.path(), 0), spoilt, &[0; 8]);

        let store = open(image.path());

        let damage = store.recovery().damage.map(|damage| damage.position);
        assert_eq!(
            (damage, store.max_position()),
            (Some(spoilt), end),
            "{seed}"
        );
    }
}
