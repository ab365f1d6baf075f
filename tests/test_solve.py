"""`minimize` by name: derivatives, results, fixed entries, complex numbers, and bad input."""

import copy
import pickle
import warnings
from dataclasses import dataclass

import autograd.numpy as np
import numpy
import pytest
import scipy.optimize
from autograd import value_and_grad
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import BFGS, SR1, LbfgsInvHessProduct, OptimizeResult, rosen, rosen_der
from scipy.optimize._minimize import MINIMIZE_METHODS
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

import componentvec as cv

START = [1.3, 0.7, 0.8, 1.9]
GRADIENT = ("CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "SLSQP", "trust-constr")
SECOND = ("trust-ncg", "trust-krylov", "trust-exact")
FREE = ("Nelder-Mead", "Powell", "COBYLA") + ("COBYQA",) * ("cobyqa" in MINIMIZE_METHODS)
DIFFERENCES = ("CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "trust-constr")
QUADRATIC = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, 0.0], [0.5, 0.0, 1.0]])
TARGET = np.array([1.0, -2.0, 0.5])


def named(values=START):
    """The start of most tests: names of several kinds."""
    a, b, c, d = values
    return cv.ComponentVector(a=a, b=[b, c], g={"w": [[d]]})


def rosenbrock(v):
    """Rosenbrock's function of the entries, in order."""
    x = np.concatenate([np.array([v.a]), v.b, v.g.w[0]])
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def quadratic(v):
    """A convex quadratic with its minimum at TARGET."""
    r = cv.data(v) - TARGET
    return 0.5 * r @ QUADRATIC @ r


def quadratic_start():
    """Three entries in two components."""
    return cv.ComponentVector(p=[4.0, 3.0], q=2.0)


def counting(fun):
    """The function, and a list that grows with each call."""
    calls = []

    def counted(*args):
        calls.append(args[0])
        return fun(*args)

    return counted, calls


@dataclass
class Model:
    """Parameters, a tie, and things that are not to be trained."""

    w: object
    back: object
    offset: object
    name: str = "model"
    scale: float = 2.0
    mean: object = cv.buffer(default=None)


def model():
    """A model whose `back` is the transpose of `w`."""
    w = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    return Model(w, w.T, np.array([0.5, -0.5]), mean=np.array([9.0]))


def model_loss(m):
    """Minimal at w = 1, offset = 3."""
    return np.sum((m.w - 1) ** 2) + np.sum((m.back - 1) ** 2) + np.sum((m.offset - 3) ** 2)


# -- what the function gets --------------------------------------------------------------------


def test_function_of_a_vector_gets_vectors():
    """Attributes, items and labels are those of x0."""
    seen = []
    cv.minimize(lambda v: seen.append(v) or np.sum(v.b**2), named(), jac="2-point")
    assert all(type(v) is cv.ComponentVector for v in seen)
    assert all(cv.layout(v) == named().layout for v in seen)


def test_function_gets_views_on_the_x_of_the_method():
    """What a method of the user's passes is the very buffer."""

    def method(fun, x, **options):
        value = fun(x)
        x[:] = 7.0
        return OptimizeResult(x=x, fun=value, seen=seen[-1][0])

    seen = []
    res = cv.minimize(
        lambda v: seen.append(cv.data(v)) or v.a, named(), jac="2-point", method=method
    )
    assert res.seen == 7.0
    assert res.x.tolist() == [7.0] * 4


def test_function_of_a_model_gets_models():
    """Of the same class, tied, with static parts and buffers as they were."""
    start = model()
    seen = []
    cv.minimize(lambda m: seen.append(m) or np.sum(m.w**2), start, jac="2-point")
    assert type(seen[0]) is Model
    assert np.shares_memory(seen[0].w, seen[0].back)
    assert seen[0].name == "model"
    assert seen[0].mean is start.mean


def test_function_of_an_array_gets_arrays_and_results_are_plain():
    """As SciPy, with exact derivatives."""
    seen = []
    res = cv.minimize(lambda x: seen.append(x) or np.sum((x - TARGET) ** 2), [0.0, 0.0, 0.0])
    assert res.success
    assert type(res.x) is type(res.jac) is type(res.hess_inv) is np.ndarray
    assert_allclose(res.x, TARGET)


def test_a_number_is_an_array_of_one_entry():
    """As in SciPy."""
    res = cv.minimize(lambda x: (x[0] - 3) ** 2, 1.0)
    assert_allclose(res.x, [3.0])


@pytest.mark.parametrize("args", [(2.0,), 2.0])
def test_args_are_a_tuple_or_a_single_value(args):
    """Passed to the function and its derivatives alike."""
    res = cv.minimize(
        lambda v, c: c * np.sum((v.b - c) ** 2),
        cv.ComponentVector(b=[0.0, 0.0]),
        args,
        jac=lambda v, c: 2 * c * (v.b - c),
    )
    assert_allclose(res.x.b, [2.0, 2.0])


def test_start_is_never_changed():
    """Neither the vector nor the model."""
    v, m = named(), model()
    before = v.copy(), copy.deepcopy(m)
    cv.minimize(rosenbrock, v)
    cv.minimize(model_loss, m)
    assert (v == before[0]).all()
    assert (m.w == before[1].w).all() and (m.offset == before[1].offset).all()


# -- derivatives by autograd -------------------------------------------------------------------


@pytest.mark.parametrize("method", GRADIENT + SECOND)
def test_exact_derivatives_take_the_steps_of_a_hand_written_call(method):
    """Rosenbrock: SciPy with the derivatives that it itself supplies ends at the same point."""
    by_hand = {"jac": rosen_der}
    if method in ("trust-exact",):
        by_hand["hess"] = scipy.optimize.rosen_hess
    elif method in ("Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"):
        by_hand["hessp"] = scipy.optimize.rosen_hess_prod
    options = {"maxiter": 6}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == "TNC":
            options = {"maxfun": 20}
        ours = cv.minimize(rosenbrock, named(), method=method, options=options)
        theirs = scipy.optimize.minimize(rosen, START, method=method, options=options, **by_hand)
    assert_allclose(ours.x, theirs.x, rtol=1e-8)
    assert_allclose(ours.fun, theirs.fun, rtol=1e-7)
    assert ours.nfev == theirs.nfev


@pytest.mark.parametrize("method", GRADIENT + SECOND + ("dogleg",))
def test_every_method_with_derivatives_finds_the_minimum(method):
    """Of a convex quadratic."""
    res = cv.minimize(quadratic, quadratic_start(), method=method, tol=1e-10)
    assert_allclose(res.x, TARGET, atol=1e-5)
    assert type(res.x) is cv.ComponentVector


@pytest.mark.parametrize("method", FREE)
def test_methods_without_derivatives_are_not_given_any(method):
    """SciPy would warn; and nothing is traced, so plain NumPy will do."""
    start = cv.ComponentVector(p=[0.0, 0.0])
    res = cv.minimize(lambda v: float(np.sum((v.p - 1) ** 2)), start, method=method, tol=1e-8)
    assert_allclose(res.x.p, [1.0, 1.0], atol=1e-3)
    assert "jac" not in res


