"""Containers to children and back: `componentvec.tree`, `.registry` and `.instances`."""

# ruff: noqa: RUF009 - a field is made by a call

import abc
import collections
import enum
import functools
import gc
import os
import pickle
import threading
import types
import weakref
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import InitVar, dataclass, field, fields
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from componentvec.hidden import refuse_hidden_arrays
from componentvec.tree import (
    BUFFER,
    MAPPING,
    SEQUENCE,
    TRAINABLE,
    Opened,
    add_opener,
    buffer,
    open_container,
    register,
    static,
)


def opened(x):
    """The container taken apart; it must be one."""
    result = open_container(x)
    assert isinstance(result, Opened)
    return result


def rebuilt(x, *children):
    """The container with other children."""
    return opened(x).rebuild(children)


def roles(x):
    """Roles by key."""
    return dict(zip(opened(x).keys, opened(x).roles, strict=True))


def forbidden(*args, **kwargs):
    """A method that must not run."""
    raise AssertionError("rebuilding ran a method of the class")


# Builtin containers


def test_a_dict_opens_to_keys_and_values_in_insertion_order():
    """Keys stay as they are, values are the very objects."""
    a, b = np.zeros(2), [1]
    result = opened({"b": b, "a": a, 3: None})
    assert result[:2] == (MAPPING, ("b", "a", 3))
    assert result.values[0] is b and result.values[1] is a
    assert result.roles == (TRAINABLE,) * 3
    new = result.rebuild([1, 2, 3])
    assert type(new) is dict and list(new.items()) == [("b", 1), ("a", 2), (3, 3)]


def test_odd_keys_are_left_to_the_caller():
    """Numpy integers, booleans, None and tuples come through unchanged."""
    keys = (np.int64(1), True, None, (1, 2))
    result = opened(dict.fromkeys(keys, 0))
    assert [type(key) for key in result.keys] == [np.int64, type(None), tuple]


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_and_a_tuple_open_to_numbered_children(kind):
    """And come back as what they were."""
    assert opened(kind("ab"))[:4] == (SEQUENCE, (0, 1), ("a", "b"), (TRAINABLE,) * 2)
    assert rebuilt(kind("ab"), 1, 2) == kind((1, 2))
    assert rebuilt(kind()) == kind()


def test_an_ordered_dict_keeps_the_order_it_was_moved_to():
    """Its order is its own, not that of the dict underneath."""
    x = OrderedDict(a=1, b=2, c=3)
    x.move_to_end("a")
    assert opened(x).keys == ("b", "c", "a")
    new = rebuilt(x, 5, 6, 7)
    assert type(new) is OrderedDict
    assert list(new.items()) == [("b", 5), ("c", 6), ("a", 7)]
    assert list(reversed(new)) == ["a", "c", "b"]


def test_a_defaultdict_keeps_its_factory():
    """The very function, and it works."""
    x = defaultdict(list, a=1)
    new = rebuilt(x, 2)
    assert type(new) is defaultdict and dict(new) == {"a": 2}
    assert new.default_factory is list and new["b"] == []
    assert rebuilt(defaultdict(None, a=1), 2).default_factory is None


def test_a_counter_comes_back_as_a_counter():
    """A subclass of dict written in Python, with an __init__ of its own."""
    new = rebuilt(collections.Counter("aab"), 5, 6)
    assert type(new) is collections.Counter and dict(new) == {"a": 5, "b": 6}


class Params(dict):
    """A dict subclass in which every method is out of bounds, with attributes and slots."""

    __slots__ = ("slot", "__dict__")
    __setitem__ = __getitem__ = __iter__ = keys = values = items = forbidden


class Layers(list):
    """A list subclass likewise."""

    __iter__ = __len__ = __getitem__ = append = extend = forbidden


class Pair(tuple):
    """A tuple subclass likewise, whose __new__ wants other arguments."""

    def __new__(cls, a, b, *, name):
        """Make a pair."""
        self = tuple.__new__(cls, (a, b))
        self.name = name
        return self

    __iter__ = __getitem__ = forbidden


