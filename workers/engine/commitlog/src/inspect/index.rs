//! The key index compared with the log: one walk over both, since entries lie in the log's order
//! (FORMAT.md 7).

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use super::finding::{FindingKind, Findings, counted};
use super::index_file::IndexedFile;
use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::index::{Trust, each_hash, list_stamps};
use crate::index_layout::{Entry, FIRST_NUMBER};
use crate::properties::find_property;
use crate::record::{RecordView, has_index_entries};

const TAGS: &[u8] = b"TAGS";

/// What the index files say of themselves, and what a comparison counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexSurvey {
    /// Files that a store would use.
    pub file_count: usize,
    /// Keys in them.
    pub key_count: u64,
    /// Log position of the newest key.
    pub end_position: u64,
    /// Keys of records before that position that have no entry.
    pub missing_count: u64,
    /// Keys of records behind it, which are not indexed yet.
    pub waiting_count: u64,
}

/// Compares the index with records in the order of the log.
#[derive(Debug)]
pub(super) struct IndexCheck {
    dir: PathBuf,
    files: Vec<IndexedFile>,
    refused: Option<(FindingKind, (PathBuf, u64), String)>,
    is_in_use: bool,
    /// Files were refused, so that what is behind the others is no news.
    is_cut_short: bool,
    /// Where the comparison stands.
    file: usize,
    number: u32,
    current: Option<Entry>,
    /// Number of the newest entry of each slot of that file, as its entries say.
    chains: Vec<u32>,
    /// Position of the entry before.
    last_position: u64,
    /// Which records there were before this is unknown.
    known_from: u64,
    /// Which entries there were for records up to this is unknown: their file has expired.
    expired_to: Option<u64>,
    first_missing: u64,
    missing_tags_count: u64,
    has_tags: bool,
    hashes: Vec<i32>,
    text: Vec<u8>,
    survey: IndexSurvey,
}

impl IndexCheck {
    /// Reads the headers of the files that a store would use, up to the first that it would not.
    pub(super) fn open(
        config: &StoreConfig,
        dir: &Path,
        trust: Trust,
        is_in_use: bool,
    ) -> Result<Self, StoreError> {
        let shape = config.index_shape();
        let mut check = Self {
            dir: dir.to_path_buf(),
            files: Vec::new(),
            refused: None,
            is_in_use,
            is_cut_short: false,
            file: 0,
            number: FIRST_NUMBER,
            current: None,
            chains: Vec::new(),
            last_position: 0,
            known_from: 0,
            expired_to: None,
            first_missing: 0,
            missing_tags_count: 0,
            has_tags: false,
            hashes: Vec::new(),
            text: Vec::new(),
            survey: IndexSurvey::default(),
        };
        let stamps = list_stamps(dir)?;
        let mut newest_ms = i64::MIN;
        for (at, stamp) in stamps.iter().enumerate() {
            let previous = check.files.last().map(|file| file.header);
            let is_written = is_in_use && at + 1 == stamps.len();
            let opened = match IndexedFile::open(dir, *stamp, shape, previous.as_ref(), is_written)
            {
                Err(error) if error.is_gone() => continue,
                opened => opened?,
            };
            let mut file = match opened {
                Ok(file) => file,
                Err((place, reason)) if trust == Trust::All => {
                    check.refused = Some((FindingKind::DamagedIndex, place, reason));
                    break;
                }
                Err((place, _)) => {
                    check.refuse_unflushed(place, stamps.len() - at);
                    break;
                }
            };
            if !trust.believes(&file.header, shape, newest_ms) {
                check.refuse_unflushed((file.path.clone(), 0), stamps.len() - at);
                break;
            }
            newest_ms = newest_ms.max(file.header.end_timestamp_ms);
            check.survey.key_count += u64::from(file.header.next_number - FIRST_NUMBER);
            check.survey.end_position = file.header.end_position;
            file.close();
            check.files.push(file);
        }
        check.is_cut_short = check.refused.is_some();
        check.survey.file_count = check.files.len();
        Ok(check)
    }

    fn refuse_unflushed(&mut self, place: (PathBuf, u64), count: usize) {
        let files = counted(count as u64, "file", "files");
        let text = format!("{files} from here on, whose content on the disk is unknown");
        self.refused = Some((FindingKind::UnflushedIndex, place, text));
    }

    pub(super) fn survey(&self) -> IndexSurvey {
        self.survey
    }

