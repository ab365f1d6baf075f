"""Files: what is saved comes back, what is damaged is refused, and there is never half a file."""

import json
import os
import stat
import struct
import subprocess
import sys
import threading
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import componentvec as cv
from componentvec.files import load, save
from componentvec.layouts import Layout
from componentvec.tracing import tracing

unix = pytest.mark.skipif(os.name != "posix", reason="needs what only Unix has")


def same(one, other):
    """Whether two vectors have equal layouts, dtypes and bytes."""
    a, b = cv.data(one), cv.data(other)
    equal = cv.layout(one) == cv.layout(other) and a.dtype.str == b.dtype.str
    return equal and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


@pytest.fixture
def v():
    """A small vector with a tie."""
    layout = cv.ComponentVector(
        a=1.0, enc={"w": np.ones((2, 3))}, dec=[{"w": np.ones((2, 3))}]
    ).layout
    return layout.tie("dec[0].w", "enc.w").wrap(np.arange(7.0))


@pytest.fixture
def path(tmp_path):
    """Where the tests save: a name without suffix."""
    return tmp_path / "fit"


@pytest.fixture
def saved(path, v):
    """The bytes of a good file."""
    save(path, v)
    return path.read_bytes()


# -- there and back ------------------------------------------------------------------------------

DTYPES = [
    "f2",
    "f4",
    "f8",
    "g",
    "c8",
    "c16",
    "G",
    "i1",
    "u2",
    "i8",
    "?",
    ">f4",
    ">f8",
    ">c16",
    ">i2",
]
KEYS = st.text(max_size=3) | st.integers(-9, 9)
SHAPES = st.sampled_from([(), (0,), (3,), (2, 2), (0, 3)])
TREES = st.dictionaries(
    KEYS,
    st.recursive(
        SHAPES.map(np.ones), lambda trees: st.lists(trees, min_size=1, max_size=2), max_leaves=3
    ),
    max_size=3,
)


@given(TREES, st.sampled_from(DTYPES), st.data())
def test_loading_gives_what_was_saved(tmp_path_factory, tree, dtype, draw):
    """Layout, dtype and every byte, in memory of its own."""
    try:
        v = cv.ComponentVector(tree, dtype=dtype)
    except ValueError:  # names that make a path ambiguous
        return
    given_bytes = draw.draw(st.binary(min_size=cv.data(v).nbytes, max_size=cv.data(v).nbytes))
    if cv.data(v).dtype.char not in "gG?":  # those have bytes that are no numbers
        cv.data(v).view(np.uint8)[...] = np.frombuffer(given_bytes, np.uint8)
    path = tmp_path_factory.getbasetemp() / "vector"
    save(path, v)
    again = load(path)
    assert cv.layout(again) == cv.layout(v)
    assert cv.data(again).dtype.str == cv.data(v).dtype.str
    assert cv.data(again).tobytes() == cv.data(v).tobytes()
    assert cv.data(again).flags.writeable and cv.data(again).flags.owndata


def test_ties_stay_ties(path, v):
    """Writing to one name is writing to the other."""
    save(path, v)
    again = load(path)
    assert again.layout.ties == (("enc.w", "dec[0].w"),)
    again.enc.w[0, 1] = 99.0
    assert again.dec[0].w[0, 1] == 99.0
    assert v.enc.w[0, 1] == 2.0


def test_complex_pairs_and_special_values_come_back(path):
    """NaN with its payload, infinities, negative zero."""
    v = cv.ComponentVector(x=[np.nan, -np.nan, np.inf, -0.0], z=[complex(np.nan, -np.inf)])
    save(path, v)
    assert cv.data(load(path)).tobytes() == cv.data(v).tobytes()
    assert load(path).z.dtype == complex


