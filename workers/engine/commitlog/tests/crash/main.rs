//! Crashes at every step that changes the disk, and every such step failing once (D10, D12, D13).
//!
//! `REGENT_CRASH_IMAGES` says how many crash images are made at least, `REGENT_CRASH_SEED` of which
//! scenario the first ones are. With as many as `LONG_FORM` the other tests have their long form too.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "modules of one test program")]

mod ahead;
mod disk;
mod epochs;
mod ext4;
mod former;
mod front;
mod inode;
mod kill;
mod late_start;
mod lost_pages;
mod marks;
mod message;
mod model;
mod queue_files;
mod queue_rounds;
mod queues;
mod rebuild;
mod remade;
mod scenario;
mod second;
#[path = "../second_reader/mod.rs"]
mod second_reader;
#[path = "../support/mod.rs"]
mod support;
mod two_flushes;
mod within_record;
mod written_ahead;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use fastrand::Rng;
use regent_commitlog::Store;
use regent_commitlog::failpoint::{Event, Hook, Step, watch};
use support::{NOW_MS, go_down};
use tempfile::TempDir;

use disk::Disk;
use message::Message;
use model::{Model, Verdict};
use scenario::Scenario;

const STEP_COUNT: usize = 70;
const KILL_EVERY: u8 = 4;
const IMAGE_COUNT: u64 = 600;
/// Of the steps that change the disk, there is a crash at one of so many in the short form.
const CRASH_EVERY: u64 = 3;
const LONG_FORM: u64 = 2_000;
/// Of the steps that may fail, one of so many does in the short form.
const FAIL_EVERY: u64 = 5;

/// What came of the images.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    images: u64,
    double_faults: u64,
    read_only: u64,
    written_ahead: u64,
    kills: u64,
}

/// A scenario under observation.
struct Run {
    dir: PathBuf,
    disk: Disk,
    model: Arc<Mutex<Model>>,
    random: Rng,
    tally: Tally,
    hits: u64,
    failures: Vec<String>,
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

/// How much a test does in its short or in its long form.
fn amount(short: u64, long: u64) -> u64 {
    let is_long = number("REGENT_CRASH_IMAGES", IMAGE_COUNT) >= LONG_FORM;
    if is_long { long } else { short }
}

/// In memory if possible: what a sync means is the model's business here.
fn tempdir() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        support::tempdir()
    }
}

impl Run {
    fn new(dir: &Path, model: Arc<Mutex<Model>>, seed: u64) -> Self {
        Self {
            dir: dir.to_path_buf(),
            disk: Disk::new(dir, seed),
            model,
            random: Rng::with_seed(seed),
            tally: Tally::default(),
            hits: 0,
            failures: Vec::new(),
        }
    }

    fn on(&mut self, event: &Event<'_>) {
        self.disk.note(event);
        let is_write_back = matches!(event.step, Step::StartWriteBack { .. });
        let is_ahead = thread::current().name() == Some("segment-prepare");
        self.tally.written_ahead += u64::from(event.is_done && is_write_back && is_ahead);
        self.hits += 1;
        if self.random.u64(..amount(CRASH_EVERY, 1)) > 0 {
            return;
        }
        if let Err(text) = self.crash() {
            let at = format!("hit {} ({event:?}): {text}", self.hits);
            self.failures.push(at);
        }
        if self.random.u8(..KILL_EVERY) == 0 {
            self.kill(None);
        }
    }

    /// Kills the process alone; `torn` was being appended.
    fn kill(&mut self, torn: Option<&Message>) {
        self.tally.kills += 1;
        let model = self.model.lock().unwrap();
        let killed = || kill::kill(&self.dir, &model, torn, &mut self.random);
        let killed = catch_unwind(AssertUnwindSafe(killed));
        if let Err(text) = killed.unwrap_or_else(|_| Err("panicked".to_owned())) {
            self.failures.push(format!("hit {}, {text}", self.hits));
        }
    }

