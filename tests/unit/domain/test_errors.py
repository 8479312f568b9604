"""Each domain error has a code and a kind, and each door answers every kind."""

import pytest

from backend.api.answers import STATUSES
from backend.api.graphql.errors import CODES
from backend.domain.errors import DomainError, ErrorKind
from tests.domain_errors import every_error


@pytest.mark.parametrize("answers", [STATUSES, CODES], ids=["http", "graphql"])
def test_each_door_answers_every_kind(answers):
    assert set(answers) == set(ErrorKind)


def test_every_domain_error_has_a_distinct_code():
    codes = [one.code for one in every_error()]

    assert len(set(codes)) == len(codes)
    assert DomainError.code not in codes


def test_an_error_without_a_kind_cannot_be_defined():
    with pytest.raises(TypeError, match="kind"):
        # What Python calls for each new class: no half-made class stays behind for other tests.
        DomainError.__init_subclass__()
