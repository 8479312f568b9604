//! Sends in a closed loop (so many in flight) or in an open loop (at a rate).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use regent_remoting::Frame;

use crate::options::Options;
use crate::peers::Peers;
use crate::read_back::read_back;
use crate::report::{Object, latency_us};
use crate::wire::{Answer, BODY_SIZE_MIN, Send};
use crate::{Failure, ReadBackFailed};

/// What a run sends.
pub(crate) struct Plan {
    pub(crate) address: String,
    pub(crate) timeout: Duration,
    pub(crate) topic: String,
    pub(crate) queue_count: usize,
    pub(crate) body_size: usize,
    connection_count: usize,
    in_flight: usize,
    count_max: u32,
    warm_up_ns: u64,
    end_ns: u64,
    rate: Option<f64>,
    answer_code: i32,
    reads_back: bool,
}

impl Plan {
    fn read(mut options: Options) -> Result<Self, Failure> {
        let count = options.find("count")?;
        let seconds = options.seconds("seconds")?;
        if count.is_none() && seconds.is_none() {
            return Err("--seconds or --count is missing".into());
        }
        let warm_up_s: f64 = options.get_or("warm-up", 0.0)?;
        let body_size = options.get_or("body-size", 128)?;
        if body_size < BODY_SIZE_MIN {
            return Err(format!("--body-size must be at least {BODY_SIZE_MIN}").into());
        }
        let (address, timeout) = options.broker()?;
        let plan = Self {
            address,
            timeout,
            topic: options.get("topic")?,
            queue_count: options.count("queues", 8)?,
            body_size,
            connection_count: options.count("connections", 1)?,
            in_flight: options.count("in-flight", 1)?,
            count_max: count.unwrap_or(NUMBER_MAX).min(NUMBER_MAX),
            warm_up_ns: nanoseconds(warm_up_s),
            end_ns: seconds.map_or(u64::MAX, |seconds| nanoseconds(warm_up_s + seconds)),
            rate: options.seconds("rate")?,
            answer_code: options.get_or("answer-code", 0)?,
            reads_back: options.switch("read-back"),
        };
        options.finish()?;
        Ok(plan)
    }
}

/// Opaques of ten digits end near 2^31.
const NUMBER_MAX: u32 = 1_000_000_000;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast from a float saturates"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// One message. Its number is its index; times count from the start of the run.
#[derive(Clone, Copy)]
pub(crate) struct Sent {
    /// When it was due: in a closed loop, when it was sent.
    pub(crate) due_ns: u64,
    /// [`NEVER`] until it is answered.
    pub(crate) answered_ns: u64,
    /// Where the broker stored it; `None` if it was refused.
    pub(crate) queue_offset: Option<u64>,
}

const NEVER: u64 = u64::MAX;

/// The state of a run.
struct Run {
    plan: Plan,
    sends: Vec<Send>,
    log: Vec<Sent>,
    started_at: Instant,
    answered: usize,
    refused: BTreeMap<i32, u64>,
    refusal: Option<String>,
}

/// Run the command `send`.
pub(crate) fn run(options: Options) -> Result<String, Failure> {
    let plan = Plan::read(options)?;
    let sends = (0..plan.queue_count)
        .map(|queue_id| Send::new(&plan.topic, queue_id, plan.queue_count, plan.body_size))
        .collect::<Result<_, _>>()?;
    let mut peers = Peers::connect(&plan.address, plan.connection_count, plan.timeout)?;
    let mut run = Run {
        plan,
        sends,
        log: Vec::new(),
        started_at: Instant::now(),
        answered: 0,
        refused: BTreeMap::new(),
        refusal: None,
    };
    match run.plan.rate {
        None => run.closed(&mut peers)?,
        Some(rate) => run.open(&mut peers, rate)?,
    }
    let (mut report, mut is_whole) = (run.report(), true);
    if run.plan.reads_back {
        let found = read_back(&run.plan, &run.log)?;
        is_whole = found.is_whole();
        report.json("read_back", found.report());
    }
    if is_whole {
        Ok(report.close())
    } else {
        Err(Box::new(ReadBackFailed(report.close())))
    }
}

