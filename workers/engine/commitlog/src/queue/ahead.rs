//! The helper thread that gives busy queues their next slice of disk blocks and pages.
//!
//! The first write to a page of a queue costs as much as a hundred short appends do (targets.md
//! 1.1). A queue that is half through a slice asks for the next one, and has it long before it gets
//! there. A queue that gets there first, or is refused here, allocates as before: the helper only
//! saves time. An idle queue never asks, and holds no more than before.

use std::path::Path;
use std::sync::Arc;

use regent_sync::atomic::{AtomicU64, Ordering};
use regent_sync::mpsc::{Receiver, Sender, channel};
use regent_sync::thread::JoinHandle;

use crate::failpoint::{Step, step};
use crate::files::{allocate, open_segment, segment_name};
use crate::native::spawn_native;
use crate::queue::SharedQueue;
use crate::sys::MapReader;

/// A slice that a queue will need.
#[derive(Debug)]
pub(crate) struct Slice {
    pub(crate) queue: Arc<SharedQueue>,
    /// The file that it is in.
    pub(crate) base: u64,
    pub(crate) map: MapReader,
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Becomes `to` once the slice has blocks and pages.
    pub(crate) allocated: Arc<AtomicU64>,
}

/// The helper, which begins with the first busy queue.
#[derive(Debug, Default)]
pub(crate) struct QueuesAhead {
    helper: Option<(Sender<Slice>, JoinHandle<()>)>,
    is_stopped: bool,
}

impl QueuesAhead {
    /// Asks for a slice.
    pub(crate) fn want(&mut self, slice: Slice) {
        if self.helper.is_none() && !self.is_stopped {
            let (sender, receiver) = channel();
            let spawned = spawn_native("queue-prepare", move || run(&receiver));
            // Without a thread, queues take their slices themselves.
            self.helper = spawned.ok().map(|thread| (sender, thread));
        }
        if let Some((sender, _)) = &self.helper {
            // A helper that has ended leaves it to the queue as well.
            let _ = sender.send(slice);
        }
    }

    /// Ends the helper: afterwards no file of a queue is touched by it.
    pub(crate) fn stop(&mut self) {
        self.is_stopped = true;
        if let Some((sender, thread)) = self.helper.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

impl Drop for QueuesAhead {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(wanted: &Receiver<Slice>) {
    while let Ok(slice) = wanted.recv() {
        prepare(&slice);
    }
}

fn prepare(slice: &Slice) {
    let path = slice.queue.dir().join(segment_name(slice.base));
    if give_blocks(&path, slice).is_err() {
        return;
    }
    #[allow(clippy::cast_possible_truncation)] // within one mapped file
    let (from, to) = (slice.from as usize, slice.to as usize);
    // An old kernel or a locked-memory limit only makes appends slower.
    let _ = slice.map.populate(from, to);
    slice.allocated.store(slice.to, Ordering::Release);
}

fn give_blocks(path: &Path, slice: &Slice) -> std::io::Result<()> {
    let file = open_segment(path).map_err(std::io::Error::other)?;
    step(Step::Resize, path, || allocate(&file, slice.from, slice.to))
}
