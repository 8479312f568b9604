//! Crashes of a real ext4, in a loop device: what a sync means is the kernel's business here.
//!
//! The file system is shut down at a step, as its own crash tests do: nothing more reaches the device, and
//! what the page cache holds is lost. Mounting it again replays its journal.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use regent_commitlog::failpoint::{Event, Hook, watch};
use tempfile::TempDir;

use crate::model::{Model, Verdict};
use crate::scenario::Scenario;
use crate::support::go_down;
use crate::{STEP_COUNT, number, tempdir};

const IMAGE_COUNT: u64 = 400;
const DEVICE_SIZE: u64 = 64 << 20;
/// `EXT4_IOC_SHUTDOWN`: `_IOR('X', 125, __u32)` (the kernel's `fs/ext4/ext4.h`).
const SHUTDOWN: libc::c_ulong = 0x8004_587D;
/// With what the journal has not written yet, or without.
const KINDS_OF_SHUTDOWN: [u32; 2] = [1, 2];
/// A scenario has so many hits of hooks and more.
const HIT_MAX: u64 = 400;

/// An ext4 file system in an image file.
struct Device {
    image: PathBuf,
    mounted: PathBuf,
    _dir: TempDir,
}

fn run(program: &str, arguments: &[&OsStr]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{program}: {}",
        String::from_utf8_lossy(&output.stderr)
    ))
}

impl Device {
    fn make() -> Result<Self, String> {
        let dir = tempdir();
        let device = Self {
            image: dir.path().join("image"),
            mounted: dir.path().join("mounted"),
            _dir: dir,
        };
        fs::create_dir(&device.mounted).unwrap();
        let image = File::create(&device.image).unwrap();
        image.set_len(DEVICE_SIZE).unwrap();
        let quiet = ["-q", "-F", "-b", "4096"].map(OsStr::new);
        run(
            "mkfs.ext4",
            &[&quiet[..], &[device.image.as_os_str()]].concat(),
        )?;
        device.mount()?;
        Ok(device)
    }

    fn mount(&self) -> Result<(), String> {
        let loop_device = ["-t", "ext4", "-o", "loop"].map(OsStr::new);
        let places = [self.image.as_os_str(), self.mounted.as_os_str()];
        run("mount", &[&loop_device[..], &places].concat())
    }

    fn unmount(&self) -> Result<(), String> {
        run("umount", &[self.mounted.as_os_str()])
    }

    /// Mounts the file system after it went down.
    fn restart(&self) -> Result<(), String> {
        self.unmount()?;
        self.mount()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // It is not mounted if mounting failed, and in use if a test failed.
        let _ = run("umount", &[OsStr::new("-l"), self.mounted.as_os_str()]);
    }
}

/// Lets nothing more reach the device.
fn shut_down(mounted: &Path, kind: u32) -> io::Result<()> {
    let root = File::open(mounted)?;
    // SAFETY: the descriptor is open for the life of `root`, and the request reads one `u32`.
    match unsafe { libc::ioctl(root.as_raw_fd(), SHUTDOWN, &raw const kind) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Writes back one file, or all of them, as the system may do at any time.
fn write_back_some(dir: &Path, random: &mut Rng) {
    let Ok(root) = File::open(dir) else {
        return;
    };
    if random.u8(..8) == 0 {
        rustix::fs::syncfs(&root).unwrap();
        return;
    }
    let mut path = dir.to_path_buf();
    while path.is_dir() {
        let entries: Vec<_> = fs::read_dir(&path).unwrap().flatten().collect();
        let Some(entry) = random.choice(&entries) else {
            return;
        };
        path = entry.path();
    }
    if let Ok(file) = File::open(path) {
        file.sync_data().unwrap();
    }
}

/// The state of a run, at whose hit number `at` the file system goes down.
struct Run {
    store_dir: PathBuf,
    mounted: PathBuf,
    at: u64,
    hits: u64,
    random: Rng,
}

impl Run {
    fn on(&mut self) -> io::Result<()> {
        self.hits += 1;
        if self.hits == self.at {
            let kind = *self.random.choice(KINDS_OF_SHUTDOWN.iter()).unwrap();
            shut_down(&self.mounted, kind)?;
        }
        if self.hits >= self.at {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        if self.random.u8(..16) == 0 {
            write_back_some(&self.store_dir, &mut self.random);
        }
        Ok(())
    }
}

/// Runs a scenario until the file system goes down, mounts it again and holds it against the model.
fn crash_once(device: &Device, seed: u64) -> Result<Verdict, String> {
    let store_dir = device.mounted.join(seed.to_string());
    fs::create_dir(&store_dir).unwrap();
    File::open(&device.mounted)
        .and_then(|root| root.sync_all())
        .unwrap();
    let mut random = Rng::with_seed(seed);
    let run = Arc::new(Mutex::new(Run {
        store_dir: store_dir.clone(),
        mounted: device.mounted.clone(),
        at: random.u64(1..HIT_MAX),
        hits: 0,
        random,
    }));
    let shared = Arc::clone(&run);
    let hook: Hook = Arc::new(move |_: &Event<'_>| shared.lock().unwrap().on());
    let watched = watch(&store_dir, hook);
    let model = Arc::new(Mutex::new(Model::new(false)));
    let mut scenario = Scenario::new(&store_dir, Arc::clone(&model), seed);
    let is_down = || {
        let run = run.lock().unwrap();
        run.hits >= run.at
    };
    for _ in 0..STEP_COUNT {
        let stepped = scenario.step();
        if is_down() {
            break;
        }
        stepped.map_err(|error| error.to_string())?;
    }
    if !is_down() {
        shut_down(&device.mounted, KINDS_OF_SHUTDOWN[1]).unwrap();
    }
    drop((scenario, watched));
    device.restart()?;
    go_down(&store_dir);
    let model = model.lock().unwrap();
    let verdict = model.check(&store_dir)?;
    fs::remove_dir_all(&store_dir).unwrap();
    Ok(verdict)
}

#[test]
#[ignore = "needs root and a loop device: make soak SOAK=ext4"]
fn a_crash_of_ext4_at_any_step_loses_nothing_that_was_vouched_for() {
    let count = number("REGENT_EXT4_IMAGES", IMAGE_COUNT);
    let first = number("REGENT_CRASH_SEED", 0);
    let device = Device::make()
        .unwrap_or_else(|why| panic!("no ext4 in a loop device, so nothing was tested: {why}"));
    let mut read_only_count = 0;
    for seed in first..first + count {
        let verdict = crash_once(&device, seed).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        read_only_count += u64::from(verdict == Verdict::ReadOnly);
    }
    println!("{count} crashes of ext4, {read_only_count} of them read-only");
}
