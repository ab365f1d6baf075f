"""`solve_ivp` by name."""

import math
import pickle
import warnings
from dataclasses import dataclass

import autograd.numpy as np
import pytest
import scipy.integrate
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import DOP853, OdeSolution
from scipy.sparse import csr_array

import componentvec as cv

METHODS = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
IMPLICIT = ("Radau", "BDF", "LSODA")


def start():
    """Prey, hunters of two kinds, and what they stand on."""
    return cv.ComponentVector(prey=2.0, hunters=[1.0, 0.5], land={"grass": [[3.0]]})


def grow(t, y, rate=1.0):
    """Lotka and Volterra, with grass that decays."""
    eaten = y.prey * np.sum(y.hunters)
    return {
        "prey": rate * y.prey - eaten,
        "hunters": y.hunters * (y.prey - 1),
        "land": {"grass": -0.1 * y.land.grass},
    }


def grow_flat(t, y, rate=1.0):
    """The same of an array."""
    eaten = y[0] * (y[1] + y[2])
    return np.array([rate * y[0] - eaten, y[1] * (y[0] - 1), y[2] * (y[0] - 1), -0.1 * y[3]])


def by_hand(method="RK45", **options):
    """SciPy's own."""
    return scipy.integrate.solve_ivp(grow_flat, (0, 3), [2.0, 1.0, 0.5, 3.0], method, **options)


@pytest.mark.parametrize("method", METHODS)
def test_solution_is_that_of_a_hand_written_call(method):
    """Times, states and counts."""
    ours, theirs = cv.solve_ivp(grow, (0, 3), start(), method), by_hand(method)
    assert_array_equal(ours.t, theirs.t)
    assert_allclose(ours.y, theirs.y, rtol=1e-12)
    assert (ours.nfev, ours.njev, ours.nlu, ours.status) == (
        theirs.nfev,
        theirs.njev,
        theirs.nlu,
        theirs.status,
    )
    assert set(ours) == set(theirs) and type(ours) is type(theirs)


def test_components_over_time_have_their_names():
    """Of shape ``shape + (nt,)``."""
    sol = cv.solve_ivp(grow, (0, 3), start(), t_eval=np.linspace(0, 3, 7))
    assert type(sol.y) is cv.ComponentMatrix
    assert sol.y.rows == start().layout and sol.y.cols is None
    assert sol.y["prey"].shape == (7,)
    assert sol.y["hunters"].shape == (2, 7)
    assert sol.y["land.grass"].shape == (1, 1, 7)
    assert_allclose(sol.y["land.grass"][0, 0], 3 * np.exp(-0.1 * sol.t), rtol=1e-3)
    assert sol.y[:, 0].tolist() == start().tolist()


@pytest.mark.parametrize(
    "given",
    [
        lambda t, y: y.layout.wrap(grow_flat(t, cv.data(y))),
        lambda t, y: grow_flat(t, cv.data(y)),
        lambda t, y: list(grow_flat(t, cv.data(y))),
        lambda t, y: cv.ComponentVector(dict(reversed(grow(t, y).items()))),
        lambda t, y: -0.1 * y,
    ],
)
def test_derivative_may_be_a_vector_an_array_or_by_name_in_any_order(given):
    """What it holds counts."""
    sol = cv.solve_ivp(given, (0, 1), start(), rtol=1e-8)
    grass = sol.y["land.grass"][0, 0, -1]
    assert grass == pytest.approx(3 * math.exp(-0.1), rel=1e-5)


@pytest.mark.parametrize("args", [(2.0,), 2.0])
def test_args_go_to_everything(args):
    """Function, Jacobian and events."""
    seen = []

    def event(t, y, rate):
        seen.append(rate)
        return y.prey - 3

    jac = lambda t, y, rate: seen.append(rate) or cv.jacobian(lambda y: grow(t, y, rate))(y)
    sol = cv.solve_ivp(grow, (0, 1), start(), "BDF", args=args, jac=jac, events=event)
    theirs = by_hand("BDF", args=(2.0,))
    assert_allclose(
        sol.y["prey"][-1], cv.solve_ivp(grow, (0, 1), start(), args=args).y["prey"][-1], rtol=0.05
    )
    assert theirs.success and set(seen) == {2.0}


