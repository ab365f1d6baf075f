"""Which leaves share memory: `componentvec.sharing` and `componentvec.storage`."""

import itertools
import random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from componentvec import sharing, storage
from componentvec.sharing import Place, find_places


def places(*arrays):
    """The places of these leaves, named a, b, c, ..."""
    return find_places(arrays, [chr(ord("a") + i) for i in range(len(arrays))])


# The oracle: entries as sets of addresses


def addresses(array):
    """The addresses of all entries, in C order of the array."""
    start = array.__array_interface__["data"][0]
    return [
        start + sum(i * step for i, step in zip(index, array.strides, strict=True))
        for index in np.ndindex(array.shape)
    ]


def octets(array):
    """The addresses of all bytes, as often as entries use them."""
    return [address + i for address in addresses(array) for i in range(array.itemsize)]


def ties(array):
    """Whether a leaf may tie at all."""
    return array.size > 0 and len(set(octets(array))) == len(octets(array))


def is_legal(arrays):
    """Whether any two leaves that share memory have one dtype and a leaf that contains both."""
    tied = [a for a in arrays if ties(a)]
    sets = [set(addresses(a)) for a in tied]
    for i, j in itertools.combinations(range(len(tied)), 2):
        if set(octets(tied[i])) & set(octets(tied[j])):
            if tied[i].dtype != tied[j].dtype:
                return False
            if not any(s >= sets[i] | sets[j] for s in sets):
                return False
    return True


def reads_evenly(position, alias):
    """Whether the positions of an alias's entries are linear in its indices."""
    found = np.array([position[address] for address in addresses(alias)]).reshape(alias.shape)
    return all(
        n < 2 or np.unique(np.diff(found, axis=axis)).size == 1
        for axis, n in enumerate(alias.shape)
    )


def c_position(owner):
    """Positions in C order, by address."""
    return {address: i for i, address in enumerate(addresses(owner))}


def memory_position(owner):
    """Positions in the order of addresses."""
    return {address: i for i, address in enumerate(sorted(addresses(owner)))}


def stored(arrays, found):
    """A buffer for each owner, filled by its strides, and every leaf read back from these."""
    buffers, leaves = {}, []
    for number, (array, place) in enumerate(zip(arrays, found, strict=True)):
        if place.owner is None:
            buffers[number] = np.full(array.size, np.nan, dtype=array.dtype)
    for number, (array, place) in enumerate(zip(arrays, found, strict=True)):
        buffer = buffers[number if place.owner is None else place.owner]
        reach = [(n - 1) * step for n, step in zip(array.shape, place.strides, strict=True)]
        if array.size:
            assert place.start + sum(r for r in reach if r < 0) >= 0
            assert place.start + sum(r for r in reach if r > 0) < buffer.size
        strides = tuple(step * array.itemsize for step in place.strides)
        leaves.append(as_strided(buffer[place.start :], array.shape, strides))
        if place.owner is None:
            leaves[-1][...] = array
    return leaves


def check(arrays):
    """All laws for one set of leaves; the number of ties, or None where they are refused."""
    names = [f"leaf{i}" for i in range(len(arrays))]
    try:
        found = find_places(arrays, names)
    except ValueError as error:
        assert sum(name in str(error).replace("'", " ").split() for name in names) == 2
        if is_legal(arrays):
            assert "evenly spaced" in str(error)
            tied = [set(addresses(a)) for a in arrays if ties(a)]
            assert any(
                not reads_evenly(memory_position(owner), alias)
                for owner in filter(ties, arrays)
                for alias in filter(ties, arrays)
                if set(addresses(alias)) <= set(addresses(owner))
                and not any(entries > set(addresses(owner)) for entries in tied)
            )
        return None
    assert is_legal(arrays)
    for array, leaf in zip(arrays, stored(arrays, found), strict=True):
        np.testing.assert_array_equal(leaf, array)
    for (i, a), (j, b) in itertools.combinations(enumerate(arrays), 2):
        shared = ties(a) and ties(b) and not set(addresses(a)).isdisjoint(addresses(b))
        one = i if found[i].owner is None else found[i].owner
        other = j if found[j].owner is None else found[j].owner
        if one == other:
            slots = [set(slot_numbers(x, place)) for x, place in ((a, found[i]), (b, found[j]))]
            assert shared == bool(slots[0] & slots[1])
        else:
            assert not shared
    for i, (array, place) in enumerate(zip(arrays, found, strict=True)):
        aliases = [a for a, p in zip(arrays, found, strict=True) if p.owner == i]
        if place.owner is not None:
            assert found[place.owner].owner is None
            assert set(addresses(arrays[place.owner])) >= set(addresses(array))
            same = set(addresses(arrays[place.owner])) == set(addresses(array))
            assert not same or place.owner < i
        elif all(reads_evenly(c_position(array), a) for a in aliases):
            assert place == places(array.copy("C"))[0]
        else:
            position = memory_position(array)
            assert slot_numbers(array, place) == [position[a] for a in addresses(array)]
    return sum(place.owner is not None for place in found)


