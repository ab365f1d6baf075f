"""NumPy with vectors: which results keep their labels, and which are refused."""

import operator
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import componentvec as cv
from strategies import numbers, tied_vectors, vectors

X = np.array([1.5, -2.0, 3.0, 0.25, -5.0])


def vector(x=X):
    """A vector of five numbers."""
    layout = cv.ComponentVector(a=0.0, b=[0.0, 0.0], c={"w": [0.0, 0.0]}).layout
    return layout.wrap(np.array(x))


def other():
    """A vector of as many numbers by other names."""
    return cv.ComponentVector(a=0.0, b=[0.0, 0.0], c={"x": [0.0, 0.0]})


def assert_labelled(result, expected, layout=None):
    """The result is a vector of the layout with these entries."""
    assert type(result) is cv.ComponentVector
    assert result.layout == (vector().layout if layout is None else layout)
    assert result.dtype == result.layout.dtype == expected.dtype
    assert np.array_equal(np.asarray(result), expected, equal_nan=expected.dtype.kind == "f")


def assert_plain(result, expected):
    """The result is the ndarray or scalar that NumPy gives."""
    assert type(result) is type(expected)
    assert np.array_equal(result, expected)


BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge,
    np.maximum, np.arctan2, np.copysign, np.logical_and, np.fmod, np.hypot, np.isclose,
]  # fmt: skip
UNARY = [
    operator.neg, operator.pos, abs, np.exp, np.sin, np.sqrt, np.sign, np.isnan, np.isfinite,
    np.square, np.floor, np.conj, np.rint, np.logical_not, np.signbit, np.spacing,
]  # fmt: skip


@pytest.mark.parametrize("function", BINARY)
def test_elementwise_operations_keep_labels(function):
    """With scalars, plain arrays of the same length, and vectors of an equal layout."""
    positive = np.array([2.0, 1.0, 3.0, 0.5, 4.0])
    for left, right in (
        (vector(positive), 2),
        (2.0, vector(positive)),
        (vector(positive), np.float64(3)),
        (np.float32(3), vector(positive)),
        (vector(positive), positive[::-1]),
        (positive[::-1], vector(positive)),
        (vector(positive), positive[::-1].tolist()),
        (vector(positive), vector(positive[::-1])),
        (vector(positive), np.array(2.0)),
        (vector(positive), [2.0]),
    ):
        assert_labelled(function(left, right), function(np.asarray(left), np.asarray(right)))


@pytest.mark.parametrize("function", UNARY)
def test_functions_of_one_vector_keep_labels(function):
    """Whatever the dtype of the result is."""
    x = np.abs(X)
    assert_labelled(function(vector(x)), function(x))


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "lshift", "rshift", "invert"])
def test_bitwise_operations_keep_labels(name):
    """Of integers and masks."""
    function = getattr(operator, name)
    n = np.arange(5)
    v = vector().astype(int)
    v[:] = n
    if name == "invert":
        assert_labelled(function(v), ~n)
    else:
        assert_labelled(function(v, 2), function(n, 2))
        assert_labelled(function(3, v), function(3, n))
        assert_labelled(function(v, v), function(n, n))
    mask = v > 2
    assert_labelled(~mask, ~(n > 2))


def test_functions_of_two_results_keep_labels():
    """Each result by itself."""
    for results, expected in (
        (divmod(vector(), 2), divmod(X, 2)),
        (divmod(7, vector()), divmod(7, X)),
        (np.modf(vector()), np.modf(X)),
        (np.frexp(vector()), np.frexp(X)),
        (np.divmod(vector(), vector()), np.divmod(X, X)),
    ):
        for result, right in zip(results, expected, strict=True):
            assert_labelled(result, right)


