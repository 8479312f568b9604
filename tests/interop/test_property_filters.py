"""SQL92 filters give what stock's give (case C9)."""

import random
import subprocess

import pytest
from regent_engine import PropertyFilter, encode_properties

from tests.interop.java import BROKER, build, class_path, jvm_options

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

PROPERTIES = [
    {},
    {"a": "5"},
    {"a": "5", "b": "5"},
    {"a": "-5", "b": "5.0"},
    {"a": "05", "b": "+5"},
    {"a": " 5 ", "b": "x"},
    {"a": "3000000000", "b": "2147483648"},
    {"a": "9223372036854775807", "b": "9223372036854775808"},
    {"a": "12.5", "b": "1e3"},
    {"a": "-0", "b": "0"},
    {"a": "NaN", "b": "Infinity"},
    {"a": "5d", "b": "7.5F"},
    {"a": "true", "b": "false"},
    {"a": "TRUE", "b": "yes"},
    {"a": "x", "b": "x"},
    {"a": "it's", "b": "straße"},
    {"A": "5", "_$1": "x", "TAGS": "TagA"},
    {"a": "x", "TAGS": "TagB", "KEYS": "k1 k2"},
]
EXPRESSIONS = [
    # Literals, and what is none.
    "a = 5", "a = 5L", "a = 05", "a = 0", "a = 0L", "a = 00", "a = -5", "a = - 5", "a = --5",
    "a = +5", "a = ++5", "a = -+5", "a = 5.0", "a = 5.", "a = .5", "a = 5e0", "a = 5E+0",
    "a = 5e", "a = 0.0", "a = 1e400", "a = 1e-400", "a = 4.9E-324", "a = 1.7976931348623157E308",
    "a = 9223372036854775807", "a = -9223372036854775807", "a = 9223372036854775808",
    "a = -9223372036854775808", "a = 2147483647", "a = 2147483648", "a = 'x'", "a = ''",
    "a = 'it''s'", "a = ''''", "a = 'x", "a = 'x''", 'a = "x"', "b = 'straße'", "a = 1.2.3",
    "a = 5a", "a = 5 b", "a = 5;", "a = 5 ;", "a = 5)", "a = 5 and", "a = 5 or", "", " ", "()",
    # Names.
    "A = 5", "_$1 = 'x'", "1a = 5", "é = 5", "a.b = 5", "a-b = 5", "`a` = 5", "TAGS = 'TagA'",
    "tags = 'TagA'", "TAGS IN ('TagA', 'TagB')", "KEYS CONTAINS 'k2'", "null IS NULL",
    # Truth values.
    "TRUE", "FALSE", "NULL", "a", "5", "'x'", "-a", "-5", "+a", "NOT a", "NOT TRUE", "NOT NULL",
    "NOT 5", "NOT -a", "-TRUE", "-TRUE IS NULL", "-(a = 5) IS NULL", "a = TRUE", "a = FALSE",
    "TRUE = a", "a <> TRUE", "TRUE = TRUE", "TRUE = 5", "5 = TRUE", "5 <> TRUE", "TRUE = 'x'",
    "'x' = TRUE", "a = NULL", "NULL = a", "a <> NULL", "NULL = NULL", "TRUE IS NULL",
    "NULL IS NULL", "5 IS NULL", "5 IS NOT NULL", "'x' IS NOT NULL", "(a = 5) IS NULL",
    "(a > 5) IS NOT NULL", "a IS TRUE", "a IS NOT 5", "a NOT NULL", "(a) AND (b)",
    # Comparisons.
    "a = b", "a <> b", "a > b", "a >= b", "a < b", "a <= b", "a > 5", "a >= 5", "a < 5", "a <= 5",
    "5 > a", "5 >= a", "5 < a", "5 <= a", "a > 5.5", "5.5 > a", "a > 2147483648", "2147483648 > a",
    "a > -1", "-1 < a", "a > 'x'", "'x' < a", "a > TRUE", "a > NULL", "a > (b = 5)", "a > -b",
    "-b < a", "a != 5", "a == 5", "a =< 5", "a > 5 > 4", "a = 5 = TRUE", "TRUE = (a = 5)",
    "a = (b = 5)", "(a = 5) = (b = 5)", "1 = 1", "1 = 1.0", "1.0 = 1", "1 = 2147483648",
    "2147483648 = 1", "2147483648 = 2147483648.0", "'5' = 5", "5 = '5'", "'x' = 5", "'5' = '5'",
    "1 < 2", "1 < 2.5", "2.5 < 1", "2147483648 > 1", "a = 5 <> FALSE", "a > 5 = b > 5",
    # BETWEEN.
    "a BETWEEN 1 AND 5", "a BETWEEN 5 AND 1", "a BETWEEN 5 AND 5.0", "a BETWEEN 1.5 AND 12.5",
    "a NOT BETWEEN 1 AND 5", "a NOT BETWEEN 5 AND 1", "a BETWEEN -5 AND -10", "a BETWEEN b AND 9",
    "a BETWEEN 1 AND b", "a BETWEEN 'a' AND 'z'", "a BETWEEN 1 AND 'z'", "a BETWEEN NULL AND 5",
    "a BETWEEN TRUE AND 5", "a BETWEEN 1 AND 2147483648", "5 BETWEEN 1 AND a", "a BETWEEN 1 OR 5",
    "a BETWEEN 1 AND 5 AND b = 5", "a NOT BETWEEN b AND b", "-a BETWEEN 1 AND 5",
    "NOT a BETWEEN 1 AND 5", "NOT (a BETWEEN 1 AND 5)", "a BETWEEN 1 AND 5 = TRUE",
    # IN.
    "a IN ('5')", "a IN ('5', 'x')", "a NOT IN ('5', 'x')", "a IN ()", "a IN (5)", "a IN ('5',)",
    "a IN ('1','2','3','4','5','6')", "'x' IN ('x')", "(a) IN ('5')", "-a IN ('5')", "a IN '5'",
    "NOT a IN ('5')", "NOT (a IN ('5'))", "a IN ('5') = TRUE", "a IN ('5') IN ('5')",
    # Parts of text.
    "a CONTAINS 'x'", "a NOT CONTAINS 'x'", "a CONTAINS ''", "a NOT CONTAINS ''", "a CONTAINS 5",
    "a CONTAINS b", "5 CONTAINS '5'", "5 NOT CONTAINS '5'", "'xyz' CONTAINS 'y'",
    "a STARTSWITH '5'", "a NOT STARTSWITH '5'", "a ENDSWITH '5'", "a NOT ENDSWITH '5'",
    "a STARTSWITH ''", "b CONTAINS 'ß'", "a CONTAINS 'x' CONTAINS 'y'", "NOT a CONTAINS 'x'",
    "a CONTAINS 'x' = FALSE", "a contains '''s'", "(a = 5) CONTAINS 'x'",
    # Operators together.
    "a = 5 OR b = 5", "a = 5 AND b = 5", "a = 5 OR b > 5 AND a > 1", "(a = 5 OR b = 5) AND a > 1",
    "a = 'x' OR a > 1", "a > 1 OR a = 'x'", "a > 1 AND a = 'x'", "NOT a = 5", "NOT (a = 5)",
    "NOT NOT (a = 5)", "a = 5 and NOT (b = 5)", "a = 5 AND 5", "a = 5 OR 'x'", "5 AND a = 5",
    "nothing = 1 OR a = 5", "nothing = 1 AND a = 6", "(nothing = 1) = (a = 5)", "nothing = none",
    "nothing <> none", "a = nothing", "nothing = a", "a <> nothing", "nothing <> a",
    # Blanks, comments, case.
    "a=5", "a=5or(b=5)", "a\t=\n5\r\f", "a = 5 -- end", "a = 5 -- end\n AND b = 5", "-- x\na = 5",
    "/* x */ a /**/ = /***/ 5", "/* x", "a = 5 /* x", "a = 5 /*/", "a /= 5", "A = 5 Or NOT(a = 5)",
    "a iS nOt NuLl", "a BeTwEeN 1 aNd 5", "a = tRuE", "a\u00a0= 5", "a = 5 LIKE 'x'",
    "a LIKE 'x'", "a = 5 AND b LIKE 'x'", "a + 1 = 6", "a * 2 = 10", "a = 1 + 4", "a % 2 = 1",
]  # fmt: skip
WORDS = [
    *("a", "b", "nothing", "AND", "OR", "NOT", "NOT", "IN", "IS", "NULL", "BETWEEN", "TRUE"),
    *("FALSE", "CONTAINS", "STARTSWITH", "ENDSWITH", "=", "<>", "<", "<=", ">", ">=", "(", ")"),
    *("('x', '5')", "+", "-", "'x'", "'5'", "''", "5", "0", "5L", "1.5", "5e0", "3000000000"),
    *("a = 5", "b <> 'x'", "a > b", "(a = 5)", "IS NULL", "BETWEEN 1 AND 5"),
]


