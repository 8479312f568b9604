//! CRC-32 as zlib has it, alone or of bytes while they are copied.
//!
//! Most of what an append of a short message computes is this. Where the processor multiplies four
//! pairs of polynomials at once, it is done here: every lane of a short message is brought to its
//! end by a multiplication of its own, so that none waits for another, and only what is longer than
//! four registers is folded step by step. Elsewhere `crc32fast` computes it.
//!
//! Bits are reflected, as the checksum is defined: the first bit of a message is the coefficient of
//! its highest power and the lowest bit of its register. A product of two reflected 64-bit values
//! comes out multiplied by x, so that each constant stands for one power less than it has to move.

use std::sync::LazyLock;

use crate::cursor::copy_few;

/// The checksum of some bytes.
#[inline]
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if wide::can_do(bytes.len()) {
        // SAFETY: the processor can do it, and the bytes are readable.
        return unsafe { wide::crc32(bytes.as_ptr(), bytes.len()) };
    }
    narrow(bytes)
}

/// Copies bytes to a place of the same size; returns their checksum.
#[inline(always)]
pub(crate) fn copy_with_crc32(to: &mut [u8], from: &[u8]) -> u32 {
    assert_eq!(to.len(), from.len(), "a copy is as long as what is copied");
    #[cfg(target_arch = "x86_64")]
    if wide::can_copy(from.len()) {
        // SAFETY: the processor can do it, one slice is readable and the other one, of the same
        // size and apart from it, writable.
        return unsafe { wide::copy_with_crc32(to.as_mut_ptr(), from.as_ptr(), from.len()) };
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

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __cpuid, __m128i, __m512i, _mm_and_si128, _mm_clmulepi64_si128, _mm_cvtsi128_si64,
        _mm_set_epi64x, _mm_srli_si128, _mm_xor_si128, _mm512_castsi512_si128,
        _mm512_clmulepi64_epi128, _mm512_extracti32x4_epi32, _mm512_loadu_si512,
        _mm512_maskz_loadu_epi8, _mm512_storeu_si512, _mm512_xor_si512,
    };
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Shorter bodies are copied first and looked at afterwards, as are those above the maximum.
    const COPIED_SIZE_MIN: usize = REGISTER_BYTES;
    /// Longer bodies the C library copies by `rep movsb`, without fetching first what will be
    /// written over.
    const COPIED_SIZE_MAX: usize = 2048;
    /// That instruction takes twice as long as a loop on AMD's processors, unless source and target
    /// are aligned alike, which a body in a log is not. The C library knows since version 2.39.
    const COPIED_SIZE_MAX_OF_AMD: usize = 256 << 10;

    const REGISTER_BYTES: usize = 64;
    const REGISTER_COUNT: usize = 4;
    const FOLDED_BYTES: usize = REGISTER_COUNT * REGISTER_BYTES;
    /// The bytes that the initial value covers.
    const SIZE_MIN: usize = 4;

    const UNKNOWN: usize = usize::MAX;
    const NEVER: usize = 0;

    /// The polynomial without its highest power, reflected.
    const POLYNOMIAL: u32 = 0xEDB8_8320;

    /// The initial value and what lies around it: the register from `REGISTER_BYTES - zeros` on has
    /// it behind so many zeros, and the next one what did not fit.
    static INITIAL: [u8; 3 * REGISTER_BYTES] = initial();

    const fn initial() -> [u8; 3 * REGISTER_BYTES] {
        let mut bytes = [0; 3 * REGISTER_BYTES];
        let mut at = 0;
        while at < SIZE_MIN {
            bytes[REGISTER_BYTES + at] = u8::MAX;
            at += 1;
        }
        bytes
    }

    /// One register of constants: a pair for each lane.
    #[repr(C, align(64))]
    struct Keys([u64; 8]);

    /// Brings registers as far forward as all of them together reach.
    static FOLD: Keys = fold_keys();
    /// Bring the lanes of a register to the end of the message, so many registers behind it, and
    /// multiply them by x^32, as the checksum is defined.
    static FINISH: [Keys; REGISTER_COUNT] = [
        finish_keys(0),
        finish_keys(1),
        finish_keys(2),
        finish_keys(3),
    ];

    /// Brings 32 bits forward by 64.
    const LAST_FOLD: u64 = key(64);
    /// The quotient of x^64 by the polynomial, and the polynomial, of 33 bits each.
    const QUOTIENT: u64 = 0x1_F701_1641;
    const DIVISOR: u64 = (POLYNOMIAL as u64) << 1 | 1;

    /// What multiplies a reflected 64-bit value by a power of x: 32 bits, in the upper half.
    const fn key(power: usize) -> u64 {
        let (mut remainder, mut left) = (1_u32 << 31, power - 1);
        while left > 0 {
            let carry = remainder & 1;
            remainder >>= 1;
            if carry == 1 {
                remainder ^= POLYNOMIAL;
            }
            left -= 1;
        }
        (remainder as u64) << 32
    }

    const fn fold_keys() -> Keys {
        let (far, near) = (key(8 * FOLDED_BYTES + 64), key(8 * FOLDED_BYTES));
        Keys([far, near, far, near, far, near, far, near])
    }

    const fn finish_keys(registers_behind: usize) -> Keys {
        let mut keys = [0; 8];
        let mut at = 0;
        while at < 8 {
            keys[at] = key(512 * registers_behind + 64 * (7 - at) + 32);
            at += 1;
        }
        Keys(keys)
    }

    /// Whether the processor has the instructions, and the size is enough for them.
    #[inline]
    pub(super) fn can_do(size: usize) -> bool {
        size >= SIZE_MIN && copied_size_max() != NEVER
    }

    /// Whether the processor has the instructions, and so many bytes are copied with them.
    #[inline]
    pub(super) fn can_copy(size: usize) -> bool {
        size >= COPIED_SIZE_MIN && size <= copied_size_max()
    }

    /// What the processor can do is found out once: a lazy value would cost a call for each body.
    #[inline]
    fn copied_size_max() -> usize {
        static ANSWER: AtomicUsize = AtomicUsize::new(UNKNOWN);
        match ANSWER.load(Ordering::Relaxed) {
            UNKNOWN => {
                let found = find_copied_size_max();
                ANSWER.store(found, Ordering::Relaxed);
                found
            }
            known => known,
        }
    }

    #[cold]
    fn find_copied_size_max() -> usize {
        let has_instructions = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("vpclmulqdq")
            && is_x86_feature_detected!("pclmulqdq");
        let cpuid = __cpuid(0);
        let vendor = [cpuid.ebx, cpuid.edx, cpuid.ecx].map(u32::to_le_bytes);
        match (has_instructions, vendor.as_flattened()) {
            (false, _) => NEVER,
            (true, b"AuthenticAMD") => COPIED_SIZE_MAX_OF_AMD,
            (true, _) => COPIED_SIZE_MAX,
        }
    }

    /// # Safety
    /// [`can_do`] said so, and there are as many readable bytes.
    #[target_feature(enable = "avx512f,avx512bw,vpclmulqdq,pclmulqdq")]
    pub(super) unsafe fn crc32(from: *const u8, size: usize) -> u32 {
        // SAFETY: as the caller says; without a target nothing is written.
        unsafe { run(from, size, |_, _| {}) }
    }

    /// # Safety
    /// [`can_copy`] said so, and there are as many readable bytes, and others that may be written.
    #[target_feature(enable = "avx512f,avx512bw,vpclmulqdq,pclmulqdq")]
    pub(super) unsafe fn copy_with_crc32(to: *mut u8, from: *const u8, size: usize) -> u32 {
        // SAFETY: as the caller says: the first register, and each later one, which begins at most
        // one register before the end, is inside both.
        unsafe {
            _mm512_storeu_si512(to.cast(), _mm512_loadu_si512(from.cast()));
            run(from, size, |at, block| {
                _mm512_storeu_si512(to.add(at).cast(), block);
            })
        }
    }

    /// Gives every register of the message but the first to `each`, with its place.
    ///
    /// Zeros before a message do not change its checksum: the first register begins with as many as
    /// are needed for the last one to end where the message does.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,vpclmulqdq,pclmulqdq")]
    unsafe fn run(from: *const u8, size: usize, each: impl Fn(usize, __m512i)) -> u32 {
        let zeros = size.wrapping_neg() % REGISTER_BYTES;
        let mut at = REGISTER_BYTES - zeros;
        // SAFETY: what the mask leaves out is not read, and the rest is the start of the message;
        // the initial value's two registers end at most where the constant does.
        let (first, initial, initial_behind) = unsafe {
            let initial = INITIAL.as_ptr().add(at);
            (
                _mm512_maskz_loadu_epi8(u64::MAX << zeros, from.wrapping_sub(zeros).cast()),
                _mm512_loadu_si512(initial.cast()),
                _mm512_loadu_si512(initial.add(REGISTER_BYTES).cast()),
            )
        };
        let first = _mm512_xor_si512(first, initial);
        let load = |at: usize| {
            // SAFETY: the caller asks for whole registers inside the message.
            let block = unsafe { _mm512_loadu_si512(from.add(at).cast()) };
            each(at, block);
            block
        };
        let mut finish = (size - 1) / REGISTER_BYTES;
        if finish < REGISTER_COUNT {
            let mut sum = multiply(first, keys(&FINISH[finish]));
            if finish > 0 {
                finish -= 1;
                let second = _mm512_xor_si512(load(at), initial_behind);
                sum = _mm512_xor_si512(sum, multiply(second, keys(&FINISH[finish])));
                at += REGISTER_BYTES;
            }
            while finish > 0 {
                finish -= 1;
                sum = _mm512_xor_si512(sum, multiply(load(at), keys(&FINISH[finish])));
                at += REGISTER_BYTES;
            }
            return !remainder(sum);
        }
        let mut blocks = [
            first,
            _mm512_xor_si512(load(at), initial_behind),
            load(at + REGISTER_BYTES),
            load(at + 2 * REGISTER_BYTES),
        ];
        at += 3 * REGISTER_BYTES;
        let fold = keys(&FOLD);
        while at + FOLDED_BYTES <= size {
            for (number, block) in blocks.iter_mut().enumerate() {
                let next = load(at + number * REGISTER_BYTES);
                *block = _mm512_xor_si512(multiply(*block, fold), next);
            }
            at += FOLDED_BYTES;
        }
        while at < size {
            let [first, second, third, fourth] = blocks;
            let next = _mm512_xor_si512(multiply(first, fold), load(at));
            blocks = [second, third, fourth, next];
            at += REGISTER_BYTES;
        }
        let finished = |number: usize| multiply(blocks[number], keys(&FINISH[3 - number]));
        let sum = _mm512_xor_si512(
            _mm512_xor_si512(finished(0), finished(1)),
            _mm512_xor_si512(finished(2), finished(3)),
        );
        !remainder(sum)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn keys(keys: &'static Keys) -> __m512i {
        // SAFETY: the constants fill a register.
        unsafe { _mm512_loadu_si512(keys.0.as_ptr().cast()) }
    }

    /// Multiplies both halves of each lane by their constants, and adds them.
    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn multiply(block: __m512i, keys: __m512i) -> __m512i {
        _mm512_xor_si512(
            _mm512_clmulepi64_epi128::<0x00>(block, keys),
            _mm512_clmulepi64_epi128::<0x11>(block, keys),
        )
    }

    /// The sum of the lanes, 96 bits each, modulo the polynomial.
    #[inline]
    #[target_feature(enable = "avx512f,pclmulqdq")]
    fn remainder(sum: __m512i) -> u32 {
        let lanes: [__m128i; 4] = [
            _mm512_castsi512_si128(sum),
            _mm512_extracti32x4_epi32::<1>(sum),
            _mm512_extracti32x4_epi32::<2>(sum),
            _mm512_extracti32x4_epi32::<3>(sum),
        ];
        let sum = _mm_xor_si128(
            _mm_xor_si128(lanes[0], lanes[1]),
            _mm_xor_si128(lanes[2], lanes[3]),
        );
        #[allow(clippy::cast_possible_wrap)] // the same bits
        let (last_fold, barrett) = (
            _mm_set_epi64x(0, LAST_FOLD as i64),
            _mm_set_epi64x(DIVISOR as i64, QUOTIENT as i64),
        );
        let low_half = _mm_set_epi64x(0, 0xFFFF_FFFF);
        let sum = _mm_xor_si128(sum, _mm_clmulepi64_si128::<0x00>(sum, last_fold));
        let sum = _mm_srli_si128::<8>(sum);
        let quotient = _mm_clmulepi64_si128::<0x00>(_mm_and_si128(sum, low_half), barrett);
        let quotient = _mm_and_si128(quotient, low_half);
        let sum = _mm_xor_si128(sum, _mm_clmulepi64_si128::<0x10>(quotient, barrett));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the upper half
        {
            (_mm_cvtsi128_si64(sum) as u64 >> 32) as u32
        }
    }
}

#[cfg(test)]
mod tests;
