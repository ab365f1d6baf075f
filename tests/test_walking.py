"""Walking whole models: `componentvec.walking` and `componentvec.hidden`."""

import sys
from collections import OrderedDict, defaultdict

import numpy as np
import pytest
from autograd.extend import primitive
from hypothesis import given
from hypothesis import strategies as st

import componentvec as cv
from componentvec.paths import MAPPING, SEQUENCE
from componentvec.places import GroupPlan, LeafPlan
from componentvec.walking import prune, rebuild, walk
from model_strategies import (
    ALL,
    BUFFER,
    TRAINABLE,
    Affine,
    BatchNorm,
    Dense,
    Frozen,
    Pair,
    Unregistered,
    children_of,
    models,
    no_initialisers,
    places_of,
    require_same,
)

W = np.arange(6.0).reshape(2, 3)


def found(model):
    """Path, value and role of the leaves of a walk."""
    walked = walk(model)
    return list(zip(walked.paths, walked.values, walked.roles, strict=True))


def slots_of(walked):
    """The slots of a model as it stands."""
    slots = [None] * walked.size
    for slot, value in zip(walked.slots, walked.values, strict=True):
        slots[slot] = value
    for inner in walked.vectors:
        slots[inner.slot] = inner.value
    return slots


def remade(model):
    """The model, taken apart and put together again from the same leaves."""
    walked = walk(model)
    return rebuild(walked.steps, slots_of(walked))


# -- what is found -----------------------------------------------------------------------------


def test_leaves_come_in_the_order_of_the_model_with_paths_and_roles():
    """Insertion order at every level; a buffer's role goes down to what is in it."""
    model = {"z": W, "a": [3, {"w": W}], "n": BatchNorm(W, mean={"m": W}, eps=1.0)}
    assert [(path, role) for path, _, role in found(model)] == [
        (("z",), TRAINABLE),
        (("a", 0), TRAINABLE),
        (("a", 1, "w"), TRAINABLE),
        (("n", "gamma"), TRAINABLE),
        (("n", "mean", "m"), BUFFER),
        (("n", "beta"), TRAINABLE),
        (("n", "var"), BUFFER),
        (("n", "eps"), TRAINABLE),
    ]


@given(models(ALL))
def test_the_walk_finds_what_the_contract_says(model):
    """Against a recursive walk that knows each class by name."""
    expected = [place for place in places_of(model) if children_of(place[1]) is None]
    assert len(found(model)) == len(expected)
    for (path, value, role), (own_path, own, own_role) in zip(found(model), expected, strict=True):
        assert path == own_path and value is own and role == own_role


def test_a_buffer_role_is_never_taken_back():
    """A trainable field within a buffer is a buffer."""
    model = BatchNorm(W, mean=BatchNorm(W))
    roles = {path: role for path, _, role in found(model)}
    assert roles["mean", "gamma"] == BUFFER
    assert roles["gamma",] == TRAINABLE


def test_static_fields_and_attributes_outside_the_fields_are_not_walked():
    """Arrays there are no leaves, and no reason to refuse the model."""
    model = [BatchNorm(W, origin=W), Dense(W, W, name=Unregistered(w=W))]
    assert [path for path, value, _ in found(model) if value is W] == [
        (0, "gamma"),
        (1, "w"),
        (1, "b"),
    ]


def test_a_bare_value_is_one_leaf():
    """Whether that makes a model is for others to say."""
    walked = walk(W)
    assert walked.nodes == [0] and walked.paths == [()] and walked.values[0] is W


def test_the_leaves_of_a_component_vector_are_arrays_also_the_numbers():
    """Each is a view of the vector's memory."""
    v = cv.ComponentVector(a=1.0, b=[2.0, 3.0], c=[{"d": 4.0}])
    walked = walk({"v": v})
    assert walked.paths == [("v", "a"), ("v", "b"), ("v", "c", 0, "d")]
    assert all(type(value) is np.ndarray for value in walked.values)
    assert all(np.shares_memory(value, cv.data(v)) for value in walked.values)
    assert walked.slots == [-1, -1, -1]
    assert [(inner.path, inner.value, inner.leaves) for inner in walked.vectors] == [
        (("v",), v, range(3))
    ]


