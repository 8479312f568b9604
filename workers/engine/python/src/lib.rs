//! The Python face of the engine: types and names only, no logic.
//!
//! Every call that may wait or work for long frees the interpreter lock. A panic never crosses:
//! it becomes an exception, and what it happened in refuses further work.

#![forbid(unsafe_code)]

mod clients;
mod command;
mod error;
mod filter;
mod front;
mod grant;
mod hotpath;
mod inspect;
mod log_reader;
mod member_shares;
mod message;
mod pending;
mod rebuild;
mod replication;
mod shared_store;
mod shares;
mod store;
mod store_reads;
mod store_results;
mod store_upkeep;
mod system_run;
mod timers;

use pyo3::prelude::*;
use pyo3::types::PyModule;
use regent_remoting::properties::PROPERTIES_SIZE_MAX;

/// The message engine of Regent.
#[pymodule]
mod regent_engine {
    use regent_remoting::limits;

    use super::{Bound, PROPERTIES_SIZE_MAX, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("EXT_COUNT_MAX", limits::EXT_COUNT_MAX)?;
        module.add("FRAME_PREFIX_SIZE", limits::FRAME_PREFIX_SIZE)?;
        module.add("HEADER_SIZE_MAX", limits::HEADER_SIZE_MAX)?;
        module.add("IN_MEMORY_BYTES", regent_hotpath::IN_MEMORY_BYTES)?;
        module.add("PARKED_COUNT_MAX", regent_hotpath::PARKED_COUNT_MAX)?;
        module.add("PARKED_MS_MAX", regent_hotpath::PARKED_MS_MAX)?;
        module.add("LOCAL_DIR", regent_commitlog::LOCAL_DIR)?;
        module.add("LOCAL_OFFSET_BITS", regent_commitlog::LOCAL_OFFSET_BITS)?;
        module.add("LOCAL_START", regent_commitlog::LOCAL_START)?;
        module.add("PROPERTIES_SIZE_MAX", PROPERTIES_SIZE_MAX)?;
        module.add("SHARE_VERSION_MAX", regent_share::VERSION)?;
        module.add("SHARE_WINDOW", regent_share::WINDOW)
    }

    #[pymodule_export]
    use crate::clients::{Client, ClientBatch, ClientEvent, Clients};
    #[pymodule_export]
    use crate::command::{Command, Decoder, encode_command, encode_pull_answer};
    #[pymodule_export]
    use crate::error::{ProtocolError, StoreError};
    #[pymodule_export]
    use crate::filter::PropertyFilter;
    #[pymodule_export]
    use crate::front::FrontSegment;
    #[pymodule_export]
    use crate::grant::{LeadingQueues, ParkedPull, PullGrant};
    #[pymodule_export]
    use crate::hotpath::{Connection, HotPath, Received, special_properties, turn_time_limits_ms};
    #[pymodule_export]
    use crate::inspect::{
        CheckpointSurvey, Finding, IndexSurvey, IndexedKey, QueueSurvey, Survey, finding_kinds,
        read_index,
    };
    #[pymodule_export]
    use crate::log_reader::{LogReader, LogRemark};
    #[pymodule_export]
    use crate::member_shares::Appending;
    #[pymodule_export]
    use crate::message::{
        Record, decode_records, encode_properties, offset_message_id, parse_offset_message_id,
        parse_properties, tag_hash,
    };
    #[pymodule_export]
    use crate::pending::{Pending, PendingTransactions};
    #[pymodule_export]
    use crate::rebuild::{Rebuild, Rebuilt};
    #[pymodule_export]
    use crate::replication::{LogCopy, MasterLink, ReplicaLink};
    #[pymodule_export]
    use crate::shares::{Finished, HeldShare, HeldShareMessage, parse_pop_handle};
    #[pymodule_export]
    use crate::store::Store;
    #[pymodule_export]
    use crate::store_results::{Appended, Counters, Damage, Expired, IndexStatus, ReadResult};
    #[pymodule_export]
    use crate::system_run::{is_same_run, system_run};
    #[pymodule_export]
    use crate::timers::{DeliveredTimers, DueTimers, TimerStatus};
}
