//! Reading back what a broker acknowledged: every message, its body, and the order of a queue.

use std::time::{Duration, Instant};

use crate::Failure;
use crate::peers::Peers;
use crate::report::Object;
use crate::send::{Plan, Sent};
use crate::wire::{Answer, Pull, SUCCESS, is_body_of, next_record};

const BATCH: usize = 32;

/// What the queues hold of the messages that were acknowledged.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    checked: usize,
    /// Not at its offset within the timeout.
    lost: usize,
    /// Another body at the offset.
    wrong_body: usize,
    /// Acknowledged at the offset of another.
    shared_offset: usize,
    /// Behind a message that was sent after this one had been acknowledged.
    out_of_order: usize,
}

impl Found {
    /// Whether all are there, right, and in order.
    pub(crate) fn is_whole(&self) -> bool {
        let whole = Self {
            checked: self.checked,
            ..Self::default()
        };
        *self == whole
    }

    pub(crate) fn report(&self) -> String {
        let mut report = Object::default();
        report.json("checked", self.checked);
        report.json("lost", self.lost);
        report.json("wrong_body", self.wrong_body);
        report.json("shared_offset", self.shared_offset);
        report.json("out_of_order", self.out_of_order);
        report.close()
    }
}

/// An acknowledged message of one queue.
#[derive(Clone, Copy)]
struct Expected {
    queue_offset: u64,
    number: u32,
}

/// Pull everything that was acknowledged, one queue after the other.
pub(crate) fn read_back(plan: &Plan, log: &[Sent]) -> Result<Found, Failure> {
    let mut found = Found::default();
    let mut peers = Peers::connect(&plan.address, 1, plan.timeout)?;
    for queue_id in 0..plan.queue_count {
        let mut expected: Vec<Expected> = (queue_id..log.len())
            .step_by(plan.queue_count)
            .filter_map(|number| {
                Some(Expected {
                    queue_offset: log[number].queue_offset?,
                    number: u32::try_from(number).ok()?,
                })
            })
            .collect();
        expected.sort_unstable_by_key(|one| one.queue_offset);
        check_order(&expected, log, &mut found);
        expected.dedup_by_key(|one| one.queue_offset);
        read_queue(plan, queue_id, &expected, &mut peers, &mut found)?;
    }
    Ok(found)
}

/// Compare the offsets of a queue with the times of sending and acknowledging.
fn check_order(expected: &[Expected], log: &[Sent], found: &mut Found) {
    for pair in expected.windows(2) {
        found.shared_offset += usize::from(pair[0].queue_offset == pair[1].queue_offset);
    }
    let mut latest_sent_ns = 0;
    for one in expected {
        let sent = &log[one.number as usize];
        found.out_of_order += usize::from(sent.answered_ns < latest_sent_ns);
        latest_sent_ns = latest_sent_ns.max(sent.due_ns);
    }
}

fn read_queue(
    plan: &Plan,
    queue_id: usize,
    mut expected: &[Expected],
    peers: &mut Peers,
    found: &mut Found,
) -> Result<(), Failure> {
    found.checked += expected.len();
    let mut offset = expected.first().map_or(0, |one| one.queue_offset);
    let mut progress_at = Instant::now();
    while !expected.is_empty() {
        let pull = Pull {
            topic: &plan.topic,
            queue_id,
            offset,
            count_max: BATCH,
            hold_ms: 0,
        };
        pull.append(peers.out(0), 0)?;
        peers.flush(0)?;
        let mut answer = None;
        while answer.is_none() {
            peers.answers(|frame, _| {
                let decoded = Answer::decode(frame)?;
                if decoded.code == SUCCESS {
                    expected = compare(frame.body, expected, plan.body_size, found)?;
                }
                answer = Some(decoded);
                Ok(())
            })?;
        }
        let next = answer
            .and_then(|answer| answer.next_offset)
            .unwrap_or(offset);
        if next > offset {
            (offset, progress_at) = (next, Instant::now());
        } else if progress_at.elapsed() > plan.timeout {
            found.lost += expected.len();
            return Ok(());
        } else {
            std::thread::sleep(RETRY);
        }
    }
    Ok(())
}

/// A store shows a message a moment after it acknowledged it.
const RETRY: Duration = Duration::from_millis(5);

/// Compare the records of one answer; returns the messages that were not reached.
fn compare<'e>(
    mut bytes: &[u8],
    mut expected: &'e [Expected],
    body_size: usize,
    found: &mut Found,
) -> Result<&'e [Expected], Failure> {
    while !bytes.is_empty() {
        let record = next_record(&mut bytes)?;
        while let Some((one, rest)) = expected.split_first() {
            if one.queue_offset > record.queue_offset {
                break;
            }
            expected = rest;
            if one.queue_offset < record.queue_offset {
                found.lost += 1;
            } else if !is_body_of(record.body, one.number, body_size) {
                found.wrong_body += 1;
            }
        }
    }
    Ok(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(due_ns: u64, answered_ns: u64) -> Sent {
        Sent {
            due_ns,
            answered_ns,
            queue_offset: None,
        }
    }

    fn at(queue_offset: u64, number: u32) -> Expected {
        Expected {
            queue_offset,
            number,
        }
    }

    #[test]
    fn a_message_behind_one_that_was_sent_after_its_answer_is_out_of_order() {
        let log = [sent(0, 10), sent(20, 30), sent(25, 40)];
        let mut found = Found::default();

        check_order(&[at(0, 1), at(1, 0), at(2, 2)], &log, &mut found);

        assert_eq!(found.out_of_order, 1);
        assert!(!found.is_whole());
    }

    #[test]
    fn messages_in_flight_at_once_may_have_any_order_but_no_common_offset() {
        let log = [sent(0, 30), sent(1, 20)];
        let mut found = Found::default();

        check_order(&[at(4, 1), at(5, 0)], &log, &mut found);
        assert!(found.is_whole());

        check_order(&[at(4, 1), at(4, 0)], &log, &mut found);
        assert_eq!(found.shared_offset, 1);
    }
}