@given(vectors(), numbers)
def test_arithmetic_acts_on_the_entries(v, c):
    """In any layout, as NumPy does with the buffer."""
    x = cv.data(v)
    for result, expected in ((v + c, x + c), (c * v, c * x), (v - v, x - x), (-v * v, -x * x)):
        assert type(result) is cv.ComponentVector
        assert cv.layout(result) == cv.layout(v)
        assert np.array_equal(cv.data(result), expected)
        assert cv.data(result).dtype == expected.dtype


@given(tied_vectors())
def test_arithmetic_keeps_ties(drawn):
    """A result shares memory where its operands do."""
    v, places = drawn
    w = 2 * v
    assert cv.layout(w).ties == cv.layout(v).ties
    for index in places.values():
        assert np.array_equal(cv.data(w)[index], 2 * cv.data(v)[index])


def test_groups_are_operands():
    """A group is a vector like others."""
    v = vector()
    assert_labelled(v.c * 2, X[3:] * 2, v.layout["c"])
    assert_labelled(v.c + v[["c"]].c, X[3:] * 2, v.layout["c"])


@pytest.mark.parametrize(
    "function",
    [*BINARY, operator.matmul, np.dot, np.inner, np.vdot, np.allclose, np.array_equal, np.copyto],
)
def test_vectors_of_unequal_layouts_are_refused(function):
    """The first difference is named, and the remedy; comparisons included."""
    with pytest.raises(ValueError, match="layouts differ: 'c.w' here, 'c.x' there.*np.asarray"):
        function(vector(), other())
    if function is not np.copyto:
        function(np.asarray(vector()) ** 2, other() + 1)


@pytest.mark.parametrize(
    ("tree", "difference"),
    [
        ({"b": 1.0}, "'a' here, 'b' there"),
        ({"a": [1.0, 2.0]}, "'a' has shape \\(\\) here, \\(2,\\) there"),
        ({"a": 1.0, "b": 2.0}, "nothing here, 'b' there"),
        ({"a": {"x": 1.0}}, "'a' is a leaf here, a mapping there"),
        ([1.0], "'the root' is a mapping here, a sequence there"),
        ({}, "'a' here, nothing there"),
    ],
)
def test_the_first_difference_of_two_layouts_is_named(tree, difference):
    """Names, shapes and kinds of containers."""
    with pytest.raises(ValueError, match=f"layouts differ: {difference}"):
        cv.ComponentVector(a=1.0) + cv.ComponentVector(tree)


def test_ties_and_pairs_are_differences():
    """Other places of the same names."""
    layout = cv.ComponentVector(a=1.0, b=2.0, c=3.0).layout
    for one, two in (
        (layout.tie("c", "a"), layout.tie("c", "b")),
        (layout.tie("a", "c"), layout.tie("c", "a")),
    ):
        with pytest.raises(ValueError, match="layouts differ: '[ac]' has another place"):
            one.zeros() == two.zeros()
    with pytest.raises(ValueError, match="layouts differ: 'z' has another place, kind or tie"):
        cv.ComponentVector(x=1.0, z=1j) + cv.ComponentVector(x=1.0, z=1.0)


def test_results_of_another_shape_are_plain():
    """Positions lose their meaning there."""
    v = vector()
    assert_plain(v + np.ones((3, 5)), X + np.ones((3, 5)))
    assert_plain(v + np.ones((3, 1)), X + np.ones((3, 1)))
    assert_plain(np.ones((1, 5)) * v, np.ones((1, 5)) * X)
    one = cv.ComponentVector(a=2.0)
    assert_plain(one * np.arange(3.0), 2 * np.arange(3.0))
    with pytest.raises(ValueError, match="broadcast"):
        v + np.ones(3)


PAIRS = np.array([2.0, 1.0, -3.0, 0.0, 4.0])


def pairs():
    """A real vector with complex components."""
    v = cv.ComponentVector(x=0.0, z=[0j, 0j])
    v[:] = PAIRS
    return v


