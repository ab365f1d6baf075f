"""All benchmarks in one table: ``python tests/benchmarks/run.py [name ...]``.

Figures are ratios, measured in one run and in alternation, on one BLAS thread; absolute times are
not stable from machine to machine. Peers (jax, optree) appear where they are installed.
"""

import importlib
import os
import platform
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PARTS = ("foundation", "models", "derivatives", "bfgs", "solvers", "peers")
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
NOT_SET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # they choose another kernel than the best


def settle_environment():
    """Start again with one BLAS thread and the processor's own kernels, if that is not so."""
    wanted = {name: value for name, value in os.environ.items() if name not in NOT_SET}
    wanted |= dict.fromkeys(ONE_THREAD, "1")
    if wanted != dict(os.environ):
        os.execve(sys.executable, [sys.executable, *sys.argv], wanted)


def main(names):
    """Print the table; False if a target is missed."""
    import numpy
    import scipy

    print(
        f"Python {platform.python_version()}, NumPy {numpy.__version__}, "
        f"SciPy {scipy.__version__}, {platform.machine()}, one BLAS thread\n"
    )
    print("| figure | measured | target | |\n|---|---|---|---|")
    good = True
    for name in names:
        for figure, measured, target in importlib.import_module(name).rows():
            met = is_met(measured, target)
            good = good and met is not False
            mark = {True: "met", False: "missed", None: ""}[met]
            print(f"| {figure} | {measured:.3g} | {target} | {mark} |", flush=True)
    return good


def is_met(measured, target):
    """Whether a figure meets a target such as ``<= 1.5``; None where there is none."""
    sign, _, number = target.partition(" ")
    if sign not in ("<=", ">=", "<", ">"):
        return None
    limit = float(number.split()[0])
    return measured <= limit if sign in ("<=", "<") else measured >= limit


if __name__ == "__main__":
    settle_environment()
    sys.path[:0] = [str(HERE), str(HERE.parents[1])]
    sys.exit(not main(sys.argv[1:] or PARTS))
