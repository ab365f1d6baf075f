"""Bounds by name, in `minimize` and `least_squares`."""

import autograd.numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import Bounds
from scipy.optimize._minimize import MINIMIZE_METHODS

import componentvec as cv
from componentvec.bounds import read_bounds
from componentvec.unknowns import Unknowns

TAKE = ("Nelder-Mead", "L-BFGS-B", "TNC", "SLSQP", "Powell", "trust-constr", "COBYLA")
TAKE += ("COBYQA",) * ("cobyqa" in MINIMIZE_METHODS)
IGNORE = ("BFGS", "CG", "Newton-CG", "dogleg", "trust-ncg", "trust-exact", "trust-krylov", cv.bfgs)
INF = np.inf


def start():
    """Two layers, with a scalar beside."""
    return cv.ComponentVector(
        layers=[{"w": [[1.0, 2.0]], "bias": 3.0}, {"w": [[4.0, 5.0]], "bias": 6.0}], rate=7.0
    )


def sides(bounds, x0=None, in_pairs=True):
    """Low and high as lists."""
    box = read_bounds(bounds, Unknowns(start() if x0 is None else x0), in_pairs=in_pairs)
    return box.low.tolist(), box.high.tolist()


def square(v):
    """Smallest at zero."""
    return np.sum(cv.data(v) ** 2)


@pytest.mark.parametrize("method", TAKE)
def test_methods_that_take_bounds_keep_them(method):
    """The minimum is at the bounds where zero is outside."""
    v = cv.ComponentVector(p=[3.0, 4.0], q=5.0)
    res = cv.minimize(square, v, method=method, bounds={"p": (2, [3.0, 5.0]), "q": (None, 6)})
    assert_allclose(res.x, [2, 2, 0], atol=2e-3)
    assert (res.x.p >= 2).all()


@pytest.mark.parametrize("method", IGNORE)
@pytest.mark.parametrize("bounds", [{"rate": (0, None)}, Bounds(0, 10), [(0, None)] * 7])
def test_bounds_for_a_method_that_ignores_them_are_an_error(method, bounds):
    """With those that take them."""
    with pytest.raises(ValueError, match=r"method '.*' ignores bounds; these do not: cobyla, "):
        cv.minimize(square, start(), method=method, bounds=bounds)


def test_pair_is_broadcast_to_each_component_that_the_pattern_matches():
    """Numbers and arrays."""
    low, high = sides({"layers[*].w": ([0, 1], 9), "**.bias": (-1, None)})
    assert low == [0, 1, -1, 0, 1, -1, -INF]
    assert high == [9, 9, INF, 9, 9, INF, INF]


def test_none_is_open():
    """On either side."""
    assert sides({"rate": (None, 8)}) == ([-INF] * 7, [INF] * 6 + [8])
    assert sides({"rate": (6, None)}) == ([-INF] * 6 + [6], [INF] * 7)


def test_none_is_open_within_lists_and_trees():
    """One entry of an array, or one component of a group."""
    v = cv.ComponentVector(a=[2.0, 2.0], g={"b": 2.0, "c": [2.0, 2.0]})
    for bounds in (
        {"a": ([1, None], None), "g": ({"b": None, "c": [None, 1]}, None)},
        ({"a": [1, None], "g": {"b": None, "c": [None, 1]}}, None),
    ):
        res = cv.minimize(lambda v: np.sum(cv.data(v) ** 2), v, bounds=bounds)
        assert res.active_mask.tolist() == [-1, 0, 0, 0, -1]
        assert_allclose(res.x, [1, 0, 0, 0, 1], atol=1e-6)


def test_later_entry_wins_where_several_match():
    """Also where it opens what was closed."""
    low, high = sides({"**": (0, 10), "layers[0]": (None, 20), "layers[0].bias": (3, None)})
    assert low == [-INF, -INF, 3, 0, 0, 0, 0]
    assert high == [20, 20, INF, 10, 10, 10, 10]


def test_group_takes_a_number_an_array_or_a_tree():
    """By position and by name."""
    assert sides({"layers[1]": ([1, 2, 3], 9)})[0] == [-INF] * 3 + [1, 2, 3, -INF]
    tree = {"bias": 3.0, "w": [[1.0, 2.0]]}
    assert sides({"layers[1]": (tree, None)})[0] == [-INF] * 3 + [1, 2, 3, -INF]
    assert sides({("layers", 1): (0, 9)})[1] == [INF] * 3 + [9, 9, 9, INF]


def test_bounds_may_be_a_pair_of_vectors():
    """Or one of them, and None."""
    low, high = start() - 1, start() + 1
    assert sides((low, high)) == (low.tolist(), high.tolist())
    assert sides([low, None]) == (low.tolist(), [INF] * 7)
    with pytest.raises(ValueError, match="layouts differ"):
        sides((low, cv.ComponentVector(a=np.zeros(7))))


