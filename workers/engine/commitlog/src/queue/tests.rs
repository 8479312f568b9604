#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use super::*;
use crate::message::QueueEntry;
use crate::queue_ahead::QueuesAhead;

#[test]
fn files_made_for_entries_to_come_do_not_move_the_end_of_what_is_there() {
    for layout in [Layout::Plain, Layout::Batch] {
        let dir = tempfile::tempdir().unwrap();
        let file_size = 5 * layout.entry_bytes();
        let mut queue = QueueWriter::new(dir.path().join("queue"), layout, file_size, Vec::new());
        let mut ahead = QueuesAhead::default();
        let entry = QueueEntry {
            log_position: 0,
            size: 100,
            tags_code: 0,
        };
        let push = |queue: &mut QueueWriter, offset| {
            let placed = Placed {
                entry,
                offset,
                count: 1,
                store_timestamp_ms: 0,
            };
            match layout {
                Layout::Plain => queue.push(&entry),
                Layout::Batch => queue.push_batch(&placed),
            }
        };
        queue.reserve(12, &mut ahead).unwrap();

        let shared = Arc::clone(queue.shared());
        let flushed = || shared.flushed_bytes.load(Ordering::Relaxed);
        for offset in 0..12 {
            shared.flush().unwrap();
            assert_eq!(shared.end_number(), offset);
            assert_eq!(flushed(), offset * layout.entry_bytes());
            assert_eq!(shared.number_of(offset), offset);
            push(&mut queue, offset);
        }
        queue.reserve(4, &mut ahead).unwrap();
        assert_eq!(shared.end_number(), 12);
    }
}
