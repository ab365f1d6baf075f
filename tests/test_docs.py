"""The documentation as a whole: pages are reachable, links resolve, and nothing is left out."""

import re
from pathlib import Path

import pytest

import componentvec as cv

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
LANGUAGES = {"python", "sh", "text", "{toctree}", "{eval-rst}"}
SOURCES = ["README.md", *(f"docs/{name}" for name in PAGES)]


def text(name):
    """The text of a page, by its path from the root."""
    return (ROOT / name).read_text(encoding="utf-8")


def without_fences(page):
    """A page without its code."""
    return re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """What links may point to within a page: its headings, as MyST and GitHub name them."""
    headings = re.findall(r"^#{1,3} (.*)$", without_fences(page), flags=re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}


def fences(page):
    """Language and text of each block of code."""
    return re.findall(r"^```(\S*)\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)


def test_every_page_is_in_the_table_of_contents():
    """The trees on the index page name all other pages once."""
    trees = [body for kind, body in fences(text("docs/index.md")) if kind == "{toctree}"]
    lines = [line for tree in trees for line in tree.splitlines()]
    listed = [f"{line}.md" for line in lines if re.fullmatch(r"[\w-]+", line)]
    assert sorted(listed) == sorted(set(PAGES) - {"index.md"})


@pytest.mark.parametrize("name", SOURCES)
def test_links_between_pages_resolve(name):
    """Each relative link leads to a file, and to a heading of it."""
    page = text(name)
    for target in re.findall(r"\]\(([^)\s]+)\)", without_fences(page)):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        path = (ROOT / name).parent / file if file else ROOT / name
        assert path.is_file(), f"{name} links to {target}"
        if anchor:
            assert anchor in anchors(path.read_text(encoding="utf-8")), f"{name} links to {target}"


@pytest.mark.parametrize("name", SOURCES)
def test_every_snippet_of_python_is_a_doctest(name):
    """A snippet that does not run is a promise that nobody keeps."""
    for language, body in fences(text(name)):
        assert language in LANGUAGES, f"{name}: ```{language}"
        if language == "python":
            assert body.startswith(">>> ")
            ends_with_output = not body.rstrip("\n").rsplit("\n", 1)[-1].startswith((">>>", "..."))
            assert not ends_with_output or body.endswith("\n\n"), f"{name}:\n{body}"


@pytest.mark.parametrize("name", SOURCES)
def test_a_page_has_one_title_and_opens_with_it(name):
    """So that every page has its name in the table of contents."""
    page = without_fences(text(name))
    assert page.startswith("# ") and len(re.findall(r"^# ", page, re.MULTILINE)) == 1


def test_every_public_name_is_on_the_api_page():
    """And nothing else is."""
    listed = re.findall(r"^\.\. auto(?:class|function):: (\w+)$", text("docs/api.md"), re.MULTILINE)
    assert sorted(listed) == sorted(cv.__all__)


def test_every_module_is_in_the_table_of_contributing():
    """Whoever wants to change something finds where: each module stands there once."""
    table = re.findall(r"^\| .* \| (.*) \|$", text("docs/contributing.md"), re.MULTILINE)
    named = re.findall(r"`(\w+\.py)`", " ".join(table))
    assert sorted(named) == sorted(path.name for path in (ROOT / "componentvec").glob("*.py"))


def test_contributing_opens_with_what_to_edit():
    """The table is the first thing on the page."""
    sections = re.findall(r"^## (.*)$", text("docs/contributing.md"), re.MULTILINE)
    assert sections[0] == "To change X, edit Y"


def test_the_readme_sets_up_in_two_commands():
    """Each fence of the start is one line, which does everything."""
    start = re.search(r"^## Start$(.*?)^## ", text("README.md"), re.MULTILINE | re.DOTALL)
    commands = [body.strip() for language, body in fences(start[1]) if language == "sh"]
    assert len(commands) == 2 and all("\n" not in command for command in commands)
    assert "pytest" in commands[1]
    for path in re.findall(r"\S+\.py\b", commands[0]):
        assert (ROOT / path).is_file()


def test_the_changelog_has_the_version():
    """The version of the package has its entry."""
    version = re.search(r"^version = (\S+)$", text("setup.cfg"), re.MULTILINE)[1]
    assert f"\n## {version}" in text("docs/changelog.md")
