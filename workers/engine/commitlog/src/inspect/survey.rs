//! Walks a whole store, counts what it holds and finds where its files disagree.

use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use ahash::AHashMap;

use super::queue_survey::QueueSurvey;
use super::queues::QueueFiles;
use super::walk::{LogWalk, Step};
use crate::checkpoint::Checkpoint;
use crate::error::StoreError;
use crate::message::QueueEntry;
use crate::properties::tags_code;
use crate::queue_places::{LIGHT_QUEUE_ID, light_places};
use crate::record::{RecordView, occupies_queue};
use crate::stored_queue::list_queues;
use crate::table::{SCHEDULE_TOPIC, is_legal_topic};

/// Findings kept; more are only counted.
const FINDINGS_KEPT_MAX: usize = 1000;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// Bytes in the log that are no record, with records behind them.
    DamagedLog,
    /// Segments between two others are gone.
    MissingSegments,
    /// The log ends before the position it was flushed to.
    LostTail,
    /// A record torn by a crash; the next start cuts it.
    TornRecord,
    /// A record without its queue entry; the next start after a crash, or a rebuild, writes it.
    MissingEntry,
    /// A queue entry that does not fit its record; a rebuild writes it anew.
    WrongEntry,
    /// Queue entries without a record; a rebuild drops them.
    StrayEntries,
    /// A queue whose files are gone, as after its topic was deleted.
    AbsentQueue,
}

impl FindingKind {
    /// A stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DamagedLog => "damaged_log",
            Self::MissingSegments => "missing_segments",
            Self::LostTail => "lost_tail",
            Self::TornRecord => "torn_record",
            Self::MissingEntry => "missing_entry",
            Self::WrongEntry => "wrong_entry",
            Self::StrayEntries => "stray_entries",
            Self::AbsentQueue => "absent_queue",
        }
    }

    /// How bad it is: `lost` for messages that cannot be read, `derived` for what a rebuild from
    /// the log brings right, `note` for what is no fault.
    #[must_use]
    pub fn severity(self) -> &'static str {
        match self {
            Self::DamagedLog | Self::MissingSegments | Self::LostTail => "lost",
            Self::MissingEntry | Self::WrongEntry | Self::StrayEntries => "derived",
            Self::TornRecord | Self::AbsentQueue => "note",
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The queue, as `topic/queue id`; empty for the log itself.
    pub queue: String,
    /// A log position for the log, a queue offset for a queue.
    pub position: u64,
    /// What was found there.
    pub text: String,
}

#[derive(Debug)]
struct Queue {
    survey: QueueSurvey,
    files: Option<QueueFiles>,
    /// Entries that were met at a record's offset, right or wrong.
    met_count: u64,
    /// Its entries are only counted, not compared.
    is_batch: bool,
}

/// A walk over a store that counts and, if asked to, compares.
#[derive(Debug)]
pub struct Survey {
    walk: LogWalk,
    state: State,
}

#[derive(Debug)]
struct State {
    queues_dir: PathBuf,
    batch_queues_dir: PathBuf,
    checks_queues: bool,
    delay_levels_ms: Vec<i64>,
    known_flushed_position: u64,
    queues: AHashMap<String, AHashMap<i32, Queue>>,
    end_position: u64,
    findings: Vec<Finding>,
    finding_count: u64,
}

