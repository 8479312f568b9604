//! Consumers that receive by POP, and acknowledge each message as clients of Java do.

use std::time::{Duration, Instant};

use regent_remoting::{ExtSink, Frame, Text, decode_header};

use crate::Failure;
use crate::options::Options;
use crate::peers::Peers;
use crate::report::{Object, latency_us};
use crate::wire::{Ack, Pop, SUCCESS, next_record, number_of};

const POLLING_FULL: i32 = 209;
const POLLING_TIMEOUT: i32 = 210;

/// One consumer: it has one POP in flight, or the acknowledgements of what the POP brought.
struct Consumer {
    asked_at: Instant,
    /// Messages of the last POP.
    received: u64,
    /// Acknowledgements that have no answer yet.
    open: u64,
}

struct Run {
    topic: String,
    group: String,
    broker: String,
    batch: usize,
    consumers: Vec<Consumer>,
    warm_up: Duration,
    end: Duration,
    started_at: Instant,
    in_flight: usize,
    messages: u64,
    messages_total: u64,
    empty_answers: u64,
    latencies_ns: Vec<u64>,
}

/// Run the command `pop`.
pub(crate) fn run(mut options: Options) -> Result<String, Failure> {
    let (address, timeout) = options.broker()?;
    let connection_count = options.count("connections", 1)?;
    let in_flight = options.count("in-flight", 8)?;
    let warm_up = Duration::from_secs_f64(options.get_or("warm-up", 0.0)?);
    let seconds = options.seconds("seconds")?.ok_or("--seconds is missing")?;
    let started_at = Instant::now();
    let mut run = Run {
        topic: options.get("topic")?,
        group: options.get("group")?,
        broker: options.get("broker")?,
        batch: options.count("batch", 32)?,
        consumers: Vec::new(),
        warm_up,
        end: warm_up + Duration::from_secs_f64(seconds),
        started_at,
        in_flight: 0,
        messages: 0,
        messages_total: 0,
        empty_answers: 0,
        latencies_ns: Vec::new(),
    };
    options.finish()?;
    let mut peers = Peers::connect(&address, connection_count, timeout)?;
    run.started_at = Instant::now();
    for index in 0..connection_count * in_flight {
        run.consumers.push(Consumer {
            asked_at: run.started_at,
            received: 0,
            open: 0,
        });
        let connection = index / in_flight;
        run.ask(peers.out(connection), index)?;
        peers.flush(connection)?;
    }
    while run.in_flight > 0 {
        peers.answers(|frame, out| run.take(frame, out))?;
    }
    Ok(run.report(seconds))
}

impl Run {
    fn ask(&mut self, out: &mut Vec<u8>, index: usize) -> Result<(), Failure> {
        self.consumers[index].asked_at = Instant::now();
        self.in_flight += 1;
        let pop = Pop {
            topic: &self.topic,
            group: &self.group,
            count_max: self.batch,
        };
        pop.append(out, u32::try_from(index)?)
    }

    fn take(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) -> Result<(), Failure> {
        let mut popped = Popped::default();
        let header = decode_header(frame.encoding, frame.header, &mut popped)?;
        let number = number_of(header.opaque)? as usize;
        self.in_flight -= 1;
        let (code, count) = (header.code, self.consumers.len());
        let index = number % count;
        match (number / count, code) {
            (0, SUCCESS) => self.acknowledge(index, &popped, frame.body, out),
            (0, POLLING_FULL | POLLING_TIMEOUT) => {
                self.empty_answers += 1;
                self.continue_until_end(index, out)
            }
            (1, SUCCESS) => self.acknowledged(index, out),
            (kind, code) => {
                let name = if kind == 0 {
                    "a POP"
                } else {
                    "an acknowledgement"
                };
                let remark = header.remark.map(Text::to_str).unwrap_or_default();
                Err(format!("{name} was answered with code {code}: {remark}").into())
            }
        }
    }

