"""Where the logs of a group differ."""

import pytest

from backend.domain.epochs import EpochSpan, LogHistory, find_disagreement


def history(*starts):
    return LogHistory(tuple(EpochSpan(n, at, None) for n, at in starts), 1_000)


@pytest.mark.parametrize(
    ("histories", "epoch"),
    [
        ([], None),
        ([history((1, 0))], None),
        ([history((1, 0), (2, 50)), history((1, 0))], None),
        ([history((1, 0), (2, 50)), history((1, 0), (2, 50))], None),
        ([history((1, 0), (2, 50), (3, 60)), history((1, 0), (2, 40), (3, 70))], 2),
    ],
)
def test_the_first_epoch_that_began_elsewhere_is_found(histories, epoch):
    assert find_disagreement(dict(enumerate(histories))) == epoch
