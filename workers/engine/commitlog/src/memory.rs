//! Forgetting what only memory holds, after a flush that failed.
//!
//! The kernel takes pages that it could not write for written: it reports the error once, keeps the
//! pages in its page cache, and a later flush has nothing to do. A process that opened such a store
//! again would read what the disk does not have, and acknowledge messages behind it. So the mark of
//! an unclean stop says that a flush failed. The next process that opens the store has the system
//! forget the pages of its files: recovery then finds what the disk has, as after the machine went
//! down. The mark need not reach the disk: another run of the system has no such pages.

use std::fs::File;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{Advice, fadvise, fstatfs};

use crate::directory::StoreDirectory;
use crate::error::StoreError;
use crate::files::list;
use crate::sys::residency::is_in_memory;

const ATTEMPT_COUNT: usize = 5;
const PAUSE: Duration = Duration::from_millis(50);

/// Has the system forget what it holds of a store's files, once what can be written is written.
pub(crate) fn forget(directory: &StoreDirectory) -> Result<(), StoreError> {
    let mut places = directory.places();
    while let Some(path) = places.pop() {
        if path.is_dir() {
            places.extend(list(&path)?);
        } else {
            forget_file(&path).map_err(|error| StoreError::io(&path, error))?;
        }
    }
    Ok(())
}

fn forget_file(path: &Path) -> io::Result<()> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    if !has_disk(&file)? {
        return Ok(());
    }
    let mut last = None;
    // A page may be in use just now.
    for attempt in 0..ATTEMPT_COUNT {
        if attempt > 0 {
            sleep(PAUSE);
        }
        // What fails here is what this is about: nothing is left to be written then.
        last = file.sync_all().err().or(last);
        fadvise(&file, 0, None, Advice::DontNeed)?;
        if !is_in_memory(&file)? {
            return Ok(());
        }
    }
    let last = last.map_or_else(String::new, |error| format!(" ({error})"));
    Err(io::Error::other(format!(
        "a flush failed, and what the disk may not have is still in memory as if it had{last}: stop \
         whatever else uses the file and try again, or restart the machine"
    )))
}

/// What lies in memory only stays there.
fn has_disk(file: &File) -> io::Result<bool> {
    const RAMFS_MAGIC: i64 = 0x8584_58F6;
    let kind = fstatfs(file)?.f_type;
    Ok(![libc::TMPFS_MAGIC, RAMFS_MAGIC].contains(&kind))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use memmap2::MmapOptions;

    use super::*;

    #[test]
    fn what_was_written_is_kept_and_no_longer_in_memory() {
        // Not below the folder for temporary files, which may lie in memory.
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a directory");
        let path = dir.path().join("file");
        std::fs::write(&path, [7; 10_000]).expect("room");
        let file = File::open(&path).expect("the file");
        assert!(is_in_memory(&file).expect("an answer of the kernel"));

        forget_file(&path).expect("no other user");

        assert!(!is_in_memory(&file).expect("an answer of the kernel"));
        let mut bytes = [0; 10_000];
        file.read_exact_at(&mut bytes, 0).expect("readable");
        assert_eq!(bytes, [7; 10_000]);
    }

    #[test]
    fn a_page_in_use_is_an_error_and_no_file_is_none() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a directory");
        let path = dir.path().join("file");
        std::fs::write(&path, [7; 10_000]).expect("room");
        let file = File::open(&path).expect("the file");
        let populated = MmapOptions::new().populate().map_raw_read_only(&file);
        let _user = populated.expect("a map");

        let refused = forget_file(&path).expect_err("it is mapped");

        assert!(refused.to_string().contains("restart the machine"));
        forget_file(&dir.path().join("none")).expect("there is no such file");
    }
}