def test_group_is_saved_as_a_vector_of_its_own(path, v):
    """Names count from the group."""
    save(path, v.enc)
    assert load(path).layout.paths() == ("w",)
    assert load(path).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_the_name_is_taken_as_it_stands(tmp_path, v):
    """No suffix is added; strings and path objects are names."""
    save(str(tmp_path / "fit.dat"), v)
    save(tmp_path / "fit", v)
    assert sorted(os.listdir(tmp_path)) == ["fit", "fit.dat"]
    assert same(load(str(tmp_path / "fit")), load(tmp_path / "fit.dat"))


def test_numpy_reads_the_file(path, v):
    """The buffer, and the layout as JSON, without pickle."""
    save(path, v)
    with np.load(path, allow_pickle=False) as members:
        assert sorted(members.files) == ["buffer", "layout"]
        assert members["buffer"].tolist() == v.tolist()
        assert Layout.from_json(members["layout"].item()) == v.layout


def test_equal_vectors_give_equal_files(tmp_path, v):
    """Nothing of time or place is in a file."""
    for name in ("one", "two"):
        save(tmp_path / name, v)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_like_accepts_an_equal_layout_of_any_dtype(path, v):
    """Dtypes are the file's own."""
    save(path, v.astype(np.float32))
    assert load(path, like=v.layout).dtype == np.float32


def test_like_refuses_another_layout(path, v):
    """And names the first difference."""
    save(path, v)
    other = cv.ComponentVector(a=[1.0, 2.0]).layout
    with pytest.raises(ValueError, match=r"its layout is not that of `like`: 'a' has shape \(\)"):
        load(path, like=other)
    with pytest.raises(TypeError, match="like is a Layout, got ComponentVector"):
        load(path, like=v)


@unix
def test_large_vectors_are_not_copied_whole(path):
    """Beside the vector itself there is at most a small part of it in memory."""
    code = """
import resource, sys
import numpy as np
import componentvec as cv
from componentvec.files import load, save
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
v = cv.ComponentVector(a=np.zeros(10**7)).layout.wrap(np.ones(10**7))
before = peak()
save(sys.argv[1], v)
saving = peak() - before
del v
before = peak()
v = load(sys.argv[1])
assert v.a[-1] == 1.0
print(saving, peak() - before)
"""
    out = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    saving, loading = map(int, out.stdout.split())
    assert saving < 20_000 and loading < 20_000


# -- what cannot be saved or found ---------------------------------------------------------------


@pytest.mark.parametrize("value", [np.zeros(3), {"a": 1.0}, None, "v"], ids=repr)
def test_only_vectors_are_saved(path, value):
    """Anything else is a TypeError, and no file."""
    with pytest.raises(TypeError, match=r"expected a ComponentVector to save, got \w+"):
        save(path, value)
    assert not path.exists()


def test_traced_vectors_are_not_saved(path, monkeypatch):
    """The error says why it is none."""

    class Box:
        pass

    monkeypatch.setattr(tracing, "types", {Box})
    with pytest.raises(TypeError, match="got a vector that autograd traces"):
        save(path, Box())


def test_group_with_an_alias_outside_is_not_saved(path, v):
    """It is no array by itself."""
    with pytest.raises(ValueError, match=r"'dec\[0\].w' is tied to memory outside"):
        save(path, v.dec[0])
    assert not path.exists()


def test_missing_files_and_directories_are_os_errors(tmp_path, v):
    """As `open` says it, with the name that was given."""
    with pytest.raises(FileNotFoundError, match="'.*/nothing'"):
        load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError, match="directory"):
        load(tmp_path)
    with pytest.raises(IsADirectoryError, match="directory"):
        save(tmp_path, v)
    with pytest.raises(FileNotFoundError, match="'.*/nowhere/fit'"):
        save(tmp_path / "nowhere" / "fit", v)
    assert os.listdir(tmp_path) == []


