//! Time the hot path alone: nanoseconds a pipelined send, 64 a call, without sockets.

#![allow(
    clippy::unwrap_used,
    reason = "a measurement that can't run should stop"
)]

use std::time::Instant;

use regent_commitlog::{Store, StoreConfig};
use regent_hotpath::{Connection, HotPath, HotPathConfig, Received, Topic};
use regent_remoting::limits;

mod frames;

fn main() {
    let dir = std::env::temp_dir().join(format!("regent-hotpath-{}", std::process::id()));
    let mut config = StoreConfig::new(&dir);
    config.segment_size_bytes = 256 << 20;
    let store = Store::open(config, 0).unwrap();
    let hot = HotPath::new(HotPathConfig {
        broker_name: "broker-a".to_owned(),
        cluster_name: "cluster-1".to_owned(),
        region: "DefaultRegion".to_owned(),
        trace_on: true,
        store_host: "10.0.0.1:10911".parse().unwrap(),
        frame_size_max: limits::FRAME_SIZE_MAX_DEFAULT,
        seed: 1,
    });
    hot.set_topic(
        "BenchTopic",
        Topic {
            perm: 6,
            read_queue_count: 4,
            write_queue_count: 4,
            leading: None,
        },
    );
    let chunk: Vec<u8> = (0..64)
        .flat_map(|opaque| frames::send(opaque, "BenchTopic", 1024))
        .collect();
    let mut connection = Connection::new("10.0.0.5:50000".parse().unwrap(), &hot);
    for _ in 0..8 {
        let started = Instant::now();
        let rounds: u32 = 400;
        for _ in 0..rounds {
            let mut received = Received::default();
            connection
                .receive(&hot, &store, &chunk, 1, &mut received)
                .unwrap();
            assert!(received.cold.is_empty());
        }
        println!(
            "{} ns a send",
            started.elapsed().as_nanos() / u128::from(rounds * 64)
        );
    }
    store.close().unwrap();
    std::fs::remove_dir_all(dir).unwrap();
}
