#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use super::*;

#[test]
fn allocating_without_the_systems_help_keeps_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, [7; 5000]).unwrap();
    let file = open_segment(&path).unwrap();

    rewrite(&file, 100, 9000).unwrap();

    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes[..5000], [7; 5000]);
    assert_eq!(bytes[5000..], [0; 4000]);
}
