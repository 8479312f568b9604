//! Holds what the store makes of a crash image against what the second reader does.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test program has its own copy and uses a part"
)]

use std::collections::BTreeMap;
use std::path::Path;

use regent_commitlog::{
    CrcProperty, LogDamage, QueueEntry, RecordView, Store, StoreConfig, StoreError,
};

use crate::second_reader::files::Files;
use crate::second_reader::queue::Entry;
use crate::second_reader::record::Rules;
use crate::second_reader::recovery::{Damage, Recovered, Settings, recover};
use crate::support::{NOW_MS, config};

/// Fails a comparison with a text.
macro_rules! same {
    ($what:expr, $store:expr, $reader:expr) => {
        let (store, reader) = ($store, $reader);
        if store != reader {
            return Err(format!(
                "{}: the store has {store:?}, the second reader {reader:?}",
                $what
            ));
        }
    };
}

/// Opens a store, once the second reader has recovered what is in its directory; an error is a difference
/// between the two.
pub fn open_alike(config: StoreConfig) -> Result<Result<Store, StoreError>, String> {
    let settings = Settings {
        segment_size: config.segment_size_bytes,
        queue_file_size: config.queue_file_size_bytes,
        rules: Rules {
            has_crc_property: config.crc_property != CrcProperty::Off,
            must_have_crc_property: config.crc_property == CrcProperty::Required,
        },
        cut_damage_at: config.cut_damage_at,
        delay_levels_ms: config.delay_levels_ms.clone(),
        index_slots: config.index_slot_count as usize,
        index_entries: config.index_entry_count as usize,
    };
    let (dir, has_index) = (config.root.clone(), config.index_enabled);
    let recovered = recover(&dir, settings);
    let opened = Store::open(config, NOW_MS);
    match (&opened, recovered) {
        (Ok(store), Ok(recovered)) => {
            let index = || {
                if has_index {
                    compare_index(&dir, &recovered)
                } else {
                    Ok(())
                }
            };
            let alike = compare(store, &recovered).and_then(|()| index());
            alike.map_err(|text| format!("{text}\n{}", summary(&recovered)))?;
        }
        (Ok(_), Err(text)) => return Err(format!("the second reader alone refuses it: {text}")),
        (Err(error), Ok(_)) => return Err(format!("the store alone refuses it: {error}")),
        (Err(_), Err(_)) => {}
    }
    Ok(opened)
}

/// The same, where a difference or a refusal fails the test.
pub fn open_with(config: StoreConfig) -> Store {
    let opened = open_alike(config).unwrap_or_else(|text| panic!("{text}"));
    opened.expect("the store opens")
}

pub fn open(dir: &Path) -> Store {
    open_with(config(dir))
}

fn summary(recovered: &Recovered) -> String {
    let Recovered {
        stop,
        begin,
        end,
        validated_from,
        damage,
        ..
    } = recovered;
    format!("{stop:?}, from {begin} to {end}, validated from {validated_from}, {damage:?}")
}

fn compare(store: &Store, recovered: &Recovered) -> Result<(), String> {
    let recovery = store.recovery();
    let theirs = |damage: LogDamage| Damage {
        position: damage.position,
        next_valid: damage.next_valid_position,
    };
    same!("damage", recovery.damage.map(theirs), recovered.damage);
    same!("end", store.max_position(), recovered.end);
    same!("begin", store.min_position(), recovered.begin);
    same!(
        "unflushed",
        recovery.lost_unflushed.map(theirs),
        recovered.lost_unflushed
    );
    same!("start", recovery.scanned_from, recovered.validated_from);
    same!("truncation", recovery.truncated_to, recovered.truncated_to);
    let epochs = store.epochs();
    let epochs = epochs
        .as_slice()
        .iter()
        .map(|epoch| (epoch.number, epoch.start_position));
    same!(
        "epochs",
        epochs.collect::<Vec<_>>(),
        recovered.epochs.clone()
    );
    compare_records(store, recovered)?;
    compare_queues(store, recovered)
}

fn compare_records(store: &Store, recovered: &Recovered) -> Result<(), String> {
    for record in &recovered.records {
        let at = record.position;
        let read = store
            .read_record(at)
            .map_err(|error| format!("record {at}: {error}"))?;
        let read = read.ok_or(format!("record {at} is not kept"))?;
        let view = RecordView::parse(&read).map_err(|error| format!("record {at}: {error}"))?;
        same!(format!("body of {at}"), view.body, &record.body[..]);
        same!(
            format!("properties of {at}"),
            view.properties,
            &record.properties[..]
        );
        same!(
            format!("topic of {at}"),
            view.topic,
            record.topic.as_bytes()
        );
        let place = (record.queue_id, record.queue_offset, record.size);
        same!(
            format!("place of {at}"),
            (view.queue_id, view.queue_offset, view.bytes.len()),
            place
        );
    }
    Ok(())
}

/// The index files that are left.
fn compare_index(dir: &Path, recovered: &Recovered) -> Result<(), String> {
    let files = Files::read(dir)?.index;
    let ours = recovered.index.iter().collect::<Vec<_>>();
    same!("index files", files.keys().collect::<Vec<_>>(), ours);
    Ok(())
}

fn compare_queues(store: &Store, recovered: &Recovered) -> Result<(), String> {
    let theirs = store
        .queues()
        .into_iter()
        .map(|queue| ((queue.topic, queue.queue_id), queue.max_offset));
    let ours = recovered
        .queues
        .iter()
        .map(|(name, queue)| (name.clone(), queue.end()));
    same!(
        "queues",
        theirs
            .filter(|queue| queue.1 > 0)
            .collect::<BTreeMap<_, _>>(),
        ours.filter(|queue| queue.1 > 0).collect::<BTreeMap<_, _>>()
    );
    for (name, queue) in recovered.queues.iter().filter(|(_, queue)| queue.end() > 0) {
        let first = queue.readable(recovered.begin);
        same!(
            format!("offsets of {name:?}"),
            store.queue_offsets(&name.0, name.1),
            Some((first, queue.end()))
        );
        let count = usize::try_from(queue.end() - first).expect("a few");
        let held = store.queue_entries(&name.0, name.1, first, count);
        let same_form = |entry: &QueueEntry| Entry {
            position: entry.log_position,
            size: entry.size.cast_signed(),
            tags_code: entry.tags_code,
        };
        let held: Vec<_> = held.iter().map(same_form).collect();
        let ours: Vec<Entry> = (first..queue.end())
            .filter_map(|offset| queue.at(offset))
            .collect();
        same!(format!("entries of {name:?}"), held, ours);
    }
    Ok(())
}