def test_subclasses_of_builtins_keep_type_and_attributes_without_running_methods():
    """Items are children, attributes are carried over by identity."""
    note = object()
    params = Params(a=1)
    params.slot, params.note = note, note
    new = rebuilt(params, 2)
    assert type(new) is Params and dict.__getitem__(new, "a") == 2
    assert new.slot is note and new.note is note

    layers = Layers((1, 2))
    layers.note = note
    new = rebuilt(layers, 3, 4)
    assert type(new) is Layers and [*list.__iter__(new)] == [3, 4] and new.note is note

    new = rebuilt(Pair(1, 2, name=note), 3, 4)
    assert type(new) is Pair and [*tuple.__iter__(new)] == [3, 4] and new.name is note


def test_a_dict_that_is_its_own_attributes_stays_so():
    """The well-known trick for dot access does not leave the old arrays behind."""

    class Dotted(dict):
        def __init__(self, **kw):
            dict.__init__(self, **kw)
            self.__dict__ = self

    new = rebuilt(Dotted(w=1, b=2), 3, 4)
    assert type(new) is Dotted and new == {"w": 3, "b": 4}
    assert new.w == 3 and new.__dict__ is new


def test_subclasses_of_special_dicts_keep_what_makes_them_special():
    """A subclass of OrderedDict and one of defaultdict."""

    class Ordered(OrderedDict):
        __init__ = None

    class Default(defaultdict):
        default_factory = property(forbidden)

    ordered = OrderedDict.__new__(Ordered)
    OrderedDict.update(ordered, [("b", 1), ("a", 2)])
    ordered.move_to_end("b")
    assert [*rebuilt(ordered, 3, 4).items()] == [("a", 3), ("b", 4)]
    new = rebuilt(Default(int, a=1), 2)
    assert type(new) is Default and new["b"] == 0


# Named tuples


class Affine(NamedTuple):
    """A named tuple with a default and a method."""

    w: Any
    b: Any = 0

    def __call__(self, x):
        """Apply."""
        return self.w * x + self.b


def test_a_named_tuple_opens_by_field_names():
    """And comes back as the same class."""
    assert opened(Affine(1, 2))[:4] == (MAPPING, ("w", "b"), (1, 2), (TRAINABLE,) * 2)
    new = rebuilt(Affine(1, 2), 3, 4)
    assert type(new) is Affine and new == (3, 4) and new(2) == 10


def test_a_subclass_of_a_named_tuple_keeps_attributes_and_runs_no_new():
    """The subclass has a __dict__, and a __new__ that would refuse."""

    class Named(namedtuple("Named", "w b")):
        def __new__(cls, w, b, name):
            self = tuple.__new__(cls, (w, b))
            self.name = name
            return self

    new = rebuilt(Named(1, 2, "first"), 3, 4)
    assert type(new) is Named and new == (3, 4) and new.name == "first"


def test_a_tuple_that_only_looks_named_opens_by_position():
    """Its names and its items do not match in number."""

    class Odd(tuple):
        _fields = ("w",)

    assert opened(Odd((1, 2))).keys == (0, 1)


def test_a_registered_named_tuple_has_buffers_and_static_items():
    """Items outside the fields are carried over."""

    @register(fields=("mean", "scale"), trainable=("scale",))
    class Norm(NamedTuple):
        scale: Any
        eps: Any
        mean: Any

    eps = [1e-5]
    norm = Norm(1, eps, 3)
    assert opened(norm)[1:4] == (("mean", "scale"), (3, 1), (BUFFER, TRAINABLE))
    assert rebuilt(norm, 30, 10) == (10, eps, 30) and rebuilt(norm, 30, 10).eps is eps
    register(Norm, fields=("shift",))
    with pytest.raises(AttributeError, match="a Norm has no field 'shift', which its class is reg"):
        open_container(norm)
    register(Norm, trainable=("scale",))
    assert roles(norm) == {"scale": TRAINABLE, "eps": BUFFER, "mean": BUFFER}


# Dataclasses


@dataclass
class Norm:
    """The standing example."""

    gamma: Any
    beta: Any
    mean: Any = buffer()
    var: Any = buffer(default=1)
    name: Any = static(default="norm", metadata={"unit": "none"}, repr=False)
    count: ClassVar[int] = 0
    seed: InitVar[int] = 0

    def __post_init__(self, seed):
        """Count instances."""
        Norm.count += 1


def test_a_dataclass_opens_by_its_fields_and_roles():
    """Buffers are children with another role; static fields are no children."""
    norm = Norm(1, 2, 3)
    assert opened(norm).keys == ("gamma", "beta", "mean", "var")
    assert opened(norm).roles == (TRAINABLE, TRAINABLE, BUFFER, BUFFER)


