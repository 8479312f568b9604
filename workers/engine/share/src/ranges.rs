//! Sets of queue offsets, as ranges in rising order.

use std::ops::Range;

/// Offsets as ranges that rise and don't touch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// One range; none if it is empty.
    #[must_use]
    pub fn of(range: Range<u64>) -> Self {
        let mut ranges = Self::default();
        ranges.push(range);
        ranges
    }

    /// Add a range behind the others. It may touch the last one.
    ///
    /// # Panics
    /// If it begins before the end of the last one.
    pub fn push(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            Some(last) => {
                assert!(last.end < range.start, "ranges rise");
                self.0.push(range);
            }
            None => self.0.push(range),
        }
    }

    /// Whether there is no offset.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, in rising order.
    #[must_use]
    pub fn as_slice(&self) -> &[Range<u64>] {
        &self.0
    }

    /// Each offset, in rising order.
    pub fn offsets(&self) -> impl Iterator<Item = u64> {
        self.0.iter().cloned().flatten()
    }

    /// Those that lie in a range.
    #[must_use]
    pub fn within(&self, limits: Range<u64>) -> Self {
        let mut within = Self::default();
        for range in &self.0 {
            within.push(range.start.max(limits.start)..range.end.min(limits.end));
        }
        within
    }

    /// How many offsets there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// The offset behind the last one.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        self.0.last().map(|range| range.end)
    }
}

impl FromIterator<u64> for Ranges {
    /// From offsets in any order; one that comes twice counts once.
    fn from_iter<T: IntoIterator<Item = u64>>(offsets: T) -> Self {
        let mut offsets: Vec<_> = offsets.into_iter().collect();
        offsets.sort_unstable();
        offsets.dedup();
        let mut ranges = Self::default();
        for offset in offsets {
            ranges.push(offset..offset.saturating_add(1));
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn neighbours_become_one_range() {
        let ranges: Ranges = [5, 3, 4, 9, 5].into_iter().collect();

        assert_eq!(ranges.as_slice(), [3..6, 9..10]);
        assert_eq!(ranges.offsets().collect::<Vec<_>>(), [3, 4, 5, 9]);
        assert_eq!((ranges.count(), ranges.end()), (4, Some(10)));
        assert!(Ranges::of(7..7).is_empty());
    }

    #[test]
    fn limits_cut_ranges_and_leave_some_out() {
        let ranges: Ranges = [0, 1, 2, 5, 6, 9].into_iter().collect();

        assert_eq!(ranges.within(2..6).as_slice(), [2..3, 5..6]);
        assert_eq!(ranges.within(0..99), ranges);
        assert!(ranges.within(7..9).is_empty());
        let (start, end) = (9, 2);
        assert!(ranges.within(start..end).is_empty());
    }
}
