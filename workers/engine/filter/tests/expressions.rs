//! What expressions come to. Stock's own answers are compared in `tests/interop`.

use regent_filter::{EXPRESSION_SIZE_MAX, Expression, FilterError};

const PROPERTIES: [(&str, &str); 7] = [
    ("a", "5"),
    ("big", "3000000000"),
    ("price", "12.5"),
    ("text", "it's"),
    ("yes", "True"),
    ("_$x1", "v"),
    ("TAGS", "TagA"),
];

fn matches(expression: &str) -> bool {
    let expression = Expression::parse(expression);
    let expression = expression.unwrap_or_else(|error| panic!("{error}"));
    let pairs = PROPERTIES.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    expression.matches(pairs.into_iter())
}

fn refusal(expression: &str) -> String {
    Expression::parse(expression)
        .expect_err(expression)
        .to_string()
}

#[test]
fn conditions_hold_as_their_operators_say() {
    for expression in [
        "a = 5",
        "a <> 6",
        "a > 4 AND a >= 5 AND a < 6 AND a <= 5",
        "a BETWEEN 1 AND 5",
        "a NOT BETWEEN 6 AND 7",
        "a IN ('1', '5')",
        "a NOT IN ('1')",
        "nothing IS NULL",
        "a IS NOT NULL",
        "text = 'it''s'",
        "text CONTAINS 't''' AND text STARTSWITH 'it' AND text ENDSWITH 's'",
        "text NOT CONTAINS 'x' AND text NOT STARTSWITH 'x' AND text NOT ENDSWITH 'x'",
        "yes = TRUE",
        "text = FALSE",
        "big > 2147483648",
        "price > 12.4 OR price > 12",
        "price = 12.50",
        "-a < 1 OR a > -1",
        "5 = a",
        "_$x1 = 'v'",
        "/* comment */ tags IS NULL -- another\n AND TAGS = 'TagA'",
        "A IS NULL",
        "not (a = 6)",
        "a=5Or(b=1)",
        "a = 5 = TRUE",
        "nothing = nothing2",
        "a < big",
    ] {
        assert!(matches(expression), "{expression}");
    }
}

#[test]
fn unknown_and_failed_conditions_hold_for_nothing() {
    for expression in [
        // Unknown.
        "nothing = 1",
        "nothing <> 1",
        "NOT (nothing = 1)",
        "nothing > 1 OR a > 6",
        "nothing IN ('1')",
        "nothing NOT IN ('1')",
        "-text > 1",
        "NULL",
        // No unknown values are there.
        "nothing CONTAINS 'x'",
        "nothing NOT CONTAINS 'x'",
        "text NOT CONTAINS ''",
        // A property alone is never true.
        "yes",
        // Failed: the whole expression, whatever else it says.
        "text > 1 OR a = 5",
        "price = 12 OR a = 5",
        "big > 1 OR a = 5",
        "text < price",
        "TRUE = yes OR a = 5",
        // NOT goes with the nearest operand.
        "NOT a = 6",
    ] {
        assert!(!matches(expression), "{expression}");
    }
    assert!(matches("a = 5 OR text > 1"));
    assert!(matches("a = 5 OR nothing > 1"));
    assert!(matches("(nothing = 1 AND a = 6) = FALSE"));
}

#[test]
fn the_last_value_of_a_property_counts() {
    let expression = Expression::parse("a = 2").expect("valid");
    let pairs: [(&[u8], &[u8]); 2] = [(b"a", b"1"), (b"a", b"2")];

    assert!(expression.matches(pairs.into_iter()));
    assert!(!expression.matches(pairs.into_iter().rev()));
}

#[test]
fn an_expression_may_name_more_properties_than_are_looked_up_without_memory() {
    let names: Vec<String> = (0..40).map(|number| format!("p{number:02}")).collect();
    let text = names.join(" = 1 AND ") + " = 1";
    let expression = Expression::parse(&text).expect("valid");
    let pairs = || names.iter().map(|name| (name.as_bytes(), &b"1"[..]));

    assert!(expression.matches(pairs()));
    assert!(!expression.matches(pairs().skip(1)));
}

