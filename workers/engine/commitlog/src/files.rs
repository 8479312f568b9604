//! Files of a store: segment names, preallocation, directories that survive a power cut.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FallocateFlags, RenameFlags, SeekFrom, fallocate, renameat_with, seek};
use rustix::io::Errno;

use crate::error::StoreError;
use crate::failpoint::{Step, step};

pub(crate) const BLOCK_SIZE: usize = 4096;
/// So much is cleared by writing zeros; of more the rest is given back, which writes nothing.
const WRITTEN_ZEROS_MAX: u64 = 1 << 20;
/// `FALLOC_FL_WRITE_ZEROES` (Linux 6.17): gives a range blocks, and has the disk write zeros to them.
const WRITE_ZEROES: FallocateFlags = FallocateFlags::from_bits_retain(0x80);

/// One segment found on disk.
#[derive(Debug)]
pub(crate) struct SegmentFile {
    /// The number in its name: position of its first byte.
    pub(crate) base: u64,
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
}

/// Name of the segment that starts at `base`: 20 decimal digits.
pub(crate) fn segment_name(base: u64) -> String {
    format!("{base:020}")
}

/// Segments of a directory by position; other names and sub-directories are left alone.
pub(crate) fn list_segments(dir: &Path) -> Result<Vec<SegmentFile>, StoreError> {
    let mut segments = Vec::new();
    for path in list(dir)? {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if name.len() != 20 || !name.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let Ok(base) = name.parse() else { continue };
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            // A broker that a tool looks at may have removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(StoreError::io(&path, error)),
        };
        if metadata.is_file() {
            segments.push(SegmentFile {
                base,
                size: metadata.len(),
                path,
            });
        }
    }
    segments.sort_unstable_by_key(|segment| segment.base);
    Ok(segments)
}

/// Paths inside a directory; none when it does not exist.
pub(crate) fn list(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io(dir, error)),
    };
    entries
        .map(|entry| {
            entry
                .map(|entry| entry.path())
                .map_err(|error| StoreError::io(dir, error))
        })
        .collect()
}

/// Opens an existing segment for mapping.
pub(crate) fn open_segment(path: &Path) -> Result<File, StoreError> {
    let file = OpenOptions::new().read(true).write(true).open(path);
    file.map_err(|error| StoreError::io(path, error))
}

/// Opens a file for reading; `None` if it is gone.
pub(crate) fn open_if_there(path: &Path) -> Result<Option<File>, StoreError> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

/// Creates a file of `size` bytes whose first `allocated` bytes have disk blocks.
///
/// On failure nothing stays behind.
pub(crate) fn create_segment(path: &Path, size: u64, allocated: u64) -> Result<File, StoreError> {
    create(path, |file| {
        preallocate(file, 0, allocated)?;
        if allocated < size {
            file.set_len(size)?;
        }
        Ok(())
    })
    .map(|(file, ())| file)
}

/// Creates a file of `size` bytes, all of which have disk blocks; returns whether the file system wrote
/// zeros to them, too. On failure nothing stays behind.
pub(crate) fn create_written_segment(path: &Path, size: u64) -> Result<(File, bool), StoreError> {
    create(path, |file| {
        match fall(file, WRITE_ZEROES, 0, size) {
            Ok(()) => return Ok(true),
            // The flag is newer than the kernel, or the disk has no such request.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(error) => return Err(error),
        }
        preallocate(file, 0, size).map(|()| false)
    })
}

fn create<T>(
    path: &Path,
    give_blocks: impl FnOnce(&File) -> io::Result<T>,
) -> Result<(File, T), StoreError> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create_new(true);
    let file = step(Step::Create, path, || options.open(path));
    let file = file.map_err(|error| StoreError::io(path, error))?;
    match step(Step::Resize, path, || give_blocks(&file)) {
        Ok(made) => Ok((file, made)),
        Err(error) => {
            let error = StoreError::io(path, error);
            remove_file(path)?;
            Err(error)
        }
    }
}

