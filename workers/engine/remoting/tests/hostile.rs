//! Broken frames: each is a separate error, and none harms what came before it.

#![allow(clippy::unwrap_used)]

mod support;

use regent_remoting::*;
use support::*;

/// Miri takes a thousand times as long.
const ROUND_COUNT: usize = if cfg!(miri) { 50 } else { 60_000 };
/// Far deeper than headers may be.
const DEPTH: usize = if cfg!(miri) { 1_000 } else { 100_000 };

#[test]
fn broken_prefixes_are_errors() {
    let cases: [(&str, FrameError); 6] = [
        ("ff ff ff ff", FrameError::LengthInvalid(-1)),
        ("00 00 00 03", FrameError::LengthInvalid(3)),
        (
            "7f ff ff ff",
            FrameError::Oversize {
                size: 2_147_483_651,
                limit: 16_777_216,
            },
        ),
        ("00 00 00 04 02 00 00 00", FrameError::EncodingUnknown(2)),
        (
            "00 00 00 04 00 00 00 01",
            FrameError::HeaderBeyondFrame {
                header: 1,
                frame: 8,
            },
        ),
        (
            "00 00 00 04 00 00 00 00",
            FrameError::Header(HeaderError::Truncated),
        ),
    ];
    for (bytes, error) in cases {
        assert_eq!(decode(&hex(bytes)), Err(error), "{bytes}");
    }
    let oversize = frame(0, &vec![b' '; limits::HEADER_SIZE_MAX + 1], b"");
    assert!(matches!(
        decode(&oversize),
        Err(FrameError::HeaderOversize { .. })
    ));
}

#[test]
fn a_header_as_large_as_we_write_is_read_where_that_is_allowed() {
    let fields = Fields {
        code: 0,
        language: Language::JAVA,
        version: 513,
        opaque: 7,
        flag: FLAG_RESPONSE,
        remark: None,
    };
    let mut written = Vec::new();
    let mut writer = FrameWriter::begin(&mut written, Encoding::Json, &fields);
    writer.ext("msgId", &"A".repeat(2 * limits::HEADER_SIZE_MAX));
    writer.finish(b"").unwrap();
    let frame_size_max = limits::FRAME_SIZE_MAX_DEFAULT;
    let read_up_to = |header_size_max| {
        let mut commands = Vec::new();
        Decoder::with_header_limit(frame_size_max, header_size_max)
            .receive(&written, &mut commands)
            .map(|()| commands.len())
    };

    assert_eq!(read_up_to(limits::HEADER_WRITTEN_MAX), Ok(1));
    assert!(matches!(
        read_up_to(limits::HEADER_SIZE_MAX),
        Err(FrameError::HeaderOversize {
            limit: limits::HEADER_SIZE_MAX,
            ..
        })
    ));
}

#[test]
fn broken_json_headers_are_errors() {
    let headers = [
        "",
        " ",
        "null",
        "[]",
        "{",
        "{}x",
        "{\"code\"}",
        "{\"code\":}",
        "{\"code\":1,}",
        "{\"code\":01}",
        "{\"code\":1.0}",
        "{\"code\":\"1\"}",
        "{\"code\":2147483648}",
        "{\"code\":tru}",
        "{\"x\":\"\\q\"}",
        "{\"x\":\"\\u12g4\"}",
        "{\"x\":\"abc}",
        "{\"x\":-}",
        "{\"x\":1.}",
        "{\"x\":1e}",
        "{\"x\":[1}",
        "{\"extFields\":[]}",
        "{\"language\":1}",
        "{\"extFields\":{\"a\":{}}}",
        "{\"extFields\":{\"a\":[]}}",
        "{\"extFields\":{\"a\":NaN}}",
        "{x:1}",
        "{\"remark\":1}",
        "{\"x\":\"\\",
    ];
    for header in headers {
        assert!(
            matches!(decode(&json(header)), Err(FrameError::Header(_))),
            "{header}"
        );
    }
    let not_utf8 = frame(0, b"{\"remark\":\"\xff\"}", b"");
    assert_eq!(
        decode(&not_utf8),
        Err(FrameError::Header(HeaderError::NotUtf8))
    );
    let deep = format!("{{\"x\":{}1{}}}", "[".repeat(DEPTH), "]".repeat(DEPTH));
    assert_eq!(
        decode(&json(&deep)),
        Err(FrameError::Header(HeaderError::TooDeep))
    );
    let many: Vec<_> = (0..=limits::EXT_COUNT_MAX)
        .map(|key| format!("\"{key}\":\"\""))
        .collect();
    let many = format!("{{\"extFields\":{{{}}}}}", many.join(","));
    assert_eq!(
        decode(&json(&many)),
        Err(FrameError::Header(HeaderError::ExtTooMany))
    );
}

#[test]
fn broken_binary_headers_are_errors() {
    let fixed = "00 69 00 01 df 00 00 00 07 00 00 00 00";
    let cases = [
        ("", HeaderError::Truncated),
        (" ff ff ff ff 00 00 00 00", HeaderError::LengthNegative(17)),
        (" 00 00 00 09 00 00 00 00", HeaderError::Truncated),
        (" 00 00 00 01 ff 00 00 00 00", HeaderError::NotUtf8),
        (" 00 00 00 00 ff ff ff ff", HeaderError::LengthNegative(21)),
        (" 00 00 00 00 00 00 00 01", HeaderError::Truncated),
        (" 00 00 00 00 00 00 00 00 00", HeaderError::Trailing(21)),
        (
            " 00 00 00 00 00 00 00 02 ff ff",
            HeaderError::LengthNegative(23),
        ),
        (
            " 00 00 00 00 00 00 00 06 00 00 7f ff ff ff",
            HeaderError::Truncated,
        ),
    ];
    for (rest, error) in cases {
        let bytes = frame(1, &hex(&format!("{fixed}{rest}")), b"");
        assert_eq!(decode(&bytes), Err(FrameError::Header(error)), "{rest}");
    }
}

#[test]
fn an_error_is_final_and_keeps_the_commands_before_it() {
    let mut decoder = Decoder::new(1000);
    let mut commands = Vec::new();
    let mut stream = hex(ROUTE_QUERY);
    stream.extend(json("nonsense"));

    let first = decoder.receive(&stream, &mut commands);
    let second = decoder.receive(&hex(ROUTE_QUERY), &mut commands);

    assert_eq!(commands.len(), 1);
    assert!(first.is_err());
    assert_eq!(first, second);
}

#[test]
fn random_garbage_never_panics() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let seeds = [
        hex(ROUTE_QUERY),
        frame(
            0,
            br#"{"code":310,"extFields":{"a":"\u0001x","b":1},"language":"GO"}"#,
            b"b",
        ),
    ];
    for round in 0..ROUND_COUNT {
        let mut bytes = seeds[round % 2].clone();
        for _ in 0..=random() % 4 {
            let at = usize::try_from(random()).unwrap() % bytes.len();
            bytes[at] = random().to_le_bytes()[0];
        }
        let cut = usize::try_from(random()).unwrap() % bytes.len();
        let mut decoder = Decoder::new(4096);
        let mut commands = Vec::new();
        let split = decoder
            .receive(&bytes[..cut], &mut commands)
            .and_then(|()| decoder.receive(&bytes[cut..], &mut commands));
        let mut whole = Vec::new();
        let at_once = Decoder::new(4096).receive(&bytes, &mut whole);
        assert_eq!(split.is_err(), at_once.is_err());
        assert_eq!(commands, whole);
    }
}
