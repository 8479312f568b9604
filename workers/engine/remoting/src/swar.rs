//! Finding bytes eight at a time: strings of headers are short, so that a call into a vector
//! search would cost more than it finds.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
const QUOTES: u64 = ONES * b'"' as u64;
const BACKSLASHES: u64 = ONES * b'\\' as u64;

/// Set the high bit of each zero byte; exact up to and with the first one.
#[inline]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// Set the high bit of each byte below a space; exact up to and with the first one.
#[inline]
fn controls(word: u64) -> u64 {
    word.wrapping_sub(ONES * 0x20) & !word & HIGHS
}

#[inline]
fn find(bytes: &[u8], from: usize, marks: impl Fn(u64) -> u64) -> Option<usize> {
    let mut at = from;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let found = marks(u64::from_le_bytes(*chunk));
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    find_last(bytes.get(at..)?, marks).map(|found| at + found)
}

/// Search the last bytes, fewer than eight.
#[cold]
fn find_last(rest: &[u8], marks: impl Fn(u64) -> u64) -> Option<usize> {
    // Pad with a byte that no search looks for.
    let mut last = [b'_'; 8];
    last[..rest.len()].copy_from_slice(rest);
    let found = marks(u64::from_le_bytes(last));
    (found != 0).then(|| (found.trailing_zeros() / 8) as usize)
}

/// Set the high bit of each byte that copying the inside of a JSON string stops at: quotes,
/// backslashes and control characters; exact up to and with the first one.
#[inline]
pub(crate) fn string_stops(word: u64) -> u64 {
    zeros(word ^ QUOTES) | zeros(word ^ BACKSLASHES) | controls(word)
}

/// Find the quote that ends a JSON string, or a backslash before it.
#[inline]
pub(crate) fn find_string_stop(bytes: &[u8], from: usize) -> Option<usize> {
    find(bytes, from, |word| {
        zeros(word ^ QUOTES) | zeros(word ^ BACKSLASHES)
    })
}

#[inline]
pub(crate) fn find_backslash(bytes: &[u8]) -> Option<usize> {
    find(bytes, 0, |word| zeros(word ^ BACKSLASHES))
}

/// Find a byte that a JSON string must escape.
#[inline]
pub(crate) fn find_unsafe(bytes: &[u8]) -> Option<usize> {
    find(bytes, 0, string_stops)
}

/// Find the byte 1 or 2, which separate properties.
#[inline]
pub(crate) fn find_separator(bytes: &[u8], from: usize) -> Option<usize> {
    find(bytes, from, |word| {
        zeros(word ^ ONES) | zeros(word ^ (ONES * 2))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Miri takes a thousand times as long.
    const ROUND_COUNT: usize = if cfg!(miri) { 100 } else { 200_000 };

    #[test]
    fn each_search_finds_what_a_byte_by_byte_search_finds() {
        let mut state = 1_u64;
        for _ in 0..ROUND_COUNT {
            let bytes: Vec<u8> = (0..state % 29)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    let choice =
                        b"\"\\\x00\x01\x02\x03\x1f \x21\x7f\x80\xa2\xdc\xffaaaaaaaaaaaaaaaaaaaa";
                    choice[usize::try_from(state % choice.len() as u64).unwrap()]
                })
                .collect();
            state = state.wrapping_mul(31).wrapping_add(7);
            let is_stop = |byte: &u8| matches!(byte, b'"' | b'\\');
            let plain = |found: fn(&u8) -> bool| bytes.iter().position(found);
            assert_eq!(find_string_stop(&bytes, 0), bytes.iter().position(is_stop));
            let is_separator = |byte: &u8| matches!(byte, 1 | 2);
            assert_eq!(
                find_separator(&bytes, 0),
                bytes.iter().position(is_separator)
            );
            assert_eq!(find_backslash(&bytes), plain(|byte| *byte == b'\\'));
            assert_eq!(
                find_unsafe(&bytes),
                plain(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\'))
            );
        }
    }
}