#[test]
fn refusals_say_where_and_what() {
    for (expression, expected) in [
        ("", "the expression is empty"),
        (
            "a >",
            "column 4: expected a property, a number, a string, TRUE, FALSE, NULL, NOT or (, found the end of the expression",
        ),
        ("é = 1", "column 1: 'é' begins no word of an expression"),
        (
            "a = 'é' AND b ; 1",
            "column 15: ';' begins no word of an expression",
        ),
        ("a = 'x", "column 5: the string that begins here has no end"),
        (
            "/* a = 1",
            "column 1: the comment that begins here has no end",
        ),
        (
            "(a = 1",
            "column 7: expected an operator or ), found the end of the expression",
        ),
        (
            "a = NULL",
            "column 3: NULL cannot be compared: write IS NULL or IS NOT NULL",
        ),
        (
            "a > 'x'",
            "column 3: <, <=, >, >= and BETWEEN compare properties and numbers only",
        ),
        (
            "a BETWEEN 5 AND 1",
            "column 3: the first value of BETWEEN must not be greater than the second one",
        ),
        (
            "a IN (1)",
            "column 7: expected a string in quotes: IN compares with strings only, found 1",
        ),
        (
            "5 IN ('5')",
            "column 3: IN must follow the name of a property",
        ),
        (
            "a IS 5",
            "column 6: expected NULL or NOT NULL after IS, found 5",
        ),
        (
            "a NOT = 5",
            "column 7: expected BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH after NOT, found =",
        ),
        (
            "5",
            "column 1: the operand is no condition: a condition is a comparison, a property or TRUE, FALSE or NULL",
        ),
        (
            "TRUE = 'x'",
            "column 6: TRUE or FALSE cannot be compared with a number or a string",
        ),
        (
            "a > 9223372036854775808",
            "column 5: the number 9223372036854775808 is out of range, integers go up to 9223372036854775807",
        ),
        (
            "a = 0.0",
            "column 5: the number 0.0 is out of range, numbers with a point or an exponent go from 4.9E-324 to 1.7976931348623157E308",
        ),
        ("a LIKE 'x'", ""),
    ] {
        if expected.is_empty() {
            // Stock stops reading there, and takes the property for the whole.
            assert!(Expression::parse(expression).is_ok(), "{expression}");
        } else {
            assert_eq!(refusal(expression), expected, "{expression}");
        }
    }
}

#[test]
fn what_lies_deep_or_is_long_is_refused_and_what_is_wide_is_not() {
    let nested = |count: usize| format!("{}a = 5{}", "(".repeat(count), ")".repeat(count));
    assert!(matches(&nested(90)));
    for expression in [
        nested(20_000),
        "NOT ".repeat(10_000),
        "-".repeat(10_000),
        "+".repeat(10_000),
        format!("a{}", " = a".repeat(10_000)),
        format!("a{}", " IS NULL".repeat(7_000)),
        format!("a{}", " CONTAINS 'x'".repeat(4_000)),
    ] {
        let error = Expression::parse(&expression).expect_err("too deep");
        assert!(matches!(error, FilterError::TooDeep { .. }), "{error}");
    }
    let wide = format!("{}a = 5", "a = 6 OR ".repeat(7_000));
    assert!(matches(&wide));
    let long = format!("a = '{}'", "x".repeat(EXPRESSION_SIZE_MAX));
    let error = Expression::parse(&long).expect_err("too long");
    assert!(matches!(error, FilterError::TooLong { .. }), "{error}");
}

#[test]
fn no_text_and_no_properties_make_it_panic() {
    const WORDS: [&str; 42] = [
        "a",
        "text",
        "price",
        "nothing",
        "AND",
        "OR",
        "NOT",
        "IN",
        "IS",
        "NULL",
        "BETWEEN",
        "TRUE",
        "FALSE",
        "CONTAINS",
        "STARTSWITH",
        "ENDSWITH",
        "=",
        "<>",
        "<",
        "<=",
        ">",
        ">=",
        "(",
        ")",
        ",",
        "+",
        "-",
        "'x'",
        "''",
        "'",
        "5",
        "0",
        "5L",
        "1.5",
        "1e5",
        ".",
        "e",
        "é",
        "/*",
        "*/",
        "--",
        "\n",
    ];
    let mut random = fastrand::Rng::with_seed(92);
    let mut valid_count = 0;
    for _ in 0..300_000 {
        let count = random.usize(1..12);
        let text: Vec<&str> = (0..count)
            .map(|_| WORDS[random.usize(..WORDS.len())])
            .collect();
        let text = text.join(if random.bool() { " " } else { "" });
        let Ok(expression) = Expression::parse(&text) else {
            continue;
        };
        valid_count += 1;
        let values: [&[u8]; 6] = [b"5", b"x", b"", b"\xff\xfe", b"1.5", b"true"];
        let pairs = ["a", "text", "price"].map(|name| (name.as_bytes(), values[random.usize(..6)]));
        expression.matches(pairs.into_iter());
    }
    assert!(valid_count > 10_000, "{valid_count}");
}
