"""Every domain error is told at every door."""

import pytest

from backend.api.answers import ANSWERS as HTTP_ANSWERS
from backend.api.graphql.errors import CODES as GRAPHQL_CODES
from backend.api.stock_codes import STOCK_CODES
from backend.domain import errors
from backend.domain.errors import DomainError
from backend.nameserver.errors import ANSWERS as REMOTING_ANSWERS

# Modules of the project may define further classes; importing the doors has loaded them.


def every_error(base=DomainError):
    for kind in base.__subclasses__():
        yield kind
        yield from every_error(kind)


@pytest.mark.parametrize(
    "table", [HTTP_ANSWERS, GRAPHQL_CODES, REMOTING_ANSWERS], ids=["http", "graphql", "remoting"]
)
def test_every_domain_error_stands_in_the_table_of_every_door(table):
    assert [kind.__name__ for kind in every_error() if kind not in table] == []


def test_the_stock_codes_that_other_doors_tell_are_those_of_the_remoting_door():
    assert {kind: REMOTING_ANSWERS[kind] for kind in STOCK_CODES} == STOCK_CODES


def test_every_domain_error_has_a_code_of_its_own():
    codes = [kind.code for kind in every_error()]

    assert len(set(codes)) == len(codes)
    assert errors.DomainError.code not in codes
