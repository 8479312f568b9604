//! Random work on a store, with the model kept beside it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use fastrand::Rng;
use regent_commitlog::{Epoch, EpochList, Retention, Store, StoreError};

use crate::message::Message;
use crate::model::{Model, check_cleared};
use crate::support::{NOW_MS, element};

pub struct Scenario {
    dir: PathBuf,
    pub store: Option<Store>,
    /// What the last step appended last.
    pub appended: Option<Message>,
    model: Arc<Mutex<Model>>,
    random: Rng,
    number: u64,
    now_ms: i64,
    epoch: i32,
}

impl Scenario {
    pub fn new(dir: &Path, model: Arc<Mutex<Model>>, seed: u64) -> Self {
        Self {
            dir: dir.to_path_buf(),
            store: None,
            appended: None,
            model,
            random: Rng::with_seed(seed),
            number: 0,
            now_ms: NOW_MS,
            epoch: 0,
        }
    }

    fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap()
    }

    fn store(&self) -> &Store {
        self.store.as_ref().expect("an open store")
    }

    /// Does something at random; an error is what the store answered.
    pub fn step(&mut self) -> Result<(), StoreError> {
        self.now_ms += self.random.i64(0..1_500);
        self.appended = None;
        if self.store.is_none() {
            let config = self.model().config(&self.dir);
            self.store = Some(Store::open(config, self.now_ms)?);
            return Ok(());
        }
        match self.random.u8(..40) {
            0 => self.reopen(),
            1 => self.truncate(),
            2 => self.expire(),
            3 => self.begin_epoch(),
            4..7 => self.flush_tick(),
            7..11 => self.index(),
            11..18 => self.flush(),
            18..21 => self.append_batch(),
            21 => self.append_unit(),
            22 => self.empty(),
            _ => self.append(),
        }
    }

    fn reopen(&mut self) -> Result<(), StoreError> {
        if self.random.bool() {
            self.store().close()?;
            let end = self.store().max_position();
            self.model().acked_end = end;
            check_cleared(&self.dir, end).expect("a closed store");
        }
        self.store = None;
        Ok(())
    }

    fn plan(&mut self, count: usize, is_of_one_queue: bool) -> Vec<Message> {
        let mut planned: Vec<Message> = Vec::new();
        for _ in 0..count {
            let mut message = Message::new(self.number, &mut self.random);
            if let Some(first) = planned.first().filter(|_| is_of_one_queue) {
                (message.topic, message.queue_id) = (first.topic, first.queue_id);
            }
            planned.push(message);
            self.number += 1;
        }
        self.model().messages.extend(planned.iter().cloned());
        planned
    }

    /// Notes where the newest messages went; without a place they were not appended.
    fn settle(&mut self, count: usize, places: &[(u64, u64)]) {
        let mut model = self.model.lock().unwrap();
        let first = model.messages.len() - count;
        if places.is_empty() {
            model.messages.truncate(first);
        }
        for (message, place) in model.messages[first..].iter_mut().zip(places) {
            message.place = Some(*place);
            self.appended = Some(message.clone());
        }
    }

    fn append(&mut self) -> Result<(), StoreError> {
        let planned = self.plan(1, true);
        if self.random.bool() {
            let (topic, queue_id) = (planned[0].topic, planned[0].queue_id);
            let made = self.store().make_queue_file(topic, queue_id, 1);
            if let Err(error) = made {
                self.settle(1, &[]);
                return Err(store_error(error));
            }
        }
        let done = self.store().writer().and_then(|mut writer| {
            let appended = writer.append(&planned[0].as_new(), self.now_ms);
            appended.map_err(store_error)
        });
        let place = |place: &regent_commitlog::Appended| (place.log_position, place.queue_offset);
        self.settle(1, done.as_ref().ok().map(place).as_slice());
        done.map(drop)
    }

    fn append_batch(&mut self) -> Result<(), StoreError> {
        let count = self.random.usize(1..5);
        let planned = self.plan(count, true);
        let elements = planned
            .iter()
            .map(|one| element(&one.body, one.properties.as_bytes()));
        let packed: Vec<u8> = elements.flatten().collect();
        let mut appended = Vec::new();
        let done = self.store().writer().and_then(|mut writer| {
            let shared = planned[0].as_new();
            let done = writer.append_batch(&shared, &packed, self.now_ms, &mut appended);
            done.map_err(store_error)
        });
        let places = appended
            .iter()
            .map(|one| (one.log_position, one.queue_offset));
        self.settle(count, &places.collect::<Vec<_>>());
        done
    }

    fn append_unit(&mut self) -> Result<(), StoreError> {
        let count = self.random.usize(1..5);
        let planned = self.plan(count, false);
        let messages: Vec<_> = planned.iter().map(Message::as_new).collect();
        let done = self.store().writer().and_then(|mut writer| {
            let appended = writer.append_unit(&messages, self.now_ms);
            appended.map_err(store_error)
        });
        let places = done.iter().flatten();
        let places = places.map(|one| (one.log_position, one.queue_offset));
        self.settle(count, &places.collect::<Vec<_>>());
        done.map(drop)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let position = self.store().flush()?;
        self.model().acked_end = position;
        Ok(())
    }

    fn flush_tick(&mut self) -> Result<(), StoreError> {
        self.now_ms += self.random.i64(0..12_000);
        self.store().flush_tick(self.now_ms)?;
        let position = self.store().flushed_position();
        self.model().acked_end = position;
        Ok(())
    }

    fn index(&mut self) -> Result<(), StoreError> {
        self.store().advance_followers(self.now_ms, 0).map(drop)
    }

    fn begin_epoch(&mut self) -> Result<(), StoreError> {
        self.epoch += 1;
        let begun = Epoch {
            number: self.epoch,
            start_position: self.store().max_position(),
        };
        let mut list = self.store().epochs();
        list.append(begun)?;
        self.model().epochs.push(list.clone());
        self.store().begin_epoch(self.epoch)?;
        self.model().epochs = vec![list];
        Ok(())
    }

    fn truncate(&mut self) -> Result<(), StoreError> {
        let min = self.store().min_position();
        let places: Vec<_> = self
            .model()
            .messages
            .iter()
            .filter_map(|one| one.place)
            .collect();
        let kept = places.len() / 2;
        let choices = places[kept..].iter().filter(|place| place.0 >= min);
        let Some((cut, _)) = self.random.choice(choices.collect::<Vec<_>>()) else {
            return Ok(());
        };
        let mut list = self.store().epochs();
        list.cut_from(*cut);
        self.model().cut = Some(*cut);
        self.model().epochs.push(list.clone());
        self.store
            .as_mut()
            .expect("an open store")
            .truncate_to(*cut)?;
        let mut model = self.model();
        model.cut = None;
        model
            .messages
            .retain(|one| one.place.is_some_and(|place| place.0 < *cut));
        model.acked_end = *cut;
        model.epochs = vec![list];
        Ok(())
    }

    fn empty(&mut self) -> Result<(), StoreError> {
        self.model().cut = Some(0);
        self.model().epochs.push(EpochList::default());
        self.store.as_mut().expect("an open store").empty()?;
        let mut model = self.model();
        model.cut = None;
        model.messages.clear();
        (model.acked_end, model.min_allowed) = (0, 0);
        model.epochs = vec![self.store().epochs()];
        Ok(())
    }

    fn expire(&mut self) -> Result<(), StoreError> {
        let list = self.store().epochs();
        let end = self.store().max_position();
        let mut positions = vec![0, end];
        positions.extend(list.as_slice().iter().map(|epoch| epoch.start_position));
        let cut = |position: u64| {
            let mut list = list.clone();
            list.cut_before(position);
            list
        };
        self.model().epochs = positions.into_iter().map(cut).collect();
        self.model().min_allowed = end;
        let retention = Retention {
            log_bytes_max: Some(0),
            segment_count_max: self.random.usize(1..3),
            ..Retention::default()
        };
        self.store().expire(&retention, self.now_ms)?;
        let (min, epochs) = (self.store().min_position(), self.store().epochs());
        let mut model = self.model();
        model.min_allowed = min;
        model.epochs = vec![epochs];
        Ok(())
    }
}

fn store_error(error: regent_commitlog::AppendError) -> StoreError {
    match error {
        regent_commitlog::AppendError::Store(error) => error,
        other => panic!("{other}"),
    }
}
