//! Checksums of many parts of some bytes, for a few blocks of them each.
//!
//! The checksum of a part follows from those of what comes before its two ends, and of these one
//! for each block is kept.

use std::ops::Range;

use crc32fast::Hasher;

const BLOCK_BYTES: u64 = 4096;
#[allow(clippy::cast_possible_truncation)] // a few thousand
const BLOCK_SIZE: usize = BLOCK_BYTES as usize;

/// The checksums of all that lies between a place and the blocks behind it, as far as one was asked for.
#[derive(Debug)]
pub(crate) struct RangeSums {
    from: u64,
    sums: Vec<u32>,
}

impl RangeSums {
    /// For parts that begin at a place, or behind it.
    pub(crate) fn new(from: u64) -> Self {
        let sums = vec![crc32fast::hash(&[])];
        Self { from, sums }
    }

    /// The checksum of what lies in a range, of which `read` gives any few bytes.
    pub(crate) fn crc32<E>(
        &mut self,
        range: Range<u64>,
        read: &mut impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<u32, E> {
        let before = self.up_to(range.start, read)?;
        let whole = self.up_to(range.end, read)?;
        // To take the beginning away from the whole is what joins both, too: sums are differences.
        let mut part = Hasher::new_with_initial(before);
        part.combine(&Hasher::new_with_initial_len(
            whole,
            range.end - range.start,
        ));
        Ok(part.finalize())
    }

    fn up_to<E>(
        &mut self,
        to: u64,
        read: &mut impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<u32, E> {
        let mut block = [0; BLOCK_SIZE];
        let known = (to - self.from) / BLOCK_BYTES;
        loop {
            let last = self.sums.len() as u64 - 1;
            let number = known.min(last);
            let at = self.from + number * BLOCK_BYTES;
            #[allow(clippy::cast_possible_truncation)] // at most a block
            let bytes = &mut block[..(to - at).min(BLOCK_BYTES) as usize];
            read(at, bytes)?;
            #[allow(clippy::cast_possible_truncation)] // there are so many
            let mut sum = Hasher::new_with_initial(self.sums[number as usize]);
            sum.update(bytes);
            if number == known {
                return Ok(sum.finalize());
            }
            self.sums.push(sum.finalize());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Miri takes a thousand times as long.
    const ROUND_COUNT: usize = if cfg!(miri) { 20 } else { 2_000 };
    /// Several blocks.
    const SIZE: usize = if cfg!(miri) { 13_000 } else { 50_000 };

    #[test]
    fn parts_have_the_checksums_that_they_have_alone() {
        let mut random = fastrand::Rng::with_seed(31);
        let bytes: Vec<u8> = (0..SIZE).map(|_| random.u8(..)).collect();
        let mut sums = RangeSums::new(7);
        for _ in 0..ROUND_COUNT {
            let start = random.usize(7..=bytes.len());
            let end = random.usize(start..=bytes.len());
            let mut read = |at: u64, out: &mut [u8]| -> Result<(), Infallible> {
                let at = usize::try_from(at).expect("a place in the bytes");
                out.copy_from_slice(&bytes[at..at + out.len()]);
                Ok(())
            };

            let Ok(sum) = sums.crc32(start as u64..end as u64, &mut read);

            assert_eq!(sum, crc32fast::hash(&bytes[start..end]), "{start} {end}");
        }
    }
}
