//! The handle of a delivered message, as stock clients carry it (remoting.md 2.4).

use crate::entry::Delivery;

/// The fields of a handle that acts need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle<'a> {
    /// The delivery that it proves.
    pub delivery: Delivery,
    /// How long the message was to be hidden.
    pub invisible_ms: i64,
    /// 0 for an ordinary topic; 1 and 2 for those of retries.
    pub retry_flag: u8,
    /// The broker group that delivered the message.
    pub broker_name: &'a str,
}

impl<'a> Handle<'a> {
    /// Read a handle of 6 to 8 fields; `None` if it is malformed.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut fields = text.split(' ');
        fields.next()?.parse::<i64>().ok()?;
        let pop_time_ms = fields.next()?.parse().ok()?;
        let invisible_ms = fields.next()?.parse().ok()?;
        let tag = fields.next()?.parse().ok()?;
        let retry_flag = fields.next()?.parse().ok()?;
        let broker_name = fields.next()?;
        Some(Self {
            delivery: Delivery { pop_time_ms, tag },
            invisible_ms,
            retry_flag,
            broker_name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_of_stock_is_read() {
        let handle = Handle::parse("100 1758000000000 60000 7 0 broker-a 2 103").unwrap();

        assert_eq!(
            handle,
            Handle {
                delivery: Delivery {
                    pop_time_ms: 1_758_000_000_000,
                    tag: 7
                },
                invisible_ms: 60_000,
                retry_flag: 0,
                broker_name: "broker-a",
            }
        );
        assert!(Handle::parse("100 1758000000000 60000 7 0 broker-a").is_some());
    }

    #[test]
    fn what_is_no_handle_is_none() {
        for text in ["", "100", "a b c d e f", "100 1 2 70000 0 b", "100 1 2 7 0"] {
            assert_eq!(Handle::parse(text), None, "{text:?}");
        }
    }
}
