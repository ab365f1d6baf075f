"""Callbacks by name, and the line of progress."""

import inspect
import io
import itertools
import re
import sys

import autograd.numpy as np
import pytest
import scipy.optimize
from scipy.optimize import OptimizeResult
from scipy.optimize._minimize import MINIMIZE_METHODS

import componentvec as cv

METHODS = (
    *("Nelder-Mead", "Powell", "CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "COBYLA"),
    *("COBYQA",) * ("cobyqa" in MINIMIZE_METHODS),
    *("SLSQP", "trust-constr", "dogleg", "trust-ncg", "trust-exact", "trust-krylov"),
)


def start():
    """Three entries."""
    return cv.ComponentVector(p=[3.0, 2.0], q=-1.0)


def loss(v):
    """Convex, smallest at one."""
    return np.sum((v.p - 1) ** 4 + (v.p - 1) ** 2) + (v.q - 1) ** 2


def model_loss(m):
    """Smallest at one."""
    return np.sum((m["w"] - 1) ** 2)


@pytest.mark.parametrize("method", METHODS)
def test_callback_of_an_x_gets_a_vector_each_iteration(method):
    """trust-constr passes its state, too."""
    seen = []
    if method == "trust-constr":
        callback = lambda x, state: seen.append(x)
    else:
        callback = lambda x: seen.append(x)
    res = cv.minimize(loss, start(), method=method, callback=callback)
    assert seen and all(type(x) is cv.ComponentVector for x in seen)
    assert seen[0].layout == start().layout
    assert not any(np.shares_memory(x, res.x) for x in seen)
    assert len({id(cv.data(x)) for x in seen}) == len(seen)


@pytest.mark.parametrize("method", METHODS)
def test_callback_of_an_intermediate_result_gets_a_labelled_x(method):
    """By the name of its only parameter, as in SciPy; also where SciPy has plain x only."""
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result)

    cv.minimize(loss, start(), method=method, callback=callback)
    assert seen
    for result in seen:
        assert isinstance(result, OptimizeResult)
        assert result.x.layout == start().layout
        assert result.fun == pytest.approx(loss(result.x))


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "trust-constr", "Nelder-Mead", "TNC"])
def test_callbacks_for_models_get_models(method):
    """In the form of an x, and beside x in an intermediate result."""
    model = {"w": np.zeros(2, np.float32), "name": "m"}
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.model)
        assert type(intermediate_result.x) is cv.ComponentVector

    cv.minimize(model_loss, model, method=method, callback=callback)
    assert all(m["name"] == "m" and m["w"].dtype == np.float32 for m in seen)
    seen.clear()
    if method == "trust-constr":
        cv.minimize(model_loss, model, method=method, callback=lambda m, state: seen.append(m))
    else:
        cv.minimize(model_loss, model, method=method, callback=seen.append)
    assert seen and all(m["name"] == "m" for m in seen)


def test_callbacks_see_fixed_and_complex_entries_whole():
    """What the function sees."""
    seen = []
    cv.minimize(loss, start(), fixed="p", callback=seen.append)
    assert all(x.p.tolist() == [3.0, 2.0] for x in seen)
    seen.clear()
    cv.minimize(
        lambda v: np.abs(v.z - 1j) ** 2, cv.ComponentVector(z=1.0 + 0j), callback=seen.append
    )
    assert all(x.dtype == complex for x in seen)


def test_state_of_trust_constr_is_labelled_and_not_the_result():
    """A copy: SciPy goes on writing into its own."""
    states = []
    res = cv.minimize(
        loss, start(), method="trust-constr", callback=lambda x, state: states.append(state)
    )
    assert [state.nit for state in states] == list(range(1, res.nit + 1))
    assert states[0].grad.layout == states[0].x.layout == start().layout
    assert type(res.x) is cv.ComponentVector


def test_callback_of_an_x_alone_goes_with_trust_constr():
    """As with all other methods; one that takes more gets the state."""
    seen, states = [], []
    res = cv.minimize(loss, start(), method="trust-constr", callback=lambda x: seen.append(x))
    assert len(seen) == res.nit and seen[0].layout == start().layout
    cv.minimize(loss, start(), method="trust-constr", callback=lambda *given: states.append(given))
    assert len(states) == res.nit and all(len(given) == 2 for given in states)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["x", "intermediate_result"])
def test_stop_iteration_ends_the_run(method, form):
    """With the x of that moment, where SciPy keeps it; also where SciPy does not know it."""
    seen = []

    def stop(x):
        seen.append(x)
        raise StopIteration

    callbacks = {
        "x": (lambda x, state: stop(x)) if method == "trust-constr" else lambda x: stop(x),
        "intermediate_result": lambda intermediate_result: stop(intermediate_result.x),
    }
    res = cv.minimize(loss, start(), method=method, callback=callbacks[form])
    assert len(seen) == 1
    assert type(res.x) is cv.ComponentVector
    if method not in ("COBYLA", "COBYQA"):  # SciPy's words
        assert not res.success and "callback" in res.message
        assert res.status == (3 if method == "trust-constr" else 99)


def test_stop_iteration_ends_a_method_of_ones_own():
    """The result is what was known."""

    def descent(fun, x, jac, callback, **options):
        while True:
            x = x - 0.1 * jac(x)
            callback(x)

    seen = []

    def callback(x):
        seen.append(x)
        if len(seen) == 5:
            raise StopIteration

    res = cv.minimize(loss, start(), method=descent, callback=callback)
    assert res.x.tolist() == seen[-1].tolist()
    assert res.status == 99 and not res.success
    assert res.fun == pytest.approx(loss(res.x))


