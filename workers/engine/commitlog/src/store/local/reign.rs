//! What a second log says of itself: its generation, the epoch that used it last, and which topics are no more.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::StoreError;
use crate::files::replace_file;

/// One line: the generation and the epoch.
const REIGN_FILE: &str = "reign";

/// A line for each topic: a position and the name.
const VOID_FILE: &str = "void";

/// Which log it is, and the last epoch of its master; 0 is that of a broker without epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reign {
    pub(super) generation: u64,
    pub(super) epoch: i32,
}

impl Reign {
    pub(super) fn find(root: &Path) -> Result<Option<Self>, StoreError> {
        let Some(text) = read(&root.join(REIGN_FILE))? else {
            return Ok(None);
        };
        let mut parts = text.split_whitespace();
        let generation = parts.next().and_then(|part| part.parse().ok());
        let epoch = parts.next().and_then(|part| part.parse().ok());
        Ok(generation
            .zip(epoch)
            .map(|(generation, epoch)| Self { generation, epoch }))
    }

    pub(super) fn put(self, root: &Path) -> Result<(), StoreError> {
        let text = format!("{} {}\n", self.generation, self.epoch);
        replace_file(&root.join(REIGN_FILE), text.as_bytes())
    }

    /// Whether no other broker has led between its last epoch and another one.
    pub(super) fn is_continued_by(self, epoch: i32) -> bool {
        self.epoch == 0
            || epoch == 0
            || epoch == self.epoch
            || Some(epoch) == self.epoch.checked_add(1)
    }
}

/// A topic whose messages before a position are no more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Void {
    pub(super) topic: String,
    pub(super) position: u64,
}

impl Void {
    pub(super) fn list(root: &Path) -> Result<Vec<Self>, StoreError> {
        let text = read(&root.join(VOID_FILE))?.unwrap_or_default();
        let void = |line: &str| {
            let (position, topic) = line.split_once(' ')?;
            Some(Self {
                topic: topic.to_owned(),
                position: position.parse().ok()?,
            })
        };
        Ok(text.lines().filter_map(void).collect())
    }

    /// Notes, on the disk, that the messages of a topic before the end of the log are no more. What lies before the
    /// beginning of the log is forgotten.
    pub(super) fn add(root: &Path, topic: &str, (min, end): (u64, u64)) -> Result<(), StoreError> {
        let mut voids = Self::list(root)?;
        voids.retain(|void| void.position > min && void.topic != topic);
        voids.push(Self {
            topic: topic.to_owned(),
            position: end,
        });
        let line = |void: &Self| format!("{} {}\n", void.position, void.topic);
        let text: String = voids.iter().map(line).collect();
        replace_file(&root.join(VOID_FILE), text.as_bytes())
    }
}

fn read(path: &Path) -> Result<Option<String>, StoreError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(path, error)),
    }
}
