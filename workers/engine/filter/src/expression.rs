//! An expression as the rest of the engine sees it.

use crate::error::FilterError;
use crate::node::Node;
use crate::parser::{Program, parse};
use crate::value::Value;

/// The most bytes of an expression. Stock has no limit; each heartbeat and each message costs what an
/// expression is long.
pub const EXPRESSION_SIZE_MAX: usize = 64 << 10;

/// Up to this many properties are looked up without an allocation.
const SLOT_COUNT: usize = 16;

/// A parsed filter, ready for any number of messages.
#[derive(Debug)]
pub struct Expression {
    root: Node,
    /// Of the properties that it names, sorted.
    names: Box<[Box<[u8]>]>,
    node_count: usize,
}

impl Expression {
    /// Parse an expression.
    ///
    /// # Errors
    /// The text is none, or is one that stock refuses.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let Program {
            root,
            names,
            node_count,
        } = parse(text)?;
        Ok(Self {
            root,
            names,
            node_count,
        })
    }

    /// How many operations and operands are evaluated for a message at most.
    #[must_use]
    pub fn cost(&self) -> usize {
        self.node_count
    }

    /// Whether a message passes. Its properties are given by name and value; of two with one name
    /// the last one counts.
    pub fn matches<'p>(&self, properties: impl Iterator<Item = (&'p [u8], &'p [u8])>) -> bool {
        let mut few = [None; SLOT_COUNT];
        let mut many = Vec::new();
        let slots = match few.get_mut(..self.names.len()) {
            Some(slots) => slots,
            None => {
                many.resize(self.names.len(), None);
                &mut many
            }
        };
        for (name, value) in properties {
            if let Ok(at) = self.names.binary_search_by(|known| (**known).cmp(name)) {
                slots[at] = Some(value);
            }
        }
        self.root.value(slots) == Ok(Value::Bool(true))
    }
}