@unix
def test_only_regular_files_are_replaced_or_read(tmp_path, v):
    """A pipe would wait forever, and a device is not ours to replace."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a regular file"):
        save(pipe, v)
    with pytest.raises(ValueError, match="it is no regular file"):
        load(pipe)
    assert os.listdir(tmp_path) == ["pipe"]


def test_read_only_files_are_not_replaced(path, v, saved, monkeypatch):
    """Permission to write the directory is not permission to write the file."""
    path.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda name, mode: False)  # root may do all
    with pytest.raises(PermissionError, match="'.*/fit'"):
        save(path, v * 2)
    assert path.read_bytes() == saved


@unix
def test_links_stay_links(tmp_path, v):
    """The file that a link names is replaced."""
    (tmp_path / "files").mkdir()
    save(tmp_path / "files" / "fit", v)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "files" / "fit")
    save(link, v * 2)
    assert link.is_symlink()
    assert load(link)[1] == load(tmp_path / "files" / "fit")[1] == 2.0


@unix
def test_new_files_have_the_usual_permissions(tmp_path, v):
    """Those that `open` gives under the umask, and an old file keeps its own."""
    old = os.umask(0o027)
    try:
        save(tmp_path / "new", v)
        (tmp_path / "old").touch()
        (tmp_path / "old").chmod(0o604)
        save(tmp_path / "old", v)
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o604


# -- saves that fail -----------------------------------------------------------------------------


def test_full_disk_leaves_the_old_file_whole(path, v, saved):
    """A limit on file sizes stands for the disk."""
    resource = pytest.importorskip("resource")
    large = cv.ComponentVector(a=np.zeros(10**6))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            save(path, large)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == saved
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("function", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize(
    "error", [OSError(28, "No space left"), KeyboardInterrupt("stop")], ids=str
)
def test_failure_at_any_step_leaves_the_old_file_and_no_other(
    path, v, saved, monkeypatch, function, error
):
    """And the error comes through."""

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(type(error), match=error.args[-1]):
        save(path, v * 2)
    assert path.read_bytes() == saved
    assert os.listdir(path.parent) == [path.name]


def test_interrupt_while_writing_leaves_the_old_file_and_no_other(path, v, saved, monkeypatch):
    """In the middle of the buffer."""
    write = zipfile._ZipWriteFile.write
    written = []

    def interrupted(member, data):
        written.append(len(data))
        if sum(written) > 3 * 2**20:
            raise KeyboardInterrupt
        return write(member, data)

    monkeypatch.setattr(zipfile._ZipWriteFile, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(path, cv.ComponentVector(a=np.zeros(10**6)))
    assert path.read_bytes() == saved
    assert os.listdir(path.parent) == [path.name]


KILLER = """
import os, random, signal, sys, time
import numpy as np
import componentvec as cv
from componentvec.files import load, save
path, chance = sys.argv[1], random.Random(0)
layout = cv.ComponentVector(a=np.zeros(40_000), b=0.0).layout
save(path, layout.zeros())
values = []
for kill in range(100):
    child = os.fork()
    while child == 0:
        save(path, layout.full(chance.random()))
    time.sleep(chance.uniform(0.001, 0.01))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    v = load(path)
    assert (cv.data(v) == v.b).all(), "half a file"
    values.append(float(v.b))