@pytest.mark.parametrize("method", METHODS)
def test_dense_output_is_labelled(method):
    """A vector at one time, a matrix at several; the rest is SciPy's."""
    sol = cv.solve_ivp(grow, (0, 3), start(), method, dense_output=True)
    theirs = by_hand(method, dense_output=True)
    assert type(sol.sol(1.0)) is cv.ComponentVector
    assert sol.sol(1.0).layout == start().layout
    assert_allclose(sol.sol(1.0), theirs.sol(1.0))
    assert type(sol.sol([1.0, 2.0])) is cv.ComponentMatrix
    assert_allclose(sol.sol([1.0, 2.0])["hunters"], theirs.sol([1.0, 2.0])[1:3])
    assert isinstance(sol.sol, OdeSolution)
    assert (sol.sol.t_min, sol.sol.t_max) == (0, 3)
    assert cv.solve_ivp(grow, (0, 1), start(), method).sol is None
    again = pickle.loads(pickle.dumps(sol.sol))
    assert_allclose(again(2.0), sol.sol(2.0))


def test_events_get_labelled_states_and_give_labelled_ones():
    """Directions and ends are kept; rows are events."""
    seen = []

    def rises(t, y):
        seen.append(y)
        return y.prey - 1.5

    rises.direction = 1

    class Falls:
        terminal = True
        direction = -1

        def __call__(self, t, y):
            return y["prey"] - 1.0

    sol = cv.solve_ivp(grow, (0, 20), start(), events=[rises, Falls()], rtol=1e-8)
    assert sol.status == 1
    assert all(type(y) is cv.ComponentVector for y in seen)
    assert sol.t_events[0].size == 0 and sol.t_events[1].size == 1
    assert type(sol.y_events[0]) is cv.ComponentMatrix
    assert sol.y_events[0].shape == (0, 4)
    assert_allclose(sol.y_events[1][:, "prey"], [1.0])
    assert sol.y_events[1][:, "hunters"].shape == (1, 2)
    one = cv.solve_ivp(grow, (0, 20), start(), events=lambda t, y: y.prey - 1.0)
    assert len(one.t_events) == 1 and one.y_events[0].cols == start().layout
    with pytest.raises(ValueError, match="terminal"):
        rises.terminal = -1
        cv.solve_ivp(grow, (0, 1), start(), events=rises)


@pytest.mark.parametrize("method", IMPLICIT)
def test_jacobian_true_is_by_autograd(method):
    """The van der Pol oscillator: as with the Jacobian by hand."""
    v = cv.ComponentVector(x=2.0, v=0.0)

    def fun(t, y, mu):
        return {"x": y.v, "v": mu * (1 - y.x**2) * y.v - y.x}

    exact = cv.solve_ivp(fun, (0, 300), v, method, args=500.0, jac=True)
    theirs = scipy.integrate.solve_ivp(
        lambda t, y: [y[1], 500 * (1 - y[0] ** 2) * y[1] - y[0]],
        (0, 300),
        [2.0, 0.0],
        method,
        jac=lambda t, y: [[0, 1], [-1000 * y[0] * y[1] - 1, 500 * (1 - y[0] ** 2)]],
    )
    assert_allclose(exact.y, theirs.y, rtol=1e-6, atol=1e-9)
    assert (exact.nfev, exact.njev) == (theirs.nfev, theirs.njev)


@pytest.mark.parametrize(
    ("method", "shape"),
    [(method, shape) for method in IMPLICIT for shape in (lambda J: J, np.asarray)]
    + [(method, lambda J: csr_array(np.asarray(J))) for method in ("Radau", "BDF")],
)
def test_jacobian_by_hand_may_be_a_matrix_by_name(method, shape):
    """Or an array, or sparse; also one that is constant."""
    jac = lambda t, y: shape(cv.jacobian(lambda y: grow(t, y))(y))
    sol = cv.solve_ivp(grow, (0, 3), start(), method, jac=jac, rtol=1e-6)
    assert_allclose(sol.y[:, -1], by_hand(method, rtol=1e-9).y[:, -1], rtol=1e-3)
    decay = lambda t, y: -2 * y
    if method != "LSODA":
        sol = cv.solve_ivp(decay, (0, 1), start(), method, jac=shape(-2 * np.eye(4)), rtol=1e-6)
        assert_allclose(sol.y["prey"][-1], 2 * math.exp(-2), rtol=1e-3)


