"""The package as a whole: order of modules, public names, and what they say of themselves."""

import ast
import doctest
import inspect
import re
import sys
from pathlib import Path

import pytest

import componentvec as cv

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "componentvec"

#: from the ground up, as docs/contributing.md has it: each module imports only from those before it
ORDER = re.findall(r"`(\w+)\.py` \|", (ROOT / "docs" / "contributing.md").read_text())


def modules():
    """Names of the package's modules."""
    return sorted(path.stem for path in PACKAGE.glob("*.py"))


def imported(module):
    """Modules of the package that a module imports, wherever in it."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            found |= {node.module} if node.module else {alias.name for alias in node.names}
    return found


def test_every_module_has_its_place():
    """The table names each module of the package once."""
    assert sorted(ORDER) == modules()


@pytest.mark.parametrize("module", ORDER)
def test_a_module_imports_only_from_those_above_it(module):
    """No cycles, and nothing reaches up."""
    assert imported(module) <= set(ORDER[: ORDER.index(module)])


def test_run_time_dependencies_are_numpy_scipy_and_autograd():
    """Nothing else is imported outside the plot extra."""
    outside = set()
    for module in modules():
        for node in ast.walk(ast.parse((PACKAGE / f"{module}.py").read_text())):
            if isinstance(node, ast.Import):
                outside |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                outside.add(node.module.split(".")[0])
    assert outside - set(sys.stdlib_module_names) == {"numpy", "scipy", "autograd", "matplotlib"}


def test_calculus_is_known_to_few():
    """No module below the spaces of gradients imports autograd."""
    for module in ORDER[: ORDER.index("spaces")]:
        for node in ast.walk(ast.parse((PACKAGE / f"{module}.py").read_text())):
            if isinstance(node, ast.ImportFrom | ast.Import):
                assert "autograd" not in ast.unparse(node)


def test_all_is_the_whole_public_surface():
    """`__all__` is sorted and complete: every public name that is no module."""
    names = [
        name
        for name, value in vars(cv).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    ]
    assert sorted(cv.__all__) == sorted(names)


@pytest.mark.parametrize("name", cv.__all__)
def test_a_public_name_is_documented(name):
    """A docstring with a summary line and an example, and hints on all parameters."""
    value = getattr(cv, name)
    text = inspect.getdoc(value)
    assert text and text.splitlines()[0].endswith((".", ":"))
    assert doctest.DocTestParser().get_examples(text), f"{name} has no example"
    if inspect.isfunction(value):
        hints = inspect.signature(value)
        assert hints.return_annotation is not inspect.Signature.empty
        assert all(p.annotation is not p.empty for p in hints.parameters.values())


def test_the_top_level_is_fixed():
    """Nothing stands beside what was agreed."""
    tracked = {
        "setup.cfg", "pyproject.toml", "README.md", "LICENSE", "componentvec", "tests", "docs",
        "examples", ".ci", ".gitignore",
    }  # fmt: skip
    made = {".git", ".venv", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache"}
    made |= {"build", "dist", "componentvec.egg-info", ".coverage", "__pycache__"}
    found = {path.name for path in ROOT.iterdir()}
    assert tracked <= found
    assert found <= tracked | made