def test_bounds_may_be_a_pair_of_models():
    """By name, as for a model they are read from it."""
    model = {"w": np.array([1.0, 2.0]), "n": 3}
    low = {"w": np.array([0.0, 1.0]), "n": 3}
    assert sides((low, {"w": [5, 6]}), model) == ([0, 1], [5, 6])


def test_bounds_may_be_those_of_scipy():
    """An object, or a pair for each entry."""
    assert sides(Bounds(0, 10)) == ([0] * 7, [10] * 7)
    assert sides(Bounds(start(), 10)) == (start().tolist(), [10] * 7)
    assert sides([(0, None)] * 6 + [(None, 9)]) == ([0] * 6 + [-INF], [INF] * 6 + [9])
    assert sides(([0] * 7, 10), in_pairs=False) == ([0] * 7, [10] * 7)
    assert sides(((0, 0), (9, 8)), [1.0, 2.0], in_pairs=False) == ([0, 0], [9, 8])
    assert sides(((0, 9), (0, 8)), [1.0, 2.0], in_pairs=True) == ([0, 0], [9, 8])


def test_keep_feasible_is_kept():
    """For the free entries."""
    unknowns = Unknowns(cv.ComponentVector(a=[1.0, 2.0, 3.0]))
    unknowns.fix([True, False, False])
    box = read_bounds(Bounds([0] * 3, [9] * 3, [True, False, True]), unknowns, in_pairs=True)
    free = box.free(unknowns)
    assert free.keep_feasible.tolist() == [False, True]
    assert free.lb.tolist() == [0, 0]
    seen = []
    cv.minimize(
        lambda v: seen.append(v.a[0]) or np.sum((v.a + 1) ** 2),
        cv.ComponentVector(a=[1.0]),
        method="trust-constr",
        jac="2-point",
        bounds=Bounds(0.5, np.inf, keep_feasible=True),
    )
    assert min(seen) >= 0.5


def test_bounds_of_models_and_fixed_entries():
    """Bounds apply to what is solved for."""
    model = {"w": np.array([3.0, 4.0]), "u": np.array([5.0]), "n": 1}
    res = cv.minimize(
        lambda m: np.sum(m["w"] ** 2) + np.sum(m["u"] ** 2),
        model,
        bounds={"w": (2, 9), "u": (6, 7)},
        fixed="u",
    )
    assert_allclose(res.model["w"], [2, 2])
    assert res.model["u"].tolist() == [5.0]
    assert res.active_mask.tolist() == [-1, -1, 0]


def test_bounds_by_the_name_of_an_alias_hold_for_the_shared_entries():
    """`back` is the transpose of `w`."""
    w = np.array([[1.0, 2.0]])
    low, _ = sides({"back": ([[5], [6]], None)}, {"w": w + 5, "back": (w + 5).T} and _tied(w + 5))
    assert low == [5, 6]


def _tied(w):
    """A model with a tie."""
    return {"w": w, "back": w.T}


def test_complex_bounds_are_for_both_parts():
    """A real one holds for either, a complex one part by part; mixed vectors likewise."""
    z = cv.ComponentVector(z=[1 + 1j, 2 + 2j])
    assert sides({"z": (0, 3 + 4j)}, z) == ([0] * 4, [3, 4, 3, 4])
    assert sides({"z": (-INF, None)}, z) == ([-INF] * 4, [INF] * 4)
    assert sides((z - 1j, z + 5), z)[0] == [1, 0, 2, 1]
    mixed = cv.ComponentVector(z=1 + 1j, r=2.0)
    assert sides({"z": (0, 3 + 4j), "r": (1, 2)}, mixed) == ([0, 0, 1], [3, 4, 2])
    assert sides(Bounds([0, 0], 9), np.array([1 + 1j, 2 + 2j])) == ([0] * 4, [9] * 4)
    assert sides(Bounds(0, [9, 8, 7, 6]), np.array([1j, 1j])) == ([0] * 4, [9, 8, 7, 6])
    res = cv.minimize(lambda v: np.sum(np.abs(v.z) ** 2), z, bounds={"z": (0.5, None)})
    assert_allclose(res.x.z, [0.5 + 0.5j] * 2)


def test_no_bounds_are_none():
    """An empty dict bounds nothing."""
    assert read_bounds({}, Unknowns(start()), in_pairs=True) is None
    assert cv.minimize(square, start(), bounds={}, method="BFGS").success