def test_rebuilding_a_dataclass_runs_no_init():
    """Neither __init__ nor __post_init__; other attributes are the same objects."""
    norm = Norm(1, 2, 3)
    norm.note = note = object()
    count = Norm.count
    new = rebuilt(norm, 10, 20, 30, 40)
    assert Norm.count == count and type(new) is Norm
    assert [*vars(new).items()] == [
        *{"gamma": 10, "beta": 20, "mean": 30, "var": 40, "name": "norm", "note": note}.items()
    ]
    assert new.note is note and vars(norm)["gamma"] == 1


def test_buffer_and_static_take_what_field_takes():
    """Metadata is merged; defaults, factories and flags come through."""
    named = {f.name: f for f in fields(Norm)}
    assert named["name"].metadata["unit"] == "none" and not named["name"].repr
    assert named["var"].default == 1

    @dataclass
    class More:
        a: Any = buffer(default_factory=list, compare=False, hash=False, kw_only=True, init=True)
        b: Any = static(metadata=None, default=3)
        c: Any = buffer(metadata=types.MappingProxyType({"x": 1}), default=4)

    more = More()
    assert more.a == [] and more.b == 3 and fields(More)[2].metadata["x"] == 1
    assert roles(more) == {"a": BUFFER, "c": BUFFER}
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        buffer(colour=1)


@dataclass(frozen=True)
class Frozen:
    """Cannot be written by plain assignment."""

    w: Any


@dataclass(slots=True)
class Slotted:
    """Has no __dict__."""

    w: Any
    b: Any = buffer(default=0)


@dataclass(frozen=True, slots=True)
class FrozenSlotted:
    """Both."""

    w: Any
    b: Any = static(default=0)


@dataclass(slots=True)
class SlottedChild(Slotted):
    """Inherits slots and adds some."""

    c: Any = 7


@dataclass
class OpenChild(Slotted):
    """Inherits slots and adds a __dict__."""

    c: Any = 7


@pytest.mark.parametrize(
    ("x", "keys"),
    [
        (Frozen(1), ("w",)),
        (Slotted(1), ("w", "b")),
        (FrozenSlotted(1), ("w",)),
        (SlottedChild(1), ("w", "b", "c")),
        (OpenChild(1), ("w", "b", "c")),
    ],
)
def test_frozen_and_slotted_dataclasses_are_rebuilt(x, keys):
    """Inherited fields come first, and rebuilding with the same children gives an equal object."""
    assert opened(x).keys == keys
    new = opened(x).rebuild(opened(x).values)
    assert type(new) is type(x) and new == x and new is not x
    changed = opened(x).rebuild([f"new {key}" for key in keys])
    assert all(getattr(changed, key) == f"new {key}" for key in keys)


def test_fields_without_init_are_walked_and_unset_ones_stay_unset():
    """A field with init=False that __post_init__ sets, and one that nobody sets."""

    @dataclass
    class Late:
        w: Any
        made: Any = field(init=False)
        never: Any = field(init=False)

        def __post_init__(self):
            self.made = 2 * self.w

    assert opened(Late(1)).values == (1, 2)
    new = rebuilt(Late(1), 5, 6)
    assert new.made == 6 and not hasattr(new, "never")
    slotted = Slotted(1)
    del slotted.b
    assert opened(slotted).keys == ("w",)
    assert not hasattr(rebuilt(slotted, 5), "b")


def test_a_plain_subclass_of_a_dataclass_has_its_fields():
    """And its other attributes are carried over."""

    class Child(Norm):
        pass

    child = Child(1, 2, 3)
    child.extra = extra = object()
    assert opened(child).keys == ("gamma", "beta", "mean", "var")
    assert type(rebuilt(child, 1, 2, 3, 4)) is Child and rebuilt(child, 1, 2, 3, 4).extra is extra


def test_setattr_getattr_and_properties_of_the_class_do_not_run():
    """Fields are read and written where they are stored."""

    @dataclass
    class Guarded:
        w: Any
        __getattr__ = forbidden

        def __getattribute__(self, name):
            if name == "w":
                forbidden()
            return object.__getattribute__(self, name)

        __delattr__ = __eq__ = __del__ = None

    Guarded.__del__ = lambda self: None
    guarded = Guarded(1)
    Guarded.__setattr__ = forbidden
    assert vars(rebuilt(guarded, 2)) == {"w": 2}


