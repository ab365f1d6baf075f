"""Sphinx settings: Markdown pages by MyST, the API page from numpydoc docstrings."""

from importlib.metadata import version as installed_version

from docutils import nodes

project = "componentvec"
author = "componentvec contributors"
copyright = f"2026, {author}"
version = release = installed_version(project)

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]

myst_heading_anchors = 3  # a page may link to the headings of another

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
numpydoc_show_class_members = False  # autodoc lists them, with their docstrings
maximum_signature_line_length = 80

html_theme = "furo"
html_title = f"{project} {release}"
html_show_sphinx = False


def trim_code_blocks(app, doctree):
    """Drop the empty line that ends a doctest before its closing fence."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        if block.rawsource.rstrip() == text:
            block.rawsource = text
            block.children = []
            block += nodes.Text(text)


def setup(app):
    app.connect("doctree-read", trim_code_blocks)
