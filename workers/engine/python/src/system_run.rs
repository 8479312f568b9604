//! Which run of the system has the files of a store in its page cache.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;

#[pyfunction]
#[pyo3(signature = (*dirs))]
pub(crate) fn system_run(dirs: Vec<PathBuf>) -> Option<String> {
    let dirs: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
    regent_commitlog::system_run(&dirs)
}

#[pyfunction]
pub(crate) fn is_same_run(noted: &str, now: &str) -> bool {
    regent_commitlog::is_same_run(noted, now)
}
