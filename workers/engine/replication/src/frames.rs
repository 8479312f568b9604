//! The frames, all big-endian: four of `AutoSwitch` (storage-and-ha.md 9.3), and two of the default
//! protocol (storage-and-ha.md 9.2).
//!
//! ```text
//! handshake  replica to master  state=1 i32 | from last file i16 | learner i16 | broker id i64
//! greeting   master to replica  state=1 i32 | body size i32 | log end i64 | last epoch i32
//!                               | per epoch: number i32, start i64
//! transfer   master to replica  state=2 i32 | body size i32 | position i64 | epoch i32
//!                               | epoch start i64 | confirmed i64 | log bytes
//! report     replica to master  state=2 i32 | log end i64
//!
//! default protocol:
//! transfer   master to replica  position i64 | body size i32 | log bytes
//! report     replica to master  log end i64
//! ```

use regent_commitlog::{Epoch, EpochList};

use crate::error::LinkError;

const STATE_HANDSHAKE: i32 = 1;
const STATE_TRANSFER: i32 = 2;

pub(crate) const HANDSHAKE_SIZE: usize = 16;
pub(crate) const REPORT_SIZE: usize = 12;
pub(crate) const GREETING_SIZE: usize = 20;
pub(crate) const TRANSFER_SIZE: usize = 36;
pub(crate) const PLAIN_REPORT_SIZE: usize = 8;
pub(crate) const PLAIN_TRANSFER_SIZE: usize = 12;
const EPOCH_SIZE: usize = 12;

/// Epochs in one greeting: what stock has room for.
pub const EPOCH_COUNT_MAX: usize = 1000;

/// Largest body of a transfer: a stock replica reads into a buffer of 4 MiB, header included.
pub(crate) const BODY_SIZE_MAX: usize = (4 << 20) - TRANSFER_SIZE;

/// Which of stock's two protocols a connection uses. Nothing on the wire says which: both ends are
/// set up for the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Groups under a controller: handshakes, epochs and confirmed positions (storage-and-ha.md 9.3).
    AutoSwitch,
    /// Groups whose roles are fixed: log bytes and reports alone (storage-and-ha.md 9.2).
    Plain,
}

/// Who a replica is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    /// An empty replica asks for the last segment only, not for the whole log.
    pub is_from_last_segment: bool,
    /// It never joins the `SyncStateSet`.
    pub is_learner: bool,
    /// Its id in the broker group.
    pub broker_id: i64,
}

/// The history of a master's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// End of the master's log.
    pub log_end: u64,
    /// The master's newest epoch; -1 when it has none.
    pub last_epoch: i32,
    /// Its epochs, oldest first.
    pub epochs: EpochList,
}

/// What precedes log bytes; a heartbeat has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransferHeader {
    pub(crate) body_size: usize,
    /// Position of the first body byte; -1 when the master has no log.
    pub(crate) position: i64,
    pub(crate) epoch: i32,
    pub(crate) epoch_start: i64,
    pub(crate) confirmed: i64,
}

/// What a master reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FromReplica {
    Handshake(Handshake),
    Report(u64),
}

/// What a replica reads; the size is that of the whole frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FromMaster {
    Greeting(Greeting, usize),
    Transfer(TransferHeader),
}

impl Handshake {
    pub(crate) fn encode(&self) -> [u8; HANDSHAKE_SIZE] {
        let mut out = [0; HANDSHAKE_SIZE];
        put(&mut out, 0, &STATE_HANDSHAKE.to_be_bytes());
        put(
            &mut out,
            4,
            &i16::from(self.is_from_last_segment).to_be_bytes(),
        );
        put(&mut out, 6, &i16::from(self.is_learner).to_be_bytes());
        put(&mut out, 8, &self.broker_id.to_be_bytes());
        out
    }
}

impl Greeting {
    /// The frame; of more than [`EPOCH_COUNT_MAX`] epochs only the newest are sent.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let epochs = self.epochs.as_slice();
        let sent = &epochs[epochs.len().saturating_sub(EPOCH_COUNT_MAX)..];
        let mut out = vec![0; GREETING_SIZE];
        put(&mut out, 0, &STATE_HANDSHAKE.to_be_bytes());
        put(&mut out, 4, &size_field(sent.len() * EPOCH_SIZE));
        put(&mut out, 8, &self.log_end.to_be_bytes());
        put(&mut out, 16, &self.last_epoch.to_be_bytes());
        for epoch in sent {
            out.extend(epoch.number.to_be_bytes());
            out.extend(epoch.start_position.to_be_bytes());
        }
        out
    }
}

