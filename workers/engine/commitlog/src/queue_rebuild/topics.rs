//! The topics of a recovery by name; the one asked for last is found without a search.

use ahash::AHashMap;

use super::rebuilding::Rebuilding;
use crate::cursor::are_few_equal;

/// The queues of a topic, by queue id.
type Slots = Vec<Option<Rebuilding>>;

#[derive(Debug, Default)]
pub(super) struct Topics {
    places: AHashMap<String, usize>,
    named: Vec<(String, Slots)>,
    /// Place of the topic asked for last: the next record is often of the same.
    last: usize,
}

impl Topics {
    pub(super) fn get(&self, name: &str) -> Option<&Slots> {
        let place = *self.places.get(name)?;
        Some(&self.named.get(place)?.1)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Slots> {
        let place = *self.places.get(name)?;
        Some(&mut self.named.get_mut(place)?.1)
    }

    /// The topic with a name that a record gives in bytes.
    #[inline(always)]
    pub(super) fn known_mut(&mut self, name: &[u8]) -> Option<&mut Slots> {
        let is_last = |(known, _): &(String, Slots)| are_few_equal(known.as_bytes(), name);
        if !self.named.get(self.last).is_some_and(is_last) {
            self.last = *self.places.get(std::str::from_utf8(name).ok()?)?;
        }
        Some(&mut self.named.get_mut(self.last)?.1)
    }

    /// The topic, without queues if it is new.
    pub(super) fn get_or_add(&mut self, name: &str) -> &mut Slots {
        let place = self.places.get(name).copied().unwrap_or_else(|| {
            self.places.insert(name.to_owned(), self.named.len());
            self.named.push((name.to_owned(), Slots::new()));
            self.named.len() - 1
        });
        &mut self.named[place].1
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slots> {
        self.named.iter().map(|(_, slots)| slots)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut (String, Slots)> {
        self.named.iter_mut()
    }

    pub(super) fn into_named(self) -> impl Iterator<Item = (String, Slots)> {
        self.named.into_iter()
    }
}