def test_arithmetic_of_pairs_acts_on_their_entries():
    """`v * v` squares real and imaginary parts."""
    v = pairs()
    assert_labelled(v * v, PAIRS * PAIRS, v.layout)
    assert (v * v).z.tolist() == [1 + 9j, 16j]
    assert_labelled(np.float32(2) * v, 2 * PAIRS, v.layout)
    assert (v.astype(np.float32) * 2).z.dtype == np.complex64


@pytest.mark.parametrize(
    "function",
    [
        lambda v: v > 0, lambda v: v == v, lambda v: v * 1j, np.isnan, lambda v: np.frexp(v)[1],
        lambda v: np.real_if_close(v + 0j), lambda v: np.zeros_like(v, dtype=int),
        lambda v: np.ones_like(v, dtype=complex), np.iscomplex,
        lambda v: np.empty_like(v, dtype=np.float16).astype(float) * 0,
    ],
)  # fmt: skip
def test_results_of_pairs_that_are_not_real_floating_are_plain(function):
    """No complex number could be read from them."""
    assert_plain(function(pairs()), function(PAIRS))


# -- out, where, in place --------------------------------------------------------------------------


def test_out_may_be_a_vector():
    """It is filled and given back."""
    v, w = vector(), vector(np.zeros(5))
    assert np.add(v, 1, out=w) is w
    assert w.tolist() == (X + 1).tolist()
    plain = np.zeros(5)
    assert np.multiply(v, 2, out=plain) is plain
    assert plain.tolist() == (2 * X).tolist()
    assert np.negative(X, out=w) is w
    assert w.tolist() == (-X).tolist()
    whole, part = np.modf(v, out=(None, w))
    assert part is w
    assert_labelled(whole, np.modf(X)[0])
    assert np.clip(v, 0, 1, out=w) is w
    assert w.tolist() == np.clip(X, 0, 1).tolist()
    assert np.cumsum(v, out=w) is w
    assert np.add.accumulate(v, out=w) is w
    assert w.tolist() == np.cumsum(X).tolist()
    with pytest.raises(ValueError, match="layouts differ"):
        np.add(v, 1, out=other())


def test_where_may_be_a_vector():
    """Of the same layout."""
    v, w = vector(), vector(np.zeros(5))
    assert np.add(v, 1, out=w, where=v > 0) is w
    assert w.tolist() == np.where(X > 0, X + 1, 0).tolist()
    with pytest.raises(ValueError, match="layouts differ"):
        np.add(v, 1, out=w, where=other() == 0)


@pytest.mark.parametrize(
    "name", ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul"]
)
def test_operators_work_in_place(name):
    """The vector stays the same object on the same memory."""
    function = getattr(operator, name)
    if name == "imatmul":
        with pytest.raises(ValueError):
            function(vector(), np.eye(3))
        return
    for operand in (2.0, np.array([2.0, 1, 3, 1, 2]), vector([2.0, 1, 3, 1, 2])):
        v, x = vector(np.abs(X)), np.abs(X)
        buffer = cv.data(v)
        assert function(v, operand) is v
        function(x, np.asarray(operand))
        assert cv.data(v) is buffer
        assert v.tolist() == x.tolist()
    with pytest.raises(ValueError, match="layouts differ"):
        function(vector(), other())
    with pytest.raises(ValueError, match="broadcast"):
        function(vector(), np.ones((2, 5)))


def test_in_place_operators_keep_the_dtype():
    """What does not fit is NumPy's TypeError."""
    v = vector().astype(np.float32)
    v += np.float64(1)
    assert v.dtype == np.float32
    with pytest.raises(TypeError, match="Cannot cast ufunc"):
        v += 1j
    n = vector().astype(int)
    n <<= 1
    n &= 7
    n |= 1
    n ^= 2
    n >>= 1
    with pytest.raises(TypeError, match="Cannot cast ufunc"):
        n /= 2


