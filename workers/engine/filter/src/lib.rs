//! SQL92 filters over the properties of messages, with the grammar and the results of stock 5.5.0.
//!
//! An [`Expression`] is parsed once and evaluated for each message. Both are pure: text and property
//! bytes go in, an error or a truth value comes out. Property values are always strings. How a
//! comparison reads such a string depends on the other side, as in stock:
//!
//! - a string: as text for `=` and `<>`; as a floating point number for `<`, `<=`, `>`, `>=`;
//! - an integer up to 2147483647: as a 32-bit integer;
//! - a greater integer: as a 64-bit integer;
//! - a floating point number: as a floating point number;
//! - `TRUE`, `FALSE`: as true for the text `true` in any case, as false for any other text.
//!
//! If a value cannot be read this way, the whole expression fails for that message. A message does
//! not pass if the expression fails for it, or is unknown.

#![deny(unsafe_code)]

mod error;
mod expression;
mod lexer;
mod node;
mod number;
mod parser;
mod value;

pub use error::FilterError;
pub use expression::{EXPRESSION_SIZE_MAX, Expression};
