//! A kill of the process alone: what it wrote to files and maps is all there, as far as it had come.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use regent_commitlog::Store;
use regent_commitlog::failpoint::{Event, Hook, watch};

use crate::inode::write_sparse;
use crate::message::Message;
use crate::model::{Model, SEGMENT_SIZE, Verdict};
use crate::support::{NOW_MS, QUEUE_FILE_SIZE};
use crate::tempdir;

const BODY_CRC_AT: usize = 8;
const BODY_LENGTH_AT: usize = 84;
const BODY_AT: usize = 88;
const ENTRY_SIZE: u64 = 20;

/// Kills the process of a store in `dir`, sometimes once more while the next one opens it, and checks what
/// is left: all that was appended, flushed or not. `torn` was being appended.
pub fn kill(
    dir: &Path,
    model: &Model,
    torn: Option<&Message>,
    random: &mut Rng,
) -> Result<(), String> {
    let image = tempdir();
    copy(dir, image.path()).unwrap();
    if let Some(torn) = torn {
        tear(image.path(), torn, random).unwrap();
    }
    let model = model.vouching_for_all_but(torn);
    let second = tempdir();
    let is_again = random.u8(..3) == 0 && {
        let countdown = Mutex::new(random.u32(1..30));
        let (from, to) = (image.path().to_owned(), second.path().to_owned());
        let hook: Hook = Arc::new(move |_: &Event<'_>| {
            let mut countdown = countdown.lock().unwrap();
            *countdown = countdown.wrapping_sub(1);
            if *countdown == 0 {
                copy(&from, &to).unwrap();
            }
            Ok(())
        });
        let watched = watch(image.path(), hook);
        let opened = Store::open(model.config(image.path()), NOW_MS);
        drop(opened.map_err(|error| format!("refused after a kill: {error}"))?);
        drop(watched);
        second.path().join("lock").exists()
    };
    if is_again {
        check(second.path(), &model).map_err(|text| format!("second kill: {text}"))?;
    }
    check(image.path(), &model).map_err(|text| format!("kill: {text}"))
}

fn check(dir: &Path, model: &Model) -> Result<(), String> {
    match model.check(dir)? {
        Verdict::Whole => Ok(()),
        Verdict::ReadOnly => Err("read-only".to_owned()),
    }
}

/// Copies what the page cache holds of a directory.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to)?;
        } else {
            write_sparse(&to, &fs::read(&path)?)?;
        }
    }
    Ok(())
}

/// Takes back the end of an append: its entry, and of its record what is written last (FORMAT.md 5).
fn tear(dir: &Path, message: &Message, random: &mut Rng) -> io::Result<()> {
    let (position, offset) = message.place.expect("a place");
    let open = |path| OpenOptions::new().read(true).write(true).open(path);

    let queue = dir.join(format!(
        "consumequeue/{}/{}",
        message.topic, message.queue_id
    ));
    let at = offset * ENTRY_SIZE;
    let base = at - at % QUEUE_FILE_SIZE;
    let entries = open(queue.join(format!("{base:020}")))?;
    entries.write_all_at(&[0; ENTRY_SIZE as usize], at - base)?;

    let base = position - position % SEGMENT_SIZE;
    let segment = open(dir.join(format!("commitlog/{base:020}")))?;
    let mut size = [0; 4];
    segment.read_exact_at(&mut size, position - base)?;
    let mut record = vec![0; u32::from_be_bytes(size) as usize];
    segment.read_exact_at(&mut record, position - base)?;
    let written = in_order_of_writing(&record);
    for at in &written[random.usize(..=written.len())..] {
        record[*at] = 0;
    }
    segment.write_all_at(&record, position - base)
}

/// The header, what lies behind the body, the body, its checksum.
fn in_order_of_writing(record: &[u8]) -> Vec<usize> {
    let length = record[BODY_LENGTH_AT..BODY_AT].try_into().expect("4 bytes");
    let body_end = BODY_AT + u32::from_be_bytes(length) as usize;
    let crc = BODY_CRC_AT..BODY_CRC_AT + 4;
    let header = (0..BODY_AT).filter(|at| !crc.contains(at));
    let behind = body_end..record.len();
    let order = header.chain(behind).chain(BODY_AT..body_end);
    order.chain(crc.clone()).collect()
}
