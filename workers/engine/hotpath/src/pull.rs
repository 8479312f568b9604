//! Pulls that the hot path answers: those like one that passed every check (remoting.md 2.3: 11).

use std::borrow::Cow;
use std::sync::Arc;

use regent_commitlog::Filter;
use regent_filter::Expression;
use regent_remoting::{ExtSink, Text};

use crate::socket::PullAnswers;

const PULL_MESSAGE: i32 = 11;
const COMMIT_FLAG: i32 = 1;
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
];
const FIELD_COUNT: usize = 12;
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

pub(crate) fn is_pull(code: i32) -> bool {
    code == PULL_MESSAGE
}

/// All of a pull that its checks depend on, but for the queue.
#[derive(Debug, Clone, Copy)]
pub struct PullKind<'a> {
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
    /// Whom consumers are told to ask next.
    pub suggested_broker_id: i64,
    /// The version of the facts that were checked; with another one the grant does not hold.
    pub facts_version: u64,
}

/// Where answers of pulls go, and how many.
pub struct Taker<'t, 's> {
    /// Once answers have so many bytes, the rest of the chunk is left; with 0 there are none.
    pub bytes_max: usize,
    /// Pulls with more in one answer are left to the dispatcher.
    pub answer_bytes_max: usize,
    /// Takes the answers.
    pub answers: &'t mut PullAnswers<'s>,
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
    pub group: String,
    /// The topic.
    pub topic: String,
    /// The queue inside the topic.
    pub queue_id: i32,
    /// Pulls.
    pub pulls: usize,
    /// Messages in the answers.
    pub messages: usize,
    /// Bytes of the records in them.
    pub bytes: usize,
    /// Where the last of them said that the group goes on.
    pub next_offset: u64,
}

/// Collects the fields of a pull.
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
    group: Cow<'a, str>,
    pub(crate) topic: Cow<'a, str>,
    pub(crate) queue_id: i32,
    pub(crate) offset: i64,
    count_max: i32,
    sys_flag: i32,
    commit_offset: i64,
    subscription: Cow<'a, str>,
    version: i64,
    expression_type: Cow<'a, str>,
}

impl<'a> PullFields<'a> {
    /// Read the request; `None` when a field is missing or malformed, which is for the dispatcher
    /// to say.
    pub(crate) fn request(&self) -> Option<PullRequest<'a>> {
        let fields = &self.fields;
        let text = |place: usize| fields[place].map(Text::to_str).unwrap_or_default();
        let required = |place: usize| Some(text(place)).filter(|text| !text.is_empty());
        fields[SUSPEND_TIMEOUT]?.to_i64()?;
        if let Some(size_max) = fields[SIZE_MAX] {
            size_max.to_i32()?;
        }
        Some(PullRequest {
            group: required(GROUP)?,
            topic: required(TOPIC)?,
            queue_id: fields[QUEUE_ID]?.to_i32()?,
            offset: fields[QUEUE_OFFSET]?.to_i64()?,
            count_max: fields[COUNT_MAX]?.to_i32()?,
            sys_flag: fields[SYS_FLAG]?.to_i32()?,
            commit_offset: fields[COMMIT_OFFSET]?.to_i64()?,
            subscription: text(SUBSCRIPTION),
            version: fields[VERSION]?.to_i64()?,
            expression_type: text(EXPRESSION_TYPE),
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
            group: &self.group,
            topic: &self.topic,
            filter,
        }
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
