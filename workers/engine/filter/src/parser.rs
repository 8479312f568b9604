//! The grammar, from the weakest operator to the strongest:
//!
//! ```text
//! or         = and { OR and }
//! and        = equality { AND equality }
//! equality   = comparison { ( "=" | "<>" ) comparison | IS [ NOT ] NULL }
//! comparison = unary { ( ">" | ">=" | "<" | "<=" ) unary
//!                    | [ NOT ] BETWEEN unary AND unary
//!                    | [ NOT ] IN "(" text { "," text } ")"
//!                    | [ NOT ] ( CONTAINS | STARTSWITH | ENDSWITH ) text }
//! unary      = ( "+" | "-" | NOT ) unary | literal | name | "(" or ")"
//! ```
//!
//! `NOT` binds more strongly than comparisons do: `NOT a = 1` compares `NOT a` with 1. As with stock, an
//! expression ends where the next word does not continue it, whatever follows.

use crate::error::FilterError;
use crate::expression::EXPRESSION_SIZE_MAX;
use crate::lexer::{Keyword, Lexer, Placed, Word};
use crate::node::{Constant, Node, Part};
use crate::value::Order;

/// How many operations may lie inside one another; the stack must have room for them.
const DEPTH_MAX: usize = 100;

const NOT_BOOLEAN: &str =
    "the operand is no condition: a condition is a comparison, a property or TRUE, FALSE or NULL";
const NOT_ORDERED: &str = "<, <=, >, >= and BETWEEN compare properties and numbers only";
const NULL_COMPARED: &str = "NULL cannot be compared: write IS NULL or IS NOT NULL";
const TRUTH_COMPARED: &str = "TRUE or FALSE cannot be compared with a number or a string";
const IN_OPERAND: &str = "IN must follow the name of a property";
const BETWEEN_ORDER: &str = "the first value of BETWEEN must not be greater than the second one";
const LONG_RANGE: &str = "integers go up to 9223372036854775807";
const DOUBLE_RANGE: &str =
    "numbers with a point or an exponent go from 4.9E-324 to 1.7976931348623157E308";

type Names = Box<[Box<[u8]>]>;

/// A parsed expression.
pub(crate) struct Program {
    pub(crate) root: Node,
    /// Of the properties, sorted; the properties in the nodes are numbers into it.
    pub(crate) names: Names,
    /// How many operations and operands there are.
    pub(crate) node_count: usize,
}

/// Parse an expression.
pub(crate) fn parse(text: &str) -> Result<Program, FilterError> {
    if text.len() > EXPRESSION_SIZE_MAX {
        return Err(FilterError::TooLong {
            size: text.len(),
            limit: EXPRESSION_SIZE_MAX,
        });
    }
    if text.is_empty() {
        return Err(FilterError::Empty);
    }
    let names = names_of(text);
    let mut lexer = Lexer::new(text);
    let next = lexer.next_word()?;
    let mut parser = Parser {
        lexer,
        next,
        names: &names,
        depth: 0,
        node_count: 0,
    };
    let at = parser.next.at;
    let root = parser.disjunction()?;
    let root = parser.condition(root, at)?;
    let node_count = parser.node_count;
    Ok(Program {
        root: root.node,
        names,
        node_count,
    })
}

/// The words of an expression that may name properties. Where the words end in an error the parser says so.
fn names_of(text: &str) -> Names {
    let (mut lexer, mut names) = (Lexer::new(text), Vec::new());
    while let Ok(Placed { word, .. }) = lexer.next_word() {
        match word {
            Word::Name(name) => names.push(name.as_bytes().into()),
            Word::End => break,
            _ => {}
        }
    }
    names.sort_unstable();
    names.dedup();
    names.into()
}

/// A node and how many operations lie inside one another in it.
struct Parsed {
    node: Node,
    depth: usize,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    next: Placed<'a>,
    names: &'a [Box<[u8]>],
    /// Signs, `NOT`s and parentheses that are open.
    depth: usize,
    node_count: usize,
}