def test_a_field_behind_a_descriptor_is_read_and_written_through_it():
    """The value of such a field is stored under another name."""

    class Stored:
        def __get__(self, x, cls):
            return 5 if x is None else x._w

        def __set__(self, x, value):
            x._w = value

    @dataclass
    class Holder:
        w: Any = Stored()

    assert opened(Holder(1))[1:3] == (("w",), (1,))
    assert rebuilt(Holder(1), 2).w == 2


def test_cached_properties_are_neither_fields_nor_carried_over():
    """They belong to the old parameters, and are computed again."""

    @register
    class Cached:
        def __init__(self):
            self.w = 2.0

        @functools.cached_property
        def square(self):
            return self.w**2

    x = Cached()
    assert x.square == 4.0
    assert opened(x).keys == ("w",)
    assert rebuilt(x, 3.0).square == 9.0


def test_a_class_with_items_and_fields_is_refused():
    """A dataclass that is a dict: which of the two to walk cannot be told."""

    @dataclass
    class Both(dict):
        w: Any

    both = Both(1)
    assert opened(both).keys == ("w",)
    assert type(rebuilt(both, 2)) is Both and rebuilt(both, 2).w == 2
    both["a"] = 1
    with pytest.raises(TypeError, match="a Both has both items and fields, and only one"):
        open_container(both)


def test_a_generic_and_an_abstract_dataclass_are_rebuilt():
    """Nothing of typing or abc stands in the way."""

    @dataclass
    class Box(Generic[TypeVar("T")], abc.ABC):
        w: Any

    assert rebuilt(Box[int](1), 2).w == 2


def test_a_dataclass_built_on_a_number_is_static():
    """It cannot be made again from its fields alone."""

    @dataclass
    class Tagged(int):
        def __init__(self, value):
            self.tag = value

        tag: Any

    assert open_container(Tagged(3)) is None


# Registered classes


class Dense:
    """An ordinary class."""

    def __init__(self, w=1, b=2, activation="tanh"):
        """Store."""
        self.w, self.activation, self.b = w, activation, b


def make(**attributes):
    """A class like Dense, new each time."""
    return type("Dense", (), {"__init__": Dense.__init__, **attributes})


def test_register_is_a_function_and_both_kinds_of_decorator():
    """All three return the class itself."""
    cls = make()
    assert register(cls) is cls and roles(cls()) == dict.fromkeys(
        ["w", "activation", "b"], TRAINABLE
    )
    cls = make()
    assert register(fields=("b", "w"), trainable=("w",))(cls) is cls
    assert roles(cls()) == {"b": BUFFER, "w": TRAINABLE}
    assert opened(cls()).keys == ("b", "w")

    @register()
    class Empty:
        pass

    assert opened(Empty())[:4] == (MAPPING, (), (), ())


def test_attributes_outside_the_fields_are_carried_over():
    """The same objects, in their old order, without __init__ or __setattr__."""
    cls = register(make(), fields=("w", "b"))
    activation = object()
    x = cls(activation=activation)
    cls.__init__ = cls.__setattr__ = cls.__new__ = forbidden
    new = rebuilt(x, 10, 20)
    assert [*vars(new)] == ["w", "activation", "b"]
    assert new.w == 10 and new.b == 20 and new.activation is activation


def test_trainable_alone_makes_the_other_attributes_buffers():
    """Fields default to all instance attributes."""
    cls = register(make(), trainable=("w",))
    assert roles(cls()) == {"w": TRAINABLE, "activation": BUFFER, "b": BUFFER}


def test_no_fields_make_a_class_static():
    """Nothing is walked, and everything is carried over."""
    cls = register(make(), fields=())
    x = cls(w=np.zeros(3))
    assert opened(x).values == () and rebuilt(x).w is x.w
    refuse_hidden_arrays(x, ("x",))