    /// Makes an image, sometimes with a second crash while it is opened, and checks it.
    fn crash(&mut self) -> Result<(), String> {
        let image = tempdir();
        self.disk.crash(image.path(), &mut self.random).unwrap();
        go_down(image.path());
        if self.random.u8(..3) > 0 {
            return self.check(image.path());
        }
        let second = tempdir();
        let seed = self.random.u64(..);
        let inner = Mutex::new((Disk::new(image.path(), seed), self.random.u32(..30)));
        let target = second.path().to_path_buf();
        let hook: Hook = Arc::new(move |event: &Event<'_>| {
            let mut inner = inner.lock().unwrap();
            inner.0.note(event);
            inner.1 = inner.1.wrapping_sub(1);
            if inner.1 == 0 {
                inner.0.crash(&target, &mut Rng::with_seed(seed)).unwrap();
                go_down(&target);
            }
            Ok(())
        });
        let watched = watch(image.path(), hook);
        let config = self.model.lock().unwrap().config(image.path());
        drop(Store::open(config, NOW_MS).map_err(|error| error.to_string())?);
        drop(watched);
        if second.path().join("lock").exists() {
            self.tally.double_faults += 1;
            self.check(second.path())
                .map_err(|text| format!("second crash: {text}"))?;
        }
        self.check(image.path())
    }

    fn check(&mut self, dir: &Path) -> Result<(), String> {
        self.tally.images += 1;
        let model = self.model.lock().unwrap();
        // A panic on the helper thread would not be seen.
        let checked = catch_unwind(AssertUnwindSafe(|| model.check(dir)));
        let verdict = checked.map_err(|_| "panicked".to_owned())??;
        self.tally.read_only += u64::from(verdict == Verdict::ReadOnly);
        Ok(())
    }
}

/// Walks every step of one scenario; every other one is of a store in `SYNC_FLUSH`.
fn crash_everywhere(seed: u64) -> Result<Tally, String> {
    let dir = tempdir();
    let model = Arc::new(Mutex::new(Model::new(seed % 2 == 1)));
    let run = Run::new(dir.path(), Arc::clone(&model), seed);
    let run = Arc::new(Mutex::new(run));
    let shared = Arc::clone(&run);
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        shared.lock().unwrap().on(event);
        Ok(())
    });
    let watched = watch(dir.path(), hook);
    let mut scenario = Scenario::new(dir.path(), model, seed);
    for step in 0..STEP_COUNT {
        let failed = scenario.step().err().map(|error| error.to_string());
        let mut run = run.lock().unwrap();
        run.failures.extend(failed);
        if let Some(appended) = &scenario.appended
            && run.random.u8(..KILL_EVERY) == 0
        {
            run.kill(Some(appended));
        }
        if let Some(text) = run.failures.first() {
            return Err(format!("seed {seed}, step {step}, {text}"));
        }
    }
    drop(scenario);
    drop(watched);
    let tally = run.lock().unwrap().tally;
    Ok(tally)
}

