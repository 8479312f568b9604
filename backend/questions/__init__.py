"""List what can be asked: each module of this package holds the questions about one noun."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from backend.questions.question import Question


@cache
def list_questions() -> tuple[Question, ...]:
    """List all questions, by module and in the order of its lines."""
    modules = (import_module(f"{__name__}.{info.name}") for info in iter_modules(__path__))
    return tuple(
        one for module in modules for one in vars(module).values() if isinstance(one, Question)
    )
