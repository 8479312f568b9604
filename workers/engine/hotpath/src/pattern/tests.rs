//! Patterns beside the decoder.

use super::*;
use crate::properties::Verdict;

const SHORT: &str = r#"{"code":310,"extFields":{"a":"pg","b":"Orders","c":"TBW102","d":"4","e":"2","f":"0","g":"1758000000000","h":"0","i":"UNIQ_KEY\u00017F0000010A2B18B4AAC2000000010000\u0002WAIT\u0001true\u0002TAGS\u0001A","j":"0","k":"false","m":"false","n":"broker-a"},"flag":0,"language":"JAVA","opaque":17,"serializeTypeCurrentRPC":"JSON","version":513}"#;
const HALF: &str = r#"{"code":310,"extFields":{"a":"pg","b":"Orders","c":"TBW102","d":"4","e":"2","f":"4","g":"1758000000000","h":"0","i":"TRAN_MSG\u0001true\u0002UNIQ_KEY\u00017F0000010A2B18B4AAC2000000010000\u0002PGROUP\u0001pg\u0002REAL_QID\u00017\u0002CHECK_IMMUNITY_TIME_IN_SECONDS\u00015","j":"0","m":"false"},"flag":0,"language":"JAVA","opaque":17,"version":513}"#;
const LONG: &str = r#"{"code":10,"opaque":17,"extFields":{"producerGroup":"pg","topic":"Orders","defaultTopic":"TBW102","defaultTopicQueueNums":"4","queueId":"2","sysFlag":"0","bornTimestamp":"1758000000000","flag":"0","properties":"KEYS\u0001k1\u0002WAIT\u0001false\u0002","reconsumeTimes":"0"},"flag":2,"language":"CPP","version":401}"#;

/// Miri takes a thousand times as long.
const ROUND_COUNT: usize = if cfg!(miri) { 400 } else { 60_000 };

/// All that a send comes to.
type Read = (i32, i32, String, i32, i64, Verdict, Vec<u8>, i64);

fn whole((opaque, flag): (i32, i32), send: &SendRequest<'_>, buffer: &mut PropertyBuffer) -> Read {
    let verdict = buffer.keep();
    let stored = match verdict {
        Verdict::Cold => Vec::new(),
        Verdict::Ordinary { .. } | Verdict::Half { .. } => buffer.stored().to_vec(),
    };
    let (topic, code) = (send.topic.clone().into_owned(), buffer.tags_code());
    let time = send.born_timestamp_ms;
    let is_cold = verdict == Verdict::Cold;
    let code = if is_cold { 0 } else { code };
    (
        opaque,
        flag,
        topic,
        send.queue_id,
        time,
        verdict,
        stored,
        code,
    )
}

fn decoded(header: &[u8]) -> Option<Read> {
    let mut fields = SendFields::default();
    let header = decode_header(Encoding::Json, header, &mut fields).ok()?;
    let mut buffer = PropertyBuffer::default();
    buffer.set(fields.properties(header.code));
    let send = fields.request(header.code)?;
    Some(whole((header.opaque, header.flag), &send, &mut buffer))
}

fn followed(patterns: &mut SendPatterns, header: &[u8]) -> Option<Read> {
    let mut buffer = PropertyBuffer::default();
    let followed = patterns.follow(header, &mut buffer)?;
    let numbers = (followed.opaque, followed.header_flag);
    Some(whole(numbers, &followed.send, &mut buffer))
}

fn learn(patterns: &mut SendPatterns, header: &[u8]) {
    let mut fields = SendFields::default();
    let decoded = decode_header(Encoding::Json, header, &mut fields).unwrap();
    patterns.learn(header, &decoded, &fields);
}

