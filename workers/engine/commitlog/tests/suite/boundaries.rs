//! What is just within a limit is taken, and comes back as it was.

use regent_commitlog::{NewMessage, RecordView, Store};

use crate::support::*;

const BODY_SIZE_MAX: usize = 3_000;
const IPV6_FLAGS: i32 = 0x30;

fn open_roomy(dir: &std::path::Path) -> Store {
    let mut config = config(dir);
    config.segment_size_bytes = 1 << 20;
    config.message_body_size_max = BODY_SIZE_MAX;
    Store::open(config, NOW_MS).unwrap()
}

fn kept(store: &Store, message: &NewMessage<'_>) -> Vec<u8> {
    let appended = store.writer().unwrap().append(message, NOW_MS).unwrap();
    store.read_record(appended.log_position).unwrap().unwrap()
}

#[test]
fn the_longest_body_properties_and_topics_are_taken() {
    let dir = tempdir();
    let store = open_roomy(dir.path());
    let body = [3; BODY_SIZE_MAX];
    let properties = [b"name\x01".as_slice(), &[b'v'; 32_761], b"\x02"].concat();
    assert_eq!(properties.len(), 32_767);
    let retry = format!("%RETRY%{}", "g".repeat(248));

    for topic in ["t".repeat(127), retry] {
        let message = NewMessage {
            properties: &properties,
            ..NewMessage::new(&topic, 0, &body)
        };
        let record = kept(&store, &message);
        let view = RecordView::parse(&record).unwrap();

        assert_eq!(view.topic, topic.as_bytes());
        assert!(view.body == body && view.properties == properties);
    }
    drop(store);
    let recovered = open_roomy(dir.path());
    assert_eq!(recovered.recovery().record_count, 2);
    assert_eq!(recovered.recovery().damage, None);
}

#[test]
fn every_bit_of_the_system_flag_is_kept_but_those_that_follow_from_the_hosts() {
    let dir = tempdir();
    let store = open_roomy(dir.path());
    // Compressed, several tags, transaction types, both kinds of compression, and unused bits.
    for sys_flag in [
        0x1,
        0x2,
        0x4,
        0x8,
        0xC,
        0x100,
        0x200,
        0x701,
        0x4000_0000,
        i32::MIN,
    ] {
        for hosts in [0, 0x10, 0x20, 0x30] {
            let host = |bit| {
                if hosts & bit == 0 {
                    "10.0.0.1:7"
                } else {
                    "[::1]:7"
                }
            };
            let message = NewMessage {
                sys_flag: sys_flag | (IPV6_FLAGS & !hosts),
                born_host: host(0x10).parse().unwrap(),
                store_host: host(0x20).parse().unwrap(),
                ..NewMessage::new("t", 0, b"body")
            };

            let record = kept(&store, &message);

            let view = RecordView::parse(&record).unwrap();
            assert_eq!(view.sys_flag, sys_flag | hosts);
            assert_eq!(view.born_host, message.born_host);
            assert_eq!(view.store_host, message.store_host);
        }
    }
}