print(len(set(values)))
"""


@unix
def test_a_hundred_kills_leave_the_old_file_whole(path):
    """A process that saves all the time is killed at random moments, again and again."""
    code = [sys.executable, "-W", "ignore", "-c", KILLER, path]
    out = subprocess.run(code, capture_output=True, text=True, check=True)
    assert int(out.stdout) > 1  # there were saves
    left = [name for name in os.listdir(path.parent) if name != path.name]
    assert len(left) > 5  # and kills in the middle of them
    assert all(name.startswith(".componentvec-") for name in left)


def test_writing_to_a_vector_while_it_is_saved_gives_a_sound_file(path):
    """Checksums are those of what was written."""
    v = cv.ComponentVector(a=np.zeros(10**6))
    stop = threading.Event()

    def scribble():
        while not stop.is_set():
            v.a[:] += 1.0

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        for _ in range(5):
            save(path, v)
            assert len(load(path)) == 10**6
    finally:
        stop.set()
        thread.join()


# -- damaged and foreign files -------------------------------------------------------------------


def refused(path, content, match=None):
    """Whether such a file is refused, with an error that names it."""
    path.write_bytes(content)
    with pytest.raises(ValueError, match=match) as caught:
        load(path)
    assert str(caught.value).startswith(f"cannot load {str(path)!r}: ")
    return True


@unix
def test_every_flipped_bit_is_found_or_does_not_matter(path, v, saved):
    """Each of them, one at a time: a ValueError, or the very vector."""
    with open(path, "r+b", buffering=0) as file:
        for position, byte in enumerate(saved):
            for bit in range(8):
                os.pwrite(file.fileno(), bytes([byte ^ 1 << bit]), position)
                try:
                    found = load(path)
                except ValueError:
                    continue
                assert same(found, v), (position, bit)
            os.pwrite(file.fileno(), bytes([byte]), position)
    assert path.read_bytes() == saved


@given(st.data())
def test_damage_of_any_kind_is_found_or_does_not_matter(tmp_path_factory, draw):
    """Bytes overwritten, cut out, put in, and the file cut off."""
    path = tmp_path_factory.getbasetemp() / "damaged"
    v = cv.ComponentVector(a=1.0, b=[2.0, 3.0])
    save(path, v)
    content = bytearray(path.read_bytes())
    for _ in range(draw.draw(st.integers(1, 3))):
        at = draw.draw(st.integers(0, len(content)))
        end = at + draw.draw(st.integers(0, 16))
        content[at:end] = draw.draw(st.binary(max_size=16))
    path.write_bytes(content)
    try:
        assert same(load(path), v)
    except ValueError as error:
        assert str(error).startswith("cannot load")


def test_every_truncated_file_is_refused(path, saved):
    """Wherever it is cut off."""
    for length in reversed(range(1, len(saved))):
        os.truncate(path, length)
        with pytest.raises(ValueError, match="cannot load"):
            load(path)
    assert refused(path, b"", "it is empty")


def test_a_large_file_with_a_flipped_bit_is_refused(path):
    """Where the buffer is read in several pieces."""
    save(path, cv.ComponentVector(a=np.zeros(300_000)))
    content = bytearray(path.read_bytes())
    content[-10_000] ^= 1
    assert refused(path, content, "Bad CRC-32 for file 'buffer.npy'")


def members(content):
    """Names and bytes of the members of an archive."""
    with open(content, "rb") as file, zipfile.ZipFile(file) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def rewrite(path, changes, compression=zipfile.ZIP_STORED, repeat=False):
    """The archive again, with other members (None: left out)."""
    found = members(path) | changes
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in found.items():
            if content is not None:
                archive.writestr(name, content)
        if repeat:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                archive.writestr("buffer.npy", found["buffer.npy"])


def array(descr, shape, content, order=False):
    """An array in NumPy's format, whose header may lie."""
    header = f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


def test_an_archive_written_anew_is_read(path, v, saved):
    """What counts is what it holds: the members, not the program that packed them."""
    rewrite(path, {})
    assert same(load(path), v)
    np.savez(path, **np.load(path))
    assert same(load(path.with_suffix(".npz")), v)