#[test]
fn a_header_that_differs_in_the_four_values_is_followed() {
    let mut patterns = SendPatterns::default();
    learn(&mut patterns, SHORT.as_bytes());
    learn(&mut patterns, LONG.as_bytes());
    learn(&mut patterns, HALF.as_bytes());
    let other_key = SHORT.replace("7F0000010A2B", "7F0000010A2C");
    for (header, old, new) in [
        (SHORT, "\"opaque\":17", "\"opaque\":123456789"),
        (SHORT, "\"e\":\"2\"", "\"e\":\"13\""),
        (SHORT, "1758000000000", "1758000000001"),
        (SHORT, "TAGS\\u0001A", "TAGS\\u0001Another"),
        (&other_key, "17,", "18,"),
        (HALF, "\"e\":\"2\"", "\"e\":\"13\""),
        (HALF, "AAC2", "AAC3"),
        (HALF, "\\u00015", "\\u000160"),
        (HALF, "true", "false"),
        (LONG, "k1", "schlüssel"),
        (LONG, "\"opaque\":17", "\"opaque\":0"),
    ] {
        let header = header.replace(old, new);

        let read = followed(&mut patterns, header.as_bytes());

        assert!(read.is_some(), "{header}");
        assert_eq!(read, decoded(header.as_bytes()), "{header}");
    }
}

#[test]
fn whatever_is_followed_is_what_the_decoder_finds() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut patterns = SendPatterns::default();
    learn(&mut patterns, SHORT.as_bytes());
    learn(&mut patterns, LONG.as_bytes());
    learn(&mut patterns, HALF.as_bytes());
    let parts = [
        "7",
        "0",
        "00",
        "-",
        "\"",
        "\\",
        "\\u0001",
        "\\u0002",
        "UNIQ_KEY\\u0001",
        "ü",
        " ",
    ];
    let mut followed_count = 0;
    for _ in 0..ROUND_COUNT {
        let mut header = [SHORT, LONG, HALF][random.usize(..3)].to_owned();
        for _ in 0..random.usize(1..3) {
            let at = random.usize(..header.len());
            let end = (at + random.usize(..4)).min(header.len());
            if header.is_char_boundary(at) && header.is_char_boundary(end) {
                header.replace_range(at..end, parts[random.usize(..parts.len())]);
            }
        }
        if let Some(read) = followed(&mut patterns, header.as_bytes()) {
            followed_count += 1;
            assert_eq!(Some(read), decoded(header.as_bytes()), "{header}");
        }
    }
    assert!(followed_count > ROUND_COUNT / 20, "{followed_count}");
}

#[test]
fn a_key_that_stands_elsewhere_makes_no_pattern() {
    // The number that is asked for comes second.
    let header = SHORT.replacen("\"a\":", "\"opaque\":5,\"a\":", 1);
    let mut patterns = SendPatterns::default();

    learn(&mut patterns, header.as_bytes());

    assert_eq!(patterns.patterns.len(), 0);
    assert_eq!(followed(&mut patterns, header.as_bytes()), None);
}

#[test]
fn patterns_that_no_header_follows_become_rare() {
    let mut patterns = SendPatterns::default();
    let mut made_count = 0;
    for number in 0..10_000 {
        let header = SHORT.replace("Orders", &format!("Orders{number}"));
        let before = patterns
            .patterns
            .get(patterns.latest)
            .map(|it| it.topic.clone());
        learn(&mut patterns, header.as_bytes());
        let after = patterns
            .patterns
            .get(patterns.latest)
            .map(|it| it.topic.clone());
        made_count += usize::from(before != after);
    }
    assert_eq!(patterns.patterns.len(), PATTERN_COUNT_MAX);
    assert!(
        (PATTERN_COUNT_MAX..40).contains(&made_count),
        "{made_count}"
    );
}

#[test]
fn long_properties_are_not_kept() {
    for (tag_size, is_kept) in [(1, true), (100_000, false)] {
        let header = SHORT.replace(
            "TAGS\\u0001A",
            &format!("TAGS\\u0001{}", "A".repeat(tag_size)),
        );
        let mut patterns = SendPatterns::default();

        learn(&mut patterns, header.as_bytes());

        // The trial and the first one have other properties than the one before.
        for _ in 0..2 {
            assert!(followed(&mut patterns, header.as_bytes()).is_some());
        }
        assert_eq!(patterns.patterns[0].repeated.is_some(), is_kept);
    }
}