@pytest.mark.parametrize("method", ["BFGS", "CG", "L-BFGS-B", "SLSQP"])
def test_value_and_gradient_cost_one_call(method):
    """SciPy asks for them one by one; the function runs once for each x, the start included."""
    fun, calls = counting(rosenbrock)
    res = cv.minimize(fun, named(), method=method)
    assert len(calls) <= res.nfev


def test_products_with_one_hessian_cost_one_more_call():
    """The inner iterations of Newton-CG go on without calling the function."""
    fun, calls = counting(rosenbrock)
    res = cv.minimize(fun, named(), method="Newton-CG")
    assert len(calls) <= res.nfev + res.nit
    assert res.nhev > res.nit


def test_gradient_of_a_method_that_reuses_its_buffer_is_right():
    """Value at one x, buffer overwritten, gradient at the first x again."""
    found = []

    def method(fun, x, jac, **options):
        first = x.copy()
        fun(x)
        x[:] = 5.0
        found.append(jac(first))
        return OptimizeResult(x=first, fun=fun(first))

    v = quadratic_start()
    cv.minimize(quadratic, v, method=method)
    assert_allclose(found[0], QUADRATIC @ (v - TARGET))


def test_gradients_given_to_the_method_are_fresh_memory():
    """A method that writes into one does no harm."""

    def method(fun, x, jac, **options):
        one, two = jac(x), jac(x)
        one[:] = 0.0
        assert not np.shares_memory(one, two)
        return OptimizeResult(x=x, fun=fun(x), jac=jac(x))

    for start in (quadratic_start(), quadratic_start().tolist()):
        fun = quadratic if isinstance(start, cv.ComponentVector) else lambda x: np.dot(TARGET, x)
        res = cv.minimize(fun, start, method=method)
        assert np.any(np.asarray(res.jac) != 0)
    assert_array_equal(TARGET, [1.0, -2.0, 0.5])


def test_constant_function_has_the_gradient_zero():
    """A function that does not read its argument."""
    res = cv.minimize(lambda v: 3.0, named())
    assert res.success and res.fun == 3.0
    assert res.jac.tolist() == [0.0] * 4


# -- derivatives by hand -----------------------------------------------------------------------


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "SLSQP", "Nelder-Mead"])
def test_jac_true_takes_value_and_gradient_from_the_function(method):
    """As in SciPy; one call each."""

    def both(v):
        r = cv.data(v) - TARGET
        return 0.5 * r @ QUADRATIC @ r, QUADRATIC @ r

    fun, calls = counting(both)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Nelder-Mead has no use for a gradient
        res = cv.minimize(fun, quadratic_start(), method=method, jac=True, tol=1e-9)
    assert_allclose(res.x, TARGET, atol=1e-4)
    assert len(calls) <= res.nfev


@pytest.mark.parametrize(
    "shape",
    [
        lambda v, g: g,
        lambda v, g: list(g),
        lambda v, g: v.layout.wrap(g),
        lambda v, g: {"p": g[:2], "q": g[2]},
        lambda v, g: cv.ComponentVector(q=g[2], p=g[:2]),
    ],
)
def test_gradient_may_be_flat_or_by_name(shape):
    """Array, list, vector, tree, and a vector in another order."""

    def jac(v):
        return shape(v, QUADRATIC @ (cv.data(v) - TARGET))

    res = cv.minimize(quadratic, quadratic_start(), jac=jac)
    assert_allclose(res.x, TARGET, atol=1e-6)


def test_gradient_of_a_model_may_be_the_tree_of_grad():
    """None at static parts and buffers, the total at tied places; or flat; or a vector."""
    layout = cv.destructure(model())[1].layout
    res = cv.minimize(cv.value_and_grad(model_loss), model(), jac=True)
    assert_allclose(res.model.offset, [3.0, 3.0], atol=1e-6)
    for jac in (
        cv.grad(model_loss),
        lambda m: cv.destructure(cv.grad(model_loss)(m))[0],
        lambda m: np.asarray(cv.jacobian(model_loss)(m))[0],
        lambda m: layout.wrap(np.asarray(cv.jacobian(model_loss)(m))[0]),
    ):
        res = cv.minimize(model_loss, model(), jac=jac)
        assert_allclose(res.model.w, np.ones((2, 3)), atol=1e-6)
        assert_allclose(res.model.offset, [3.0, 3.0], atol=1e-6)


def test_gradient_buffer_that_the_user_reuses_does_no_harm():
    """Each gradient is copied."""
    buffer = np.empty(3)

    def jac(v):
        buffer[:] = QUADRATIC @ (cv.data(v) - TARGET)
        return buffer

    for method in ("BFGS", "CG", "L-BFGS-B"):
        res = cv.minimize(quadratic, quadratic_start(), jac=jac, method=method)
        assert_allclose(res.x, TARGET, atol=1e-5)
        assert not np.shares_memory(res.jac, buffer)


