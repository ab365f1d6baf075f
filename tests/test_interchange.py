"""Vectors in other packages and processes: what goes in by name comes back by name."""

import json
import multiprocessing
import os
import pickle
import threading
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import componentvec as cv
from componentvec.layouts import Layout


@pytest.fixture
def v():
    """A nested vector with a tie; the alias is a transpose."""
    w = np.arange(6.0).reshape(2, 3)
    model = {"enc": w, "dec": w.T, "layers": [{"b": np.ones(2)}, {"b": np.full(2, 3.0)}]}
    vector, _ = cv.destructure(model)
    return vector


@pytest.fixture
def spawn():
    """Fresh processes, which share nothing with this one."""
    return multiprocessing.get_context("spawn")


def same(one, other):
    """Whether two vectors have equal layouts, dtypes and entries."""
    a, b = cv.data(one), cv.data(other)
    return cv.layout(one) == cv.layout(other) and a.dtype == b.dtype and np.array_equal(a, b)


def big_layout(rows):
    """The layout of a float64 vector of 10 + 100 rows entries, made without its arrays."""
    nodes = [{"keys": ["head", "table"]}, {"shape": [10]}, {"shape": [rows, 100]}]
    return Layout.from_json(json.dumps({"componentvec": 1, "dtype": "<f8", "nodes": nodes}))


# -- what worker processes run -------------------------------------------------------------------


def doubled(v):
    """A vector of the same layout, made in a worker; what it got has names there."""
    assert v.dec.shape == (3, 2) and np.shares_memory(v.enc, v.dec)
    v.layers.b += 1
    return 2 * v


def fitted_gradient(v):
    """A gradient computed in a worker."""
    return cv.grad(lambda v: (v.enc**2).sum() + v.dec.sum())(v)


def memory_in_worker(v):
    """What a worker finds: whether the memory is mapped from a file, and may be written to."""
    buffer = cv.data(v)
    return isinstance(buffer.base, np.memmap), buffer.flags.writeable, float(v.x[-1]), os.getpid()


# -- pandas and xarray ---------------------------------------------------------------------------


def test_a_series_is_indexed_by_labels_and_comes_back(v):
    """A Series finds entries by label, in any order of rows."""
    pd = pytest.importorskip("pandas")
    series = pd.Series(v, index=v.labels())
    assert series["enc[1,2]"] == 5.0 and series["layers[1].b[0]"] == 3.0
    assert series.dtype == np.float64 and len(series) == v.size
    shuffled = series.sort_values(ascending=False)
    back = v.layout.wrap(shuffled[v.labels()].to_numpy(copy=True))
    assert same(back, v)


def test_float32_stays_float32_in_a_series():
    """The dtype of the buffer is that of the Series."""
    pd = pytest.importorskip("pandas")
    v = cv.ComponentVector(x=np.ones(3, np.float32))
    series = pd.Series(v, index=v.labels())
    assert series.dtype == np.float32
    assert same(v.layout.wrap(series.to_numpy(copy=True)), v)


