"""Vectors of every kind that derivatives are tested on."""

import numpy as np

import componentvec as cv

#: entries of `ordinary` and of `hostile`
SIZE = 15


def ordinary():
    """A vector with groups and a sequence."""
    return cv.ComponentVector(
        a=0.7,
        b=[1.3, 0.4, 0.9],
        c=[[0.55, 1.2], [0.3, 1.1]],
        g={"x": 0.6, "y": [1.4, 0.8]},
        layers=[{"w": [0.2, 1.6]}, {"w": [0.35, 0.45]}],
    )


def hostile():
    """The same numbers, under names that arrays have for other things."""
    return cv.ComponentVector(
        {
            "shape": 0.7,
            "T": [1.3, 0.4, 0.9],
            "dtype": [[0.55, 1.2], [0.3, 1.1]],
            "ndim": {"size": 0.6, "mean": [1.4, 0.8]},
            "copy": [{"layout": [0.2, 1.6]}, {"layout": [0.35, 0.45]}],
        }
    )


def tied():
    """A vector whose leaves are read from one owner in many ways."""
    w = np.array([[0.3, 1.2, 0.5], [0.9, 0.4, 1.1]])
    views = {"same": w, "T": w.T, "row": w[1], "column": w[:, 1], "every": w[:, ::2]}
    views |= {"reversed": w[::-1], "flat": w.reshape(-1), "corner": w[1:, 2:]}
    return cv.destructure({"w": w, "other": np.array([0.8, 0.6]), **views})[0]


def paired():
    """A real vector with complex components, two of them tied."""
    z = np.array([[1.3 + 0.4j, 0.9 - 0.3j]])
    return cv.destructure({"a": np.array([0.7]), "z": z, "T": z.T, "w": np.array(0.3 + 0.5j)})[0]


def all_complex():
    """A complex vector."""
    return cv.ComponentVector(a=0.7 + 0.2j, z=[1.3 + 0.4j, 0.9 - 0.3j])
