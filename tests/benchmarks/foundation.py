"""What names cost: reading, wrapping, packing and building, against the same by hand.

Run it as ``python tests/benchmarks/foundation.py``. Figures are ratios of processor times; the
things compared take turns, and the least time of many rounds counts. Loops that only call are part
of both sides.
"""

import gc
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SHAPE = (3, 4)
CALLS = 2000
ROUNDS = 60


def rows() -> list[tuple[str, float, str]]:
    """All figures, as (figure, measured, target)."""
    import componentvec as cv  # here, where the path leads to it

    return reading(cv) + packing(cv) + building(cv)


def least(jobs, rounds=ROUNDS):
    """The least processor time of each job; a job is (prepare, run), and runs what is prepared.

    Python's collector waits meanwhile: what it costs depends on all that the process holds.
    """
    times = [float("inf")] * len(jobs)
    gc.disable()
    try:
        for _ in range(rounds):
            for k, (prepare, run) in enumerate(jobs):
                prepared = prepare()
                began = time.process_time_ns()
                run(prepared)
                times[k] = min(times[k], time.process_time_ns() - began)
            gc.collect()
    finally:
        gc.enable()
    return times


def reading(cv):
    """Wrapping a buffer and reading one leaf, against ``x[i:j].reshape(shape)``."""
    layout = cv.ComponentVector(a=1.0, w=np.zeros(SHAPE), c={"w": np.zeros(SHAPE)}).layout
    buffer = np.zeros(layout.size)
    kept = layout.wrap(buffer)

    def one():
        return kept

    def many():
        return [layout.wrap(buffer) for _ in range(CALLS)]

    def by_hand(_):
        for _ in range(CALLS):
            buffer[1:13].reshape(SHAPE)

    def wrap(_):
        for _ in range(CALLS):
            layout.wrap(buffer)

    def item(v):
        for _ in range(CALLS):
            v["w"]

    def path(v):
        for _ in range(CALLS):
            v["c.w"]

    def attribute(v):
        for _ in range(CALLS):
            v.w

    def chain(v):
        for _ in range(CALLS):
            v.c.w

    def first_item(vectors):
        for v in vectors:
            v["w"]

    def first_path(vectors):
        for v in vectors:
            v["c.w"]

    def first_attribute(vectors):
        for v in vectors:
            v.w

    jobs = [
        (one, by_hand), (one, wrap), (one, item), (one, path), (one, attribute), (one, chain),
        (many, first_item), (many, first_path), (many, first_attribute),
    ]  # fmt: skip
    floor, *times = least(jobs)
    figures = (
        ("layout.wrap / x[i:j].reshape(shape)", "<= 2.5"),
        ('v["w"], repeated', "<= 1.5"),
        ('v["c.w"], repeated', "<= 1.5"),
        ("v.w, repeated", "<= 3"),
        ("v.c.w, repeated", "<= 3"),
        ('v["w"], first read of a vector', "<= 3"),
        ('v["c.w"], first read of a vector', "<= 3"),
        ("v.w, first read of a vector", "none"),
    )
    return [(name, t / floor, target) for (name, target), t in zip(figures, times, strict=True)] + [
        wrap_by_size(cv)
    ]


def wrap_by_size(cv):
    """Wrapping ten million entries, against wrapping ten."""
    small, large = (cv.ComponentVector(a=np.zeros(n)).layout for n in (10, 10**7))
    jobs = []
    for layout in (small, large):
        buffer = np.zeros(layout.size)

        def run(_, layout=layout, buffer=buffer):
            for _ in range(CALLS):
                layout.wrap(buffer)

        jobs.append((lambda: None, run))
    few, many = least(jobs)
    return "layout.wrap, 10,000,000 entries / 10", many / few, "<= 1.2"


def packing(cv):
    """Packing 100 arrays of 10,000, against ``np.concatenate``."""
    tree = {f"x{i}": np.full((100, 100), float(i)) for i in range(100)}
    layout = cv.ComponentVector(tree).layout
    flat = [x.ravel() for x in tree.values()]
    jobs = [
        (lambda: None, lambda _: np.concatenate(flat)),
        (lambda: None, lambda _: layout.pack(tree)),
        (lambda: None, lambda _: cv.ComponentVector(tree)),
    ]
    floor, pack, make = least(jobs, 100)
    return [
        ("layout.pack of 100 x 10,000 / np.concatenate", pack / floor, "<= 1.3"),
        ("ComponentVector of 100 x 10,000 / np.concatenate", make / floor, "none"),
    ]


def building(cv):
    """Seconds for many leaves and deep nests, and how they grow."""

    def tree(groups):
        return {f"p{i}": {"w": np.zeros(3), "b": 1.0} for i in range(groups)}

    def nest(depth):
        found = {"x": 1.0}
        for _ in range(depth):
            found = {"g": found}
        return found

    def look_up(layout):
        paths = layout.paths()
        for path in paths:
            layout.slice(path)
        return len(paths)

    jobs = [
        (lambda: tree(500), cv.ComponentVector),
        (lambda: tree(5000), cv.ComponentVector),
        (lambda: cv.ComponentVector(tree(500)).layout, look_up),
        (lambda: cv.ComponentVector(tree(5000)).layout, look_up),
        (lambda: nest(500), lambda t: look_up(cv.ComponentVector(t).layout)),
        (lambda: cv.ComponentVector(tree(5000)), lambda v: v.layout.from_json(v.layout.to_json())),
    ]
    few, many, few_found, many_found, deep, again = (t / 1e9 for t in least(jobs, 7))
    return [
        ("layout of 10,000 leaves, seconds", many, "<= 1"),
        ("layout of 10,000 leaves / of 1,000", many / few, "<= 13"),
        ("all paths of 10,000 leaves, seconds", many_found, "<= 1"),
        ("all paths of 10,000 leaves / of 1,000", many_found / few_found, "<= 13"),
        ("layout through JSON, 10,000 leaves, seconds", again, "<= 1"),
        ("layout and look-up at 500 levels, seconds", deep, "<= 0.1"),
    ]


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for figure, measured, target in rows():
        print(f"{figure:52} {measured:8.3f}   {target}")
