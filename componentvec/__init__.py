"""Labelled flat arrays: models with named, nested, partly shared parameters as one vector."""


from .conveniences import asdict, data, labels, layout
from .derivatives import grad, hessian, hvp, jacobian, value_and_grad
from .files import load, save
from .layouts import Layout
from .matrix import ComponentMatrix, outer
from .plot import plot_blocks, plot_components
from .quasi_newton import bfgs
from .restructure import Restructure, destructure, trainables
from .sequences import ComponentList
from .tree import buffer, register, static
from .vector import ComponentVector
