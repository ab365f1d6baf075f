"""Labelled flat arrays: models with named, nested, partly shared parameters as one vector."""

from .conveniences import asdict, data, labels, layout
from .derivatives import grad, hessian, hvp, jacobian, value_and_grad
from .files import load, save
from .fitting import covariance, least_squares
from .layouts import Layout
from .matrix import ComponentMatrix, outer
from .ode import solve_ivp
from .packing import merge
from .plot import plot_blocks, plot_components
from .quasi_newton import bfgs
from .restructure import Restructure, destructure, trainables
from .roots import root
from .sequences import ComponentList
from .solve import minimize
from .summaries import summary
from .tree import buffer, register, static
from .vector import ComponentVector

__all__ = [
    "ComponentList",
    "ComponentMatrix",
    "ComponentVector",
    "Layout",
    "Restructure",
    "asdict",
    "bfgs",
    "buffer",
    "covariance",
    "data",
    "destructure",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "labels",
    "layout",
    "least_squares",
    "load",
    "merge",
    "minimize",
    "outer",
    "plot_blocks",
    "plot_components",
    "register",
    "root",
    "save",
    "solve_ivp",
    "static",
    "summary",
    "trainables",
    "value_and_grad",
]