impl<'a> Parser<'a> {
    fn take(&mut self) -> Result<Placed<'a>, FilterError> {
        let taken = self.next;
        self.next = self.lexer.next_word()?;
        Ok(taken)
    }

    fn takes(&mut self, word: Word<'_>) -> Result<bool, FilterError> {
        let is_next = self.next.word == word;
        if is_next {
            self.take()?;
        }
        Ok(is_next)
    }

    fn expect(&mut self, word: Word<'_>, expected: &'static str) -> Result<(), FilterError> {
        if self.takes(word)? {
            return Ok(());
        }
        Err(self.unexpected(expected))
    }

    fn unexpected(&self, expected: &'static str) -> FilterError {
        let Placed { word, at, end } = self.next;
        let found = match word {
            Word::End => "the end of the expression".to_owned(),
            _ => self.lexer.piece(at, end).to_owned(),
        };
        FilterError::Unexpected {
            column: self.lexer.column(at),
            expected,
            found,
        }
    }

    fn meaning(&self, at: usize, reason: &'static str) -> FilterError {
        FilterError::Meaning {
            column: self.lexer.column(at),
            reason,
        }
    }

    /// Puts a node around others.
    fn around(&mut self, node: Node, depth: usize, at: usize) -> Result<Parsed, FilterError> {
        self.node_count += 1;
        let depth = depth + 1;
        if depth > DEPTH_MAX {
            return Err(FilterError::TooDeep {
                column: self.lexer.column(at),
                limit: DEPTH_MAX,
            });
        }
        Ok(Parsed { node, depth })
    }

    /// A node as an operand that gives a truth value.
    fn condition(&self, parsed: Parsed, at: usize) -> Result<Parsed, FilterError> {
        match parsed.node {
            Node::Property(property) => Ok(Parsed {
                node: Node::Cast(property),
                ..parsed
            }),
            _ if parsed.node.is_boolean() => Ok(parsed),
            _ => Err(self.meaning(at, NOT_BOOLEAN)),
        }
    }

    fn disjunction(&mut self) -> Result<Parsed, FilterError> {
        self.joined(Keyword::Or, Self::conjunction, Node::Or)
    }

    fn conjunction(&mut self) -> Result<Parsed, FilterError> {
        self.joined(Keyword::And, Self::equality, Node::And)
    }

    /// Operands with one operator between them. They lie side by side, so that many are not deep.
    fn joined(
        &mut self,
        operator: Keyword,
        operand: fn(&mut Self) -> Result<Parsed, FilterError>,
        join: fn(Vec<Node>) -> Node,
    ) -> Result<Parsed, FilterError> {
        let at = self.next.at;
        let first = operand(self)?;
        if self.next.word != Word::Keyword(operator) {
            return Ok(first);
        }
        let first = self.condition(first, at)?;
        let (mut nodes, mut depth) = (vec![first.node], first.depth);
        while self.takes(Word::Keyword(operator))? {
            let at = self.next.at;
            let next = operand(self)?;
            let next = self.condition(next, at)?;
            depth = depth.max(next.depth);
            nodes.push(next.node);
        }
        self.around(join(nodes), depth, at)
    }

    fn equality(&mut self) -> Result<Parsed, FilterError> {
        let mut left = self.comparison()?;
        loop {
            let at = self.next.at;
            let is_not = match self.next.word {
                Word::Symbol("=") => false,
                Word::Symbol("<>") => true,
                Word::Keyword(Keyword::Is) => {
                    left = self.null_check(left)?;
                    continue;
                }
                _ => return Ok(left),
            };
            self.take()?;
            let right = self.comparison()?;
            self.check_equal(&left.node, &right.node, at)?;
            let depth = left.depth.max(right.depth);
            left = self.around(Node::Equal(Box::new([left.node, right.node])), depth, at)?;
            if is_not {
                left = self.around(Node::Not(Box::new(left.node)), left.depth, at)?;
            }
        }
    }

    fn check_equal(&self, left: &Node, right: &Node, at: usize) -> Result<(), FilterError> {
        let is_null = |node: &Node| matches!(node, Node::Constant(Constant::Null));
        if is_null(left) || is_null(right) {
            return Err(self.meaning(at, NULL_COMPARED));
        }
        let is_truth = matches!(left, Node::Constant(Constant::Bool(_)));
        let is_other =
            matches!(right, Node::Constant(constant) if !matches!(constant, Constant::Bool(_)));
        if is_truth && is_other {
            return Err(self.meaning(at, TRUTH_COMPARED));
        }
        Ok(())
    }

    fn null_check(&mut self, left: Parsed) -> Result<Parsed, FilterError> {
        let at = self.take()?.at;
        let is_not = self.takes(Word::Keyword(Keyword::Not))?;
        self.expect(Word::Keyword(Keyword::Null), "NULL or NOT NULL after IS")?;
        let operands = [left.node, Node::Constant(Constant::Null)];
        let check = self.around(Node::Equal(Box::new(operands)), left.depth, at)?;
        if is_not {
            return self.around(Node::Not(Box::new(check.node)), check.depth, at);
        }
        Ok(check)
    }

    fn comparison(&mut self) -> Result<Parsed, FilterError> {
        let mut left = self.unary()?;
        loop {
            let at = self.next.at;
            let order = match self.next.word {
                Word::Symbol(">") => Order::Greater,
                Word::Symbol(">=") => Order::GreaterOrEqual,
                Word::Symbol("<") => Order::Less,
                Word::Symbol("<=") => Order::LessOrEqual,
                Word::Keyword(
                    Keyword::Not
                    | Keyword::Between
                    | Keyword::In
                    | Keyword::Contains
                    | Keyword::StartsWith
                    | Keyword::EndsWith,
                ) => {
                    left = self.named_comparison(left, at)?;
                    continue;
                }
                _ => return Ok(left),
            };
            self.take()?;
            let right = self.unary()?;
            self.check_ordered(&left.node, at)?;
            self.check_ordered(&right.node, at)?;
            let depth = left.depth.max(right.depth);
            let operands = Box::new([left.node, right.node]);
            left = self.around(Node::Ordered(order, operands), depth, at)?;
        }
    }

    fn check_ordered(&self, operand: &Node, at: usize) -> Result<(), FilterError> {
        let is_text = matches!(operand, Node::Constant(Constant::Text(_)));
        if is_text || operand.is_boolean() {
            return Err(self.meaning(at, NOT_ORDERED));
        }
        Ok(())
    }

    fn named_comparison(&mut self, left: Parsed, at: usize) -> Result<Parsed, FilterError> {
        let is_not = self.takes(Word::Keyword(Keyword::Not))?;
        let part = match self.next.word {
            Word::Keyword(Keyword::Between) => return self.between(left, at, is_not),
            Word::Keyword(Keyword::In) => return self.membership(left, at, is_not),
            Word::Keyword(Keyword::Contains) => Part::Anywhere,
            Word::Keyword(Keyword::StartsWith) => Part::Start,
            Word::Keyword(Keyword::EndsWith) => Part::End,
            _ => {
                let expected = "BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH after NOT";
                return Err(self.unexpected(expected));
            }
        };
        self.take()?;
        let wanted = self.text("a string in quotes")?;
        let node = Node::Part {
            is_not,
            part,
            wanted,
            operand: Box::new(left.node),
        };
        self.around(node, left.depth, at)
    }

    fn between(&mut self, value: Parsed, at: usize, is_not: bool) -> Result<Parsed, FilterError> {
        self.take()?;
        let low = self.unary()?;
        self.expect(
            Word::Keyword(Keyword::And),
            "AND between the values of BETWEEN",
        )?;
        let high = self.unary()?;
        for operand in [&value, &low, &high] {
            self.check_ordered(&operand.node, at)?;
        }
        if !is_not
            && let (Node::Constant(low), Node::Constant(high)) = (&low.node, &high.node)
            && high.value().is_ordered(Order::Less, low.value()) == Ok(true)
        {
            return Err(self.meaning(at, BETWEEN_ORDER));
        }
        let depth = value.depth.max(low.depth).max(high.depth);
        let operands = Box::new([value.node, low.node, high.node]);
        self.around(Node::Between { is_not, operands }, depth, at)
    }

    fn membership(&mut self, left: Parsed, at: usize, is_not: bool) -> Result<Parsed, FilterError> {
        self.take()?;
        self.expect(Word::Symbol("("), "( after IN")?;
        let mut texts = vec![self.text("a string in quotes: IN compares with strings only")?];
        while self.takes(Word::Symbol(","))? {
            texts.push(self.text("a string in quotes: IN compares with strings only")?);
        }
        self.expect(Word::Symbol(")"), ", or ) in the list of IN")?;
        let Node::Property(property) = left.node else {
            return Err(self.meaning(at, IN_OPERAND));
        };
        texts.sort_unstable();
        texts.dedup();
        let texts = texts.into();
        let node = Node::In {
            is_not,
            property,
            texts,
        };
        self.around(node, left.depth, at)
    }

    fn text(&mut self, expected: &'static str) -> Result<Box<[u8]>, FilterError> {
        let Word::Text(inside) = self.next.word else {
            return Err(self.unexpected(expected));
        };
        self.take()?;
        Ok(inside.replace("''", "'").into_bytes().into())
    }

    /// Signs and parentheses lie inside one another without end: the stack is what limits them.
    fn unary(&mut self) -> Result<Parsed, FilterError> {
        let at = self.next.at;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(FilterError::TooDeep {
                column: self.lexer.column(at),
                limit: DEPTH_MAX,
            });
        }
        let parsed = match self.next.word {
            Word::Symbol("+") => {
                self.take()?;
                self.unary()?
            }
            Word::Symbol("-") => {
                self.take()?;
                let operand = self.unary()?;
                self.around(Node::Negated(Box::new(operand.node)), operand.depth, at)?
            }
            Word::Keyword(Keyword::Not) => {
                self.take()?;
                let operand = self.unary()?;
                let operand = self.condition(operand, at)?;
                self.around(Node::Not(Box::new(operand.node)), operand.depth, at)?
            }
            Word::Symbol("(") => {
                self.take()?;
                let inside = self.disjunction()?;
                self.expect(Word::Symbol(")"), "an operator or )")?;
                inside
            }
            _ => Parsed {
                node: self.operand()?,
                depth: 0,
            },
        };
        self.depth -= 1;
        Ok(parsed)
    }

    fn operand(&mut self) -> Result<Node, FilterError> {
        self.node_count += 1;
        let constant = match self.next.word {
            Word::Keyword(Keyword::True) => Constant::Bool(true),
            Word::Keyword(Keyword::False) => Constant::Bool(false),
            Word::Keyword(Keyword::Null) => Constant::Null,
            Word::Integer(text) => self.integer(text)?,
            Word::Float(text) => self.float(text)?,
            Word::Text(_) => return Ok(Node::Constant(Constant::Text(self.text("a string")?))),
            Word::Name(name) => {
                let found = self
                    .names
                    .binary_search_by(|it| (**it).cmp(name.as_bytes()));
                self.take()?;
                // Each name was noted before.
                return Ok(Node::Property(found.unwrap_or_default()));
            }
            _ => {
                let expected = "a property, a number, a string, TRUE, FALSE, NULL, NOT or (";
                return Err(self.unexpected(expected));
            }
        };
        self.take()?;
        Ok(Node::Constant(constant))
    }

    /// Distinguish an integer of 32 bits from a longer one: a property on the other side of a
    /// comparison is read as the same kind.
    fn integer(&self, text: &str) -> Result<Constant, FilterError> {
        let digits = text.trim_end_matches(['l', 'L']);
        let number: i64 = digits
            .parse()
            .map_err(|_| self.out_of_range(text, LONG_RANGE))?;
        Ok(i32::try_from(number).map_or(Constant::Long(number), Constant::Int))
    }

    fn float(&self, text: &str) -> Result<Constant, FilterError> {
        let number: f64 = text.parse().unwrap_or(f64::NAN);
        // As with stock, zero is not written with a point.
        if number.is_finite() && number > 0.0 {
            return Ok(Constant::Double(number));
        }
        Err(self.out_of_range(text, DOUBLE_RANGE))
    }

    fn out_of_range(&self, text: &str, range: &'static str) -> FilterError {
        FilterError::NumberOutOfRange {
            column: self.lexer.column(self.next.at),
            found: text.to_owned(),
            range,
        }
    }
}
