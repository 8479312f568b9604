//! What a disk holds of a directory after a crash: a worst case of a journaling file system.
//!
//! - Changes of names and sizes in one directory reach the disk in their order, those of different
//!   directories in any; syncing the directory makes its names durable.
//! - Content reaches the disk in sectors. Any subset of the blocks of 4 KiB that were not synced
//!   has reached it, some blocks in part; the system may write blocks back at any time.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use regent_commitlog::failpoint::{Event, Hook, Step, Watch, watch};

use crate::inode::{Inode, block, write_sparse};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    File(usize),
    Dir(usize),
}

/// A change of a directory that may not be on the disk yet.
#[derive(Debug, Clone)]
enum Change {
    Put(String, Node),
    Drop(String),
    Rename(String, String, Node),
    Exchange(String, String),
    Size(usize, usize),
}

type Names = BTreeMap<String, Node>;

#[derive(Debug, Default)]
struct Dir {
    durable: Names,
    pending: Vec<Change>,
    /// The durable names after all changes that are pending.
    live: Names,
}

#[derive(Debug)]
pub struct Disk {
    root: PathBuf,
    dirs: Vec<Dir>,
    inodes: Vec<Inode>,
    random: Rng,
}

fn apply(names: &mut Names, change: &Change) {
    match change {
        Change::Put(name, node) => {
            names.insert(name.clone(), *node);
        }
        Change::Drop(name) => {
            names.remove(name);
        }
        Change::Rename(from, to, node) => {
            names.remove(from);
            names.insert(to.clone(), *node);
        }
        Change::Exchange(one, other) => {
            if let (Some(first), Some(second)) = (names.remove(one), names.remove(other)) {
                names.insert(one.clone(), second);
                names.insert(other.clone(), first);
            }
        }
        Change::Size(..) => {}
    }
}

impl Dir {
    fn change(&mut self, change: Change) {
        apply(&mut self.live, &change);
        self.pending.push(change);
    }

    /// Sizes that were set behind the last change of a name stay pending, as in XFS.
    fn sync(&mut self, inodes: &mut [Inode]) {
        let is_size = |change: &Change| matches!(change, Change::Size(..));
        let kept = self.pending.iter().rev().take_while(|one| is_size(one));
        let kept = kept.count();
        for change in self.pending.drain(..self.pending.len() - kept) {
            apply(&mut self.durable, &change);
            if let Change::Size(inode, size) = change {
                inodes[inode].durable_size = size;
            }
        }
    }
}

impl Disk {
    /// A directory all of which is on the disk.
    pub fn new(root: &Path, seed: u64) -> Self {
        let mut disk = Self {
            root: root.to_path_buf(),
            dirs: vec![Dir::default()],
            inodes: Vec::new(),
            random: Rng::with_seed(seed),
        };
        disk.adopt(root, 0);
        disk
    }