def test_keys_that_are_no_names_are_left_to_those_who_need_a_path():
    """The walk goes on, and says so."""
    model = {(1, 2): "static", "w": W}
    walked = walk(model)
    assert walked.odd and walked.paths == [((1, 2),), ("w",)]
    assert remade(model) == model
    assert not walk({"w": W, np.int64(3): 1}).odd


# -- putting together again --------------------------------------------------------------------


@given(models(ALL))
def test_a_model_put_together_again_is_equal_and_ran_no_code(model):
    """All kinds of containers, without any method of their classes."""
    with no_initialisers():
        again = remade(model)
    require_same(model, again)


def test_a_container_at_several_places_is_made_once():
    """Also where it is met deeper down before its shallower place is reached."""
    shared = {"w": W}
    model = {"deep": [[shared]], "flat": shared, "list": [shared, (shared,)]}
    again = remade(model)
    assert again["flat"] is again["deep"][0][0]
    assert again["list"][0] is again["flat"]
    assert again["list"][1][0] is again["flat"]
    assert again["flat"] is not shared


def test_the_shallow_place_of_a_shared_container_may_come_first():
    """The other order of the same."""
    shared = Pair(W, [1])
    again = remade([shared, [shared], {"x": {"y": shared}}])
    assert again[0] is again[1][0] is again[2]["x"]["y"]
    assert again[0].second == [1]


def test_a_shared_container_has_a_leaf_for_each_place_and_one_slot():
    """Two names, one thing to fill in."""
    shared = {"w": W, "inner": {"n": 3}}
    walked = walk([shared, shared])
    assert walked.paths == [(0, "w"), (0, "inner", "n"), (1, "w"), (1, "inner", "n")]
    assert walked.slots[:2] == walked.slots[2:]
    assert len(walked.steps) == 3


def test_places_are_kept_apart_on_request():
    """As autograd sees a container: each place for itself."""
    shared = {"w": W}
    walked = walk([shared, shared], share=False)
    assert len(set(walked.slots)) == 2
    again = rebuild(walked.steps, slots_of(walked))
    assert again[0] is not again[1]


def test_a_container_that_is_a_parameter_here_and_a_buffer_there_is_made_twice():
    """One follows the vector, the other stays."""
    shared = {"w": W}
    again = remade(BatchNorm(gamma=shared, mean=shared))
    assert again.gamma is not again.mean


def test_a_component_vector_at_two_places_is_one_value():
    """Its leaves have names at both."""
    v = cv.ComponentVector(a=1.0)
    walked = walk([v, v])
    assert [inner.slot >= 0 for inner in walked.vectors] == [True, False]
    assert walked.paths == [(0, "a"), (1, "a")]
    again = rebuild(walked.steps, slots_of(walked))
    assert again[0] is again[1] is v


def test_containers_made_anew_at_each_reading_do_not_confuse_the_walk():
    """Their ids would be given out again if nobody kept them."""

    @cv.register(fields=("fresh",))
    class Fresh:
        def __init__(self):
            self.w = np.zeros(1)

        @property
        def fresh(self):
            return [self.w]

        @fresh.setter
        def fresh(self, value):
            self.w = value[0]

    walked = walk([Fresh() for _ in range(50)])
    assert len(set(walked.slots)) == 50
    again = rebuild(walked.steps, slots_of(walked))
    assert all(a.w is b for a, b in zip(again, walked.values, strict=True))


@pytest.mark.parametrize("nest", [lambda x: [x], lambda x: {"x": x}, lambda x: Pair(x, 1)])
def test_deep_nests_need_no_recursion(nest):
    """Deeper than Python would recurse."""
    model = W
    for _ in range(2 * sys.getrecursionlimit()):
        model = nest(model)
    walked = walk(model)
    assert walked.values[0] is W or walked.values[1] is W
    again = rebuild(walked.steps, slots_of(walked))
    assert type(again) is type(model)


# -- what is refused ---------------------------------------------------------------------------


def cycle_of_lists():
    """A list in itself."""
    model = [W]
    model.append(model)
    return model, r"'\[1\]'"


def cycle_through_dicts():
    """A dict below itself."""
    model = {"a": {"w": W}}
    model["a"]["back"] = model
    return model, "'a.back'"


def cycle_through_objects():
    """A registered object that knows its parent."""
    child = Pair(W, None)
    model = Pair(child, W)
    child.second = model
    return model, "'first.second'"


