//! A replica's end of the connection to its master: it appends what comes, as it comes (Q16).
//!
//! A new member is brought up to date like that (Q41). What is new goes to the back, as always (Q50).

use regent_commitlog::{Epoch, EpochList, Store, UNIT_HEAD_SIZE, unit_size};

use crate::error::LinkError;
use crate::frames::{FromMaster, Greeting, Handshake, Protocol, TransferHeader};

/// What a call of [`ReplicaLink::receive`] brought.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// The master's history. The caller cuts its log where [`crate::agree`] says and calls
    /// [`ReplicaLink::begin`].
    pub greeting: Option<Greeting>,
    /// What the master has confirmed, no more than this log holds; `None` before any transfer.
    pub confirmed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The handshake is out.
    Greeting,
    /// The log must be cut before bytes can come.
    Cutting,
    Transfer,
}

/// The connection of this broker to its master.
#[derive(Debug)]
pub struct ReplicaLink {
    protocol: Protocol,
    handshake: Handshake,
    known_epoch: i32,
    state: State,
    /// The master's history, until its first transfer.
    master_epochs: Option<EpochList>,
    /// The beginning of a frame's head.
    received: Vec<u8>,
    /// Log bytes that are still to come of the transfer whose head was read last.
    body_left: usize,
    /// Log bytes that do not make up a whole record yet: they follow the end of the log.
    unfinished: Unfinished,
    /// Position of the next byte; `None` while the log is empty, which takes any.
    next_position: Option<u64>,
    /// What the master last said it has confirmed.
    confirmed: Option<u64>,
}

/// Bytes at the beginning of a buffer whose rest is ready to be read into.
#[derive(Debug, Default)]
struct Unfinished {
    buffer: Vec<u8>,
    size: usize,
}

/// What a replica reports to its master: up to where it holds the log.
#[derive(Debug)]
pub struct Reports {
    protocol: Protocol,
    held: u64,
    is_begun: bool,
}

impl ReplicaLink {
    /// A new connection of `handshake`'s broker. Masters older than `known_epoch`, the newest that
    /// the controller has announced, are refused (D9).
    #[must_use]
    pub fn new(handshake: Handshake, known_epoch: i32) -> Self {
        Self {
            protocol: Protocol::AutoSwitch,
            handshake,
            known_epoch,
            state: State::Greeting,
            master_epochs: None,
            received: Vec::new(),
            body_left: 0,
            unfinished: Unfinished::default(),
            next_position: None,
            confirmed: None,
        }
    }

    /// A new connection of the default protocol (storage-and-ha.md 9.2): nothing is said before
    /// [`Self::begin`], and no greeting comes.
    #[must_use]
    pub fn plain() -> Self {
        let handshake = Handshake {
            is_from_last_segment: true,
            is_learner: false,
            broker_id: 0,
        };
        Self {
            protocol: Protocol::Plain,
            state: State::Cutting,
            ..Self::new(handshake, -1)
        }
    }

    /// Size of what precedes the log bytes of a transfer.
    pub(crate) fn head_size(&self) -> usize {
        self.protocol.transfer_size()
    }

    /// The first bytes to send.
    #[must_use]
    pub fn handshake(&self) -> Vec<u8> {
        self.handshake.encode().to_vec()
    }

    /// Takes bytes of the master, which may end anywhere in a frame. Appends the whole records
    /// among them to the store, also those of an unfinished transfer. After a greeting it stops
    /// until [`Self::begin`].
    ///
    /// Every record is checked, body and position included: damage is never taken over (D13).
    ///
    /// # Errors
    /// The master breaks the protocol, is older than it should be, or its log does not continue
    /// this one; or the store refuses the bytes. What was appended before stays.
    pub fn receive(&mut self, bytes: &[u8], store: &Store) -> Result<Progress, LinkError> {
        let mut greeting = None;
        if self.received.is_empty() {
            let used = self.take(bytes, store, &mut greeting)?;
            self.received.extend_from_slice(&bytes[used..]);
        } else {
            let mut all = std::mem::take(&mut self.received);
            all.extend_from_slice(bytes);
            let used = self.take(&all, store, &mut greeting)?;
            all.drain(..used);
            self.received = all;
        }
        let confirmed = self.confirmed.map(|told| told.min(store.max_position()));
        Ok(Progress {
            greeting,
            confirmed,
        })
    }

