//! Which records the lane may have: only those of the version of the broker group (queue-ownership.md 4.15).

use regent_commitlog::{AppendError, Store};
use regent_share::{Body, FIRST_VERSION, REMOVED, Record, RecordType};

use super::{Reign, Shares, messages_of};
use crate::broker::HotPathConfig;

impl Shares {
    /// The version of the next record; `None` if this broker does not lead.
    #[must_use]
    pub fn version(&self) -> Option<u16> {
        let reign = self.reign();
        reign
            .as_ref()
            .map(|it| it.lane.version().max(it.wanted_version))
    }

    /// Write records of a later version from now on: all members of the group read it (Q80). Returns whether a
    /// VERSION record was written.
    ///
    /// A lane without a share queue gets that record before its first one. An earlier version changes nothing.
    ///
    /// # Errors
    /// The store refused the record: it comes before the next one.
    pub fn raise_version(
        &self,
        store: &Store,
        config: &HotPathConfig,
        version: u16,
        now_ms: i64,
    ) -> Result<bool, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = reign.as_mut().filter(|reign| !reign.is_acting) else {
            return Ok(false);
        };
        reign.wanted_version = reign.wanted_version.max(version);
        if reign.lane.last_id() == 0 || reign.switch().is_none() {
            return Ok(false);
        }
        reign.append(store, config, &[], now_ms)?;
        Ok(true)
    }

    /// Write the whole lane again, with records of a former version (O45): no later record is behind the start of
    /// that snapshot, so a broker of that version lacks nothing. `false` if this broker does not lead.
    ///
    /// # Errors
    /// The store refused the records: the version may be the former one already, which is harmless.
    pub fn compact(
        &self,
        store: &Store,
        config: &HotPathConfig,
        version: u16,
        now_ms: i64,
    ) -> Result<bool, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = reign.as_mut().filter(|reign| !reign.is_acting) else {
            return Ok(false);
        };
        reign.wanted_version = version;
        if reign.lane.last_id() == 0 {
            return Ok(true);
        }
        let lowered = reign.record_of(version);
        reign.append(store, config, &[lowered], now_ms)?;
        reign.write_snapshot(store, config, now_ms)?;
        Ok(true)
    }
}

impl Reign {
    /// The VERSION record that comes before the next record, if one does.
    pub(super) fn switch(&self) -> Option<Record> {
        (self.wanted_version > self.lane.version()).then(|| self.record_of(self.wanted_version))
    }

    /// The VERSION record of a snapshot: a lane without one is of the first version.
    pub(super) fn version_record(&self) -> Option<Record> {
        let version = self.lane.version();
        (version > FIRST_VERSION).then(|| self.record_of(version))
    }

    fn record_of(&self, version: u16) -> Record {
        Record {
            flags: 0,
            sq_id: 0,
            epoch: self.epoch,
            body: Body::Version { version },
        }
    }

    /// The records that end the share queues of a topic, of a group, or of both, and which they are.
    pub(super) fn removal(
        &self,
        topic: Option<&str>,
        group: Option<&str>,
    ) -> Vec<(Vec<Record>, Vec<u64>)> {
        let ids: Vec<_> = self.lane.named(topic, group).collect();
        if ids.is_empty() {
            return Vec::new();
        }
        if self.lane.version().max(self.wanted_version) >= RecordType::Drop.since() {
            let body = Body::Drop {
                topic: topic.map(Into::into),
                group: group.map(Into::into),
            };
            let dropped = Record {
                flags: 0,
                sq_id: 0,
                epoch: self.epoch,
                body,
            };
            return vec![(vec![dropped], ids)];
        }
        let records = ids.into_iter().filter_map(|sq_id| {
            let record = self.lane.wire_record(sq_id, REMOVED)?;
            Some((vec![record], sq_id))
        });
        messages_of(records.collect())
    }
}