def test_subclasses_inherit_the_nearest_registration():
    """Until they have their own."""
    base = register(make(), fields=("w",))
    child = type("Child", (base,), {})
    assert opened(child()).keys == ("w",) and type(rebuilt(child(), 5)) is child
    grandchild = register(type("Grandchild", (child,), {}), fields=("b",))
    assert opened(grandchild()).keys == ("b",) and opened(child()).keys == ("w",)
    other = register(make(), fields=("activation",))
    assert opened(type("Mixed", (other, grandchild), {})()).keys == ("activation",)


def test_registering_again_replaces_what_was_said():
    """As when a notebook cell runs twice, also after instances were opened."""
    cls = register(make(), fields=("w",))
    x = cls()
    assert opened(x).keys == ("w",)
    register(cls, fields=("b",))
    assert opened(x).keys == ("b",)


def test_slots_are_instance_attributes_in_the_order_they_are_listed():
    """Of all bases, private ones included; unset ones are not there; __dict__ comes last."""

    class Base:
        __slots__ = ("w", "b", "unset", "__private")

        def __init__(self):
            self.w, self.b, self.__private = 1, 2, 3

    @register
    class Child(Base):
        __slots__ = "single"

    @register
    class Grandchild(Child):
        __slots__ = iter(["it", "__dict__", "__weakref__"])

    assert opened(register(Base)()).keys == ("w", "b", "_Base__private")
    x = Grandchild()
    x.single, x.it, x.free = 4, 5, 6
    assert opened(x).keys == ("w", "b", "_Base__private", "single", "it", "free")
    new = rebuilt(x, *range(10, 16))
    assert type(new) is Grandchild and not hasattr(new, "unset")
    assert (new.w, new._Base__private, new.single, new.it, new.free) == (10, 12, 13, 14, 15)
    register(Grandchild, fields=("it", "w"))
    assert rebuilt(x, 50, 10).it == 50 and rebuilt(x, 50, 10).free == 6


def test_a_slot_that_a_subclass_hides_is_still_carried_over():
    """The same name in two classes is two places."""

    class Base:
        __slots__ = ("w",)

    @register(fields=("w",))
    class Child(Base):
        __slots__ = ("w",)

    x = Child()
    Base.w.__set__(x, "hidden")
    x.w = "seen"
    assert opened(x).values == ("seen",)
    new = rebuilt(x, "new")
    assert new.w == "new" and Base.w.__get__(new) == "hidden"


def test_a_registered_property_is_written_through_its_setter():
    """The place behind it changes; one without a setter is refused when it is opened."""

    class Wrapped:
        def __init__(self):
            self._w = 1

        @property
        def w(self):
            return self._w

        @w.setter
        def w(self, value):
            self._w = value

        @property
        def fixed(self):
            return self._w

    register(Wrapped, fields=("w",))
    assert opened(Wrapped()).values == (1,) and vars(rebuilt(Wrapped(), 2)) == {"_w": 2}
    register(Wrapped, fields=("fixed",))
    with pytest.raises(AttributeError, match="field 'fixed' of Wrapped is a property that cannot"):
        open_container(Wrapped())


def test_a_missing_registered_field_is_an_error():
    """Parameters are never dropped silently; a default of the class counts."""
    cls = register(make(), fields=("w", "gain"))
    with pytest.raises(AttributeError, match="a Dense has no attribute 'gain', which its class is"):
        open_container(cls())
    cls.gain = 3
    assert opened(cls()).values == (1, 3)
    assert rebuilt(cls(), 1, 4).gain == 4 and cls.gain == 3
    cls = register(make(), trainable=("gain",))
    with pytest.raises(AttributeError, match="a Dense has no attribute 'gain'"):
        open_container(cls())


def test_registration_wins_over_dataclass_fields_where_it_says_something():
    """Marks of the dataclass hold where it says nothing."""

    def norm(**kw):
        @register(**kw)
        @dataclass
        class Norm:
            gamma: Any = 1
            mean: Any = buffer(default=2)
            name: Any = static(default=3)

        return Norm()

    assert roles(norm()) == {"gamma": TRAINABLE, "mean": BUFFER}
    assert roles(norm(fields=("name", "mean"))) == {"name": TRAINABLE, "mean": BUFFER}
    assert roles(norm(trainable=("mean",))) == {"gamma": BUFFER, "mean": TRAINABLE}
    assert roles(norm(trainable=("name",))) == {
        "gamma": BUFFER,
        "mean": BUFFER,
        "name": TRAINABLE,
    }


