//! The files of a store directory, all in memory (FORMAT.md 1).

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Files of numbers as names, by number.
pub type Numbered = BTreeMap<u64, Vec<u8>>;
/// Topic and queue id.
pub type QueueName = (String, i32);

#[derive(Debug, Default)]
pub struct Files {
    pub log: Numbered,
    pub queues: BTreeMap<QueueName, Numbered>,
    pub index: BTreeMap<String, Vec<u8>>,
    /// Whether a former version kept something.
    pub has_spare: bool,
    pub seals: Option<Vec<u8>>,
    small: BTreeMap<&'static str, Vec<u8>>,
}

const SMALL: [&str; 5] = [
    "abort",
    "checkpoint",
    "epochFileCheckpoint",
    "epochFileCheckpoint.bak",
    "truncation",
];

/// Names and whether each is a directory; none where there is no such directory.
fn names(dir: &Path) -> Vec<(String, bool)> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let named = entries.map(|entry| {
        (
            entry.file_name().to_string_lossy().into_owned(),
            entry.path().is_dir(),
        )
    });
    named.collect()
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Files whose names are 20 digits.
fn numbered(dir: &Path) -> Result<Numbered, String> {
    let mut found = Numbered::new();
    for (name, is_dir) in names(dir) {
        if !is_dir
            && name.len() == 20
            && let (Ok(number), Some(bytes)) = (name.parse(), read(&dir.join(&name))?)
        {
            found.insert(number, bytes);
        }
    }
    Ok(found)
}

impl Files {
    pub fn read(dir: &Path) -> Result<Self, String> {
        let log = dir.join("commitlog");
        let mut files = Self {
            log: numbered(&log)?,
            has_spare: log.join("spare").is_dir(),
            seals: read(&log.join("spare/seal"))?,
            ..Self::default()
        };
        for name in SMALL {
            if let Some(bytes) = read(&dir.join(name))? {
                files.small.insert(name, bytes);
            }
        }
        let queues = dir.join("consumequeue");
        for (topic, _) in names(&queues) {
            for (id, _) in names(&queues.join(&topic)) {
                if let Ok(number) = id.parse() {
                    let content = numbered(&queues.join(&topic).join(&id))?;
                    files.queues.insert((topic.clone(), number), content);
                }
            }
        }
        for (name, is_dir) in names(&dir.join("index")) {
            if !is_dir
                && name != "damaged"
                && let Some(bytes) = read(&dir.join("index").join(&name))?
            {
                files.index.insert(name, bytes);
            }
        }
        Ok(files)
    }

    pub fn small(&self, name: &str) -> Option<&Vec<u8>> {
        self.small.get(name)
    }
}
