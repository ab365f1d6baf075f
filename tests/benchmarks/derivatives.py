"""What derivatives by name cost: against independent arrays, autograd's lists, and hand slicing.

Run it as ``python tests/benchmarks/derivatives.py``. Figures are ratios of processor times on one
BLAS thread, each the median over rounds in which the things compared take turns. The floor is the
same loss written on independent leaf arrays, one root each, whose gradients are then put into one
array: what no way of naming parameters can beat. Python's collector waits meanwhile: what it costs
depends on all that the process holds, and it falls to whichever of the two happens to wake it.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read once, when NumPy is imported
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import gc
import statistics
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import autograd
import autograd.numpy as anp
import numpy as np
from autograd.core import VJPNode, add_outgrads
from autograd.differential_operators import make_hvp
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import trace_stack
from autograd.util import toposort

import componentvec as cv

#: leaves, entries of each, rounds, repeats in a round
FLAT = ((100, 10_000, 41, 2), (1_000, 10, 41, 1))
LEVELS = 50
#: what reading the vector itself may cost, and what `restructure` may
LIMITS = {100: ("<= 1.05", "<= 1.1"), 1_000: ("<= 1.15", "<= 1.3"), LEVELS: ("<= 1.2", "<= 1.3")}


def rows() -> list[tuple[str, float, str]]:
    """All figures, as (figure, measured, target)."""
    return [*gradients(), *nested(), *lists(), *products(), *containers()]


def loss(leaves):
    """A sum over all leaves, three operations each."""
    total = 0.0
    for w in leaves:
        total = total + anp.sum(w**2)
    return total


def floor(arrays):
    """Value and gradient of the loss on independent arrays, in one trace with many roots."""
    with trace_stack.new_trace() as trace:
        roots = [VJPNode.new_root() for _ in arrays]
        end = loss([ArrayBox(a, trace, root) for a, root in zip(arrays, roots, strict=True)])
    outgrads, found = {end._node: (1.0, False)}, {}
    for node in toposort(end._node):
        g, _ = outgrads.pop(node)
        for parent, ingrad in zip(node.parents, node.vjp(g), strict=True):
            outgrads[parent] = add_outgrads(outgrads.get(parent), ingrad)
        if not node.parents:
            found[node] = g
    return end._value, np.concatenate([found[root].reshape(-1) for root in roots])


def gradients():
    """Leaves side by side, through `restructure` and read from the vector."""
    for count, size, rounds, repeats in FLAT:
        arrays = made(count, size)
        names = [f"w{i}" for i in range(count)]
        vector, restructure = cv.destructure(dict(zip(names, arrays, strict=True)))
        ways = {
            "restructure": lambda p, r=restructure: loss(r(p).values()),
            'v["name"]': lambda v, names=names: loss([v[name] for name in names]),
            "v.name": lambda v, names=names: loss([getattr(v, name) for name in names]),
        }
        yield from against_floor(f"{count} leaves of {size}", ways, vector, arrays, rounds, repeats)


def nested():
    """Dicts nested fifty deep, a small leaf at each level."""
    arrays = made(LEVELS, 3)
    model = None
    for array in reversed(arrays):
        model = {"w": array} | ({"inner": model} if model else {})
    vector, restructure = cv.destructure(model)
    paths = vector.layout.paths()
    ways = {
        "restructure": lambda p: loss(along(restructure(p))),
        'v["inner.inner.w"]': lambda v: loss([v[path] for path in paths]),
        "v.inner.inner.w": lambda v: loss(along_attributes(v)),
    }
    yield from against_floor(f"{LEVELS} nested levels", ways, vector, arrays, 41, 10)


def against_floor(what, ways, vector, arrays, rounds, repeats):
    """The ratio to the floor for each way of getting at the leaves."""
    count = len(arrays)
    for (name, function), limit in zip(ways.items(), (0, 1, 1), strict=True):
        ours = cv.value_and_grad(function)
        np.testing.assert_allclose(cv.data(ours(vector)[1]), floor(arrays)[1])
        ratio = compare(lambda f=ours: f(vector), lambda: floor(arrays), rounds, repeats)
        yield f"value_and_grad / floor, {what}, {name}", ratio, LIMITS[count][limit]


def lists():
    """A thousand leaves, against autograd's gradient with respect to the list of them."""
    arrays = made(1_000, 10)
    vector, restructure = cv.destructure(arrays)
    ours = cv.grad(lambda p: loss(restructure(p)))
    ratio = compare(lambda: autograd.grad(loss)(arrays), lambda: ours(vector), 5)
    yield "autograd.grad of a list of 1,000 leaves / through restructure", ratio, ">= 7"


def products():
    """Hessian-vector products, against those of a loss that slices the array by hand."""
    for count, size, rounds in ((100, 10_000, 15), (1_000, 10, 15)):
        arrays = made(count, size)
        vector = cv.ComponentVector({f"w{i}": array for i, array in enumerate(arrays)})
        names, x = vector.keys(), cv.data(vector).copy()
        cuts = [slice(i * size, (i + 1) * size) for i in range(count)]
        u = np.cos(np.arange(x.size))
        direction = vector.layout.wrap(u)
        ours = cv.hvp(lambda v, names=names: loss([v[name] ** 2 for name in names]))
        by_hand = make_hvp(lambda x, cuts=cuts: loss([x[cut] ** 2 for cut in cuts]))
        ratio = compare(
            partial(ours, vector, direction), lambda f=by_hand, x=x, u=u: f(x)[0](u), rounds
        )
        yield f"cv.hvp / sliced by hand, {count} leaves of {size}", ratio, "<= 1.0"


def containers():
    """Gradients by a traced dict, through `trainables` and by its own values."""
    model = {f"w{i}": array for i, array in enumerate(made(1_000, 10))}

    def through_trainables(m):
        return autograd.grad(lambda m: loss(cv.trainables(m)))(m)

    def by_values(m):
        return autograd.grad(lambda m: loss(m.values()))(m)

    ratio = compare(lambda: by_values(model), lambda: through_trainables(model), 5)
    yield "autograd.grad by the values of a dict of 1,000 / through trainables", ratio, ">= 7"
    few, many = ({f"w{i}": array for i, array in enumerate(made(n, 10))} for n in (100, 3_000))
    ratio = compare(lambda: through_trainables(many), lambda: through_trainables(few), 7) / 30
    yield "gradient through trainables, cost of a leaf, 3,000 / 100 leaves", ratio, "<= 1.3"


def made(count, size):
    """Arrays of different numbers."""
    return list(np.cos(np.arange(count * size, dtype=float)).reshape(count, size))


def along(model):
    """The leaves of nested dicts."""
    while model is not None:
        yield model["w"]
        model = model.get("inner")


def along_attributes(v):
    """The leaves of a nested vector."""
    for _ in range(LEVELS - 1):
        yield v.w
        v = v.inner
    yield v.w


def compare(one, other, rounds, repeats=1):
    """The median, over rounds in which they take turns, of the ratio of their processor times."""
    one(), other()
    ratios = []
    gc.disable()
    try:
        for number in range(rounds):
            times = {}
            for job in (one, other) if number % 2 else (other, one):
                began = time.process_time_ns()
                for _ in range(repeats):
                    job()
                times[job] = time.process_time_ns() - began
            ratios.append(times[one] / times[other])
            gc.collect()
    finally:
        gc.enable()
    return statistics.median(ratios)


if __name__ == "__main__":
    for figure, measured, target in rows():
        print(f"{figure:72} {measured:8.2f}   {target}")
