"""Vectors in files: one .npz, written whole or not at all, and read with nothing taken on trust.

The archive has two members, stored uncompressed: ``buffer.npy``, the entries, and ``layout.npy``,
the layout as JSON in bytes. `numpy.load` reads both.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import zipfile
from collections.abc import Iterator
from typing import IO

import numpy as np
from scipy.optimize import OptimizeResult

from .conveniences import data, layout
from .layouts import Layout
from .tracing import is_traced
from .tree import open_container
from .vector import ComponentVector

_BUFFER, _LAYOUT = "buffer.npy", "layout.npy"
_CHUNK = 2**20  # bytes that are copied in one go
_EPOCH = (1980, 1, 1, 0, 0, 0)  # equal vectors give equal files

#: the header that NumPy writes before an array of one axis, or before one string of bytes
_HEADER = re.compile(
    rb"\{'descr': '(?P<dtype>[^'\\]{1,20})', 'fortran_order': False, "
    rb"'shape': \((?:(?P<count>[0-9]{1,18}),)?\), \} *\n"
)


def save(path: str | os.PathLike[str], v: ComponentVector) -> None:
    """Write a vector to a file, names and ties included.

    Parameters
    ----------
    path
        Name of the file, as it stands: no suffix is added. A file of that name is replaced, and
        keeps its permissions.
    v
        The vector. A group of one is saved as a vector of its own.

    Raises
    ------
    TypeError
        For anything but a ComponentVector.
    ValueError
        For a group with an alias whose memory lies outside it.
    OSError
        Where the file cannot be written; an old one of that name is then as it was.

    Notes
    -----
    The file is written under another name in the same directory and renamed when it is complete
    and on disk, so that there is never half a file, even if the process is killed. It is a plain
    ``.npz`` with members ``buffer`` and ``layout`` (JSON in bytes), and holds no pickle.

    Examples
    --------
    >>> import os, tempfile
    >>> import componentvec as cv
    >>> path = os.path.join(tempfile.mkdtemp(), "fit.npz")
    >>> cv.save(path, cv.ComponentVector(a=1.0, b=[2.0, 3.0]))
    >>> cv.load(path).b.tolist()
    [2.0, 3.0]
    """
    if not isinstance(v, ComponentVector):
        what = "a vector that autograd traces" if is_traced(v) else type(v).__name__
        remedy = ""
        if isinstance(v, OptimizeResult):
            remedy = "; save its x"
        elif open_container(v) is not None:
            remedy = "; save cv.destructure(model)[0], or ComponentVector(tree)"
        raise TypeError(f"expected a ComponentVector to save, got {what}{remedy}")
    buffer, text = data(v), layout(v).to_json().encode()
    with _replacing(os.fsdecode(path)) as file, zipfile.ZipFile(file, "w") as archive:
        _write_member(archive, _LAYOUT, np.array(text))
        _write_member(archive, _BUFFER, buffer)


def load(path: str | os.PathLike[str], like: Layout | None = None) -> ComponentVector:
    """Read a vector that `save` wrote.

    Parameters
    ----------
    path
        Name of the file, as it stands.
    like
        Layout that the vector must have. Dtypes are not compared: they are the file's own.

    Returns
    -------
    ComponentVector
        With memory of its own, writable, of the dtype that was saved, and with its ties.

    Raises
    ------
    ValueError
        For a file that is damaged or is none of `save`, or whose layout is not that of `like`.
    OSError
        Where the file cannot be read; FileNotFoundError where there is none.

    Notes
    -----
    The file is data and never code. Every member is checked against its checksum, and every place
    of the layout to lie within the buffer, before any view is made.

    Examples
    --------
    >>> import os, tempfile
    >>> import componentvec as cv
    >>> path = os.path.join(tempfile.mkdtemp(), "fit.npz")
    >>> v = cv.ComponentVector(a=1.0, b=[2.0, 3.0])
    >>> cv.save(path, v)
    >>> cv.load(path, like=v.layout)
    ComponentVector(a=1.0, b=[2.0, 3.0])
    """
    if like is not None and not isinstance(like, Layout):
        remedy = "; pass like=v.layout" if isinstance(like, ComponentVector) else ""
        raise TypeError(f"like is a Layout, got {type(like).__name__}{remedy}")
    name = os.fsdecode(path)
    mode = os.stat(name).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # opening a pipe would wait forever
        raise ValueError(f"cannot load {name!r}: it is no regular file")
    with open(name, "rb") as file, _refusing(name):
        archive = _open_archive(file)
        own = Layout.from_json(_read_text(archive))
        if like is not None and own != like:
            raise ValueError(f"its layout is not that of `like`: {own._difference(like)}")
        return own.wrap(_read_buffer(archive, own))


# -- writing -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _replacing(name: str) -> Iterator[IO[bytes]]:
    """A new file that takes the place of another once it is complete and on disk."""
    target = os.path.realpath(name)  # a link stays a link
    mode = _mode(target)
    temporary = os.path.join(os.path.dirname(target), f".componentvec-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            error.filename = name
        raise


def _mode(target: str) -> int | None:
    """Permissions of the file that is to be replaced, or None; OSError where it may not be."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file", target)
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), target)
    return stat.S_IMODE(mode)


