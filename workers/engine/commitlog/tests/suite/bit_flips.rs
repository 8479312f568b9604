//! One wrong bit anywhere in a store: it is refused, reported or harmless, and never served (D13).

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use regent_commitlog::Store;

use crate::support::overwrite;
use crate::support::sample::{Sample, Sent, Stop, memory_dir, within};
use crate::support::served::{Served, read_everything};

/// For a closed and for a killed store with the CRC property; `REGENT_BIT_FLIPS` says another count.
const FLIP_COUNT: u64 = 200;
const HANG: Duration = Duration::from_secs(30);

/// Which files are hit, and how often of a hundred times.
const SHARES: [(&str, u64); 8] = [
    ("commitlog/", 50),
    ("consumequeue/", 20),
    ("index/", 13),
    ("epochFileCheckpoint", 8),
    ("checkpoint", 6),
    ("lock", 1),
    ("abort", 1),
    ("truncation", 1),
];

/// The same where a truncation is under way.
const SHARES_TRUNCATING: [(&str, u64); 8] = [
    ("truncation", 60),
    ("commitlog/", 10),
    ("consumequeue/", 10),
    ("index/", 5),
    ("epochFileCheckpoint", 5),
    ("checkpoint", 8),
    ("lock", 1),
    ("abort", 1),
];

/// Fields of a record that no checksum covers by the format (storage-and-ha.md 2.2, 2.8): without the CRC
/// property of storage-and-ha.md 2.7 a wrong bit in them can be served, or hide the message.
const UNCHECKED: [&str; 12] = [
    "queueId",
    "flag",
    "queueOffset",
    "sysFlag",
    "bornTimestamp",
    "bornHost",
    "storeTimestamp",
    "storeHost",
    "reconsumeTimes",
    "preparedTransactionOffset",
    "topic",
    "properties",
];

/// The field that a byte of a record belongs to (storage-and-ha.md 2.2).
fn field_at(record: &[u8], at: usize) -> &'static str {
    let number = |from: usize, size: usize| {
        let bytes = &record[from..from + size];
        bytes
            .iter()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let host_size = |flag: u8| if record[39] & flag == 0 { 8 } else { 20 };
    let (born, stored) = (host_size(0x10), host_size(0x20));
    let topic_length_size = if record[7] == 0xA7 { 1 } else { 2 };
    let body = number(68 + born + stored, 4);
    let topic = number(72 + born + stored + body, topic_length_size);
    let sizes = [
        ("totalSize", 4),
        ("magic", 4),
        ("bodyCRC", 4),
        ("queueId", 4),
        ("flag", 4),
        ("queueOffset", 8),
        ("physicalOffset", 8),
        ("sysFlag", 4),
        ("bornTimestamp", 8),
        ("bornHost", born),
        ("storeTimestamp", 8),
        ("storeHost", stored),
        ("reconsumeTimes", 4),
        ("preparedTransactionOffset", 8),
        ("bodyLength", 4),
        ("body", body),
        ("topicLength", topic_length_size),
        ("topic", topic),
        ("propertiesLength", 2),
    ];
    let mut end = 0;
    for (name, size) in sizes {
        end += size;
        if at < end {
            return name;
        }
    }
    "properties"
}

/// One bit of one file.
#[derive(Debug, Clone)]
struct Flip {
    file: PathBuf,
    at: usize,
    bit: u8,
}

impl fmt::Display for Flip {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} byte {} bit {}",
            self.file.display(),
            self.at,
            self.bit
        )
    }
}

impl Flip {
    fn random(random: &mut Rng, sample: &Sample) -> Self {
        let mut draw = random.u64(..100);
        let shares = if sample.files.contains_key(Path::new("truncation")) {
            SHARES_TRUNCATING
        } else {
            SHARES
        };
        let share = shares.iter().find(|(_, share)| {
            let is_it = draw < *share;
            draw = draw.saturating_sub(*share);
            is_it
        });
        let prefix = share.map_or("", |(prefix, _)| prefix);
        let is_hit = |name: &&PathBuf| name.to_str().unwrap().starts_with(prefix);
        let files: Vec<_> = sample.files.keys().filter(is_hit).collect();
        // Not every store has a mark of an unclean stop and a journal.
        let file = random
            .choice(files)
            .map_or_else(|| "lock".into(), PathBuf::clone);
        let mut size = sample.files[&file].len();
        // Four integers and one more; what follows them in the checkpoint means nothing.
        if prefix == "checkpoint" && random.u8(..4) > 0 {
            size = 40;
        }
        Self {
            at: random.usize(..size),
            bit: random.u8(..8),
            file,
        }
    }

