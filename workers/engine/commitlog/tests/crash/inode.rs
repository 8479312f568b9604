//! The content of one file: what the disk holds, and what the page cache does.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fastrand::Rng;

pub const BLOCK_SIZE: usize = 4096;
const SECTOR_SIZE: usize = 512;

#[derive(Debug, Default)]
pub struct Inode {
    pub durable: Vec<u8>,
    pub durable_size: usize,
    /// What the page cache holds; the last of it once no name is left.
    pub live: Vec<u8>,
    /// Blocks that a failed sync took for written, with what the page cache held of each. Until they
    /// change, nothing writes them.
    pub lost: BTreeMap<usize, Vec<u8>>,
    /// The file itself, while it has a name.
    pub file: Option<File>,
}

/// Bytes from a place on, with zeros behind their end.
pub fn block(bytes: &[u8], from: usize, size: usize) -> Vec<u8> {
    let mut block = vec![0; size];
    let end = bytes.len().min(from + size);
    if from < end {
        block[..end - from].copy_from_slice(&bytes[from..end]);
    }
    block
}

/// Reads a file by one call, if it is no longer than the last time.
fn read_whole(file: &File, content: &mut Vec<u8>) -> io::Result<()> {
    // A byte more than expected shows whether the file is longer.
    let mut size = content.len() + 1;
    loop {
        content.resize(size, 0);
        let count = file.read_at(content, 0)?;
        if count < size {
            content.truncate(count);
            return Ok(());
        }
        size = (2 * size).max(BLOCK_SIZE);
    }
}

fn store_at(bytes: &mut Vec<u8>, from: usize, block: &[u8]) {
    if bytes.len() < from + block.len() {
        bytes.resize(from + block.len(), 0);
    }
    bytes[from..from + block.len()].copy_from_slice(block);
}

impl Inode {
    /// Reads what the page cache holds. To open the file each time takes several times as long.
    pub fn refresh(&mut self, path: impl FnOnce() -> PathBuf) {
        if self.file.is_none() {
            self.file = File::open(path()).ok();
        }
        if let Some(file) = &self.file {
            read_whole(file, &mut self.live).unwrap();
        }
    }

    pub fn blocks(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.durable.len().max(self.live.len())).step_by(BLOCK_SIZE)
    }

    /// Puts a block of the page cache on the disk.
    pub fn write_back(&mut self, from: usize) {
        if self.is_lost(from) {
            return;
        }
        self.lost.remove(&from);
        let content = block(&self.live, from, BLOCK_SIZE);
        store_at(&mut self.durable, from, &content);
    }

    fn is_lost(&self, from: usize) -> bool {
        let lost = self.lost.get(&from);
        lost.is_some_and(|content| *content == block(&self.live, from, BLOCK_SIZE))
    }

    /// A sync that fails: it writes some of the changed blocks, and no sync writes the others any more.
    pub fn fail_sync(&mut self, from: usize, to: usize, random: &mut Rng) {
        let first = from - from % BLOCK_SIZE;
        for at in (first..to.min(self.live.len())).step_by(BLOCK_SIZE) {
            let content = block(&self.live, at, BLOCK_SIZE);
            if random.bool() {
                self.write_back(at);
            } else if content != block(&self.durable, at, BLOCK_SIZE) {
                self.lost.insert(at, content);
            }
        }
    }

    /// The system writes what it can and forgets the pages: returns the blocks that then differ.
    pub fn forget(&mut self) -> Vec<(usize, Vec<u8>)> {
        self.sync(0, usize::MAX);
        let lost = std::mem::take(&mut self.lost);
        let durable = |(at, _)| (at, block(&self.durable, at, BLOCK_SIZE));
        lost.into_iter().map(durable).collect()
    }

    pub fn sync(&mut self, from: usize, to: usize) {
        self.durable_size = self.live.len();
        let first = from - from % BLOCK_SIZE;
        for at in (first..to.min(self.live.len())).step_by(BLOCK_SIZE) {
            self.write_back(at);
        }
    }

    /// The content after a crash.
    pub fn crashed(&self, random: &mut Rng, newness: u8) -> Vec<u8> {
        let mut content = self.durable.clone();
        for from in self.blocks() {
            let (old, new) = (
                block(&self.durable, from, BLOCK_SIZE),
                block(&self.live, from, BLOCK_SIZE),
            );
            if old == new || self.is_lost(from) {
                continue;
            }
            let is_torn = random.u8(..4) == 0;
            let is_new = random.u8(..100) < newness;
            for sector in (0..BLOCK_SIZE).step_by(SECTOR_SIZE) {
                if if is_torn { random.bool() } else { is_new } {
                    store_at(
                        &mut content,
                        from + sector,
                        &new[sector..sector + SECTOR_SIZE],
                    );
                }
            }
        }
        content
    }
}

/// Writes a file without blocks for zeros.
pub fn write_sparse(path: &Path, content: &[u8]) -> io::Result<()> {
    let file = File::create(path)?;
    file.set_len(content.len() as u64)?;
    for (block, from) in content
        .chunks(BLOCK_SIZE)
        .zip((0_u64..).step_by(BLOCK_SIZE))
    {
        if block.iter().any(|byte| *byte != 0) {
            file.write_all_at(block, from)?;
        }
    }
    Ok(())
}
