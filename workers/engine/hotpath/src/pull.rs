//! Pulls that the hot path answers: those like one that passed every check (remoting.md 2.3: 11).

use std::borrow::Cow;
use std::sync::Arc;

use regent_commitlog::Filter;
use regent_filter::Expression;
use regent_remoting::{ExtSink, Text};

use crate::forward::{FENCE, FORWARDED, PASSED_ON};
use crate::leading::{LeadingQueues, Led};
use crate::parked::PARKED_MS_MAX;
use crate::pop::{AckRequest, PopGrant, PopRequest};
use crate::socket::PullAnswers;

const PULL_MESSAGE: i32 = 11;
const LITE_PULL_MESSAGE: i32 = 361;
const COMMIT_FLAG: i32 = 1;
const SUSPEND_FLAG: i32 = 2;
const SUBSCRIPTION_FLAG: i32 = 4;

const NAMES: [&str; FIELD_COUNT] = [
    "consumerGroup",
    "topic",
    "queueId",
    "queueOffset",
    "maxMsgNums",
    "sysFlag",
    "commitOffset",
    "suspendTimeoutMillis",
    "subscription",
    "subVersion",
    "expressionType",
    "maxMsgBytes",
    "lo",
    "invisibleTime",
    "pollTime",
    "bornTime",
    "initMode",
    "expType",
    "exp",
    "order",
    "attemptId",
    "extraInfo",
    "offset",
    FORWARDED,
    PASSED_ON,
    FENCE,
];
const FIELD_COUNT: usize = 26;
const GROUP: usize = 0;
const TOPIC: usize = 1;
const QUEUE_ID: usize = 2;
const QUEUE_OFFSET: usize = 3;
const COUNT_MAX: usize = 4;
const SYS_FLAG: usize = 5;
const COMMIT_OFFSET: usize = 6;
const SUSPEND_TIMEOUT: usize = 7;
const SUBSCRIPTION: usize = 8;
const VERSION: usize = 9;
const EXPRESSION_TYPE: usize = 10;
const SIZE_MAX: usize = 11;
const IS_LOGICAL: usize = 12;
const INVISIBLE_TIME: usize = 13;
const POLL_TIME: usize = 14;
const BORN_TIME: usize = 15;
const POP_EXPRESSION_TYPE: usize = 17;
const POP_EXPRESSION: usize = 18;
const IS_ORDERED: usize = 19;
const ATTEMPT: usize = 20;
const HANDLE: usize = 21;
const OFFSET: usize = 22;
/// Fields of requests that were forwarded, or that are for this broker alone.
const MARKS: std::ops::Range<usize> = 23..FIELD_COUNT;

pub(crate) fn is_pull(code: i32) -> bool {
    matches!(code, PULL_MESSAGE | LITE_PULL_MESSAGE)
}

/// All of a pull that its checks depend on, but for the queue.
#[derive(Debug, Clone, Copy)]
pub struct PullKind<'a> {
    /// The request code.
    pub code: i32,
    /// The consumer group.
    pub group: &'a str,
    /// The topic.
    pub topic: &'a str,
    /// What the pull says of its filter, or which version of what its group subscribed to it wants.
    pub filter: PullFilter<'a>,
}

/// Where the filter of a pull comes from.
#[derive(Debug, Clone, Copy)]
pub enum PullFilter<'a> {
    /// From the pull; what it does not say is empty.
    Carried {
        /// `subscription`.
        expression: &'a str,
        /// `expressionType`.
        expression_type: &'a str,
    },
    /// From its group's heartbeats.
    Registered {
        /// `subVersion`.
        version: i64,
    },
}

impl PullKind<'_> {
    /// Writes what equal kinds, and only those, have in common.
    pub(crate) fn write_key(&self, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(&self.code.to_le_bytes());
        let mut put = |text: &str| {
            key.extend_from_slice(&text.len().to_le_bytes());
            key.extend_from_slice(text.as_bytes());
        };
        put(self.group);
        put(self.topic);
        match self.filter {
            PullFilter::Carried {
                expression,
                expression_type,
            } => {
                put(expression);
                put(expression_type);
            }
            PullFilter::Registered { version } => key.extend_from_slice(&version.to_le_bytes()),
        }
    }
}

/// Which messages pulls of one kind are given.
#[derive(Debug, Clone)]
pub enum GrantedFilter {
    /// Those whose tag has one of these hashes.
    Tags(Vec<i32>),
    /// Those whose properties match.
    Properties(Arc<Expression>),
}

impl GrantedFilter {
    /// The filter as a read takes it.
    #[must_use]
    pub fn as_filter(&self) -> Filter<'_> {
        match self {
            Self::Tags(hashes) => Filter::Tags(hashes),
            Self::Properties(expression) => Filter::Properties(expression),
        }
    }
}

