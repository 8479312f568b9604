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

#[test]
fn a_message_alone_on_its_page_is_read_without_the_pages_around_it() {
    use memmap2::MmapOptions;

    let mut map = MmapOptions::new().len(4 << 20).map_anon().unwrap();
    map.fill(0x42);
    let page = map.as_ptr() as usize;
    for closed in [page, page + 3 * 4096] {
        // SAFETY: these pages are looked at by nobody any more.
        let refused = unsafe { libc::mprotect(closed as *mut libc::c_void, 4096, libc::PROT_NONE) };
        assert_eq!(refused, 0);
    }

    for size in [4, 5, 16, 17, 31, 32, 33, 63, 64, 65, 100, 1000, 5000] {
        let expected = slow(&vec![0x42; size]);
        for from in [4096, 3 * 4096 - size] {
            let message = &map[from..][..size];
            let mut copied = vec![0; size];
            assert_eq!(crc32(message), expected);
            assert_eq!(copy_with_crc32(&mut copied, message), expected);
        }
    }
}