@pytest.mark.parametrize("make", [cycle_of_lists, cycle_through_dicts, cycle_through_objects])
def test_a_cycle_is_refused_with_its_path(make):
    """Not followed forever."""
    model, where = make()
    with pytest.raises(ValueError, match=rf"the model contains itself at {where}: a cycle has no"):
        walk(model)


def test_a_cycle_in_what_is_shared_is_refused_too():
    """At whatever place it is met."""
    inner = [W]
    model = [inner, inner]
    inner.append(model)
    with pytest.raises(ValueError, match="the model contains itself"):
        walk(model)


def test_parameters_are_never_dropped_silently():
    """An object that holds arrays and is not walked is an error that says what to do."""
    expected = (
        r"'layer' is an Unregistered, which is not registered and holds arrays in w, b; register "
        r"it with cv.register\(Unregistered\), or mark the field with cv.static\(\)"
    )
    with pytest.raises(TypeError, match=expected):
        walk({"layer": Unregistered(w=W, b=[{"x": W}], n=3)})


def test_a_component_vector_of_numbers_counts_as_arrays():
    """Though each component, read by name, is a number."""
    with pytest.raises(TypeError, match="holds arrays in v"):
        walk([Unregistered(v=cv.ComponentVector(a=1.0))])
    walk([Unregistered(v=cv.ComponentVector(a=1, dtype=int))])


def test_a_list_of_components_counts_as_arrays():
    """It is a view of a vector."""
    v = cv.ComponentVector(layers=[{"b": 1.0}, {"b": 2.0}])
    with pytest.raises(TypeError, match="holds arrays in layers"):
        walk([Unregistered(layers=v.layers)])


def test_what_autograd_traces_counts_as_what_it_is():
    """An array is refused, a number is none."""
    import autograd

    def hide(x):
        walk([Unregistered(w=x)])
        return 0.0 * x[0]

    with pytest.raises(TypeError, match="holds arrays in w"):
        autograd.grad(hide)(np.ones(2))

    def hide_number(x):
        walk([Unregistered(w=x, n=[x])])
        return 0.0 * x

    assert autograd.grad(hide_number)(2.0) == 0.0


class ArrayLike:
    """An object of another library that can be made an array."""

    def __init__(self, values, **attributes):
        self.__dict__.update(attributes)
        self.read = lambda: values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.read(), dtype)


@pytest.mark.parametrize(
    "value",
    [
        ArrayLike([1.0]),
        ArrayLike([1.0], dtype=np.dtype(float)),
        ArrayLike([1.0], dtype="a dtype of its own"),
        ArrayLike([[1], [2, 3]]),
    ],
)
def test_arrays_of_other_libraries_are_refused(value):
    """They are not walked, and look like parameters."""
    with pytest.raises(TypeError, match=r"'w' is an ArrayLike, which is not walked, and holds "):
        walk({"w": value})
    with pytest.raises(TypeError, match=r"'u' is an Unregistered, .* holds arrays in w"):
        walk({"u": Unregistered(w=value)})


@pytest.mark.parametrize(
    "value",
    [
        ArrayLike([1, 2]),
        ArrayLike([1.0], dtype=np.dtype(int)),
        ArrayLike([1], dtype="a dtype of its own"),
        ArrayLike("text"),
    ],
)
def test_integer_arrays_of_other_libraries_are_static(value):
    """As those of NumPy are."""
    assert walk({"w": value}).values == [value]


def test_pandas_objects_are_refused():
    """What a Series holds is found by no attribute."""
    pandas = pytest.importorskip("pandas")
    for value in (pandas.Series([1.0]), pandas.DataFrame({"dtype": [1.0]})):
        with pytest.raises(TypeError, match="which is not walked, and holds arrays; make it a N"):
            walk({"w": value})
    walk({"w": pandas.Series([1, 2])})


def test_functions_are_static_whatever_they_close_over():
    """Plain ones, bound ones, and autograd's."""
    walk([lambda: W, Unregistered(w=W).__init__, primitive(np.sin)])


class NotedDict(dict):
    """A dict that can have attributes."""


class NotedList(list):
    """A list likewise."""


class NotedTuple(tuple):
    """A tuple likewise."""


class NotedAffine(Affine):
    """A named tuple likewise."""


