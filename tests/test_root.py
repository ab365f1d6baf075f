"""`root` by name."""

import math

import autograd.numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose

import componentvec as cv

METHODS = (
    *("hybr", "lm", "broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden"),
    *("excitingmixing", "krylov", "df-sane"),
)


def start():
    """Near the solution x = y = sqrt(2), z = 1."""
    return cv.ComponentVector(x=1.3, yz=[1.5, 0.9])


def equations(v):
    """A circle, a line, and a cubic."""
    x, y, z = v.x, v.yz[0], v.yz[1]
    return {"circle": x**2 + y**2 - 4, "rest": np.array([x - y, z**3 - 1])}


SOLUTION = [2**0.5, 2**0.5, 1.0]


def flat(x):
    """The same equations of an array."""
    return np.array([x[0] ** 2 + x[1] ** 2 - 4, x[0] - x[1], x[2] ** 3 - 1])


@pytest.mark.parametrize("method", ["hybr", "lm", "HYBR", "krylov", "df-sane", "broyden1"])
def test_solution_and_values_have_names(method):
    """Of the unknowns, and of what the function gives."""
    res = cv.root(equations, start(), method=method, tol=1e-10)
    assert res.success
    assert_allclose(res.x, SOLUTION, atol=1e-6)
    assert res.x.layout == start().layout
    assert res.fun.keys() == ["circle", "rest"]
    assert_allclose(res.fun, 0, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_scipy_runs(method):
    """On an easy linear problem; those without use for a Jacobian are given none."""
    v = cv.ComponentVector(a=1.0, b=[0.5])
    res = cv.root(lambda v: {"e": 0.9 - v.a, "f": 0.4 - v.b}, v, method=method)
    assert_allclose(res.x, [0.9, 0.4], atol=1e-4)


@pytest.mark.parametrize(
    "given",
    [
        lambda v: v.layout.wrap(flat(cv.data(v))) if type(v) is cv.ComponentVector else _vector(v),
        lambda v: flat(cv.data(v)),
        lambda v: [v.x**2 + v.yz[0] ** 2 - 4, v.x - v.yz[0], v.yz[1] ** 3 - 1],
        lambda v: cv.ComponentVector(a={"b": flat(cv.data(v))}),
        lambda v: np.reshape(flat(cv.data(v)), (3, 1)),
    ],
)
def test_equations_may_be_vectors_dicts_lists_and_arrays(given):
    """Of as many entries."""
    res = cv.root(given, start())
    assert_allclose(res.x, SOLUTION)
    assert np.shape(res.fun) == np.shape(given(start()))


def _vector(v):
    """Equations as a vector, traced."""
    found = flat(cv.data(v))
    return cv.ComponentVector(x=found[0], yz=found[1:])


def test_jacobian_is_exact():
    """As many calls as with one by hand."""
    ours = cv.root(equations, start(), tol=1e-12)
    theirs = scipy.optimize.root(
        flat,
        [1.3, 1.5, 0.9],
        jac=lambda x: np.array([[2 * x[0], 2 * x[1], 0], [1, -1, 0], [0, 0, 3 * x[2] ** 2]]),
        tol=1e-12,
    )
    assert_allclose(ours.x, theirs.x, rtol=1e-14)
    assert (ours.nfev, ours.njev) == (theirs.nfev, theirs.njev)
    assert_allclose(ours.fjac, theirs.fjac)
    assert set(ours) == set(theirs)


@pytest.mark.parametrize("jac", ["2-point", False, "3-point", "cs"])
@pytest.mark.parametrize("method", ["hybr", "lm"])
def test_finite_differences_trace_nothing(method, jac):
    """A function that autograd cannot trace."""

    def fun(v):
        assert type(v) is cv.ComponentVector
        return flat(np.asarray(v))

    res = cv.root(fun, start(), method=method, jac=jac)
    assert_allclose(res.x, SOLUTION, atol=1e-6)


@pytest.mark.parametrize("method", ["hybr", "lm"])
@pytest.mark.parametrize("col_deriv", [False, True])
def test_jacobian_by_hand_may_be_a_matrix_by_name(method, col_deriv):
    """Or come with the values; `col_deriv` transposes."""

    def jac(v):
        found = cv.jacobian(equations)(v)
        return found.T if col_deriv else found

    options = {"col_deriv": col_deriv}
    res = cv.root(equations, start(), method=method, jac=jac, options=options)
    assert_allclose(res.x, SOLUTION)
    res = cv.root(equations, start(), method=method, options=options)
    assert_allclose(res.x, SOLUTION)
    both = lambda v: (equations(v), jac(v))
    res = cv.root(both, start(), method=method, jac=True, options=options)
    assert_allclose(res.x, SOLUTION)
    assert res.fun.keys() == ["circle", "rest"]


def test_args_and_options_are_passed_on():
    """A single argument, and options of the method by name."""
    res = cv.root(lambda v, c: v.a**2 - c, cv.ComponentVector(a=1.0), 9.0, xtol=1e-12)
    assert res.x.a == pytest.approx(3)
    res = cv.root(
        lambda v, c: v.a**2 - c,
        cv.ComponentVector(a=1.0),
        (9.0,),
        jac=lambda v, c: [[2 * v.a]],
        options={"maxfev": 2},
    )
    assert not res.success
    with pytest.warns(scipy.optimize.OptimizeWarning, match="Unknown solver options: xtall"):
        cv.root(equations, start(), xtall=1)


def test_models_are_solved():
    """And come back in their own dtypes."""
    model = {"w": np.array([1.0, 1.0], np.float32), "n": 2}
    res = cv.root(lambda m: {"e": m["w"] ** m["n"] - np.array([4.0, 9.0])}, model)
    assert res.model["w"].dtype == np.float32 and res.model["n"] == 2
    assert_allclose(res.model["w"], [2, 3])
    assert type(res.x) is cv.ComponentVector


def test_arrays_are_plain():
    """Of any number of axes."""
    res = cv.root(flat, [1.3, 1.5, 0.9])
    assert type(res.x) is type(res.fun) is np.ndarray
    for method in ("hybr", "krylov"):
        res = cv.root(lambda x: x**2 - 4, np.ones((2, 2)), method=method)
        assert res.x.shape == res.fun.shape == (2, 2)
        assert_allclose(res.x, np.full((2, 2), 2.0), atol=1e-4)


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov"])
def test_complex_unknowns_and_equations_are_pairs(method):
    """Results are complex again."""
    v = cv.ComponentVector(z=0.5 + 0.5j, w=[1 + 0.2j])
    fun = lambda v: {"a": v.z**2 - 1j, "b": v.w * np.conj(v.z) - 1}
    res = cv.root(fun, v, method=method, tol=1e-10)
    z = np.exp(1j * np.pi / 4)
    assert_allclose(res.x.z, z, atol=1e-6)
    assert_allclose(res.x.w, [1 / np.conj(z)], atol=1e-6)
    assert res.x.dtype == res.fun.dtype == complex


def test_complex_jacobians_by_hand_are_those_of_analytic_functions():
    """One complex entry for each complex pair, or all four real ones."""
    v = cv.ComponentVector(z=0.5 + 0.5j)
    fun = lambda v: v.z**2 - 1j
    for jac in (
        lambda v: [[2 * v.z]],
        lambda v: 2 * np.array([[v.z.real, -v.z.imag], [v.z.imag, v.z.real]]),
        cv.jacobian(fun),
    ):
        assert_allclose(cv.root(fun, v, jac=jac).x.z, np.exp(1j * np.pi / 4))


def test_complex_equations_in_twice_as_many_real_unknowns():
    """Entries are counted as real ones."""
    v = cv.ComponentVector(x=0.5, y=0.4)
    res = cv.root(lambda v: (v.x + 1j * v.y) ** 2 - 1j, v)
    assert_allclose(res.x, [0.5**0.5, 0.5**0.5])
    assert res.fun.dtype == complex
    res = cv.root(
        lambda v: (v.x + 1j * v.y) ** 2 - 1j,
        v,
        jac=lambda v: 2 * np.array([[v.x + 1j * v.y, 1j * (v.x + 1j * v.y)]]),
    )
    assert_allclose(res.x, [0.5**0.5, 0.5**0.5])


def test_what_the_function_gets_is_not_overwritten():
    """MINPACK works in one buffer."""
    seen = []
    cv.root(lambda v: seen.append(v) or equations(v), start(), jac="2-point")
    assert len({v.tolist() == seen[-1].tolist() for v in seen}) == 2
    assert not any(np.shares_memory(seen[0], v) for v in seen[1:])


def test_start_is_never_changed_and_results_are_own_memory():
    """Vector and model."""
    v = start()
    res = cv.root(equations, v)
    assert v.tolist() == start().tolist()
    assert not np.shares_memory(res.x, v)
    assert not np.shares_memory(res.x, res.fun)
    assert cv.data(res.x).flags.writeable and cv.data(res.fun).flags.writeable
    model = {"w": np.array([1.0, 1.0])}
    res = cv.root(lambda m: m["w"] - 3, model)
    assert model["w"].tolist() == [1.0, 1.0] and res.model["w"].tolist() == [3.0, 3.0]
    assert not np.shares_memory(res.model["w"], model["w"])


def test_float32_is_solved_in_double_precision():
    """What the function gets, and the solution."""
    seen = set()
    fun = lambda v: seen.add(v.dtype) or v.a**2 - 2
    res = cv.root(fun, cv.ComponentVector(a=np.ones(1, np.float32)), jac="2-point")
    assert seen == {res.x.dtype} == {np.dtype(float)}
    assert res.x.a[0] == pytest.approx(2**0.5, rel=1e-12)


def test_nothing_to_solve_is_solved():
    """An empty vector."""
    res = cv.root(lambda v: cv.data(v), cv.ComponentVector())
    assert res.success and res.x.size == 0


@pytest.mark.parametrize("method", ["krylov", "df-sane", "anderson"])
def test_jacobian_for_a_method_without_use_for_one_is_scipys_warning(method):
    """The run goes on without."""
    jacobian = cv.jacobian(equations)
    both = {True: lambda v: (equations(v), jacobian(v))}
    for jac in (True, jacobian, "3-point"):
        with pytest.warns(RuntimeWarning, match="does not use the jacobian"):
            res = cv.root(both.get(jac, equations), start(), method=method, jac=jac)
        assert_allclose(res.x, SOLUTION, atol=1e-4)
    for jac in (False, "2-point"):
        assert cv.root(equations, start(), method=method, jac=jac).success
    with pytest.raises(ValueError, match="jac must be None"):
        cv.root(equations, start(), method=method, jac="4-point")


def test_method_is_a_name_and_a_pair_is_a_pair():
    """And nothing else."""
    with pytest.raises(ValueError, match="method must be the name of one of SciPy's methods"):
        cv.root(equations, start(), method=len)
    with pytest.raises(TypeError, match="return a pair, its value and its Jacobian, got dict"):
        cv.root(equations, start(), jac=True)


def test_wrong_number_of_equations_says_how_many():
    """Methods for square systems; `lm` takes more equations than unknowns."""
    with pytest.raises(ValueError, match="as many equations as unknowns, got 2 for 3"):
        cv.root(lambda v: v.yz, start())
    with pytest.raises(ValueError, match="got 2 for 1"):
        cv.root(lambda v: v.x + 1j, cv.ComponentVector(x=1.0))
    res = cv.root(lambda v: [v.x - 1, v.x - 1, 2 * v.x - 2], cv.ComponentVector(x=0.0), method="lm")
    assert res.x.x == pytest.approx(1)


def test_values_that_are_not_finite_at_the_start_name_the_label():
    """Or the position."""
    with pytest.raises(ValueError, match=r"the equations are not finite at x0: 'e\[1\]' is nan"):
        cv.root(lambda v: {"d": v.x, "e": np.array([1, np.nan]) * v.x}, start())
    with pytest.raises(ValueError, match="entry 1 is inf"):
        cv.root(lambda v: np.array([1, np.inf, 1]) * v.x, start())
    with pytest.raises(ValueError, match="entry 0.im is nan"):
        cv.root(lambda v: np.array([complex(0, np.nan)]) + v.x, start())


def test_bad_input_says_what_is_expected():
    """Types, options and results."""
    with pytest.raises(TypeError, match="x0: expected a ComponentVector, a model or an array"):
        cv.root(flat, None)
    with pytest.raises(ValueError, match="jac must be None, True, False, callable, "):
        cv.root(equations, start(), jac="4-point")
    with pytest.raises(TypeError, match="the equations must be numbers"):
        cv.root(lambda v: None, start())
    with pytest.raises(ValueError, match="Unknown solver"):
        cv.root(equations, start(), method="newton")
    with pytest.raises(
        ValueError, match=r"the Jacobian must have the shape \(m, 3\), got \(2, 2\)"
    ):
        cv.root(equations, start(), jac=lambda v: np.eye(2))
    with pytest.raises(ValueError, match='jac="cs" steps into the complex plane'):
        cv.root(lambda v: v.z, cv.ComponentVector(z=1j), jac="cs")
    with pytest.warns(RuntimeWarning, match="does not use the jacobian"):
        cv.root(equations, start(), method="krylov", jac=cv.jacobian(equations))


def test_function_that_autograd_cannot_trace_gains_a_note():
    """It says what to do; and that works."""
    fun = lambda v: math.exp(v.x) - 2
    v = cv.ComponentVector(x=0.0)
    with pytest.raises(TypeError) as caught:
        cv.root(fun, v)
    assert 'jac="2-point"' in caught.value.__notes__[0]
    assert cv.root(fun, v, jac="2-point").x.x == pytest.approx(math.log(2))
    with pytest.raises(ZeroDivisionError) as caught:
        cv.root(lambda v: 1 / 0, v)
    assert not hasattr(caught.value, "__notes__")
