"""A kind answers what the tables of the doors answer for each class."""

import inspect

import pytest

from backend.api import answers, stock_codes
from backend.api.graphql import errors as graphql_errors
from backend.domain import errors, operation_errors
from backend.nameserver import errors as remoting_errors
from backend.services.stock_codes import STOCK_CODES, find_controller_code
from tests.unit.domain.test_errors import every_error

CLASSES = list(every_error())
# Only the requests of other doors raise these; remoting answers SYSTEM_ERROR for an unlisted class.
REMOTING_RAISES = set(STOCK_CODES) | {errors.BrokerGroupAmbiguous, errors.RegistrationRefused}


def sample(one):
    arguments = {}
    for name, parameter in inspect.signature(one).parameters.items():
        is_number = str(parameter.annotation) in {"<class 'int'>", "int | None"}
        arguments[name] = 7 if is_number else "x"
    try:
        return one(**arguments)
    except TypeError:
        return one(*arguments.values())


@pytest.mark.parametrize("one", CLASSES)
def test_each_kind_answers_what_the_tables_say(one):
    assert answers.STATUSES[one.kind] == answers.ANSWERS[one]
    assert graphql_errors.KIND_CODES[one.kind] == graphql_errors.CODES[one]
    if one in REMOTING_RAISES:
        assert STOCK_CODES.get(one, 1) == remoting_errors.ANSWERS[one]


def test_the_doors_show_the_same_stock_codes():
    only_brokers = {
        errors.BrokerIdRefused,
        errors.AdoptionAwaited,
        errors.AlterSyncStateSetRefused,
        errors.NotTheMaster,
        errors.MasterEpochFenced,
        errors.SyncStateSetEpochFenced,
        errors.BrokerNotAlive,
    }
    shown = {one: find_controller_code(sample(one)) for one in set(CLASSES) - only_brokers}

    assert {one: code for one, code in shown.items() if code} == stock_codes.STOCK_CODES


@pytest.mark.parametrize("one", CLASSES)
def test_the_facts_are_the_same(one):
    error = sample(one)
    facts = error.facts
    code = find_controller_code(error)
    if code is not None and one in stock_codes.STOCK_CODES:
        facts = {"stock_code": code, **facts}

    assert facts == stock_codes.error_facts(error)
    assert list(facts) == list(stock_codes.error_facts(error))


def test_a_blocked_plan_shows_its_stock_code_if_it_has_one():
    for code in (None, 2012):
        error = operation_errors.PlanBlocked("lease", "why", stock_code=code)
        assert error.facts == stock_codes.error_facts(error)