/// Gives all of an existing segment disk blocks; costs next to nothing where it has them.
pub(crate) fn allocate_segment(path: &Path, size: usize) -> Result<(), StoreError> {
    let file = open_segment(path)?;
    step(Step::Resize, path, || preallocate(&file, 0, size as u64))
        .map_err(|error| StoreError::io(path, error))
}

/// Gives a range of a file disk blocks, so that writing its map cannot fail (D24).
///
/// What the range holds stays. File systems without `fallocate` get it written again in small
/// writes, since large ones make the page cache use large folios (targets.md 1.2).
pub(crate) fn preallocate(file: &File, from: u64, to: u64) -> io::Result<()> {
    match allocate(file, from, to) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => rewrite(file, from, to),
        done => done,
    }
}

/// As [`preallocate`] where the file system has a request for it: nothing in the file is touched, so
/// that it may be written meanwhile.
pub(crate) fn allocate(file: &File, from: u64, to: u64) -> io::Result<()> {
    fall(file, FallocateFlags::empty(), from, to)
}

/// `fallocate` of a range; the kind of error is `Unsupported` where nothing knows the request.
fn fall(file: &File, how: FallocateFlags, from: u64, to: u64) -> io::Result<()> {
    loop {
        match fallocate(file, how, from, to - from) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Err(io::ErrorKind::Unsupported.into()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn rewrite(file: &File, mut from: u64, to: u64) -> io::Result<()> {
    while from < to {
        let mut block = [0; BLOCK_SIZE];
        #[allow(clippy::cast_possible_truncation)] // at most 4096
        let block = &mut block[..(to - from).min(BLOCK_SIZE as u64) as usize];
        let mut held = 0;
        while held < block.len() {
            match file.read_at(&mut block[held..], from + held as u64)? {
                0 => break,
                count => held += count,
            }
        }
        file.write_all_at(block, from)?;
        from += block.len() as u64;
    }
    Ok(())
}

/// Where the last written byte of a file can lie at most: the rest is a hole of zeros.
pub(crate) fn data_end(file: &File, from: u64, size: u64) -> io::Result<u64> {
    let mut end = from;
    loop {
        let start = match seek(file, SeekFrom::Data(end)) {
            Ok(start) => start,
            Err(Errno::NXIO) => return Ok(end.min(size)),
            Err(error) => return Err(error.into()),
        };
        end = seek(file, SeekFrom::Hole(start))?;
        if end >= size {
            return Ok(size);
        }
    }
}

/// Whether a file begins with zeros, as no segment with a record does.
pub(crate) fn is_unwritten(path: &Path) -> Result<bool, StoreError> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(8).read_to_end(&mut head));
    read.map_err(|error| StoreError::io(path, error))?;
    Ok(head.iter().all(|byte| *byte == 0))
}

/// Makes entries of a directory durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), StoreError> {
    let synced = step(Step::SyncDir, dir, || File::open(dir)?.sync_all());
    synced.map_err(|error| StoreError::io(dir, error))
}

/// Makes the directory entry of a file durable.
pub(crate) fn sync_parent(path: &Path) -> Result<(), StoreError> {
    path.parent().map_or(Ok(()), sync_dir)
}

/// Gives a file new content so that a crash leaves the old or the new, and makes it durable.
pub(crate) fn replace_file(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    Replacement::prepare(path, content)?.put()
}

/// New content of a file, written beside it.
#[derive(Debug)]
pub(crate) struct Replacement {
    path: PathBuf,
    new: PathBuf,
    file: File,
}

impl Replacement {
    /// Writes the content, as a disk without room refuses; then nothing has changed.
    pub(crate) fn prepare(path: &Path, content: &[u8]) -> Result<Self, StoreError> {
        let mut new = path.as_os_str().to_owned();
        new.push(".new");
        let new = PathBuf::from(new);
        let written = step(Step::Create, &new, || File::create(&new)).and_then(|mut file| {
            step(Step::Write, &new, || file.write_all(content))?;
            Ok(file)
        });
        let path = path.to_path_buf();
        match written {
            Ok(file) => Ok(Self { path, new, file }),
            Err(error) => Err(StoreError::io(&new, error)),
        }
    }