def test_a_frame_has_a_row_for_each_vector_and_comes_back(v):
    """Several vectors of one layout are a table, with labels as columns."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([v, v + 1], columns=v.labels(), index=["first", "second"])
    assert frame.loc["second", "enc[0,1]"] == 2.0
    back = [v.layout.wrap(row.to_numpy(copy=True)) for _, row in frame.iterrows()]
    assert same(back[0], v) and same(back[1], v + 1)


def test_a_matrix_is_a_frame_with_labels_on_both_sides(v):
    """A block of a matrix is what the frame has at these labels."""
    pd = pytest.importorskip("pandas")
    H = cv.outer(v, v)
    frame = pd.DataFrame(H, index=H.rows.labels(), columns=H.cols.labels())
    names = ["layers[1].b[0]", "layers[1].b[1]"]
    assert np.array_equal(frame.loc[names, names], H["layers[1].b", "layers[1].b"])
    back = cv.ComponentMatrix(frame.to_numpy(), v.layout, v.layout)
    assert np.array_equal(back["enc", "dec"], H["enc", "dec"])


def test_a_data_array_has_labels_as_coordinates_and_comes_back(v):
    """xarray selects entries by label, and gives the buffer back."""
    xr = pytest.importorskip("xarray")
    array = xr.DataArray(v, dims="entry", coords={"entry": v.labels()}, name="fit")
    assert array.sel(entry="enc[1,0]") == 3.0
    assert array.sel(entry=["layers[0].b[0]", "layers[1].b[0]"]).values.tolist() == [1.0, 3.0]
    assert same(v.layout.wrap(array.to_numpy()), v)


def test_a_matrix_is_a_data_array_of_two_labelled_axes(v):
    """Rows and columns go by label."""
    xr = pytest.importorskip("xarray")
    H = cv.outer(v, v)
    coords = {"row": H.rows.labels(), "column": H.cols.labels()}
    array = xr.DataArray(H, dims=("row", "column"), coords=coords)
    assert array.sel(row="enc[1,2]", column="layers[1].b[0]") == 15.0


def test_leaves_go_into_a_dataset_with_axes_of_their_own(v):
    """Each leaf is an array with its shape, one name of all items too."""
    xr = pytest.importorskip("xarray")
    data = xr.Dataset({"enc": (("out", "in"), v.enc), "b": (("layer", "unit"), v.layers.b)})
    assert data["enc"].sizes == {"out": 2, "in": 3}
    assert data["b"].sum("unit").values.tolist() == [2.0, 6.0]


# -- pickle --------------------------------------------------------------------------------------


def test_a_pickle_of_protocol_5_hands_the_buffer_over_without_a_copy(v):
    """The buffer travels out of band, and the vector that arrives lies on the very memory."""
    buffers = []
    message = pickle.dumps(v, protocol=5, buffer_callback=buffers.append)
    assert len(buffers) == 1
    assert np.shares_memory(np.frombuffer(buffers[0]), cv.data(v))
    received = pickle.loads(message, buffers=buffers)
    assert same(received, v)
    assert np.shares_memory(cv.data(received), cv.data(v))
    received.dec[0, 1] = 70.0
    assert v.enc[1, 0] == 70.0


def test_the_message_beside_the_buffer_does_not_grow_with_the_entries():
    """What is pickled in band is the layout alone, and no copy of the numbers is made."""
    sizes = []
    for n in (10, 10**6):
        v = cv.ComponentVector(x=np.zeros(n), y=1.0)
        cv.layout(v)
        tracemalloc.start()
        message = pickle.dumps(v, protocol=5, buffer_callback=lambda buffer: None)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        sizes.append(len(message))
        assert peak < 100_000
    assert sizes[1] - sizes[0] < 20


def test_a_read_only_buffer_arrives_read_only(v):
    """Whoever hands over memory that may not be written to gets just that."""
    buffers = []
    message = pickle.dumps(v, protocol=5, buffer_callback=buffers.append)
    received = pickle.loads(message, buffers=[bytes(buffers[0].raw())])
    assert same(received, v)
    with pytest.raises(ValueError, match="read-only"):
        received.enc = 0.0


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_in_one_piece_gives_new_memory(v, protocol):
    """All protocols keep labels and ties."""
    received = pickle.loads(pickle.dumps(v, protocol=protocol))
    assert same(received, v)
    assert not np.shares_memory(cv.data(received), cv.data(v))
    assert np.shares_memory(received.enc, received.dec)


def test_a_group_is_pickled_without_the_rest():
    """A group of a large vector arrives as a vector of its own."""
    v = cv.ComponentVector(big=np.zeros(10**5), group={"x": [1.0, 2.0]})
    message = pickle.dumps(v.group)
    assert len(message) < 1000
    assert same(pickle.loads(message), v.group)


def test_a_matrix_is_handed_over_without_a_copy(v):
    """Matrices travel out of band as vectors do."""
    H = cv.outer(v, v)
    buffers = []
    message = pickle.dumps(H, protocol=5, buffer_callback=buffers.append)
    received = pickle.loads(message, buffers=buffers)
    assert np.shares_memory(np.asarray(received), np.asarray(H))
    assert received.rows == H.rows and received.cols == H.cols


# -- processes and threads -----------------------------------------------------------------------


def test_a_process_pool_takes_and_gives_vectors(v, spawn):
    """A vector is an argument and a result, and the caller's own stays as it is."""
    before = cv.data(v).tolist()
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        result, gradient = pool.submit(doubled, v), pool.submit(fitted_gradient, v)
        expected = v.copy()
        expected.layers.b += 1
        assert same(result.result(), 2 * expected)
        assert gradient.result().enc.tolist() == (2 * v.enc + 1).tolist()
    assert cv.data(v).tolist() == before


