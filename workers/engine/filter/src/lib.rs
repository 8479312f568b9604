//! SQL92 filters over the properties of messages, with the grammar and the results of stock 5.5.0.
//!
//! An [`Expression`] is parsed once and evaluated for each message. Both are pure: text and property
//! bytes go in, an error or a truth value comes out. Property values are always strings; what a
//! comparison makes of one depends on the other side, as in stock:
//!
//! | other side | the property is read as |
//! |---|---|
//! | a string | text for `=` and `<>`; a floating point number for `<`, `<=`, `>`, `>=` |
//! | an integer up to 2147483647 | a 32-bit integer |
//! | a greater integer | a 64-bit integer |
//! | a floating point number | a floating point number |
//! | `TRUE`, `FALSE` | true for the text `true` in any case, false for any other text |
//!
//! A value that cannot be read so makes the whole expression fail for that message, and a message for
//! which an expression fails, or is unknown, does not pass.

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
