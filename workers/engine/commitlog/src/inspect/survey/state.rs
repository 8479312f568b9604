//! What a survey has counted, and where queues disagree with the log.

use std::collections::hash_map::Entry;
use std::ops::Range;
use std::path::PathBuf;

use ahash::AHashMap;

use super::super::finding::{Finding, FindingKind, Findings, counted};
use super::super::queues::{Lookup, QueueFiles, QueueSurvey};
use super::waiting::{Place, Waiting};
use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::message::QueueEntry;
use crate::properties::tags_code;
use crate::record::{RecordView, occupies_queue};
use crate::stored_queue::list_queues;
use crate::table::{SCHEDULE_TOPIC, is_legal_topic};
use crate::unserved::refuse_inner_batch;

#[derive(Debug)]
struct Queue {
    survey: QueueSurvey,
    files: Option<QueueFiles>,
    /// Entries that were met at a record's offset, right or wrong.
    met_count: u64,
}

#[derive(Debug)]
pub(super) struct State {
    queues_dir: PathBuf,
    pub(super) compares: bool,
    pub(super) is_in_use: bool,
    delay_levels_ms: Vec<i64>,
    segments: Vec<(u64, PathBuf)>,
    /// Where the log is damaged, missing or lost.
    gaps: Vec<Range<u64>>,
    /// The log before this expired while it was walked over.
    pub(super) expired_to: u64,
    /// Records whose CRC property is wrong although their store does not use it, and the first.
    wrong_crc_count: u64,
    first_wrong_crc: u64,
    queues: AHashMap<String, AHashMap<i32, Queue>>,
    waiting: Waiting,
    pub(super) end_position: u64,
    pub(super) newest_timestamp_ms: i64,
    pub(super) findings: Findings,
}

impl State {
    /// `comparing` says whether the store is in use; its log was flushed up to `flushed`.
    pub(super) fn new(
        config: &StoreConfig,
        segments: Vec<(u64, PathBuf)>,
        comparing: Option<bool>,
        flushed: u64,
    ) -> Self {
        Self {
            queues_dir: config.root.join("consumequeue"),
            compares: comparing.is_some(),
            is_in_use: comparing == Some(true),
            delay_levels_ms: config.delay_levels_ms.clone(),
            segments,
            gaps: Vec::new(),
            expired_to: 0,
            wrong_crc_count: 0,
            first_wrong_crc: 0,
            queues: AHashMap::new(),
            waiting: Waiting::new(flushed),
            end_position: 0,
            newest_timestamp_ms: 0,
            findings: Findings::default(),
        }
    }

    /// The queues, by topic and id.
    pub(super) fn queues(&self) -> Vec<QueueSurvey> {
        let queues = self.queues.values().flat_map(|queues| queues.values());
        let mut surveys: Vec<_> = queues.map(|queue| queue.survey.clone()).collect();
        surveys.sort_unstable_by(|one, other| {
            (&one.topic, one.queue_id).cmp(&(&other.topic, other.queue_id))
        });
        surveys
    }

    pub(super) fn on_record(&mut self, record: &RecordView<'_>) -> Result<(), StoreError> {
        refuse_inner_batch(record)?;
        self.newest_timestamp_ms = self.newest_timestamp_ms.max(record.store_timestamp_ms);
        if !occupies_queue(record.sys_flag) {
            return Ok(());
        }
        let topic = String::from_utf8_lossy(record.topic);
        let expected = self.expected(&topic, record);
        let (queue_id, offset) = (record.queue_id, record.queue_offset);
        let queue = self.queue(&topic, queue_id)?;
        queue.survey.count(record);
        let Some(files) = &mut queue.files else {
            return Ok(());
        };
        let lookup = files.entry_like(offset, &expected)?;
        if lookup == Lookup::Entry(expected) {
            queue.met_count += 1;
            return if self.waiting.has_come_to(record.log_position) {
                self.settle_waiting()
            } else {
                Ok(())
            };
        }
        let place = Place {
            topic: topic.into_owned(),
            queue_id,
            offset,
            expected,
        };
        let may_come = self.is_in_use && self.waiting.may_come(record.log_position);
        if lookup != Lookup::Absent || !may_come {
            return self.judge(&place, lookup);
        }
        self.waiting.push(place);
        if self.waiting.is_full() {
            self.settle_waiting()?;
        }
        Ok(())
    }

