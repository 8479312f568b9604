//! Lists that run through one slab: a pull stands in one of each kind, and leaves it from any place.

use super::ParkedPull;

const KIND_COUNT: usize = 3;

/// What a list is of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// The pulls at a queue.
    Queue,
    /// The pulls of a connection.
    Connection,
    /// The pulls whose deadlines are in one slot.
    Deadline,
}

/// The ends of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct List {
    first: Option<u32>,
    last: Option<u32>,
}

impl List {
    /// The place of its first pull.
    pub(super) fn first(self) -> Option<u32> {
        self.first
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Link {
    previous: Option<u32>,
    next: Option<u32>,
}

#[derive(Debug)]
struct Slot {
    pull: ParkedPull,
    links: [Link; KIND_COUNT],
}

/// The pulls of all lists.
#[derive(Debug, Default)]
pub(super) struct Lists {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
}

impl Lists {
    /// Give a pull a place, in no list yet.
    pub(super) fn add(&mut self, pull: ParkedPull) -> u32 {
        let slot = Some(Slot {
            pull,
            links: [Link::default(); KIND_COUNT],
        });
        if let Some(place) = self.free.pop() {
            self.slots[place as usize] = slot;
            return place;
        }
        self.slots.push(slot);
        // The table is bounded far below that.
        u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
    }

    /// Take a pull that is in no list any more.
    pub(super) fn take(&mut self, place: u32) -> ParkedPull {
        let slot = self.slots[place as usize].take();
        self.free.push(place);
        if self.free.len() == self.slots.len() {
            // After a burst the memory is given back.
            (self.slots, self.free) = (Vec::new(), Vec::new());
        }
        slot.expect(OCCUPIED).pull
    }

    pub(super) fn pull(&self, place: u32) -> &ParkedPull {
        &self.slot(place).pull
    }

    /// The place behind another one of a list.
    pub(super) fn next(&self, kind: Kind, place: u32) -> Option<u32> {
        self.slot(place).links[kind as usize].next
    }

    pub(super) fn append(&mut self, kind: Kind, list: &mut List, place: u32) {
        let previous = list.last.replace(place);
        self.link(kind, place).previous = previous;
        match previous {
            Some(previous) => self.link(kind, previous).next = Some(place),
            None => list.first = Some(place),
        }
    }

    pub(super) fn remove(&mut self, kind: Kind, list: &mut List, place: u32) {
        let Link { previous, next } = std::mem::take(self.link(kind, place));
        match previous {
            Some(previous) => self.link(kind, previous).next = next,
            None => list.first = next,
        }
        match next {
            Some(next) => self.link(kind, next).previous = previous,
            None => list.last = previous,
        }
    }

    fn link(&mut self, kind: Kind, place: u32) -> &mut Link {
        let slot = self.slots[place as usize].as_mut();
        &mut slot.expect(OCCUPIED).links[kind as usize]
    }

    fn slot(&self, place: u32) -> &Slot {
        self.slots[place as usize].as_ref().expect(OCCUPIED)
    }
}

const OCCUPIED: &str = "a place in a list holds a pull";