#[test]
fn a_crash_at_any_step_loses_nothing_that_was_vouched_for_and_invents_nothing() {
    let wanted = number("REGENT_CRASH_IMAGES", IMAGE_COUNT);
    let next_seed = AtomicU64::new(number("REGENT_CRASH_SEED", 0));
    let total = Mutex::new(Tally::default());
    let failures = Mutex::new(Vec::new());
    let work = || {
        while total.lock().unwrap().images < wanted && failures.lock().unwrap().len() < 8 {
            let seed = next_seed.fetch_add(1, Ordering::Relaxed);
            match crash_everywhere(seed) {
                Ok(tally) => {
                    println!("seed {seed}: {tally:?}");
                    let mut total = total.lock().unwrap();
                    total.images += tally.images;
                    total.double_faults += tally.double_faults;
                    total.read_only += tally.read_only;
                    total.written_ahead += tally.written_ahead;
                    total.kills += tally.kills;
                }
                Err(text) => failures.lock().unwrap().push(text),
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let total = total.into_inner().unwrap();
    println!("in all: {total:?}");
    assert!(total.written_ahead > 0, "no blocks were written ahead");
    assert!(total.kills > 0, "no process was killed alone");
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A step that fails once.
struct Fault {
    at: u64,
    error: i32,
    seen: u64,
    failed: Option<(PathBuf, bool)>,
}

impl Fault {
    fn on(&mut self, event: &Event<'_>) -> io::Result<()> {
        if event.is_done {
            return Ok(());
        }
        self.seen += 1;
        if self.seen != self.at {
            return Ok(());
        }
        let is_sync = matches!(event.step, Step::SyncFile | Step::SyncRange { .. });
        self.failed = Some((event.path.to_path_buf(), is_sync));
        Err(io::Error::from_raw_os_error(self.error))
    }
}

/// Runs a scenario whose step number `at` fails; whether there was such a step.
fn fail_at(seed: u64, at: u64, (error, is_sync): (i32, bool)) -> Result<bool, String> {
    let dir = tempdir();
    let model = Arc::new(Mutex::new(Model::new(is_sync)));
    let fault = Fault {
        at,
        error,
        seen: 0,
        failed: None,
    };
    let state = Arc::new(Mutex::new((Disk::new(dir.path(), seed), fault)));
    let shared = Arc::clone(&state);
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        let mut state = shared.lock().unwrap();
        state.0.note(event);
        state.1.on(event)
    });
    let watched = watch(dir.path(), hook);
    let mut scenario = Scenario::new(dir.path(), Arc::clone(&model), seed);
    let mut is_reported = false;
    for _ in 0..STEP_COUNT {
        is_reported = scenario.step().is_err();
        if is_reported {
            break;
        }
    }
    let failed = state.lock().unwrap().1.failed.clone();
    let Some((path, is_sync)) = failed else {
        return Ok(false);
    };
    // A segment that could not be made ahead is made again when it is needed. A mark of an unclean
    // stop needs no content to be valid, and a checkpoint that stays as it was is true.
    let is_ahead = path.starts_with(dir.path().join("commitlog"));
    let is_content = error == 28
        && ["abort", "checkpoint"].contains(&path.file_name().unwrap().to_str().unwrap());
    if !is_reported && !is_ahead && !is_content {
        return Err(format!("says nothing of {}", path.display()));
    }
    if let Some(store) = scenario.store.as_ref().filter(|_| is_reported) {
        let is_poisoned = store.writer().is_err();
        let is_index = path.starts_with(dir.path().join("index"));
        // Building the index is tried again, whatever its files hold.
        if is_sync && !is_index && !is_poisoned {
            return Err(format!("goes on after {} was not synced", path.display()));
        }
    }
    drop(scenario);
    drop(watched);
    let image = tempdir();
    let crashed = state
        .lock()
        .unwrap()
        .0
        .crash(image.path(), &mut Rng::with_seed(seed));
    crashed.unwrap();
    go_down(image.path());
    let model = model.lock().unwrap();
    for dir in [image.path(), dir.path()] {
        let checked = model.check(dir);
        checked.map_err(|text| format!("{} failed: {text}", path.display()))?;
    }
    Ok(true)
}

#[test]
fn a_step_that_fails_once_is_an_error_and_costs_nothing_that_was_vouched_for() {
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        // EIO, ENOSPC
        for (kind, first) in [(5, false), (28, false), (5, true), (28, true)]
            .into_iter()
            .zip(1..)
        {
            let error = kind.0;
            let failures = &failures;
            scope.spawn(move || {
                let (first, every) = (amount(first, 1), amount(FAIL_EVERY, 1));
                for at in (first..).step_by(usize::try_from(every).unwrap()) {
                    match fail_at(7, at, kind) {
                        Ok(true) => {}
                        Ok(false) => {
                            println!("error {error}: every {every}. of {} steps failed", at - 1);
                            break;
                        }
                        Err(text) => failures
                            .lock()
                            .unwrap()
                            .push(format!("error {error} at {at}: {text}")),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