    fn kind(&self) -> String {
        let name = self.file.to_str().unwrap();
        name.split('/').next().unwrap().to_owned()
    }

    fn apply(&self, sample: &Sample, dir: &Path) {
        let byte = sample.files[&self.file][self.at] ^ 1 << self.bit;
        overwrite(&dir.join(&self.file), self.at as u64, &[byte]);
    }

    /// Puts the bit back, if the file is still there.
    fn revert(&self, sample: &Sample, dir: &Path) {
        let byte = sample.files[&self.file][self.at];
        if dir.join(&self.file).exists() {
            overwrite(&dir.join(&self.file), self.at as u64, &[byte]);
        }
    }

    /// Where in a record it is.
    fn place_in(&self, sent: &Sent) -> Option<usize> {
        let base = self.file.strip_prefix("commitlog").ok()?;
        let base: u64 = base.to_str()?.parse().ok()?;
        let at = (base + self.at as u64).checked_sub(sent.position)?;
        let at = usize::try_from(at).unwrap();
        (at < sent.bytes.len()).then_some(at)
    }

    /// The field it is in, of the record it is in.
    fn field(&self, sample: &Sample) -> Option<&'static str> {
        let mut all = sample.sent.iter();
        all.find_map(|sent| Some(field_at(&sent.bytes, self.place_in(sent)?)))
    }

    /// The field that makes served bytes differ, if only this bit does and no check covers the
    /// field.
    fn excuse(&self, sample: &Sample, sent: &Sent, record: &[u8]) -> Option<&'static str> {
        let at = self.place_in(sent)?;
        let mut expected = sent.bytes.clone();
        expected[at] ^= 1 << self.bit;
        let field = field_at(&sent.bytes, at);
        let is_unchecked = !sample.has_crc() && UNCHECKED.contains(&field);
        (expected == record && is_unchecked).then_some(field)
    }

    /// Whether no check can find that a message is gone. The log may end before a record that was
    /// not flushed, and without the CRC property a record can name another place.
    fn may_hide(&self, sample: &Sample, position: u64) -> bool {
        let is_unchecked = self
            .field(sample)
            .is_some_and(|field| UNCHECKED.contains(&field));
        let last = sample.sent.last().unwrap();
        let is_torn_tail = self.place_in(last).is_some()
            && position == last.position
            && position >= sample.flushed_position();
        is_torn_tail || is_unchecked && !sample.has_crc()
    }
}

/// What became of one flip.
#[derive(Debug, Default)]
struct Outcome {
    /// Code of the error, if the store did not open.
    refused: Option<&'static str>,
    is_read_only: bool,
    served: Served,
    again: Option<Served>,
    wrong: Vec<String>,
}

fn stop(store: Store, is_closed: bool) {
    if is_closed {
        store.close().unwrap();
    }
    drop(store);
}

/// Opens a store with one wrong bit, reads all, stops it, and opens it again.
fn try_flip(sample: &Sample, flip: &Flip, is_closed: bool, dir: &Path) -> Outcome {
    let excuse = |sent: &Sent, record: &[u8]| flip.excuse(sample, sent, record);
    let mut outcome = Outcome::default();
    sample.restore(dir);
    flip.apply(sample, dir);
    match sample.open(dir) {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            outcome.refused = Some(error.code());
        }
        Ok(store) => {
            outcome.served = read_everything(sample, &store, &excuse);
            outcome.is_read_only = store.read_only_reason().is_some();
            stop(store, is_closed);
        }
    }
    if outcome.refused.is_none() {
        match sample.open(dir) {
            Err(error) => outcome.wrong.push(format!("does not open again: {error}")),
            Ok(store) => {
                outcome.again = Some(read_everything(sample, &store, &excuse));
                stop(store, is_closed);
            }
        }
    }
    if outcome.refused.is_some() || outcome.is_read_only {
        flip.revert(sample, dir);
        let store = sample.open(dir).expect("opens without the wrong bit");
        let served = read_everything(sample, &store, &|_, _| None);
        let is_whole = served.missing.is_empty() && served.refused == 0;
        if !is_whole || !served.wrong.is_empty() {
            let text = format!("not whole without the wrong bit: {served:?}");
            outcome.wrong.push(text);
        }
    }
    outcome
}

