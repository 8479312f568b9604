"""The index of docs/spec names every number that the pages define."""

from tests.spec_index import FAMILIES, PAGE, Family, definitions, numbers, rewritten

PAGE_OF_NUMBERS = """
## 1. First
| # | given | event |
|---|---|---|
| S1 | `a \\| b` | 0 | x |
* **S2 Two.** More of it.
### S3 Three [here](decisions.md)
| S1 | again | |
```
| S4 | code | |
```
## 2. Second
| S5 | elsewhere | |
"""


def test_the_index_is_up_to_date():
    page = PAGE.read_text()

    assert page == rewritten(page), "run make spec-index"


def test_every_family_of_numbers_is_whole():
    """Numbers follow one another: a row that the index does not read leaves a gap."""
    gaps = []
    for family in FAMILIES:
        own = [one.number for one in numbers() if one.family is family]
        counted = {int("".join(filter(str.isdigit, number)) or 0) for number in own}
        if any(counted) and counted != set(range(min(counted), max(counted) + 1)):
            gaps.append(family)

    assert gaps == []


def test_a_number_is_read_from_rows_items_and_headings_of_its_section():
    family = Family("S", "decisions.md", "scenarios", "1", cells=2)

    found = list(definitions(PAGE_OF_NUMBERS, (family,)))

    assert [(one.number, one.meaning) for one in found] == [
        ("S1", r"`a \| b`: 0"),
        ("S2", "Two"),
        ("S3", "Three here"),
    ]
    assert found[0].heading.anchor == "1-first"
