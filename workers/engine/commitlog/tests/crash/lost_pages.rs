//! A sync that fails and leaves its pages clean: the next sync of the file succeeds, and the disk still
//! lacks them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use regent_commitlog::failpoint::{Event, Hook, Step, Watch, watch};
use regent_commitlog::{Store, StoreError};

use crate::disk::Disk;
use crate::model::Model;
use crate::scenario::Scenario;
use crate::second::open;
use crate::support::{NOW_MS, append, copy_dir, go_down};
use crate::{STEP_COUNT, amount, tempdir};

const EIO: i32 = 5;
/// Of the syncs that may fail, one of so many does in the short form.
const FAIL_EVERY: u64 = 4;
/// How long the store is used after it was opened again.
const LATER_STEP_COUNT: usize = 25;

/// A disk one of whose syncs fails.
struct Failing {
    disk: Disk,
    /// Which of the syncs fails.
    at: u64,
    seen: u64,
    failed: Option<PathBuf>,
    has_lost: bool,
}

impl Failing {
    fn on(&mut self, event: &Event<'_>) -> io::Result<()> {
        let is_sync = matches!(event.step, Step::SyncFile | Step::SyncRange { .. });
        if is_sync && event.is_done {
            self.seen += 1;
            if self.seen == self.at {
                self.has_lost = self.disk.fail_sync(event);
                self.failed = Some(event.path.to_path_buf());
                return Err(io::Error::from_raw_os_error(EIO));
            }
        }
        self.disk.note(event);
        Ok(())
    }
}

fn watch_failing(dir: &Path, at: u64, seed: u64) -> (Arc<Mutex<Failing>>, Watch) {
    let failing = Arc::new(Mutex::new(Failing {
        disk: Disk::new(dir, seed),
        at,
        seen: 0,
        failed: None,
        has_lost: false,
    }));
    let shared = Arc::clone(&failing);
    let hook: Hook = Arc::new(move |event: &Event<'_>| shared.lock().unwrap().on(event));
    (failing, watch(dir, hook))
}

/// Holds an image of the power cut now against the model.
fn check_image(failing: &Mutex<Failing>, model: &Model, seed: u64) -> Result<(), String> {
    let image = tempdir();
    let random = &mut Rng::with_seed(seed);
    failing
        .lock()
        .unwrap()
        .disk
        .crash(image.path(), random)
        .unwrap();
    go_down(image.path());
    model.check(image.path()).map(drop)
}

/// A store refuses to write, flush and close once a sync failed, though the next sync would
/// succeed.
fn check_poisoned(store: &Store, path: &Path) -> Result<(), String> {
    let is_refused = |refused: Result<(), StoreError>| refused.is_err();
    if is_refused(store.writer().map(drop))
        && is_refused(store.flush().map(drop))
        && is_refused(store.flush_tick(NOW_MS + 3_600_000))
        && is_refused(store.close())
    {
        return Ok(());
    }
    Err(format!("goes on after {} was not synced", path.display()))
}

/// What came of a failure.
#[derive(Debug, Default)]
struct Tally {
    failures: u64,
    losses: u64,
    poisoned: u64,
}

/// Runs a scenario whose sync number `at` fails, opens the store again in the same run of the system and
/// goes on; whether there was such a sync.
fn lose_at(seed: u64, at: u64, tally: &mut Tally) -> Result<bool, String> {
    let dir = tempdir();
    let model = Arc::new(Mutex::new(Model::new(false)));
    let (failing, watched) = watch_failing(dir.path(), at, seed);
    let mut scenario = Scenario::new(dir.path(), Arc::clone(&model), seed);
    let is_reported = (0..STEP_COUNT).any(|_| scenario.step().is_err());
    let (failed, has_lost) = {
        let failing = failing.lock().unwrap();
        (failing.failed.clone(), failing.has_lost)
    };
    let Some(path) = failed else {
        return Ok(false);
    };
    tally.failures += 1;
    tally.losses += u64::from(has_lost);
    if !is_reported {
        return Err(format!("says nothing of {}", path.display()));
    }
    // Building the index is tried again, whatever its files hold.
    let is_index = path.starts_with(dir.path().join("index"));
    if let Some(store) = scenario.store.as_ref().filter(|_| !is_index) {
        check_poisoned(store, &path)?;
        tally.poisoned += 1;
    }
    check_image(&failing, &model.lock().unwrap(), seed)
        .map_err(|text| format!("{} lost pages: {text}", path.display()))?;
    scenario.store = None;
    failing.lock().unwrap().disk.forget().unwrap();
    let copy = tempdir();
    copy_dir(dir.path(), copy.path());
    {
        let model = model.lock().unwrap();
        let checked = model.check(copy.path());
        checked.map_err(|text| format!("opened again: {text}"))?;
    }
    go_on(&mut scenario, &model)?;
    check_image(&failing, &model.lock().unwrap(), seed + 1)
        .map_err(|text| format!("later: {text}"))?;
    drop(watched);
    Ok(true)
}

/// Opens the store again, which has lost what was not acknowledged, and uses it.
fn go_on(scenario: &mut Scenario, model: &Mutex<Model>) -> Result<(), String> {
    let step = |scenario: &mut Scenario| scenario.step().map_err(|error| error.to_string());
    step(scenario)?;
    let store = scenario.store.as_ref().expect("it is open");
    if store.recovery().damage.is_some() {
        return Ok(());
    }
    {
        let mut model = model.lock().unwrap();
        let end = store.max_position();
        let is_kept = |place: Option<(u64, u64)>| place.is_some_and(|place| place.0 < end);
        model.messages.retain(|message| is_kept(message.place));
        // Whether a truncation that failed was carried out, the store now says.
        model.acked_end = model.acked_end.min(end);
        model.cut = None;
        model.min_allowed = model.min_allowed.max(store.min_position());
        model.epochs = vec![store.epochs()];
    }
    (0..LATER_STEP_COUNT).try_for_each(|_| step(scenario))
}

#[test]
fn a_sync_that_fails_and_leaves_its_pages_clean_costs_nothing_that_was_acknowledged() {
    let mut tally = Tally::default();
    let (first, every) = (amount(2, 1), amount(FAIL_EVERY, 1));
    for seed in [11, 12] {
        for at in (first..).step_by(usize::try_from(every).unwrap()) {
            let done = lose_at(seed, at, &mut tally);
            let is_there = done.unwrap_or_else(|text| panic!("seed {seed}, sync {at}: {text}"));
            if !is_there {
                break;
            }
        }
    }
    println!("{tally:?}");
    assert!(tally.losses > 5 && tally.poisoned > 5, "{tally:?}");
}

#[test]
fn a_second_flush_that_succeeds_acknowledges_nothing_that_the_first_one_lost() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"kept");
    let kept = store.flush().unwrap();
    let (failing, watched) = watch_failing(dir.path(), 1, 3);
    append(&store, "t", 0, &[7; 9_000]);

    let first = store.flush();
    let second = store.flush();

    assert!(matches!(first, Err(StoreError::Io { .. })), "{first:?}");
    assert!(matches!(second, Err(StoreError::Poisoned { .. })));
    assert_eq!(store.flushed_position(), kept);
    assert!(failing.lock().unwrap().has_lost);
    drop((store, watched));
    failing.lock().unwrap().disk.forget().unwrap();
    let store = open(dir.path());
    assert_eq!(store.max_position(), kept);
    assert_eq!(append(&store, "t", 0, b"next").queue_offset, 1);
}
