//! Walks a whole store, counts what it holds and finds where its files disagree.

use super::control::{CheckpointSurvey, Control};
use super::finding::{Finding, FindingKind, counted};
use super::index::{IndexCheck, IndexSurvey};
use super::layout;
use super::queue_sizes;
use super::queues::QueueSurvey;
use super::walk::{LogWalk, Step};
use crate::config::StoreConfig;
use crate::epochs::Epoch;
use crate::error::StoreError;
use crate::unserved::refuse_queues;

mod state;
mod waiting;

use state::State;

/// A walk over a store that counts and, if asked to, compares.
#[derive(Debug)]
pub struct Survey {
    walk: LogWalk,
    control: Control,
    index: IndexCheck,
    state: State,
    is_over: bool,
}

impl Survey {
    /// Begins a survey of the store in `config.root` that only counts.
    ///
    /// # Errors
    /// The directory cannot be read, or holds queues that only stock serves.
    pub fn new(config: &StoreConfig) -> Result<Self, StoreError> {
        Self::begin(config, None)
    }

    /// Begins a survey that also compares everything else with the log. Of a store that is in use
    /// it does not report what every store in use has.
    ///
    /// # Errors
    /// As for [`Survey::new`].
    pub fn comparing(config: &StoreConfig, is_in_use: bool) -> Result<Self, StoreError> {
        Self::begin(config, Some(is_in_use))
    }

    fn begin(config: &StoreConfig, comparing: Option<bool>) -> Result<Self, StoreError> {
        let config = &config.clone().validated()?;
        refuse_queues(&config.root)?;
        let is_in_use = comparing.unwrap_or(true);
        let control = Control::load(&config.root)?;
        let trust = control.index_trust(is_in_use);
        // Before the log, whose newest records a store in use may index meanwhile.
        let index_dir = config.root.join("index");
        let index = IndexCheck::open(config, &index_dir, trust, is_in_use)?;
        let walk = control.walk(config)?.measured()?;
        let mut survey = Self {
            state: State::new(
                config,
                walk.segment_paths(),
                comparing,
                control.known_flushed_position(),
            ),
            walk,
            control,
            index,
            is_over: false,
        };
        if comparing.is_some() {
            let findings = &mut survey.state.findings;
            layout::check(&config.root, &config.log_dir(), is_in_use, findings)?;
            if !is_in_use {
                queue_sizes::check(&config.root, survey.control.was_clean(), findings)?;
            }
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
        self.state.queues()
    }

    /// Walks on over about so many bytes; `false` once the survey is over.
    ///
    /// # Errors
    /// A file cannot be read, or the log holds an inner batch, which only stock serves.
    pub fn advance(&mut self, bytes: u64) -> Result<bool, StoreError> {
        let until = self.walk.done_bytes().saturating_add(bytes);
        // What is to be cut is as good as gone.
        let cut_at = self.control.truncation_position().unwrap_or(u64::MAX);
        while self.walk.done_bytes() < until && !self.is_over {
            let state = &mut self.state;
            let step = self.walk.step()?;
            let crc_is_wrong = matches!(step, Some(Step::WrongCrc(_)));
            let (end_position, torn_bytes) = match step {
                Some(Step::Record(record) | Step::WrongCrc(record))
                    if record.log_position < cut_at =>
                {
                    if crc_is_wrong {
                        state.on_wrong_crc(record.log_position);
                    }
                    state.on_record(&record)?;
                    if state.compares {
                        self.index.on_record(&record, &mut state.findings)?;
                    }
                    continue;
                }
                Some(Step::Expired { position, next }) if position < cut_at => {
                    state.expire(next);
                    self.index.on_gap(next);
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
        state.report_wrong_crcs();
        let known_flushed = control.known_flushed_position();
        let is_cut_short = position < known_flushed;
        if is_cut_short {
            let text = format!("it was flushed up to {known_flushed}");
            state.find_gap(FindingKind::LostTail, position..u64::MAX, text);
        }
        if !state.compares {
            return Ok(());
        }
        let cut_at = control.truncation_position();
        if !is_cut_short && torn_bytes > 0 && cut_at.is_none() && !state.is_in_use {
            // Behind the end a broker is writing.
            let text = counted(torn_bytes, "byte", "bytes") + " behind the last record";
            state.find_in_log(FindingKind::TornRecord, position, text);
        }
        // What a broker wrote since the walk was at the end was not looked at.
        let end = if state.is_in_use { position } else { u64::MAX };
        state.check_strays(&(min_position..end.min(cut_at.unwrap_or(u64::MAX))))?;
        let findings = &mut state.findings;
        self.index.on_end(position, cut_at.is_some(), findings)?;
        // The record that the checkpoint speaks of may have expired before the walk came to it.
        let is_flushed_gone = state.expired_to > 0 && state.expired_to >= known_flushed;
        let newest_ms = (!is_flushed_gone).then_some(state.newest_timestamp_ms);
        control.on_end(min_position..position, newest_ms, findings);
        Ok(())
    }
}