    fn acknowledge(
        &mut self,
        index: usize,
        popped: &Popped,
        mut body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let number = u32::try_from(self.consumers.len() + index)?;
        let mut count = 0;
        while !body.is_empty() {
            let record = next_record(&mut body)?;
            let handle = popped.handle(&self.broker, record.queue_id, record.queue_offset)?;
            let ack = Ack {
                topic: &self.topic,
                group: &self.group,
                queue_id: record.queue_id,
                offset: record.queue_offset,
                handle: &handle,
            };
            ack.append(out, number)?;
            count += 1;
        }
        if count == 0 {
            return Err("an answer to a POP contains no message".into());
        }
        let consumer = &mut self.consumers[index];
        (consumer.received, consumer.open) = (count, count);
        self.in_flight += usize::try_from(count)?;
        Ok(())
    }

    /// Note an answer; after the last one of a POP, ask for more messages.
    fn acknowledged(&mut self, index: usize, out: &mut Vec<u8>) -> Result<(), Failure> {
        let consumer = &mut self.consumers[index];
        consumer.open = consumer
            .open
            .checked_sub(1)
            .ok_or("an answer to no acknowledgement")?;
        if consumer.open > 0 {
            return Ok(());
        }
        let (received, latency) = (consumer.received, consumer.asked_at.elapsed());
        self.messages_total += received;
        let passed = self.started_at.elapsed();
        if passed >= self.warm_up && passed < self.end {
            self.messages += received;
            self.latencies_ns.push(u64::try_from(latency.as_nanos())?);
        }
        self.continue_until_end(index, out)
    }

    fn continue_until_end(&mut self, index: usize, out: &mut Vec<u8>) -> Result<(), Failure> {
        if self.started_at.elapsed() < self.end {
            self.ask(out, index)?;
        }
        Ok(())
    }

    fn report(self, seconds: f64) -> String {
        let mut report = Object::default();
        report.json("messages", self.messages_total);
        report.json("empty_answers", self.empty_answers);
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        report.number("per_second", self.messages as f64 / seconds, 1);
        report.json("latency_us", latency_us(self.latencies_ns));
        report.close()
    }
}

/// The header fields of an answer to a POP, of which handles are made.
#[derive(Default)]
struct Popped {
    pop_time: String,
    invisible_time: String,
    revive_queue_id: String,
    /// `retryFlag queueId startOffset`, with a semicolon between two.
    starts: String,
}

impl<'a> ExtSink<'a> for Popped {
    fn clear(&mut self) {
        *self = Self::default();
    }

    fn put(&mut self, key: Text<'a>, value: Option<Text<'a>>) {
        let field = match key.as_plain() {
            Some(b"popTime") => &mut self.pop_time,
            Some(b"invisibleTime") => &mut self.invisible_time,
            Some(b"reviveQid") => &mut self.revive_queue_id,
            Some(b"startOffsetInfo") => &mut self.starts,
            _ => return,
        };
        *field = value
            .map(|text| text.to_str().into_owned())
            .unwrap_or_default();
    }
}

impl Popped {
    /// The handle of a message of the topic itself, as clients make it (remoting.md 2.4).
    fn handle(&self, broker: &str, queue_id: u32, offset: u64) -> Result<String, Failure> {
        let start = self
            .starts
            .split(';')
            .find_map(|one| one.strip_prefix(&format!("0 {queue_id} ")))
            .ok_or_else(|| format!("startOffsetInfo {:?} lacks queue {queue_id}", self.starts))?;
        let (pop_time, invisible_time) = (&self.pop_time, &self.invisible_time);
        let revive_queue_id = &self.revive_queue_id;
        Ok(format!(
            "{start} {pop_time} {invisible_time} {revive_queue_id} 0 {broker} {queue_id} {offset}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_has_eight_fields_of_the_queue_of_its_message() {
        let popped = Popped {
            pop_time: "1758000000000".into(),
            invisible_time: "60000".into(),
            revive_queue_id: "3".into(),
            starts: "0 2 100;0 12 7;1 0 9".into(),
        };

        let handle = popped.handle("broker-a", 12, 8).unwrap();

        assert_eq!(handle, "7 1758000000000 60000 3 0 broker-a 12 8");
        assert!(popped.handle("broker-a", 0, 9).is_err());
    }
}