/// What pulls of one kind may read.
#[derive(Debug, Clone)]
pub struct Grant {
    /// Queues that consumers see.
    pub read_queue_count: i32,
    /// What passes; `None` passes everything.
    pub filter: Option<GrantedFilter>,
    /// Most messages of an answer.
    pub count_max: usize,
    /// Most bytes of an answer, unless its first message has more.
    pub bytes_max: usize,
    /// The id of the broker that consumers are to ask next.
    pub suggested_broker_id: i64,
    /// How long they wait for a message, in milliseconds; `None` as long as they ask for.
    pub parked_ms: Option<i64>,
    /// Whether a consumer outside a queue is moved to its end. A replica may lack messages of its master.
    pub moves_consumers: bool,
    /// The version of the facts that were checked; with another one the grant does not hold.
    pub facts_version: u64,
    /// Of a static topic: the ids and offsets of its pulls are those of logical queues.
    pub leading: Option<Arc<LeadingQueues>>,
    /// Of a POP: how the group receives messages.
    pub pop: Option<PopGrant>,
}

impl Grant {
    /// The last segment of a logical queue, where it is led.
    pub(crate) fn led(&self, global_id: i32) -> Option<Led> {
        self.leading.as_ref()?.led(global_id)
    }
}

/// A grant, with the kind of pulls that it is for.
#[derive(Debug)]
pub struct Granted {
    /// What equal kinds have in common.
    pub(crate) key: Box<[u8]>,
    pub(crate) group: Arc<str>,
    pub(crate) topic: Arc<str>,
    /// Whether the pulls bring their filter, which is that of the grant then.
    carries_filter: bool,
    pub(crate) grant: Grant,
}

impl Granted {
    /// Grant pulls of a kind.
    #[must_use]
    pub fn new(kind: &PullKind<'_>, grant: Grant) -> Self {
        let mut key = Vec::new();
        kind.write_key(&mut key);
        Self {
            key: key.into(),
            group: Arc::from(kind.group),
            topic: Arc::from(kind.topic),
            carries_filter: matches!(kind.filter, PullFilter::Carried { .. }),
            grant,
        }
    }

    /// Whether another grant for the same kind passes the same messages.
    pub(crate) fn has_filter_of(&self, other: &Self) -> bool {
        match (&self.grant.filter, &other.grant.filter) {
            _ if self.carries_filter && other.carries_filter => true,
            (None, None) => true,
            (Some(GrantedFilter::Tags(one)), Some(GrantedFilter::Tags(two))) => one == two,
            (Some(GrantedFilter::Properties(one)), Some(GrantedFilter::Properties(two))) => {
                Arc::ptr_eq(one, two)
            }
            _ => false,
        }
    }
}

/// Where answers of pulls go, and how many.
pub struct Taker<'t, 's> {
    /// Once answers have so many bytes, the rest of the chunk is left; with 0 there are none.
    pub bytes_max: usize,
    /// Pulls with more in one answer are left to the dispatcher.
    pub answer_bytes_max: usize,
    /// Takes the answers.
    pub answers: &'t mut PullAnswers<'s>,
    /// The time by a clock that is never set, for the deadlines of parked pulls.
    pub elapsed_ms: i64,
}

/// An offset to be committed for a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The consumer group.
    pub group: String,
    /// The topic.
    pub topic: String,
    /// The queue inside the topic.
    pub queue_id: i32,
    /// How far the group is.
    pub offset: i64,
}

/// What was answered to one consumer group from one topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// The consumer group.
    pub group: Arc<str>,
    /// The topic.
    pub topic: Arc<str>,
    /// The queue inside the topic.
    pub queue_id: i32,
    /// Pulls that found messages.
    pub pulls: usize,
    /// Pulls that were answered without messages.
    pub missed: usize,
    /// Messages in the answers.
    pub messages: usize,
    /// Bytes of the records in them.
    pub bytes: usize,
    /// Where the last of them said that the group goes on.
    pub next_offset: u64,
}

/// Collects the fields of a pull, of a POP, or of an acknowledgement.
#[derive(Debug, Default)]
pub(crate) struct PullFields<'a> {
    fields: [Option<Text<'a>>; FIELD_COUNT],
    is_used: bool,
}

impl<'a> ExtSink<'a> for PullFields<'a> {
    fn clear(&mut self) {
        if self.is_used {
            *self = Self::default();
        }
    }

    fn put(&mut self, key: Text<'a>, value: Option<Text<'a>>) {
        let name = key.to_bytes();
        if let Some(place) = NAMES.iter().position(|known| known.as_bytes() == &*name) {
            self.is_used = true;
            self.fields[place] = value;
        }
    }
}

/// A pull whose header is whole.
#[derive(Debug)]
pub(crate) struct PullRequest<'a> {
    code: i32,
    group: Cow<'a, str>,
    pub(crate) topic: Cow<'a, str>,
    pub(crate) queue_id: i32,
    pub(crate) offset: i64,
    count_max: i32,
    sys_flag: i32,
    commit_offset: i64,
    suspend_timeout_ms: i64,
    subscription: Cow<'a, str>,
    version: i64,
    expression_type: Cow<'a, str>,
}

