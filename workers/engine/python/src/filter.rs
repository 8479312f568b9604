//! SQL92 filters.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regent_commitlog::property_entries;
use regent_filter::Expression;
use regent_hotpath::GrantedFilter;

/// An expression over the properties of messages.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct PropertyFilter(Arc<Expression>);

#[pymethods]
impl PropertyFilter {
    #[new]
    fn new(expression: &str) -> PyResult<Self> {
        let parsed = Expression::parse(expression);
        let parsed = parsed.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self(Arc::new(parsed)))
    }

    fn matches(&self, properties: &[u8]) -> bool {
        self.0.matches(property_entries(properties))
    }
}

/// The filter of a read. An expression, where there is one, stands in the place of tags.
pub(crate) fn chosen(
    tag_hashes: Option<Vec<i32>>,
    expression: Option<PyRef<'_, PropertyFilter>>,
) -> Option<GrantedFilter> {
    let tags = tag_hashes.map(GrantedFilter::Tags);
    expression
        .map(|it| GrantedFilter::Properties(Arc::clone(&it.0)))
        .or(tags)
}