    /// Returns how many of the bytes are done with.
    fn take(
        &mut self,
        bytes: &[u8],
        store: &Store,
        greeting: &mut Option<Greeting>,
    ) -> Result<usize, LinkError> {
        let mut used = 0;
        loop {
            let body_size = self.body_left.min(bytes.len() - used);
            if body_size > 0 {
                self.on_body(&bytes[used..used + body_size], store)?;
                used += body_size;
            }
            if self.body_left > 0 || self.state == State::Cutting {
                return Ok(used);
            }
            match self.protocol.master_frame(&bytes[used..])? {
                None => return Ok(used),
                Some(FromMaster::Greeting(heard, size)) => {
                    used += size;
                    *greeting = Some(self.on_greeting(heard)?);
                }
                Some(FromMaster::Transfer(header)) => {
                    used += self.head_size();
                    self.on_transfer(&header, store)?;
                }
            }
        }
    }

    fn on_greeting(&mut self, greeting: Greeting) -> Result<Greeting, LinkError> {
        if self.state != State::Greeting {
            return Err(LinkError::Protocol("a greeting that was not asked for"));
        }
        if greeting.last_epoch < self.known_epoch {
            return Err(LinkError::StaleMaster {
                master: greeting.last_epoch,
                known: self.known_epoch,
            });
        }
        self.state = State::Cutting;
        self.master_epochs = Some(greeting.epochs.clone());
        Ok(greeting)
    }

    /// The log is now a beginning of the master's: the first of the reports asks for the rest.
    pub fn begin(&mut self, store: &Store) -> Reports {
        self.state = State::Transfer;
        let end = store.max_position();
        self.next_position = (end > 0).then_some(end);
        Reports {
            protocol: self.protocol,
            held: end,
            is_begun: false,
        }
    }

    /// How many log bytes are still to come of the transfer that has begun.
    #[must_use]
    pub fn body_left(&self) -> usize {
        self.body_left
    }

    /// Where the next log bytes of the transfer that has begun can be read into, up to `size_max`
    /// of them: behind those that they complete, so that no record is put together from pieces.
    pub fn room(&mut self, size_max: usize) -> &mut [u8] {
        self.unfinished.room(self.body_left.min(size_max))
    }

    /// Takes `size` bytes that were read into [`Self::room`], and appends the whole records.
    ///
    /// # Errors
    /// The store refuses them. What was appended before stays.
    pub fn fill(&mut self, size: usize, store: &Store) -> Result<(), LinkError> {
        if size == 0 {
            // Where an empty log begins is said by the first transfer only.
            return Ok(());
        }
        let position = self.next_position.unwrap_or(0);
        let begun_at = position - self.unfinished.size as u64;
        self.next_position = Some(position + size as u64);
        self.body_left -= size;
        self.unfinished.size += size;
        let taken = store.append_copied(begun_at, self.unfinished.bytes())?;
        self.unfinished.take(taken);
        Ok(())
    }

    /// What the master last said it has confirmed; `None` before any transfer.
    #[must_use]
    pub fn confirmed(&self) -> Option<u64> {
        self.confirmed
    }