def test_finite_differences_are_the_default():
    """Also by that name; nothing is traced."""

    def fun(t, y):
        return {"x": -math.sin(y.x)}

    v = cv.ComponentVector(x=1.0)
    one = cv.solve_ivp(fun, (0, 1), v, "BDF")
    two = cv.solve_ivp(fun, (0, 1), v, "BDF", jac="2-point")
    assert_array_equal(one.y, two.y)
    with pytest.raises(TypeError) as caught:
        cv.solve_ivp(fun, (0, 1), v, "BDF", jac=True)
    assert caught.value.__notes__[0].endswith("or leave out jac=True")
    three = cv.solve_ivp(fun, (0, 1), v, "BDF", jac=False)
    assert_array_equal(one.y, three.y)


def test_float32_states_are_solved_in_double_precision():
    """What the function gets, and the solution."""
    seen = set()
    y0 = start().astype(np.float32)
    sol = cv.solve_ivp(lambda t, y: seen.add(y.dtype) or grow(t, y), (0, 3), y0)
    assert seen == {sol.y.dtype} == {np.dtype(float)}
    assert_array_equal(sol.y, by_hand().y)


@dataclass
class Pendulum:
    """A model that is a state."""

    angle: object
    speed: object
    length: float = 2.0


@pytest.mark.parametrize("method", METHODS)
def test_models_are_states(method):
    """The function gets models, and gives models, trees, vectors or arrays."""

    def model(t, m):
        assert type(m) is Pendulum
        return Pendulum(m.speed, -np.sin(m.angle) / m.length)

    y0 = Pendulum(np.array([0.5]), np.array([0.0]))
    jac = True if method in IMPLICIT else None
    sol = cv.solve_ivp(model, (0, 2), y0, method, jac=jac, rtol=1e-8, atol=1e-8)
    for given in (
        lambda t, m: {"angle": m.speed, "speed": -np.sin(m.angle) / m.length},
        lambda t, m: np.concatenate([m.speed, -np.sin(m.angle) / m.length]),
    ):
        other = cv.solve_ivp(given, (0, 2), y0, method, jac=jac, rtol=1e-8, atol=1e-8)
        assert_allclose(other.y, sol.y, rtol=1e-6)
    assert sol.y["angle"].shape == (1, sol.t.size)
    energy = sol.y["speed"] ** 2 / 2 - np.cos(sol.y["angle"]) / 2
    assert_allclose(energy, -np.cos(0.5) / 2, rtol=1e-4)
    assert y0.angle.tolist() == [0.5]