/// Counts by file or field and by what happened.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<(String, String), u64>,
    wrong: Vec<String>,
}

impl Tally {
    fn note(&mut self, sample: &Sample, flip: &Flip, outcome: Outcome) {
        let field = flip.field(sample);
        let place = field.map_or_else(|| flip.kind(), |field| format!("record {field}"));
        let Outcome { served, again, .. } = outcome;
        let again = again.unwrap_or_default();
        let what = if let Some(code) = outcome.refused {
            format!("refused: {code}")
        } else if served.altered.or(again.altered).is_some() {
            "served altered".into()
        } else if served.altered_at_position.is_some() {
            "served altered by position only".into()
        } else if outcome.is_read_only {
            "read-only".into()
        } else if served.refused > 0 {
            "reported at the read".into()
        } else if !served.missing.is_empty() {
            "missing".into()
        } else if served.searches_short > 0 {
            "searches differ".into()
        } else {
            "harmless".into()
        };
        *self.counts.entry((place, what)).or_default() += 1;
        if outcome.refused.is_none() && !outcome.is_read_only {
            for position in served.missing.iter().chain(&again.missing) {
                if !flip.may_hide(sample, *position) {
                    self.wrong
                        .push(format!("{flip}: nothing tells of {position}"));
                }
            }
        }
        if again.intact < served.intact {
            let lost = served.intact - again.intact;
            let text = format!("{lost} fewer the second time");
            *self.counts.entry((flip.kind(), text)).or_default() += 1;
        }
        let wrong = outcome.wrong.into_iter();
        let wrong = wrong.chain(served.wrong).chain(again.wrong);
        self.wrong
            .extend(wrong.map(|text| format!("{flip}: {text}")));
    }

    fn finish(self) {
        for ((place, what), count) in &self.counts {
            println!("{count:6} {place}: {what}");
        }
        let count = self.wrong.len();
        assert_eq!(count, 0, "{:#?}", &self.wrong[..count.min(20)]);
    }
}

fn flip_count() -> u64 {
    std::env::var("REGENT_BIT_FLIPS").map_or(FLIP_COUNT, |text| text.parse().unwrap())
}

fn flip_bits(seed: u64, count: u64, stop: Stop, has_crc: bool) {
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let sample = Arc::new(Sample::new(stop, has_crc));
    let dir = Arc::new(memory_dir());
    let mut tally = Tally::default();
    for _ in 0..count {
        let flip = Flip::random(&mut random, &sample);
        let closes = random.bool();
        let outcome = {
            let (sample, flip, dir) = (Arc::clone(&sample), flip.clone(), Arc::clone(&dir));
            let name = flip.to_string();
            within(HANG, &name, move || {
                try_flip(&sample, &flip, closes, dir.path())
            })
        };
        tally.note(&sample, &flip, outcome);
    }
    tally.finish();
}

#[test]
fn a_wrong_bit_in_a_closed_store_with_the_crc_property_is_never_served() {
    flip_bits(41, flip_count(), Stop::Closed, true);
}

#[test]
fn a_wrong_bit_in_a_killed_store_with_the_crc_property_is_never_served() {
    flip_bits(42, flip_count(), Stop::Killed, true);
}

#[test]
fn a_wrong_bit_during_a_truncation_with_the_crc_property_is_never_served() {
    flip_bits(43, flip_count() / 4, Stop::Truncating, true);
}

#[test]
fn a_wrong_bit_in_a_closed_store_is_never_served_where_a_check_can_find_it() {
    flip_bits(41, flip_count() / 2, Stop::Closed, false);
}

#[test]
fn a_wrong_bit_in_a_killed_store_is_never_served_where_a_check_can_find_it() {
    flip_bits(42, flip_count() / 2, Stop::Killed, false);
}

#[test]
fn a_wrong_bit_during_a_truncation_is_never_served_where_a_check_can_find_it() {
    flip_bits(43, flip_count() / 4, Stop::Truncating, false);
}