    fn on_transfer(&mut self, header: &TransferHeader, store: &Store) -> Result<(), LinkError> {
        if self.state != State::Transfer {
            return Err(LinkError::Protocol("a transfer before the greeting"));
        }
        let position = u64::try_from(header.position).ok();
        // Heartbeats are compared as well (storage-and-ha.md 11.4, trap 49).
        if let Some(expected) = self.next_position.filter(|next| Some(*next) != position) {
            return Err(LinkError::Gap {
                expected,
                sent: header.position,
            });
        }
        self.confirmed = Some(u64::try_from(header.confirmed).unwrap_or(0));
        if self.protocol == Protocol::Plain {
            return self.on_plain_transfer(header.body_size, position);
        }
        if let Some(master_epochs) = self.master_epochs.take() {
            // Else an epoch whose bytes a crash has lost would stand against those that come now.
            store.forget_unwritten_epochs(&master_epochs)?;
            store.adopt_history(master_epochs.before(header.epoch))?;
        }
        let negative = LinkError::Protocol("a negative position or epoch start");
        let epoch_start = u64::try_from(header.epoch_start).ok();
        let epoch = epoch_start.map(|start_position| Epoch {
            number: header.epoch,
            start_position,
        });
        if header.body_size == 0 {
            // That is how an epoch without a record yet becomes known (D12).
            let newest = store.epochs().last().map_or(-1, |newest| newest.number);
            let begun = epoch.filter(|epoch| epoch.number > newest);
            return Ok(begun.map_or(Ok(()), |epoch| store.adopt_epoch(epoch))?);
        }
        let (position, epoch) = position.zip(epoch).ok_or(negative)?;
        store.adopt_epoch(epoch)?;
        self.next_position = Some(position);
        self.body_left = header.body_size;
        Ok(())
    }

    fn on_plain_transfer(
        &mut self,
        body_size: usize,
        position: Option<u64>,
    ) -> Result<(), LinkError> {
        if body_size > 0 {
            let position = position.ok_or(LinkError::Protocol("a negative position"))?;
            self.next_position = Some(position);
            self.body_left = body_size;
        }
        Ok(())
    }

    /// Takes the next bytes of the log: what completes a record first, then whole records as they
    /// lie, so that nothing but the ends of what arrived is copied twice.
    fn on_body(&mut self, mut bytes: &[u8], store: &Store) -> Result<(), LinkError> {
        let mut position = self.next_position.unwrap_or(0);
        self.next_position = Some(position + bytes.len() as u64);
        self.body_left -= bytes.len();
        while self.unfinished.size > 0 && !bytes.is_empty() {
            let begun = self.unfinished.bytes();
            let begun_at = position - begun.len() as u64;
            let size = unit_size(begun).unwrap_or(UNIT_HEAD_SIZE);
            let missing = size.saturating_sub(begun.len()).max(1);
            let (now, rest) = bytes.split_at(missing.min(bytes.len()));
            self.unfinished.extend(now);
            let taken = store.append_copied(begun_at, self.unfinished.bytes())?;
            self.unfinished.take(taken);
            position += now.len() as u64;
            bytes = rest;
        }
        if !bytes.is_empty() {
            let taken = store.append_copied(position, bytes)?;
            self.unfinished.extend(&bytes[taken..]);
        }
        Ok(())
    }
}

impl Unfinished {
    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.size]
    }

    fn room(&mut self, size: usize) -> &mut [u8] {
        let end = self.size + size;
        if self.buffer.len() < end {
            self.buffer.resize(end, 0);
        }
        &mut self.buffer[self.size..end]
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.size += bytes.len();
    }

    /// Removes bytes at the beginning.
    fn take(&mut self, size: usize) {
        self.buffer.copy_within(size..self.size, 0);
        self.size -= size;
    }
}

impl Reports {
    /// The report to send when this log has grown since the last one, or `is_due` to show life.
    ///
    /// `held` is the end of what may be reported: of the log, or of its flushed part for a replica
    /// that answers only for what is on its disk. The first report always goes out, and at once:
    /// stock waits for its timer, and gets nothing for 5 s (storage-and-ha.md 9.3).
    pub fn next(&mut self, held: u64, is_due: bool) -> Option<Vec<u8>> {
        if held <= self.held && !is_due && self.is_begun {
            return None;
        }
        self.is_begun = true;
        self.held = held.max(self.held);
        Some(self.protocol.encode_report(self.held))
    }
}
