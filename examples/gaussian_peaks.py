"""Two peaks on a decaying background, fitted by name: the NIST dataset Gauss1.

NIST certifies values and standard deviations of the eight parameters to eleven digits.
"""

from pathlib import Path

import autograd.numpy as np

import componentvec as cv

DATA = Path(__file__).parent / "data" / "nist" / "Gauss1.dat"


def read(path):
    """The observations x and y, and rows of (first start, second start, value, deviation)."""
    lines = path.read_text(encoding="ascii").splitlines()
    parameters = [line.split("=")[1].split() for line in lines[40:48]]
    y, x = np.array([line.split() for line in lines[60:310]], dtype=float).T
    return x, y, np.array(parameters, dtype=float)


def named(b):
    """Eight numbers in NIST's order, by name: a background, and a list of peaks."""
    return cv.ComponentVector(
        background={"height": b[0], "rate": b[1]},
        peaks=[
            {"height": b[2], "center": b[3], "width": b[4]},
            {"height": b[5], "center": b[6], "width": b[7]},
        ],
    )


def curve(v, x):
    """The background, and a Gaussian for each peak."""
    y = v.background.height * np.exp(-v.background.rate * x)
    for peak in v.peaks:
        y = y + peak.height * np.exp(-(((x - peak.center) / peak.width) ** 2))
    return y


def residuals(v, x, y):
    """What is left of the observations, shape (250,)."""
    return curve(v, x) - y


def main():
    """Fit from both of NIST's starts, print the second fit, and return both."""
    x, y, table = read(DATA)
    certified, deviations = named(table[:, 2]), named(table[:, 3])
    fits = []
    for start in (named(table[:, 0]), named(table[:, 1])):
        fit = cv.least_squares(residuals, start, (x, y), xtol=1e-12, ftol=1e-12, gtol=1e-12)
        digits = [
            -np.log10(np.max(np.abs(found / wanted - 1)))
            for found, wanted in ((fit.x, certified), (fit.stderr, deviations))
        ]
        print(
            f"{fit.nfev} evaluations: values agree with NIST to {digits[0]:.1f} digits, "
            f"standard deviations to {digits[1]:.1f}"
        )
        fits.append(fit)
    print(cv.summary(fits[-1]))
    print("the peaks lie", fits[-1].x.peaks.center.round(2).tolist())
    return fits


if __name__ == "__main__":
    main()
