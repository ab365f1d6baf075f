"""What solving by name costs: against the same calls of SciPy, written by hand.

Run it as ``python tests/benchmarks/run.py solvers``. Figures are ratios of processor times, each
the median over rounds in which the things compared take turns.
"""

import importlib.util
import statistics
import time
from pathlib import Path

import autograd
import autograd.numpy as np
from scipy.optimize import minimize

import componentvec as cv

ROUNDS, REPEATS = 9, 5
SCIPY_STEPS, OUR_STEPS = (1, 3), (2, 22)  # iterations whose difference in time is taken
AUTOENCODER = Path(__file__).resolve().parents[2] / "examples" / "digits_autoencoder.py"

TIMES = np.linspace(0, 3, 40)
NAMES = ("height", "rate", "swing", "pitch", "phase", "shift", "slope", "bend", "echo", "lag")
TRUE = (2.0, 0.8, 0.5, 4.0, 0.3, 0.2, -0.4, 0.1, 0.3, 1.2)


def curve(height, rate, swing, pitch, phase, shift, slope, bend, echo, lag):
    """A decay, an oscillation, a trend and an echo: ten numbers."""
    return (
        height * np.exp(-rate * TIMES)
        + swing * np.sin(pitch * TIMES + phase)
        + (shift + slope * TIMES + bend * TIMES**2)
        + echo * np.exp(-((TIMES - lag) ** 2))
    )


OBSERVED = curve(*TRUE) + 0.01 * np.cos(17 * TIMES)


def loss_by_name(v):
    """Mean square of what ten named scalars leave over."""
    fitted = curve(
        v.height, v.rate, v.swing, v.pitch, v.phase, v.shift, v.slope, v.bend, v.echo, v.lag
    )
    return np.mean((fitted - OBSERVED) ** 2)


def loss_by_hand(x):
    """The same of an array."""
    fitted = curve(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9])
    return np.mean((fitted - OBSERVED) ** 2)


def rows():
    """All figures, as (figure, measured, target)."""
    return [
        ("minimize / by hand, L-BFGS-B, 10 named scalars", ten_scalars(), "<= 1.25"),
        ("SciPy's BFGS / minimize, an iteration, autoencoder", autoencoder(), ">= 10"),
    ]


def ten_scalars():
    """Time of `cv.minimize` in times of the hand-written call with the same autograd loss."""
    x0 = 0.9 * np.array(TRUE)
    start = cv.ComponentVector(dict(zip(NAMES, x0, strict=True)))
    both = autograd.value_and_grad(loss_by_hand)

    def by_hand():
        return minimize(both, x0, jac=True, method="L-BFGS-B", options={"maxiter": 30})

    def by_name():
        return cv.minimize(loss_by_name, start, method="L-BFGS-B", options={"maxiter": 30})

    assert by_name().nfev == by_hand().nfev
    return statistics.median(seconds(by_name) / seconds(by_hand) for _ in range(ROUNDS))


def autoencoder():
    """Time of an iteration of SciPy's BFGS in those of `cv.minimize`, for the main example."""
    spec = importlib.util.spec_from_file_location("digits_autoencoder", AUTOENCODER)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    images = np.load(example.DATA)["images"] / 16.0
    w = np.random.default_rng(0).normal(size=(64, 32)) / 8
    start = example.Autoencoder(
        example.Dense(w, np.zeros(32)), example.Dense(w.T, images.mean(axis=0))
    )
    vector, restructure = cv.destructure(start)
    value_and_gradient = cv.value_and_grad(lambda v: example.loss(restructure(v), images))

    def flat(x):
        value, gradient = value_and_gradient(vector.layout.wrap(x))
        return value, cv.data(gradient)

    def scipys(steps):
        options = {"maxiter": steps}
        return minimize(flat, cv.data(vector), jac=True, method="BFGS", options=options)

    def ours(steps):
        return cv.minimize(example.loss, start, images, options={"maxiter": steps})

    return statistics.median(
        iteration(scipys, SCIPY_STEPS) / iteration(ours, OUR_STEPS) for _ in range(3)
    )


def seconds(function):
    """Processor time of a few calls."""
    began = time.process_time()
    for _ in range(REPEATS):
        function()
    return time.process_time() - began


def iteration(fit, steps):
    """Processor time of an iteration, without the start and end of a run."""
    times = []
    for count in steps:
        began = time.process_time()
        assert fit(count).nit == count
        times.append(time.process_time() - began)
    return (times[1] - times[0]) / (steps[1] - steps[0])