def test_a_simple_namespace_can_be_registered():
    """A builtin class whose instances are nothing but attributes."""

    class Space(types.SimpleNamespace):
        pass

    register(Space, fields=("w",))
    new = rebuilt(Space(w=1, name="n"), 2)
    assert type(new) is Space and new == Space(w=2, name="n")


def test_a_metaclass_that_answers_to_every_name_does_not_mislead():
    """The class is no dataclass and no named tuple only because it says so."""

    class Eager(type):
        def __getattr__(cls, name):
            return ("w",)

    class Answering(metaclass=Eager):
        pass

    class AnsweringTuple(tuple, metaclass=Eager):
        pass

    assert open_container(Answering()) is None
    assert opened(AnsweringTuple("a")).keys == (0,)
    assert opened(register(Answering)()).keys == ()


def test_register_refuses_what_is_no_class():
    """An instance, a function, a name."""
    with pytest.raises(TypeError, match="expected a class, got an instance of Dense"):
        register(Dense())
    with pytest.raises(TypeError, match="expected a class, got an instance of function"):
        register(fields=("w",))(make)
    with pytest.raises(TypeError, match="expected a class, got an instance of str"):
        register("w")


@pytest.mark.parametrize("base", [dict, list, tuple, int, set, np.ndarray, Exception, defaultdict])
def test_register_refuses_classes_that_are_more_than_their_attributes(base):
    """They could not be rebuilt, or their items are walked anyway."""
    with pytest.raises(TypeError, match=r"nothing but their attributes, got Child, which is built"):
        register(type("Child", (base,), {}))


def test_register_says_that_items_are_walked_anyway():
    """The likely reason for registering a dict."""
    with pytest.raises(TypeError, match="built on dict; its items are walked without registration"):
        register(Params)


@pytest.mark.parametrize("argument", ["fields", "trainable"])
def test_register_checks_names(argument):
    """A lone string, other types, names given twice."""
    with pytest.raises(
        TypeError, match=rf"{argument} to be a tuple .* write {argument}=\('weight',\)"
    ):
        register(make(), **{argument: "weight"})
    with pytest.raises(TypeError, match=f"{argument} to be a tuple of names, got 3"):
        register(make(), **{argument: 3})
    with pytest.raises(TypeError, match=f"{argument} to be a tuple of names, got 3 among them"):
        register(make(), **{argument: ("w", 3)})
    with pytest.raises(ValueError, match=f"{argument} to be a tuple of names, got 'w' twice"):
        register(make(), **{argument: ("w", "b", "w")})
    cls = register(make(), **{argument: (name for name in ["w"])})
    assert roles(cls())["w"] == TRAINABLE


def test_register_refuses_fields_without_an_order():
    """The order of a set of strings changes from run to run."""
    with pytest.raises(TypeError, match="fields to be a tuple of names, got a set, which has no"):
        register(make(), fields={"w", "b"})
    register(make(), fields=("w", "b"), trainable={"w"})


def test_trainable_names_must_be_fields():
    """A slip in a name would make a buffer of a parameter."""
    with pytest.raises(ValueError, match=r"among the fields \(w, b\), got wieght"):
        register(make(), fields=("w", "b"), trainable=("w", "wieght"))


def test_the_registry_does_not_keep_classes_alive():
    """Nor does opening an instance."""
    cls = register(make(__slots__=("__weakref__", "w", "b", "activation")), fields=("w",))
    rebuild = opened(cls()).rebuild
    reference = weakref.ref(cls)
    assert rebuild([3]).w == 3
    del cls, rebuild
    gc.collect()
    assert reference() is None


# Laws

leaf = st.none() | st.integers() | st.text(max_size=2)


def containers(children):
    """All kinds of containers of such children."""
    named = st.dictionaries(st.text(max_size=2) | st.integers(), children, max_size=3)
    return st.one_of(
        named,
        named.map(OrderedDict),
        named.map(functools.partial(defaultdict, list)),
        st.lists(children, max_size=3),
        st.lists(children, max_size=3).map(tuple),
        st.builds(Affine, children, children),
        st.builds(Norm, *[children] * 5),
        st.builds(Frozen, children),
        st.builds(SlottedChild, children, children, children),
        st.builds(FrozenSlotted, children, children),
    )