    /// Looks again at entries that were missing, which a broker must have written by now.
    fn settle_waiting(&mut self) -> Result<(), StoreError> {
        for place in self.waiting.take() {
            let queue = self.queue(&place.topic, place.queue_id)?;
            if let Some(files) = &mut queue.files {
                let lookup = files.entry_like(place.offset, &place.expected)?;
                self.judge(&place, lookup)?;
            }
        }
        Ok(())
    }

    /// Reports what is wrong with the entry of a record.
    fn judge(&mut self, place: &Place, lookup: Lookup) -> Result<(), StoreError> {
        let log_position = place.expected.log_position;
        let queue = self.queue(&place.topic, place.queue_id)?;
        let Some(files) = &mut queue.files else {
            return Ok(());
        };
        let kind = match lookup {
            // A topic that was deleted and made again counts its offsets from 0 again.
            Lookup::Entry(entry) if entry.log_position > log_position => return Ok(()),
            Lookup::Gone => return Ok(()),
            Lookup::Entry(entry) => {
                queue.met_count += 1;
                if entry == place.expected {
                    return Ok(());
                }
                FindingKind::WrongEntry
            }
            Lookup::Absent => FindingKind::MissingEntry,
        };
        let (file, byte) = files.place(place.offset);
        if kind == FindingKind::MissingEntry && self.has_expired(log_position) {
            return Ok(());
        }
        let text = format!("for the record at log position {log_position}");
        self.findings.add(Finding {
            kind,
            queue: format!("{}/{}", place.topic, place.queue_id),
            position: place.offset,
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
                    .then(|| QueueFiles::open(&dir, self.is_in_use))
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

    /// Compares how many entries for these log positions each queue has with how many were
    /// expected.
    pub(super) fn check_strays(&mut self, positions: &Range<u64>) -> Result<(), StoreError> {
        // An entry that was waited for in vain may be there by now, and those behind it.
        let end = positions.end.min(self.waiting.first_position());
        let positions = &(positions.start.max(self.expired_to)..end);
        for (topic, queue_id) in list_queues(&self.queues_dir)? {
            self.queue(&topic, queue_id)?;
        }
        let mut found = Vec::new();
        let queues = self.queues.values_mut();
        for queue in queues.flat_map(|queues| queues.values_mut()) {
            let survey = &queue.survey;
            let place = format!("{}/{}", survey.topic, survey.queue_id);
            let Some(files) = &mut queue.files else {
                let has_come = self.is_in_use && self.queues_dir.join(&place).is_dir();
                if has_come {
                    continue;
                }
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

    /// Counts a record whose CRC property is wrong; the count is reported at the end. A sender can
    /// make as many such records as it likes, and they must not crowd out other findings.
    pub(super) fn on_wrong_crc(&mut self, position: u64) {
        if self.wrong_crc_count == 0 {
            self.first_wrong_crc = position;
        }
        self.wrong_crc_count += 1;
    }

    pub(super) fn report_wrong_crcs(&mut self) {
        if self.wrong_crc_count > 0 {
            let records = counted(self.wrong_crc_count, "record", "records");
            let text = format!("{records} whose own checksum does not fit, this one first");
            self.find_in_log(FindingKind::WrongRecordCrc, self.first_wrong_crc, text);
        }
    }

    /// Whether a broker removed the segment with a record, and then its queue entries, since.
    fn has_expired(&self, position: u64) -> bool {
        let segment = segment_of(&self.segments, position);
        self.is_in_use && segment.is_some_and(|(_, path)| !path.exists())
    }

    pub(super) fn expire(&mut self, next: u64) {
        self.expired_to = next;
    }

    pub(super) fn find_gap(&mut self, kind: FindingKind, gap: Range<u64>, text: String) {
        self.find_in_log(kind, gap.start, text);
        self.gaps.push(gap);
    }

    pub(super) fn find_in_log(&mut self, kind: FindingKind, position: u64, text: String) {
        let begun = segment_of(&self.segments, position);
        let place = begun.map(|(base, path)| (path.clone(), position - base));
        let place = place.unwrap_or_default();
        self.findings.add_in_file(kind, place, position, text);
    }
}

/// The segment that holds a log position, or would.
fn segment_of(segments: &[(u64, PathBuf)], position: u64) -> Option<&(u64, PathBuf)> {
    segments.iter().rfind(|(base, _)| *base <= position)
}
