use super::*;

/// Bit by bit, as the polynomial is defined.
pub(super) fn slow(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
        }
    }
    !crc
}

#[test]
fn the_check_value_is_that_of_the_catalogue() {
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    assert_eq!(crc32(b""), 0);
}

#[test]
fn every_size_at_every_alignment_has_the_checksum_of_the_definition() {
    let mut random = fastrand::Rng::with_seed(7);
    let bytes: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
        .take(66_000)
        .collect();

    for size in (0..=1100).chain([2047, 2048, 2049, 4096, 4100, 16_383, 65_537]) {
        let message = &bytes[size % 67..][..size];
        let expected = slow(message);
        let mut copied = vec![0x5A; size + 2];
        let crc_of_copy = copy_with_crc32(&mut copied[1..=size], message);

        assert_eq!(crc32(message), expected, "{size} bytes");
        assert_eq!(narrow(message), expected, "{size} bytes");
        assert_eq!(crc_of_copy, expected, "{size} bytes copied");
        assert_eq!(copied[1..=size], *message, "{size} bytes copied");
        copied[1..=size].fill(0);
        let crc_beside_copy = copy_and_look(&mut copied[1..=size], message);
        assert_eq!(crc_beside_copy, expected, "{size} bytes copied at once");
        assert_eq!(copied[1..=size], *message, "{size} bytes copied at once");
        assert_eq!((copied[0], copied[size + 1]), (0x5A, 0x5A), "beside {size}");
    }
}
