"""Every finding has a runbook, and every variable of retention stands where it is explained."""

from pathlib import Path

from backend.domain.finding import RUNBOOKS, FindingCode
from backend.domain.maintenance import PERIODIC_TASKS
from backend.settings import WorkerSettings

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "maintenance.md").read_text()


def test_every_finding_has_a_runbook_on_the_page_and_in_the_answer():
    assert {code for code in FindingCode if f"\n### {code}\n" not in PAGE} == set()
    assert set(RUNBOOKS) == set(FindingCode)


def test_every_periodic_task_and_every_bound_stand_on_the_page():
    names = {name for name in WorkerSettings.model_fields if "_kept_" in name}

    assert {name for name in PERIODIC_TASKS if f"`{name}`" not in PAGE} == set()
    assert {name for name in names if f"`REGENT_{name.upper()}`" not in PAGE} == set()
    assert len(names) > 5
