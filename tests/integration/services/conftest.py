"""Controllers over a real database, each of a separate process."""

import pytest

from tests.integration.services.controller_driver import ControllerDriver


@pytest.fixture
def drive(database):
    """Give a way to make drivers, each of a separate process."""

    def make(database=database, **changes):
        return ControllerDriver(database, **changes)

    return make


@pytest.fixture
def controller(drive):
    return drive()