def test_every_expression_passes_and_refuses_what_stock_does(tmp_path):
    # Case C9.
    build()
    source = random.Random(92)
    made = [" ".join(source.choices(WORDS, k=source.randint(1, 9))) for _ in range(20_000)]
    expressions = [*EXPRESSIONS, *made]
    properties = [encode_properties(one) for one in PROPERTIES]

    theirs = asked_of_stock(expressions, properties, tmp_path)
    ours = [answer(expression, properties) for expression in expressions]

    different = [
        (expression, our, their)
        for expression, our, their in zip(expressions, ours, theirs, strict=True)
        if our != their
    ]
    assert different == []
    assert sum(their != "refused" for their in theirs) > 2_000


def asked_of_stock(expressions, properties, home):
    told = " ".join(one.hex() or "02" for one in properties)
    # An empty word would be lost among the blanks.
    lines = [f"{(expression or ' ').encode().hex()} {told}\n" for expression in expressions]
    answers = subprocess.run(
        [
            *("java", *jvm_options(BROKER), f"-Duser.home={home}", "-cp", class_path(BROKER)),
            "regent.interop.FilterOracle",
        ],
        input="".join(lines),
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    ).stdout
    return [
        line.removeprefix("answer ") for line in answers.splitlines() if line.startswith("answer ")
    ]


def answer(expression, properties):
    try:
        read = PropertyFilter(expression)
    except ValueError:
        return "refused"
    return "".join("y" if read.matches(one) else "n" for one in properties)
