//! The frames that measurements send: what a stock Java producer writes.

use regent_remoting::{Encoding, Fields, FrameWriter, Language};

/// A send of `body_size` bytes with the header fields and properties of a Java producer.
pub(crate) fn send(opaque: i32, topic: &str, body_size: usize) -> Vec<u8> {
    let fields = Fields {
        code: 310,
        language: Language::JAVA,
        version: 513,
        opaque,
        flag: 0,
        remark: None,
    };
    let queue_id = (opaque % 4).to_string();
    let mut out = Vec::new();
    let mut writer = FrameWriter::begin(&mut out, Encoding::Json, &fields);
    for (key, value) in [
        ("a", "bench_producer"),
        ("b", topic),
        ("c", "TBW102"),
        ("d", "4"),
        ("e", queue_id.as_str()),
        ("f", "0"),
        ("g", "1758000000000"),
        ("h", "0"),
        (
            "i",
            "UNIQ_KEY\u{1}7F0000010A2B18B4AAC2000000010000\u{2}WAIT\u{1}true\u{2}TAGS\u{1}TagA\u{2}",
        ),
        ("j", "0"),
        ("k", "false"),
        ("m", "false"),
        ("n", "broker-a"),
    ] {
        writer.ext(key, value);
    }
    writer
        .finish(&vec![b'x'; body_size])
        .expect("a frame far below the limits");
    out
}
