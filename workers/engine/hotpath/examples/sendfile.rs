//! Bulk to one reader over loopback with sendfile: the limit of any server of cached bytes.
//!
//! The denominator of pulls (targets.md R5). Prints its port. From a connection it reads the size
//! of a block, four bytes. Then it sends such blocks of a file that is in memory until the reader
//! leaves.

use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use rustix::fs::sendfile;

const FILE_SIZE: usize = 64 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("regent-sendfile-{}", std::process::id()));
    let mut file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    file.write_all(&vec![7; FILE_SIZE])?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    for stream in listener.incoming() {
        // The reader leaving in the middle of a block is how a measurement ends.
        let _ = serve(&file, &stream?);
    }
    Ok(())
}

fn serve(file: &File, mut stream: &TcpStream) -> Result<(), Box<dyn Error>> {
    let mut size = [0; 4];
    stream.read_exact(&mut size)?;
    let size = usize::try_from(u32::from_be_bytes(size))?.clamp(1, FILE_SIZE);
    loop {
        for block in 0..FILE_SIZE / size {
            let mut at = u64::try_from(block * size)?;
            let mut left = size;
            while left > 0 {
                left -= sendfile(stream, file, Some(&mut at), left)?;
            }
        }
    }
}