def test_two_models_compose_as_groups_of_one_state():
    """Each function is written for its own group."""

    def decay(y, rate):
        return {"n": -rate * y.n}

    def both(t, y):
        return {"fast": decay(y.fast, 2.0), "slow": decay(y.slow, 0.5)}

    v = cv.ComponentVector(fast={"n": 1.0}, slow={"n": 1.0})
    sol = cv.solve_ivp(both, (0, 1), v, rtol=1e-8, atol=1e-10)
    assert sol.y["fast.n"][-1] == pytest.approx(math.exp(-2), rel=1e-5)
    assert sol.y["slow"]["n"][-1] == pytest.approx(math.exp(-0.5), rel=1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("jac", [None, True])
def test_complex_states_stay_complex(method, jac):
    """As they are where the method can, as pairs where it cannot; conjugates are no problem."""

    def fun(t, y):
        return {"z": 1j * y.z, "w": -1j * np.conj(y.w) * 0 - y.w}

    v = cv.ComponentVector(z=1 + 0j, w=[0.5 + 1j, 2.0])
    jac = jac if method in IMPLICIT else None
    options = {"rtol": 1e-8, "atol": 1e-9, "dense_output": True}
    sol = cv.solve_ivp(fun, (0, 2), v, method, jac=jac, events=lambda t, y: y.z.real, **options)
    assert sol.y.dtype == complex
    assert_allclose(sol.y["z"], np.exp(1j * sol.t), atol=1e-5)
    assert_allclose(sol.y["w"][0], (0.5 + 1j) * np.exp(-sol.t), atol=1e-5)
    assert sol.sol(1.0).z == pytest.approx(np.exp(1j), abs=1e-5)
    assert sol.sol([0.0, 1.0])["z"].dtype == complex
    assert_allclose(sol.y_events[0][:, "z"], [1j], atol=1e-5)
    if jac is None and method not in ("Radau", "LSODA"):
        theirs = scipy.integrate.solve_ivp(
            lambda t, y: np.array([1j * y[0], -y[1], -y[2]]), (0, 2), cv.data(v), method, **options
        )
        assert_allclose(sol.y, theirs.y, rtol=1e-8)


def test_a_function_that_is_not_analytic_has_a_jacobian_too():
    """y' = -conj(y): real and imaginary part go different ways."""
    v = cv.ComponentVector(z=1 + 1j)
    sol = cv.solve_ivp(lambda t, y: {"z": -np.conj(y.z)}, (0, 1), v, "BDF", jac=True, rtol=1e-6)
    assert_allclose(sol.y["z"][-1], math.exp(-1) + 1j * math.exp(1), rtol=1e-4)


def test_mixed_states_need_nothing():
    """A real vector with pairs."""
    v = cv.ComponentVector(z=1 + 0j, r=1.0)
    sol = cv.solve_ivp(lambda t, y: {"z": 1j * y.z, "r": -y.r}, (0, 1), v, rtol=1e-8, atol=1e-9)
    assert sol.y["z"].shape == (2, sol.t.size)
    assert_allclose(sol.y["z"][:, -1], [math.cos(1), math.sin(1)], atol=1e-6)


def test_arrays_are_plain():
    """As in SciPy, `vectorized` and all."""
    sol = cv.solve_ivp(
        grow_flat, (0, 3), [2.0, 1.0, 0.5, 3.0], dense_output=True, events=lambda t, y: y[0] - 1
    )
    assert type(sol.y) is type(sol.sol(1.0)) is type(sol.y_events[0]) is np.ndarray
    assert_array_equal(sol.y, by_hand().y)
    sol = cv.solve_ivp(lambda t, y: -y, (0, 1), [1.0, 2.0], "Radau", vectorized=True)
    assert sol.success


def test_options_pass_through_and_tolerances_may_be_labelled():
    """Steps, tolerances and t_eval."""
    loose = start() * 0 + 1e-2
    theirs = by_hand(atol=np.full(4, 1e-2))
    assert_array_equal(cv.solve_ivp(grow, (0, 3), start(), atol=loose).y, theirs.y)
    by_name = {"prey": 1e-2, "hunters": [1e-2, 1e-2], "land": {"grass": [[1e-2]]}}
    assert_array_equal(cv.solve_ivp(grow, (0, 3), start(), atol=by_name).y, theirs.y)
    assert cv.solve_ivp(grow, (0, 3), start(), max_step=0.1).t.size > 30
    back = cv.solve_ivp(grow, (3, 0), start(), t_eval=[2.0, 1.0])
    assert back.t.tolist() == [2.0, 1.0] and back.y["prey"].shape == (2,)
    tight = cv.solve_ivp(grow, (0, 3), start(), rtol=np.array(1e-8), max_step=np.array(0.1))
    assert_array_equal(tight.y, by_hand(rtol=1e-8, max_step=0.1).y)
    none = cv.solve_ivp(grow, (0, 3), start(), t_eval=[])
    assert none.y["hunters"].shape == (2, 0)
    z = cv.ComponentVector(z=1 + 0j)
    sol = cv.solve_ivp(lambda t, y: -y, (0, 1), z, "Radau", atol=np.array([1e-8]))
    assert sol.success
    sol = cv.solve_ivp(grow, (0, 3), start(), DOP853)
    assert_array_equal(sol.y, by_hand("DOP853").y)


def test_warnings_of_scipy_come_through():
    """A Jacobian for an explicit method."""
    with pytest.warns(UserWarning, match="no effect"):
        cv.solve_ivp(grow, (0, 1), start(), jac=True)


@pytest.mark.parametrize("method", METHODS)
def test_states_that_are_kept_are_not_overwritten(method):
    """LSODA works in one buffer; results are memory of their own."""
    kept, copies = [], []

    def fun(t, y):
        kept.append(y)
        copies.append(y.tolist())
        return grow(t, y)

    y0 = start()
    sol = cv.solve_ivp(
        fun,
        (0, 1),
        y0,
        method,
        events=lambda t, y: kept.append(y) or copies.append(y.tolist()) or 1.0,
    )
    assert [y.tolist() for y in kept] == copies
    assert not any(np.shares_memory(sol.y, y) for y in kept)
    assert y0.tolist() == start().tolist()


def test_function_that_reuses_its_result_does_no_harm():
    """Each derivative is copied."""
    buffer = start() * 0

    def fun(t, y):
        buffer[:] = -y
        return buffer

    sol = cv.solve_ivp(fun, (0, 1), start(), rtol=1e-8)
    assert_allclose(sol.y[:, -1], start() * math.exp(-1), rtol=1e-5)


def test_bad_input_says_what_is_expected():
    """Names, sizes, types, and numbers that are none."""
    lacking = lambda t, y: {"prey": y.prey}
    with pytest.raises(KeyError, match="no value for component 'hunters'"):
        cv.solve_ivp(lacking, (0, 1), start())
    more = lambda t, y: grow(t, y) | {"extra": 1.0}
    with pytest.raises(KeyError, match="extra"):
        cv.solve_ivp(more, (0, 1), start())
    with pytest.raises(ValueError, match=r"the derivative must have 4 entries, got shape \(2,\)"):
        cv.solve_ivp(lambda t, y: y.hunters, (0, 1), start())
    with pytest.raises(ValueError, match="has shape"):
        cv.solve_ivp(lambda t, y: grow(t, y) | {"prey": y.hunters}, (0, 1), start())
    with pytest.raises(TypeError, match="the derivative must be real"):
        cv.solve_ivp(lambda t, y: 1j * np.ones(4), (0, 1), start())
    with pytest.raises(TypeError, match="the derivative must hold numbers, got None"):
        cv.solve_ivp(lambda t, y: None, (0, 1), start())
    with pytest.raises(TypeError, match="y0: expected a ComponentVector, a model or an array"):
        cv.solve_ivp(grow, (0, 1), None)
    with pytest.raises(ValueError, match="y0 must have one axis"):
        cv.solve_ivp(grow, (0, 1), np.ones((2, 2)))
    with pytest.raises(ValueError, match="vectorized functions have no named states"):
        cv.solve_ivp(grow, (0, 1), start(), vectorized=True)
    with pytest.raises(ValueError, match="`method` must be one of"):
        cv.solve_ivp(grow, (0, 1), start(), "RK99")
    with pytest.raises(ValueError, match=r"the Jacobian must have the shape \(m, 4\), got"):
        cv.solve_ivp(grow, (0, 1), start(), "BDF", jac=np.eye(2))
    with pytest.raises(ValueError, match="jac must be None or \"2-point\" .*, got '3-point'"):
        cv.solve_ivp(grow, (0, 1), start(), "BDF", jac="3-point")
    bad = start()
    bad.hunters[1] = np.nan
    with pytest.raises(ValueError, match=r"y0 is not finite: 'hunters\[1\]' is nan"):
        cv.solve_ivp(grow, (0, 1), bad)


def test_derivative_that_is_not_finite_at_the_start_names_the_label():
    """Where SciPy would go on for ever."""
    fun = lambda t, y: grow(t, y) | {"prey": np.nan}
    with pytest.raises(ValueError, match="not finite at the start: that of 'prey' is nan"):
        cv.solve_ivp(fun, (0, 1), start())


def test_exceptions_of_the_function_come_through():
    """As they are."""

    def fun(t, y):
        raise LookupError("mine")

    for jac in (None, True):
        with pytest.raises(LookupError, match="mine") as caught:
            cv.solve_ivp(fun, (0, 1), start(), "BDF", jac=jac)
        assert not hasattr(caught.value, "__notes__")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed = cv.solve_ivp(lambda t, y: y**2, (0, 10), cv.ComponentVector(x=1.0), max_step=0.5)
    assert failed.status == -1 and failed.y["x"].shape == failed.t.shape


def test_an_empty_state_is_solved():
    """Nothing moves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sol = cv.solve_ivp(lambda t, y: y, (0, 1), cv.ComponentVector(), first_step=0.5)
    assert sol.y.shape[0] == 0


def test_states_are_lent_read_only():
    """To derivatives, Jacobians and events alike."""
    v = cv.ComponentVector(x=1.0)

    def write(t, y):
        y.x = 0.0
        return y

    for given in ({"fun": write}, {"jac": write, "method": "BDF"}, {"events": write}):
        with pytest.raises(ValueError, match="'x' is read-only; copy it first"):
            cv.solve_ivp(**{"fun": lambda t, y: -y, "t_span": (0, 1), "y0": v, **given})


def test_a_derivative_without_return_is_named():
    """None is no derivative."""
    with pytest.raises(TypeError, match="got None: did it forget to return"):
        cv.solve_ivp(lambda t, y: None, (0, 1), cv.ComponentVector(x=1.0))
