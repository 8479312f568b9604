//! Pulls of batches from the start of each queue to its end, over and over.

use std::time::{Duration, Instant};

use regent_remoting::Frame;

use crate::Failure;
use crate::options::Options;
use crate::peers::Peers;
use crate::report::{Object, latency_us};
use crate::wire::{Answer, PULL_NOT_FOUND, PULL_OFFSET_MOVED, Pull, SUCCESS, next_record};

/// One reader: it has one pull in flight.
struct Reader {
    queue_id: usize,
    offset: u64,
    asked_at: Instant,
}

struct Run {
    topic: String,
    batch: usize,
    readers: Vec<Reader>,
    warm_up: Duration,
    end: Duration,
    started_at: Instant,
    in_flight: usize,
    messages: u64,
    messages_total: u64,
    latencies_ns: Vec<u64>,
}

/// Run the command `pull`.
pub(crate) fn run(mut options: Options) -> Result<String, Failure> {
    let (address, timeout) = options.broker()?;
    let topic = options.get("topic")?;
    let queue_count = options.count("queues", 8)?;
    let connection_count = options.count("connections", 1)?;
    let in_flight = options.count("in-flight", 8)?;
    let batch = options.count("batch", 32)?;
    let warm_up = Duration::from_secs_f64(options.get_or("warm-up", 0.0)?);
    let seconds = options.seconds("seconds")?.ok_or("--seconds is missing")?;
    options.finish()?;
    let mut peers = Peers::connect(&address, connection_count, timeout)?;
    let started_at = Instant::now();
    let mut run = Run {
        topic,
        batch,
        readers: (0..connection_count * in_flight)
            .map(|index| Reader {
                queue_id: index % queue_count,
                offset: 0,
                asked_at: started_at,
            })
            .collect(),
        warm_up,
        end: warm_up + Duration::from_secs_f64(seconds),
        started_at,
        in_flight: 0,
        messages: 0,
        messages_total: 0,
        latencies_ns: Vec::new(),
    };
    for index in 0..run.readers.len() {
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
        let reader = &mut self.readers[index];
        reader.asked_at = Instant::now();
        self.in_flight += 1;
        let pull = Pull {
            topic: &self.topic,
            queue_id: reader.queue_id,
            offset: reader.offset,
            count_max: self.batch,
            hold_ms: 0,
        };
        pull.append(out, u32::try_from(index)?)
    }

    fn take(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) -> Result<(), Failure> {
        let answer = Answer::decode(frame)?;
        let index = answer.number as usize;
        let reader = self.readers.get_mut(index).ok_or("an answer to no pull")?;
        let passed = self.started_at.elapsed();
        self.in_flight -= 1;
        let count = match answer.code {
            SUCCESS => check(frame.body, reader)?,
            PULL_NOT_FOUND | PULL_OFFSET_MOVED if reader.offset > 0 => 0,
            code => {
                let remark = answer.remark.unwrap_or_default();
                return Err(format!("a pull was answered with code {code}: {remark}").into());
            }
        };
        let next = answer
            .next_offset
            .ok_or("an answer without nextBeginOffset")?;
        let max = answer.max_offset.ok_or("an answer without maxOffset")?;
        // At the end of the queue, from its start again.
        reader.offset = if count == 0 || next >= max { 0 } else { next };
        self.messages_total += count;
        if passed >= self.warm_up && passed < self.end {
            self.messages += count;
            let latency = reader.asked_at.elapsed().as_nanos();
            self.latencies_ns.push(u64::try_from(latency)?);
        }
        if passed < self.end {
            self.ask(out, index)?;
        }
        Ok(())
    }

    fn report(self, seconds: f64) -> String {
        let mut report = Object::default();
        report.json("messages", self.messages_total);
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        report.number("per_second", self.messages as f64 / seconds, 1);
        report.json("latency_us", latency_us(self.latencies_ns));
        report.close()
    }
}

/// Check that an answer holds the wanted queue without a gap, each body with its CRC; count them.
fn check(mut bytes: &[u8], reader: &Reader) -> Result<u64, Failure> {
    let mut expected = reader.offset;
    while !bytes.is_empty() {
        let record = next_record(&mut bytes)?;
        if record.queue_offset != expected || record.queue_id as usize != reader.queue_id {
            return Err(format!(
                "queue {} shows offset {} of queue {} instead of {expected}",
                reader.queue_id, record.queue_offset, record.queue_id
            )
            .into());
        }
        expected += 1;
    }
    Ok(expected - reader.offset)
}