@given(st.recursive(leaf, containers, max_leaves=12))
def test_opening_and_rebuilding_everything_gives_an_equal_model(model):
    """Of the same types, and no container is the old one."""

    def copy(x):
        result = open_container(x)
        if result is None:
            return x
        new = result.rebuild([copy(child) for child in result.values])
        assert type(new) is type(x)
        assert new is not x or x == ()
        return new

    assert copy(model) == model


# What rebuilding holds and needs


def test_rebuilding_holds_no_children():
    """The arrays of the old model can go."""

    class Array(np.ndarray):
        pass

    cls = register(make(), fields=("w",))
    for x in ({"w": 0}, [0], Params(w=0), Slotted(0), Frozen(0), Affine(0), cls(), Norm(0, 0, 0)):
        w = np.zeros(2).view(Array)
        reference = weakref.ref(w)
        x = opened(x).rebuild([w, *opened(x).values[1:]])
        result = opened(x)
        assert result.values[0] is w
        rebuild = result.rebuild
        del w, x, result
        gc.collect()
        assert reference() is None
        assert callable(rebuild)


def test_rebuilding_takes_neither_fewer_nor_more_children():
    """Except for plain containers, where the caller counts."""
    for x in (Norm(1, 2, 3), Affine(1, 2), OrderedDict(a=1)):
        with pytest.raises(ValueError, match=r"zip\(\) argument 2 is (shorter|longer)"):
            opened(x).rebuild([])
        with pytest.raises(ValueError, match=r"zip\(\) argument 2 is (shorter|longer)"):
            opened(x).rebuild([1] * 9)


register(Dense, fields=("w", "b"))


@pytest.mark.parametrize(
    "x",
    [
        {"a": 1},
        [1],
        (1,),
        OrderedDict(a=1),
        defaultdict(int, a=1),
        Affine(1, 2),
        Norm(1, 2, 3),
        FrozenSlotted(1),
        SlottedChild(1),
        Dense(),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_rebuilds_a_container_pickles(x):
    """So a restructuring function can be sent to another process."""
    result = opened(x)
    rebuild = pickle.loads(pickle.dumps(result.rebuild))
    children = [10 * i for i in range(len(result.keys))]
    first, second = result.rebuild(children), rebuild(children)
    assert type(second) is type(x)
    assert opened(second)[:4] == opened(first)[:4]


def test_an_opener_is_for_exactly_one_class():
    """Subclasses do not have it."""

    class Vector:
        pass

    class Child(Vector):
        pass

    result = Opened(SEQUENCE, (0,), (1,), (TRAINABLE,), list)
    add_opener(Vector, lambda x: result)
    assert open_container(Vector()) is result
    assert open_container(Child()) is None


# What is not walked


class Colour(enum.Enum):
    """A constant that holds an array."""

    RED = (np.zeros(3),)


ATOMS = [
    None,
    1,
    1.5,
    1j,
    True,
    "text",
    b"bytes",
    range(3),
    slice(1),
    Ellipsis,
    np.zeros(3),
    np.zeros(3).view(np.matrix),
    np.ma.masked_array([1.0]),
    np.float64(1),
    np.float32(1),
    np.dtype("f8"),
    np.sin,
    np.random.default_rng(1),
    np.random.RandomState(1),
    np.vectorize(lambda x: x),
    lambda: ATOMS,
    len,
    [].append,
    Dense(np.zeros(3)).__init__,
    functools.partial(print, np.zeros(3)),
    functools.lru_cache(lambda: np.zeros(3)),
    Norm,
    Dense,
    int,
    np,
    Colour.RED,
    threading.Lock(),
    os.terminal_size((1, 2)),
    os.stat("."),
    memoryview(b"x"),
    weakref.ref(Dense),
    (i for i in [np.zeros(3)]),
    object(),
    {1, 2},
    deque([1, np.arange(3)]),
    types.SimpleNamespace(n=np.arange(3), name="n"),
    types.MappingProxyType({"a": "b"}),
    TypeVar("T"),
    list[int],
]


@pytest.mark.parametrize("x", ATOMS, ids=lambda x: type(x).__name__)
def test_everything_else_is_static(x):
    """Functions are so whatever they hold; other objects if they hold no floating arrays."""
    assert open_container(x) is None
    refuse_hidden_arrays(x, ("x",))


class Layer:
    """Not registered."""

    def __init__(self, **attributes):
        """Store."""
        vars(self).update(attributes)


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(2),
        np.zeros(2, dtype=np.float16),
        np.zeros((), dtype=complex),
        np.zeros(0),
        np.ma.masked_array([1.0]),
        [0, (1, {"a": [np.zeros(2)]})],
        defaultdict(list, a=[np.zeros(2)]),
        deque([np.zeros(2)]),
        types.MappingProxyType({"a": np.zeros(2)}),
        {Layer(w=np.zeros(2))},
        frozenset([Layer(w=np.zeros(2))]),
        Layer(inner=Layer(w=np.zeros(2))),
        Norm(np.zeros(2), 1, 2),
        Dense(np.zeros(2)),
        types.SimpleNamespace(w=np.zeros(2)),
        collections.UserDict(w=np.zeros(2)),
        scipy.sparse.csr_array(np.eye(2)),
        np.poly1d([1.0, 2.0]),
    ],
    ids=lambda x: type(x).__name__,
)
def test_an_object_that_hides_arrays_is_refused(value):
    """In an attribute, in a collection there, or in an object there."""
    layer = Layer(name="layer", w=value, n=np.arange(3), f=np.sin)
    assert open_container(layer) is None
    with pytest.raises(
        TypeError,
        match=r"'enc\[0\]' is a Layer, which is not registered and holds arrays in w; register it "
        r"with cv.register\(Layer\), or mark the field with cv.static\(\)",
    ):
        refuse_hidden_arrays(layer, ("enc", 0))


