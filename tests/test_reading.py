"""Reading parameters out of a vector: `componentvec.reading`. Dtypes, views, vectors in models."""

import tracemalloc

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from autograd.test_util import check_grads
from hypothesis import given
from hypothesis import strategies as st

import componentvec as cv
from model_strategies import ALL, BatchNorm, is_parameter, models, parameters_of, places_of

W = np.arange(6.0).reshape(2, 3)
B = np.array([1.0, 2.0])
Z = np.array([1 + 2j, 3 - 1j])


def dtypes(model, **options):
    """The dtype of the vector, and those of the leaves that come back."""
    vector, restructure = cv.destructure(model, **options)
    return vector.dtype, [np.asarray(x).dtype for x in restructure(vector).values()]


def real(x):
    """The real part of the sum."""
    return anp.real(anp.sum(x))


# -- views -------------------------------------------------------------------------------------


@given(models())
def test_parameters_are_views_of_the_given_memory(model):
    """A change of the array is a change of every parameter, and the other way round."""
    vector, restructure = cv.destructure(model, allow_empty=True)
    p = np.arange(1.0, 1.0 + len(vector))
    back = restructure(p)
    for _, x in parameters_of(back):
        assert x.size == 0 or np.shares_memory(x, p)
    before = [x.copy() for _, x in parameters_of(back)]
    p *= 2
    for old, (_, x) in zip(before, parameters_of(back), strict=True):
        np.testing.assert_array_equal(x, 2 * old)


def test_no_memory_of_the_size_of_the_vector_is_taken():
    """Ten million entries, two leaves and a transpose: a few kilobytes."""
    w = np.zeros((5, 10**6))
    _, restructure = cv.destructure({"a": w, "b": w.T, "c": [np.zeros(5 * 10**6)]})
    p = np.zeros(restructure.size)
    assert p.size == 10**7
    tracemalloc.start()
    try:
        back = restructure(p)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000 < p.nbytes
    assert np.shares_memory(back["b"], p)


def test_read_only_memory_gives_read_only_parameters():
    """Plain leaves, transposes, pairs, and vectors in the model."""
    model = {"w": W, "t": W.T, "z": Z, "v": cv.ComponentVector(a=1.0)}
    _, restructure = cv.destructure(model)
    p = np.zeros(restructure.size)
    p.flags.writeable = False
    back = restructure(p)
    for name in ("w", "t", "z"):
        assert not back[name].flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            back[name][0] = 1
    with pytest.raises(ValueError, match="read-only"):
        back["v"].a = 1.0


def test_an_array_without_axes_stays_an_array():
    """A number of the model was static, or comes back as a number."""
    model = {"a": np.array(1.5), "b": 2.5, "c": np.float32(3.5)}
    vector, restructure = cv.destructure(model, scalars=True)
    back = restructure(vector)
    assert type(back["a"]) is np.ndarray and back["a"].shape == ()
    assert np.shares_memory(back["a"], cv.data(vector))
    assert type(back["b"]) is np.float64 and type(back["c"]) is np.float32


def test_an_array_without_axes_stays_one_while_it_is_traced():
    """So that it is a parameter of the traced model as well."""
    model = {"a": np.array(3.0), "b": B, "z": np.array(2j)}

    def f(m):
        assert np.ndim(m["a"]) == 0 and len(cv.trainables(m)) == 3
        inner, _ = cv.destructure(m)
        return anp.sum(inner[:3] ** 2) + real(m["z"] ** 2) + m["a"] ** 3

    gradient = cv.grad(f)(model)
    assert float(gradient["a"]) == 6.0 + 27.0
    assert gradient["a"].shape == () and gradient["z"].shape == ()
    vector, restructure = cv.destructure(model)
    check_grads(lambda p: f(restructure(p)), modes=["rev", "fwd"], order=2)(vector)


def test_the_same_empty_array_is_one_object_again():
    """It has no memory to be tied by, and two places all the same."""
    empty, other = np.zeros((0, 2)), np.zeros((0, 2))
    vector, restructure = cv.destructure([empty, empty, other, B])
    back = restructure(vector)
    assert back[0] is back[1] and back[0] is not back[2]
    assert back[0].shape == (0, 2)


# -- dtypes ------------------------------------------------------------------------------------


