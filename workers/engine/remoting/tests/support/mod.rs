//! Builds frames from text and decodes them, for every test of the wire.

#![allow(clippy::unwrap_used, dead_code)] // each test file uses its own share

use std::collections::BTreeMap;

use regent_remoting::{Command, Decoder, FrameError, limits};

pub(crate) fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace()
        .filter(|part| *part != "|")
        .map(|part| u8::from_str_radix(part, 16).unwrap())
        .collect()
}

pub(crate) fn frame(encoding: u8, header: &[u8], body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(4 + header.len() + body.len()).unwrap();
    let mark = u32::from(encoding) << 24 | u32::try_from(header.len()).unwrap();
    [&length.to_be_bytes(), &mark.to_be_bytes(), header, body].concat()
}

pub(crate) fn json(header: &str) -> Vec<u8> {
    frame(0, header.as_bytes(), b"")
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<Command>, FrameError> {
    let mut commands = Vec::new();
    Decoder::new(limits::FRAME_SIZE_MAX_DEFAULT).receive(bytes, &mut commands)?;
    Ok(commands)
}

pub(crate) fn decode_one(bytes: &[u8]) -> Command {
    let mut commands = decode(bytes).unwrap();
    assert_eq!(commands.len(), 1);
    commands.remove(0)
}

pub(crate) fn ext(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

pub(crate) const ROUTE_QUERY: &str = "00 00 00 25 01 00 00 21 | 00 69 00 01 df 00 00 00 07 00 00 00 00 00 00 \
     00 00 00 00 00 0c | 00 05 74 6f 70 69 63 00 00 00 01 54";