impl TransferHeader {
    pub(crate) fn encode(&self) -> [u8; TRANSFER_SIZE] {
        let mut out = [0; TRANSFER_SIZE];
        put(&mut out, 0, &STATE_TRANSFER.to_be_bytes());
        put(&mut out, 4, &size_field(self.body_size));
        put(&mut out, 8, &self.position.to_be_bytes());
        put(&mut out, 16, &self.epoch.to_be_bytes());
        put(&mut out, 20, &self.epoch_start.to_be_bytes());
        put(&mut out, 28, &self.confirmed.to_be_bytes());
        out
    }
}

impl Protocol {
    /// Size of what precedes log bytes.
    pub(crate) fn transfer_size(self) -> usize {
        match self {
            Self::AutoSwitch => TRANSFER_SIZE,
            Self::Plain => PLAIN_TRANSFER_SIZE,
        }
    }

    pub(crate) fn encode_transfer(self, header: &TransferHeader) -> Vec<u8> {
        match self {
            Self::AutoSwitch => header.encode().to_vec(),
            Self::Plain => {
                let mut out = vec![0; PLAIN_TRANSFER_SIZE];
                put(&mut out, 0, &header.position.to_be_bytes());
                put(&mut out, 8, &size_field(header.body_size));
                out
            }
        }
    }

    /// A replica's report of where its log ends.
    pub(crate) fn encode_report(self, log_end: u64) -> Vec<u8> {
        match self {
            Self::AutoSwitch => encode_report(log_end).to_vec(),
            Self::Plain => log_end.to_be_bytes().to_vec(),
        }
    }

    /// The frame that `bytes` start with and its size; `None` until it is whole.
    pub(crate) fn replica_frame(
        self,
        bytes: &[u8],
    ) -> Result<Option<(FromReplica, usize)>, LinkError> {
        match self {
            Self::AutoSwitch => from_replica(bytes),
            Self::Plain if bytes.len() < PLAIN_REPORT_SIZE => Ok(None),
            Self::Plain => Ok(Some((
                FromReplica::Report(reported(i64_at(bytes, 0))?),
                PLAIN_REPORT_SIZE,
            ))),
        }
    }

    /// The frame that `bytes` start with: a greeting once it is whole, a transfer once its header is.
    pub(crate) fn master_frame(self, bytes: &[u8]) -> Result<Option<FromMaster>, LinkError> {
        match self {
            Self::AutoSwitch => from_master(bytes),
            Self::Plain if bytes.len() < PLAIN_TRANSFER_SIZE => Ok(None),
            Self::Plain => Ok(Some(FromMaster::Transfer(TransferHeader {
                body_size: body_size_at(bytes, 8, BODY_SIZE_MAX)?,
                position: i64_at(bytes, 0),
                epoch: -1,
                epoch_start: 0,
                // The master waits for no replica before it shows a record to readers.
                confirmed: i64::MAX,
            }))),
        }
    }
}

/// A replica's report of where its log ends.
fn encode_report(log_end: u64) -> [u8; REPORT_SIZE] {
    let mut out = [0; REPORT_SIZE];
    put(&mut out, 0, &STATE_TRANSFER.to_be_bytes());
    put(&mut out, 4, &log_end.to_be_bytes());
    out
}

fn reported(end: i64) -> Result<u64, LinkError> {
    u64::try_from(end).map_err(|_| LinkError::Protocol("a report of a negative position"))
}

/// The frame that `bytes` start with and its size; `None` until it is whole.
fn from_replica(bytes: &[u8]) -> Result<Option<(FromReplica, usize)>, LinkError> {
    match state(bytes)? {
        None => Ok(None),
        // Sixteen bytes, although a report has twelve (storage-and-ha.md 11.4, trap 43).
        Some(STATE_HANDSHAKE) if bytes.len() < HANDSHAKE_SIZE => Ok(None),
        Some(STATE_HANDSHAKE) => {
            let handshake = Handshake {
                is_from_last_segment: i16_at(bytes, 4) == 1,
                is_learner: i16_at(bytes, 6) == 1,
                broker_id: i64_at(bytes, 8),
            };
            Ok(Some((FromReplica::Handshake(handshake), HANDSHAKE_SIZE)))
        }
        Some(_) if bytes.len() < REPORT_SIZE => Ok(None),
        Some(_) => {
            let end = reported(i64_at(bytes, 4))?;
            Ok(Some((FromReplica::Report(end), REPORT_SIZE)))
        }
    }
}