    /// Such a directory, of which everything is noted from now on.
    pub fn watching(root: &Path, seed: u64) -> (Arc<Mutex<Self>>, Watch) {
        let disk = Arc::new(Mutex::new(Self::new(root, seed)));
        let noted = Arc::clone(&disk);
        let hook: Hook = Arc::new(move |event: &Event<'_>| {
            noted.lock().unwrap().note(event);
            Ok(())
        });
        (disk, watch(root, hook))
    }

    fn adopt(&mut self, path: &Path, dir: usize) {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            let node = if path.is_dir() {
                self.dirs.push(Dir::default());
                let child = self.dirs.len() - 1;
                self.adopt(&path, child);
                Node::Dir(child)
            } else {
                let mut inode = Inode::default();
                inode.refresh(|| path.clone());
                inode.durable_size = inode.live.len();
                inode.durable = inode.live.clone();
                self.inodes.push(inode);
                Node::File(self.inodes.len() - 1)
            };
            self.dirs[dir].durable.insert(name_of(&path), node);
            self.dirs[dir].live.insert(name_of(&path), node);
        }
    }

    /// Learns what a step did, and lets the system write a few blocks by itself.
    pub fn note(&mut self, event: &Event<'_>) {
        self.refresh();
        self.write_back_some();
        if !event.is_done {
            return;
        }
        match event.step {
            Step::Create | Step::Resize | Step::Write => self.note_file(event.path),
            Step::SyncFile => self.sync_file(event.path, 0, usize::MAX),
            Step::SyncRange { from, to } => self.sync_file(event.path, from, to),
            // Nothing is known to be on the disk then; `write_back_some` stands for it.
            Step::StartWriteBack { .. } => {}
            Step::SyncDir => {
                if let Some(dir) = self.find_dir(event.path) {
                    self.dirs[dir].sync(&mut self.inodes);
                }
            }
            Step::Rename(to) => {
                let (dir, name) = self.parent(event.path);
                let node = self.dirs[dir].live[&name];
                let (to_dir, to_name) = self.parent(to);
                self.close(to_dir, &to_name);
                if to_dir == dir {
                    let rename = Change::Rename(name, to_name, node);
                    self.dirs[dir].change(rename);
                } else {
                    // Both names, or neither, is worse than a file system does.
                    self.dirs[to_dir].change(Change::Put(to_name, node));
                    self.dirs[dir].change(Change::Drop(name));
                }
            }
            Step::Exchange(other) => {
                let (dir, name) = self.parent(event.path);
                let (_, other_name) = self.parent(other);
                self.dirs[dir].change(Change::Exchange(name, other_name));
            }
            Step::Remove => {
                let (dir, name) = self.parent(event.path);
                self.close(dir, &name);
                self.dirs[dir].change(Change::Drop(name));
            }
            Step::CreateDir => self.note_dir(event.path),
            Step::RemoveDir => self.note_removed(event.path),
        }
    }

    /// A sync of a file that fails, and leaves its pages clean; returns whether it loses any.
    pub fn fail_sync(&mut self, event: &Event<'_>) -> bool {
        self.refresh();
        let (from, to) = match event.step {
            Step::SyncRange { from, to } => (from, to),
            _ => (0, usize::MAX),
        };
        let Some(Node::File(inode)) = self.find(event.path) else {
            return false;
        };
        self.inodes[inode].fail_sync(from, to, &mut self.random);
        !self.inodes[inode].lost.is_empty()
    }

    /// Has the system forget the pages of all files, once it has written what it can.
    pub fn forget(&mut self) -> io::Result<()> {
        self.refresh();
        self.forget_dir(0, &self.root.clone())
    }

    fn forget_dir(&mut self, dir: usize, path: &Path) -> io::Result<()> {
        for (name, node) in self.dirs[dir].live.clone() {
            let path = path.join(name);
            match node {
                Node::Dir(child) => self.forget_dir(child, &path)?,
                Node::File(inode) => {
                    for (at, content) in self.inodes[inode].forget() {
                        let file = OpenOptions::new().write(true).open(&path)?;
                        let size = usize::try_from(file.metadata()?.len()).unwrap();
                        let content = &content[..content.len().min(size - at)];
                        file.write_all_at(content, at as u64)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads the page cache of every file that has a name.
    fn refresh(&mut self) {
        let mut found = vec![(0, self.root.clone())];
        while let Some((dir, path)) = found.pop() {
            for (name, node) in &self.dirs[dir].live {
                match *node {
                    Node::Dir(child) => found.push((child, path.join(name))),
                    Node::File(inode) => self.inodes[inode].refresh(|| path.join(name)),
                }
            }
        }
    }

    /// Lets go of a file that loses its name.
    fn close(&mut self, dir: usize, name: &str) {
        if let Some(Node::File(inode)) = self.dirs[dir].live.get(name) {
            self.inodes[*inode].file = None;
        }
    }

    fn write_back_some(&mut self) {
        if self.random.u8(..4) > 0 {
            return;
        }
        for inode in &mut self.inodes {
            for from in inode.blocks() {
                if self.random.u8(..8) == 0 {
                    inode.write_back(from);
                }
            }
        }
    }

    fn find(&self, path: &Path) -> Option<Node> {
        let mut node = Node::Dir(0);
        for part in path.strip_prefix(&self.root).unwrap() {
            let Node::Dir(dir) = node else { return None };
            node = *self.dirs[dir].live.get(part.to_str().unwrap())?;
        }
        Some(node)
    }

    fn find_dir(&self, path: &Path) -> Option<usize> {
        match self.find(path) {
            Some(Node::Dir(dir)) => Some(dir),
            _ => None,
        }
    }

    fn parent(&self, path: &Path) -> (usize, String) {
        let dir = self
            .find_dir(path.parent().unwrap())
            .expect("a known directory");
        (dir, name_of(path))
    }

    fn note_file(&mut self, path: &Path) {
        let (dir, name) = self.parent(path);
        let known = self.dirs[dir].live.get(&name).copied();
        let Some(Node::File(inode)) = known else {
            self.inodes.push(Inode::default());
            let inode = self.inodes.len() - 1;
            let put = Change::Put(name, Node::File(inode));
            self.dirs[dir].change(put);
            return self.note_size(dir, inode, path);
        };
        // It may be another file of that name.
        self.close(dir, &name);
        self.note_size(dir, inode, path);
    }

    fn note_size(&mut self, dir: usize, inode: usize, path: &Path) {
        self.inodes[inode].refresh(|| path.to_path_buf());
        let size = self.inodes[inode].live.len();
        let is_size = |change: &Change| match change {
            Change::Size(of, size) if *of == inode => Some(*size),
            _ => None,
        };
        let pending = self.dirs[dir].pending.iter().rev().find_map(is_size);
        if pending.unwrap_or(self.inodes[inode].durable_size) != size {
            self.dirs[dir].change(Change::Size(inode, size));
        }
    }

    fn sync_file(&mut self, path: &Path, from: usize, to: usize) {
        // A file that was removed while it was synced has no name to find it by.
        let Some(Node::File(inode)) = self.find(path) else {
            return;
        };
        self.inodes[inode].sync(from, to);
        let (dir, _) = self.parent(path);
        let pending = &mut self.dirs[dir].pending;
        pending.retain(|change| !matches!(change, Change::Size(of, _) if *of == inode));
    }

    fn note_dir(&mut self, path: &Path) {
        let missing: Vec<_> = path
            .ancestors()
            .take_while(|dir| self.find(dir).is_none())
            .collect();
        for path in missing.into_iter().rev() {
            let (dir, name) = self.parent(path);
            self.dirs.push(Dir::default());
            let child = Node::Dir(self.dirs.len() - 1);
            self.dirs[dir].change(Change::Put(name, child));
        }
    }

    /// Files of a removed directory go in any order before it does.
    fn note_removed(&mut self, path: &Path) {
        let Some(dir) = self.find_dir(path) else {
            return;
        };
        let names = self.dirs[dir].live.clone();
        let mut order: Vec<_> = names.into_iter().collect();
        self.random.shuffle(&mut order);
        for (name, node) in order {
            if matches!(node, Node::Dir(_)) {
                self.note_removed(&path.join(&name));
            } else {
                self.close(dir, &name);
                self.dirs[dir].change(Change::Drop(name));
            }
        }
        let (parent, name) = self.parent(path);
        self.dirs[parent].change(Change::Drop(name));
    }

    /// Writes down what a crash at this moment may leave.
    pub fn crash(&self, to: &Path, random: &mut Rng) -> io::Result<()> {
        let newness = [0, 10, 50, 90, 100][random.usize(..5)];
        self.crash_dir(0, to, random, newness)
    }

    fn crash_dir(&self, dir: usize, to: &Path, random: &mut Rng, newness: u8) -> io::Result<()> {
        fs::create_dir_all(to)?;
        let Dir {
            durable, pending, ..
        } = &self.dirs[dir];
        let mut names = durable.clone();
        let mut sizes = BTreeMap::new();
        let done = match random.u8(..100) < newness {
            true => pending.len(),
            false => random.usize(..=pending.len()),
        };
        for change in &pending[..done] {
            apply(&mut names, change);
            if let Change::Size(inode, size) = change {
                sizes.insert(*inode, *size);
            }
        }
        for (name, node) in names {
            let path = to.join(name);
            match node {
                Node::Dir(child) => self.crash_dir(child, &path, random, newness)?,
                Node::File(inode) => {
                    let held = &self.inodes[inode];
                    let size = sizes.get(&inode).copied().unwrap_or(held.durable_size);
                    let content = held.crashed(random, newness);
                    write_sparse(&path, &block(&content, 0, size))?;
                }
            }
        }
        Ok(())
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}
