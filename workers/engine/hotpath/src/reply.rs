//! Answers of sends (remoting.md 2.2, 5).

use regent_commitlog::{AppendError, StoreError};
use regent_remoting::{Encoding, FLAG_RESPONSE, Fields, FrameWriter, Language};

/// The protocol version answers carry: stock 5.5.0. It must not be below 232, or clients refuse
/// SQL filters (remoting.md 1.4).
const VERSION: i32 = 513;

/// Whether clients shall trace; stock's default.
pub(crate) const TRACE_ON: &str = "true";

const SUCCESS: i32 = 0;
const SYSTEM_ERROR: i32 = 1;
const MESSAGE_ILLEGAL: i32 = 13;
const SERVICE_NOT_AVAILABLE: i32 = 14;
const INVALID_PARAMETER: i32 = 29;

/// Who asked, and how to answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) encoding: Encoding,
    pub(crate) opaque: i32,
    pub(crate) region: &'a str,
}

/// What a stored message's sender is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(crate) message_id: &'a str,
    pub(crate) queue_id: i32,
    pub(crate) queue_offset: u64,
    pub(crate) unique_key: Option<&'a str>,
}

impl Asker<'_> {
    fn begin<'o>(&self, out: &'o mut Vec<u8>, code: i32, remark: Option<&str>) -> FrameWriter<'o> {
        let fields = Fields {
            code,
            language: Language::JAVA,
            version: VERSION,
            opaque: self.opaque,
            flag: FLAG_RESPONSE,
            remark,
        };
        let mut writer = FrameWriter::begin(out, self.encoding, &fields);
        writer.ext_text("MSG_REGION", self.region);
        writer.ext_plain("TRACE_ON", TRACE_ON);
        writer
    }

    /// Answer that the message is stored.
    pub(crate) fn stored(&self, out: &mut Vec<u8>, stored: &Stored<'_>) {
        let mut writer = self.begin(out, SUCCESS, None);
        writer.ext_plain("msgId", stored.message_id);
        writer.ext_number("queueId", stored.queue_id);
        writer.ext_number("queueOffset", stored.queue_offset);
        if let Some(key) = stored.unique_key {
            writer.ext_text("transactionId", key);
        }
        self.finish(writer);
    }

    /// Answer that sends are not taken now.
    pub(crate) fn not_writable(&self, out: &mut Vec<u8>) {
        self.refuse(
            out,
            SERVICE_NOT_AVAILABLE,
            "the broker does not take messages now",
        );
    }

    /// Answer why the message was not stored.
    pub(crate) fn failed(&self, out: &mut Vec<u8>, error: &AppendError) {
        let code = match error {
            AppendError::IllegalTopic | AppendError::IllegalQueueId(_) => INVALID_PARAMETER,
            AppendError::MessageTooLarge { .. }
            | AppendError::PropertiesTooLarge(_)
            | AppendError::MalformedBatch(_) => MESSAGE_ILLEGAL,
            AppendError::Store(
                StoreError::DiskFull { .. } | StoreError::Closed | StoreError::Poisoned,
            ) => SERVICE_NOT_AVAILABLE,
            _ => SYSTEM_ERROR,
        };
        self.refuse(out, code, &error.to_string());
    }

    fn refuse(&self, out: &mut Vec<u8>, code: i32, remark: &str) {
        self.finish(self.begin(out, code, Some(remark)));
    }

    /// Close an answer. It always fits: even the ids of the largest batch stay below the header
    /// limit, because each entry of it is nearly as long as its id.
    fn finish(&self, writer: FrameWriter<'_>) {
        let _ = writer.finish(&[]);
    }
}
