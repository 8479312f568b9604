//! What a run prints: one JSON object.

use std::fmt::{Display, Write};

/// Exact percentiles of latencies, in microseconds.
pub(crate) fn latency_us(mut latencies_ns: Vec<u64>) -> String {
    latencies_ns.sort_unstable();
    let mut report = Object::default();
    for (name, share) in [
        ("p50", 500),
        ("p90", 900),
        ("p99", 990),
        ("p999", 999),
        ("max", 1000),
    ] {
        report.number(name, percentile(&latencies_ns, share) / 1e3, 1);
    }
    report.close()
}

/// The smallest value that so many thousandths of the sorted values do not exceed; 0 of none.
fn percentile(sorted: &[u64], thousandths: usize) -> f64 {
    let rank = (sorted.len() * thousandths).div_ceil(1000);
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds far below 2^52")]
    sorted
        .get(rank.saturating_sub(1))
        .map_or(0.0, |value| *value as f64)
}

/// An object under construction.
#[derive(Default)]
pub(crate) struct Object {
    fields: String,
}

impl Object {
    /// Add a value that is JSON already: a whole number or an object.
    pub(crate) fn json(&mut self, name: &str, value: impl Display) {
        let comma = if self.fields.is_empty() { "" } else { ", " };
        let _ = write!(self.fields, "{comma}\"{name}\": {value}");
    }

    pub(crate) fn number(&mut self, name: &str, value: f64, digits: usize) {
        self.json(name, format!("{value:.digits$}"));
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        let plain: String = value
            .chars()
            .map(|one| {
                if one < ' ' || one == '"' || one == '\\' {
                    '?'
                } else {
                    one
                }
            })
            .collect();
        self.json(name, format!("\"{plain}\""));
    }

    pub(crate) fn close(self) -> String {
        format!("{{{}}}", self.fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact() {
        let latencies = (1..=1000).rev().map(|us| us * 1000).collect();

        let report = latency_us(latencies);

        let expected =
            r#"{"p50": 500.0, "p90": 900.0, "p99": 990.0, "p999": 999.0, "max": 1000.0}"#;
        assert_eq!(report, expected);
    }

    #[test]
    fn one_latency_is_every_percentile_and_none_is_zero() {
        assert_eq!(percentile(&[7], 500), 7.0);
        assert_eq!(percentile(&[], 990), 0.0);
    }
}
