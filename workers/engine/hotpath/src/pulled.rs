//! Answers of pulls (remoting.md 2.3).

use regent_remoting::{EncodeError, Encoding, FLAG_RESPONSE, Fields, FrameWriter, Language};

use crate::reply::VERSION;

/// The answer to a pull, without the records: they follow the frame that is written here.
#[derive(Debug, Clone, Copy)]
pub struct PullAnswer<'a> {
    /// Of the request.
    pub opaque: i32,
    /// What came of it.
    pub code: i32,
    /// Why, in words.
    pub remark: Option<&'a str>,
    /// `suggestWhichBrokerId`: the broker to ask next.
    pub suggested_broker_id: i64,
    /// Where to go on.
    pub next_offset: u64,
    /// First readable offset of the queue.
    pub min_offset: u64,
    /// Offset of the next message to be appended.
    pub max_offset: u64,
    /// Of a static topic: what the client adds to the offsets of the messages.
    pub offset_delta: Option<i64>,
    /// Bytes that follow.
    pub body_size: usize,
}

impl PullAnswer<'_> {
    /// Writes the frame without its body.
    ///
    /// # Errors
    /// The remark or the body is too long for a frame.
    pub fn write(&self, out: &mut Vec<u8>, encoding: Encoding) -> Result<(), EncodeError> {
        let fields = Fields {
            code: self.code,
            language: Language::JAVA,
            version: VERSION,
            opaque: self.opaque,
            flag: FLAG_RESPONSE,
            remark: self.remark,
        };
        let mut writer = FrameWriter::begin(out, encoding, &fields);
        writer.ext_number("suggestWhichBrokerId", self.suggested_broker_id);
        writer.ext_number("nextBeginOffset", self.next_offset);
        writer.ext_number("minOffset", self.min_offset);
        writer.ext_number("maxOffset", self.max_offset);
        if let Some(delta) = self.offset_delta {
            writer.ext_number("offsetDelta", delta);
        }
        writer.finish_before(self.body_size).map(drop)
    }
}

/// To which request an answer belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answering {
    pub(crate) opaque: i32,
    pub(crate) encoding: Encoding,
}

impl Answering {
    /// Answer with an error.
    pub(crate) fn refuse(self, out: &mut Vec<u8>, code: i32, remark: &str) {
        let fields = Fields {
            code,
            language: Language::JAVA,
            version: VERSION,
            opaque: self.opaque,
            flag: FLAG_RESPONSE,
            remark: Some(remark),
        };
        // A remark of the store fits into a frame.
        let _ = FrameWriter::begin(out, self.encoding, &fields).finish(&[]);
    }
}