def test_a_low_above_its_high_names_the_label():
    """So does a bound that is no number."""
    with pytest.raises(
        ValueError, match=r"bounds of 'layers\[0\].w\[0,1\]': the low, 3.0, is not below the high"
    ):
        sides({"layers[0].w": ([0, 3], 2)})
    with pytest.raises(ValueError, match="bounds of 'rate': the low, nan"):
        sides({"rate": (np.nan, 9)})
    with pytest.raises(ValueError, match="bounds of entry 1: the low"):
        sides([(0, 1), (1, 0)], [0.5, 0.5])


def test_a_start_outside_names_the_label():
    """Below and above; what is fixed may be where it is."""
    with pytest.raises(
        ValueError, match=r"x0 starts outside the bounds of 'rate': 7.0 is below the low, 8.0"
    ):
        cv.minimize(square, start(), bounds={"rate": (8, 9)})
    with pytest.raises(ValueError, match="7.0 is above the high, 6.0"):
        cv.minimize(square, start(), bounds={"rate": (5, 6)})
    res = cv.minimize(square, start(), bounds={"rate": (5, 6), "layers": (0, 9)}, fixed="rate")
    assert res.x.rate == 7.0


def test_equal_bounds_hold_an_entry():
    """SciPy takes them; `least_squares` says what to do instead."""
    for method in ("L-BFGS-B", "SLSQP", "TNC", "trust-constr"):
        res = cv.minimize(square, start(), bounds={"rate": (7, 7)}, method=method)
        assert res.x.rate == pytest.approx(7.0)
    seen = []
    for options in ({"method": "TNC"}, {"method": "SLSQP", "jac": "2-point"}, {"method": "COBYLA"}):
        res = cv.minimize(square, start(), bounds={"rate": (7, 7)}, callback=seen.append, **options)
        assert_allclose(res.x, [0, 0, 0, 0, 0, 0, 7], atol=1e-3)
        assert seen[-1].rate == 7
        assert "jac" not in res or res.jac.rate == 0
        closed = cv.minimize(square, start(), bounds=(start(), start()), **options)
        assert closed.success and closed.x.tolist() == start().tolist()
    with pytest.raises(ValueError, match="bounds of 'rate': the low is the high; hold it by fixed"):
        cv.least_squares(lambda v: cv.data(v), start(), bounds={"rate": (7, 7)})


@pytest.mark.parametrize(
    ("bounds", "error", "message"),
    [
        ({"rates": (0, 1)}, KeyError, "pattern 'rates' matches nothing"),
        ({"layers[9].w": (0, 1)}, KeyError, "matches nothing"),
        ({"layers[": (0, 1)}, ValueError, "layers"),
        ({"rate": 3.0}, ValueError, r"bounds of 'rate': expected a pair \(low, high\), got 3.0"),
        ({"rate": (0, 1, 2)}, ValueError, "expected a pair"),
        ({"rate": ("a", 1)}, TypeError, "bounds of 'rate': expected numbers, got 'a'"),
        ({"rate": (1j, 9)}, TypeError, "'rate' is real, got complex bounds"),
        ({"layers[*].w": ([1, 2, 3], 9)}, ValueError, r"has shape \(1, 2\), got shape \(3,\)"),
        ({"layers[0]": ([1, 2], 9)}, ValueError, r"shape \(3,\), got shape \(2,\)"),
        ([(0, 1)] * 3, ValueError, r"bounds: expected 7 pairs \(low, high\), got 3"),
        ([(0, 1)] * 6 + [0], ValueError, r"expected a pair \(low, high\) for each entry"),
        (Bounds([0, 0], [9, 9]), ValueError, r"bounds: expected 7 entries, got shape \(2,\)"),
        (3.0, TypeError, "bounds: expected a dict of path patterns"),
        (Bounds([1j] * 7, 9), TypeError, "bounds: expected real numbers, got complex ones"),
    ],
)
def test_bad_bounds_say_what_is_expected(bounds, error, message):
    """Whatever form they have."""
    with pytest.raises(error, match=message):
        sides(bounds)


def test_bad_bounds_of_arrays_say_what_is_expected():
    """Names for what has none, and sides that are none."""
    with pytest.raises(TypeError, match="bounds: a plain array has no names"):
        sides({"a": (0, 1)}, [1.0])
    with pytest.raises(ValueError, match=r"bounds: expected two sides \(low, high\), got 3"):
        sides(([0], [1], [2]), [1.0], in_pairs=False)
    with pytest.raises(TypeError, match="bounds: expected numbers, got 'a'"):
        sides(("a", 1), [1.0], in_pairs=False)


def test_active_mask_tells_which_entries_are_at_a_bound():
    """-1 at the low, 1 at the high."""
    v = cv.ComponentVector(p=[3.0, -3.0], q=1.0)
    res = cv.minimize(square, v, bounds={"p": ([1, -9], [9, -2])})
    assert res.active_mask.tolist() == [-1, 1, 0]
    assert "active_mask" not in cv.minimize(square, v)
