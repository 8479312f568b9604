"""Which of a store's disks is the fuller one."""

from pathlib import Path

import pytest

from workers.broker.configuration.settings import parse_settings
from workers.broker.metrics import resources
from workers.broker.metrics.resources import Disk, store_disks_of

ROOT, LOG = Path("/store"), Path("/log")


@pytest.fixture
def used(monkeypatch):
    used = {ROOT: 10, LOG: 10}
    monkeypatch.setattr(resources, "disk_of", lambda path: disk(path, used[path]))
    return used


def settings(**properties):
    return parse_settings({"storePathRootDir": str(ROOT), **properties}).settings


def disk(path, used_percent):
    return Disk(
        path=path,
        total_bytes=1000,
        used_bytes=used_percent * 10,
        free_bytes=1000 - used_percent * 10,
    )


@pytest.mark.parametrize(
    ("root_percent", "log_percent", "fuller"), [(20, 10, ROOT), (10, 20, LOG), (0, 100, LOG)]
)
def test_of_two_disks_the_fuller_one_is_taken(used, root_percent, log_percent, fuller):
    used.update({ROOT: root_percent, LOG: log_percent})

    disks = store_disks_of(settings(storePathCommitLog=str(LOG)))

    assert (disks.queues.path, disks.log.path) == (ROOT, LOG)
    assert disks.fuller.path == fuller


def test_a_log_beside_the_queues_is_on_their_disk(used):
    disks = store_disks_of(settings())

    assert disks.log == disks.queues == disks.fuller == disk(ROOT, used[ROOT])
