//! Small files: the dirty marker, the checkpoint, the epoch file, the journal of a truncation
//! (FORMAT.md 1, 4, 8, 9).

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::bytes::{crc31, integer};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checkpoint {
    pub log_time: i64,
    pub queues_time: i64,
    pub index_time: i64,
    pub master_flushed: i64,
    pub confirmed: i64,
}

impl Checkpoint {
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            log_time: integer(bytes, 0, 8)?,
            queues_time: integer(bytes, 8, 8)?,
            index_time: integer(bytes, 16, 8)?,
            master_flushed: integer(bytes, 24, 8)?,
            confirmed: integer(bytes, 32, 8)?,
        })
    }

    pub fn flushed(&self) -> u64 {
        self.master_flushed
            .min(self.confirmed)
            .max(0)
            .cast_unsigned()
    }
}

/// How the last user of a store stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Closed,
    Killed,
    PowerCut { is_synchronous: bool },
    Unknown,
}

/// A dirty marker, line by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    pub process: String,
    pub run: String,
    pub mode: String,
}

impl Marker {
    pub fn decode(text: &str) -> Self {
        let mut lines = text.lines().map(str::to_owned);
        let mut next = || lines.next().unwrap_or_default();
        Self {
            process: next(),
            run: next(),
            mode: next(),
        }
    }

    /// A store of a former version: the position that no record lies behind.
    pub fn write_limit(&self) -> Option<u64> {
        let is_position =
            self.mode.len() == 20 && self.mode.bytes().all(|byte| byte.is_ascii_digit());
        is_position.then(|| self.mode.parse().ok())?
    }

    pub fn stop(&self, run: &str) -> Stop {
        let boot = run.split(' ').next().unwrap_or_default();
        let is_former = self.write_limit().is_some();
        if self.run.is_empty() || self.run.starts_with("unflushed") {
            return Stop::Unknown;
        }
        if self.run == if is_former { boot } else { run } {
            return Stop::Killed;
        }
        match self.mode.as_str() {
            "synchronous" => Stop::PowerCut {
                is_synchronous: true,
            },
            "asynchronous" => Stop::PowerCut {
                is_synchronous: false,
            },
            _ if is_former => Stop::PowerCut {
                is_synchronous: true,
            },
            _ => Stop::Unknown,
        }
    }
}

/// Line 2 of the marker of a store that is open now: the boot, and the numbers of the file systems of the
/// store and of its log.
pub fn this_run(dir: &Path) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let log = dir.join("commitlog");
    let log = if log.exists() { log } else { dir.to_path_buf() };
    format!("{} {} {}", boot.trim(), file_system(dir), file_system(&log))
}

/// The inode of `/sys/fs/<type>/<device>`, or `-`.
fn file_system(dir: &Path) -> String {
    let unknown = "-".to_owned();
    let Ok(dir) = dir.canonicalize() else {
        return unknown;
    };
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut best: Option<(usize, String)> = None;
    for mount in mounts.lines() {
        let Some((place, source)) = mount.split_once(" - ") else {
            continue;
        };
        let point = place.split(' ').nth(4).unwrap_or_default();
        let mut source = source.split(' ');
        let (kind, device) = (
            source.next().unwrap_or_default(),
            source.next().unwrap_or_default(),
        );
        if dir.starts_with(point) && best.as_ref().is_none_or(|best| best.0 <= point.len()) {
            let device = device.rsplit('/').next().unwrap_or_default();
            best = Some((point.len(), format!("/sys/fs/{kind}/{device}")));
        }
    }
    let metadata = best.and_then(|(_, path)| fs::metadata(path).ok());
    metadata.map_or(unknown, |metadata| metadata.ino().to_string())
}

/// The lines behind the checksum; an error for what is no such file.
fn checked_lines(bytes: &[u8], may_be_unchecked: bool) -> Result<Vec<String>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let mut parts = text.splitn(3, '\n');
    let (count, crc) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let rest = parts.next().ok_or("too few lines")?;
    let crc: i64 = crc.parse().map_err(|_| "no checksum")?;
    if crc != crc31(rest.as_bytes()) && !(crc == 0 && may_be_unchecked) {
        return Err("a wrong checksum".to_owned());
    }
    let lines: Vec<String> = rest.lines().map(str::to_owned).collect();
    if count.parse() != Ok(lines.len()) {
        return Err(format!("{} lines instead of {count}", lines.len()));
    }
    Ok(lines)
}

pub type Epochs = Vec<(i32, u64)>;

/// Epochs and where they begin.
pub fn decode_epochs(bytes: &[u8]) -> Result<Epochs, String> {
    let lines = checked_lines(bytes, true)?;
    let pair = |line: &String| {
        let (number, position) = line.split_once('-')?;
        Some((number.parse().ok()?, position.parse().ok()?))
    };
    let epochs: Option<Epochs> = lines.iter().map(pair).collect();
    let epochs = epochs.ok_or("no epoch")?;
    let rises = epochs
        .windows(2)
        .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
    if rises {
        Ok(epochs)
    } else {
        Err("epochs do not rise".to_owned())
    }
}

/// The epochs of a store, by the file or its backup.
pub fn epochs_of(file: Option<&Vec<u8>>, backup: Option<&Vec<u8>>) -> Result<Epochs, String> {
    let decoded = |bytes: Option<&Vec<u8>>| match bytes {
        Some(bytes) if !bytes.is_empty() => decode_epochs(bytes).map(Some),
        _ => Ok(None),
    };
    match (decoded(file), decoded(backup)) {
        (Ok(Some(epochs)), _) | (_, Ok(Some(epochs))) => Ok(epochs),
        (Ok(None), _) => Ok(Epochs::new()),
        (Err(error), _) => Err(error),
    }
}

/// The position that becomes the end, and the store time of the last record before it.
pub fn decode_journal(bytes: &[u8]) -> Result<(u64, i64), String> {
    let lines = checked_lines(bytes, false)?;
    let [position, time] = &lines[..] else {
        return Err("not two lines".to_owned());
    };
    let position = position.parse().map_err(|_| "no position")?;
    Ok((position, time.parse().map_err(|_| "no time")?))
}
