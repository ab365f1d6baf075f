"""Derivatives by central differences: right values that know nothing of rules."""

import numpy as np

import componentvec as cv

STEP = 1e-6


def plain(value):
    """A result as an array."""
    return np.asarray(cv.data(value) if isinstance(value, cv.ComponentVector) else value)


def along(f, x, direction):
    """The derivative of f(x), a number or an array, along a direction."""
    high, low = plain(f(x + STEP * direction)), plain(f(x - STEP * direction))
    return (high - low) / (2 * STEP)


def gradient(f, x):
    """The gradient of a real f at an array of one axis, real or complex as autograd has it."""
    units = np.eye(x.size)
    found = np.array([along(f, x, unit) for unit in units], dtype=float).reshape(x.size)
    if x.dtype.kind == "c":
        return found - 1j * np.array([along(f, x, 1j * unit) for unit in units])
    return found


def jacobian(f, x):
    """The Jacobian of an f with a result of any shape: entries of f by entries of x."""
    return np.stack([along(f, x, unit).reshape(-1) for unit in np.eye(x.size)], axis=1)


def on_vectors(f, layout):
    """The same function of the buffer."""
    return lambda x: f(layout.wrap(x))