@pytest.mark.parametrize("jac", ["2-point", "3-point", "cs", False])
@pytest.mark.parametrize("method", DIFFERENCES)
def test_finite_differences_are_those_of_scipy(method, jac):
    """The same end as a hand-written call; nothing is traced."""

    def fun(v):
        assert type(v) is cv.ComponentVector
        x = cv.data(v)
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    options = {"maxfun" if method == "TNC" else "maxiter": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = cv.minimize(fun, named(), method=method, jac=jac, options=options)
        theirs = scipy.optimize.minimize(rosen, START, method=method, jac=jac, options=options)
    assert_allclose(ours.x, theirs.x, rtol=1e-6)
    assert ours.nfev == theirs.nfev


def test_complex_step_reaches_models():
    """The parameters of the model that the function gets are complex."""
    kinds = set()

    def fun(m):
        kinds.add(m["w"].dtype.kind)
        return np.sum((m["w"] - 2) ** 2) + np.sum((m["u"] + 1) ** 2)

    start = {"w": np.zeros(2), "u": np.zeros(2, dtype=np.float32)}
    res = cv.minimize(fun, start, jac="cs")
    assert kinds == {"f", "c"}
    assert_allclose(res.x, [2, 2, -1, -1], atol=1e-6)


def test_complex_step_goes_with_fixed_entries():
    """They have their values, and no step."""
    fun = lambda v: np.sum((v.p - v.q) ** 2)
    res = cv.minimize(fun, quadratic_start(), jac="cs", fixed="q", tol=1e-9)
    assert res.x.q == 2.0 and res.jac.q == 0.0
    assert_allclose(res.x.p, [2.0, 2.0], atol=1e-8)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"])
def test_hessian_products_by_hand_get_labelled_directions(method):
    """The direction is a vector of the layout; the product may be given by name."""

    def hessp(v, p):
        assert type(v) is cv.ComponentVector and p.layout == v.layout
        product = QUADRATIC @ cv.data(p)
        return {"p": product[:2], "q": product[2]}

    res = cv.minimize(quadratic, quadratic_start(), method=method, hessp=hessp, tol=1e-10)
    assert_allclose(res.x, TARGET, atol=1e-5)


@pytest.mark.parametrize("method", ["trust-exact", "dogleg", "Newton-CG", "trust-constr"])
def test_hessian_by_hand_may_be_a_matrix_by_name(method):
    """ComponentMatrix, array, sparse and operator, as far as the method takes them."""
    matrices = [cv.hessian(quadratic), lambda v: QUADRATIC]
    if method in ("Newton-CG", "trust-constr"):
        matrices.append(lambda v: csr_array(QUADRATIC))
    if method == "trust-constr":
        matrices.append(lambda v: LinearOperator((3, 3), matvec=lambda p: QUADRATIC @ p))
    for hess in matrices:
        res = cv.minimize(quadratic, quadratic_start(), method=method, hess=hess)
        assert_allclose(res.x, TARGET, atol=1e-5)


def test_models_work_with_second_derivatives_by_hand():
    """`hvp` and `hessian` of the model take what the solver passes."""
    for given in (
        {"method": "trust-ncg", "hessp": cv.hvp(model_loss)},
        {"method": "trust-exact", "hess": cv.hessian(model_loss)},
    ):
        res = cv.minimize(model_loss, model(), **given)
        assert_allclose(res.model.offset, [3.0, 3.0], atol=1e-6)


@pytest.mark.parametrize("hess", ["2-point", "3-point", BFGS(), SR1()])
def test_hessian_strategies_pass_through(hess):
    """To the methods of SciPy that take them."""
    res = cv.minimize(quadratic, quadratic_start(), method="trust-constr", hess=hess, tol=1e-9)
    assert_allclose(res.x, TARGET, atol=1e-5)


def test_gradient_by_hand_leaves_the_exact_hessian_to_methods_that_need_one():
    """trust-exact could not run without."""
    jac = lambda v: QUADRATIC @ (cv.data(v) - TARGET)
    for method in ("trust-exact", "trust-ncg"):
        res = cv.minimize(quadratic, quadratic_start(), method=method, jac=jac, tol=1e-10)
        assert_allclose(res.x, TARGET, atol=1e-6)


def test_wrong_size_of_a_gradient_says_expected_and_given():
    """Also in a Hessian."""
    with pytest.raises(ValueError, match=r"the gradient must have 3 entries, got shape \(2,\)"):
        cv.minimize(quadratic, quadratic_start(), jac=lambda v: [1.0, 2.0])
    with pytest.raises(ValueError, match=r"the Hessian must have the shape \(3, 3\), got \(2, 2\)"):
        cv.minimize(quadratic, quadratic_start(), method="trust-exact", hess=lambda v: np.eye(2))
    with pytest.raises(TypeError, match="the Hessian must be a matrix of numbers, got shape"):
        cv.minimize(
            quadratic, quadratic_start(), method="dogleg", hess=lambda v: np.ones((3, 3, 3))
        )
    with pytest.raises(KeyError, match="no value for component 'q'"):
        cv.minimize(quadratic, quadratic_start(), jac=lambda v: {"p": v.p})
    with pytest.raises(TypeError, match="the gradient must be real"):
        cv.minimize(quadratic, quadratic_start(), jac=lambda v: [1j, 0, 0])
    with pytest.raises(TypeError, match="the gradient must hold numbers, got None"):
        cv.minimize(quadratic, quadratic_start(), jac=lambda v: None)


# -- methods -----------------------------------------------------------------------------------


def test_default_method_is_bfgs_or_follows_from_bounds_and_constraints():
    """hess_inv is dense, limited, or not there."""
    start = quadratic_start()
    assert type(cv.minimize(quadratic, start).hess_inv) is cv.ComponentMatrix
    res = cv.minimize(quadratic, start, bounds={"q": (0, 5)})
    assert type(res.hess_inv) is LbfgsInvHessProduct
    res = cv.minimize(quadratic, start, constraints={"type": "eq", "fun": lambda v: v.q - 1})
    assert "hess_inv" not in res and res.x.q == pytest.approx(1)
    both = cv.minimize(
        quadratic,
        start,
        bounds={"p": (0, None)},
        constraints={"type": "ineq", "fun": lambda v: v.q},
    )
    assert both.x.p[1] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("method", ["BFGS", "bfgs", "Bfgs", cv.bfgs, None])
def test_bfgs_by_any_name_is_the_one_of_this_package(method):
    """Exactly the result of a direct call."""
    ours = cv.minimize(quadratic, quadratic_start(), method=method, tol=1e-9)
    direct = cv.bfgs(
        lambda x: 0.5 * (x - TARGET) @ QUADRATIC @ (x - TARGET),
        [4.0, 3.0, 2.0],
        jac=lambda x: QUADRATIC @ (x - TARGET),
        tol=1e-9,
    )
    assert ours.nit == direct.nit
    assert_allclose(np.asarray(ours.hess_inv), direct.hess_inv)


def test_method_may_be_a_callable_with_options():
    """It gets flat functions, and its result is labelled."""

    def descent(fun, x, jac, callback=None, rate=0.1, steps=10, **unused):
        for _ in range(steps):
            x = x - rate * jac(x)
            if callback is not None:
                callback(x)
        return OptimizeResult(x=x, fun=fun(x), jac=jac(x), success=True)

    seen = []
    res = cv.minimize(
        quadratic,
        quadratic_start(),
        method=descent,
        callback=seen.append,
        options={"rate": 0.2, "steps": 300},
    )
    assert_allclose(res.x, TARGET, atol=1e-5)
    assert len(seen) == 300 and type(seen[0]) is cv.ComponentVector


def test_method_that_returns_something_else_is_an_error():
    """It must have an x."""
    for found in ((1, 2), {"fun": 3.0}, None):
        with pytest.raises(TypeError, match="a method returns an OptimizeResult with x, got"):
            cv.minimize(quadratic, quadratic_start(), method=lambda *args, f=found, **kw: f)


def test_unknown_method_lists_those_that_exist():
    """By name, and of another type."""
    with pytest.raises(ValueError, match=r"unknown method 'BFG'; there are bfgs, cg"):
        cv.minimize(quadratic, quadratic_start(), method="BFG")
    with pytest.raises(ValueError, match="unknown method 3"):
        cv.minimize(quadratic, quadratic_start(), method=3)


def test_options_with_a_number_for_each_entry_are_labelled_and_whole():
    """An inverse Hessian to start from, and steps of differences."""
    first = cv.minimize(quadratic, quadratic_start(), fixed="q")
    again = cv.minimize(
        quadratic, quadratic_start(), fixed="q", options={"hess_inv0": first.hess_inv}
    )
    assert again.nit <= first.nit
    steps = quadratic_start()
    steps.p, steps.q = 1e-6, 1e-3
    res = cv.minimize(
        quadratic,
        quadratic_start(),
        jac="2-point",
        fixed="q",
        options={"finite_diff_rel_step": steps},
    )
    assert res.success
    same, other = (
        cv.minimize(
            quadratic,
            quadratic_start(),
            jac="2-point",
            fixed="q",
            options={"finite_diff_rel_step": step},
        )
        for step in (1e-6, 1e-3)
    )
    assert res.x.tolist() == same.x.tolist() != other.x.tolist()
    simplex = np.tile(cv.data(quadratic_start()), (3, 1)) + np.eye(3)
    res = cv.minimize(
        quadratic,
        quadratic_start(),
        method="Nelder-Mead",
        fixed=[False, False, True],
        options={"initial_simplex": simplex},
    )
    assert res.success


# -- results -----------------------------------------------------------------------------------


def test_result_has_names():
    """Solution, gradient and inverse Hessian."""
    res = cv.minimize(rosenbrock, named())
    assert isinstance(res, OptimizeResult)
    assert res.x.layout == res.jac.layout == named().layout
    assert res.hess_inv.rows == res.hess_inv.cols == named().layout
    assert res.hess_inv["b", "g.w"].shape == (2, 1, 1)
    assert_allclose(res.x.b, [1.0, 1.0], atol=1e-4)


def test_everything_else_of_the_result_is_scipys():
    """The same keys, and no others: products with a Hessian leave no Hessian."""
    products = ("Newton-CG", "trust-constr", "trust-ncg", "trust-krylov")
    for method in GRADIENT + SECOND + FREE:
        by_hand = {"hess": scipy.optimize.rosen_hess} if method == "trust-exact" else {}
        if method in products:
            by_hand = {"hessp": scipy.optimize.rosen_hess_prod}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = cv.minimize(rosenbrock, named(), method=method, tol=1e-2)
            theirs = scipy.optimize.minimize(
                rosen, START, method=method, tol=1e-2, jac=rosen_der, **by_hand
            )
        assert set(ours) == set(theirs), method


def test_trust_constr_has_its_gradient_in_grad():
    """And lists Jacobians of constraints in jac."""
    res = cv.minimize(
        quadratic,
        quadratic_start(),
        method="trust-constr",
        constraints={"type": "eq", "fun": lambda v: {"sum": v.p.sum(), "q": v.q}},
    )
    assert res.grad.layout == res.lagrangian_grad.layout == quadratic_start().layout
    assert type(res.jac) is list
    assert res.jac[0][:, "p"].tolist() == [[1.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize("method", ["trust-exact", "dogleg"])
def test_dense_hessians_are_labelled(method):
    """The one at the solution."""
    res = cv.minimize(quadratic, quadratic_start(), method=method)
    assert_allclose(res.hess["p", "p"], QUADRATIC[:2, :2])
    assert_allclose(res.hess["q", "p"], QUADRATIC[2, :2])


def test_inverse_hessian_of_l_bfgs_b_stays_what_it_is():
    """A linear operator; with fixed entries one over all of them, zero there."""
    res = cv.minimize(quadratic, quadratic_start(), method="L-BFGS-B")
    assert type(res.hess_inv) is LbfgsInvHessProduct
    res = cv.minimize(quadratic, quadratic_start(), method="L-BFGS-B", fixed=[False, True, False])
    assert isinstance(res.hess_inv, LbfgsInvHessProduct)
    dense = res.hess_inv.todense()
    assert dense.shape == (3, 3)
    assert not dense[1].any() and not dense[:, 1].any()
    keep = [0, 2]
    assert_allclose(
        dense[np.ix_(keep, keep)], np.linalg.inv(QUADRATIC[np.ix_(keep, keep)]), atol=0.05
    )
    assert_allclose(res.hess_inv.matvec([1.0, 5.0, 2.0]), dense @ [1.0, 5.0, 2.0])


def test_results_are_memory_of_their_own():
    """Neither that of the start nor of each other, and writable."""
    start = quadratic_start()
    seen = []
    res = cv.minimize(lambda v: seen.append(v) or quadratic(v), start)
    arrays = [cv.data(res.x), cv.data(res.jac), np.asarray(res.hess_inv)]
    for i, one in enumerate(arrays):
        assert one.flags.writeable
        assert not np.shares_memory(one, start)
        assert not any(np.shares_memory(one, other) for other in arrays[i + 1 :])


def test_return_all_gives_labelled_iterates():
    """Those of BFGS, the first one the start."""
    res = cv.minimize(quadratic, quadratic_start(), fixed="q", options={"return_all": True})
    assert all(type(x) is cv.ComponentVector for x in res.allvecs)
    assert res.allvecs[0].tolist() == [4.0, 3.0, 2.0]


def test_model_comes_back_in_its_own_dtypes():
    """A float32 model is solved in double precision; so is a float32 leaf beside float64 ones."""
    for dtypes in ((np.float32, np.float32), (np.float32, np.float64)):
        start = {"w": np.array([5.0, 4.0], dtypes[0]), "u": np.array([3.0], dtypes[1]), "n": 3}
        seen = set()

        def loss(m, seen=seen):
            seen.update(np.asarray(m[name]).dtype for name in "wu") if type(
                m["w"]
            ) is np.ndarray else None
            return np.sum((m["w"] - 1 / 3) ** 2) + np.sum((m["u"] - m["w"][0]) ** 2)

        res = cv.minimize(loss, start, jac="3-point", tol=1e-9)
        assert seen == {np.dtype(float)}
        assert res.x.dtype == float
        assert (res.model["w"].dtype, res.model["u"].dtype) == dtypes
        assert_allclose(res.x, [1 / 3] * 3, atol=1e-8)
        assert res.model["n"] == 3


def test_model_of_the_result_keeps_ties_and_is_a_new_one():
    """Views into one new buffer."""
    start = model()
    res = cv.minimize(model_loss, start)
    assert type(res.model) is Model
    assert np.shares_memory(res.model.w, res.model.back)
    assert not np.shares_memory(res.model.w, start.w)
    assert not np.shares_memory(res.model.w, res.x)
    assert res.model.mean is start.mean
    assert res.x.layout.ties == (("w", "back"),)


def test_float32_vector_is_solved_in_double_precision():
    """And its solution is float64."""
    start = cv.ComponentVector(p=np.zeros(2, np.float32))
    res = cv.minimize(lambda v: np.sum((v.p - 1 / 3) ** 2), start, tol=1e-12)
    assert start.dtype == np.float32 and res.x.dtype == float
    assert_allclose(res.x.p, [1 / 3, 1 / 3], rtol=1e-12)


def test_integer_vector_is_solved_in_double_precision():
    """Integers are a fine start."""
    start = cv.ComponentVector(p=[0, 0], dtype=int)
    res = cv.minimize(lambda v: np.sum((v.p - 0.5) ** 2), start)
    assert_allclose(res.x.p, [0.5, 0.5])


def test_result_is_picklable():
    """Labels and all."""
    res = pickle.loads(pickle.dumps(cv.minimize(quadratic, quadratic_start(), fixed="q")))
    assert res.x.layout == quadratic_start().layout
    assert res.hess_inv["p", "p"].shape == (2, 2)


# -- fixed entries -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", GRADIENT + SECOND + FREE + ("dogleg",))
def test_fixed_entries_stay_while_the_rest_is_solved(method):
    """The others are minimal given them: by hand, from the normal equations."""
    res = cv.minimize(quadratic, quadratic_start(), method=method, fixed="q", tol=1e-10)
    assert res.x.q == 2.0
    shift = QUADRATIC[:2, 2] * (2.0 - TARGET[2])
    expected = TARGET[:2] - np.linalg.solve(QUADRATIC[:2, :2], shift)
    assert_allclose(res.x.p, expected, atol=1e-3 if method in FREE else 1e-5)
    assert res.fixed.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "fixed",
    [
        "p",
        ["p"],
        ("p",),
        [("p",)],
        [True, True, False],
        np.array([True, True, False]),
        cv.ComponentVector(p=[True, True], q=False, dtype=bool),
        quadratic_start() > 2.5,
    ],
)
def test_fixed_is_patterns_or_a_mask(fixed):
    """The same three ways, and several patterns."""
    res = cv.minimize(quadratic, quadratic_start(), fixed=fixed)
    assert res.x.p.tolist() == [4.0, 3.0]
    assert res.x.q == pytest.approx(TARGET[2] - (QUADRATIC[2, :2] @ ([4.0, 3.0] - TARGET[:2])))


def test_several_patterns_and_wildcards():
    """`*` for any key."""
    start = cv.ComponentVector(layers=[{"w": [1.0], "b": 2.0}, {"w": [3.0], "b": 4.0}], c=5.0)
    res = cv.minimize(lambda v: np.sum(cv.data(v) ** 2), start, fixed=["layers[*].b", "c"])
    assert_allclose(res.x, [0, 2, 0, 4, 5], atol=1e-6)


def test_a_part_of_an_array_is_fixed_by_a_mask():
    """Here one entry of three."""
    mask = quadratic_start().layout.mask("p")
    mask[0] = False
    res = cv.minimize(quadratic, quadratic_start(), fixed=mask)
    assert res.x.p[1] == 3.0 and res.x.p[0] != 4.0


def test_function_sees_the_whole_and_the_solver_does_not():
    """A method of one's own gets two entries."""
    sizes = []

    def method(fun, x, jac, **options):
        sizes.append((x.size, jac(x).size))
        return scipy.optimize.minimize(fun, x, jac=jac)

    seen = []
    cv.minimize(
        lambda v: seen.append(len(v)) or quadratic(v), quadratic_start(), fixed="q", method=method
    )
    assert sizes == [(2, 2)]
    assert set(seen) == {3}


def test_results_are_whole_with_zeros_at_fixed_entries():
    """Gradient and inverse Hessian."""
    res = cv.minimize(quadratic, quadratic_start(), fixed="p")
    assert res.jac.p.tolist() == [0.0, 0.0]
    assert not np.asarray(res.hess_inv)[:2].any() and not np.asarray(res.hess_inv)[:, :2].any()
    assert res.hess_inv["q", "q"] == pytest.approx(1.0)
    res = cv.minimize(quadratic, quadratic_start(), fixed="p", method="trust-exact")
    assert res.hess["q", "q"] == pytest.approx(1.0) and not res.hess["p"].any()


def test_a_tied_alias_stands_for_the_shared_entries():
    """Fixing `back` fixes `w`."""
    res = cv.minimize(model_loss, model(), fixed="back")
    assert (res.model.w == model().w).all()
    assert_allclose(res.model.offset, [3.0, 3.0])


@pytest.mark.parametrize("method", [None, "L-BFGS-B", "trust-constr", "Nelder-Mead", "TNC"])
def test_with_nothing_free_there_is_one_evaluation(method):
    """And success."""
    fun, calls = counting(quadratic)
    start = quadratic_start()
    res = cv.minimize(fun, start, fixed="**", method=method)
    assert len(calls) == res.nfev == 1
    assert res.success is True and res.nit == 0
    assert res.x.tolist() == start.tolist() and not np.shares_memory(res.x, start)
    assert res.fun == pytest.approx(quadratic(start))
    if method is None:
        assert not np.asarray(res.hess_inv).any() and res.hess_inv.shape == (3, 3)
        assert res.jac.tolist() == [0.0] * 3


def test_an_empty_vector_is_solved():
    """There is nothing to do."""
    res = cv.minimize(lambda v: 1.0, cv.ComponentVector())
    assert res.success and res.x.size == 0 and res.nfev == 1


def test_second_derivatives_by_hand_are_whole():
    """The solver gets their free part, dense, sparse or as operators; directions are whole."""

    def hessp(v, p):
        assert p.q == 0.0
        return QUADRATIC @ cv.data(p)

    for method, given in (
        ("trust-ncg", {"hessp": hessp}),
        ("trust-exact", {"hess": lambda v: QUADRATIC}),
        ("Newton-CG", {"hess": lambda v: csr_array(QUADRATIC)}),
        ("trust-constr", {"hess": lambda v: LinearOperator((3, 3), matvec=QUADRATIC.dot)}),
    ):
        res = cv.minimize(quadratic, quadratic_start(), fixed="q", method=method, **given)
        by_autograd = cv.minimize(quadratic, quadratic_start(), fixed="q", tol=1e-9)
        assert_allclose(res.x, by_autograd.x, atol=1e-5)


def test_gradient_by_hand_is_whole_beside_fixed_entries():
    """The solver gets its free part."""
    res = cv.minimize(
        quadratic,
        quadratic_start(),
        fixed="q",
        jac=lambda v: QUADRATIC @ (cv.data(v) - TARGET),
    )
    assert_allclose(res.x, cv.minimize(quadratic, quadratic_start(), fixed="q").x)


def test_a_plain_array_is_fixed_by_a_mask():
    """Results are plain and whole."""
    res = cv.minimize(lambda x: np.sum((x - 1) ** 2), [0.0, 5.0], fixed=[False, True])
    assert_allclose(res.x, [1.0, 5.0])
    assert res.jac.shape == (2,) and res.hess_inv.shape == (2, 2)


def test_bad_fixed_says_what_is_expected():
    """Unknown names, sizes, types."""
    start = quadratic_start()
    with pytest.raises(KeyError, match="'r' matches nothing"):
        cv.minimize(quadratic, start, fixed="r")
    with pytest.raises(ValueError, match=r"fixed: expected a mask of shape \(3,\), got \(2,\)"):
        cv.minimize(quadratic, start, fixed=[True, False])
    with pytest.raises(TypeError, match="fixed: expected path patterns or a boolean mask, got"):
        cv.minimize(quadratic, start, fixed=np.array([0, 1, 1]))
    with pytest.raises(
        TypeError, match="expected path patterns or a boolean mask, got {'p': True}"
    ):
        cv.minimize(quadratic, start, fixed={"p": True})
    with pytest.raises(TypeError, match="a plain array has no names, give a boolean mask"):
        cv.minimize(np.sum, [0.0, 1.0], fixed="a")
    with pytest.raises(ValueError, match="layouts differ"):
        cv.minimize(quadratic, start, fixed=cv.ComponentVector(a=[True] * 3, dtype=bool))
    with pytest.raises(ValueError, match="path"):
        cv.minimize(quadratic, start, fixed="p[")


# -- complex numbers ---------------------------------------------------------------------------


def complex_loss(v):
    """Minimal at z = 1 + 2j, w = (3j, 2)."""
    z, w = v.z - (1 + 2j), v.w - np.array([3j, 2.0])
    return np.real(z * np.conj(z)) + np.sum(np.real(w * np.conj(w)))


@pytest.mark.parametrize("method", GRADIENT + SECOND + FREE + ("dogleg",))
def test_complex_vectors_are_solved_as_pairs(method):
    """Results are complex again."""
    start = cv.ComponentVector(z=0.5 + 1.5j, w=[0.3 + 2j, 1 + 0.5j])
    res = cv.minimize(complex_loss, start, method=method, tol=1e-9)
    assert res.x.dtype == complex and res.x.layout == start.layout
    assert_allclose(res.x, [1 + 2j, 3j, 2.0], atol=1e-3)


def test_complex_gradient_is_that_of_grad():
    """d/d(re) - i d/d(im), autograd's convention."""
    start = cv.ComponentVector(z=1 + 1j)
    res = cv.minimize(
        lambda v: np.real(v.z * (2 + 3j)), start, fixed=[False], options={"maxiter": 0}
    )
    assert res.jac.z == pytest.approx(2 + 3j)
    assert cv.grad(lambda v: np.real(v.z * (2 + 3j)))(start).z == pytest.approx(2 + 3j)


def test_gradient_by_hand_of_a_complex_vector_follows_autograd():
    """That of `grad` is right, and so are pairs (re, im)."""
    start = cv.ComponentVector(z=0j, w=[1.0, 1j])
    for jac in (
        cv.grad(complex_loss),
        lambda v: cv.data(cv.grad(complex_loss)(v)),
        lambda v: cv.data(cv.grad(complex_loss)(v)).conj().view(float),
    ):
        res = cv.minimize(complex_loss, start, jac=jac)
        assert_allclose(res.x, [1 + 2j, 3j, 2.0], atol=1e-6)


def test_directions_of_complex_vectors_are_complex():
    """And products follow the gradient's convention: the Hessian here is twice the identity."""

    def hessp(v, p):
        assert p.layout == v.layout and p.dtype == complex
        return 2 * np.conj(cv.data(p))

    start = cv.ComponentVector(z=0j, w=[1.0, 1j])
    res = cv.minimize(complex_loss, start, method="trust-ncg", hessp=hessp, tol=1e-9)
    assert_allclose(res.x, [1 + 2j, 3j, 2.0], atol=1e-6)


def test_options_of_complex_vectors_are_complex_or_for_both_parts():
    """A simplex of complex points, and a step for each number."""
    start = cv.ComponentVector(z=0j, w=[1.0, 1j])
    simplex = np.tile(cv.data(start), (7, 1)) + np.eye(7)[:, :6:2] + 1j * np.eye(7)[:, 1:6:2]
    options = {"initial_simplex": simplex, "maxfev": 5000}
    res = cv.minimize(complex_loss, start, method="Nelder-Mead", options=options)
    assert_allclose(res.x, [1 + 2j, 3j, 2.0], atol=1e-3)
    options = {"finite_diff_rel_step": np.array([1e-6, 1e-7, 1e-8])}
    res = cv.minimize(complex_loss, start, jac="2-point", options=options)
    assert_allclose(res.x, [1 + 2j, 3j, 2.0], atol=1e-4)


def test_matrices_of_complex_vectors_are_over_pairs():
    """Labels end in .re and .im."""
    res = cv.minimize(complex_loss, cv.ComponentVector(z=0j, w=[1.0, 1j]), method="trust-exact")
    assert res.hess.rows.labels()[:2] == ["z.re", "z.im"]
    assert_allclose(res.hess["z", "z"], 2 * np.eye(2))
    assert res.hess["w", "w"].shape == (2, 2, 2, 2)


def test_complex_entries_are_fixed_by_name_or_mask():
    """A mask has an entry a number, or one for each part."""
    start = cv.ComponentVector(z=0j, w=[1.0, 1j])
    for fixed in ("w", [False, True, True]):
        res = cv.minimize(complex_loss, start, fixed=fixed)
        assert_allclose(res.x, [1 + 2j, 1.0, 1j], atol=1e-6)
    res = cv.minimize(complex_loss, start, fixed=[False, True, False, True, False, False])
    assert_allclose(res.x, [1 + 0j, 0, 2.0], atol=1e-6)


def test_complex_model_and_array_are_solved():
    """In complex64, too."""
    res = cv.minimize(lambda m: np.sum(np.abs(m["z"] - 1j) ** 2), {"z": np.zeros(2, np.complex64)})
    assert res.model["z"].dtype == np.complex64
    assert_allclose(res.model["z"], [1j, 1j], atol=1e-6)
    res = cv.minimize(lambda z: np.sum(np.abs(z - 1j) ** 2), np.zeros(2, complex))
    assert_allclose(res.x, [1j, 1j], atol=1e-6)
    assert res.jac.dtype == complex and res.hess_inv.shape == (4, 4)


def test_mixed_vectors_need_nothing():
    """They are real, with pairs; so are models of both kinds, with the gradients of `grad`."""
    start = cv.ComponentVector(z=0j, r=1.0)
    loss = lambda v: np.abs(v.z - v.r * 1j) ** 2 + (v.r - 2) ** 2
    res = cv.minimize(loss, start)
    assert_allclose(res.x, [0.0, 2.0, 2.0], atol=1e-6)
    assert res.x.z == pytest.approx(2j)
    mixed = {"z": np.zeros(2, complex), "r": np.ones(2)}
    model_loss = lambda m: np.sum(np.abs(m["z"] - m["r"] * 1j) ** 2) + np.sum((m["r"] - 2) ** 2)
    for jac in (None, cv.grad(model_loss), "2-point"):
        res = cv.minimize(model_loss, mixed, jac=jac)
        assert_allclose(res.model["z"], [2j, 2j], atol=1e-4)


def test_complex_steps_need_real_components():
    """Pairs are no analytic functions of their numbers."""
    for start in (cv.ComponentVector(z=0j), cv.ComponentVector(z=0j, r=1.0), np.zeros(2, complex)):
        with pytest.raises(ValueError, match=r'jac="cs" steps into the complex plane'):
            cv.minimize(complex_loss, start, jac="cs")


# -- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("jac", [None, "2-point", True])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_value_that_is_not_finite_at_the_start_is_an_error(value, jac):
    """It names the value."""
    fun = lambda v: (value, v) if jac is True else value + np.sum(v.p)
    with pytest.raises(ValueError, match=rf"not finite at x0: its value there is {value}"):
        cv.minimize(fun, quadratic_start(), jac=jac)


def test_start_that_is_not_finite_is_an_error():
    """It names the entry."""
    start = named()
    start.b[1] = np.nan
    with pytest.raises(ValueError, match=r"x0 is not finite: 'b\[1\]' is nan"):
        cv.minimize(rosenbrock, start)
    with pytest.raises(ValueError, match="x0 is not finite: entry 1.im is inf"):
        cv.minimize(np.sum, [0, complex(0, np.inf)])


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG"])
def test_value_that_turns_nan_later_is_left_to_the_method(method):
    """SciPy's own status; no exception."""

    def breaking(calls):
        return lambda x: calls.append(1) or np.sum(x**4) * (np.nan if len(calls) > 3 else 1.0)

    calls = []
    fun, by_hand = breaking(calls), value_and_grad(breaking([]))
    with np.errstate(all="ignore"):
        ours = cv.minimize(lambda v: fun(cv.data(v)), quadratic_start(), method=method)
        theirs = scipy.optimize.minimize(by_hand, [4.0, 3.0, 2.0], jac=True, method=method)
    assert len(calls) > 3
    for name in ("success", "status", "message", "nit"):
        assert ours[name] == theirs[name], name


def test_exceptions_of_the_function_come_through():
    """As they are: nothing is added where the function fails on plain numbers, too."""

    def fun(v):
        raise ArithmeticError("my own")

    with pytest.raises(ArithmeticError, match="my own") as caught:
        cv.minimize(fun, named())
    assert not hasattr(caught.value, "__notes__")
    with pytest.raises(AttributeError, match="did you mean") as caught:
        cv.minimize(lambda v: v.aa, named())
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("method", SECOND + FREE + ("dogleg", "BFGS"))
def test_errors_of_linear_algebra_come_through(method):
    """Some methods of SciPy's take such errors for their own, and end with a status."""

    def quadratic_once(v):
        if len(calls) > 1:
            raise np.linalg.LinAlgError("my own")
        return quadratic(v)

    fun, calls = counting(quadratic_once)
    with pytest.raises(np.linalg.LinAlgError, match="my own"):
        cv.minimize(fun, quadratic_start(), method=method)


@pytest.mark.parametrize("what", ["hess", "constraint", "limit"])
def test_errors_of_linear_algebra_in_other_functions_come_through(what):
    """Hessians by hand, and constraints of both kinds."""

    def fail(*args):
        raise np.linalg.LinAlgError("my own")

    options = {
        "hess": {"method": "trust-exact", "hess": fail},
        "constraint": {"method": FREE[-1], "constraints": {"type": "ineq", "fun": fail}},
        "limit": {
            "method": FREE[-1],
            "constraints": scipy.optimize.NonlinearConstraint(fail, 0, 1),
        },
    }
    with pytest.raises(np.linalg.LinAlgError, match="my own"):
        cv.minimize(quadratic, quadratic_start(), **options[what])


def test_function_that_autograd_cannot_trace_gains_a_note():
    """It says what to do; and that works."""
    import math

    def fun(v):
        return math.exp(v.a - 1) - v.a

    for jac in (None,):
        with pytest.raises(TypeError) as caught:
            cv.minimize(fun, named(), jac=jac)
        (note,) = caught.value.__notes__
        assert "autograd.numpy" in note and 'jac="2-point"' in note
    assert cv.minimize(fun, named(), jac="2-point").x.a == pytest.approx(1, abs=1e-4)


def test_note_is_given_for_objects_too():
    """What autograd does not follow may surface in the type of the result."""
    with pytest.raises(TypeError) as caught:
        cv.minimize(lambda v: np.array(list(map(float, v.b))).sum(), named())
    assert "import autograd.numpy" in caught.value.__notes__[0]


def write_component(v):
    """A function that writes into its argument, by name."""
    v.a = 3.0
    return v.a**2


def test_note_is_not_given_for_writes():
    """Finite differences would not help."""
    with pytest.raises(TypeError, match="cannot be written in place") as caught:
        cv.minimize(write_component, named())
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("options", [{}, {"fixed": "b"}, {"bounds": {"a": (0, 9)}}])
@pytest.mark.parametrize("ways", [{"jac": "2-point"}, {"jac": True}, {"method": "Nelder-Mead"}])
def test_untraced_functions_cannot_write_into_their_argument(ways, options):
    """It may be the memory of the solver."""
    with pytest.raises(ValueError, match="'a' is read-only; copy it first"):
        cv.minimize(write_component, named(), **ways, **options)


def test_models_arrays_and_callbacks_are_lent_read_only_too():
    """Whatever the unknowns are, and whoever gets them."""

    def write(x):
        x[0] = 1.0

    for start, fun in (
        (np.ones(2), write),
        ({"w": np.ones(2)}, lambda m: write(m["w"])),
        (cv.ComponentVector(z=[1j, 2j]), lambda v: write(v.z)),
    ):
        with pytest.raises(ValueError, match="read-only"):
            cv.minimize(fun, start, jac="2-point")
    for given in (
        {"callback": write},
        {"jac": write},
        {"hess": write, "method": "trust-exact"},
        {"hessp": lambda x, p: write(x), "method": "trust-ncg"},
        {"constraints": {"type": "eq", "fun": write}, "jac": "2-point"},
    ):
        with pytest.raises(ValueError, match="read-only"):
            cv.minimize(lambda x: np.sum(x**2), np.ones(2), **given)
    with pytest.raises(ValueError, match="read-only"):
        cv.least_squares(write, np.ones(2), jac="2-point")
    with pytest.raises(ValueError, match="read-only"):
        cv.root(write, np.ones(2), jac="2-point")


def test_several_values_point_to_least_squares():
    """A loss that was not summed."""
    with pytest.raises(TypeError, match="shape .2,.; sum it, or use cv.least_squares"):
        cv.minimize(lambda x: x**2, np.ones(2))


@pytest.mark.parametrize("jac", [None, "2-point", True])
def test_a_missing_return_is_named(jac):
    """In losses, residuals and equations, and in derivatives by hand."""

    def nothing(x):
        pass

    for solve, fun in ((cv.minimize, np.sum), (cv.least_squares, np.sin), (cv.root, np.sin)):
        with pytest.raises(TypeError, match=r"None: did it forget to return\?"):
            solve(nothing, np.ones(2), jac=jac)
        with pytest.raises(TypeError, match=r"None: did it forget to return\?"):
            solve(fun, np.ones(2), jac=nothing)


def test_a_dict_for_a_loss_is_named_by_its_type():
    """Without what it holds."""
    with pytest.raises(TypeError, match="got a result of dict$"):
        cv.minimize(lambda v: {"a": v.a}, named())


@pytest.mark.parametrize(
    "model, expected",
    [
        ({"w": np.array([1, 2])}, r"'w' is int64: make it float$"),
        ({"w": 1.0}, r"'w' is a Python float: make it np.array\(1.0\), or pass scalars=True"),
        ({"w": 2}, r"'w' is a Python int: make it np.array\(2.0\)$"),
        ({"w": [1.0, 2.0]}, r"'w' is a list of Python numbers: make it np.array\(\[...\]\)"),
        ({"w": np.float64(1)}, r"'w' is a scalar, float64: make it np.array\(1.0\)"),
        ({"w": "x"}, "it holds no arrays of floating or complex dtype"),
    ],
)
def test_a_model_without_parameters_names_its_numbers(model, expected):
    """And what would make parameters of them."""
    with pytest.raises(ValueError, match="no parameters: " + expected):
        cv.minimize(lambda m: 0.0, model)


@pytest.mark.parametrize(
    "pattern, expected",
    [
        ("w[0]", r"'w' is an array of shape \(3,\); bounds take arrays"),
        ("w[0:2]", r"'w' is an array of shape \(3,\); bounds take arrays"),
        ("m[0,1]", r"'m' is an array of shape \(1, 2\); bounds take arrays"),
        ("z.re", "'z' is a number; bounds take arrays"),
        ("layers[5].w", "'layers' has 2 items"),
    ],
)
def test_patterns_do_not_reach_single_entries(pattern, expected):
    """In bounds, fixed and masks; what does is said."""
    v = cv.ComponentVector(w=np.ones(3), m=np.ones((1, 2)), z=1j, layers=[{"w": 1.0}] * 2)
    for call in (
        lambda: cv.minimize(lambda v: v.w @ v.w, v, bounds={pattern: (0, 1)}),
        lambda: cv.minimize(lambda v: v.w @ v.w, v, fixed=pattern),
        lambda: v.layout.mask(pattern),
    ):
        with pytest.raises(KeyError, match="matches nothing: " + expected):
            call()


def test_note_is_given_for_second_derivatives():
    """A function whose gradient runs, but not its Hessian."""
    from autograd.extend import defvjp, primitive

    @primitive
    def cube(x):
        return x**3

    @primitive
    def slope(x):
        return 3 * x**2

    defvjp(cube, lambda ans, x: lambda g: g * slope(x))
    assert cv.minimize(lambda v: cube(v.a) ** 2, named()).success
    with pytest.raises(NotImplementedError, match="slope") as caught:
        cv.minimize(lambda v: cube(v.a) ** 2, named(), method="trust-exact")
    assert 'jac="2-point"' in caught.value.__notes__[0]


@pytest.mark.parametrize("options", [{}, {"jac": "2-point"}, {"method": "Nelder-Mead"}])
@pytest.mark.parametrize(
    ("fun", "message"),
    [
        (lambda v: v.b, r"minimize needs a function of one real number, got a result of shape"),
        (lambda v: v, "one real number"),
        (lambda v: np.sum(v.b) + 1j, "complex result"),
        (lambda v: None, "minimize needs a function of floating numbers, got a result of None"),
        (lambda v: "1", "minimize needs a function of floating numbers"),
    ],
)
def test_function_must_give_one_real_number(fun, message, options):
    """And no note, since it would not do on plain numbers either."""
    with pytest.raises(TypeError, match=message) as caught:
        cv.minimize(fun, named(), **options)
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_function_may_give_an_array_of_one_number(shape):
    """With an axis or without."""
    res = cv.minimize(lambda v: np.reshape(np.sum((v.p - 1) ** 2), shape), quadratic_start())
    assert_allclose(res.x.p, [1.0, 1.0])


def test_integer_value_is_taken_as_a_float():
    """A constant that is no float."""
    res = cv.minimize(lambda v: 3, quadratic_start())
    assert res.success and res.fun == 3.0


@pytest.mark.parametrize("x0", [None, "abc", object(), {1, 2}, [[1.0], [1.0, 2.0]], len])
def test_wrong_types_of_start_are_type_errors(x0):
    """With what is expected."""
    with pytest.raises(TypeError, match="expected a ComponentVector, a model or an array"):
        cv.minimize(np.sum, x0)


def test_unregistered_class_of_arrays_is_told_how_to_register():
    """At the root, too."""

    class Unregistered:
        def __init__(self):
            self.w = np.ones(2)

    with pytest.raises(TypeError, match=r"holds arrays in w; register it with cv\.register"):
        cv.minimize(lambda m: np.sum(m.w**2), Unregistered())


def test_masked_array_is_no_start():
    """Its mask would be lost."""
    with pytest.raises(TypeError, match="a masked array has no place for its mask; use fixed="):
        cv.minimize(np.sum, numpy.ma.array([1.0, 2.0], mask=[False, True]))


def test_model_without_parameters_says_so():
    """Python floats are static."""
    with pytest.raises(ValueError, match="the model has no parameters"):
        cv.minimize(lambda m: m["a"], {"a": 1.0})


def test_plain_array_of_two_axes_is_refused():
    """As in SciPy."""
    with pytest.raises(ValueError, match=r"x0 must have one axis, got shape \(2, 2\)"):
        cv.minimize(np.sum, np.zeros((2, 2)))


def test_solver_within_a_trace_says_that_it_cannot_be_differentiated():
    """x0 must be plain."""
    with pytest.raises(TypeError, match="a solver cannot be differentiated"):
        cv.grad(lambda v: cv.minimize(quadratic, v).fun)(quadratic_start())


@pytest.mark.parametrize("start", [[1.0, 2.0], (1.0, 2.0), [np.float64(1), 2], np.array([1, 2])])
def test_numbers_in_a_list_are_an_array_and_arrays_in_a_list_a_model(start):
    """Lists of arrays are models."""
    assert type(cv.minimize(lambda x: np.sum(x**2), start).x) is np.ndarray
    res = cv.minimize(lambda m: np.sum(m[0] ** 2) + m[1] ** 2, [np.ones(2), np.array(2.0)])
    assert type(res.model) is list
    assert_allclose(res.model[0], [0, 0], atol=1e-6)


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG"])
def test_unknown_ways_to_get_a_gradient_are_errors(method):
    """SciPy takes some of them for finite differences."""
    for jac in ("4-point", 3, TARGET):
        with pytest.raises(ValueError, match="jac must be None, True, False, callable"):
            cv.minimize(quadratic, quadratic_start(), method=method, jac=jac)
    for fun in (quadratic, lambda v: (quadratic(v),)):
        with pytest.raises(TypeError, match="return a pair, its value and its gradient, got"):
            cv.minimize(fun, quadratic_start(), method=method, jac=True)


@pytest.mark.parametrize("method", ["trust-constr", "Newton-CG"])
def test_complex_step_of_the_exact_gradient_is_the_exact_hessian(method):
    """With a gradient by hand it is refused."""
    res = cv.minimize(quadratic, quadratic_start(), method=method, hess="cs")
    assert_allclose(res.x, TARGET, atol=1e-6)
    with pytest.raises(ValueError, match='hess="cs" needs jac=None'):
        cv.minimize(quadratic, quadratic_start(), method=method, hess="cs", jac=cv.grad(quadratic))


@pytest.mark.parametrize("fixed", [None, "q"])
def test_first_simplex_may_be_a_list_of_labelled_vertices(fixed):
    """Or of plain ones; whole in either case."""
    vertices = [quadratic_start() + shift for shift in (0, TARGET, TARGET**2, TARGET**3)]
    vertices = vertices if fixed is None else vertices[:3]
    plain = np.array([np.asarray(vertex) for vertex in vertices])
    found = [
        cv.minimize(
            quadratic,
            quadratic_start(),
            method="Nelder-Mead",
            fixed=fixed,
            options={"initial_simplex": simplex},
        )
        for simplex in (vertices, plain, list(plain))
    ]
    assert found[0].x.tolist() == found[1].x.tolist() == found[2].x.tolist()
    assert found[0].success


def test_warnings_of_scipy_come_through():
    """A Hessian for a method without use for one."""
    with pytest.warns(RuntimeWarning, match="does not use Hessian information"):
        cv.minimize(quadratic, quadratic_start(), hess=lambda v: QUADRATIC)
    with pytest.warns(RuntimeWarning, match="does not use gradient information"):
        cv.minimize(
            quadratic, quadratic_start(), method="Nelder-Mead", jac=cv.grad(quadratic), tol=0.1
        )
    with pytest.warns(scipy.optimize.OptimizeWarning, match="Unknown solver options: gtal"):
        cv.minimize(quadratic, quadratic_start(), options={"gtal": 1})


@pytest.mark.parametrize("method", GRADIENT + SECOND + FREE + ("dogleg",))
@pytest.mark.parametrize("fixed", [None, "q"])
def test_vectors_that_are_kept_are_not_overwritten(method, fixed):
    """Neither those of the function nor those of a callback."""
    kept, copies = [], []

    def keep(v, *state):
        kept.append(v)
        copies.append(v.tolist())

    def fun(v):
        keep(v)
        return quadratic(v), QUADRATIC @ (cv.data(v) - TARGET)

    hess = (lambda v: keep(v) or QUADRATIC) if method in (*SECOND, "dogleg") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cv.minimize(
            fun, quadratic_start(), method=method, jac=True, hess=hess, callback=keep, fixed=fixed
        )
    assert [v.tolist() for v in kept] == copies
