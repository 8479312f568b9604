"""In which order tests are given to the processes of a run."""

from dataclasses import dataclass

from tests.by_files import bring_together


@dataclass
class Item:
    nodeid: str


def ordered(*nodeids):
    items = [Item(nodeid) for nodeid in nodeids]
    bring_together(items)
    return [item.nodeid for item in items]


def test_tests_with_one_spark_driver_come_before_all_others():
    api, job = "tests/integration/api/test_rest.py", "tests/integration/capacity/test_job.py"
    disks = "tests/integration/capacity/test_disks.py"

    found = ordered(f"{api}::a", f"{disks}::b", f"{job}::c", f"{api}::d")

    assert found == [f"{disks}::b", f"{job}::c", f"{api}::a", f"{api}::d"]


def test_files_that_share_a_cluster_are_neighbours_where_the_first_of_them_is():
    up, alone = "tests/system/test_up.py", "tests/interop/test_timers.py"
    pages = "tests/system/browser/test_pages.py"

    found = ordered(f"{up}::a", f"{alone}::b", f"{pages}::c")

    assert found == [f"{pages}::c", f"{up}::a", f"{alone}::b"]