# -- dtypes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("one", [np.float32, np.float64, np.int32, complex])
@pytest.mark.parametrize("two", [np.float32, np.float64, np.int32, complex])
def test_dtypes_promote_as_in_numpy(one, two):
    """Layouts of other dtypes are equal."""
    v, w = vector().astype(one), vector().astype(two)
    assert_labelled(v + w, X.astype(one) + X.astype(two))
    assert (v + 1.5).dtype == (X.astype(one) + 1.5).dtype
    assert (v + w).c.w.dtype == (v + w).dtype


# -- methods of ufuncs -----------------------------------------------------------------------------


def test_methods_of_ufuncs_act_on_the_buffer():
    """With plain results."""
    v = vector()
    assert_plain(np.add.reduce(v), np.add.reduce(X))
    assert_plain(np.maximum.accumulate(v), np.maximum.accumulate(X))
    assert_plain(np.multiply.outer(v, other()), np.multiply.outer(X, np.zeros(5)))
    assert_plain(np.add.reduceat(v, [0, 2]), np.add.reduceat(X, [0, 2]))
    np.add.at(v, [0, 0, 4], 10.0)
    assert v.tolist() == [21.5, -2.0, 3.0, 0.25, 5.0]


def test_reductions_give_scalars():
    """By method, by function, and over all or by condition."""
    v = vector()
    for name in (
        "sum",
        "mean",
        "std",
        "var",
        "min",
        "max",
        "prod",
        "argmax",
        "argmin",
        "any",
        "all",
    ):
        for result in (getattr(v, name)(), getattr(np, name)(v)):
            assert_plain(result, getattr(np, name)(X))
    assert_plain(np.sum(v, where=v > 0), np.sum(X, where=X > 0))
    assert_plain(np.linalg.norm(v), np.linalg.norm(X))
    assert_plain(np.median(v), np.median(X))
    assert_plain(np.ptp(v), np.ptp(X))
    assert_plain(np.average(v, weights=np.ones(5)), np.average(X))
    assert_plain(np.max(v, keepdims=True), np.max(X, keepdims=True))


def test_matrix_products_are_plain():
    """From either side, with vectors and matrices."""
    v, m = vector(), np.arange(25.0).reshape(5, 5)
    assert_plain(v @ v, X @ X)
    assert_plain(v @ X, X @ X)
    assert_plain(X @ v, X @ X)
    assert_plain(m @ v, m @ X)
    assert_plain(v @ m, X @ m)
    assert_plain(np.dot(m, v), m @ X)
    assert_plain(np.outer(v, other()), np.outer(X, np.zeros(5)))
    assert_plain(np.einsum("i,i", v, v), np.einsum("i,i", X, X))
    assert_plain(np.linalg.solve(np.eye(5), v), X)
    assert_plain(np.vander(v, 3), np.vander(X, 3))


@pytest.mark.parametrize(
    "function",
    [
        np.sort, np.argsort, np.cumsum, np.cumprod, np.diff, np.flip, np.unique, np.gradient,
        np.transpose, np.diag, np.atleast_2d, np.ravel, np.nonzero, np.where,
        lambda v: np.roll(v, 1), lambda v: np.concatenate([v, v]), lambda v: np.stack([v, v]),
        lambda v: np.hstack((v, v)), lambda v: np.append(v, 1.0), lambda v: np.repeat(v, 2),
        lambda v: np.take(v, [0, 1]), lambda v: np.reshape(v, (1, 5)), lambda v: np.split(v, [2]),
        lambda v: np.partition(v, 2), lambda v: np.interp(v, [0, 1], [0, 1]),
        lambda v: np.searchsorted([0.0, 1.0], v), lambda v: np.convolve(v, v),
        lambda v: np.histogram(v), lambda v: np.percentile(v, [10, 50]),
        lambda v: np.zeros_like(v, shape=3), lambda v: np.where(v > 0, v, np.ones((2, 5))),
        lambda v: np.fft.fft(v), lambda v: np.lexsort([v]), lambda v: np.trim_zeros(v),
    ],
)  # fmt: skip
def test_what_moves_entries_gives_plain_results(function):
    """Sorting, rolling, cumulative sums, concatenation and the like."""
    result, expected = function(vector()), function(X)
    results = result if isinstance(result, tuple | list) else (result,)
    expectations = expected if isinstance(expected, tuple | list) else (expected,)
    for one, right in zip(results, expectations, strict=True):
        assert_plain(one, right)


