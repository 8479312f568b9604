//! Requests of consumers by POP, and what their answers and the lane hold.

use regent_commitlog::{RecordView, Store};
use regent_hotpath::{PullAnswers, Received};
use regent_remoting::{Command, Encoding, Fields};
use regent_share::{Decoded, Record, Records};
use regent_testing::{fields, frame};

pub(crate) const LANE: &str = "rmq_sys_SHARE_STATE_cluster-1";
/// For how long a delivery hides its messages.
pub(crate) const INVISIBLE_MS: i64 = 60_000;
pub(crate) const FOUND: i32 = 0;

/// One message that a consumer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Popped {
    pub(crate) body: Vec<u8>,
    pub(crate) queue_id: i32,
    pub(crate) offset: u64,
    pub(crate) reconsume_times: i32,
    pub(crate) handle: String,
}

pub(crate) fn decode(answers: &PullAnswers<'_>, received: &Received) -> Vec<Command> {
    let mut bytes = received.replies.clone();
    answers
        .rest(0)
        .for_each(|piece| bytes.extend_from_slice(piece));
    regent_testing::decode(&bytes)
}

/// The messages of an answer, with handles as Java's client makes them.
pub(crate) fn popped(answer: &Command) -> Vec<Popped> {
    if answer.code != FOUND {
        return Vec::new();
    }
    let mut rest = &answer.body[..];
    let mut found = Vec::new();
    let ext = |name: &str| answer.ext[name].to_string();
    while !rest.is_empty() {
        let record = RecordView::parse(rest).unwrap();
        let start = starts(&ext("startOffsetInfo"), record.queue_id);
        let handle = format!(
            "{start} {} {} {} 0 broker-a {} {}",
            ext("popTime"),
            ext("invisibleTime"),
            ext("reviveQid"),
            record.queue_id,
            record.queue_offset
        );
        let listed = offsets(&ext("msgOffsetInfo"), record.queue_id);
        assert!(listed.contains(&record.queue_offset), "{listed:?}");
        found.push(Popped {
            body: record.body.to_vec(),
            queue_id: record.queue_id,
            offset: record.queue_offset,
            reconsume_times: record.reconsume_times,
            handle,
        });
        rest = &rest[record.bytes.len()..];
    }
    found
}

pub(crate) fn starts(info: &str, queue_id: i32) -> String {
    let prefix = format!("0 {queue_id} ");
    let one = info.split(';').find_map(|one| one.strip_prefix(&prefix));
    one.unwrap().to_owned()
}

pub(crate) fn offsets(info: &str, queue_id: i32) -> Vec<u64> {
    let list = starts(info, queue_id);
    list.split(',').map(|one| one.parse().unwrap()).collect()
}

pub(crate) fn request(code: i32, ext: &[(&str, &str)]) -> Vec<u8> {
    let fields = Fields {
        version: 513,
        ..fields(code, 7)
    };
    frame(&fields, Encoding::Json, ext, &[])
}

/// A POP that was made at a time.
pub(crate) fn pop(count: usize, attempt: &str, born_ms: i64) -> Vec<u8> {
    let is_ordered = if attempt.is_empty() { "false" } else { "true" };
    request(
        200_050,
        &[
            ("consumerGroup", "g"),
            ("topic", "Orders"),
            ("queueId", "-1"),
            ("maxMsgNums", &count.to_string()),
            ("invisibleTime", &INVISIBLE_MS.to_string()),
            ("pollTime", "15000"),
            ("bornTime", &born_ms.to_string()),
            ("initMode", "0"),
            ("expType", "TAG"),
            ("exp", "*"),
            ("order", is_ordered),
            ("attemptId", attempt),
        ],
    )
}

pub(crate) fn ack(message: &Popped) -> Vec<u8> {
    request(
        200_051,
        &[
            ("consumerGroup", "g"),
            ("topic", "Orders"),
            ("queueId", &message.queue_id.to_string()),
            ("extraInfo", &message.handle),
            ("offset", &message.offset.to_string()),
        ],
    )
}

pub(crate) fn bodies(found: &[Popped]) -> Vec<&[u8]> {
    let mut bodies: Vec<_> = found.iter().map(|one| &one.body[..]).collect();
    bodies.sort_unstable();
    bodies
}

pub(crate) fn records(store: &Store) -> Vec<Record> {
    let (low, end) = store.held_offsets(LANE, 0).unwrap();
    let count = usize::try_from(end - low).unwrap();
    let mut found = Vec::new();
    for entry in store.held_entries(LANE, 0, low, count) {
        let content = store.held_record(entry.log_position).unwrap().unwrap();
        let message = RecordView::parse(&content).unwrap();
        for record in Records::new(message.body) {
            let Decoded::Known(record) = record.unwrap() else {
                panic!("a record of a later version");
            };
            found.push(record);
        }
    }
    found
}
