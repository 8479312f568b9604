use super::super::tests::slow;
use super::*;

/// Four lanes of a processor that computes bit by bit: not every one that tests run on has them.
#[derive(Clone, Copy)]
struct Slow([u128; 4]);

impl Register for Slow {
    const BYTES: usize = 64;
    const SIZE_MIN: usize = 4;

    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the caller says.
        unsafe { Self(from.cast::<[u128; 4]>().read_unaligned()) }
    }

    unsafe fn load_behind(zeros: usize, from: *const u8) -> Self {
        let mut bytes = [0; 64];
        let length = bytes.len() - zeros;
        // SAFETY: as the caller says.
        bytes[zeros..].copy_from_slice(unsafe { std::slice::from_raw_parts(from, length) });
        // SAFETY: the bytes are as many.
        unsafe { Self::load(bytes.as_ptr()) }
    }

    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as the caller says.
        unsafe { to.cast::<[u128; 4]>().write_unaligned(self.0) }
    }

    unsafe fn xor(self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane] ^ other.0[lane]))
    }

    unsafe fn multiply(self, keys: Self) -> Self {
        Self(std::array::from_fn(|lane| {
            let (value, key) = (self.0[lane], keys.0[lane]);
            product(low(value), low(key)) ^ product(low(value >> 64), low(key >> 64))
        }))
    }

    unsafe fn sum(self) -> __m128i {
        let sum = self.0.into_iter().fold(0, |sum, lane| sum ^ lane);
        // SAFETY: every processor has the instruction.
        unsafe { _mm_set_epi64x(low(sum >> 64).cast_signed(), low(sum).cast_signed()) }
    }
}

#[allow(clippy::cast_possible_truncation)] // the lower half
fn low(value: u128) -> u64 {
    value as u64
}

/// Without carries.
fn product(left: u64, right: u64) -> u128 {
    let bits = (0..64).filter(|bit| right >> bit & 1 == 1);
    bits.fold(0, |sum, bit| sum ^ u128::from(left) << bit)
}

#[test]
fn four_lanes_compute_the_checksum_of_the_definition() {
    if !is_x86_feature_detected!("pclmulqdq") {
        return;
    }
    let mut random = fastrand::Rng::with_seed(5);
    let bytes: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
        .take(3_000)
        .collect();

    for size in (4..=700).chain([1023, 1024, 2900]) {
        let message = &bytes[size % 67..][..size];
        // SAFETY: the processor multiplies, and so many bytes are readable.
        let crc = unsafe { look::<Slow>(message.as_ptr(), size) };

        assert_eq!(crc, slow(message), "{size} bytes");
    }
}
