//! Prints, as JSON, how fast a replica that lacks a whole log gets it over loopback, and what each
//! thread takes of a processor. Usage: `catch_up DIRECTORY MEGABYTES REPEATS`.
//!
//! Both ends are this process, without the agents around them: what is left is the cost of the
//! bytes. `gb_per_second` is from the request to the last record appended; `cpu_s_per_gb` sums the
//! threads, by their names.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use regent_commitlog::{NewMessage, Store, StoreConfig};
use regent_replication::{
    Following, Handshake, LinkError, MasterLink, ReplicaLink, Sending, StoreAccess,
};

const BODY_SIZE: usize = 1024;
const NOW_MS: i64 = 1_758_000_000_000;
/// As the agents of the measurements.
const SEGMENT_SIZE: u64 = 64 << 20;
const TRANSFER_SIZE: usize = 256 << 10;
const POLL: Duration = Duration::from_micros(500);
const QUEUES: i32 = 8;

type Failure = Box<dyn Error + Send + Sync>;

#[derive(Debug)]
struct Shared(Store);

impl StoreAccess for Shared {
    type Error = LinkError;

    fn with<T>(&self, work: impl FnOnce(&Store) -> Result<T, LinkError>) -> Result<T, LinkError> {
        work(&self.0)
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [parent, megabytes, repeats] = arguments.as_slice() else {
        return Err("usage: catch_up DIRECTORY MEGABYTES REPEATS".into());
    };
    let directory = Path::new(parent).join("catch-up");
    let master = Arc::new(Shared(open(&directory.join("master"))?));
    fill(&master.0, megabytes.parse::<u64>()? << 20)?;
    let mut results = Vec::new();
    for _ in 0..repeats.parse::<u32>()? {
        master.0.flush()?;
        let home = directory.join("replica");
        results.push(catch_up(&master, &home)?);
        fs::remove_dir_all(home)?;
    }
    println!("[{}]", results.join(",\n"));
    drop(master);
    fs::remove_dir_all(directory)?;
    Ok(())
}

fn open(home: &Path) -> Result<Store, Failure> {
    let mut config = StoreConfig::new(home);
    config.segment_size_bytes = SEGMENT_SIZE;
    config.index_enabled = false;
    Ok(Store::open(config, NOW_MS)?)
}

fn fill(store: &Store, size: u64) -> Result<(), Failure> {
    store.begin_epoch(1)?;
    let body = vec![b'.'; BODY_SIZE];
    let mut number = 0;
    while store.max_position() < size {
        let mut writer = store.writer()?;
        for _ in 0..64 {
            let mut message = NewMessage::new("CatchUp", number % QUEUES, &body);
            message.properties =
                b"UNIQ_KEY\x01AC11000216C418B4AAC2765D47E80000\x02WAIT\x01true\x02";
            writer.append(&message, NOW_MS)?;
            number += 1;
        }
    }
    Ok(())
}

fn catch_up(master: &Arc<Shared>, home: &Path) -> Result<String, Failure> {
    let replica = Arc::new(Shared(open(home)?));
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut theirs = TcpStream::connect(listener.local_addr()?)?;
    let (ours, _) = listener.accept()?;
    for socket in [&ours, &theirs] {
        socket.set_nodelay(true)?;
    }
    let handshake = Handshake {
        is_from_last_segment: false,
        is_learner: true,
        broker_id: 2,
    };
    let mut link = ReplicaLink::new(handshake, 1);
    let mut reports = ours.try_clone()?;
    let sending = Arc::new(Sending::begin(
        Arc::clone(master),
        OwnedFd::from(ours),
        TRANSFER_SIZE,
        MasterLink::default(),
    )?);
    let hearing = Arc::clone(&sending);
    let end = master.0.max_position();
    thread::Builder::new().name("hear".into()).spawn(move || {
        use std::io::Read;
        let mut buffer = [0; 4096];
        while let Ok(size @ 1..) = reports.read(&mut buffer) {
            if hearing.receive(&buffer[..size], &mut Vec::new()).is_err()
                || hearing.pump(end).is_err()
            {
                break;
            }
        }
    })?;
    greet(&mut theirs, &mut link, &replica)?;
    let wake = rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK)?;
    let before = processor_times()?;
    let began_at = Instant::now();
    let following = Following::begin(
        Arc::clone(&replica),
        link,
        OwnedFd::from(theirs),
        wake,
        true,
    )?;
    while replica.0.max_position() < end {
        if following.is_over() {
            return Err(following
                .take_failure()
                .map_or("it is over".into(), Into::into));
        }
        thread::sleep(POLL);
    }
    let taken_s = began_at.elapsed().as_secs_f64();
    #[allow(clippy::cast_precision_loss)]
    let gigabytes = end as f64 / 1e9;
    let spent: Vec<String> = processor_times()?
        .into_iter()
        .map(|(name, time)| (time - before.get(&name).copied().unwrap_or(0.0), name))
        .filter(|(time, _)| *time > 0.001)
        .map(|(time, name)| format!("\"{name}\": {:.3}", time / gigabytes))
        .collect();
    following.stop();
    sending.close();
    Ok(format!(
        "{{\"gb_per_second\": {:.3}, \"cpu_s_per_gb\": {{{}}}}}",
        gigabytes / taken_s,
        spent.join(", ")
    ))
}

/// Exchanges histories, as a follower does before its thread begins.
fn greet(
    socket: &mut TcpStream,
    link: &mut ReplicaLink,
    replica: &Arc<Shared>,
) -> Result<(), Failure> {
    use std::io::{Read, Write};
    socket.write_all(&link.handshake())?;
    let mut buffer = [0; 4096];
    loop {
        let size = socket.read(&mut buffer)?;
        if link
            .receive(&buffer[..size], &replica.0)?
            .greeting
            .is_some()
        {
            return Ok(());
        }
    }
}

/// Seconds that the living threads have run, by name.
fn processor_times() -> Result<BTreeMap<String, f64>, Failure> {
    let mut times = BTreeMap::new();
    for thread in fs::read_dir("/proc/self/task")? {
        let thread = thread?.path();
        let name = fs::read_to_string(thread.join("comm"))?.trim().to_owned();
        let taken = fs::read_to_string(thread.join("schedstat"))?;
        let taken_ns: f64 = taken.split(' ').next().unwrap_or("0").parse()?;
        *times.entry(name).or_insert(0.0) += taken_ns / 1e9;
    }
    Ok(times)
}