def _write_member(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    """Store an array of one axis, or a string of bytes, in NumPy's format."""
    info = zipfile.ZipInfo(name, _EPOCH)
    entries = array.reshape(-1).view(np.uint8)
    with archive.open(info, "w", force_zip64=True) as member:
        header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
        np.lib.format.write_array_header_1_0(member, header)
        for start in range(0, len(entries), _CHUNK):
            # A copy, so that checksum and file agree even if another thread writes to the array.
            member.write(entries[start : start + _CHUNK].tobytes())


# -- reading -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Whatever is found wrong with a file is a ValueError that names it."""
    try:
        yield
    except MemoryError:  # the file is sound, and larger than memory
        raise
    except OSError as error:
        if error.errno != errno.EINVAL:  # the disk failed, not the archive
            raise
        raise ValueError(f"cannot load {name!r}: it points outside itself") from error
    except Exception as error:  # zipfile raises errors of many kinds for damaged archives
        reason = str(error) or "it is truncated or damaged"
        raise ValueError(f"cannot load {name!r}: {reason}") from error


def _open_archive(file: IO[bytes]) -> zipfile.ZipFile:
    """The archive in a file, its directory checked."""
    size = os.fstat(file.fileno()).st_size
    if size == 0:
        raise ValueError("it is empty")
    if file.read(4) != b"PK\x03\x04":
        raise ValueError("it is no .npz file")
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise ValueError(f"it is truncated or damaged: {error}") from None
    members = archive.infolist()
    names = sorted(info.filename for info in members)
    if names != [_BUFFER, _LAYOUT]:
        found = ", ".join(names[:5])[:200]
        raise ValueError(f"it is not of save: expected {_BUFFER} and {_LAYOUT}, got {found!r}")
    if min(info.header_offset for info in members) != 0:
        raise ValueError("it is damaged: the archive does not begin where the file does")
    for info in members:
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ValueError(f"{info.filename} is compressed, which save does not do")
        if not info.header_offset + info.file_size < size:
            raise ValueError(f"{info.filename} claims {info.file_size} bytes, more than there are")
    return archive


def _read_text(archive: zipfile.ZipFile) -> bytes:
    """The JSON of the layout."""
    with archive.open(_LAYOUT) as member:
        dtype, count, size = _read_header(member, archive.getinfo(_LAYOUT))
        if count is not None or dtype != f"|S{size}":
            raise ValueError(f"{_LAYOUT} holds no text, but {dtype!r}")
        return _read(member, size)


def _read_buffer(archive: zipfile.ZipFile, own: Layout) -> np.ndarray:
    """The entries, which must fit the layout."""
    with archive.open(_BUFFER) as member:
        dtype, count, size = _read_header(member, archive.getinfo(_BUFFER))
        if dtype != own.dtype.str or count != own.size or size != own.size * own.dtype.itemsize:
            raise ValueError(
                f"{_BUFFER} does not fit the layout: expected {own.size} entries of "
                f"{own.dtype.str!r}, got {count} of {dtype!r} in {size} bytes"
            )
        buffer = np.empty(own.size, own.dtype)
        entries = buffer.view(np.uint8)
        for start in range(0, size, _CHUNK):
            chunk = _read(member, min(_CHUNK, size - start))
            entries[start : start + len(chunk)] = np.frombuffer(chunk, np.uint8)
    if own.dtype.kind == "b" and (entries > 1).any():
        raise ValueError(f"{_BUFFER} holds bytes that are neither True nor False")
    return buffer


def _read_header(member: IO[bytes], info: zipfile.ZipInfo) -> tuple[str, int | None, int]:
    """Dtype, number of entries (None: no axis) and number of bytes to come of an array."""
    start = _read(member, 10)
    length = int.from_bytes(start[8:], "little")
    if start[:8] != b"\x93NUMPY\x01\x00":
        raise ValueError(f"{info.filename} is no array of NumPy")
    header = _read(member, length)
    found = _HEADER.fullmatch(header)
    if found is None:
        raise ValueError(f"{info.filename} is no array of one axis: header {header[:120]!r}")
    count = None if found["count"] is None else int(found["count"])
    return found["dtype"].decode(), count, info.file_size - 10 - length


def _read(member: IO[bytes], size: int) -> bytes:
    """So many bytes, and no fewer; `zipfile` compares the checksum once the last one is read."""
    found = member.read(size)
    if len(found) < size:
        raise ValueError(f"{member.name} ends too early")
    return found
