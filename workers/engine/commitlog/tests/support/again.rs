//! Stores that use segments again.

use std::fs;
use std::os::linux::fs::MetadataExt;
use std::path::Path;

use regent_commitlog::{FlushMode, Retention, Store, StoreConfig};
use tempfile::TempDir;

use super::{NOW_MS, config, copy_dir, go_down, sample};

/// Of a segment that is used again four pages are cleared at a time.
const CLEARED_AHEAD: u64 = 4096;

pub fn again(dir: &Path) -> StoreConfig {
    let mut config = config(dir);
    config.flush_mode = FlushMode::Sync;
    config.populate_ahead_bytes = CLEARED_AHEAD;
    config.spare_segment_count_max = 2;
    config
}

pub fn open_again(dir: &Path) -> Store {
    Store::open(again(dir), NOW_MS).unwrap()
}

pub fn too_much() -> Retention {
    Retention {
        log_bytes_max: Some(0),
        segment_count_max: usize::MAX,
        ..Retention::default()
    }
}

pub fn inode(path: &Path) -> u64 {
    fs::metadata(path).unwrap().st_ino()
}

/// What a crash of the process leaves, and one of the system: there nothing but the run differs.
pub fn crashed(dir: &Path, is_system: bool) -> TempDir {
    let copy = sample::memory_dir();
    copy_dir(dir, copy.path());
    if is_system {
        go_down(copy.path());
    }
    copy
}
