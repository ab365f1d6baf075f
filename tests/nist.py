"""Five NIST Statistical Reference Datasets for nonlinear regression, as the `.dat` files give them.

The formats and models are those of the files themselves (NIST/ITL StRD): line ranges of the
blocks stand in the header, the model in the text above the starting values.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import autograd.numpy as np

DIRECTORY = Path(__file__).parent.parent / "examples" / "data" / "nist"


def gauss1(b, x):
    """Two Gaussians on a decaying exponential; b has shape (8,), x and the result (250,)."""
    peaks = b[2] * np.exp(-((x - b[3]) ** 2) / b[4] ** 2) + b[5] * np.exp(
        -((x - b[6]) ** 2) / b[7] ** 2
    )
    return b[0] * np.exp(-b[1] * x) + peaks


def cubic_by_cubic(b, x):
    """Rational function of Hahn1 and Thurber; b has shape (7,)."""
    numerator = b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3
    return numerator / (1 + b[4] * x + b[5] * x**2 + b[6] * x**3)


def mgh17(b, x):
    """Constant and two exponentials; b has shape (5,)."""
    return b[0] + b[1] * np.exp(-x * b[3]) + b[2] * np.exp(-x * b[4])


def misra1a(b, x):
    """Saturating exponential; b has shape (2,)."""
    return b[0] * (1 - np.exp(-b[1] * x))


MODELS = {
    "Gauss1": gauss1,
    "Hahn1": cubic_by_cubic,
    "MGH17": mgh17,
    "Misra1a": misra1a,
    "Thurber": cubic_by_cubic,
}


@dataclass(frozen=True)
class Dataset:
    """One problem: data, starts and the values that NIST certifies to eleven digits."""

    name: str
    model: Callable  # model(b, x), traceable by autograd
    x: np.ndarray  # (observations,)
    y: np.ndarray  # (observations,)
    starts: tuple[np.ndarray, np.ndarray]  # the far and the near one, each (parameters,)
    certified: np.ndarray  # (parameters,)
    stderr: np.ndarray  # (parameters,)
    rss: float  # residual sum of squares at `certified`


def read(name):
    """Read the dataset called `name`, one of `MODELS`.

    >>> misra = read("Misra1a")
    >>> misra.x.shape, misra.certified.tolist()
    ((14,), [238.94212918, 0.00055015643181])
    """
    lines = (DIRECTORY / f"{name}.dat").read_text(encoding="ascii").splitlines()
    header = "\n".join(lines[:10])

    def block(title):
        first, last = re.search(rf"{title}\s+\(lines\s+(\d+)\s+to\s+(\d+)\)", header).groups()
        return lines[int(first) - 1 : int(last)]

    # "b1 = start1 start2 certified deviation"
    parameters = np.array(
        [[float(word) for word in line.split("=")[1].split()] for line in block("Starting Values")]
    )
    data = np.array([[float(word) for word in line.split()] for line in block("Data")])
    (rss,) = (
        float(line.split(":")[1])
        for line in block("Certified Values")
        if line.startswith("Residual Sum of Squares:")
    )
    return Dataset(
        name=name,
        model=MODELS[name],
        x=data[:, 1],
        y=data[:, 0],
        starts=(parameters[:, 0], parameters[:, 1]),
        certified=parameters[:, 2],
        stderr=parameters[:, 3],
        rss=rss,
    )