    /// Reports what opening found; the log begins at `min_position`.
    pub(super) fn begin(&mut self, min_position: u64, findings: &mut Findings) {
        self.known_from = min_position;
        if let Some((kind, place, text)) = self.refused.take() {
            findings.add_in_file(kind, place, 0, text);
        }
    }

    /// Of the log before `next` something is missing or damaged: its entries prove nothing.
    pub(super) fn on_gap(&mut self, next: u64) {
        self.known_from = next;
    }

    pub(super) fn on_record(
        &mut self,
        record: &RecordView<'_>,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        each_hash(record, &mut self.text, |hash| hashes.push(hash));
        let tags =
            has_index_entries(record.sys_flag) && find_property(record.properties, TAGS).is_some();
        let tags_hash = hashes.last().copied().filter(|_| tags);
        while let Some(entry) = self.peek(findings)? {
            match entry.log_position.cmp(&record.log_position) {
                Ordering::Greater => break,
                Ordering::Less => self.on_stray(entry, findings),
                Ordering::Equal => {
                    let key = hashes.iter().position(|hash| *hash == entry.key_hash);
                    if let Some(at) = key {
                        hashes.remove(at);
                        self.check_times(entry, record, findings);
                    } else {
                        let (position, hash) = (record.log_position, entry.key_hash);
                        let text = format!(
                            "no key of the record at log position {position} has the hash {hash}"
                        );
                        self.on_wrong(entry, text, findings);
                    }
                }
            }
            self.current = None;
        }
        self.count_missing(record, &hashes, tags_hash);
        self.hashes = hashes;
        Ok(())
    }

    fn count_missing(&mut self, record: &RecordView<'_>, missing: &[i32], tags: Option<i32>) {
        if Some(record.log_position) <= self.expired_to {
            return;
        }
        let count = missing.len() as u64;
        // The newest record's keys may be there in part.
        if self.files.is_empty() || record.log_position >= self.survey.end_position {
            self.survey.waiting_count += count;
            return;
        }
        let lacks_tags = tags.is_some() && missing.last().copied() == tags;
        self.has_tags |= tags.is_some() && !lacks_tags;
        self.missing_tags_count += u64::from(lacks_tags);
        if count > 0 && self.survey.missing_count == 0 {
            self.first_missing = record.log_position;
        }
        self.survey.missing_count += count;
    }

    /// Reports what only the end of the log shows. Entries behind the end of a log that is to be
    /// cut are left out.
    pub(super) fn on_end(
        &mut self,
        end_position: u64,
        is_to_be_cut: bool,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let mut behind: Option<((PathBuf, u64), u64, u64)> = None;
        while let Some(entry) = self.peek(findings)? {
            if entry.log_position < end_position {
                self.on_stray(entry, findings);
            } else if is_to_be_cut {
                break;
            } else {
                let place = self.place();
                let first = behind.get_or_insert((place, entry.log_position, 0));
                first.2 += 1;
            }
            self.current = None;
        }
        if let Some((place, position, count)) = behind {
            let entries = counted(count, "entry", "entries");
            let text = format!("{entries} at or behind the log's end at {end_position}");
            findings.add_in_file(FindingKind::IndexBehindLog, place, position, text);
        }
        self.report_missing(findings);
        if self.survey.waiting_count > 0 && !self.is_in_use && !self.is_cut_short {
            let keys = counted(self.survey.waiting_count, "key", "keys");
            let text = format!("{keys} not indexed yet");
            let (kind, place) = (FindingKind::UnfinishedIndex, (self.dir.clone(), 0));
            findings.add_in_file(kind, place, self.survey.end_position, text);
        }
        Ok(())
    }

    fn report_missing(&mut self, findings: &mut Findings) {
        let place = || (self.dir.clone(), 0);
        if !self.has_tags && self.missing_tags_count > 0 {
            self.survey.missing_count -= self.missing_tags_count;
            let messages = counted(self.missing_tags_count, "message", "messages");
            let text = format!("{messages} with tags");
            findings.add_in_file(FindingKind::IndexWithoutTags, place(), 0, text);
        }
        let count = self.survey.missing_count;
        if count > 0 {
            let keys = counted(count, "key", "keys");
            let text = format!(
                "{keys} without an entry, the first of the record at log position {}",
                self.first_missing
            );
            findings.add_in_file(
                FindingKind::MissingIndexKeys,
                place(),
                self.first_missing,
                text,
            );
        }
    }

