"""Labelled flat arrays: models with named, nested, partly shared parameters as one vector."""

from . import packing, rules
from .conveniences import asdict, data, labels, layout
from .layouts import Layout
from .sequences import ComponentList
from .tree import buffer, register, static
from .vector import ComponentVector
