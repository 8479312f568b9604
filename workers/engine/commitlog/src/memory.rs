//! Forgetting what only memory holds, after a flush that failed.
//!
//! Pages that could not be written the kernel takes for written: it tells once, keeps them in its
//! page cache, and a later flush has nothing to do. Who opened such a store again would read what
//! the disk does not have, and acknowledge messages behind it. So the mark of an unclean stop says
//! that a flush failed, and who opens the store next has the system forget the pages of its files:
//! recovery then finds what the disk has, as after the machine went down. The mark is for the same
//! run of the system only, and so need not reach the disk.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Advice, fadvise, statfs};

use crate::directory::StoreDirectory;
use crate::error::StoreError;
use crate::files::list;
use crate::sys::residency::is_in_memory;

const STILL_THERE: &str = "a flush failed, and what the disk may not have is still in memory as if \
                           it had: stop whatever else uses the file, or restart the machine";

/// Has the system forget what it holds of a store's files, once what can be written is written.
pub(crate) fn forget(directory: &StoreDirectory) -> Result<(), StoreError> {
    if !has_disk(directory.commit_log()) {
        return Ok(());
    }
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
    // What fails here is what this is about.
    let _ = file.sync_all();
    fadvise(&file, 0, None, Advice::DontNeed)?;
    if is_in_memory(&file)? {
        return Err(io::Error::other(STILL_THERE));
    }
    Ok(())
}

/// What lies in memory only stays there.
fn has_disk(dir: &Path) -> bool {
    !statfs(dir).is_ok_and(|about| about.f_type == libc::TMPFS_MAGIC)
}
