//! Frames taken from the reference (remoting.md 1.2, 1.3, 2.2), and the ways they arrive.

#![allow(clippy::unwrap_used)]

mod support;

use regent_remoting::*;
use support::*;

#[test]
fn the_example_of_the_binary_header_is_a_route_query() {
    let bytes = hex(ROUTE_QUERY);
    assert_eq!(bytes.len(), 41);

    let command = decode_one(&bytes);

    assert_eq!(
        (command.code, command.opaque, command.version),
        (105, 7, 479)
    );
    assert_eq!(command.language, Language::JAVA);
    assert_eq!(command.ext, ext(&[("topic", "T")]));
    assert_eq!((command.remark, command.body.len()), (None, 0));
    assert_eq!(command.encoding, Encoding::RocketMq);
}

#[test]
fn the_example_of_the_binary_header_is_written_byte_for_byte() {
    let mut out = Vec::new();
    let fields = Fields {
        code: 105,
        language: Language::JAVA,
        version: 479,
        opaque: 7,
        flag: 0,
        remark: None,
    };

    let mut writer = FrameWriter::begin(&mut out, Encoding::RocketMq, &fields);
    writer.ext("topic", "T");
    writer.finish(b"").unwrap();

    assert_eq!(out, hex(ROUTE_QUERY));
}

#[test]
fn the_send_example_gives_its_fields_and_properties() {
    let header = r#"{"code":310,"extFields":{"a":"pg","b":"TopicTest","c":"TBW102","d":"4","e":"2","f":"0","g":"1758000000000","h":"0","i":"UNIQ_KEY\u00017F0000010A2B\u0002WAIT\u0001true\u0002TAGS\u0001TagA","j":"0","k":"false","m":"false","n":"broker-a"},"flag":0,"language":"JAVA","opaque":12,"version":479}"#;

    let command = decode_one(&frame(0, header.as_bytes(), b"hello"));

    assert_eq!((command.code, command.opaque), (310, 12));
    assert_eq!(command.body, b"hello");
    assert_eq!(command.ext["b"], "TopicTest");
    let properties = "UNIQ_KEY\u{1}7F0000010A2B\u{2}WAIT\u{1}true\u{2}TAGS\u{1}TagA";
    assert_eq!(command.ext["i"], properties);
}

#[test]
fn frames_decode_alike_whole_byte_by_byte_and_back_to_back() {
    let mut stream = Vec::new();
    for round in 0..20 {
        stream.extend(hex(ROUTE_QUERY));
        stream.extend(frame(
            0,
            br#"{"code":1,"extFields":{"k":"v"}}"#,
            &vec![round; 300],
        ));
        stream.extend(frame(1, &hex(ROUTE_QUERY)[8..], b"body"));
    }
    let whole = decode(&stream).unwrap();
    assert_eq!(whole.len(), 60);

    for size in [1, 2, 3, 7, 8, 9, 41, 100, 1000] {
        let mut decoder = Decoder::new(limits::FRAME_SIZE_MAX_DEFAULT);
        let mut commands = Vec::new();
        for chunk in stream.chunks(size) {
            decoder.receive(chunk, &mut commands).unwrap();
        }
        assert!(commands == whole, "chunks of {size}");
    }
}

#[test]
fn absent_keys_take_defaults_and_unknown_keys_are_skipped() {
    let command = decode_one(&json(
        r#" { "x" : [1, {"y": [null, true, -1.5e3]}, "s"], "code":7, "extFields":null , "z":{} } "#,
    ));

    assert_eq!((command.code, command.version, command.flag), (7, 0, 0));
    assert_eq!(command.language, Language::JAVA);
    assert!(command.ext.is_empty());
}

#[test]
fn the_last_of_repeated_keys_wins() {
    let command = decode_one(&json(
        r#"{"code":1,"extFields":{"gone":"1"},"code":2,"extFields":{"a":"1","b":"2","a":"3","b":null}}"#,
    ));

    assert_eq!(command.code, 2);
    assert_eq!(command.ext, ext(&[("a", "3")]));
}

