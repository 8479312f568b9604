use super::super::tests::slow;
use super::*;

#[test]
fn every_register_that_the_processor_has_computes_the_checksum_of_the_definition() {
    let mut random = fastrand::Rng::with_seed(11);
    let bytes: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
        .take(9_000)
        .collect();
    let widest = Ability::find().widest;

    for registers in [Widest::OneLane, Widest::TwoLanes, Widest::FourLanes] {
        if registers > widest {
            continue;
        }
        for size in (64..=1100).chain([4096, 8191]) {
            let message = &bytes[size % 67..][..size];
            let mut copied = vec![0x5A; size + 2];
            // SAFETY: the processor has wider ones, or these.
            let (crc, crc_of_copy) = unsafe {
                (
                    registers.look(message),
                    registers.copy(&mut copied[1..=size], message),
                )
            };

            let expected = Some(slow(message));
            assert_eq!(crc, expected, "{size} bytes, {registers:?}");
            assert_eq!(crc_of_copy, expected, "{size} bytes copied, {registers:?}");
            assert_eq!(
                copied[1..=size],
                *message,
                "{size} bytes copied, {registers:?}"
            );
            assert_eq!(
                (copied[0], copied[size + 1]),
                (0x5A, 0x5A),
                "beside {size}, {registers:?}"
            );
        }
    }
}

#[test]
fn short_messages_are_left_to_others_or_have_the_checksum_of_the_definition() {
    let bytes: Vec<u8> = (1..64).collect();
    let widest = Ability::find().widest;

    for registers in [
        Widest::Nothing,
        Widest::OneLane,
        Widest::TwoLanes,
        Widest::FourLanes,
    ] {
        if registers > widest {
            continue;
        }
        for size in 0..bytes.len() {
            let message = &bytes[..size];
            // SAFETY: the processor has wider ones, or these.
            let crc = unsafe { registers.look(message) };

            assert!(
                crc.is_none_or(|crc| crc == slow(message)),
                "{size} bytes, {registers:?}"
            );
        }
    }
}
