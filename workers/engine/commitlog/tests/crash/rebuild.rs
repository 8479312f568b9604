//! A process that dies, or a step that fails, anywhere in a rebuild.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use regent_commitlog::failpoint::{Event, Hook, watch};
use regent_commitlog::inspect::Survey;
use regent_commitlog::{Rebuild, RebuildParts, StoreError};

use crate::support::index::{Filler, build, config, open};
use crate::support::{NOW_MS, contents, crash};
use crate::tempdir;

fn rebuild(dir: &Path) -> Result<(), StoreError> {
    let parts = RebuildParts {
        queues: true,
        index: true,
    };
    let mut rebuild = Rebuild::begin(config(dir), parts, NOW_MS, 0)?;
    while rebuild.advance(1000)? {}
    rebuild.finish(None).map(drop)
}

/// A closed, indexed store whose queues and index are to be rebuilt.
fn filled(dir: &Path) -> Filler {
    let store = open(dir);
    let mut filler = Filler::new(21);
    filler.append(&store, 24);
    build(&store);
    store.close().unwrap();
    filler
}

/// No file of a part is new while another is old, and everything is findable.
fn assert_works(dir: &Path, filler: &mut Filler, what: &str) {
    let mut survey = Survey::comparing(&config(dir), false).unwrap();
    while survey.advance(u64::MAX).unwrap() {}
    let mut findings = survey.findings().iter();
    assert!(
        findings.all(|found| found.kind.severity() == "note"),
        "{what}"
    );
    let store = open(dir);
    assert!(store.recovery().was_clean, "{what}");
    build(&store);
    filler.check_searches(&store);
}

#[test]
fn a_rebuild_that_dies_or_fails_at_any_step_leaves_a_store_that_works() {
    let dir = tempdir();
    let mut filler = filled(dir.path());
    let whole = contents(dir.path());
    let root = dir.path().to_path_buf();
    let images = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&images);
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        let what = format!("{:?} of {}", event.step, event.path.display());
        taken.lock().unwrap().push((what, crash(&root)));
        Ok(())
    });
    let watched = watch(dir.path(), hook);
    rebuild(dir.path()).unwrap();
    drop(watched);
    assert_eq!(contents(dir.path()), whole);

    let images = std::mem::take(&mut *images.lock().unwrap());
    for (what, image) in &images {
        assert_works(image.path(), &mut filler, what);
    }
    assert!(images.iter().any(|(what, _)| what.starts_with("Exchange")));

    for failing in 0..images.len() {
        let left = Mutex::new(failing);
        let hook: Hook = Arc::new(move |_: &Event<'_>| {
            let mut left = left.lock().unwrap();
            let fails = *left == 0;
            *left = left.wrapping_sub(1);
            if fails {
                Err(io::Error::other("told to"))
            } else {
                Ok(())
            }
        });
        let watched = watch(dir.path(), hook);
        let _ = rebuild(dir.path());
        drop(watched);
        let found = contents(dir.path());
        let used = |name: &std::path::PathBuf| !name.to_string_lossy().contains(".new");
        assert!(
            found.iter().filter(|(name, _)| used(name)).eq(&whole),
            "step {failing}"
        );
    }
    rebuild(dir.path()).unwrap();
    assert!(fs::read_dir(dir.path()).unwrap().all(|entry| {
        let name = entry.unwrap().file_name();
        !name.to_string_lossy().ends_with(".new")
    }));
}