SEVEN = np.arange(7.0).tobytes()


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"buffer.npy": None}, "expected buffer.npy and layout.npy, got 'layout.npy"),
        ({"layout.npy": None}, "expected buffer.npy and layout.npy, got 'buffer.npy"),
        ({"other.npy": b""}, "got 'buffer.npy, layout.npy, other.npy"),
        ({"../../evil.npy": b""}, "got '../../evil.npy, buffer.npy, layout.npy"),
        ({"/etc/passwd": b""}, "got '/etc/passwd"),
        ({"buffer.npy": b""}, "buffer.npy ends too early"),
        ({"buffer.npy": b"\x80\x04K\x01." * 9}, "buffer.npy is no array of NumPy"),
        ({"buffer.npy": array("<f8", "(7,)", SEVEN[:-1])}, "expected 7 entries of '<f8'"),
        ({"buffer.npy": array("<f8", "(7,)", SEVEN + b"x")}, "expected 7 entries of '<f8'"),
        ({"buffer.npy": array("<f8", "(6,)", SEVEN[:-8])}, "got 6 of '<f8' in 48 bytes"),
        (
            {"buffer.npy": array("<i8", "(7,)", SEVEN)},
            "expected 7 entries of '<f8', got 7 of '<i8'",
        ),
        (
            {"buffer.npy": array(">f8", "(7,)", SEVEN)},
            "expected 7 entries of '<f8', got 7 of '>f8'",
        ),
        ({"buffer.npy": array("<f8", "(7, 1)", SEVEN)}, "no array of one axis"),
        ({"buffer.npy": array("<f8", "(7,)", SEVEN, order=True)}, "no array of one axis"),
        ({"buffer.npy": array("<f8", "(999999999999999999,)", SEVEN)}, "got 999999999999999999"),
        ({"buffer.npy": array("<f8", f"({'9' * 5000},)", SEVEN)}, "no array of one axis"),
        ({"buffer.npy": array("<f8", "(" * 9000 + ")" * 9000, SEVEN)}, "no array of one axis"),
        ({"buffer.npy": array("<f8", "__import__('os').abort()", SEVEN)}, "no array of one axis"),
        ({"buffer.npy": array("|O", "(7,)", b"cos\nabort\n(tR.")}, "got 7 of '|O'"),
        (
            {"layout.npy": array("|O", "()", b"cos\nabort\n(tR.")},
            "layout.npy holds no text, but '|O'",
        ),
        ({"layout.npy": array("|S9", "()", b"{}")}, "layout.npy holds no text"),
        ({"layout.npy": array("|S2", "(1,)", b"{}")}, "layout.npy holds no text"),
        ({"layout.npy": array("<U2", "()", b"{}")}, "layout.npy holds no text"),
        ({"layout.npy": array("|S2", "()", b"{}")}, "not the JSON of a layout"),
        ({"layout.npy": array("|S4", "()", b"\xff\xfe\xfd\xfc")}, "not the JSON of a layout"),
        ({"layout.npy": array("|S99999", "()", b"[" * 99999)}, "not the JSON of a layout"),
    ],
)
def test_members_that_are_not_ours_are_refused(path, saved, changes, match):
    """Missing, added, pickled, lying, or of another kind."""
    rewrite(path, changes)
    assert refused(path, path.read_bytes(), match.replace("(", r"\(").replace("|", r"\|"))


@pytest.mark.parametrize(
    ("nodes", "match"),
    [
        ([{"keys": ["a"]}, {"shape": [8]}], "expected 8 entries of '<f8', got 7"),
        ([{"keys": ["a"]}, {"shape": [10**15]}], "expected 1000000000000000 entries"),
        ([{"keys": ["a"]}, {"shape": [10**18]}], "larger than any memory"),
        (
            [{"keys": ["a", "b"]}, {"shape": [7]}, {"shape": [2], "start": 6, "owner": 0}],
            "lies outside its owner",
        ),
        (
            [{"keys": ["a", "b"]}, {"shape": [7]}, {"shape": [2], "strides": [-9], "owner": 0}],
            "lies outside its owner",
        ),
        ([{"keys": ["a"]}, {"shape": [7], "strides": [2]}], "does not fill its place"),
        ([{"keys": ["a"]}, {"shape": ["7"]}], "bad node"),
        ([{"keys": ["a"]}], "missing"),
    ],
)
def test_layouts_with_places_outside_the_buffer_are_refused(path, saved, nodes, match):
    """Before any view is made."""
    text = json.dumps({"componentvec": 1, "dtype": "<f8", "nodes": nodes}).encode()
    rewrite(path, {"layout.npy": array(f"|S{len(text)}", "()", text)})
    assert refused(path, path.read_bytes(), match)


def test_compressed_members_are_refused(path, saved):
    """A few bytes may claim to be many."""
    rewrite(path, {}, zipfile.ZIP_DEFLATED)
    assert refused(path, path.read_bytes(), "is compressed, which save does not do")