    /// The entry that the comparison is at. Entries that are out of order are reported and passed
    /// over.
    fn peek(&mut self, findings: &mut Findings) -> Result<Option<Entry>, StoreError> {
        while self.current.is_none() {
            let is_being_written = self.is_being_written();
            let Some(file) = self.files.get_mut(self.file) else {
                return Ok(None);
            };
            let next_number = file.header.next_number;
            if self.number == FIRST_NUMBER && !file.reopen()? {
                self.expired_to = Some(file.header.end_position);
                self.file += 1;
                continue;
            }
            if self.number >= next_number {
                if !is_being_written {
                    file.check_slots(&mut self.chains, findings)?;
                }
                self.chains.fill(0);
                file.close();
                (self.file, self.number) = (self.file + 1, FIRST_NUMBER);
                continue;
            }
            let number = self.number;
            self.number += 1;
            file.check_chain(number, &mut self.chains, findings)?;
            let Some(entry) = file.entry(number)? else {
                let text = "it points to a negative log position".into();
                findings.add_in_file(FindingKind::WrongIndexEntry, file.place(number, 4), 0, text);
                continue;
            };
            let next = if number + 1 < next_number {
                file.entry(number + 1)?
            } else {
                None
            };
            let (low, high) = (self.last_position, file.header.end_position);
            let high = next
                .map(|next| next.log_position)
                .filter(|next| (low..=high).contains(next))
                .unwrap_or(high);
            if (low..=high).contains(&entry.log_position) {
                self.last_position = entry.log_position;
                self.current = Some(entry);
            } else {
                let text = format!(
                    "it points to log position {}, its neighbours to {low} and {high}",
                    entry.log_position
                );
                findings.add_in_file(
                    FindingKind::WrongIndexEntry,
                    file.place(number, 4),
                    entry.log_position,
                    text,
                );
            }
        }
        Ok(self.current)
    }

    /// Whether a broker may be writing the file, so that what was read of it is not of one moment.
    fn is_being_written(&self) -> bool {
        self.is_in_use && self.file + 1 == self.files.len()
    }

    /// File and byte of the entry that the comparison is at.
    fn place(&self) -> (PathBuf, u64) {
        let file = self.files.get(self.file);
        file.map_or_else(Default::default, |file| file.place(self.number - 1, 0))
    }

    fn on_stray(&self, entry: Entry, findings: &mut Findings) {
        if entry.log_position >= self.known_from {
            let text = format!("no record begins at log position {}", entry.log_position);
            self.on_wrong(entry, text, findings);
        }
    }

    fn on_wrong(&self, entry: Entry, text: String, findings: &mut Findings) {
        findings.add_in_file(
            FindingKind::WrongIndexEntry,
            self.place(),
            entry.log_position,
            text,
        );
    }

    /// Compares times: those in the header with the first and the last record, the seconds of
    /// other entries with theirs.
    fn check_times(&mut self, entry: Entry, record: &RecordView<'_>, findings: &mut Findings) {
        let is_being_written = self.is_being_written();
        let Some(file) = self.files.get_mut(self.file) else {
            return;
        };
        let (number, stored_ms) = (self.number - 1, record.store_timestamp_ms);
        let header = file.header;
        let ends = [
            (number == FIRST_NUMBER, header.begin_timestamp_ms, 0),
            (
                number + 1 == header.next_number && !is_being_written,
                header.end_timestamp_ms,
                8,
            ),
        ];
        for (_, said_ms, byte) in ends.iter().filter(|end| end.0 && end.1 != stored_ms) {
            file.has_wrong_times |= *byte == 0;
            let text = format!("its header says {said_ms} ms, the record {stored_ms} ms");
            findings.add_in_file(
                FindingKind::DamagedIndex,
                (file.path.clone(), *byte),
                entry.log_position,
                text,
            );
        }
        // The first entry counts from the end of the file before, which may be gone.
        let seconds = header.elapsed_s(stored_ms);
        if number > FIRST_NUMBER && !file.has_wrong_times && entry.elapsed_s != seconds {
            let text = format!(
                "{} s after its file's begin, not {seconds} s",
                entry.elapsed_s
            );
            findings.add_in_file(
                FindingKind::WrongIndexEntry,
                file.place(number, 12),
                entry.log_position,
                text,
            );
        }
    }
}
