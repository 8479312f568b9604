//! Walks a whole store, counts what it holds and finds where its files disagree.

use std::collections::hash_map::Entry;
use std::ops::Range;
use std::path::PathBuf;

use ahash::AHashMap;

use super::control::{CheckpointSurvey, Control};
use super::finding::{Finding, FindingKind, Findings, counted};
use super::index::{IndexCheck, IndexSurvey};
use super::layout;
use super::queues::{QueueFiles, QueueSurvey};
use super::walk::{LogWalk, Step};
use crate::config::StoreConfig;
use crate::epochs::Epoch;
use crate::error::StoreError;
use crate::message::QueueEntry;
use crate::properties::tags_code;
use crate::record::{RecordView, is_inner_batch, occupies_queue};
use crate::stored_queue::list_queues;
use crate::table::{SCHEDULE_TOPIC, is_legal_topic};

#[derive(Debug)]
struct Queue {
    survey: QueueSurvey,
    files: Option<QueueFiles>,
    /// Entries that were met at a record's offset, right or wrong.
    met_count: u64,
}

/// A walk over a store that counts and, if asked to, compares.
#[derive(Debug)]
pub struct Survey {
    walk: LogWalk,
    control: Control,
    index: IndexCheck,
    state: State,
    is_over: bool,
}

#[derive(Debug)]
struct State {
    queues_dir: PathBuf,
    compares: bool,
    delay_levels_ms: Vec<i64>,
    segments: Vec<(u64, PathBuf)>,
    /// Where the log is damaged, missing or lost.
    gaps: Vec<Range<u64>>,
    queues: AHashMap<String, AHashMap<i32, Queue>>,
    end_position: u64,
    newest_timestamp_ms: i64,
    findings: Findings,
}

impl Survey {
    /// Begins a survey of the store in `config.root` that only counts.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn new(config: &StoreConfig) -> Result<Self, StoreError> {
        Self::begin(config, None)
    }

    /// Begins a survey that also compares everything else with the log; of a store that is in use
    /// it does not tell what every such store has.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn comparing(config: &StoreConfig, is_in_use: bool) -> Result<Self, StoreError> {
        Self::begin(config, Some(is_in_use))
    }

    fn begin(config: &StoreConfig, comparing: Option<bool>) -> Result<Self, StoreError> {
        let config = &config.clone().validated()?;
        let is_in_use = comparing.unwrap_or(true);
        let control = Control::load(&config.root)?;
        let trust = control.index_trust(is_in_use);
        // Before the log, whose newest records a store in use may index meanwhile.
        let index_dir = config.root.join("index");
        let index = IndexCheck::open(config, &index_dir, trust, is_in_use)?;
        let default_dir = config.root.join("commitlog");
        let log_dir = config.commit_log_dir.as_deref().unwrap_or(&default_dir);
        let walk = LogWalk::new(log_dir)?.flushed_to(control.known_flushed_position());
        let mut survey = Self {
            state: State {
                queues_dir: config.root.join("consumequeue"),
                compares: comparing.is_some(),
                delay_levels_ms: config.delay_levels_ms.clone(),
                segments: walk.segment_paths(),
                gaps: Vec::new(),
                queues: AHashMap::new(),
                end_position: 0,
                newest_timestamp_ms: 0,
                findings: Findings::default(),
            },
            walk,
            control,
            index,
            is_over: false,
        };
        if comparing.is_some() {
            let findings = &mut survey.state.findings;
            layout::check(&config.root, log_dir, is_in_use, findings)?;
            survey
                .control
                .begin(is_in_use, survey.walk.total_bytes() > 0, findings);
            survey.index.begin(survey.walk.min_position(), findings);
        }
        Ok(survey)
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

    /// What was found, the first thousand. Before the first step that is what needs no look into
    /// the log.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        self.state.findings.kept()
    }

    /// How much was found, all of it.
    #[must_use]
    pub fn finding_count(&self) -> u64 {
        self.state.findings.count()
    }

    /// The key index: what its files say, and once the survey is over what is missing in it.
    #[must_use]
    pub fn index(&self) -> IndexSurvey {
        self.index.survey()
    }

    /// The epochs that a store would go by.
    #[must_use]
    pub fn epochs(&self) -> &[Epoch] {
        self.control.epochs()
    }

    /// The checkpoint, if there is one.
    #[must_use]
    pub fn checkpoint(&self) -> Option<CheckpointSurvey> {
        self.control.checkpoint()
    }

    /// Where the next start will cut the log, if a truncation is under way.
    #[must_use]
    pub fn truncation_position(&self) -> Option<u64> {
        self.control.truncation_position()
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
        // What is to be cut is as good as gone.
        let cut_at = self.control.truncation_position().unwrap_or(u64::MAX);
        while self.walk.done_bytes() < until && !self.is_over {
            let state = &mut self.state;
            let (end_position, torn_bytes) = match self.walk.step()? {
                Some(Step::Record(record)) if record.log_position < cut_at => {
                    state.on_record(&record)?;
                    if state.compares {
                        self.index.on_record(&record, &mut state.findings)?;
                    }
                    continue;
                }
                Some(Step::Damaged {
                    position,
                    damage,
                    next,
                }) if position < cut_at => {
                    let text = format!("{damage}; records go on at {next}");
                    state.find_gap(FindingKind::DamagedLog, position..next, text);
                    self.index.on_gap(next);
                    continue;
                }
                Some(Step::Missing { position, next }) if position < cut_at => {
                    let text = format!("the next segment begins at {next}");
                    state.find_gap(FindingKind::MissingSegments, position..next, text);
                    self.index.on_gap(next);
                    continue;
                }
                Some(Step::End {
                    position,
                    torn_bytes,
                }) => (position.min(cut_at), torn_bytes),
                Some(_) => (cut_at, 0),
                None => return Ok(false),
            };
            self.on_end(end_position, torn_bytes)?;
        }
        Ok(!self.is_over)
    }

    fn on_end(&mut self, position: u64, torn_bytes: u64) -> Result<(), StoreError> {
        self.is_over = true;
        let min_position = self.walk.min_position();
        let (control, state) = (&self.control, &mut self.state);
        state.end_position = position;
        if !state.compares {
            return Ok(());
        }
        let cut_at = control.truncation_position();
        let known_flushed = control.known_flushed_position();
        if position < known_flushed {
            let text = format!("it was flushed up to {known_flushed}");
            state.find_gap(FindingKind::LostTail, position..u64::MAX, text);
        } else if torn_bytes > 0 && cut_at.is_none() {
            let text = counted(torn_bytes, "byte", "bytes") + " behind the last record";
            state.find_in_log(FindingKind::TornRecord, position, text);
        }
        state.check_strays(&(min_position..cut_at.unwrap_or(u64::MAX)))?;
        let findings = &mut state.findings;
        self.index.on_end(position, cut_at.is_some(), findings)?;
        control.on_end(min_position..position, state.newest_timestamp_ms, findings);
        Ok(())
    }
}

