//! CRC-32 as zlib has it, alone or of bytes while they are copied.
//!
//! Most of what an append of a short message computes is this. Where the processor multiplies
//! polynomials, several pairs at once, it is done [here](folding); elsewhere `crc32fast` computes it.

use std::sync::LazyLock;

use crate::cursor::copy_few;

#[cfg(target_arch = "x86_64")]
mod ability;
#[cfg(target_arch = "x86_64")]
mod folding;
#[cfg(target_arch = "x86_64")]
mod register;

/// The checksum of some bytes.
#[inline]
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(crc) = ability::crc32(bytes) {
        return crc;
    }
    narrow(bytes)
}

/// Copies bytes to a place of the same size; returns their checksum.
#[inline(always)]
pub(crate) fn copy_with_crc32(to: &mut [u8], from: &[u8]) -> u32 {
    assert_eq!(to.len(), from.len(), "a copy is as long as what is copied");
    #[cfg(target_arch = "x86_64")]
    if let Some(crc) = ability::copy_with_crc32(to, from) {
        return crc;
    }
    copy_and_look(to, from)
}

#[inline(never)]
fn copy_and_look(to: &mut [u8], from: &[u8]) -> u32 {
    copy_few(to, from);
    // Not of the copy: to read back what is still on its way to the cache takes far longer.
    crc32(from)
}

#[inline(never)]
fn narrow(bytes: &[u8]) -> u32 {
    // What the processor can do is found out once, not for each body.
    static NEW: LazyLock<crc32fast::Hasher> = LazyLock::new(crc32fast::Hasher::new);
    let mut hasher = NEW.clone();
    hasher.update(bytes);
    hasher.finalize()
}

#[cfg(test)]
mod tests;
