//! A second reader of store directories, written from FORMAT.md alone: slow, and without a line of the store.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test program has its own copy and uses a part"
)]

pub mod bytes;
pub mod files;
pub mod index;
pub mod queue;
pub mod record;
pub mod recovery;
pub mod texts;
