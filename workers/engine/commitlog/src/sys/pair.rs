//! Whether two bytes occur next to one another: what an append looks for in the properties of every
//! message, nearly always in vain.

/// So many bytes are looked at at once.
const CHUNK_BYTES: usize = 64;

/// Whether two bytes occur next to one another.
#[inline(always)]
#[must_use]
pub fn holds_pair<const FIRST: u8, const SECOND: u8>(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while rest.len() > CHUNK_BYTES {
        if chunk_holds_pair::<FIRST, SECOND>(&rest[..CHUNK_BYTES]) {
            return true;
        }
        // The last byte may be the first of a pair.
        rest = &rest[CHUNK_BYTES - 1..];
    }
    rest.len() >= 2 && chunk_holds_pair::<FIRST, SECOND>(rest)
}

/// As [`holds_pair`], for one to 64 bytes: a bit for each of them says where either one is.
#[cfg(all(target_arch = "x86_64", target_feature = "avx512bw"))]
#[inline(always)]
fn chunk_holds_pair<const FIRST: u8, const SECOND: u8>(chunk: &[u8]) -> bool {
    use std::arch::x86_64::{_mm512_cmpeq_epi8_mask, _mm512_maskz_loadu_epi8, _mm512_set1_epi8};

    let mask = u64::MAX >> (CHUNK_BYTES - chunk.len());
    // SAFETY: the engine is built for a processor with these instructions, and what the mask leaves
    // out is not read.
    let (firsts, seconds) = unsafe {
        let bytes = _mm512_maskz_loadu_epi8(mask, chunk.as_ptr().cast());
        (
            _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(FIRST.cast_signed())),
            _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(SECOND.cast_signed())),
        )
    };
    (firsts << 1) & seconds != 0
}

/// As [`holds_pair`], for one to 64 bytes.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512bw")))]
#[inline(always)]
fn chunk_holds_pair<const FIRST: u8, const SECOND: u8>(chunk: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if chunk.len() > lane::PLACES {
        return lane::chunk_holds_pair::<FIRST, SECOND>(chunk);
    }
    let mut pairs = chunk.iter().zip(&chunk[1..]);
    pairs.any(|(left, right)| (*left, *right) == (FIRST, SECOND))
}

#[cfg(all(target_arch = "x86_64", any(test, not(target_feature = "avx512bw"))))]
mod lane {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8,
    };

    /// So many places of a pair are looked at at once.
    pub(super) const PLACES: usize = size_of::<__m128i>();

    /// As for any bytes, for more than the places. Some of the last ones are looked at twice.
    #[inline(always)]
    pub(super) fn chunk_holds_pair<const FIRST: u8, const SECOND: u8>(chunk: &[u8]) -> bool {
        let last = chunk.len() - 1 - PLACES;
        // SAFETY: every processor has these instructions, and behind the last place is a byte.
        unsafe {
            let pairs_at = |at: usize| {
                let place = chunk.as_ptr().add(at);
                let firsts = _mm_loadu_si128(place.cast());
                let seconds = _mm_loadu_si128(place.add(1).cast());
                _mm_and_si128(
                    _mm_cmpeq_epi8(firsts, _mm_set1_epi8(FIRST.cast_signed())),
                    _mm_cmpeq_epi8(seconds, _mm_set1_epi8(SECOND.cast_signed())),
                )
            };
            let (mut found, mut at) = (pairs_at(last), 0);
            while at < last {
                found = _mm_or_si128(found, pairs_at(at));
                at += PLACES;
            }
            _mm_movemask_epi8(found) != 0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_found_wherever_it_is_and_nothing_else_is() {
        for size in 0..200 {
            let mut bytes = vec![b'G'; size];
            assert!(!holds_pair::<b'A', b'G'>(&bytes), "{size} bytes");
            for at in 0..size {
                bytes[at] = b'A';
                let is_there = at + 1 < size;
                assert_eq!(holds_pair::<b'A', b'G'>(&bytes), is_there, "{at} of {size}");
                #[cfg(target_arch = "x86_64")]
                if size > lane::PLACES {
                    let in_lanes = lane::chunk_holds_pair::<b'A', b'G'>(&bytes);
                    assert_eq!(in_lanes, is_there, "{at} of {size} in lanes");
                }
                bytes[at] = b'G';
            }
            bytes.fill(b'A');
            assert!(!holds_pair::<b'A', b'G'>(&bytes), "{size} bytes");
        }
    }
}
