"""A result that can't be written, since its disk is full or nothing was opened for it."""

import json
import os
import subprocess
import sys
from itertools import product

import pytest

from tests.long_form import few
from tests.unit.cli.test_app import PLANNED, REGENT, control

__all__ = ["control"]
ORDER = ("topic", "create", "orders", "--cluster", "c", "--yes", "--reason", "x", "--accept-loss")
FORMS = ("table", "json", "yaml")


def run_redirected(redirection, *arguments, url="http://127.0.0.1:1"):
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, *REGENT, *arguments],
        capture_output=True,
        env={**os.environ, "REGENT_URL": url, "REGENT_TOKEN": "t"},
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("form", few(FORMS, 1))
def test_what_only_looks_fails_and_says_why_where_its_result_is_lost(control, form):
    _, url = control

    ended = run_redirected(">/dev/full", "operation", "list", "-o", form, url=url)

    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert "error: the result can't be written" in ended.stderr
    assert "No space left" in ended.stderr


@pytest.mark.parametrize(("redirection", "form"), few(product([">/dev/full", ">&-"], FORMS), 3))
def test_an_order_is_carried_out_where_its_result_is_lost(control, form, redirection):
    handler, url = control

    ended = run_redirected(redirection, *ORDER, "-o", form, url=url)

    assert ended.returncode == 0, ended.stderr
    assert handler.asked[-1][0].endswith(f"/operations/{PLANNED['id']}/confirm")
    assert ("can't be written" in ended.stderr) == (redirection == ">/dev/full")


def test_errors_never_stand_among_the_result(control):
    _, url = control

    refused = run_redirected("2>&-", "operation", "list", "-o", "nonsense", url=url)
    reported = run_redirected("2>&-", "operation", "list", "-o", "json", url=url)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert [one["id"] for one in json.loads(reported.stdout)] == [PLANNED["id"]]