def test_a_refusal_names_all_attributes_and_the_model_itself():
    """Slots too; a long list is cut."""

    class Slots:
        __slots__ = ("b", "unset", "w")

    slots = Slots()
    slots.w = slots.b = np.zeros(2)
    with pytest.raises(TypeError, match="the model is a Slots, .* arrays in b, w; register it"):
        refuse_hidden_arrays(slots, ())
    many = Layer(**{f"w{i}": np.zeros(2) for i in range(20)})
    with pytest.raises(TypeError, match=r"'x' is a Layer, .* in w0, w1, .*, w7, \.\.\.; register"):
        refuse_hidden_arrays(many, ("x",))


def test_a_collection_that_is_not_walked_and_holds_arrays_is_refused():
    """It has no class to register."""
    for x in (deque([np.zeros(2)]), types.MappingProxyType({"a": np.zeros(2)})):
        with pytest.raises(TypeError, match=r"'q' is a \w+, which is not walked, and holds arrays"):
            refuse_hidden_arrays(x, ("q",))


def test_static_fields_of_a_dataclass_may_hold_anything():
    """They are not looked into, also inside an object that is not registered."""
    hidden = FrozenSlotted(1, np.zeros(3))
    refuse_hidden_arrays(hidden, ())
    refuse_hidden_arrays(Layer(inner=hidden), ("x",))


def test_cycles_and_deep_nests_are_looked_through():
    """No recursion, so no limit to it."""
    layer = Layer()
    layer.self = layer
    layer.loop = [layer, {"layer": layer}]
    layer.loop.append(layer.loop)
    refuse_hidden_arrays(layer, ("x",))
    nest = []
    for _ in range(10**5):
        nest = [nest]
    deep = Layer(nest=nest)
    refuse_hidden_arrays(deep, ("x",))
    layer.loop[1]["w"] = np.zeros(2)
    with pytest.raises(TypeError, match="holds arrays in self, loop;"):
        refuse_hidden_arrays(layer, ("x",))
    while nest:  # taken apart by hand: freeing it at once would recurse
        nest = nest.pop()


def test_attributes_that_share_their_contents_are_looked_through_once():
    """A doubling graph has two to the sixtieth paths and sixty objects."""
    shared = []
    for _ in range(60):
        shared = [shared, shared]
    refuse_hidden_arrays(Layer(a=shared, b=shared), ("x",))


def test_looking_for_arrays_runs_no_method():
    """Neither properties nor __getattr__."""

    class Touchy:
        __getattr__ = __iter__ = __eq__ = __hash__ = forbidden
        w = property(forbidden)

    refuse_hidden_arrays(Touchy(), ("x",))
    with pytest.raises(TypeError, match="holds arrays in v;"):
        touchy = Touchy()
        vars(touchy)["v"] = np.zeros(2)
        refuse_hidden_arrays(touchy, ("x",))