impl Survey {
    /// Begins a survey of the store in `root`.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn new(
        root: &Path,
        commit_log_dir: Option<&Path>,
        delay_levels_ms: &[i64],
        checks_queues: bool,
    ) -> Result<Self, StoreError> {
        let default_dir = root.join("commitlog");
        Ok(Self {
            walk: LogWalk::new(commit_log_dir.unwrap_or(&default_dir))?,
            state: State {
                queues_dir: root.join("consumequeue"),
                batch_queues_dir: root.join("batchconsumequeue"),
                checks_queues,
                delay_levels_ms: delay_levels_ms.to_vec(),
                known_flushed_position: Checkpoint::load(&root.join("checkpoint"))?
                    .known_flushed_position(),
                queues: AHashMap::new(),
                end_position: 0,
                findings: Vec::new(),
                finding_count: 0,
            },
        })
    }

    /// Bytes to walk over.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.walk.total_bytes()
    }

    /// Bytes walked over.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        self.walk.done_bytes()
    }

    /// Where the log begins.
    #[must_use]
    pub fn min_position(&self) -> u64 {
        self.walk.min_position()
    }

    /// Where the log ends, once the survey is over.
    #[must_use]
    pub fn end_position(&self) -> u64 {
        self.state.end_position
    }

    /// What was found, the first thousand.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.state.findings
    }

    /// How much was found, all of it.
    #[must_use]
    pub fn finding_count(&self) -> u64 {
        self.state.finding_count
    }

    /// The queues, by topic and id.
    #[must_use]
    pub fn queues(&self) -> Vec<QueueSurvey> {
        let queues = self
            .state
            .queues
            .values()
            .flat_map(|queues| queues.values());
        let mut surveys: Vec<_> = queues.map(|queue| queue.survey.clone()).collect();
        surveys.sort_unstable_by(|one, other| {
            (&one.topic, one.queue_id).cmp(&(&other.topic, other.queue_id))
        });
        surveys
    }

    /// Walks on over about so many bytes; `false` once the survey is over.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn advance(&mut self, bytes: u64) -> Result<bool, StoreError> {
        let until = self.walk.done_bytes().saturating_add(bytes);
        let min_position = self.walk.min_position();
        while self.walk.done_bytes() < until {
            match self.walk.step()? {
                Some(Step::Record(record)) => self.state.on_record(&record)?,
                Some(Step::Damaged {
                    position,
                    damage,
                    next,
                }) => {
                    let text = format!("{damage}; records go on at {next}");
                    self.state
                        .find_in_log(FindingKind::DamagedLog, position, text);
                }
                Some(Step::Missing { position, next }) => {
                    let text = format!("the next segment begins at {next}");
                    self.state
                        .find_in_log(FindingKind::MissingSegments, position, text);
                }
                Some(Step::End {
                    position,
                    torn_bytes,
                }) => {
                    self.state.on_end(min_position, position, torn_bytes)?;
                    return Ok(false);
                }
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

impl State {
    fn on_record(&mut self, record: &RecordView<'_>) -> Result<(), StoreError> {
        if !occupies_queue(record.sys_flag) {
            return Ok(());
        }
        let topic = String::from_utf8_lossy(record.topic);
        let expected = self.expected(&topic, record);
        let own = (&*topic, record.queue_id, record.queue_offset);
        self.on_place(own, record, &expected)?;
        if !self.queue(&topic, record.queue_id)?.is_batch {
            for (name, offset) in light_places(record) {
                // Only those that are there: a broker may not make them.
                if self.queues.contains_key(name) || self.queues_dir.join(name).is_dir() {
                    self.on_place((name, LIGHT_QUEUE_ID, offset), record, &expected)?;
                }
            }
        }
        Ok(())
    }

    /// Counts and compares a record in the queue, and at the offset in it, where it belongs.
    fn on_place(
        &mut self,
        (topic, queue_id, offset): (&str, i32, u64),
        record: &RecordView<'_>,
        expected: &QueueEntry,
    ) -> Result<(), StoreError> {
        let queue = self.queue(topic, queue_id)?;
        queue.survey.count(record, offset);
        let Some(files) = &mut queue.files else {
            return Ok(());
        };
        let kind = match files.entry(offset)? {
            // A topic that was deleted and made again counts its offsets from 0 again.
            Some(entry) if entry.log_position > record.log_position => return Ok(()),
            Some(entry) => {
                queue.met_count += 1;
                if entry == *expected {
                    return Ok(());
                }
                FindingKind::WrongEntry
            }
            None => FindingKind::MissingEntry,
        };
        let place = format!("{topic}/{queue_id}");
        let text = format!("for the record at log position {}", record.log_position);
        self.find(kind, place, offset, text);
        Ok(())
    }

    fn expected(&self, topic: &str, record: &RecordView<'_>) -> QueueEntry {
        let levels = (topic == SCHEDULE_TOPIC).then_some(&*self.delay_levels_ms);
        #[allow(clippy::cast_possible_truncation)] // a record's size is a 32-bit integer
        let size = record.bytes.len() as u32;
        QueueEntry {
            log_position: record.log_position,
            size,
            tags_code: tags_code(record.properties, record.store_timestamp_ms, levels),
        }
    }

    fn queue(&mut self, topic: &str, queue_id: i32) -> Result<&mut Queue, StoreError> {
        let queues = self.queues.entry(topic.to_owned()).or_default();
        match queues.entry(queue_id) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let name = Path::new(topic).join(queue_id.to_string());
                let dir = self.queues_dir.join(&name);
                let is_there = is_legal_topic(topic) && dir.is_dir();
                let is_batch = is_legal_topic(topic) && self.batch_queues_dir.join(name).is_dir();
                let files = (self.checks_queues && is_there)
                    .then(|| QueueFiles::open(&dir))
                    .transpose()?;
                let survey = QueueSurvey {
                    topic: topic.to_owned(),
                    queue_id,
                    ..QueueSurvey::default()
                };
                Ok(place.insert(Queue {
                    survey,
                    files,
                    met_count: 0,
                    is_batch,
                }))
            }
        }
    }

    fn on_end(&mut self, min: u64, position: u64, torn_bytes: u64) -> Result<(), StoreError> {
        self.end_position = position;
        if position < self.known_flushed_position {
            let text = format!("it was flushed up to {}", self.known_flushed_position);
            self.find_in_log(FindingKind::LostTail, position, text);
        } else if torn_bytes > 0 {
            let text = format!("{torn_bytes} bytes behind the last record");
            self.find_in_log(FindingKind::TornRecord, position, text);
        }
        if self.checks_queues {
            self.check_strays(min)?;
        }
        Ok(())
    }

    /// Compares how many entries each queue has with how many were expected.
    fn check_strays(&mut self, min_position: u64) -> Result<(), StoreError> {
        for (topic, queue_id) in list_queues(&self.queues_dir)? {
            self.queue(&topic, queue_id)?;
        }
        let mut found = Vec::new();
        for queue in self
            .queues
            .values_mut()
            .flat_map(|queues| queues.values_mut())
        {
            if queue.is_batch {
                continue;
            }
            let survey = &queue.survey;
            let place = format!("{}/{}", survey.topic, survey.queue_id);
            let Some(files) = &mut queue.files else {
                let text = format!("{} records in the log, no queue files", survey.record_count);
                found.push((FindingKind::AbsentQueue, place, survey.min_offset, text));
                continue;
            };
            let count = files.count_from(min_position)?;
            if count > queue.met_count {
                let text = format!("{} entries without a record", count - queue.met_count);
                found.push((FindingKind::StrayEntries, place, survey.max_offset, text));
            }
        }
        found.sort_unstable_by(|one, other| one.1.cmp(&other.1));
        for (kind, place, position, text) in found {
            self.find(kind, place, position, text);
        }
        Ok(())
    }

    fn find_in_log(&mut self, kind: FindingKind, position: u64, text: String) {
        self.find(kind, String::new(), position, text);
    }

    fn find(&mut self, kind: FindingKind, queue: String, position: u64, text: String) {
        self.finding_count += 1;
        if self.findings.len() < FINDINGS_KEPT_MAX {
            self.findings.push(Finding {
                kind,
                queue,
                position,
                text,
            });
        }
    }
}
