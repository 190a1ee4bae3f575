"""The sources of patterns: a quantifier is one, whether its string is formatted or not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import memory_pipeline

PACKAGE = Path(memory_pipeline.__file__).parent
_DOUBLED = re.compile(r"\{\{\d*(?:,\d*)?\}\}")
#: Without it a source has nothing of what is looked for, and need not be parsed.
_BRACES = re.compile(r"\{\s*\d|\{\{")


def mistaken(source: str) -> Iterator[int]:
    """The lines in which a formatted string has `{2,60}`, which is a pair of numbers there, or another one has
    `{{2,60}}`, which are braces there."""
    if not _BRACES.search(source):
        return
    tree = ast.parse(source)
    formatted = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    parts = {id(part) for node in formatted for part in node.values}
    for node in formatted:
        for part in node.values:
            value = part.value if isinstance(part, ast.FormattedValue) else None
            numbers = value.elts if isinstance(value, ast.Tuple) else [value]
            if all(isinstance(one, ast.Constant) and isinstance(one.value, int) for one in numbers):
                yield part.lineno
    for node in ast.walk(tree):
        is_plain = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts
        if is_plain and _DOUBLED.search(node.value):
            yield node.lineno


def test_no_quantifier_is_an_expression_or_mere_braces() -> None:
    found = [f"{path.name}:{n}" for path in PACKAGE.rglob("*.py") for n in mistaken(path.read_text("utf-8"))]
    assert found == []


def test_a_mistaken_quantifier_is_found() -> None:
    assert list(mistaken('A = 1\nB = rf"a{2, 60}{A}"\n')) == [2]
    assert list(mistaken('B = rf"a{3}"\n')) == [1]
    assert list(mistaken('B = r"a{{2,60}}"\n')) == [1]
    assert list(mistaken('A = 1\nB = rf"a{{2,60}}{A}"\nC = r"a{2,60}"\n')) == []