#[test]
fn ext_numbers_and_booleans_are_taken_as_text() {
    let command = decode_one(&json(
        r#"{"extFields":{"a":12,"b":true,"c":-1.50,"d":null,"e":""}}"#,
    ));

    assert_eq!(
        command.ext,
        ext(&[("a", "12"), ("b", "true"), ("c", "-1.50"), ("e", "")])
    );
}

#[test]
fn keys_may_be_escaped_too() {
    let command = decode_one(&json(
        r#"{"\u0063ode":9,"extFields":{"a\"\u00e9":"\ud83d\ude00"}}"#,
    ));

    assert_eq!(command.code, 9);
    assert_eq!(command.ext, ext(&[("a\"é", "😀")]));
}

#[test]
fn an_empty_text_in_a_binary_header_is_none() {
    let mut out = Vec::new();
    let fields = Fields {
        code: 1,
        language: Language::OTHER,
        version: 513,
        opaque: -1,
        flag: 1,
        remark: Some(""),
    };
    let mut writer = FrameWriter::begin(&mut out, Encoding::RocketMq, &fields);
    writer.ext("a", "1");
    writer.ext("a", "");
    writer.ext("", "x");
    writer.ext("b", "2");
    writer.finish(b"").unwrap();

    let command = decode_one(&out);

    assert_eq!(command.remark, None);
    assert_eq!(command.ext, ext(&[("b", "2")]));
    assert_eq!(command.opaque, -1);
}

#[test]
fn codes_beyond_sixteen_bits_lose_their_top_in_binary_headers_only() {
    for (encoding, code) in [(Encoding::Json, 200_050), (Encoding::RocketMq, 3442)] {
        let mut out = Vec::new();
        let fields = Fields {
            code: 200_050,
            language: Language::JAVA,
            version: 513,
            opaque: 1,
            flag: 0,
            remark: None,
        };
        FrameWriter::begin(&mut out, encoding, &fields)
            .finish(b"")
            .unwrap();

        assert_eq!(decode_one(&out).code, code);
    }
}

#[test]
fn whatever_text_is_written_is_read_back() {
    let texts = [
        "",
        "plain",
        "q\"b\\s/",
        "\u{0}\u{1}\u{2}\u{1f}\u{7f}",
        "é中😀",
        "\u{2028}\n",
    ];
    for encoding in [Encoding::Json, Encoding::RocketMq] {
        for text in texts {
            let mut out = b"before".to_vec();
            let fields = Fields {
                code: -5,
                language: Language::JAVA,
                version: 513,
                opaque: i32::MIN,
                flag: 1,
                remark: Some(text),
            };
            let mut writer = FrameWriter::begin(&mut out, encoding, &fields);
            writer.ext("k", text);
            writer.ext_number("n", i64::MIN);
            writer.finish(text.as_bytes()).unwrap();

            let command = decode_one(&out[6..]);

            let kept = (encoding == Encoding::Json || !text.is_empty()).then_some(text);
            assert_eq!(command.remark.as_deref(), kept);
            assert_eq!(command.ext.get("k").map(String::as_str), kept);
            assert_eq!(command.ext["n"], i64::MIN.to_string());
            assert_eq!(command.body, text.as_bytes());
            assert_eq!((command.code, command.opaque), (-5, i32::MIN));
        }
    }
}

#[test]
fn a_frame_that_cannot_be_written_leaves_nothing_behind() {
    let fields = Fields {
        code: 1,
        language: Language::JAVA,
        version: 1,
        opaque: 1,
        flag: 0,
        remark: None,
    };
    let long = "x".repeat(40_000);
    let mut out = b"kept".to_vec();

    let mut writer = FrameWriter::begin(&mut out, Encoding::RocketMq, &fields);
    writer.ext(&long, "v");
    assert_eq!(writer.finish(b""), Err(EncodeError::KeyTooLong(40_000)));

    let mut writer = FrameWriter::begin(&mut out, Encoding::Json, &fields);
    writer.ext("v", &long.repeat(420));
    assert!(matches!(
        writer.finish(b""),
        Err(EncodeError::HeaderTooLong(_))
    ));

    assert_eq!(out, b"kept");
}
