//! A bare echo: an epoll server that cuts frames and sends them back, without looking inside.
//!
//! The denominator of what the agent does with the same frames (targets.md R6a to
//! R6c). Prints its port.

use std::collections::HashMap;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;

use rustix::buffer::spare_capacity;
use rustix::event::epoll;

const READ_SIZE: usize = 256 * 1024;
const LISTENER: u64 = 0;

struct Connection {
    stream: TcpStream,
    partial: Vec<u8>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let readable = epoll::EventFlags::IN;
    epoll::add(
        &poll,
        listener.as_fd(),
        epoll::EventData::new_u64(LISTENER),
        readable,
    )?;
    let mut connections = HashMap::new();
    let mut next = LISTENER;
    let mut chunk = vec![0; READ_SIZE];
    let mut events = Vec::with_capacity(64);
    loop {
        events.clear();
        epoll::wait(&poll, spare_capacity(&mut events), None)?;
        for event in &events {
            let id = event.data.u64();
            if id == LISTENER {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                next += 1;
                epoll::add(
                    &poll,
                    stream.as_fd(),
                    epoll::EventData::new_u64(next),
                    readable,
                )?;
                connections.insert(
                    next,
                    Connection {
                        stream,
                        partial: Vec::new(),
                    },
                );
            } else if let Some(connection) = connections.get_mut(&id)
                && !connection.echo(&mut chunk).unwrap_or(false)
            {
                connections.remove(&id);
            }
        }
    }
}

impl Connection {
    /// Send back the frames that the bytes at hand complete; `false` once the peer is gone.
    fn echo(&mut self, chunk: &mut [u8]) -> std::io::Result<bool> {
        let size = self.stream.read(chunk)?;
        self.partial.extend_from_slice(&chunk[..size]);
        let mut end = 0;
        while let Some(length) = self.partial[end..].first_chunk::<4>() {
            let frame = 4 + u32::from_be_bytes(*length) as usize;
            if end + frame > self.partial.len() {
                break;
            }
            end += frame;
        }
        self.stream.write_all(&self.partial[..end])?;
        self.partial.drain(..end);
        Ok(size > 0)
    }
}