impl<'a> PullFields<'a> {
    fn text(&self, place: usize) -> Cow<'a, str> {
        self.fields[place].map(Text::to_str).unwrap_or_default()
    }

    fn required(&self, place: usize) -> Option<Cow<'a, str>> {
        Some(self.text(place)).filter(|text| !text.is_empty())
    }

    /// Read a POP; `None` when a field is missing or malformed, which is for the dispatcher.
    pub(crate) fn pop(&self) -> Option<PopRequest<'a>> {
        let fields = &self.fields;
        let number = |place: usize| fields[place]?.to_i64();
        let is_ordered = fields[IS_ORDERED];
        Some(PopRequest {
            group: self.required(GROUP)?,
            topic: self.required(TOPIC)?,
            queue_id: fields[QUEUE_ID]?.to_i32()?,
            // A NOTIFICATION has neither of these.
            count_max: fields[COUNT_MAX].map_or(Some(1), Text::to_i32)?,
            invisible_ms: fields[INVISIBLE_TIME].map_or(Some(0), Text::to_i64)?,
            poll_ms: number(POLL_TIME)?,
            born_ms: fields[BORN_TIME].map_or(Some(0), Text::to_i64)?,
            expression_type: self.text(POP_EXPRESSION_TYPE),
            expression: self.text(POP_EXPRESSION),
            is_ordered: is_ordered
                .is_some_and(|text| text.to_bytes().eq_ignore_ascii_case(b"true")),
            attempt: self.text(ATTEMPT),
            is_marked: self.is_marked(),
        })
    }

    fn is_marked(&self) -> bool {
        self.fields[MARKS].iter().any(Option::is_some)
    }

    /// Read an acknowledgement; `None` when a field is missing or malformed.
    pub(crate) fn ack(&self) -> Option<AckRequest<'a>> {
        Some(AckRequest {
            group: self.required(GROUP)?,
            topic: self.required(TOPIC)?,
            queue_id: self.fields[QUEUE_ID]?.to_i32()?,
            handle: self.required(HANDLE)?,
            offset: u64::try_from(self.fields[OFFSET]?.to_i64()?).ok()?,
            is_marked: self.is_marked(),
        })
    }

    /// Read the request; `None` when a field is missing or malformed, or its ids are physical ones,
    /// which is for the dispatcher.
    pub(crate) fn request(&self, code: i32) -> Option<PullRequest<'a>> {
        let fields = &self.fields;
        if let Some(size_max) = fields[SIZE_MAX] {
            size_max.to_i32()?;
        }
        // Another broker reads a segment for its clients.
        if fields[IS_LOGICAL].is_some_and(|text| text.to_bytes().eq_ignore_ascii_case(b"false")) {
            return None;
        }
        Some(PullRequest {
            code,
            group: self.required(GROUP)?,
            topic: self.required(TOPIC)?,
            queue_id: fields[QUEUE_ID]?.to_i32()?,
            offset: fields[QUEUE_OFFSET]?.to_i64()?,
            count_max: fields[COUNT_MAX]?.to_i32()?,
            sys_flag: fields[SYS_FLAG]?.to_i32()?,
            commit_offset: fields[COMMIT_OFFSET]?.to_i64()?,
            suspend_timeout_ms: fields[SUSPEND_TIMEOUT]?.to_i64()?,
            subscription: self.text(SUBSCRIPTION),
            version: fields[VERSION]?.to_i64()?,
            expression_type: self.text(EXPRESSION_TYPE),
        })
    }
}

impl PullRequest<'_> {
    pub(crate) fn kind(&self) -> PullKind<'_> {
        let filter = if self.sys_flag & SUBSCRIPTION_FLAG == 0 {
            PullFilter::Registered {
                version: self.version,
            }
        } else {
            PullFilter::Carried {
                expression: &self.subscription,
                expression_type: &self.expression_type,
            }
        };
        PullKind {
            code: self.code,
            group: &self.group,
            topic: &self.topic,
            filter,
        }
    }

    /// How long the pull waits for a message, in milliseconds; `None` if it does not wait.
    pub(crate) fn parked_ms(&self, grant: &Grant) -> Option<i64> {
        let parked_ms = grant.parked_ms.unwrap_or(self.suspend_timeout_ms);
        (self.sys_flag & SUSPEND_FLAG != 0).then(|| parked_ms.clamp(0, PARKED_MS_MAX))
    }

    /// How many messages may be answered: one at least.
    pub(crate) fn count_max(&self, grant: &Grant) -> usize {
        let asked = usize::try_from(self.count_max).unwrap_or(0);
        asked.min(grant.count_max).max(1)
    }

    /// The offset that the consumer commits along with it.
    pub(crate) fn commit(&self) -> Option<Commit> {
        (self.sys_flag & COMMIT_FLAG != 0).then(|| Commit {
            group: self.group.to_string(),
            topic: self.topic.to_string(),
            queue_id: self.queue_id,
            offset: self.commit_offset,
        })
    }
}