impl Run {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.started_at.elapsed().as_nanos()).unwrap_or(NEVER)
    }

    /// Keep so many sends of each connection in flight.
    fn closed(&mut self, peers: &mut Peers) -> Result<(), Failure> {
        for index in 0..peers.count() {
            for _ in 0..self.plan.in_flight {
                let now = self.now_ns();
                self.send_if_due(peers.out(index), now);
            }
            peers.flush(index)?;
        }
        self.drain(peers, true)
    }

    /// Send at a rate, whatever the answers do.
    fn open(&mut self, peers: &mut Peers, rate: f64) -> Result<(), Failure> {
        let mut heard_at = Instant::now();
        loop {
            let now = self.now_ns();
            let mut due = self.due_ns(rate);
            while due <= now {
                let index = self.log.len() % peers.count();
                if !self.send_if_due(peers.out(index), due) {
                    return self.drain(peers, false);
                }
                peers.flush(index)?;
                due = self.due_ns(rate);
            }
            let wait = Duration::from_nanos(due.saturating_sub(self.now_ns()));
            if self.turn(peers, wait, false)? || self.answered == self.log.len() {
                heard_at = Instant::now();
            } else if heard_at.elapsed() > peers.timeout() {
                return Err(peers.silence());
            }
        }
    }

    /// Take answers until no send is in flight.
    fn drain(&mut self, peers: &mut Peers, sends: bool) -> Result<(), Failure> {
        while self.answered < self.log.len() {
            if !self.turn(peers, peers.timeout(), sends)? {
                return Err(peers.silence());
            }
        }
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers far below 2^52")]
    fn due_ns(&self, rate: f64) -> u64 {
        nanoseconds(self.log.len() as f64 / rate)
    }

    /// Send the next message, unless the run is over.
    fn send_if_due(&mut self, out: &mut Vec<u8>, due_ns: u64) -> bool {
        let number = self.log.len();
        if number >= self.plan.count_max as usize || due_ns >= self.plan.end_ns {
            return false;
        }
        #[expect(clippy::cast_possible_truncation, reason = "below NUMBER_MAX")]
        self.sends[number % self.plan.queue_count].append(out, number as u32);
        self.log.push(Sent {
            due_ns,
            answered_ns: NEVER,
            queue_offset: None,
        });
        true
    }

    /// Wait for answers; return whether any came. If `sends`, each makes room for one more send.
    fn turn(&mut self, peers: &mut Peers, wait: Duration, sends: bool) -> Result<bool, Failure> {
        peers.turn(wait, |frame, out| {
            let now = self.take(frame)?;
            if sends {
                self.send_if_due(out, now);
            }
            Ok(())
        })
    }

    /// Note an answer, and return when it came.
    fn take(&mut self, frame: &Frame<'_>) -> Result<u64, Failure> {
        let now = self.now_ns();
        let answer = Answer::decode(frame)?;
        let sent = self
            .log
            .get_mut(answer.number as usize)
            .filter(|sent| sent.answered_ns == NEVER)
            .ok_or_else(|| format!("an answer too many: to send {}", answer.number))?;
        sent.answered_ns = now;
        self.answered += 1;
        if answer.code == self.plan.answer_code {
            // An echo names no offset.
            sent.queue_offset = Some(answer.queue_offset.unwrap_or_default());
        } else {
            *self.refused.entry(answer.code).or_default() += 1;
            self.refusal = self.refusal.take().or(answer.remark);
        }
        Ok(now)
    }

    fn report(&self) -> Object {
        let acknowledged = || self.log.iter().filter(|sent| sent.queue_offset.is_some());
        let last_ns = acknowledged()
            .map(|sent| sent.answered_ns)
            .max()
            .unwrap_or(0);
        let end_ns = self.plan.end_ns.min(last_ns);
        let window = self.plan.warm_up_ns..=end_ns;
        let latencies: Vec<u64> = acknowledged()
            .filter(|sent| match self.plan.rate {
                // What was due in time counts, however late its answer is.
                Some(_) => sent.due_ns >= self.plan.warm_up_ns,
                None => window.contains(&sent.answered_ns),
            })
            .map(|sent| sent.answered_ns - sent.due_ns)
            .collect();
        let in_window = acknowledged()
            .filter(|sent| window.contains(&sent.answered_ns))
            .count();
        #[expect(clippy::cast_precision_loss, reason = "numbers far below 2^52")]
        let (count, seconds) = (
            in_window as f64,
            end_ns.saturating_sub(self.plan.warm_up_ns) as f64 / 1e9,
        );
        let mut refused = Object::default();
        for (code, count) in &self.refused {
            refused.json(&code.to_string(), count);
        }
        let mut report = Object::default();
        report.json("sent", self.log.len());
        report.json("acknowledged", acknowledged().count());
        report.json("refused", refused.close());
        if let Some(remark) = &self.refusal {
            report.text("refusal", remark);
        }
        report.number("seconds", seconds, 6);
        report.number(
            "per_second",
            if seconds > 0.0 { count / seconds } else { 0.0 },
            1,
        );
        report.json("latency_us", latency_us(latencies));
        report
    }
}
