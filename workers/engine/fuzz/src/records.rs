//! Records of the log and what lies inside them (storage-and-ha.md 2.1).

use regent_commitlog::{
    RecordView, UNIT_HEAD_SIZE, batch_properties, find_property, java_hash, property_entries,
    unit_size,
};

use crate::Target;
use crate::support::element;
use crate::support::sample::{Sample, Stop};

pub(crate) const RECORD: Target = Target {
    name: "record",
    inputs: records,
    entry_point: || Box::new(record),
};

pub(crate) const PROPERTIES: Target = Target {
    name: "properties",
    inputs: || {
        let properties = |bytes: &Vec<u8>| RecordView::parse(bytes).unwrap().properties.to_vec();
        records().iter().map(properties).collect()
    },
    entry_point: || Box::new(properties),
};

pub(crate) const BATCH: Target = Target {
    name: "batch",
    inputs: || {
        let one = element(b"one", b"TAGS\x01red\x02");
        vec![one.clone(), [one, element(b"", b"")].concat()]
    },
    entry_point: || Box::new(batch),
};

fn records() -> Vec<Vec<u8>> {
    let sent = Sample::new(Stop::Closed, true).sent;
    sent.into_iter().map(|sent| sent.bytes).collect()
}

/// Bytes as the record at the start of a segment.
fn record(bytes: &[u8]) {
    let size = unit_size(bytes);
    let Ok(view) = RecordView::parse(bytes) else {
        return;
    };
    assert!(view.bytes.len() <= bytes.len());
    assert!(view.bytes.len() >= UNIT_HEAD_SIZE);
    assert_eq!(size, Some(view.bytes.len()));
    let _ = view.is_intact();
    properties(view.properties);
}

/// Bytes as the properties of a message.
fn properties(bytes: &[u8]) {
    for (name, value) in property_entries(bytes) {
        let mut same = property_entries(bytes).filter(|(other, _)| *other == name);
        let last = same.by_ref().last().map(|(_, value)| value);
        assert_eq!(find_property(bytes, name), last);
        let _ = java_hash(value);
    }
    for name in ["TAGS", "KEYS", "DELAY", "UNIQ_KEY"] {
        let found = find_property(bytes, name.as_bytes());
        assert!(found.is_none_or(|value| value.len() < bytes.len()));
    }
}

/// Bytes as the packed body of a batch.
fn batch(bytes: &[u8]) {
    for found in batch_properties(bytes) {
        assert!(found.len() < bytes.len());
        properties(found);
    }
}