def slot_numbers(array, place):
    """The positions of all entries in the storage of the owner, in C order of the leaf."""
    return [
        place.start + sum(i * step for i, step in zip(index, place.strides, strict=True))
        for index in np.ndindex(array.shape)
    ]


# Laws


@st.composite
def views(draw, base):
    """A view of an array by a few steps: transpose, slice, index, reshape."""
    view = base
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["transpose", "slice", "index", "reshape", "new axis"]))
        if kind == "transpose":
            view = view.transpose(draw(st.permutations(range(view.ndim))))
        elif kind == "slice" and view.ndim:
            cut = [slice(None)] * view.ndim
            axis = draw(st.integers(0, view.ndim - 1))
            cut[axis] = draw(st.slices(view.shape[axis]))
            view = view[tuple(cut)]
        elif kind == "index" and view.ndim and view.size:
            axis = draw(st.integers(0, view.ndim - 1))
            cut = [slice(None)] * view.ndim + [...]
            cut[axis] = draw(st.integers(0, view.shape[axis] - 1))
            view = view[tuple(cut)]
        elif kind == "reshape" and view.size:
            rows = draw(st.sampled_from([n for n in range(1, view.size + 1) if not view.size % n]))
            shape = draw(st.sampled_from([(-1,), (rows, -1), (-1, rows)]))
            reshaped = view.reshape(shape)
            view = reshaped if np.shares_memory(reshaped, view) else view
        elif kind == "new axis":
            view = np.expand_dims(view, draw(st.integers(0, view.ndim)))
    return view


@st.composite
def leaf_sets(draw):
    """Some leaves that are views of one base or of each other, in any order."""
    shape = draw(st.sampled_from([(12,), (4, 6), (2, 3, 4), (5, 5), (2, 2, 2, 2)]))
    order = draw(st.sampled_from("CF"))
    base = np.arange(float(np.prod(shape))).reshape(shape, order=order)
    sources, leaves = [base], []
    for _ in range(draw(st.integers(1, 5))):
        leaves.append(draw(views(draw(st.sampled_from(sources)))))
        sources.append(leaves[-1])
    return draw(st.permutations(leaves))


@given(leaf_sets())
def test_leaves_overlap_in_the_storage_as_they_do_in_memory(leaves):
    """Storage filled by the owners gives back every leaf; what is refused is illegal."""
    ties_found = check(leaves)
    event(f"ties: {ties_found}")


def strided(buffer, start, shape, steps):
    """A leaf in a buffer by any steps, given in entries."""
    return as_strided(buffer[start:], shape, [step * buffer.itemsize for step in steps])


