"""What an iteration of the rank-two BFGS costs: against SciPy's BFGS, and against its two products.

Run it as ``python tests/benchmarks/run.py bfgs``. Figures are ratios of processor times on one BLAS
thread, each the median over rounds in which the things compared take turns.
"""

import statistics
import time
import tracemalloc

import numpy as np
from scipy.linalg.blas import dsymv, dsyr2
from scipy.optimize import minimize

from componentvec import bfgs

# Size, least ratio of SciPy's time to ours, SciPy's iterations in a run, rounds.
AGAINST_SCIPY = ((200, 5, 30, 9), (500, 20, 12, 7), (1000, 50, 6, 5), (2000, 100, 4, 3))
LARGE = 2000
OURS = 42
WARM_UP = 2


def rows():
    """All figures, as (figure, measured, target)."""
    figures = []
    for n, target, iterations, rounds in AGAINST_SCIPY:
        problem = Quadratic(n)
        ratio = statistics.median(
            problem.iteration("BFGS", iterations) / problem.iteration(bfgs, OURS)
            for _ in range(rounds)
        )
        figures.append((f"SciPy's BFGS / bfgs, an iteration, n = {n}", ratio, f">= {target}"))
    problem = Quadratic(LARGE)
    ratio = statistics.median(problem.iteration(bfgs, OURS) / products(LARGE) for _ in range(9))
    figures.append((f"bfgs / (dsymv + dsyr2), an iteration, n = {LARGE}", ratio, "<= 1.5"))
    matrices = problem.peak_memory(bfgs)
    figures.append((f"bfgs, peak memory in n-by-n matrices, n = {LARGE}", matrices, "<= 1.15"))
    return figures


class Quadratic:
    """A convex quadratic with a diagonal matrix: its own cost is O(n), and small."""

    def __init__(self, n):
        self.start = np.ones(n)
        self.scales = np.linspace(1, 50, n)

    def value(self, x):
        """Half of x'Dx."""
        return 0.5 * (x @ (self.scales * x))

    def gradient(self, x):
        """Dx, as new memory."""
        return self.scales * x

    def minimize(self, method, iterations):
        """Result of just so many iterations."""
        options = {"maxiter": iterations, "gtol": 0}
        result = minimize(self.value, self.start, jac=self.gradient, method=method, options=options)
        assert result.nit == iterations, result
        return result

    def iteration(self, method, iterations):
        """Seconds an iteration, without the start and end of a run and without the function."""
        seconds, evaluations = [], []
        for count in (WARM_UP, iterations):
            began = time.process_time()
            result = self.minimize(method, count)
            seconds.append(time.process_time() - began)
            evaluations.append(result.nfev)
        began = time.process_time()
        for _ in range(evaluations[1] - evaluations[0]):
            self.value(self.start), self.gradient(self.start)
        own = time.process_time() - began
        return (seconds[1] - seconds[0] - own) / (iterations - WARM_UP)

    def peak_memory(self, method):
        """Most memory that a run holds beyond what was there, in n-by-n matrices of float64."""
        self.minimize(method, 1)
        tracemalloc.start()
        try:
            self.minimize(method, 5)
            return tracemalloc.get_traced_memory()[1] / (8 * self.start.size**2)
        finally:
            tracemalloc.stop()


def products(n, repeats=40):
    """Seconds that one matrix-vector product and one rank-two update take, in place."""
    matrix, x = np.eye(n, order="F"), np.full(n, 1e-3)
    began = time.process_time()
    for _ in range(repeats):
        dsymv(1.0, matrix, x, lower=1)
        dsyr2(1.0, x, x, lower=1, a=matrix, overwrite_a=1)
    return (time.process_time() - began) / repeats
