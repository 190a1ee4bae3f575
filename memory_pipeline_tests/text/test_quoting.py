"""Whatever a memory says, what is rendered of it shows its characters and does nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import markdown
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memory_pipeline.interfaces.cli.output import emit
from memory_pipeline.reporting.pages import _environment
from memory_pipeline.text.hidden import UNSEEN, hides_words, visible
from memory_pipeline.text.quoting import clipped, code, named, plain

#: Pieces of which live Markdown and HTML are made, to be put together in every way.
_PIECES = (
    "` `` ``` ~~~ [ ] ( ) [[ ]] ![ ](x) [x]: ][ < > <b> </q> <!-- --> & &lt; &#60; \\ \\\\ | # 1. - * _ ** === --- : !",
    "https://evil.example/a?b=c www.evil.example a@evil.example mailto:a@evil.example javascript:x <a@b.c> <https://e.x>",
    "\n \n\n \t \u202e \u200b \u2066 \ufeff \U000e0041 \x1b[31m \x00 \ud800 \u2028 \r word snake_case \n---\n \n\n#",
)
_MARKS = st.sampled_from([mark for pieces in _PIECES for mark in pieces.split(" ")] + [" ", "    ", "\n    ", "\n\n# "])
_TEXTS = st.one_of(st.lists(_MARKS, max_size=14).map("".join), st.text(max_size=60))

_COMMONMARK = MarkdownIt("commonmark")
_TABLES = MarkdownIt("commonmark").enable(["table", "strikethrough"])
ACTIVE = {"html_inline", "html_block", "link_open", "image", "fence", "code_block", "heading_open", "hr"}
ACTIVE |= {"ordered_list_open", "table_open"}


def every(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from every(token.children or [])


class Elements(HTMLParser):
    """The names of the elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_comment(self, data: str) -> None:
        self.names.append("!--")

    def handle_data(self, data: str) -> None:
        self.text += data


@given(_TEXTS)
@example("``` fence ```")
@example("[x]: https://evil.example")
@example("\\`code` and `more")
@example("a `b`https://evil.example`c`")
def test_nothing_of_a_memory_acts_in_markdown(text: str) -> None:
    line = plain(text)
    page = f"- before\n- {line}\n- after\n\n> {line}\n\nlast [x] [evil][x]\n"
    kinds = [token.type for token in every(_COMMONMARK.parse(page))]
    assert not ACTIVE & set(kinds)
    assert kinds.count("list_item_open") == 3 and kinds.count("blockquote_open") == 1
    assert "\n" not in line and not UNSEEN.search(line)


@given(_TEXTS)
def test_nothing_of_a_memory_leaves_its_cell(text: str) -> None:
    page = f"| a | b |\n|---|---|\n| {plain(text, in_table=True)} | {code(text)} |\n"
    kinds = [token.type for token in every(_TABLES.parse(page))]
    assert kinds.count("td_open") == 2 and kinds.count("tr_open") == 2
    assert not (ACTIVE - {"table_open"}) & set(kinds)


@given(_TEXTS)
def test_another_renderer_finds_nothing_either(text: str) -> None:
    page = markdown.markdown(f"> {plain(text)}\n\nFrom {code(text)}.")
    assert set(Elements(page).names) <= {"blockquote", "p", "code", "em", "strong"}


@given(_TEXTS)
def test_no_address_is_left_for_a_renderer_to_link(text: str) -> None:
    """Renderers link bare addresses in text; in code they do not."""
    tokens = every(_COMMONMARK.parse(f"> {plain(text)}\n"))
    said = " ".join(token.content for token in tokens if token.type == "text")
    assert not re.search(r"https?://\w|www\.\w|[\w.+-]+@\w+\.\w", said, re.IGNORECASE)


@settings(deadline=None)  # the first page loads the templates
@given(_TEXTS)
def test_html_shows_every_character_and_no_element_of_a_memory(text: str) -> None:
    words = _environment("html").get_template("words.html").module
    page = Elements(str(words.quote(text, text)))  # type: ignore[attr-defined]
    assert page.names == ["q", "bdi", "small"]
    assert page.text == f"{visible(text)} {visible(text)}"


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=60))
def test_a_reader_of_the_page_sees_the_words_of_the_memory(text: str) -> None:
    page = Elements(_COMMONMARK.render(f"> {plain(text)}\n")).text
    letters = re.compile(r"[^\w]|_")
    assert letters.sub("", page) == letters.sub("", " ".join(visible(text).split()))


@pytest.mark.parametrize(
    "text",
    [
        "Set MAX_RETRIES in config/settings_local.py, not in `app.toml`.",
        "C:\\Users\\dana and /var/log/nginx/*.log hold the traces",
        "**Always** run `make migrate && make deploy` first -> then tell #ops (see DEC-001).",
        "if a > b and x[1] == y{2}: return 5 % 3",
        "[CURATE] 14:30 UTC - R&D asked for 3 x 4 = 12 boxes; 100% agreed",
        "👨‍👩‍👧 می‌خواهم فردا ✔️ naïve façade",
    ],
)
def test_ordinary_notes_are_not_touched(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<img src=x onerror=go()>", "&lt;img src=x onerror=go()>"),
        ("![logo](https://evil.example/p.png)", "!\\[logo]\\(`https://evil.example/p.png`)"),
        ("see https://docs.example.org/a_b, then rest", "see `https://docs.example.org/a_b`, then rest"),
        ("1. first", "1\\. first"),
        ("# Heading\nand more", "\\# Heading and more"),
        ("use `<Suspense>` here", "use `<Suspense>` here"),
        ("use `<a href=x>` here", "use \\`&lt;a href=x>\\` here"),
        ("copy it to /srv/<name>/data if x < 3", "copy it to /srv/`<name>`/data if x < 3"),
        ("```\nrm -rf\n```", "``` rm -rf ```"),
        ("one ` only", "one \\` only"),
        ("&lt;b&gt; & co", "&amp;lt;b&amp;gt; & co"),
        ("\x1b[31mred\x1b[0m \u202edlrow", "[31mred[0m dlrow"),
        ("one <b>memory</b>", "one &lt;b>memory&lt;/b>"),
    ],
)
def test_what_would_act_is_shown(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_ids_and_sources_are_named_as_code() -> None:
    assert code("m-17") == "`m-17`"
    assert code("a`<b>") == "a\\``<b>`"
    assert named([f"m{n}" for n in range(7)]) == "`m0`, `m1`, `m2`, `m3`, `m4` and 2 more"
    assert clipped("one  two three", 9) == "one tw..."


def test_unseen_characters_are_told_from_those_that_a_script_needs() -> None:
    assert visible("pass\u200bword\ufeff\u00ad \u202eabc\u202c\U000e0041\r\nnext\x07") == "password abc\nnext"
    assert not hides_words(
        "می‌خواهم 👨‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 \u202a+41 79 555 01 02\u202c typo\u00adgraphy and so\u00adon for\u00adever"
    )
    assert hides_words("a calm\U000e0061 day") and hides_words("i\u200bg\u200bn\u200bore this")


def test_no_memory_steers_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    said = "\x1b]0;title\x07 red \x9b31m \u202eback\u202c"
    emit({"content": said}, as_json=False, text=said)
    emit({"content": said}, as_json=True, text=said)
    text, data = capsys.readouterr().out.splitlines()
    assert text == "]0;title red 31m back" and json.loads(data) == {"content": said}
    assert not UNSEEN.search(text + data)
