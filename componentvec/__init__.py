"""Labelled flat arrays: models with named, nested, partly shared parameters as one vector."""

from . import container_rules, packing, rules
from .conveniences import asdict, data, labels, layout
from .layouts import Layout
from .restructure import Restructure, destructure, trainables
from .sequences import ComponentList
from .tree import buffer, register, static
from .vector import ComponentVector
