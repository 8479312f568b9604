//! The wheel: which entries of the timer log are due when. A ring of slots in a mapped file.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::files::{create_segment, remove_file, sync_parent};
use crate::sys::ExclusiveMap;
use crate::timer_layout::{SLOT_COUNT, SLOT_SIZE, Slot};

/// A wheel is looked at in so many parts of one size.
pub(crate) const PART_COUNT: u64 = 16;

#[derive(Debug)]
pub(crate) struct Wheel {
    path: PathBuf,
    map: ExclusiveMap,
}

impl Wheel {
    /// Makes an empty wheel in the place of the former one: the timer log has what that one held.
    pub(crate) fn create(path: &Path) -> Result<Self, StoreError> {
        remove_file(path)?;
        let size = SLOT_COUNT * SLOT_SIZE as u64;
        let file = create_segment(path, size, size)?;
        sync_parent(path)?;
        let map = ExclusiveMap::new(&file).map_err(|error| StoreError::io(path, error))?;
        let path = path.to_path_buf();
        Ok(Self { path, map })
    }

    /// What the file has in the place of a time, in steps: perhaps the slot of another time.
    pub(crate) fn held(&self, time: i64) -> Slot {
        let at = place_of(time);
        let slot = Slot::decode(&self.map.bytes()[at..at + SLOT_SIZE]);
        slot.filter(|slot| slot.time != 0)
            .unwrap_or(Slot::empty(time))
    }

    /// The slot of a time, in steps.
    pub(crate) fn slot(&self, time: i64) -> Slot {
        let held = self.held(time);
        if held.time == time {
            held
        } else {
            Slot::empty(time)
        }
    }

    pub(crate) fn put(&mut self, slot: &Slot) {
        let at = place_of(slot.time);
        slot.encode(&mut self.map.bytes_mut()[at..at + SLOT_SIZE]);
    }

    /// The slots with entries of one of [`PART_COUNT`] parts, in the order of the file.
    pub(crate) fn slots(&self, part: u64) -> impl Iterator<Item = Slot> {
        let slots = self.map.bytes().chunks_exact(SLOT_SIZE);
        #[allow(clippy::cast_possible_truncation)] // of a small file
        let (part, size) = (part as usize, (SLOT_COUNT / PART_COUNT) as usize);
        let slots = slots.skip(part * size).take(size);
        slots
            .filter_map(Slot::decode)
            .filter(|slot| slot.time != 0 && slot.last >= 0)
    }

    /// Whether all that was written went to the file.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let lost = self.map.loss();
        lost.map_or(Ok(()), |why| {
            Err(StoreError::io(&self.path, io::Error::other(why)))
        })
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)] // a ring of about a million slots
fn place_of(time: i64) -> usize {
    time.rem_euclid(SLOT_COUNT as i64) as usize * SLOT_SIZE
}
