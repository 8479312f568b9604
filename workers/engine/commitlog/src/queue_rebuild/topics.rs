//! The topics of a recovery by name; the one asked for last is found without a search.

use ahash::AHashMap;

use super::rebuilding::Topic;
use crate::queue_layout::Layout;

#[derive(Debug, Default)]
pub(super) struct Topics {
    places: AHashMap<String, usize>,
    named: Vec<(String, Topic)>,
    /// Place of the topic asked for last: the next record is often of the same.
    last: usize,
}

impl Topics {
    pub(super) fn get(&self, name: &str) -> Option<&Topic> {
        let place = *self.places.get(name)?;
        Some(&self.named.get(place)?.1)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Topic> {
        let place = *self.places.get(name)?;
        Some(&mut self.named.get_mut(place)?.1)
    }

    /// The topic with a name that a record gives in bytes.
    #[inline]
    pub(super) fn known_mut(&mut self, name: &[u8]) -> Option<&mut Topic> {
        let is_last = |(known, _): &(String, Topic)| known.as_bytes() == name;
        if !self.named.get(self.last).is_some_and(is_last) {
            self.last = *self.places.get(std::str::from_utf8(name).ok()?)?;
        }
        Some(&mut self.named.get_mut(self.last)?.1)
    }

    /// The topic, which gets queues of this layout if it is new.
    pub(super) fn get_or_add(&mut self, name: &str, layout: Layout) -> &mut Topic {
        let place = self.places.get(name).copied().unwrap_or_else(|| {
            self.places.insert(name.to_owned(), self.named.len());
            self.named.push((name.to_owned(), Topic::new(layout)));
            self.named.len() - 1
        });
        &mut self.named[place].1
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Topic> {
        self.named.iter().map(|(_, topic)| topic)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut (String, Topic)> {
        self.named.iter_mut()
    }

    pub(super) fn into_named(self) -> impl Iterator<Item = (String, Topic)> {
        self.named.into_iter()
    }
}
