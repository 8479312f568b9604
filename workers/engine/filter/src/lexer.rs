//! Words of an expression. As with stock the longest word wins, and words are cut when they are needed:
//! what follows a whole expression is not looked at, but for the next word.

use crate::error::FilterError;

/// One word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word<'a> {
    Keyword(Keyword),
    Name(&'a str),
    Integer(&'a str),
    Float(&'a str),
    /// The inside of a string, with its quotes still doubled.
    Text(&'a str),
    Symbol(&'static str),
    End,
}

/// The words that are no names, in any case of their letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyword {
    And,
    Between,
    Contains,
    EndsWith,
    False,
    In,
    Is,
    Not,
    Null,
    Or,
    StartsWith,
    True,
}

const KEYWORDS: [(&str, Keyword); 12] = [
    ("AND", Keyword::And),
    ("BETWEEN", Keyword::Between),
    ("CONTAINS", Keyword::Contains),
    ("ENDSWITH", Keyword::EndsWith),
    ("FALSE", Keyword::False),
    ("IN", Keyword::In),
    ("IS", Keyword::Is),
    ("NOT", Keyword::Not),
    ("NULL", Keyword::Null),
    ("OR", Keyword::Or),
    ("STARTSWITH", Keyword::StartsWith),
    ("TRUE", Keyword::True),
];

/// Those of two characters come first.
const SYMBOLS: [&str; 11] = ["<>", "<=", ">=", "=", "<", ">", "(", ")", ",", "+", "-"];

/// A word and where it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub(crate) word: Word<'a>,
    pub(crate) at: usize,
    pub(crate) end: usize,
}

/// Cuts the words of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The column of a place, from 1.
    pub(crate) fn column(&self, at: usize) -> usize {
        self.text[..at].chars().count() + 1
    }

    /// A piece of the text.
    pub(crate) fn piece(&self, from: usize, to: usize) -> &'a str {
        &self.text[from..to]
    }

    pub(crate) fn next_word(&mut self) -> Result<Placed<'a>, FilterError> {
        self.skip()?;
        let (at, rest) = (self.at, &self.text[self.at..]);
        let (word, size) = self.cut(rest)?;
        self.at += size;
        Ok(Placed {
            word,
            at,
            end: self.at,
        })
    }

    /// Passes over blanks and comments.
    fn skip(&mut self) -> Result<(), FilterError> {
        loop {
            let rest = self.text[self.at..].trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
            self.at = self.text.len() - rest.len();
            if rest.starts_with("--") {
                // Without an end of the line these are two minus signs.
                let Some(size) = rest.find(['\n', '\r']) else {
                    return Ok(());
                };
                self.at += size + 1;
            } else if let Some(inside) = rest.strip_prefix("/*") {
                let size = inside.find("*/").ok_or(FilterError::Unterminated {
                    column: self.column(self.at),
                    what: "comment",
                })?;
                self.at += size + "/**/".len();
            } else {
                return Ok(());
            }
        }
    }

    fn cut(&self, rest: &'a str) -> Result<(Word<'a>, usize), FilterError> {
        let Some(first) = rest.chars().next() else {
            return Ok((Word::End, 0));
        };
        if first == '\'' {
            return self.cut_text(rest);
        }
        if is_name_start(first) {
            let size = rest.bytes().take_while(|byte| is_name_byte(*byte)).count();
            let name = &rest[..size];
            let known = KEYWORDS.iter().find(|it| it.0.eq_ignore_ascii_case(name));
            let word = known.map_or(Word::Name(name), |it| Word::Keyword(it.1));
            return Ok((word, size));
        }
        if let Some(size) = float_size(rest) {
            return Ok((Word::Float(&rest[..size]), size));
        }
        if first.is_ascii_digit() {
            let size = integer_size(rest);
            return Ok((Word::Integer(&rest[..size]), size));
        }
        let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
        symbol.map_or_else(
            || {
                Err(FilterError::UnknownCharacter {
                    column: self.column(self.at),
                    found: first,
                })
            },
            |symbol| Ok((Word::Symbol(symbol), symbol.len())),
        )
    }

    /// A quote is doubled inside of a string. One quote more at the end is no part of it.
    fn cut_text(&self, rest: &'a str) -> Result<(Word<'a>, usize), FilterError> {
        let (bytes, mut at, mut end) = (rest.as_bytes(), 1, None);
        while let Some(quote) = memchr::memchr(b'\'', &bytes[at..]) {
            at += quote + 1;
            end = Some(at);
            if bytes.get(at) != Some(&b'\'') {
                break;
            }
            at += 1;
        }
        let end = end.ok_or(FilterError::Unterminated {
            column: self.column(self.at),
            what: "string",
        })?;
        Ok((Word::Text(&rest[1..end - 1]), end))
    }
}

fn is_name_start(first: char) -> bool {
    first.is_ascii_alphabetic() || first == '_' || first == '$'
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

fn digits(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}

/// Zero stands alone: what follows it is another word.
fn integer_size(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    if bytes[0] == b'0' {
        return 1;
    }
    let size = digits(bytes);
    size + usize::from(matches!(bytes.get(size), Some(b'l' | b'L')))
}

/// Digits with a point, an exponent or both.
fn float_size(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let whole = digits(bytes);
    if bytes.get(whole) != Some(&b'.') {
        return exponent_size(&bytes[whole..])
            .filter(|_| whole > 0)
            .map(|size| whole + size);
    }
    let fraction = digits(&bytes[whole + 1..]);
    let size = whole + 1 + fraction;
    (whole + fraction > 0).then(|| size + exponent_size(&bytes[size..]).unwrap_or(0))
}

fn exponent_size(bytes: &[u8]) -> Option<usize> {
    if !matches!(bytes.first(), Some(b'e' | b'E')) {
        return None;
    }
    let sign = usize::from(matches!(bytes.get(1), Some(b'+' | b'-')));
    let count = digits(&bytes[1 + sign..]);
    (count > 0).then_some(1 + sign + count)
}
