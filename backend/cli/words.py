"""Take the names of an enumeration of the domain as the API writes them."""

from typing import Final

from cyclopts import Parameter

WORDS: Final = Parameter(name_transform=str.lower)
"""For enumerations whose values are the lower-case names of their members."""