def test_vectors_of_unequal_layouts_are_concatenated():
    """Their positions mean nothing in the result anyway."""
    assert np.concatenate([vector(), other()]).shape == (10,)


@pytest.mark.parametrize(
    "function",
    [
        np.copy, np.zeros_like, np.ones_like, np.nan_to_num, np.round, np.around, np.real, np.imag,
        np.conj, np.sinc, np.isreal, np.angle, np.isposinf,
        lambda v: np.empty_like(v) * 0, lambda v: np.full_like(v, 7.0),
        lambda v: np.zeros_like(v, dtype=int), lambda v: np.where(v > 0, v, -v),
        lambda v: np.where(v > 0, 1, 0), lambda v: np.where([True, False, True, True, False], v, 0),
        lambda v: np.clip(v, -1, 1), lambda v: np.clip(v, v - 1, v + 1), lambda v: np.round(v, 1),
        lambda v: np.isclose(v, v), lambda v: np.nan_to_num(v, nan=1.0),
        lambda v: np.clip(v, 0, None),
    ],
)  # fmt: skip
def test_other_elementwise_functions_keep_labels(function):
    """Those that are no ufuncs."""
    assert_labelled(function(vector()), np.asarray(function(X)))


def test_copies_by_numpy_have_memory_of_their_own():
    """`np.copy` is a copy."""
    v = vector()
    for w in (np.copy(v), np.zeros_like(v), np.array(v)):
        assert not np.shares_memory(w, v)


def test_parts_of_a_complex_vector_keep_labels():
    """Real and imaginary parts are vectors."""
    v = cv.ComponentVector(z=[1 + 2j, 3 - 4j], y=5j)
    assert_labelled(np.real(v), np.array([1.0, 3.0, 0.0]), v.layout)
    assert_labelled(np.imag(v), np.array([2.0, -4.0, 5.0]), v.layout)
    assert_labelled(np.conj(v), np.conj(np.asarray(v)), v.layout)
    assert_labelled(np.abs(v), np.abs(np.asarray(v)), v.layout)


def test_arrays_are_compared_as_a_whole():
    """By `array_equal` and `allclose`, with vectors and arrays."""
    v = vector()
    assert np.array_equal(v, vector())
    assert np.array_equal(v, X)
    assert not np.array_equal(v, v + 1)
    assert not np.array_equal(v, X[:3])
    assert np.allclose(v, v + 1e-12)
    assert np.allclose(X, v)
    np.testing.assert_allclose(v, X)
    np.testing.assert_array_equal(np.asarray(v), X)


def test_vectors_are_written_by_numpy():
    """`copyto`, `put` and `place` write into the buffer."""
    v = vector()
    np.copyto(v, 1.0)
    np.put(v, [0], 5.0)
    np.place(v, v == 1, [2.0])
    assert v.tolist() == [5, 2, 2, 2, 2]
    np.copyto(v, vector())
    assert v.tolist() == X.tolist()


def test_comparison_is_element_wise():
    """Also with what is no number."""
    v = vector()
    assert_labelled(v == 3, X == 3)
    assert_labelled(v != v, X != X)
    assert (v == None).tolist() == [False] * 5  # noqa: E711
    assert (v != "text").tolist() == [True] * 5
    assert (v == b"text").tolist() == [False] * 5
    assert (v == vector()).all()


def test_operands_that_are_no_numbers_are_refused():
    """As NumPy refuses them."""
    for operand in (None, "text", object(), {}):
        with pytest.raises(TypeError):
            vector() + operand