def test_a_float32_model_makes_a_float32_vector():
    """No promotion by integers, static parts or numbers beside it."""
    key = np.array([2**31 + 1], np.uint32)
    model = {"W": np.array([1, 2], np.float32), "key": key, "n": 3, "rate": 0.1}
    vector, restructure = cv.destructure(model)
    assert len(vector) == 2 and vector.dtype == np.float32
    back = restructure(vector)
    assert back["key"] is key and back["n"] == 3
    assert back["W"].dtype == np.float32


def test_leaves_of_the_vectors_dtype_follow_what_is_given():
    """A float32 model driven in double precision computes in it, on views."""
    _, restructure = cv.destructure({"w": np.ones(2, np.float32), "t": np.ones((2, 1), np.float32)})
    p = np.array([0.1, 0.2, 0.3, 0.4])
    back = restructure(p)
    assert back["w"].dtype == float and np.shares_memory(back["w"], p)
    assert back["w"].tolist() == [0.1, 0.2]


def test_a_leaf_of_another_dtype_comes_back_in_its_own():
    """Only this leaf is copied."""
    model = {"a": np.ones(2, np.float32), "b": B, "c": np.ones(2, np.float16)}
    vector, restructure = cv.destructure(model)
    p = cv.data(vector)
    back = restructure(p)
    assert p.dtype == float
    assert [x.dtype for x in back.values()] == [np.float32, np.float64, np.float16]
    assert [np.shares_memory(x, p) for x in back.values()] == [False, True, False]


def test_leaves_of_another_dtype_share_their_copy_where_they_are_tied():
    """A transpose of the copy, and the same object twice."""
    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    vector, restructure = cv.destructure({"b": B, "w": w, "t": w.T, "again": w, "row": w[1]})
    back = restructure(vector + 1)
    assert back["again"] is back["w"]
    assert np.shares_memory(back["t"], back["w"]) and np.shares_memory(back["row"], back["w"])
    assert back["t"].tolist() == (w.T + 1).tolist()
    assert back["row"].tolist() == [4.0, 5.0, 6.0]
    assert not np.shares_memory(back["w"], cv.data(vector))


@pytest.mark.parametrize(
    "leaves, options, vector, back",
    [
        ("f4 f4", {}, "f4", "f4 f4"),
        ("f4 f8", {}, "f8", "f4 f8"),
        ("f2 f4", {}, "f4", "f2 f4"),
        ("f8 g", {}, "g", "f8 g"),
        ("f4 f4", {"dtype": float}, "f8", "f4 f4"),
        ("f8 f8", {"dtype": np.float32}, "f4", "f8 f8"),
        ("D D", {}, "D", "D D"),
        ("F D", {}, "D", "F D"),
        ("D f8", {}, "f8", "D f8"),
        ("F f4", {}, "f4", "F f4"),
        ("F f8", {}, "f8", "F f8"),
        ("D f4", {}, "f8", "D f4"),
        ("F f2", {}, "f4", "F f2"),
        ("f8 f8", {"dtype": complex}, "D", "f8 f8"),
        ("f8 D", {"dtype": complex}, "D", "f8 D"),
        ("D D", {"dtype": float}, "f8", "D D"),
        ("D D", {"dtype": np.float32}, "f4", "D D"),
        ("D F", {"dtype": np.complex64}, "F", "D F"),
        (">f8 f8", {}, "f8", ">f8 f8"),
        ("f4 i8", {}, "f4", "f4 i8"),
    ],
)
def test_each_leaf_has_its_own_dtype_back(leaves, options, vector, back):
    """Whatever the dtype of the vector; values are exact here."""
    model = dict(zip("ab", (np.array([1, 2]).astype(dtype) for dtype in leaves.split())))
    assert dtypes(model, **options) == (vector, [np.dtype(dtype) for dtype in back.split()])
    packed, restructure = cv.destructure(model, **options)
    for name, x in restructure(packed).items():
        np.testing.assert_array_equal(x, model[name])


@pytest.mark.parametrize("dtype", [int, bool, "uint8", object, str])
def test_a_dtype_without_fractions_is_refused(dtype):
    """Parameters would be cut off."""
    with pytest.raises(TypeError, match="parameters need a floating or complex dtype, got dtype"):
        cv.destructure({"w": B}, dtype=dtype)


