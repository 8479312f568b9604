use memmap2::MmapOptions;

use super::super::tests::slow;
use super::*;

/// Every kind that the processor has, with the fewest bytes that it looks at and that it copies.
fn registers() -> impl Iterator<Item = (Widest, usize, usize)> {
    let all = [
        (Widest::Nothing, usize::MAX, usize::MAX),
        (Widest::OneLane, 16, 16),
        (Widest::TwoLanes, 16, 32),
        (Widest::FourLanes, 4, 64),
    ];
    let widest = Ability::find().widest;
    all.into_iter().filter(move |(kind, ..)| *kind <= widest)
}

#[test]
fn each_kind_of_register_computes_the_checksum_of_the_definition_or_leaves_it_to_others() {
    let mut random = fastrand::Rng::with_seed(11);
    let bytes: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
        .take(9_000)
        .collect();

    for size in (0..=1100).chain([4096, 8191]) {
        let message = &bytes[size % 67..][..size];
        let expected = slow(message);
        for (kind, looked_min, copied_min) in registers() {
            let mut copied = vec![0x5A; size + 2];
            // SAFETY: the processor has wider ones, or these.
            let (crc, crc_of_copy) = unsafe {
                (
                    kind.look(message),
                    kind.copy(&mut copied[1..=size], message),
                )
            };

            let is = |minimum| (size >= minimum).then_some(expected);
            assert_eq!(crc, is(looked_min), "{size} bytes, {kind:?}");
            assert_eq!(crc_of_copy, is(copied_min), "{size} bytes copied, {kind:?}");
            let is_copied = copied[1..=size] == *message;
            assert!(is_copied || size < copied_min, "{size} bytes, {kind:?}");
            let beside = (copied[0], copied[size + 1]);
            assert_eq!(beside, (0x5A, 0x5A), "beside {size}, {kind:?}");
        }
    }
}

#[test]
fn a_message_alone_on_its_page_is_read_without_the_pages_around_it() {
    let mut map = MmapOptions::new().len(4 << 20).map_anon().unwrap();
    map.fill(0x42);
    let page = map.as_ptr() as usize;
    for closed in [page, page + 3 * 4096] {
        // SAFETY: these pages are looked at by nobody any more.
        let refused = unsafe { libc::mprotect(closed as *mut libc::c_void, 4096, libc::PROT_NONE) };
        assert_eq!(refused, 0);
    }

    for size in (4..=200).chain([1000, 5000]) {
        let expected = slow(&vec![0x42; size]);
        for from in [4096, 3 * 4096 - size] {
            let message = &map[from..][..size];
            for (kind, ..) in registers() {
                let mut copied = vec![0; size];
                // SAFETY: the processor has wider ones, or these.
                let crcs = unsafe { [kind.look(message), kind.copy(&mut copied, message)] };
                for crc in crcs.into_iter().flatten() {
                    assert_eq!(crc, expected, "{size} bytes, {kind:?}");
                }
            }
        }
    }
}
