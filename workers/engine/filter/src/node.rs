//! Compiled expressions, and their evaluation.

use crate::value::{Failed, Order, Value};

/// A constant that owns its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Constant {
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Double(f64),
    Text(Box<[u8]>),
}

impl Constant {
    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Int(number) => Value::Int(*number),
            Self::Long(number) => Value::Long(*number),
            Self::Double(number) => Value::Double(*number),
            Self::Text(text) => Value::Text(text),
        }
    }
}

/// Where a text is looked for in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Anywhere,
    Start,
    End,
}

impl Part {
    fn is_in(self, text: &[u8], wanted: &[u8]) -> bool {
        match self {
            Self::Anywhere => memchr::memmem::find(text, wanted).is_some(),
            Self::Start => text.starts_with(wanted),
            Self::End => text.ends_with(wanted),
        }
    }
}

/// One operation with its operands. Properties are numbers into the names of the expression.
#[derive(Debug)]
pub(crate) enum Node {
    Constant(Constant),
    Property(usize),
    Negated(Box<Node>),
    Not(Box<Node>),
    /// A property where a truth value is wanted.
    Cast(usize),
    And(Vec<Node>),
    Or(Vec<Node>),
    Equal(Box<[Node; 2]>),
    Ordered(Order, Box<[Node; 2]>),
    /// A value, then the least and the greatest one allowed.
    Between {
        is_not: bool,
        operands: Box<[Node; 3]>,
    },
    In {
        is_not: bool,
        property: usize,
        /// Sorted.
        texts: Box<[Box<[u8]>]>,
    },
    Part {
        is_not: bool,
        part: Part,
        wanted: Box<[u8]>,
        operand: Box<Node>,
    },
}

impl Node {
    /// Whether the node gives a truth value. Stock distinguishes kinds of expressions by that.
    pub(crate) fn is_boolean(&self) -> bool {
        match self {
            Self::Constant(constant) => matches!(constant, Constant::Null | Constant::Bool(_)),
            Self::Property(_) | Self::Negated(_) => false,
            _ => true,
        }
    }

    /// The value for a message with these properties.
    pub(crate) fn value<'v>(
        &'v self,
        properties: &[Option<&'v [u8]>],
    ) -> Result<Value<'v>, Failed> {
        let property = |at: usize| properties[at].map_or(Value::Null, Value::Text);
        let truth = match self {
            Self::Constant(constant) => return Ok(constant.value()),
            Self::Property(at) => return Ok(property(*at)),
            Self::Negated(operand) => return Ok(operand.value(properties)?.negated()),
            Self::Not(operand) => operand.value(properties)?.truth().map(|truth| !truth),
            Self::Cast(at) => properties[*at].map(|_| false),
            Self::And(operands) => joined(operands, properties, false)?,
            Self::Or(operands) => joined(operands, properties, true)?,
            Self::Equal(operands) => {
                let left = operands[0].value(properties)?;
                left.equals(operands[1].value(properties)?)?
            }
            Self::Ordered(order, operands) => {
                let left = operands[0].value(properties)?;
                ordered(left, *order, &operands[1], properties)?
            }
            Self::Between { is_not, operands } => between(*is_not, operands, properties)?,
            Self::In {
                is_not,
                property,
                texts,
            } => properties[*property]
                .map(|text| texts.binary_search_by(|it| (**it).cmp(text)).is_ok() != *is_not),
            Self::Part {
                is_not,
                part,
                wanted,
                operand,
            } => Some(holds_part(*is_not, *part, wanted, operand, properties)?),
        };
        Ok(Value::of(truth))
    }
}

/// `OR` ends with the first true operand, `AND` with the first false one; otherwise an unknown
/// operand makes the whole unknown.
fn joined(
    operands: &[Node],
    properties: &[Option<&[u8]>],
    ends_with: bool,
) -> Result<Option<bool>, Failed> {
    let mut is_known = true;
    for operand in operands {
        match operand.value(properties)?.truth() {
            Some(truth) if truth == ends_with => return Ok(Some(ends_with)),
            Some(_) => {}
            None => is_known = false,
        }
    }
    Ok(is_known.then_some(!ends_with))
}

/// With an unknown left operand the right one is not looked at.
fn ordered(
    left: Value<'_>,
    order: Order,
    right: &Node,
    properties: &[Option<&[u8]>],
) -> Result<Option<bool>, Failed> {
    if left == Value::Null {
        return Ok(None);
    }
    match right.value(properties)? {
        Value::Null => Ok(None),
        right => left.is_ordered(order, right).map(Some),
    }
}

/// Two comparisons that share their left operand, joined by `AND`, or by `OR` for `NOT BETWEEN`.
fn between(
    is_not: bool,
    [value, low, high]: &[Node; 3],
    properties: &[Option<&[u8]>],
) -> Result<Option<bool>, Failed> {
    let value = value.value(properties)?;
    let (low_order, high_order) = if is_not {
        (Order::Less, Order::Greater)
    } else {
        (Order::GreaterOrEqual, Order::LessOrEqual)
    };
    let first = ordered(value, low_order, low, properties)?;
    if first == Some(is_not) {
        return Ok(first);
    }
    let second = ordered(value, high_order, high, properties)?;
    if second == Some(is_not) {
        return Ok(second);
    }
    Ok(first.and(second))
}

/// Never unknown: no text, and an empty text that is looked for, are false, with `NOT` as well.
fn holds_part(
    is_not: bool,
    part: Part,
    wanted: &[u8],
    operand: &Node,
    properties: &[Option<&[u8]>],
) -> Result<bool, Failed> {
    if wanted.is_empty() {
        return Ok(false);
    }
    match operand.value(properties)? {
        Value::Text(text) => Ok(part.is_in(text, wanted) != is_not),
        _ => Ok(false),
    }
}
