//! The master's end of a connection to one replica.

use regent_commitlog::{Epoch, LogSlice, Store};

use crate::error::LinkError;
use crate::frames::{BODY_SIZE_MAX, FromReplica, Greeting, Handshake, Protocol, TransferHeader};

/// What a replica said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Who it is; [`MasterLink::greeting`] is the answer.
    Handshake(Handshake),
    /// Its log holds everything before this position.
    Report(u64),
}

/// A part of the log on its way to a replica: nothing of connections or sessions (Q43).
#[derive(Debug)]
pub struct Transfer<'a> {
    /// What goes before the log bytes.
    pub header: Vec<u8>,
    /// The log bytes, of one segment and one epoch.
    pub body: LogSlice<'a>,
}

/// One connected replica as its master sees it.
#[derive(Debug)]
pub struct MasterLink {
    protocol: Protocol,
    received: Vec<u8>,
    replica: Option<Handshake>,
    /// Where the next transfer begins; `None` until the first report.
    next_position: Option<u64>,
    acknowledged: u64,
}

impl Default for MasterLink {
    /// A replica that has yet to say who it is.
    fn default() -> Self {
        Self {
            protocol: Protocol::AutoSwitch,
            received: Vec::new(),
            replica: None,
            next_position: None,
            acknowledged: 0,
        }
    }
}

impl MasterLink {
    /// A replica of the default protocol, which does not say who it is: `number` identifies it.
    /// An empty one gets the last segment only (storage-and-ha.md 9.2).
    #[must_use]
    pub fn plain(number: i64) -> Self {
        Self {
            protocol: Protocol::Plain,
            replica: Some(Handshake {
                is_from_last_segment: true,
                is_learner: false,
                broker_id: number,
            }),
            ..Self::default()
        }
    }

    /// Takes bytes of the replica, which may end anywhere in a frame.
    ///
    /// # Errors
    /// The replica breaks the protocol, or asks for what this log does not hold.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        store: &Store,
        heard: &mut Vec<Heard>,
    ) -> Result<(), LinkError> {
        self.received.extend_from_slice(bytes);
        let mut used = 0;
        while let Some((frame, size)) = self.protocol.replica_frame(&self.received[used..])? {
            used += size;
            heard.push(match frame {
                FromReplica::Handshake(handshake) => {
                    self.replica = Some(handshake);
                    self.next_position = None;
                    Heard::Handshake(handshake)
                }
                FromReplica::Report(end) => {
                    self.on_report(end, store)?;
                    Heard::Report(end)
                }
            });
        }
        self.received.drain(..used);
        Ok(())
    }

    fn on_report(&mut self, end: u64, store: &Store) -> Result<(), LinkError> {
        let Some(replica) = self.replica else {
            return Err(LinkError::Protocol("a report before the handshake"));
        };
        let (oldest, newest) = (store.min_position(), store.max_position());
        if self.next_position.is_none() {
            let start = match end {
                0 if replica.is_from_last_segment => store.last_segment_start(),
                0 => oldest,
                _ => end,
            };
            if start < oldest || start > newest {
                return Err(LinkError::OutOfReach {
                    wanted: start,
                    oldest,
                    end: newest,
                });
            }
            self.next_position = Some(start);
        } else if self.next_position.is_some_and(|next| end > next) {
            return Err(LinkError::Protocol(
                "a report of bytes that were never sent",
            ));
        }
        self.acknowledged = end;
        Ok(())
    }

    /// The answer to a handshake: this log's history.
    #[must_use]
    pub fn greeting(store: &Store) -> Vec<u8> {
        let log_end = store.replicable_end();
        let epochs = store.epochs();
        let greeting = Greeting {
            log_end,
            last_epoch: epochs.last().map_or(-1, |last| last.number),
            epochs,
        };
        greeting.encode()
    }

    /// The next part of the log that the replica lacks, at most `size_max` bytes of it; `None`
    /// when it was sent everything, or has not said yet where it stands.
    ///
    /// A part never crosses an epoch's end, and carries the epoch that wrote it (D12).
    ///
    /// # Errors
    /// What the replica needs next was deleted.
    pub fn next_transfer<'a>(
        &mut self,
        store: &'a Store,
        size_max: usize,
        confirmed: u64,
    ) -> Result<Option<Transfer<'a>>, LinkError> {
        let Some(position) = self.next_position else {
            return Ok(None);
        };
        let end = store.replicable_end();
        if position >= end {
            return Ok(None);
        }
        let (epoch, epoch_end) = epoch_at(store, position);
        let size_max = size_max.clamp(1, BODY_SIZE_MAX) as u64;
        let size = (epoch_end.min(end) - position).min(size_max);
        let Some(body) = store.log_slice(position, size) else {
            return Err(LinkError::OutOfReach {
                wanted: position,
                oldest: store.min_position(),
                end,
            });
        };
        let body_size = body.bytes().len();
        self.next_position = Some(position + body_size as u64);
        let header = self.header(position, body_size, epoch, confirmed);
        Ok(Some(Transfer { header, body }))
    }

    /// A transfer without bytes, which says that the master lives and what it has confirmed;
    /// `None` until the replica has said where it stands, because it expects none before.
    #[must_use]
    pub fn heartbeat(&self, store: &Store, confirmed: u64) -> Option<Vec<u8>> {
        let position = self.next_position?;
        let (epoch, _) = epoch_at(store, position);
        Some(self.header(position, 0, epoch, confirmed))
    }

    #[allow(clippy::cast_possible_wrap)] // positions are those of files
    fn header(&self, position: u64, body_size: usize, epoch: Epoch, confirmed: u64) -> Vec<u8> {
        self.protocol.encode_transfer(&TransferHeader {
            body_size,
            position: position as i64,
            epoch: epoch.number,
            epoch_start: epoch.start_position as i64,
            confirmed: confirmed as i64,
        })
    }

    /// The replica, once it has said who it is.
    #[must_use]
    pub fn replica(&self) -> Option<Handshake> {
        self.replica
    }

    /// The replica holds everything before this position; 0 until it has reported.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// How much of the log the replica was not sent; nothing until it has said where it stands.
    #[must_use]
    pub fn pending(&self, store: &Store) -> u64 {
        let sent_to = self.next_position.unwrap_or(u64::MAX);
        store.replicable_end().saturating_sub(sent_to)
    }

    /// Where the next transfer begins; `None` until the replica has reported.
    #[must_use]
    pub fn next_position(&self) -> Option<u64> {
        self.next_position
    }
}

/// The epoch that wrote a position and where it ends. What was written before the first epoch was
/// written outside controller mode, and goes by the first: a replica accepts a label whose start
/// lies ahead of the bytes (storage-and-ha.md 11.4, trap 46).
fn epoch_at(store: &Store, position: u64) -> (Epoch, u64) {
    let epochs = store.epochs();
    let none = Epoch {
        number: -1,
        start_position: 0,
    };
    let first = epochs.as_slice().first().copied().unwrap_or(none);
    let epoch = epochs.epoch_at(position).unwrap_or(first);
    let end = epochs.end_of(epoch.number, u64::MAX).unwrap_or(u64::MAX);
    (epoch, end)
}
