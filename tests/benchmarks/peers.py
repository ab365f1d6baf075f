"""The same job done by others: flatten a model, put it back, and differentiate through both."""

import functools
import statistics
import time

import autograd
import autograd.numpy as anp
import numpy as np
from autograd.misc.flatten import flatten

import componentvec as cv

SIZES = ((100, 10_000), (1_000, 10))
ROUNDS = 7


def rows():
    """All figures, as (figure, measured, target): times of the peer over ours."""
    return [row for size in SIZES for row in rows_of(*size)]


def rows_of(leaves, size):
    """The figures of a model of so many leaves of one size."""
    rng = np.random.default_rng(0)
    model = {f"leaf{i}": rng.normal(size=size) for i in range(leaves)}
    vector, restructure = cv.destructure(model)
    x = cv.data(vector).copy()
    what = f"{leaves} leaves of {size}"
    table = []
    for name, (take, put) in peers(model).items():
        ratio = alternate(functools.partial(put, x), functools.partial(restructure, x))
        table.append((f"{name} / restructure, {what}", ratio, "peer"))
        ratio = alternate(
            functools.partial(take, model), functools.partial(restructure.pack, model)
        )
        table.append((f"{name} / pack, {what}", ratio, "peer"))
    unflatten = flatten(model)[1]
    theirs = autograd.value_and_grad(lambda p: loss(unflatten(p)))
    ours = autograd.value_and_grad(lambda p: loss(restructure(p)))
    ratio = alternate(lambda: theirs(x), lambda: ours(x), rounds=3)
    table.append((f"autograd flatten / restructure, value and gradient, {what}", ratio, "peer"))
    return table


def loss(model):
    """A cheap loss over all leaves."""
    total = 0.0
    for leaf in model.values():
        total = total + anp.sum(anp.tanh(leaf) * leaf)
    return total


def peers(model):
    """By name: a function that flattens a model, and one that puts a vector back."""
    found = {"hand-written slices": by_hand(model)}
    _, unflatten = flatten(model)
    found["autograd flatten"] = (lambda m: flatten(m)[0], unflatten)
    try:
        from jax.flatten_util import ravel_pytree
    except ImportError:
        pass
    else:
        unravel = ravel_pytree(model)[1]
        found["jax ravel_pytree"] = (
            lambda m: ravel_pytree(m)[0].block_until_ready(),
            lambda x: unravel(x),
        )
    try:
        from optree.integrations.numpy import tree_ravel
    except ImportError:
        pass
    else:
        found["optree tree_ravel"] = (lambda m: tree_ravel(m)[0], tree_ravel(model)[1])
    return found


def by_hand(model):
    """The index arithmetic that one writes without a library."""
    cuts, start = [], 0
    for name, leaf in model.items():
        cuts.append((name, start, start + leaf.size, leaf.shape))
        start += leaf.size

    def put(x):
        return {name: x[i:j].reshape(shape) for name, i, j, shape in cuts}

    return lambda m: np.concatenate([m[name].ravel() for name, *_ in cuts]), put


def alternate(one, other, rounds=ROUNDS):
    """Processor time of `one` over that of `other`, the median over rounds that take turns."""
    numbers = [max(1, int(0.02 / max(timed(f, 1), 1e-7))) for f in (one, other)]
    return statistics.median(
        timed(one, numbers[0]) / timed(other, numbers[1]) for _ in range(rounds)
    )


def timed(function, number):
    """Processor seconds of a call, over so many of them."""
    began = time.process_time()
    for _ in range(number):
        function()
    return (time.process_time() - began) / number


if __name__ == "__main__":
    for figure, measured, _ in rows():
        print(f"{figure:70} {measured:8.2f}")