@given(
    st.lists(
        st.tuples(
            st.integers(20, 40),
            st.lists(st.tuples(st.integers(1, 4), st.integers(-6, 6)), max_size=3),
        ),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
    st.sampled_from([0, 8]),
)
def test_leaves_of_any_strides_overlap_in_the_storage_as_in_memory(specs, repeat, few):
    """The same laws where strides are no product of slices: windows, diagonals, broadcasts."""
    buffer = np.arange(120.0)
    leaves = [
        strided(buffer, start + 40, [n for n, _ in axes], [step for _, step in axes])
        for start, axes in specs
    ]
    if repeat:
        leaves += [leaf.T for leaf in leaves]
    with patch.object(sharing, "_FEW", few):
        event(f"ties: {check(leaves)}")


@given(st.permutations(range(6)), st.data())
def test_dtypes_and_misaligned_views_are_told_apart(order, data):
    """Any mix of complex, real, swapped and unaligned views is refused where bytes meet."""
    raw = np.arange(200, dtype=np.uint8)
    kinds = st.sampled_from(["f8", ">f8", "f4", "c8", "c16"])
    leaves = []
    for _ in order[: data.draw(st.integers(1, 4))]:
        start = data.draw(st.integers(0, 40))
        kind = np.dtype(data.draw(kinds))
        count = data.draw(st.integers(0, 4))
        step = data.draw(st.sampled_from([1, 1, 2, -1]))
        leaves.append(raw[start : start + count * kind.itemsize].view(kind)[::step])
    with np.errstate(invalid="ignore"):
        event(f"ties: {check(leaves)}")


# Ties, by hand


def test_the_same_array_twice_is_one_place():
    """The first of equal leaves owns; the others have its very strides."""
    w = np.zeros((2, 3))
    assert places(w, w, w[:]) == [
        Place(None, 0, (3, 1)),
        Place(0, 0, (3, 1)),
        Place(0, 0, (3, 1)),
    ]


def test_a_transpose_reads_its_owner_with_strides_swapped():
    """The standing example: encoder and decoder."""
    w = np.arange(6.0).reshape(2, 3)
    assert places(w, w.T) == [Place(None, 0, (3, 1)), Place(0, 0, (1, 3))]
    assert places(w.T, w) == [Place(None, 0, (2, 1)), Place(0, 0, (1, 2))]


def test_a_slice_points_to_the_leaf_that_contains_it_wherever_that_stands():
    """The owner may come later, and is never itself an alias."""
    w = np.arange(10.0)
    assert places(w[6:2:-2], w[2:7], w) == [
        Place(2, 6, (-2,)),
        Place(2, 2, (1,)),
        Place(None, 0, (1,)),
    ]


def test_a_dropped_axis_and_a_single_entry_are_places_in_the_owner():
    """A column, a row, and 0-d views."""
    w = np.arange(12.0).reshape(3, 4)
    assert places(w, w[:, 1], w[2], w[1, 2:3].reshape(())) == [
        Place(None, 0, (4, 1)),
        Place(0, 1, (4,)),
        Place(0, 8, (1,)),
        Place(0, 6, ()),
    ]


def test_zero_dimensional_leaves_tie_by_memory():
    """Two names of one 0-d array; another one of equal value is its own."""
    x = np.array(1.0)
    assert places(x, x[()].reshape(()), x[...]) == [
        Place(None, 0, ()),
        Place(None, 0, ()),
        Place(0, 0, ()),
    ]


def test_gaps_of_an_owner_are_closed():
    """``x[::2]`` is stored densely, and ``x[::4]`` is every second of its entries."""
    x = np.arange(12.0)
    assert places(x[::2], x[::4], x[10::-4]) == [
        Place(None, 0, (1,)),
        Place(0, 0, (2,)),
        Place(0, 5, (-2,)),
    ]


def test_a_fortran_ordered_owner_is_stored_in_c_order_if_its_aliases_allow_it():
    """Slices and transposes do; the memory as one axis does not."""
    w = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert places(w, w[1], w.T) == [
        Place(None, 0, (3, 1)),
        Place(0, 3, (1,)),
        Place(0, 0, (1, 3)),
    ]
    assert places(w, w.ravel("K"), w[1]) == [
        Place(None, 0, (1, 2)),
        Place(0, 0, (1,)),
        Place(0, 1, (2,)),
    ]


def test_a_reversed_owner_in_memory_order_starts_at_its_lowest_entry():
    """The start of an owner is 0 unless an axis of its memory order runs backwards."""
    x = np.arange(6.0)
    assert places(x[::-1], x) == [Place(None, 0, (1,)), Place(0, 5, (-1,))]
    w = x.reshape(2, 3)[:, ::-1]  # 2 1 0 / 5 4 3: not evenly spaced in C order of w
    assert places(w, x[1:5]) == [Place(None, 2, (3, -1)), Place(0, 1, (1,))]


def test_a_diagonal_is_a_strided_view():
    """A view that runs across both axes."""
    w = np.zeros((3, 3))
    assert places(w, w.diagonal())[1] == Place(0, 0, (4,))


def test_a_window_without_repeats_ties_even_if_its_axes_interleave():
    """Offsets 0, 2, 3, 5: no axis is longer than the other, and no entry comes twice."""
    window = strided(np.arange(9.0), 1, (2, 2), (3, 2))
    assert places(window, window.T) == [Place(None, 0, (2, 1)), Place(0, 0, (1, 2))]
    assert places(window, window[1]) == [Place(None, 0, (2, 1)), Place(0, 2, (1,))]


def test_leaves_inside_a_third_one_may_overlap_each_other():
    """Both are aliases of the leaf that contains both."""
    x = np.arange(6.0)
    assert places(x[:4], x[2:], x) == [Place(2, 0, (1,)), Place(2, 2, (1,)), Place(None, 0, (1,))]


def test_subclasses_memmaps_and_read_only_arrays_tie(tmp_path):
    """Only memory counts."""
    x = np.memmap(tmp_path / "x", dtype=float, shape=(4,), mode="w+")
    fixed = x[1:3]
    fixed.flags.writeable = False
    masked = np.ma.masked_array(np.asarray(x), mask=[0, 1, 0, 0])
    assert places(fixed, x, masked) == [Place(1, 1, (1,)), Place(None, 0, (1,)), Place(1, 0, (1,))]


def test_many_leaves_that_interleave_are_told_apart():
    """The columns of a matrix, in blocks, with and without the matrix itself."""
    w = np.arange(400.0).reshape(20, 20)
    columns = [w[:, i] for i in range(20)]
    assert places(*columns) == [Place(None, 0, (1,))] * 20
    assert places(w, *columns)[1:] == [Place(0, i, (20,)) for i in range(20)]
    blocks = [w[:, i : i + 2] for i in range(0, 20, 2)]
    assert places(*blocks, *columns)[10:] == [Place(i // 2, i % 2, (2,)) for i in range(20)]


def test_only_leaves_whose_address_ranges_overlap_are_compared(monkeypatch):
    """One comparison a tie, however many leaves there are: the rest of the work is sorting."""
    compared = []
    find_in = sharing._find_in

    def counting(storage, leaf, names):
        compared.append(leaf.number)
        return find_in(storage, leaf, names)

    monkeypatch.setattr(sharing, "_find_in", counting)
    for n in (50, 500):
        buffer = np.zeros(4 * n)
        apart = [buffer[4 * i : 4 * i + 4] for i in range(n)]
        turned = [leaf.reshape(2, 2).T for leaf in apart]
        compared.clear()
        places(*apart)
        assert not compared
        found = places(*apart, *turned)
        assert sorted(compared) == list(range(n, 2 * n))
        assert [place.owner for place in found] == [None] * n + list(range(n))


def test_the_largest_ties_are_found_without_looking_at_entries(monkeypatch):
    """Slices, transposes and reshapes of 1e8 entries by algebra alone."""
    monkeypatch.setattr(storage, "_positions", None)
    x = np.empty(10**8, dtype=np.float32)
    w = x.reshape(10**4, 10**4)
    assert places(x, w, w.T, w[::-3, 5], w[:, ::2])[1:] == [
        Place(0, 0, (10**4, 1)),
        Place(0, 0, (1, 10**4)),
        Place(0, 9999 * 10**4 + 5, (-3 * 10**4,)),
        Place(0, 0, (10**4, 2)),
    ]


def test_entries_are_looked_at_in_chunks_with_the_same_result(monkeypatch):
    """A progression that carries between the axes of its owner and is even all the same."""
    monkeypatch.setattr(storage, "_CHUNK", 3)
    for leaves in carrying_leaves():
        check(leaves)


def carrying_leaves():
    """Sets of leaves whose positions are no sum of separate axes."""
    x = np.arange(96.0)
    rows = x.reshape(-1, 4)[:, :3]
    window = strided(x, 0, (3, 2), (3, 2))
    yield [rows, x[::2][:2]]
    yield [rows, x[2:11:4]]
    yield [window, strided(x, 0, (3, 2), (2, 3))[:2]]
    yield [window, x[3:6:2], x[2:6:3]]
    yield [np.asfortranarray(x.reshape(8, 12))] * 2
    yield [x.reshape(12, 8).T, x[1::5]]


# Never tied


def test_equal_values_in_distinct_memory_do_not_tie():
    """Ties go by memory."""
    assert places(np.zeros(2), np.zeros(2)) == [Place(None, 0, (1,))] * 2


def test_empty_leaves_do_not_tie():
    """The same empty array twice, and an empty slice of another leaf."""
    x = np.zeros(3)
    empty = np.zeros((2, 0))
    assert places(empty, empty, x, x[:0]) == [
        Place(None, 0, (0, 1)),
        Place(None, 0, (0, 1)),
        Place(None, 0, (1,)),
        Place(None, 0, (1,)),
    ]


@pytest.mark.parametrize(
    "leaf",
    [
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.broadcast_to(1.0, (4,)),
        sliding_window_view(np.arange(6.0), 3),
        strided(np.arange(9.0), 0, (3, 4), (3, 2)),
        strided(np.arange(40.0), 0, (3, 3, 2), (10, 5, 12)),
    ],
    ids=["broadcast row", "broadcast scalar", "sliding window", "interleaved axes", "three axes"],
)
def test_leaves_that_repeat_an_entry_are_stored_in_full(leaf):
    """In C order, and tied neither to themselves nor to what they overlap."""
    strides = tuple(s // leaf.itemsize for s in np.empty(leaf.shape, leaf.dtype).strides)
    assert places(leaf, leaf, leaf[0]) == [
        Place(None, 0, strides),
        Place(None, 0, strides),
        Place(None, 0, strides[1:]),
    ]


def test_views_that_share_no_entry_do_not_tie():
    """Halves, interleaved halves, and real beside imaginary parts."""
    x = np.arange(8.0)
    z = np.arange(4) * 1j
    apart = [Place(None, 0, (1,))] * 2
    assert places(x[:4], x[4:]) == apart
    assert places(x[::2], x[1::2]) == apart
    assert places(z.real, z.imag) == apart


# Refused


def test_a_partial_overlap_is_refused():
    """Neither leaf contains the other, and no third one contains both."""
    x = np.arange(6.0)
    with pytest.raises(ValueError, match=r"'a' and 'b' share part of their memory, and neither"):
        places(x[:4], x[2:])
    with pytest.raises(ValueError, match=r"'b' and 'c' share part of their memory"):
        places(np.zeros(3), x[::2], x[::3])
    with pytest.raises(ValueError, match=r"copy one of them"):
        places(x.reshape(2, 3)[:, :2], x.reshape(2, 3)[1])


def test_leaves_shifted_by_part_of_an_entry_are_refused():
    """Same dtype, but the entries do not coincide."""
    raw = np.zeros(40, dtype=np.uint8)
    with pytest.raises(ValueError, match=r"'a' and 'b' share part of their memory"):
        places(raw[:32].view(float), raw[4:20].view(float))


@pytest.mark.parametrize("view", [lambda z: z.real, lambda z: z.view(float), lambda z: z.imag[1:2]])
def test_one_memory_under_two_dtypes_is_refused(view):
    """A complex array and its parts."""
    z = np.zeros(3, dtype=complex)
    with pytest.raises(ValueError, match=r"'[ab]' \(.*\) and '[ab]' \(.*\) read the same memory"):
        places(z, view(z))


def test_one_memory_in_two_byte_orders_is_refused():
    """float64 and float64 with its bytes swapped are two dtypes."""
    x = np.zeros(3)
    with pytest.raises(ValueError, match=r"'a' \(float64\) and 'b' \([<>]f8\) .* two dtypes"):
        places(x, x.view(x.dtype.newbyteorder("S")))


def test_an_alias_that_closing_the_gaps_bends_is_refused():
    """The even entries lie among the first three of every four, but not evenly without gaps."""
    x = np.arange(16.0)
    with pytest.raises(ValueError, match=r"'b' reads entries of 'a' that are no longer evenly"):
        places(x.reshape(4, 4)[:, :3], x[::2])


def test_memory_too_intricate_to_compare_is_refused(monkeypatch):
    """The search for a common entry is exponential in the axes; it gives up in time."""
    monkeypatch.setattr(sharing, "_MAX_WORK", 1)
    buffer = np.zeros(5000)
    one = strided(buffer, 0, (3, 3, 3, 3), (1001, 331, 101, 7))
    other = strided(buffer, 1, (3, 3, 3, 3), (997, 313, 103, 11))
    with pytest.raises(ValueError, match=r"whether 'a' and 'b' share memory is too hard to tell"):
        places(one, other)
    tangled = strided(buffer, 0, (4, 4, 4, 4), (101, 103, 107, 109))
    with pytest.raises(ValueError, match=r"whether entries of 'a' share memory is too hard"):
        places(tangled, buffer)
    assert places(tangled) == [Place(None, 0, (64, 16, 4, 1))]  # alone, nobody has to know


def test_random_slices_of_one_base_in_any_order():
    """Many leaves at once, so that clusters and owners are many."""
    rng = random.Random(1)
    x = np.arange(3000.0)
    leaves = []
    for start in range(0, 3000, 30):
        whole = x[start : start + 30]
        leaves += [whole, whole[5:20], whole.reshape(5, 6)[::2, ::-1], whole[3::-1]]
        leaves += [x[start : start + 30 : 2]] * 2
    rng.shuffle(leaves)
    found = find_places(leaves, [str(i) for i in range(len(leaves))])
    assert sum(place.owner is None for place in found) == 100
    for leaf, read in zip(leaves, stored(leaves, found), strict=True):
        np.testing.assert_array_equal(read, leaf)
