//! In which order the parts of a record come to lie in the log (FORMAT.md 5).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;

use regent_commitlog::Store;

use crate::support::*;

const TOPIC: &str = "orders";

#[test]
fn of_a_record_that_is_being_written_the_header_is_there_first() {
    let (from, to) = (sample::memory_dir(), sample::memory_dir());
    let open_large = |dir: &Path| {
        let mut config = config(dir);
        config.segment_size_bytes = 48 << 20;
        Store::open(config, NOW_MS).unwrap()
    };
    let (master, replica) = (open_large(from.path()), open_large(to.path()));
    // A replica writes more than that to the file at once.
    let body = [b'x'; 50_000];
    let size = u64::from(append(&master, TOPIC, 0, &body).size);

    let appending = headless_count(&master, from.path(), size, || {
        for _ in 1..900 {
            append(&master, TOPIC, 0, &body);
        }
    });
    let copying = headless_count(&replica, to.path(), size, || {
        while let Some(slice) = master.log_slice(replica.max_position(), size) {
            replica
                .append_copied(slice.position(), slice.bytes())
                .unwrap();
        }
    });

    assert_eq!((appending, copying), (0, 0));
}

/// How often, while records of one size are written, one is met whose middle is there and whose header
/// is not: of what a kill leaves then, nobody could tell that it lies in a body.
fn headless_count(store: &Store, dir: &Path, size: u64, write: impl FnOnce() + Send) -> u32 {
    let file = File::open(segment_path(dir, 0)).unwrap();
    let is_written = |at| {
        let mut bytes = [0; 4];
        file.read_exact_at(&mut bytes, at).unwrap();
        bytes != [0; 4]
    };
    let mut count = 0;
    thread::scope(|scope| {
        let writer = scope.spawn(write);
        while !writer.is_finished() {
            let at = store.max_position();
            count += u32::from(is_written(at + size / 2) && !is_written(at));
        }
    });
    count
}