@pytest.mark.parametrize(
    "items",
    [NotedDict(w=W), NotedDict(), NotedList([W]), NotedTuple([W]), NotedAffine(W, 1)],
    ids=lambda x: type(x).__name__,
)
def test_arrays_in_attributes_of_containers_are_refused(items):
    """Only items are walked, and parameters are never dropped silently."""
    items.extra, items.name, items.deep = np.ones(3), "note", [{"a": np.ones(1)}]
    name = type(items).__name__
    text = (
        rf", of class {name}, holds arrays in extra, deep beside its items, and only the items are "
        rf"walked; make them items, or .* with cv.register\({name}\), or .* with cv.static\(\)"
    )
    with pytest.raises(TypeError, match=rf"'enc\[1\]'{text}"):
        walk({"enc": [W, items]})
    with pytest.raises(TypeError, match=f"the model{text}"):
        walk(items)
    with pytest.raises(TypeError, match="'x' is an? Unregistered, .* arrays in w; register"):
        walk({"x": Unregistered(w=NotedList([items]))})


def test_other_attributes_of_containers_are_carried_over():
    """Also arrays of a registered class and of a dataclass, which say what is walked."""
    items, dense = NotedDict(w=W), Dense(W, W, name="x")
    items.counts, dense.cache = np.arange(3), np.ones(3)
    again = remade([items, dense])
    assert again[0].counts is items.counts and again[1].cache is dense.cache


# -- pruning -----------------------------------------------------------------------------------


def plan_of(model, *chosen):
    """The plan of the leaves at some paths."""
    walked = walk(model)
    numbers = [walked.paths.index(path) for path in chosen]
    return prune(walked.nodes, {number: LeafPlan((number,)) for number in numbers})


def test_groups_without_a_chosen_leaf_go():
    """What is cut off is said once, at its highest place."""
    model = {"a": {"x": 1, "y": {"z": 2}}, "b": {"w": W, "n": 3}}
    plan, order, spare = plan_of(model, ("b", "w"))
    assert plan == [GroupPlan(MAPPING, ("b",)), GroupPlan(MAPPING, ("w",)), LeafPlan((2,))]
    assert order == [2] and spare == {("a",), ("b", "n")}


def test_positions_of_a_sequence_stay():
    """`layers[1]` is so called though `layers[0]` is a function."""
    model = {"layers": [np.tanh, {"w": W}, [1, 2]]}
    plan, order, spare = plan_of(model, ("layers", 1, "w"))
    empty = GroupPlan(MAPPING, ())
    assert plan == [
        GroupPlan(MAPPING, ("layers",)),
        GroupPlan(SEQUENCE, (0, 1, 2)),
        empty,
        GroupPlan(MAPPING, ("w",)),
        LeafPlan((1,)),
        empty,
    ]
    assert order == [1] and spare == {("layers", 0), ("layers", 2)}


def test_a_model_of_which_nothing_is_chosen_is_an_empty_group():
    """A mapping or a sequence, as it is."""
    assert plan_of({"a": [1]})[0] == [GroupPlan(MAPPING, ())]
    assert plan_of([1, 2])[0] == [GroupPlan(SEQUENCE, ())]
    assert plan_of([1, 2])[2] == {(0,), (1,)}


@given(models(), st.data())
def test_pruning_keeps_the_chosen_leaves_in_order(model, data):
    """Whatever is chosen, each path appears where the walk has it, and nothing else does."""
    walked = walk(model)
    numbers = data.draw(st.sets(st.sampled_from(range(len(walked.paths))), min_size=1))
    plan, order, spare = prune(walked.nodes, {number: LeafPlan(()) for number in numbers})
    assert order == sorted(numbers)
    kept = {walked.paths[number] for number in numbers}
    for path in walked.paths:
        cut = any(path[:depth] in spare for depth in range(len(path) + 1))
        assert cut == (path not in kept)


def test_special_dicts_come_back_special():
    """An order that was moved, and a factory."""
    ordered = OrderedDict(a=W, b=1)
    ordered.move_to_end("a")
    again = remade([ordered, defaultdict(list, w=W), Affine(W, 1), Frozen(W)])
    assert list(again[0]) == ["b", "a"]
    assert again[1]["new"] == []
    assert again[2].w is W and again[3].w is W
