//! What clients and brokers send each other (remoting.md 1).

use std::collections::BTreeMap;

use regent_remoting::{
    Command, Decoder, Encoding, Fields, FrameError, FrameWriter, Framer, Language, PropertyString,
    decode_header, limits,
};

use crate::Target;

const FRAME_SIZE_MAX: usize = 64 << 10;
/// A frame's length and that of its header.
const HEAD_SIZE: usize = 8;

pub(crate) const FRAMES: Target = Target {
    name: "frames",
    inputs: || [Encoding::Json, Encoding::RocketMq].map(real).to_vec(),
    entry_point: || Box::new(frames),
};

pub(crate) const JSON_HEADER: Target = Target {
    name: "json-header",
    inputs: || vec![real_header(Encoding::Json)],
    entry_point: || Box::new(|bytes| header(Encoding::Json, bytes)),
};

pub(crate) const BINARY_HEADER: Target = Target {
    name: "binary-header",
    inputs: || vec![real_header(Encoding::RocketMq)],
    entry_point: || Box::new(|bytes| header(Encoding::RocketMq, bytes)),
};

pub(crate) const PROPERTY_STRING: Target = Target {
    name: "property-string",
    inputs: || {
        let texts = [
            r#"UNIQ_KEY\u00017F00\u0002WAIT\u0001true\u0002TAGS\u0001TagA","j":"0"}"#,
            r#"KEYS\u0001a\u2026\n\"b\u0002\u0003""#,
        ];
        texts.map(|text| text.as_bytes().to_vec()).to_vec()
    },
    entry_point: || Box::new(property_string),
};

/// A send of one message.
fn real(encoding: Encoding) -> Vec<u8> {
    let fields = Fields {
        code: 310,
        language: Language::JAVA,
        version: 513,
        opaque: 7,
        flag: 0,
        remark: Some("a \"remark\""),
    };
    let mut written = Vec::new();
    let mut writer = FrameWriter::begin(&mut written, encoding, &fields);
    for (name, value) in [("a", "group"), ("e", "0"), ("i", "TAGS\u{1}red\u{2}")] {
        writer.ext(name, value);
    }
    writer.finish(b"body").unwrap();
    written
}

fn real_header(encoding: Encoding) -> Vec<u8> {
    let frame = real(encoding);
    frame[HEAD_SIZE..frame.len() - b"body".len()].to_vec()
}

/// Bytes as what a peer sends: however it is cut into pieces, the commands are the same.
fn frames(bytes: &[u8]) {
    let (at_once, whole) = receive(bytes, bytes.len().max(1));
    let piece_size = 1 + bytes.len() % 7;
    let (in_pieces, commands) = receive(bytes, piece_size);
    assert_eq!(in_pieces, at_once);
    assert_eq!(commands, whole);
    let mut framer = Framer::new(FRAME_SIZE_MAX);
    let mut frames = framer.receive(bytes);
    while let Ok(Some(frame)) = frames.next_frame() {
        assert!(frame.header.len() + frame.body.len() + HEAD_SIZE <= bytes.len());
    }
}

fn receive(bytes: &[u8], piece_size: usize) -> (Result<(), FrameError>, Vec<Command>) {
    let mut decoder = Decoder::new(FRAME_SIZE_MAX);
    let mut commands = Vec::new();
    let mut pieces = bytes.chunks(piece_size);
    let received = pieces.try_for_each(|piece| decoder.receive(piece, &mut commands));
    (received, commands)
}

/// Bytes as a header: what is read, and written again, is read as the same.
fn header(encoding: Encoding, bytes: &[u8]) {
    let mut ext = BTreeMap::new();
    let Ok(header) = decode_header(encoding, bytes, &mut ext) else {
        return;
    };
    let remark = header.remark.map(|remark| remark.to_str().into_owned());
    let fields = Fields {
        code: header.code,
        language: header.language,
        version: header.version,
        opaque: header.opaque,
        flag: header.flag,
        remark: remark.as_deref(),
    };
    let mut written = Vec::new();
    let mut writer = FrameWriter::begin(&mut written, encoding, &fields);
    for (key, value) in &ext {
        writer.ext(key, value);
    }
    if writer.finish(b"").is_err() {
        // Longer than what is sent, or a key that the binary form has no room for.
        return;
    }
    let mut commands = Vec::new();
    let frame_size_max = limits::FRAME_SIZE_MAX_DEFAULT;
    Decoder::with_header_limit(frame_size_max, limits::HEADER_WRITTEN_MAX)
        .receive(&written, &mut commands)
        .unwrap();
    let [command] = &commands[..] else {
        panic!("{} commands", commands.len());
    };
    assert_eq!((command.code, command.opaque), (header.code, header.opaque));
    assert_eq!(command.flag, header.flag);
    assert_eq!(command.ext, ext);
}

/// Bytes as the properties inside a JSON header: the fast way reads what the whole header reads.
fn property_string(bytes: &[u8]) {
    let mut string = PropertyString::default();
    let Some(rest) = string.read(bytes) else {
        return;
    };
    let inside = &bytes[..bytes.len() - rest.len()];
    let header = [&br#"{"extFields":{"i":""#[..], inside, br#""}}"#].concat();
    let mut ext = BTreeMap::new();
    decode_header(Encoding::Json, &header, &mut ext).unwrap();
    assert_eq!(ext["i"].as_bytes(), string.bytes());
    let pairs: Vec<_> = string.pairs().collect();
    let searched: Vec<_> = regent_remoting::properties::pairs(string.bytes()).collect();
    assert_eq!(pairs, searched);
}