/// The frame that `bytes` start with: a greeting once it is whole, a transfer once its header is.
fn from_master(bytes: &[u8]) -> Result<Option<FromMaster>, LinkError> {
    match state(bytes)? {
        None => Ok(None),
        Some(STATE_HANDSHAKE) => greeting(bytes),
        Some(_) if bytes.len() < TRANSFER_SIZE => Ok(None),
        Some(_) => {
            let body_size = body_size(bytes, BODY_SIZE_MAX)?;
            Ok(Some(FromMaster::Transfer(TransferHeader {
                body_size,
                position: i64_at(bytes, 8),
                epoch: i32_at(bytes, 16),
                epoch_start: i64_at(bytes, 20),
                confirmed: i64_at(bytes, 28),
            })))
        }
    }
}

fn greeting(bytes: &[u8]) -> Result<Option<FromMaster>, LinkError> {
    if bytes.len() < GREETING_SIZE {
        return Ok(None);
    }
    let body_size = body_size(bytes, EPOCH_COUNT_MAX * EPOCH_SIZE)?;
    if body_size % EPOCH_SIZE != 0 {
        return Err(LinkError::Protocol("a greeting with a part of an epoch"));
    }
    let Some(body) = bytes.get(GREETING_SIZE..GREETING_SIZE + body_size) else {
        return Ok(None);
    };
    let mut epochs = EpochList::default();
    for entry in body.chunks_exact(EPOCH_SIZE) {
        let start = u64::try_from(i64_at(entry, 4));
        let epoch = start.ok().map(|start_position| Epoch {
            number: i32_at(entry, 0),
            start_position,
        });
        let appended = epoch.and_then(|epoch| epochs.append(epoch).ok());
        appended.ok_or(LinkError::Protocol("epochs that do not rise"))?;
    }
    let log_end = u64::try_from(i64_at(bytes, 8));
    let log_end = log_end.map_err(|_| LinkError::Protocol("a log with a negative end"))?;
    let greeting = Greeting {
        log_end,
        last_epoch: i32_at(bytes, 16),
        epochs,
    };
    Ok(Some(FromMaster::Greeting(
        greeting,
        GREETING_SIZE + body_size,
    )))
}

/// The record type of a TLS handshake, and the major version of every TLS (RFC 8446, 5.1).
const TLS_GREETING: i32 = 0x1603;

/// The state that a frame starts with; any but the two used is an error as soon as it is seen.
fn state(bytes: &[u8]) -> Result<Option<i32>, LinkError> {
    let state = bytes.first_chunk().map(|state| i32::from_be_bytes(*state));
    match state {
        None | Some(STATE_HANDSHAKE | STATE_TRANSFER) => Ok(state),
        Some(state) if state >> 16 == TLS_GREETING => Err(LinkError::Protocol(
            "the peer speaks TLS, and the replication port does not: switch TLS off in the replica",
        )),
        Some(_) => Err(LinkError::Protocol("a frame of an unknown state")),
    }
}

fn body_size(bytes: &[u8], size_max: usize) -> Result<usize, LinkError> {
    body_size_at(bytes, 4, size_max)
}

fn body_size_at(bytes: &[u8], at: usize, size_max: usize) -> Result<usize, LinkError> {
    let size = usize::try_from(i32_at(bytes, at)).ok();
    let fits = size.filter(|size| *size <= size_max);
    fits.ok_or(LinkError::Protocol("a body that is too large"))
}

/// Sizes were checked against limits below 2 GiB.
fn size_field(size: usize) -> [u8; 4] {
    i32::try_from(size).unwrap_or(i32::MAX).to_be_bytes()
}

fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    out[at..at + bytes.len()].copy_from_slice(bytes);
}

fn i16_at(bytes: &[u8], at: usize) -> i16 {
    i16::from_be_bytes(array_at(bytes, at))
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(array_at(bytes, at))
}

fn i64_at(bytes: &[u8], at: usize) -> i64 {
    i64::from_be_bytes(array_at(bytes, at))
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}