def test_members_given_twice_are_refused(path, saved):
    """Programs would not agree on which of them counts."""
    rewrite(path, {}, repeat=True)
    assert refused(path, path.read_bytes(), "got 'buffer.npy, buffer.npy, layout.npy")


def test_an_archive_behind_something_else_is_refused(path, saved):
    """A file that was cut off may end in a whole archive that was data."""
    assert refused(path, b"PK\x03\x04" + saved, "does not begin where the file does")


def test_bytes_that_are_no_bool_are_refused(path):
    """A bool that is neither True nor False breaks NumPy's promises."""
    save(path, cv.ComponentVector(a=[True, False], dtype=bool))
    rewrite(path, {"buffer.npy": array("|b1", "(2,)", b"\x01\x02")})
    assert refused(path, path.read_bytes(), "neither True nor False")


def test_zip_flags_are_refused(path, saved):
    """Encryption, patches, unknown methods and versions."""
    entry = saved.index(b"PK\x01\x02")
    for offset, value, match in [
        (6, 99, "zip file version"),
        (8, 0x01, "encrypted"),
        (8, 0x20, "patched data"),
        (8, 0x40, "strong encryption"),
        (10, 8, "is compressed"),
        (10, 99, "is compressed"),
    ]:
        content = bytearray(saved)
        content[entry + offset] = value
        assert refused(path, content, match)


def test_sizes_beyond_the_file_are_refused(path, saved):
    """The directory may claim what it likes."""
    entry = saved.index(b"PK\x01\x02")
    content = bytearray(saved)
    content[entry + 20 : entry + 28] = struct.pack("<II", 2**31, 2**31)
    assert refused(path, content, "claims 2147483648 bytes, more than there are")


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"not a file of ours",
        b"PK\x03\x04",
        b"PK\x05\x06" + bytes(18),
        bytes(1000),
        b"\x93NUMPY",
    ],
    ids=repr,
)
def test_files_of_another_kind_are_refused(path, content):
    """Text, zeros, and beginnings of archives."""
    assert refused(path, content)


def test_foreign_archives_are_refused(tmp_path):
    """Those of NumPy, with objects in them too, and any other zip file."""
    path = tmp_path / "foreign.npz"
    np.savez(path, buffer=np.zeros(3), names=np.array([None, {}], dtype=object))
    assert refused(path, path.read_bytes(), "it is not of save: .*, got 'buffer.npy, names.npy")
    np.savez_compressed(path, buffer=np.zeros(10**6), layout=np.array(b"{}"))
    assert refused(path, path.read_bytes(), "is compressed")


def test_disk_errors_are_not_taken_for_damage(path, saved, monkeypatch):
    """Unless the archive itself points where nothing can be."""

    def fail(error):
        def archive(file):
            raise error

        monkeypatch.setattr(zipfile, "ZipFile", archive)

    fail(OSError(5, "Input/output error"))
    with pytest.raises(OSError, match="Input/output error"):
        load(path)
    fail(MemoryError("no memory"))
    with pytest.raises(MemoryError, match="no memory"):
        load(path)
    fail(OSError(22, "Invalid argument"))
    assert refused(path, saved, "it points outside itself")
    fail(EOFError())
    assert refused(path, saved, "it is truncated or damaged")


def test_what_is_close_to_a_vector_is_refused_with_the_remedy(tmp_path):
    """Results, containers, and a vector for a layout."""
    v, path = cv.ComponentVector(a=1.0), tmp_path / "v.npz"
    with pytest.raises(TypeError, match="got OptimizeResult; save its x"):
        cv.save(path, cv.minimize(lambda v: v.a**2, v))
    with pytest.raises(TypeError, match=r"got dict; save cv.destructure\(model\)\[0\]"):
        cv.save(path, {"w": np.ones(2)})
    cv.save(path, v)
    with pytest.raises(TypeError, match="got ComponentVector; pass like=v.layout"):
        cv.load(path, like=v)
