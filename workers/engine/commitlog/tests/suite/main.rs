//! The tests of the store that need no separate process.
//!
//! They are one program: each program that is linked is compiled with all that the store and the
//! language's library are made from.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod appending;
mod bit_flips;
mod boundaries;
mod cold_queues;
mod confirmed;
mod crc_property;
mod damage;
mod emptying;
mod epoch_lists;
mod epochs;
mod former;
mod front;
mod gaps;
mod held;
mod hostile_bodies;
mod index;
mod index_damage;
mod index_random;
mod index_search;
mod index_turns;
mod inspecting;
mod inspecting_busy;
mod inspecting_control;
mod inspecting_index;
mod inspecting_live;
mod interrupted_truncation;
mod local;
mod lost_maps;
mod lost_unflushed;
mod model;
mod opening;
mod planted;
mod populating;
mod queue_file_sizes;
mod queue_recovery;
mod queues_ahead;
mod reading;
mod rebuilding;
mod recovery;
mod retention;
mod sealing;
#[path = "../crash/second.rs"]
mod second;
#[path = "../second_reader/mod.rs"]
mod second_reader;
mod slices;
#[path = "../support/mod.rs"]
mod support;
mod timers;
mod truncation;
mod units;
mod unserved;
mod vectors;
mod write_back;
