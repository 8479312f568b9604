//! Send at an even pace, one message after the other, and print how long answers took.
//!
//! Usage: `tail ADDRESS TOPIC BODY_SIZE`. Begins at once and ends with its standard input. A send is
//! timed from the moment at which it was due, so its wait for the send before it is included.
//! Prints one JSON object.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

mod frames;

type Failure = Box<dyn Error>;

const PACE: Duration = Duration::from_millis(1);

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, topic, body_size] = arguments.as_slice() else {
        return Err("usage: tail ADDRESS TOPIC BODY_SIZE".into());
    };
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let frame = frames::send(1, topic, body_size.parse()?);
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&is_over);
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ends.store(true, Ordering::Relaxed);
    });
    let mut answer = Vec::new();
    let mut took = Vec::new();
    // The first send may have to create the topic.
    send(&mut stream, &frame, &mut answer)?;
    let mut due = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        due += PACE;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        send(&mut stream, &frame, &mut answer)?;
        took.push(due.elapsed());
    }
    took.sort_unstable();
    let at = |per_mille: usize| match took.get(took.len() * per_mille / 1000) {
        Some(time) => time.as_secs_f64() * 1e3,
        None => f64::NAN,
    };
    println!(
        "{{\"count\": {}, \"p50_ms\": {:.4}, \"p99_ms\": {:.4}, \"max_ms\": {:.4}}}",
        took.len(),
        at(500),
        at(990),
        took.last()
            .map_or(f64::NAN, |time| time.as_secs_f64() * 1e3),
    );
    Ok(())
}

/// Send one frame and wait for its answer, which must acknowledge it.
fn send(stream: &mut TcpStream, frame: &[u8], answer: &mut Vec<u8>) -> Result<(), Failure> {
    stream.write_all(frame)?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    answer.resize(u32::from_be_bytes(length) as usize, 0);
    stream.read_exact(answer)?;
    if answer
        .get(4..)
        .is_some_and(|header| header.starts_with(b"{\"code\":0,"))
    {
        return Ok(());
    }
    Err(String::from_utf8_lossy(answer).into_owned().into())
}