impl State {
    fn on_record(&mut self, record: &RecordView<'_>) -> Result<(), StoreError> {
        self.newest_timestamp_ms = self.newest_timestamp_ms.max(record.store_timestamp_ms);
        if !occupies_queue(record.sys_flag) || is_inner_batch(record.sys_flag) {
            return Ok(());
        }
        let topic = String::from_utf8_lossy(record.topic);
        let expected = self.expected(&topic, record);
        let queue = self.queue(&topic, record.queue_id)?;
        queue.survey.count(record);
        let Some(files) = &mut queue.files else {
            return Ok(());
        };
        let kind = match files.entry(record.queue_offset)? {
            // A topic that was deleted and made again counts its offsets from 0 again.
            Some(entry) if entry.log_position > record.log_position => return Ok(()),
            Some(entry) => {
                queue.met_count += 1;
                if entry == expected {
                    return Ok(());
                }
                FindingKind::WrongEntry
            }
            None => FindingKind::MissingEntry,
        };
        let (file, byte) = files.place(record.queue_offset);
        let text = format!("for the record at log position {}", record.log_position);
        self.findings.add(Finding {
            kind,
            queue: format!("{topic}/{}", record.queue_id),
            position: record.queue_offset,
            file,
            byte,
            text,
        });
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
                let dir = self.queues_dir.join(topic).join(queue_id.to_string());
                let is_there = is_legal_topic(topic) && dir.is_dir();
                let files = (self.compares && is_there)
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
                }))
            }
        }
    }

    /// Compares how many entries each queue has with how many were expected.
    fn check_strays(&mut self, positions: &Range<u64>) -> Result<(), StoreError> {
        for (topic, queue_id) in list_queues(&self.queues_dir)? {
            self.queue(&topic, queue_id)?;
        }
        let mut found = Vec::new();
        let queues = self.queues.values_mut();
        for queue in queues.flat_map(|queues| queues.values_mut()) {
            let survey = &queue.survey;
            let place = format!("{}/{}", survey.topic, survey.queue_id);
            let Some(files) = &mut queue.files else {
                let records = counted(survey.record_count, "record", "records");
                found.push(Finding {
                    kind: FindingKind::AbsentQueue,
                    position: survey.min_offset,
                    file: self.queues_dir.join(&place),
                    byte: 0,
                    queue: place,
                    text: format!("{records} in the log, no queue files"),
                });
                continue;
            };
            let count = files.count_in(positions, &self.gaps)?;
            let mut tell = |kind, position, text| {
                let (file, byte) = files.place(position);
                found.push(Finding {
                    kind,
                    queue: place.clone(),
                    position,
                    file,
                    byte,
                    text,
                });
            };
            if let Some(offset) = count.first_lost {
                let text = counted(count.lost, "message", "messages")
                    + " where the log is damaged or missing, this one first";
                tell(FindingKind::LostMessages, offset, text);
            }
            if count.present > queue.met_count {
                let strays = count.present - queue.met_count;
                let text = counted(strays, "entry", "entries") + " without a record";
                tell(FindingKind::StrayEntries, survey.max_offset, text);
            }
        }
        found.sort_unstable_by(|one, other| one.queue.cmp(&other.queue));
        for found in found {
            self.findings.add(found);
        }
        Ok(())
    }

    fn find_gap(&mut self, kind: FindingKind, gap: Range<u64>, text: String) {
        self.find_in_log(kind, gap.start, text);
        self.gaps.push(gap);
    }

    fn find_in_log(&mut self, kind: FindingKind, position: u64, text: String) {
        let begun = self.segments.iter().rfind(|(base, _)| *base <= position);
        let place = begun.map(|(base, path)| (path.clone(), position - base));
        let place = place.unwrap_or_default();
        self.findings.add_in_file(kind, place, position, text);
    }
}
