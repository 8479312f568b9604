//! The Python face of the engine: it holds no logic and lets the interpreter run while it works.

/// The native engine of Regent.
#[pyo3::pymodule]
mod regent_engine {}
