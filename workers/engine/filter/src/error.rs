//! Why an expression is refused.

/// An expression that no consumer can filter by. Columns count characters from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The expression has no text.
    #[error("the expression is empty")]
    Empty,
    /// The expression has more text than a broker keeps for a subscription.
    #[error("the expression has {size} bytes, the limit is {limit}")]
    TooLong {
        /// Bytes of the expression.
        size: usize,
        /// The most that are taken.
        limit: usize,
    },
    /// Parentheses or operators lie too deep inside one another.
    #[error("column {column}: the expression is nested deeper than {limit} levels")]
    TooDeep {
        /// Where the limit is passed.
        column: usize,
        /// The most levels that are taken.
        limit: usize,
    },
    /// A character begins no word of the language.
    #[error("column {column}: {found:?} begins no word of an expression")]
    UnknownCharacter {
        /// Where the character is.
        column: usize,
        /// The character.
        found: char,
    },
    /// A string or a comment has no end.
    #[error("column {column}: the {what} that begins here has no end")]
    Unterminated {
        /// Where it begins.
        column: usize,
        /// What has no end.
        what: &'static str,
    },
    /// Another word than the ones allowed.
    #[error("column {column}: expected {expected}, found {found}")]
    Unexpected {
        /// Where the word is.
        column: usize,
        /// What may stand there.
        expected: &'static str,
        /// The word, or the end of the expression.
        found: String,
    },
    /// An integer that has more than 64 bits, or a floating point number without a value.
    #[error("column {column}: the number {found} is out of range, {range}")]
    NumberOutOfRange {
        /// Where the number is.
        column: usize,
        /// The number as written.
        found: String,
        /// What is in range.
        range: &'static str,
    },
    /// The words are in order, but their meaning is not.
    #[error("column {column}: {reason}")]
    Meaning {
        /// Where the operator is.
        column: usize,
        /// What is wrong.
        reason: &'static str,
    },
}