def test_a_multiprocessing_pool_maps_over_vectors(v, spawn):
    """The results come back in order, each with its labels."""
    with spawn.Pool(1) as pool:
        first, second = pool.map(doubled, [v, 10 * v])
    assert first["layers[1].b"].tolist() == [8.0, 8.0]
    assert second["layers[1].b"].tolist() == [62.0, 62.0]
    assert first.labels() == v.labels()


def test_joblib_takes_and_gives_vectors(v):
    """`joblib.Parallel` in processes of its own."""
    joblib = pytest.importorskip("joblib")
    results = joblib.Parallel(n_jobs=2)(joblib.delayed(doubled)(k * v) for k in (1, 2))
    assert results[0]["layers[0].b"].tolist() == [4.0, 4.0]
    assert results[1]["layers[0].b"].tolist() == [6.0, 6.0]
    assert all(result.layout == v.layout for result in results)


def test_joblib_maps_large_vectors_into_its_workers():
    """Above `max_nbytes` a worker gets the vector on a memory map that it may not write to."""
    joblib = pytest.importorskip("joblib")
    v = cv.ComponentVector(x=np.arange(200_000.0), y=0.0)
    mapped, writable, last, worker = joblib.Parallel(n_jobs=2, max_nbytes=10**6)(
        [joblib.delayed(memory_in_worker)(v)]
    )[0]
    assert (mapped, writable, last) == (True, False, 199_999.0)
    assert worker != os.getpid()


@pytest.mark.parametrize("mmap_mode", [None, "r", "c"])
def test_joblib_files_keep_names_and_ties(v, tmp_path, mmap_mode):
    """`joblib.dump` and `joblib.load`, with the buffer read or mapped."""
    joblib = pytest.importorskip("joblib")
    path = tmp_path / "fit.joblib"
    joblib.dump({"fit": v, "note": "third run"}, path)
    loaded = joblib.load(path, mmap_mode=mmap_mode)
    assert loaded["note"] == "third run" and same(loaded["fit"], v)
    assert np.shares_memory(loaded["fit"].enc, loaded["fit"].dec)
    assert isinstance(cv.data(loaded["fit"]).base, np.memmap) == (mmap_mode is not None)


def test_a_mapped_file_is_not_written_by_accident(v, tmp_path):
    """Mode "r" refuses writes; a copy takes them."""
    joblib = pytest.importorskip("joblib")
    joblib.dump(v, tmp_path / "fit.joblib")
    loaded = joblib.load(tmp_path / "fit.joblib", mmap_mode="r")
    with pytest.raises(ValueError, match="'enc' is read-only"):
        loaded.enc = 0.0
    own = loaded.copy()
    own.enc = 0.0
    assert not own.dec.any()


def test_threads_read_one_vector_at_once():
    """First reads of all components in many threads: each gets the right view."""
    tree = {f"c{i}": {"w": np.full((3, 2), float(i)), "b": float(-i)} for i in range(200)}
    v = cv.ComponentVector(tree)
    start = threading.Barrier(8)

    def read(seed):
        start.wait()
        order = np.random.default_rng(seed).permutation(200)
        return all(
            (v[f"c{i}.w"] == i).all()
            and v[f"c{i}"].b == -i
            and np.shares_memory(v[f"c{i}"]["w"], cv.data(v))
            for i in order
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(8)))