def test_stop_iteration_of_the_function_is_not_swallowed():
    """Only callbacks may end a run."""

    calls = []

    def fun(v):
        calls.append(1)
        if len(calls) == 5:
            raise StopIteration
        return float(loss(v))

    with pytest.raises(StopIteration):
        cv.minimize(fun, start(), method="Powell")


def test_exceptions_of_a_callback_come_through():
    """Whatever they are."""

    def callback(x):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        cv.minimize(loss, start(), callback=callback)


def test_callback_that_is_a_builtin_or_an_object_works():
    """Its signature may be unknown."""

    class Watcher:
        def __init__(self):
            self.seen = []

        def __call__(self, intermediate_result):
            self.seen.append(intermediate_result.fun)

        def method(self, x):
            self.seen.append(x)

    watcher = Watcher()
    cv.minimize(loss, start(), callback=watcher)
    assert watcher.seen == sorted(watcher.seen, reverse=True)
    cv.minimize(loss, start(), callback=watcher.method)
    assert type(watcher.seen[-1]) is cv.ComponentVector
    cv.minimize(loss, start(), callback=max)


def test_counts_of_callbacks_are_those_of_scipy():
    """One an iteration."""
    for method in ("BFGS", "L-BFGS-B", "CG"):
        seen = []
        res = cv.minimize(loss, start(), method=method, callback=seen.append)
        assert len(seen) == res.nit


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("method", METHODS)
def test_progress_is_one_line_on_stderr(method, capsys):
    """Iteration, value, gradient norm and time; clean where stderr is no terminal."""
    res = cv.minimize(loss, start(), method=method, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"iteration \d+   value \S+   gradient norm \S+   \d+\.\d s\n", err)
    if "nit" in res:
        assert f"iteration {res.nit} " in err
    assert float(re.search(r"value (\S+)", err)[1]) == pytest.approx(res.fun)
    assert ("gradient norm ?" in err) == (method in ("Nelder-Mead", "Powell", "COBYLA", "COBYQA"))


def test_progress_updates_its_line_on_a_terminal(monkeypatch):
    """Written over, no faster than the eye, and longer lines leave nothing behind."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("componentvec.progress._PAUSE", 0.0)
    res = cv.minimize(loss, start(), progress=True)
    written = sys.stderr.getvalue()
    lines = written.split("\r")[1:]
    assert len(lines) == res.nit + 1
    assert written.count("\n") == 1 and written.endswith("\n")
    assert all(
        len(after.rstrip("\n")) >= len(before.rstrip())
        for before, after in itertools.pairwise(lines)
    )
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("componentvec.progress._PAUSE", 1e9)
    cv.minimize(loss, start(), progress=True)
    assert len(sys.stderr.getvalue().split("\r")[1:]) <= 2


def test_progress_goes_with_a_callback(capsys):
    """And with fixed entries and models."""
    seen = []
    cv.minimize(loss, start(), progress=True, callback=seen.append, fixed="q")
    assert seen
    cv.minimize(model_loss, {"w": np.zeros(2)}, progress=True, method="trust-constr")
    assert capsys.readouterr().err.count("\n") == 2


def test_progress_ends_its_line_where_the_function_raises(capsys):
    """What was known is shown; nothing where it failed before it began."""
    calls = []

    def fun(v):
        calls.append(1)
        if len(calls) > 3:
            raise ValueError("later")
        return loss(v)

    with pytest.raises(ValueError, match="later"):
        cv.minimize(fun, start(), progress=True)
    assert capsys.readouterr().err.endswith(" s\n")
    with pytest.raises(ValueError, match="later"):
        cv.minimize(fun, start(), progress=True)
    assert capsys.readouterr().err == ""


def test_progress_without_stderr_does_nothing(monkeypatch):
    """As under pythonw."""
    monkeypatch.setattr(sys, "stderr", None)
    assert cv.minimize(loss, start(), progress=True).success


def test_no_progress_unless_asked_for(capsys):
    """Silence is the default."""
    cv.minimize(loss, start())
    assert capsys.readouterr() == ("", "")


def test_callbacks_of_least_squares_and_root_are_labelled():
    """In both of SciPy's forms, where SciPy has them."""
    t = np.linspace(0, 1, 5)
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.x)

    if "callback" in inspect.signature(scipy.optimize.least_squares).parameters:
        v = cv.ComponentVector(a=1.0, b=2.0)
        cv.least_squares(lambda v: v.a * np.exp(-v.b * t) - t, v, callback=callback)
        cv.least_squares(lambda v: v.a * np.exp(-v.b * t) - t, v, callback=seen.append)
        assert seen and all(type(x) is cv.ComponentVector for x in seen)
    pairs = []
    cv.root(
        lambda v: {"e": v.a**2 - v.b, "f": v.b - 2},
        cv.ComponentVector(a=1.0, b=1.0),
        method="krylov",
        callback=lambda x, f: pairs.append((x.a, f.e)),
    )
    assert pairs
    cv.root(
        lambda m: m["w"] ** 2 - 2,
        {"w": np.ones(2), "name": "m"},
        method="krylov",
        callback=lambda m, f: pairs.append(m["name"]),
    )
    assert pairs[-1] == "m"