def test_complex_leaves_of_a_real_vector_are_views():
    """Pairs (re, im), read as numbers."""
    vector, restructure = cv.destructure({"z": Z, "w": W, "t": Z[::-1]})
    assert vector.dtype == float and len(vector) == 10
    p = np.arange(10.0)
    back = restructure(p)
    assert back["z"].tolist() == [0 + 1j, 2 + 3j] and back["t"].tolist() == [2 + 3j, 0 + 1j]
    assert np.shares_memory(back["z"], p) and np.shares_memory(back["t"], p)


def test_a_complex_leaf_of_lower_precision_comes_back_in_it():
    """complex64 beside float64."""
    vector, restructure = cv.destructure({"z": Z.astype(np.complex64), "w": B})
    back = restructure(cv.data(vector))
    assert back["z"].dtype == np.complex64 and back["z"].tolist() == Z.tolist()
    assert not np.shares_memory(back["z"], cv.data(vector))


def test_a_complex64_model_follows_a_double_vector():
    """As float32 does."""
    _, restructure = cv.destructure({"z": Z.astype(np.complex64), "w": np.ones(1, np.float32)})
    back = restructure(np.arange(5.0))
    assert back["z"].dtype == complex and back["w"].dtype == float


def test_python_numbers_have_no_dtype_of_their_own():
    """They follow the vector, and promote nothing that they are multiplied with."""
    model = {"w": np.ones(2, np.float32), "a": 1.5, "z": 2j}
    vector, restructure = cv.destructure(model, scalars=True)
    assert vector.dtype == np.float32
    back = restructure(vector)
    assert type(back["a"]) is np.float32 and type(back["z"]) is np.complex64
    assert (back["a"] * back["w"]).dtype == np.float32
    assert type(restructure(vector.astype(float))["a"]) is np.float64
    vector, restructure = cv.destructure(model, scalars=True, dtype=np.complex64)
    back = restructure(vector)
    assert type(back["a"]) is np.float32 and type(back["z"]) is np.complex64


def test_an_empty_leaf_has_no_say_and_keeps_its_dtype():
    """Also a complex one in a real vector, which has no pairs to store."""
    model = {"w": np.ones(1, np.float32), "e": np.zeros(0), "z": np.zeros((0, 2), complex)}
    vector, restructure = cv.destructure(model)
    assert vector.dtype == np.float32
    assert [x.dtype for x in restructure(vector).values()] == [np.float32, float, complex]
    assert len(restructure.pack(model)) == 1


def test_own_dtypes_are_differentiable():
    """A cast has the cast back as its adjoint: the gradient has the vector's dtype."""
    _, restructure = cv.destructure({"a": np.ones(2, np.float32), "b": np.ones(2)})

    def f(p):
        back = restructure(p)
        return anp.sum(back["a"] ** 2) + anp.sum(back["b"] ** 3)

    gradient = grad(f)(np.arange(4.0))
    assert gradient.dtype == float and gradient.tolist() == [0.0, 2.0, 12.0, 27.0]


def test_real_leaves_of_a_complex_vector_see_the_real_parts():
    """What is imaginary there does not matter, and has gradient zero."""
    _, restructure = cv.destructure({"w": B, "s": 2.0}, dtype=complex, scalars=True)
    p = np.array([1 + 5j, 2 + 6j, 3 + 7j])
    back = restructure(p)
    assert back["w"].tolist() == [1.0, 2.0] and back["s"] == 3.0
    gradient = grad(lambda p: anp.sum(restructure(p)["w"] ** 2) * restructure(p)["s"])(p)
    assert gradient.tolist() == [6.0, 12.0, 5.0]


@given(models(ALL), st.sampled_from([None, np.float64, np.complex128, np.longdouble]))
def test_dtypes_and_values_come_back_in_any_wide_vector(model, dtype):
    """All dtypes side by side: exact numbers stay exact, and keep their dtypes."""
    vector, restructure = cv.destructure(model, dtype=dtype, allow_empty=True)
    for (_, one, role), (_, other, _) in zip(
        places_of(model), places_of(restructure(vector)), strict=True
    ):
        if is_parameter(one) and role == "trainable":
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


# -- component vectors in the model ------------------------------------------------------------


def check(model, f, **options):
    """Both derivatives of a function of the model are right, from vectors and from plain arrays."""
    vector, restructure = cv.destructure(model, **options)
    for start in (vector, cv.data(vector)):
        check_grads(lambda p: f(restructure(p)), modes=["rev", "fwd"], order=2)(start)
    return restructure


