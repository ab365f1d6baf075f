"""The parameter arrays of a model: `componentvec.trainables`."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import componentvec as cv
from model_strategies import (
    ALL,
    BUFFER,
    BatchNorm,
    Dense,
    Unregistered,
    models,
    parameters_of,
    ties,
    trees,
)

W = np.arange(6.0).reshape(2, 3)
B = np.array([1.0, 2.0])


def paths(model, **options):
    """Path strings of the parameters."""
    return [path for path, _ in cv.trainables(model, paths=True, **options)]


def test_the_arrays_themselves_are_given_in_the_order_of_the_model():
    """No copies."""
    model = {"layers": [{"w": W, "n": 3}, np.tanh], "b": B, "name": "net"}
    found = cv.trainables(model)
    assert found[0] is W and found[1] is B and len(found) == 2


def test_paths_are_given_on_request():
    """Pairs of path string and array."""
    model = {"layers": [np.tanh, {"w": W}], "odd key": B}
    (one, w), (two, b) = cv.trainables(model, paths=True)
    assert (one, two) == ("layers[1].w", "['odd key']")
    assert w is W and b is B


def test_a_shared_array_is_given_once():
    """At its first place."""
    assert paths({"a": B, "b": [B], "c": {"d": B}}) == ["a"]
    assert cv.trainables([B, B])[0] is B


def test_a_view_is_given_by_the_array_that_contains_it():
    """A transpose, a reshape, a slice."""
    model = {"row": W[0], "whole": W, "turned": W.T, "flat": W.reshape(-1)}
    assert paths(model) == ["whole"]
    assert cv.trainables(model)[0] is W


def test_equal_arrays_are_two_parameters():
    """Ties go by memory."""
    assert len(cv.trainables({"a": B, "b": B.copy()})) == 2


def test_a_model_without_parameters_has_none():
    """No error: an empty list is an answer."""
    assert cv.trainables({}) == []
    assert cv.trainables({"a": 1.5, "n": 3, "key": np.arange(3)}) == []


def test_numbers_count_with_scalars():
    """Python floats and complex numbers, and NumPy's inexact scalars; no integers and booleans."""
    model = {"a": 1.5, "b": 2j, "c": np.float32(3), "n": 3, "t": True, "i": np.int64(2), "w": W}
    assert paths(model) == ["w"]
    assert paths(model, scalars=True) == ["a", "b", "c", "w"]
    assert cv.trainables(model, scalars=True)[:3] == [1.5, 2j, 3.0]


def test_equal_numbers_are_never_tied():
    """Python has one object for both."""
    half = 0.5
    assert paths({"a": half, "b": half}, scalars=True) == ["a", "b"]


def test_buffers_are_chosen_by_name_of_their_field():
    """BatchNorm: gamma and beta are trained, mean and var are not, eps is a number."""
    model = {"bn": BatchNorm(B, mean=B + 1, beta=B + 2, var=B + 3), "dense": Dense(W, B + 4)}
    assert paths(model) == ["bn.gamma", "bn.beta", "dense.w"]
    assert paths(model, select="buffers") == ["bn.mean", "bn.var", "dense.b"]
    assert paths(model, select="all") == [
        "bn.gamma", "bn.mean", "bn.beta", "bn.var", "dense.w", "dense.b",
    ]  # fmt: skip


def test_a_buffer_that_is_a_parameters_array_is_a_tie_only_where_both_are_chosen():
    """By role there are two; all together there is one."""
    model = BatchNorm(gamma=B, mean=B)
    assert paths(model) == ["gamma"]
    assert paths(model, select="buffers") == ["mean"]
    assert paths(model, select="all") == ["gamma"]


def test_patterns_and_functions_choose():
    """As for destructure."""
    model = {"enc": {"w": W, "b": B}, "dec": {"w": W + 1, "b": B + 1}}
    assert paths(model, select="enc") == ["enc.w", "enc.b"]
    assert paths(model, select=["**.b", "enc.w"]) == ["enc.w", "enc.b", "dec.b"]
    assert paths(model, select=lambda path, leaf: leaf.ndim == 1) == ["enc.b", "dec.b"]
    with pytest.raises(KeyError, match="pattern 'encoder' matches nothing"):
        cv.trainables(model, select="encoder")


def test_a_component_vector_is_a_model():
    """Its components are arrays, the numbers arrays without axes."""
    v = cv.ComponentVector(a=1.0, b=[2.0, 3.0])
    found = dict(cv.trainables(v, paths=True))
    assert list(found) == ["a", "b"]
    assert found["a"].shape == () and np.shares_memory(found["a"], cv.data(v))
    found["a"][...] = 7.0
    assert v.a == 7.0


@pytest.mark.parametrize("value", [W, 1.5, None, "w", np.tanh, {1.0, 2.0}])
def test_what_is_no_container_is_no_model(value):
    """A bare array is wrapped in a dict."""
    with pytest.raises(TypeError, match=r"got (ndarray|float|NoneType|str|ufunc|set); wrap it in"):
        cv.trainables(value)


def test_hidden_arrays_are_refused():
    """The same rules as for destructure."""
    with pytest.raises(TypeError, match=r"cv.register\(Unregistered\)"):
        cv.trainables({"layer": Unregistered(w=W)})
    with pytest.raises(ValueError, match="share part of their memory"):
        cv.trainables({"a": W[:, :2], "b": W[:, 1:]})


@given(models(ALL), st.sampled_from(["trainable", "buffers", "all"]))
def test_every_parameter_is_given_once_or_lies_in_one_that_is(model, select):
    """Against the oracle: owners are parameters, in order; the others share their memory."""
    roles = {"trainable": ("trainable",), "buffers": (BUFFER,), "all": ("trainable", BUFFER)}
    expected = [pair for role in roles[select] for pair in parameters_of(model, role)]
    found = cv.trainables(model, paths=True, select=select)
    given_arrays = [array for _, array in found]
    for _, array in found:
        assert any(array is own for _, own in expected)
    for _, array in expected:
        if not any(array is one for one in given_arrays):
            assert any(np.shares_memory(array, one) for one in given_arrays)
    tied = [array for array in given_arrays if ties(array)]
    for i, array in enumerate(tied):
        assert not any(np.shares_memory(array, other) for other in tied[:i])


@given(trees(st.builds(lambda: np.ones(2))))
def test_fresh_arrays_are_all_given(model):
    """No two of them share memory, unless their container stands at two places."""
    assume(not isinstance(model, np.ndarray))
    distinct = {id(array) for _, array in parameters_of(model)}
    assert len(cv.trainables(model)) == len(distinct)
