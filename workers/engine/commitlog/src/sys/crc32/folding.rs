//! The checksum as a product of polynomials.
//!
//! Every lane of a short message is brought to its end by a multiplication of its own, so that none
//! waits for another, and only what is longer than four registers is folded step by step.
//!
//! Bits are reflected, as the checksum is defined: the first bit of a message is the coefficient of
//! its highest power and the lowest bit of its register. A product of two reflected 64-bit values
//! comes out multiplied by x, so that each constant stands for one power less than it has to move.

use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x,
    _mm_srli_si128, _mm_xor_si128,
};
use std::marker::PhantomData;

use super::register::Register;

const REGISTER_COUNT: usize = 4;
const REGISTER_BYTES_MAX: usize = 64;

/// The bytes that the initial value covers: a message is as long at least.
const INITIAL_BYTES: usize = 4;

/// The polynomial without its highest power, reflected.
const POLYNOMIAL: u32 = 0xEDB8_8320;

/// The initial value and what lies around it: a register that begins so many zeros before the
/// middle third has it behind them, and the next one what did not fit.
static INITIAL: [u8; 3 * REGISTER_BYTES_MAX] = initial();

const fn initial() -> [u8; 3 * REGISTER_BYTES_MAX] {
    let mut bytes = [0; 3 * REGISTER_BYTES_MAX];
    let mut at = 0;
    while at < INITIAL_BYTES {
        bytes[REGISTER_BYTES_MAX + at] = u8::MAX;
        at += 1;
    }
    bytes
}

/// Constants for each 64 bits of registers in a row.
#[repr(C, align(64))]
struct Keys<const COUNT: usize>([u64; COUNT]);

const WORD_BYTES: usize = size_of::<u64>();
const WORD_COUNT: usize = REGISTER_BYTES_MAX / WORD_BYTES;
const FINISH_COUNT: usize = REGISTER_COUNT * WORD_COUNT;

/// Bring the last words of a message to its end, and multiply them by x^32, as the checksum is
/// defined.
static FINISH: Keys<FINISH_COUNT> = finish_keys();

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

const fn finish_keys() -> Keys<FINISH_COUNT> {
    let mut keys = [0; FINISH_COUNT];
    let mut at = 0;
    while at < FINISH_COUNT {
        keys[at] = key(64 * (FINISH_COUNT - 1 - at) + 32);
        at += 1;
    }
    Keys(keys)
}

/// Bring a register as far forward as [`REGISTER_COUNT`] of them reach.
struct Fold<R>(PhantomData<R>);

impl<R: Register> Fold<R> {
    const KEYS: Keys<WORD_COUNT> = {
        let far = 8 * REGISTER_COUNT * R::BYTES;
        let mut keys = [0; WORD_COUNT];
        let mut at = 0;
        while at < WORD_COUNT {
            keys[at] = key(far + 64 * (1 - at % 2));
            at += 1;
        }
        Keys(keys)
    };
}

/// The checksum of a message.
///
/// # Safety
/// The processor has the register's instructions, and as many bytes are readable, at least
/// [`Register::SIZE_MIN`].
#[inline(always)]
pub(super) unsafe fn look<R: Register>(from: *const u8, size: usize) -> u32 {
    // SAFETY: as the caller says.
    unsafe { run::<R>(from, size, |_, _| {}) }
}

/// The checksum of a message that is copied meanwhile.
///
/// # Safety
/// As for [`look`], for at least a register; as many bytes are writable elsewhere.
#[inline(always)]
pub(super) unsafe fn copy<R: Register>(to: *mut u8, from: *const u8, size: usize) -> u32 {
    // SAFETY: as the caller says: the first register, and each later one, which begins at most one
    // register before the end, is inside both.
    unsafe {
        R::load(from).store(to);
        run::<R>(from, size, |at, block| block.store(to.add(at)))
    }
}

/// The checksum of a message, of which every register but the first is given to `each` with its
/// place.
///
/// Zeros before a message do not change its checksum: the first register begins with as many as are
/// needed for the last one to end where the message does.
///
/// # Safety
/// As for [`look`].
#[inline(always)]
unsafe fn run<R: Register>(from: *const u8, size: usize, each: impl Fn(usize, R)) -> u32 {
    let zeros = size.wrapping_neg() % R::BYTES;
    // SAFETY: the first register is the start of the message, and the initial value's two registers
    // end at most where the constant does.
    let (first, initial_behind) = unsafe {
        let initial = INITIAL.as_ptr().add(REGISTER_BYTES_MAX - zeros);
        let first = R::load_behind(zeros, from).xor(R::load(initial));
        (first, R::load(initial.add(R::BYTES)))
    };
    let load = |at: usize| {
        // SAFETY: the caller asks for whole registers inside the message.
        let block = unsafe { R::load(from.add(at)) };
        each(at, block);
        block
    };
    // SAFETY: the caller asks for one of the last registers.
    let finished = |block: R, behind: usize| unsafe {
        let at = FINISH_COUNT - (behind + 1) * R::BYTES / WORD_BYTES;
        block.multiply(R::load(FINISH.0.as_ptr().add(at).cast()))
    };
    let mut at = R::BYTES - zeros;
    let mut behind = (size - 1) / R::BYTES;
    // SAFETY: the processor has the instructions.
    unsafe {
        if behind < REGISTER_COUNT {
            let mut sum = finished(first, behind);
            if behind > 0 {
                behind -= 1;
                sum = sum.xor(finished(load(at).xor(initial_behind), behind));
                at += R::BYTES;
            }
            while behind > 0 {
                behind -= 1;
                sum = sum.xor(finished(load(at), behind));
                at += R::BYTES;
            }
            return !remainder(sum.sum());
        }
        let second = load(at).xor(initial_behind);
        let mut blocks = [first, second, load(at + R::BYTES), load(at + 2 * R::BYTES)];
        at += 3 * R::BYTES;
        let fold = R::load(Fold::<R>::KEYS.0.as_ptr().cast());
        while at + REGISTER_COUNT * R::BYTES <= size {
            for (number, block) in blocks.iter_mut().enumerate() {
                *block = block.multiply(fold).xor(load(at + number * R::BYTES));
            }
            at += REGISTER_COUNT * R::BYTES;
        }
        while at < size {
            let [first, second, third, fourth] = blocks;
            blocks = [second, third, fourth, first.multiply(fold).xor(load(at))];
            at += R::BYTES;
        }
        let [first, second, third, fourth] = blocks;
        let sum = finished(first, 3).xor(finished(second, 2));
        let sum = sum.xor(finished(third, 1).xor(finished(fourth, 0)));
        !remainder(sum.sum())
    }
}

/// The sum of the lanes, 96 bits, modulo the polynomial.
#[inline(always)]
unsafe fn remainder(sum: __m128i) -> u32 {
    // SAFETY: the processor has the instructions.
    unsafe {
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