REAL = cv.ComponentVector(a=1.0, b=[2.0, 3.0], c={"d": [[4.0, 5.0]]})
COMPLEX = cv.ComponentVector(p=[1j, 2.0], q=3 + 1j)
MIXED = cv.ComponentVector(a=2.0, z=[1j, 1 + 1j])


def test_a_vector_in_the_model_is_a_vector_on_the_same_memory():
    """All its entries are parameters; it can be used as an array."""
    restructure = check(
        {"v": REAL, "w": W}, lambda m: anp.sum(m["v"] ** 3) * anp.sum(m["w"]) + m["v"].a ** 2
    )
    p = np.arange(11.0)
    back = restructure(p)
    assert isinstance(back["v"], cv.ComponentVector) and back["v"].layout == REAL.layout
    assert back["v"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert np.shares_memory(cv.data(back["v"]), p)
    back["v"].c.d = 7.0
    assert p[3:5].tolist() == [7.0, 7.0]


def test_a_vector_as_the_whole_model_comes_back_as_one():
    """With its ties, its groups without entries, and the kind of its root."""
    tied, _ = cv.destructure({"a": B, "b": B})
    for v in (REAL, COMPLEX, MIXED, tied, cv.ComponentVector([B, {"w": W}]), REAL.c):
        vector, restructure = cv.destructure(v)
        assert vector.layout == v.layout and vector.tolist() == v.tolist()
        back = restructure(vector)
        assert back.layout == v.layout and back.dtype == v.dtype
        assert np.shares_memory(cv.data(back), cv.data(vector))
    hollow = cv.ComponentVector(a={}, b=[1.0], c=[])
    assert cv.destructure({"v": hollow})[1](np.ones(1))["v"].layout == hollow.layout


def test_a_vector_without_entries_stays_the_object_it_is():
    """There is nothing to follow."""
    empty = cv.ComponentVector()
    vector, restructure = cv.destructure({"v": empty, "w": B})
    assert restructure(vector)["v"] is empty


def test_an_integer_vector_is_static():
    """As integer arrays are."""
    v = cv.ComponentVector(a=1, b=[2, 3], dtype=int)
    vector, restructure = cv.destructure({"v": v, "w": B})
    assert vector.layout.paths() == ("w",) and restructure(vector)["v"] is v
    with pytest.raises(ValueError, match="the model has no parameters"):
        cv.destructure(v)


def test_a_vector_at_two_places_is_one_object_again():
    """And one set of entries."""
    vector, restructure = cv.destructure({"x": REAL, "y": [REAL]})
    assert len(vector) == 5
    back = restructure(vector)
    assert back["x"] is back["y"][0]


def test_vectors_on_the_same_memory_are_tied_and_stay_vectors():
    """Another view of the buffer, and a group of it."""
    other = REAL.layout.wrap(cv.data(REAL))
    model = {"v": REAL, "other": other, "group": REAL.c}
    vector, restructure = cv.destructure(model)
    assert len(vector) == 5
    back = restructure(vector)
    back["v"].c.d[0, 0] = -1.0
    assert (back["other"] + 0).tolist() == (back["v"] + 0).tolist()
    assert (back["group"] + 0).tolist() == [-1.0, 5.0]


def test_a_vector_whose_array_stands_right_before_it_is_one_piece():
    """Its entries lie side by side all the same."""
    vector, restructure = cv.destructure({"p": COMPLEX.p, "v": COMPLEX, "w": B})
    back = restructure(vector)
    assert back["v"].layout == COMPLEX.layout and back["v"].tolist() == COMPLEX.tolist()
    assert np.shares_memory(cv.data(back["v"]), back["p"])


def test_a_vector_that_lies_in_an_array_of_the_model_is_tied_to_it():
    """It stays one piece there."""
    base = np.arange(9.0)
    v = REAL.layout.wrap(base[2:7])
    restructure = check(
        {"base": base, "v": v}, lambda m: anp.sum(m["v"] ** 3) + anp.sum(m["base"] ** 2)
    )
    back = restructure(np.arange(10.0, 19.0))
    assert (back["v"] + 0).tolist() == [12.0, 13.0, 14.0, 15.0, 16.0]


def test_a_vector_of_which_an_array_owns_a_part_is_read_by_name():
    """It has no memory of its own then: every component is a view, the whole is no array."""
    model = {"b": REAL.b, "v": REAL}
    restructure = check(
        model, lambda m: m["v"].a ** 3 * anp.sum(m["b"] ** 2) + anp.sum(m["v"].b ** 2)
    )
    assert restructure.layout.ties == (("b", "v.b"),)
    back = restructure(np.arange(5.0))
    assert back["v"].b.tolist() == [0.0, 1.0] and back["v"].a == 2.0
    assert np.shares_memory(back["v"].b, back["b"])
    with pytest.raises(ValueError, match=r"'v\.b' is tied to memory outside this group"):
        back["v"] + 1
    again, _ = cv.destructure(back)
    assert again.layout == restructure.layout and again.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_a_sequence_of_which_an_array_owns_a_part_is_copied():
    """A list has no group to be read by name."""
    v = cv.ComponentVector([B, W])
    model = {"b": v["[0]"], "x": np.zeros(1), "v": v}
    restructure = check(model, lambda m: anp.sum(m["v"] ** 3) + m["b"][0] + m["x"][0])
    p = np.arange(9.0)
    back = restructure(p)
    assert back["v"].tolist() == [0.0, 1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    assert back["v"].layout == v.layout and not np.shares_memory(cv.data(back["v"]), p)


def test_a_complex_vector_beside_real_arrays_stays_complex():
    """Its pairs are read as numbers, on the same memory."""
    restructure = check(
        {"v": COMPLEX, "w": B},
        lambda m: real(m["v"] ** 3) * anp.sum(m["w"]) + real(m["v"].q ** 2),
    )
    p = np.arange(8.0)
    back = restructure(p)
    assert back["v"].dtype == complex and back["v"].layout == COMPLEX.layout
    assert back["v"].tolist() == [0 + 1j, 2 + 3j, 4 + 5j]
    assert np.shares_memory(cv.data(back["v"]), p)
    assert restructure(p.astype(np.float32))["v"].dtype == np.complex64


def test_a_complex_vector_of_which_an_array_owns_a_part_is_copied():
    """Its numbers do not lie side by side."""
    model = {"p": COMPLEX.p, "w": B, "v": COMPLEX}
    restructure = check(
        model, lambda m: real(m["v"] ** 2) + real(m["p"]) + real(m["v"].p ** 3) + anp.sum(m["w"])
    )
    back = restructure(np.arange(8.0))
    assert back["v"].tolist() == [0 + 1j, 2 + 3j, 6 + 7j] and back["v"].dtype == complex
    assert restructure(np.arange(8.0, dtype=np.float32))["v"].dtype == np.complex64


def test_a_vector_with_pairs_of_its_own_keeps_them():
    """Its arithmetic acts on the entries, as before."""
    restructure = check(
        {"w": B, "v": MIXED}, lambda m: anp.sum(m["v"] ** 2) + real(m["v"].z ** 2) + m["v"].a
    )
    back = restructure(np.arange(7.0))
    assert back["v"].layout == MIXED.layout
    assert (back["v"] * 2).tolist() == [4.0, 6.0, 8.0, 10.0, 12.0]


def test_real_and_mixed_vectors_in_a_complex_vector_stay_what_they_are():
    """Real entries see the real parts."""
    model = {"v": MIXED, "r": REAL, "z": COMPLEX}
    restructure = check(
        model,
        lambda m: anp.sum(m["v"] ** 2) + real(m["v"].z ** 2) + anp.sum(m["r"] ** 2) + real(m["z"]),
        dtype=complex,
    )
    back = restructure(cv.destructure(model, dtype=complex)[0])
    for name, v in model.items():
        assert back[name].layout == v.layout and back[name].dtype == v.dtype
        assert back[name].tolist() == v.tolist()


def test_a_vector_of_another_dtype_comes_back_in_its_own():
    """A copy, in one piece."""
    model = {"v": REAL.astype(np.float32), "z": COMPLEX.astype(np.complex64), "w": B}
    vector, restructure = cv.destructure(model)
    back = restructure(vector)
    assert back["v"].dtype == np.float32 and back["z"].dtype == np.complex64
    assert back["v"].tolist() == REAL.tolist() and back["z"].tolist() == COMPLEX.tolist()
    assert not np.shares_memory(cv.data(back["v"]), cv.data(vector))


def test_a_vector_that_is_partly_selected_keeps_the_rest():
    """Put together from the given and the old entries, in the dtype of what is given."""
    model = {"v": REAL, "w": B}
    restructure = check(
        model,
        lambda m: anp.sum(m["v"] ** 3) * anp.sum(m["w"]) + m["v"].a ** 2,
        select=["v.b", "w"],
    )
    back = restructure(np.array([7.0, 8.0, 0.0, 0.0]))
    assert back["v"].tolist() == [1.0, 7.0, 8.0, 4.0, 5.0]
    assert back["v"].layout == REAL.layout
    assert restructure(np.zeros(4, np.float32))["v"].dtype == np.float32
    assert REAL.b.tolist() == [2.0, 3.0]
    assert restructure.pack(back).tolist() == [7.0, 8.0, 0.0, 0.0]


def test_a_mixed_vector_that_is_partly_selected_keeps_its_pairs():
    """The selected pairs are views no longer, and right."""
    restructure = check(
        {"v": MIXED, "w": B},
        lambda m: anp.sum(m["v"] ** 3) + real(m["v"].z ** 2) * anp.sum(m["w"]),
        select=["v.z", "w"],
    )
    assert restructure(np.arange(6.0))["v"].tolist() == [2.0, 0.0, 1.0, 2.0, 3.0]


def test_a_vector_of_which_nothing_is_selected_is_the_same_object():
    """It is static then."""
    _, restructure = cv.destructure({"v": REAL, "w": B}, select="w")
    assert restructure(np.zeros(2))["v"] is REAL


def test_a_vector_in_a_buffer_is_a_buffer():
    """It keeps its memory, and ties to no parameter."""
    vector, restructure = cv.destructure(BatchNorm(REAL.b, mean=REAL))
    assert vector.layout.paths() == ("gamma",)
    assert restructure(vector).mean is REAL
    vector, restructure = cv.destructure(BatchNorm(B, mean=REAL), select="buffers")
    assert vector.layout.paths() == ("mean.a", "mean.b", "mean.c.d")


def test_a_group_with_a_part_elsewhere_can_be_selected_in_part():
    """A vector that was read by name before, put together as a whole."""
    _, restructure = cv.destructure({"b": REAL.b, "v": REAL})
    back = restructure(np.arange(5.0))
    vector, again = cv.destructure({"v": back["v"], "w": B}, select=["v.a", "w"])
    assert vector.tolist() == [2.0, 1.0, 2.0]
    assert again(vector + 1)["v"].tolist() == [3.0, 0.0, 1.0, 3.0, 4.0]


def test_a_list_of_components_comes_back_as_a_list_of_vectors():
    """The sequence of a vector's layers, as a part of the model."""
    v = cv.ComponentVector(layers=[{"w": B}, {"w": B + 1}])
    vector, restructure = cv.destructure({"layers": v.layers})
    back = restructure(vector)
    assert type(back["layers"]) is list and back["layers"][1].w.tolist() == [2.0, 3.0]


# -- gradients as models -----------------------------------------------------------------------


def test_gradients_of_vectors_in_a_model_follow_each_vectors_own_convention():
    """Pairs are d/d(re), d/d(im); a complex vector has autograd's d/d(re) - i d/d(im)."""
    model = {"z": COMPLEX, "m": MIXED, "w": B, "leaf": Z}

    def f(m):
        return (
            real(m["z"] ** 2) + real(m["m"].z ** 2) + m["m"].a ** 2 + anp.sum(m["w"])
            + real(m["leaf"] ** 2)
        )  # fmt: skip

    gradient = cv.grad(f)(model)
    # The real part of z**2 is re**2 - im**2: autograd's gradient is 2 z, the pairs (2 re, -2 im).
    np.testing.assert_allclose(cv.data(gradient["z"]), 2 * cv.data(COMPLEX))
    np.testing.assert_allclose(cv.data(gradient["m"]), [4.0, 0.0, -2.0, 2.0, -2.0])
    np.testing.assert_allclose(gradient["leaf"], 2 * Z)
    alone = grad(lambda v: real(v**2))(COMPLEX)
    np.testing.assert_allclose(cv.data(gradient["z"]), cv.data(alone))


def test_complex_pairs_put_together_follow_the_same_convention():
    """Copied vectors too."""
    model = {"p": COMPLEX.p, "w": B, "v": COMPLEX}
    gradient = cv.grad(lambda m: real(m["v"] ** 2) + anp.sum(m["w"]))(model)
    np.testing.assert_allclose(cv.data(gradient["v"]), 2 * cv.data(COMPLEX))
    np.testing.assert_allclose(gradient["p"], 2 * COMPLEX.p)
