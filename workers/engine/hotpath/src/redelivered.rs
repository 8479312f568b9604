//! A message that is delivered again in place: its record says how often it was, and when first
//! (queue-ownership.md 4.5).

use regent_commitlog::{RecordView, find_property};

const FIRST_POP_TIME: &str = "1ST_POP_TIME";
const BORN_HOST_AT: usize = 48;
const TIME_SIZE: usize = 8;
const PROPERTIES_SIZE_MAX: usize = 32_767;
const SEPARATOR: u8 = 2;

/// Add the record to `out`, delivered `count` times before. `false` leaves `out`: it is no record.
pub(crate) fn append_redelivered(
    out: &mut Vec<u8>,
    record: &[u8],
    count: u16,
    first_ms: i64,
) -> bool {
    let Ok(view) = RecordView::parse(record) else {
        return false;
    };
    let start = out.len();
    out.extend_from_slice(view.bytes);
    let host_size = |host: std::net::SocketAddr| if host.is_ipv6() { 20 } else { 8 };
    let times_at =
        start + BORN_HOST_AT + host_size(view.born_host) + TIME_SIZE + host_size(view.store_host);
    let times = view.reconsume_times.saturating_add(i32::from(count));
    out[times_at..times_at + 4].copy_from_slice(&times.to_be_bytes());
    let mut added = Vec::new();
    if find_property(view.properties, FIRST_POP_TIME.as_bytes()).is_none() {
        if view
            .properties
            .last()
            .is_some_and(|last| *last != SEPARATOR)
        {
            added.push(SEPARATOR);
        }
        added.extend_from_slice(format!("{FIRST_POP_TIME}\x01{first_ms}\x02").as_bytes());
    }
    let size = view.properties.len() + added.len();
    let sizes = (
        i16::try_from(size),
        i32::try_from(view.bytes.len() + added.len()),
    );
    if let (Ok(size), Ok(total)) = sizes
        && usize::try_from(size).is_ok_and(|size| size <= PROPERTIES_SIZE_MAX)
    {
        let size_at = out.len() - view.properties.len() - 2;
        out[size_at..size_at + 2].copy_from_slice(&size.to_be_bytes());
        out[start..start + 4].copy_from_slice(&total.to_be_bytes());
        out.extend_from_slice(&added);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use regent_commitlog::{NewMessage, Store, StoreConfig};

    #[test]
    fn the_record_says_how_often_the_message_was_delivered_and_when_first() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut config = StoreConfig::new(dir.path());
        config.segment_size_bytes = 1 << 20;
        let store = Store::open(config, 1).expect("the store opens");
        for (born, store_host) in [("10.0.0.1:5", "10.0.0.2:6"), ("[::1]:5", "[::2]:6")] {
            let message = NewMessage {
                born_host: born.parse().expect("an address"),
                store_host: store_host.parse().expect("an address"),
                reconsume_times: 1,
                properties: b"KEYS\x01k",
                ..NewMessage::new("Orders", 0, b"body")
            };
            let appended = store.writer().expect("it is open").append(&message, 7);
            let position = appended.expect("there is room").log_position;
            let record = store
                .read_record(position)
                .expect("it is intact")
                .expect("it is there");
            let mut out = b"before".to_vec();

            assert!(append_redelivered(&mut out, &record, 2, 99));

            let view = RecordView::parse(&out[6..]).expect("a record");
            assert_eq!(view.bytes.len(), out.len() - 6);
            assert_eq!(view.reconsume_times, 3);
            assert_eq!(view.properties, b"KEYS\x01k\x021ST_POP_TIME\x0199\x02");
            assert_eq!((view.body, view.is_intact()), (&b"body"[..], true));
            assert_eq!(view.store_host, message.store_host);
            let mut again = Vec::new();
            assert!(append_redelivered(&mut again, &out[6..], 1, 100));
            let view = RecordView::parse(&again).expect("a record");
            assert_eq!((view.reconsume_times, view.properties.len()), (4, 23));
        }
    }
}