def test_threads_share_a_layout():
    """What a layout computes once and keeps is right whichever thread asks first."""
    layout = big_layout(5)
    start = threading.Barrier(8)

    def ask(number):
        start.wait()
        v = layout.wrap(np.full(layout.size, float(number)))
        labels, mask = layout.labels(), layout.mask("table")
        return v["table"][4, 99] == number, labels[-1], int(mask.sum()), hash(layout)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert set(answers) == {(True, "table[4,99]", 500, hash(layout))}


# -- memory maps ---------------------------------------------------------------------------------


@pytest.fixture
def mapped(tmp_path):
    """A sparse file of 8 MB as a vector, and its path."""
    layout = big_layout(10_000)
    path = tmp_path / "big.dat"
    with open(path, "wb") as file:
        file.truncate(8 * layout.size)
    yield layout.wrap(np.memmap(path, dtype=layout.dtype, mode="r+")), path


def test_reads_and_writes_go_to_the_file(mapped):
    """What is written by name is in the file, and what is in the file is read by name."""
    v, path = mapped
    v.table[7, 3] = 1.5
    v["head"] = np.arange(10)
    cv.data(v).base.flush()
    on_disk = np.fromfile(path)
    assert on_disk[:10].tolist() == list(range(10)) and on_disk[10 + 703] == 1.5
    on_disk[10 + 9999 * 100] = -4.0
    on_disk.tofile(path)
    assert v.table[9999, 0] == -4.0


def test_memory_maps_are_never_materialised(mapped):
    """Wrapping, reading, writing, slicing and showing make no copy of the buffer."""
    v, _ = mapped
    v.table[0]  # what is imported or computed once
    repr(v)
    tracemalloc.start()
    again = v.layout.wrap(cv.data(v))
    again.table[5] = 2.0
    again["head"] += 1
    assert again.table[5].sum() == 200.0 and again.head[0] == 1.0
    assert again[2:4].shape == (2,)
    assert "head" in repr(again)
    again += 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert cv.data(again).nbytes > 8_000_000
    assert peak < 200_000
    assert v.head[0] == 2.0


def test_a_read_only_map_refuses_writes(mapped):
    """Mode "r" is read by name, and never written to."""
    v, path = mapped
    layout = v.layout
    fixed = layout.wrap(np.memmap(path, dtype=layout.dtype, mode="r"))
    assert fixed.head.tolist() == [0.0] * 10
    with pytest.raises(ValueError, match="'table' is read-only"):
        fixed.table = 1.0


def test_results_of_arithmetic_are_in_memory(mapped):
    """A new vector is an ordinary one, on no file."""
    v, _ = mapped
    total = v + 1
    assert type(cv.data(total)) is np.ndarray
    assert not np.shares_memory(cv.data(total), cv.data(v))


def test_a_model_lives_in_a_file(tmp_path):
    """`restructure` of a memory map gives a model whose parameters are the file's."""
    w = np.zeros((4, 3))
    _, restructure = cv.destructure({"enc": w, "dec": w.T, "name": "tied"})
    file = np.memmap(tmp_path / "model.dat", dtype=float, mode="w+", shape=restructure.size)
    model = restructure(file)
    model["dec"][2, 1] = 5.0
    file.flush()
    assert np.fromfile(tmp_path / "model.dat")[1 * 3 + 2] == 5.0


def test_a_layout_of_one_byte_entries_fits_any_dtype():
    """The layout of a vector that is too large to be made is made of smaller entries."""
    small = cv.ComponentVector(table=np.zeros((20, 10), np.int8), dtype=np.int8).layout
    v = small.wrap(np.ones(small.size))
    assert v.table.dtype == v.layout.dtype == np.float64
