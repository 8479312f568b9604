//! Files of a store: one is replaced, and the store is surveyed, opened and read.

use std::fs;
use std::path::Path;

use regent_commitlog::inspect::Survey;
use tempfile::TempDir;

use crate::support::sample::{Sample, Stop, config, memory_dir};
use crate::support::served::read_everything;
use crate::{EntryPoint, Target};

pub(crate) const SEGMENT: Target = Target {
    name: "segment",
    inputs: || real("commitlog", Stop::Closed),
    entry_point: || file("commitlog/00000000000000004096", Stop::Killed),
};

pub(crate) const QUEUE_FILE: Target = Target {
    name: "queue-file",
    inputs: || real("consumequeue", Stop::Closed),
    entry_point: || file("consumequeue/a/0/00000000000000000000", Stop::Closed),
};

pub(crate) const INDEX_FILE: Target = Target {
    name: "index-file",
    inputs: || real("index", Stop::Closed),
    entry_point: || file(&index_file(), Stop::Closed),
};

pub(crate) const EPOCHS: Target = Target {
    name: "epochs",
    inputs: || real("epochFileCheckpoint", Stop::Closed),
    entry_point: || file("epochFileCheckpoint", Stop::Killed),
};

pub(crate) const CHECKPOINT: Target = Target {
    name: "checkpoint",
    inputs: || real("checkpoint", Stop::Closed),
    entry_point: || file("checkpoint", Stop::Killed),
};

pub(crate) const TRUNCATION: Target = Target {
    name: "truncation",
    inputs: || real("truncation", Stop::Truncating),
    entry_point: || file("truncation", Stop::Truncating),
};

pub(crate) const ABORT: Target = Target {
    name: "abort",
    inputs: marks,
    entry_point: || file("abort", Stop::Killed),
};

/// The files of a store below a folder, or with a name.
fn real(folder: &str, stop: Stop) -> Vec<Vec<u8>> {
    let files = Sample::new(stop, false).files.into_iter();
    let real = files.filter(|(name, _)| name.starts_with(folder));
    real.map(|(_, content)| content).collect()
}

/// The mark of a killed store, that of stock, and those of other lives of the machine.
fn marks() -> Vec<Vec<u8>> {
    let mut marks = real("abort", Stop::Killed);
    let others = ["", "7", "7\nunflushed\n", "7\nanother run\nasynchronous\n"];
    marks.extend(others.map(|text| text.as_bytes().to_vec()));
    marks
}

/// The name of the second index file, which is the time of its first record.
fn index_file() -> String {
    let files = Sample::new(Stop::Closed, false).files;
    let mut names = files.keys().filter(|name| name.starts_with("index"));
    names.nth(1).unwrap().to_str().unwrap().to_owned()
}

/// A store that was left in some way, of which one file is replaced.
struct Scene {
    sample: Sample,
    dir: TempDir,
    name: String,
}

fn file(name: &str, stop: Stop) -> EntryPoint {
    let scene = Scene {
        sample: Sample::new(stop, false),
        dir: memory_dir(),
        name: name.to_owned(),
    };
    Box::new(move |bytes| scene.run(bytes))
}

impl Scene {
    /// Bytes as a file of the store: it is surveyed, opened and read, twice.
    fn run(&self, bytes: &[u8]) {
        self.sample.restore(self.dir.path());
        fs::write(self.dir.path().join(&self.name), bytes).unwrap();
        survey(self.dir.path());
        for _ in 0..2 {
            let Ok(store) = self.sample.open(self.dir.path()) else {
                return;
            };
            // A log may hold other records than the sample's; a derived file is no excuse.
            if self.name.starts_with("commitlog") {
                read_everything(&self.sample, &store, &|_, _| Some("log"));
                continue;
            }
            let served = read_everything(&self.sample, &store, &|_, _| None);
            assert_eq!(served.wrong, [""; 0]);
            if self.name == "abort" {
                let flushed = self.sample.flushed_position();
                let is_lost = |position: &&u64| **position < flushed;
                assert_eq!(served.missing.iter().find(is_lost), None, "was flushed");
            }
        }
    }
}

fn survey(dir: &Path) {
    if let Ok(mut survey) = Survey::comparing(&config(dir, false), false) {
        while survey.advance(1 << 20).is_ok_and(|goes_on| goes_on) {}
    }
}
