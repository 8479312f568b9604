//! Decode recorded streams whole and byte by byte, and fail where the commands differ.
//!
//! Usage: `byte_by_byte FILE…`; a line with the number of frames for each file. A stream whose
//! connection was closed may end in the middle of a frame.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for tests says what it found"
)]

use std::io;
use std::path::Path;
use std::process::ExitCode;

use regent_remoting::limits::FRAME_SIZE_MAX_DEFAULT;
use regent_remoting::{Command, Decoder};

fn main() -> ExitCode {
    let mut all_same = true;
    for path in std::env::args_os().skip(1) {
        let path = Path::new(&path);
        match compare(path) {
            Ok(frames) => println!("{frames} {}", path.display()),
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                all_same = false;
            }
        }
    }
    if all_same {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The number of frames, all of them the same in both ways.
fn compare(path: &Path) -> io::Result<usize> {
    let stream = std::fs::read(path)?;
    let whole = decode(&stream, stream.len().max(1))?;
    let one_by_one = decode(&stream, 1)?;
    let first_other = whole.iter().zip(&one_by_one).position(|(a, b)| a != b);
    match first_other {
        Some(at) => Err(io::Error::other(format!("frame {at} differs"))),
        None if whole.len() != one_by_one.len() => Err(io::Error::other(format!(
            "{} frames whole, {} byte by byte",
            whole.len(),
            one_by_one.len()
        ))),
        None => Ok(whole.len()),
    }
}

fn decode(stream: &[u8], chunk_size: usize) -> io::Result<Vec<Command>> {
    let mut decoder = Decoder::new(FRAME_SIZE_MAX_DEFAULT);
    let mut commands = Vec::new();
    for chunk in stream.chunks(chunk_size) {
        decoder
            .receive(chunk, &mut commands)
            .map_err(io::Error::other)?;
    }
    Ok(commands)
}
