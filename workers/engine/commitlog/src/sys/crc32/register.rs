//! Registers that hold one, two or four lanes of 128 bits, and what is done with all lanes at once.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "each function is what the trait asks of its caller, and nothing else"
)]

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_clmulepi64_si128, _mm_loadu_si128, _mm_shuffle_epi8,
    _mm_storeu_si128, _mm_xor_si128, _mm256_castsi256_si128, _mm256_clmulepi64_epi128,
    _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_set_m128i, _mm256_storeu_si256,
    _mm256_xor_si256, _mm512_castsi512_si256, _mm512_clmulepi64_epi128, _mm512_extracti64x4_epi64,
    _mm512_loadu_si512, _mm512_maskz_loadu_epi8, _mm512_storeu_si512, _mm512_xor_si512,
};

/// A register of the processor.
///
/// Every function is inlined into one that was compiled for the instructions it consists of.
///
/// # Safety
/// Each needs those instructions, and a pointer that is good for what it reads or writes.
pub(super) trait Register: Copy {
    const BYTES: usize;
    /// So many bytes are readable at least where a message begins.
    const SIZE_MIN: usize;

    unsafe fn load(from: *const u8) -> Self;

    /// The first bytes of a message behind so many zeros, fewer than fit.
    unsafe fn load_behind(zeros: usize, from: *const u8) -> Self;

    unsafe fn store(self, to: *mut u8);

    unsafe fn xor(self, other: Self) -> Self;

    /// Multiplies both halves of each lane by their constants, and adds them.
    unsafe fn multiply(self, keys: Self) -> Self;

    /// The sum of all lanes.
    unsafe fn sum(self) -> __m128i;
}

const LANE_BYTES: usize = size_of::<__m128i>();

/// Says to a shuffle which byte comes where: zeros, then the bytes in their order.
static ZEROS_AND_ORDER: [u8; 2 * LANE_BYTES] = zeros_and_order();

#[allow(clippy::cast_possible_truncation)] // less than a lane has bytes
const fn zeros_and_order() -> [u8; 2 * LANE_BYTES] {
    let mut bytes = [0x80; 2 * LANE_BYTES];
    let mut at = 0;
    while at < LANE_BYTES {
        bytes[LANE_BYTES + at] = at as u8;
        at += 1;
    }
    bytes
}

impl Register for __m128i {
    const BYTES: usize = LANE_BYTES;
    const SIZE_MIN: usize = LANE_BYTES;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        _mm_loadu_si128(from.cast())
    }

    #[inline(always)]
    unsafe fn load_behind(zeros: usize, from: *const u8) -> Self {
        let order = Self::load(ZEROS_AND_ORDER.as_ptr().add(LANE_BYTES - zeros));
        _mm_shuffle_epi8(Self::load(from), order)
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        _mm_storeu_si128(to.cast(), self);
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        _mm_xor_si128(self, other)
    }

    #[inline(always)]
    unsafe fn multiply(self, keys: Self) -> Self {
        _mm_xor_si128(
            _mm_clmulepi64_si128::<0x00>(self, keys),
            _mm_clmulepi64_si128::<0x11>(self, keys),
        )
    }

    #[inline(always)]
    unsafe fn sum(self) -> __m128i {
        self
    }
}

impl Register for __m256i {
    const BYTES: usize = 2 * LANE_BYTES;
    const SIZE_MIN: usize = LANE_BYTES;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        _mm256_loadu_si256(from.cast())
    }

    #[inline(always)]
    unsafe fn load_behind(zeros: usize, from: *const u8) -> Self {
        let in_upper = zeros.saturating_sub(LANE_BYTES);
        let upper_at = LANE_BYTES.saturating_sub(zeros);
        _mm256_set_m128i(
            __m128i::load_behind(in_upper, from.add(upper_at)),
            __m128i::load_behind(zeros.min(LANE_BYTES), from),
        )
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        _mm256_storeu_si256(to.cast(), self);
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        _mm256_xor_si256(self, other)
    }

    #[inline(always)]
    unsafe fn multiply(self, keys: Self) -> Self {
        _mm256_xor_si256(
            _mm256_clmulepi64_epi128::<0x00>(self, keys),
            _mm256_clmulepi64_epi128::<0x11>(self, keys),
        )
    }

    #[inline(always)]
    unsafe fn sum(self) -> __m128i {
        let upper = _mm256_extracti128_si256::<1>(self);
        _mm_xor_si128(_mm256_castsi256_si128(self), upper)
    }
}

impl Register for __m512i {
    const BYTES: usize = 4 * LANE_BYTES;
    const SIZE_MIN: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        _mm512_loadu_si512(from.cast())
    }

    #[inline(always)]
    unsafe fn load_behind(zeros: usize, from: *const u8) -> Self {
        // What the mask leaves out is not read.
        _mm512_maskz_loadu_epi8(u64::MAX << zeros, from.wrapping_sub(zeros).cast())
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        _mm512_storeu_si512(to.cast(), self);
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        _mm512_xor_si512(self, other)
    }

    #[inline(always)]
    unsafe fn multiply(self, keys: Self) -> Self {
        _mm512_xor_si512(
            _mm512_clmulepi64_epi128::<0x00>(self, keys),
            _mm512_clmulepi64_epi128::<0x11>(self, keys),
        )
    }

    #[inline(always)]
    unsafe fn sum(self) -> __m128i {
        let upper = _mm512_extracti64x4_epi64::<1>(self);
        _mm512_castsi512_si256(self).xor(upper).sum()
    }
}
