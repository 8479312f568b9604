//! The messages of a scenario.

use regent_commitlog::NewMessage;

const TOPICS: [&str; 3] = ["orders", "%RETRY%group", "t"];

/// A message that was handed to the store; its number makes it unlike any other.
#[derive(Debug, Clone)]
pub struct Message {
    pub topic: &'static str,
    pub queue_id: i32,
    pub body: Vec<u8>,
    pub properties: String,
    /// Log position and queue offset; unknown while the append is under way.
    pub place: Option<(u64, u64)>,
}

impl Message {
    pub fn new(number: u64, random: &mut fastrand::Rng) -> Self {
        let body = [number.to_be_bytes().to_vec(), vec![7; random.usize(..1500)]].concat();
        let (key, tag) = (number % 13, number % 3);
        Self {
            topic: TOPICS[random.usize(..TOPICS.len())],
            queue_id: random.i32(0..2),
            body,
            properties: format!("TAGS\u{1}t{tag}\u{2}KEYS\u{1}k{key}\u{2}"),
            place: None,
        }
    }

    pub fn as_new(&self) -> NewMessage<'_> {
        NewMessage {
            properties: self.properties.as_bytes(),
            ..NewMessage::new(self.topic, self.queue_id, &self.body)
        }
    }
}
