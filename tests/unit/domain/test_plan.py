import ast
import inspect
import sys
import textwrap

import pytest

from backend.domain.plan import Plan, Risk, no_undo
from backend.operations.engine.known_kinds import KINDS


def plan_of(risk, way_back):
    return Plan(summary="It changes", risk=risk, steps=(), way_back=way_back)


@pytest.mark.parametrize(
    ("risk", "way_back", "label"),
    [
        (Risk.SMALL, "Lift it", "small, reversible"),
        (Risk.SMALL, no_undo("it is gone"), "small, can't be undone"),
        (Risk.SERVICE, "Uncordon it", "affects service, reversible"),
        (Risk.SERVICE, no_undo("it is gone"), "affects service, can't be undone"),
        (Risk.SERVICE, "", "affects service, can't be undone"),
        (Risk.SERVICE, "Nonetheless it can be set again", "affects service, reversible"),
        (Risk.LOSS, "Create it again", "may lose data"),
        (Risk.LOSS, no_undo("it is gone"), "may lose data, can't be undone"),
    ],
)
def test_the_label_of_a_risk_follows_the_undo(risk, way_back, label):
    # Case B15.
    assert plan_of(risk, way_back).risk_label == label


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_kind_that_refuses_every_undo_promises_none(name):
    # Case B15: an undo that only raises is a plan without an undo. Or the undo is another order or
    # act, which the plan then names.
    kind = KINDS[name]
    body = ast.parse(textwrap.dedent(inspect.getsource(kind.actions[0].undo))).body[0].body
    refuses = isinstance(body[-1], ast.Raise) and len(body) == 2
    source = inspect.getsource(sys.modules[kind.preview.__module__])
    other_ways = {"forget_broker": "Start it: ", "uncordon_broker": "Cordon it"}

    assert not refuses or "way_back=no_undo(" in source or other_ways[name] in source
    assert 'way_back="None' not in source
