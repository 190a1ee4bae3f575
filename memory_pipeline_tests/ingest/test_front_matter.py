"""Front matter is read as YAML, and line by line where it is not quite YAML."""

from __future__ import annotations

import pytest

from memory_pipeline.ingest.markdown import split_front_matter


def test_fields_body_and_first_line() -> None:
    page = split_front_matter("---\nname: a\nmetadata:\n  type: user\ndescription: >\n  two\n  lines\n---\n\nBody\n")
    assert page is not None and (page.body, page.first_line) == ("\nBody\n", 9)
    assert page.fields == {"name": "a", "metadata": {"type": "user"}, "description": "two lines"}


@pytest.mark.parametrize(
    "text", ["no front matter", "---\nwithout an end", "", "---x\na: 1\n---\n", "---\n" + "a\n" * 300]
)
def test_a_text_without_front_matter_has_none(text: str) -> None:
    assert split_front_matter(text) is None


@pytest.mark.parametrize(
    ("head", "fields"),
    [
        (
            "description: Note: the board\nmetadata:\n  type: user",
            {"description": "Note: the board", "metadata": {"type": "user"}},
        ),
        ("date: 2026-02-30", {"date": "2026-02-30"}),
        ("- a\n- b", {}),
        ("name: [", {"name": "["}),
        ("1: x", {"1": "x"}),
        ("name: !!python/object:os.system x", {"name": "!!python/object:os.system x"}),
    ],
)
def test_what_is_not_quite_yaml_is_read_line_by_line(head: str, fields: dict[str, object]) -> None:
    page = split_front_matter(f"---\n{head}\n---\nBody")
    assert page is not None and (page.fields, page.body) == (fields, "Body")


def test_fields_that_stand_for_others_do_not_fill_the_memory() -> None:
    doubled = "\n".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 60))
    page = split_front_matter(f"---\nname: x\na0: &a0 {{k: v}}\n{doubled}\n---\nBody")
    assert page is not None and page.fields["name"] == "x"