    /// Has it take the file's place, durably. Which of the two is there after an error is unknown.
    pub(crate) fn put(self) -> Result<(), StoreError> {
        let synced = step(Step::SyncFile, &self.new, || self.file.sync_all());
        synced.map_err(|error| StoreError::io(&self.new, error))?;
        rename(&self.new, &self.path)?;
        sync_parent(&self.path)
    }
}

/// Gives a file another name in its directory.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    let renamed = step(Step::Rename(to), from, || fs::rename(from, to));
    renamed.map_err(|error| StoreError::io(to, error))
}

/// Exchanges two directories, in one step that a crash cannot divide.
pub(crate) fn exchange(one: &Path, other: &Path) -> Result<(), StoreError> {
    let exchanged = step(Step::Exchange(other), one, || {
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).map_err(io::Error::from)
    });
    exchanged.map_err(|error| StoreError::io(other, error))
}

pub(crate) fn create_dir(dir: &Path) -> Result<(), StoreError> {
    let created = step(Step::CreateDir, dir, || fs::create_dir_all(dir));
    created.map_err(|error| StoreError::io(dir, error))
}

/// Removes a file; one that is gone already is fine.
pub(crate) fn remove_file(path: &Path) -> Result<(), StoreError> {
    match step(Step::Remove, path, || fs::remove_file(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(path, error)),
        _ => Ok(()),
    }
}

/// Removes a directory and all in it; one that is gone already is fine.
pub(crate) fn remove_dir(dir: &Path) -> Result<(), StoreError> {
    match step(Step::RemoveDir, dir, || fs::remove_dir_all(dir)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(dir, error)),
        _ => Ok(()),
    }
}

/// Zeroes bytes, leaving alone pages that hold zeros already; returns whether any did not.
pub(crate) fn clear(bytes: &mut [u8]) -> u64 {
    let mut cleared = 0;
    for block in bytes.chunks_mut(BLOCK_SIZE) {
        if block.iter().any(|byte| *byte != 0) {
            block.fill(0);
            cleared += block.len() as u64;
        }
    }
    cleared
}

/// Zeroes a mapped file's bytes from `from` to `to`, all of which may be written; returns how many
/// of them, in pages, were not zeros or were not looked at. Not durable yet.
pub(crate) fn clear_file(file: &File, bytes: &mut [u8], (from, to): (u64, u64)) -> io::Result<u64> {
    let written_to = to.min((from + WRITTEN_ZEROS_MAX).next_multiple_of(BLOCK_SIZE as u64));
    #[allow(clippy::cast_possible_truncation)] // the file was mapped
    let (near, far) = bytes[from as usize..to as usize].split_at_mut((written_to - from) as usize);
    let cleared = clear(near);
    if far.is_empty() {
        return Ok(cleared);
    }
    match zero_range(file, written_to, to) {
        Ok(()) => Ok(cleared + (to - written_to)),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(cleared + clear(far)),
        Err(error) => Err(error),
    }
}

/// Has a range of a file read as zeros without writing them; its blocks stay.
fn zero_range(file: &File, from: u64, to: u64) -> io::Result<()> {
    fall(file, FallocateFlags::ZERO_RANGE, from, to)
}

/// Writes zeros over a range of a file, in small writes as [`preallocate`] does.
pub(crate) fn write_zeros(file: &File, mut from: u64, to: u64) -> io::Result<()> {
    const ZEROS: [u8; BLOCK_SIZE] = [0; BLOCK_SIZE];
    while from < to {
        let end = to.min((from + 1).next_multiple_of(BLOCK_SIZE as u64));
        #[allow(clippy::cast_possible_truncation)] // at most so many
        file.write_all_at(&ZEROS[..(end - from) as usize], from)?;
        from = end;
    }
    Ok(())
}

/// Where what a file held before lies.
pub(crate) fn backup_of(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".bak");
    path.into()
}

#[cfg(test)]
mod tests;
