//! What parts of an expression come to, and how stock compares them.

use std::cmp::Ordering;

use crate::number::{parse_double, parse_int, parse_long};

/// A value, for one message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    /// Unknown, such as a property that a message does not have.
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Double(f64),
    Text(&'a [u8]),
}

/// Evaluation failed: stock raises an exception, and the message does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed;

/// The comparisons of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Order {
    fn holds(self, found: Ordering) -> bool {
        match self {
            Self::Greater => found.is_gt(),
            Self::GreaterOrEqual => found.is_ge(),
            Self::Less => found.is_lt(),
            Self::LessOrEqual => found.is_le(),
        }
    }
}

impl<'a> Value<'a> {
    /// The value of a truth value that may be unknown.
    pub(crate) fn of(truth: Option<bool>) -> Self {
        truth.map_or(Self::Null, Self::Bool)
    }

    /// The truth value. Only operands that give one are asked: see the parser.
    pub(crate) fn truth(self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// `-`: unknown for everything but numbers.
    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Int(number) => Self::Int(number.wrapping_neg()),
            Self::Long(number) => Self::Long(number.wrapping_neg()),
            Self::Double(number) => Self::Double(-number),
            _ => Self::Null,
        }
    }

    /// `=`, which is also `IS NULL`. Two unknown values are equal; a known left one differs from an
    /// unknown right one.
    pub(crate) fn equals(self, right: Self) -> Result<Option<bool>, Failed> {
        match (self, right) {
            (Self::Null, Self::Null) => Ok(Some(true)),
            (Self::Null, _) => Ok(None),
            (_, Self::Null) => Ok(Some(false)),
            (Self::Text(left), Self::Text(right)) => Ok(Some(left == right)),
            _ => Ok(Some(self.compared(right)?.is_eq())),
        }
    }

    /// `<` and its kind, between two known values: two texts are compared as numbers.
    pub(crate) fn is_ordered(self, order: Order, right: Self) -> Result<bool, Failed> {
        let found = match (self, right) {
            (Self::Text(left), Self::Text(right)) => {
                let left = parse_double(left).ok_or(Failed)?;
                compare_doubles(left, parse_double(right).ok_or(Failed)?)
            }
            _ => self.compared(right)?,
        };
        Ok(order.holds(found))
    }

    /// The order of two known values that are not both texts. Kinds that nothing brings together
    /// are unequal, the left one being the lesser.
    fn compared(self, right: Self) -> Result<Ordering, Failed> {
        use Value::{Bool, Double, Int, Long, Text};
        let found = match (self, right) {
            (Text(left), Bool(right)) => left.eq_ignore_ascii_case(b"true").cmp(&right),
            (Text(left), Int(right)) => parse_int(left).ok_or(Failed)?.cmp(&right),
            (Text(left), Long(right)) => parse_long(left).ok_or(Failed)?.cmp(&right),
            (Text(left), Double(right)) => {
                compare_doubles(parse_double(left).ok_or(Failed)?, right)
            }
            (Int(left), Text(right)) => left.cmp(&parse_int(right).ok_or(Failed)?),
            (Long(left), Text(right)) => left.cmp(&parse_long(right).ok_or(Failed)?),
            (Double(left), Text(right)) => {
                compare_doubles(left, parse_double(right).ok_or(Failed)?)
            }
            // Stock takes the truth value for a text, and fails.
            (Bool(_), Text(_)) => return Err(Failed),
            (Bool(left), Bool(right)) => left.cmp(&right),
            (Int(left), Int(right)) => left.cmp(&right),
            (Int(left), Long(right)) => i64::from(left).cmp(&right),
            (Long(left), Int(right)) => left.cmp(&i64::from(right)),
            (Long(left), Long(right)) => left.cmp(&right),
            (Int(left), Double(right)) => compare_doubles(f64::from(left), right),
            (Double(left), Int(right)) => compare_doubles(left, f64::from(right)),
            (Long(left), Double(right)) => compare_doubles(long_as_double(left), right),
            (Double(left), Long(right)) => compare_doubles(left, long_as_double(right)),
            (Double(left), Double(right)) => compare_doubles(left, right),
            _ => Ordering::Less,
        };
        Ok(found)
    }
}

#[expect(clippy::cast_precision_loss, reason = "as Java converts them")]
fn long_as_double(number: i64) -> f64 {
    number as f64
}

/// Java's order of all doubles: -0 before 0, and each `NaN` equal to the others, behind infinity.
fn compare_doubles(left: f64, right: f64) -> Ordering {
    match (left.is_nan(), right.is_nan()) {
        (false, false) => left.total_cmp(&right),
        (is_left, is_right) => is_left.cmp(&is_right),
    }
}
