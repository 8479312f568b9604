//! Which registers the processor has to compute a checksum with, found out once.

use std::arch::x86_64::{__cpuid, __m128i, __m256i, __m512i};
use std::sync::OnceLock;

use super::folding;
use super::register::Register;

/// Longer bodies the C library copies by `rep movsb`, without fetching first what will be written
/// over.
const COPIED_SIZE_MAX: usize = 2048;
/// That instruction takes twice as long as a loop on AMD's processors, unless source and target are
/// aligned alike, which a body in a log is not. The C library knows since version 2.39.
const COPIED_SIZE_MAX_OF_AMD: usize = 256 << 10;

/// What the processor can do.
#[derive(Debug, Clone, Copy)]
struct Ability {
    widest: Widest,
    /// Longer bodies are copied first and looked at afterwards.
    copied_size_max: usize,
}

/// The widest register whose lanes can be multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Widest {
    Nothing,
    OneLane,
    TwoLanes,
    FourLanes,
}

impl Ability {
    #[inline(always)]
    fn get() -> Self {
        static FOUND: OnceLock<Ability> = OnceLock::new();
        *FOUND.get_or_init(Self::find)
    }

    #[cold]
    fn find() -> Self {
        let has_lanes = is_x86_feature_detected!("pclmulqdq") && is_x86_feature_detected!("ssse3");
        let widest = if !has_lanes {
            Widest::Nothing
        } else if !is_x86_feature_detected!("vpclmulqdq") || !is_x86_feature_detected!("avx2") {
            Widest::OneLane
        } else if !is_x86_feature_detected!("avx512f") || !is_x86_feature_detected!("avx512bw") {
            Widest::TwoLanes
        } else {
            Widest::FourLanes
        };
        let cpuid = __cpuid(0);
        let vendor = [cpuid.ebx, cpuid.edx, cpuid.ecx].map(u32::to_le_bytes);
        let copied_size_max = match vendor.as_flattened() {
            b"AuthenticAMD" => COPIED_SIZE_MAX_OF_AMD,
            _ => COPIED_SIZE_MAX,
        };
        Self {
            widest,
            copied_size_max,
        }
    }
}

/// The checksum, if the processor has the instructions and the size is enough for them.
#[inline(always)]
pub(super) fn crc32(bytes: &[u8]) -> Option<u32> {
    // SAFETY: the processor has them.
    unsafe { Ability::get().widest.look(bytes) }
}

/// Copies bytes to a place of the same size and returns their checksum, if the processor has the
/// instructions and so many bytes are copied with them.
#[inline(always)]
pub(super) fn copy_with_crc32(to: &mut [u8], from: &[u8]) -> Option<u32> {
    let ability = Ability::get();
    if from.len() > ability.copied_size_max {
        return None;
    }
    // SAFETY: the processor has them.
    unsafe { ability.widest.copy(to, from) }
}

impl Widest {
    /// The checksum of bytes that are enough for it.
    ///
    /// # Safety
    /// The processor has such registers.
    #[inline(always)]
    unsafe fn look(self, bytes: &[u8]) -> Option<u32> {
        let (from, size) = (bytes.as_ptr(), bytes.len());
        // SAFETY: as the caller says, and so many bytes are readable.
        unsafe {
            match self {
                Self::FourLanes if size >= __m512i::SIZE_MIN => Some(four_lanes::look(from, size)),
                Self::TwoLanes if size >= __m256i::SIZE_MIN => Some(two_lanes::look(from, size)),
                Self::OneLane if size >= __m128i::SIZE_MIN => Some(one_lane::look(from, size)),
                _ => None,
            }
        }
    }

    /// Copies bytes that fill a register at least to a place of the same size.
    ///
    /// # Safety
    /// The processor has such registers.
    #[inline(always)]
    unsafe fn copy(self, to: &mut [u8], from: &[u8]) -> Option<u32> {
        let size = from.len().min(to.len());
        let (to, from) = (to.as_mut_ptr(), from.as_ptr());
        // SAFETY: as the caller says, and so many bytes are readable and, apart from them, writable.
        unsafe {
            match self {
                Self::FourLanes if size >= __m512i::BYTES => Some(four_lanes::copy(to, from, size)),
                Self::TwoLanes if size >= __m256i::BYTES => Some(two_lanes::copy(to, from, size)),
                Self::OneLane if size >= __m128i::BYTES => Some(one_lane::copy(to, from, size)),
                _ => None,
            }
        }
    }
}

/// Both functions for one kind of register, compiled for its instructions.
macro_rules! for_register {
    ($name:ident, $register:ty, $features:literal) => {
        mod $name {
            use super::{folding, $register};

            /// # Safety
            /// As for [`folding::look`].
            #[target_feature(enable = $features)]
            pub(super) unsafe fn look(from: *const u8, size: usize) -> u32 {
                // SAFETY: as the caller says.
                unsafe { folding::look::<$register>(from, size) }
            }

            /// # Safety
            /// As for [`folding::copy`].
            #[target_feature(enable = $features)]
            pub(super) unsafe fn copy(to: *mut u8, from: *const u8, size: usize) -> u32 {
                // SAFETY: as the caller says.
                unsafe { folding::copy::<$register>(to, from, size) }
            }
        }
    };
}

for_register!(one_lane, __m128i, "pclmulqdq,ssse3");
for_register!(two_lanes, __m256i, "pclmulqdq,ssse3,avx2,vpclmulqdq");
for_register!(
    four_lanes,
    __m512i,
    "pclmulqdq,ssse3,avx512f,avx512bw,vpclmulqdq"
);

#[cfg(test)]
mod tests;