def test_object_results_are_plain():
    """A vector holds numbers."""
    from fractions import Fraction

    result = cv.ComponentVector(a=1, b=2, dtype=int) * Fraction(1, 2)
    assert type(result) is np.ndarray
    assert result.tolist() == [Fraction(1, 2), Fraction(1)]


# -- other libraries -------------------------------------------------------------------------------


class Stranger:
    """A class that wants nothing to do with ufuncs."""

    __array_ufunc__ = None

    def __radd__(self, value):
        return "mine"


def test_an_operand_without_ufuncs_decides_itself():
    """Python asks it after the vector."""
    assert vector() + Stranger() == "mine"
    with pytest.raises(TypeError):
        np.add(vector(), Stranger())


def pandas_series():
    """A column of pandas."""
    return pytest.importorskip("pandas").Series(X + 1)


def xarray_data():
    """A labelled array of xarray."""
    return pytest.importorskip("xarray").DataArray(X + 1, dims="x")


def sparse_matrix():
    """A sparse matrix of SciPy."""
    return pytest.importorskip("scipy.sparse").csr_array(np.diag(X))


def masked_array():
    """A masked array of NumPy."""
    return np.ma.array(X + 1, mask=[0, 1, 0, 0, 1])


ARITHMETIC = [operator.add, operator.mul, operator.sub]
COMPARISONS = [operator.eq, operator.lt]


@pytest.mark.parametrize(
    ("make", "function"),
    [
        *((make, f) for make in (pandas_series, xarray_data, masked_array) for f in ARITHMETIC),
        *((make, f) for make in (pandas_series, xarray_data, masked_array) for f in COMPARISONS),
        *((sparse_matrix, f) for f in (*ARITHMETIC, operator.matmul)),
        (pandas_series, operator.matmul),
    ],
)
def test_arrays_of_other_libraries_meet_a_plain_array(make, function):
    """From either side the result is what they make with an ndarray."""
    theirs = make()
    for left, right in ((True, False), (False, True)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(vector() if left else theirs, vector() if right else theirs)
            expected = function(X if left else theirs, X if right else theirs)
        assert type(result) is type(expected)
        if hasattr(result, "toarray"):
            result, expected = result.toarray(), expected.toarray()
        assert np.array_equal(np.asarray(result), np.asarray(expected))


def test_ufuncs_of_other_libraries_meet_a_plain_array():
    """Called by name."""
    pd = pytest.importorskip("pandas")
    series = pd.Series(X)
    for result in (np.add(vector(), series), np.add(series, vector())):
        assert type(result) is pd.Series
        assert result.tolist() == (2 * X).tolist()
    assert pd.Series(vector()).tolist() == X.tolist()
    assert pd.DataFrame({"x": vector()}).x.tolist() == X.tolist()


def test_a_masked_result_keeps_its_mask():
    """And so is no vector."""
    result = vector() + np.ma.array(X, mask=[0, 1, 0, 0, 1])
    assert type(result) is np.ma.MaskedArray
    assert result.mask.tolist() == [False, True, False, False, True]


class Wrapped:
    """An array class of another library, with functions of its own."""

    def __array_function__(self, function, types, args, kwargs):
        return "theirs"


def test_functions_leave_unknown_arrays_to_their_library():
    """A vector does not know what to do with them."""
    assert np.concatenate([vector(), Wrapped()]) == "theirs"


@given(st.lists(numbers, min_size=1, max_size=5), numbers)
def test_reflected_operators_agree_with_numpy(values, c):
    """A number on the left."""
    x = np.array(values)
    v = cv.ComponentVector(a=values)
    with np.errstate(all="ignore"):
        for name in ("add", "sub", "mul", "truediv", "mod", "floordiv"):
            function = getattr(operator, name)
            assert np.array_equal(function(c, v), function(c, x), equal_nan=True)
            assert np.array_equal(function(v, c), function(x, c), equal_nan=True)
