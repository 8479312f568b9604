//! Pulls that a broker holds at the end of their queues, all woken by one message a queue.

use std::time::{Duration, Instant};

use regent_remoting::Frame;

use crate::Failure;
use crate::options::Options;
use crate::peers::Peers;
use crate::report::{Object, latency_us};
use crate::wire::{Answer, BODY_SIZE_MIN, Pull, SUCCESS, Send, next_record};

/// Longer than any run: no pull ends by itself.
const HOLD_MS: u64 = 600_000;

struct Run {
    topic: String,
    sends: Vec<Send>,
    /// Where the next message of each queue goes.
    offsets: Vec<u64>,
    pull_count: usize,
    pause: Duration,
    woken: usize,
    sent_at: Instant,
    latencies_ns: Vec<u64>,
}

/// Run the command `wake`.
pub(crate) fn run(mut options: Options) -> Result<String, Failure> {
    let (address, timeout) = options.broker()?;
    let topic: String = options.get("topic")?;
    let queue_count = options.count("queues", 8)?;
    let connection_count = options.count("connections", 8)?;
    let pull_count = options.count("pulls", 10_000)?;
    let round_count = options.count("rounds", 5)?;
    let pause_ms = options.count("pause-ms", 300)?;
    options.finish()?;
    let sends = (0..queue_count)
        .map(|queue_id| Send::new(&topic, queue_id, queue_count, BODY_SIZE_MIN))
        .collect::<Result<_, _>>()?;
    let mut sender = Peers::connect(&address, 1, timeout)?;
    let mut pullers = Peers::connect(&address, connection_count, timeout)?;
    let mut run = Run {
        topic,
        sends,
        offsets: vec![0; queue_count],
        pull_count,
        pause: Duration::from_millis(pause_ms as u64),
        woken: 0,
        sent_at: Instant::now(),
        latencies_ns: Vec::new(),
    };
    run.send(&mut sender)?;
    let mut rounds_us = Vec::with_capacity(round_count);
    for _ in 0..round_count {
        rounds_us.push(run.round(&mut sender, &mut pullers)?);
    }
    Ok(run.report(&rounds_us))
}

impl Run {
    /// Park the pulls, send, and give the microseconds until the last pull is answered.
    fn round(&mut self, sender: &mut Peers, pullers: &mut Peers) -> Result<f64, Failure> {
        self.woken = 0;
        self.park(pullers)?;
        self.sent_at = Instant::now();
        let offsets = self.offsets.clone();
        self.start_sends(sender)?;
        while self.woken < self.pull_count {
            if !pullers.turn(pullers.timeout(), |frame, _| self.wake(frame, &offsets))? {
                let (woken, all) = (self.woken, self.pull_count);
                return Err(format!("{woken} of {all} held pulls were woken, then none").into());
            }
        }
        let passed = self.sent_at.elapsed();
        self.finish_sends(sender)?;
        Ok(passed.as_secs_f64() * 1e6)
    }

    /// Ask at the end of each queue, and give the broker time to hold the pulls.
    fn park(&mut self, pullers: &mut Peers) -> Result<(), Failure> {
        for number in 0..self.pull_count {
            let queue_id = number % self.sends.len();
            let connection = number / self.sends.len() % pullers.count();
            let pull = Pull {
                topic: &self.topic,
                queue_id,
                offset: self.offsets[queue_id],
                count_max: 1,
                hold_ms: HOLD_MS,
            };
            pull.append(pullers.out(connection), u32::try_from(number)?)?;
        }
        for connection in 0..pullers.count() {
            pullers.flush(connection)?;
        }
        let parked_at = Instant::now();
        while let Some(left) = self.pause.checked_sub(parked_at.elapsed()) {
            pullers.turn(left, |frame, _| {
                let answer = Answer::decode(frame)?;
                let (code, remark) = (answer.code, answer.remark.unwrap_or_default());
                Err(format!("a pull was not held but answered with code {code}: {remark}").into())
            })?;
        }
        Ok(())
    }

    /// Take the answer to a held pull, which must hold the message that was sent.
    fn wake(&mut self, frame: &Frame<'_>, offsets: &[u64]) -> Result<(), Failure> {
        let answer = Answer::decode(frame)?;
        if answer.code != SUCCESS {
            let (code, remark) = (answer.code, answer.remark.unwrap_or_default());
            return Err(format!("a held pull was answered with code {code}: {remark}").into());
        }
        let record = next_record(&mut &frame.body[..])?;
        if record.queue_offset != offsets[answer.number as usize % offsets.len()] {
            return Err(format!("a held pull shows offset {}", record.queue_offset).into());
        }
        self.woken += 1;
        self.latencies_ns
            .push(u64::try_from(self.sent_at.elapsed().as_nanos())?);
        Ok(())
    }

    /// Send a message to each queue and note where its next one goes.
    fn send(&mut self, sender: &mut Peers) -> Result<(), Failure> {
        self.start_sends(sender)?;
        self.finish_sends(sender)
    }

    fn start_sends(&mut self, sender: &mut Peers) -> Result<(), Failure> {
        for (queue_id, send) in self.sends.iter().enumerate() {
            send.append(sender.out(0), u32::try_from(queue_id)?);
        }
        sender.flush(0)
    }

    fn finish_sends(&mut self, sender: &mut Peers) -> Result<(), Failure> {
        let mut left = self.offsets.len();
        while left > 0 {
            sender.answers(|frame, _| {
                let answer = Answer::decode(frame)?;
                let offset = answer.queue_offset.filter(|_| answer.code == SUCCESS);
                let offset =
                    offset.ok_or_else(|| format!("a send was refused: code {}", answer.code))?;
                self.offsets[answer.number as usize] = offset + 1;
                left -= 1;
                Ok(())
            })?;
        }
        Ok(())
    }

    fn report(self, rounds_us: &[f64]) -> String {
        let rounds: Vec<String> = rounds_us.iter().map(|us| format!("{us:.1}")).collect();
        let mut report = Object::default();
        report.json("pulls", self.pull_count);
        report.json("rounds_us", format!("[{}]", rounds.join(", ")));
        report.json("latency_us", latency_us(self.latencies_ns));
        report.close()
    }
}
