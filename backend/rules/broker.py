"""Say which id the master of a broker group has, in routes and in its settings."""

from typing import Final

MASTER_ID: Final = 0
