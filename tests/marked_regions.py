"""Replace the text between two marks of a page."""


def rewritten_region(page: str, text: str, *, begin: str, end: str) -> str:
    """Give the page with another text between its marks."""
    before, _, rest = page.partition(begin)
    _, mark, after = rest.partition(end)
    assert mark, "the page has both marks"
    return f"{before}{begin}{text}{end}{after}"
