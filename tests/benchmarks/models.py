"""What models cost: restructure against hand-written loops, destructure by number of leaves.

Run it as ``python tests/benchmarks/models.py``. Figures are ratios of processor times, each the
median over rounds in which the things compared take turns; memory is counted by tracemalloc.
"""

import gc
import statistics
import sys
import time
import tracemalloc
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import autograd
import autograd.numpy as anp
import numpy as np

import componentvec as cv

FEW, MANY = 100, 10_000
LARGE = 10**7


def rows():
    """All figures, as (figure, measured, target)."""
    return [*restructuring(), *destructuring(), *memory(), *tracing()]


def restructuring():
    """A thousand leaves put into dicts, against loops that slice, reshape and build the same."""
    flat = {f"leaf{i}": np.ones((5, 2)) for i in range(1000)}
    nested = {f"layer{i}": {"w": np.ones((5, 2)), "b": np.ones(10)} for i in range(500)}
    for what, model, loop in (
        ("1,000 leaves in one dict", flat, fill_dict),
        ("1,000 leaves in 500 dicts", nested, fill_dicts),
    ):
        vector, restructure = cv.destructure(model)
        p = cv.data(vector).copy()
        ratio = compare(lambda r=restructure, p=p: r(p), lambda f=loop, m=model, p=p: f(m, p), 51)
        yield f"restructure / hand-written loop, {what}", ratio, "<= 1.5"


def fill_dict(model, p):
    """The loop for one dict."""
    filled, offset = {}, 0
    for name, leaf in model.items():
        filled[name] = p[offset : offset + leaf.size].reshape(leaf.shape)
        offset += leaf.size
    return filled


def fill_dicts(model, p):
    """The loop for a dict of dicts."""
    filled, offset = {}, 0
    for name, group in model.items():
        inner = filled[name] = {}
        for key, leaf in group.items():
            inner[key] = p[offset : offset + leaf.size].reshape(leaf.shape)
            offset += leaf.size
    return filled


def destructuring():
    """Seconds a leaf of many leaves over those of few: 1 is linear, 100 would be quadratic."""
    for what, make in (("no ties", without_ties), ("every leaf tied", with_ties)):
        few, many = make(FEW), make(MANY)

        def take_few(few=few):
            for _ in range(MANY // FEW):
                cv.destructure(few)

        ratio = compare(lambda many=many: cv.destructure(many), take_few, 7)
        yield f"destructure, a leaf of {MANY:,} / a leaf of {FEW}, {what}", ratio, "<= 3"


def without_ties(n):
    """Layers of two leaves and two static parts."""
    layer = lambda: {"w": np.ones((2, 2)), "b": np.ones(2), "act": np.tanh, "size": 2}
    return {"layers": [layer() for _ in range(n // 2)]}


def with_ties(n):
    """Each array at two places, a transpose every other time."""
    arrays = [np.ones((2, 2)) for _ in range(n // 2)]
    return {"enc": arrays, "dec": [w.T if i % 2 else w for i, w in enumerate(arrays)]}


def memory():
    """Megabytes that restructure takes at most, where the vector has eighty."""
    w = np.zeros((LARGE // 10, 5))
    _, restructure = cv.destructure({"enc": w, "dec": w.T, "layers": [{"b": np.zeros(LARGE // 2)}]})
    p = np.zeros(LARGE)
    restructure(p)
    tracemalloc.start()
    try:
        restructure(p)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    yield (
        f"restructure, peak of memory in MB, {p.nbytes / 1e6:.0f} MB of entries",
        peak / 1e6,
        "<= 0.1",
    )


def tracing():
    """The gradient of a dict that autograd traces, by its own rule and by that of trainables."""
    for n in (100, 1000):
        model = {f"leaf{i}": np.ones(10) for i in range(n)}
        own = autograd.grad(lambda m: sum(anp.sum(m[name] ** 2) for name in m))
        ours = autograd.grad(lambda m: sum(anp.sum(x**2) for x in cv.trainables(m)))
        ratio = compare(lambda f=own, m=model: f(m), lambda f=ours, m=model: f(m), 5)
        target = ">= 10" if n == 1000 else "reference"
        yield f"autograd's own rule / trainables, gradient of a dict of {n} leaves", ratio, target


def compare(one, other, rounds):
    """Processor time of one over that of the other."""
    one(), other()
    ratios = []
    for _ in range(rounds):
        gc.collect()  # so that neither pays for what the other left behind
        ratios.append(seconds(one) / seconds(other))
    return statistics.median(ratios)


def seconds(function):
    """Processor time of one call."""
    began = time.process_time()
    function()
    return time.process_time() - began


if __name__ == "__main__":
    for figure, measured, target in rows():
        print(f"{figure:68} {measured:8.3f}   {target}")
