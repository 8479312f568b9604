//! Keep sends in flight on one connection and count their answers.
//!
//! Usage: `load ADDRESS TOPIC IN_FLIGHT BODY_SIZE COUNT ANSWER_CODE`. Every answer must carry that
//! code (an echo answers 310). Prints one JSON object.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

mod frames;

type Failure = Box<dyn Error>;

const READ_SIZE: usize = 256 * 1024;
const WARM_UP_COUNT: usize = 1000;

struct Load {
    stream: TcpStream,
    frame: Vec<u8>,
    expected: String,
    chunk: Vec<u8>,
    partial: Vec<u8>,
}

impl Load {
    fn send(&mut self, count: usize) -> Result<(), Failure> {
        Ok(self.stream.write_all(&self.frame.repeat(count))?)
    }

    /// Wait for answers, check them, and return how many came.
    fn receive(&mut self) -> Result<usize, Failure> {
        let size = self.stream.read(&mut self.chunk)?;
        if size == 0 {
            return Err("the server closed the connection".into());
        }
        self.partial.extend_from_slice(&self.chunk[..size]);
        let (mut count, mut at) = (0, 0);
        while let Some(length) = self.partial[at..].first_chunk::<4>() {
            let frame = 4 + u32::from_be_bytes(*length) as usize;
            let Some(answer) = self.partial.get(at..at + frame) else {
                break;
            };
            if !answer[8..].starts_with(self.expected.as_bytes()) {
                return Err(String::from_utf8_lossy(&answer[8..]).into_owned().into());
            }
            at += frame;
            count += 1;
        }
        self.partial.drain(..at);
        Ok(count)
    }

    /// Keep the requests in flight until so many are answered, and return answers a second.
    fn run(&mut self, count: usize) -> Result<f64, Failure> {
        let started = Instant::now();
        let mut total = 0;
        while total < count {
            let answered = self.receive()?;
            self.send(answered)?;
            total += answered;
        }
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let rate = total as f64 / started.elapsed().as_secs_f64();
        Ok(rate)
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, topic, in_flight, body_size, count, code] = arguments.as_slice() else {
        return Err("usage: load ADDRESS TOPIC IN_FLIGHT BODY_SIZE COUNT ANSWER_CODE".into());
    };
    let in_flight: usize = in_flight.parse()?;
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut load = Load {
        stream,
        frame: frames::send(1, topic, body_size.parse()?),
        expected: format!("{{\"code\":{code},"),
        chunk: vec![0; READ_SIZE],
        partial: Vec::new(),
    };
    // The first send may have to create the topic.
    load.send(1)?;
    while load.receive()? == 0 {}
    load.send(in_flight)?;
    load.run(WARM_UP_COUNT)?;
    let rate = load.run(count.parse()?)?;
    println!(
        "{{\"frames_per_second\": {rate:.0}, \"frame_size\": {}}}",
        load.frame.len()
    );
    Ok(())
}
