"""Files that are no reference statistics, made from one that is: name -> bytes, the same at every call.

`strange` ones are written by NumPy, with arrays that are wrong; `broken` ones are the bytes of a good file, cut and
flipped; `bombs` claim or hold far more than they should.
"""

import io
import itertools
import pickle
import struct
import zipfile
from datetime import datetime
from functools import partial

import numpy as np

RNG = np.random.default_rng(0)
MEAN = RNG.normal(size=3)
COV = np.cov(RNG.normal(size=(20, 3)), rowvar=False)
GOOD = {"mu": MEAN, "sigma": COV, "n": np.array(20)}
STATE = {
    "real_features_sum": 20 * MEAN,
    "real_features_cov_sum": 19 * COV + 20 * np.outer(MEAN, MEAN),
    "real_features_num_samples": np.array(20),
}
ASIDE = COV + np.triu(np.ones((3, 3)), 1)
TURNED = np.diag([1.0, 1.0, -0.01])


class Opened:
    """A pickle that says that it was opened."""

    def __reduce__(self):
        return print, ("opened",)


OBJECTS = np.empty(3, dtype=object)
OBJECTS[:] = [Opened(), 1, 2]
TYPES = {
    "objects": OBJECTS,
    "texts": np.array(["a", "b", "c"]),
    "bytes": np.array([b"a", b"b", b"c"]),
    "complex": MEAN + 1j,
    "flags": np.ones(3, dtype=bool),
    "dates": np.array(["2026-01-01"] * 3, dtype="M8[D]"),
    "fields": np.zeros(3, dtype=[("a", "f8")]),
    "void": np.zeros(3, dtype="V8"),
}
SHAPES = [(), (0,), (1,), (2,), (3,), (4,), (9,), (1, 3), (3, 1), (3, 3), (4, 4), (3, 4), (0, 3), (0, 0), (3, 3, 1)]
SIGNS = {"not symmetric": ASIDE, "negative": -COV, "of no sign": TURNED, "of zero trace": ASIDE - ASIDE.T}
VALUES = [np.nan, np.inf, -np.inf, 1e300, -1e46]
COUNTS = {
    "0": 0,
    "1": 1,
    "-20": -20,
    "half": 20.5,
    "nan": np.nan,
    "inf": np.inf,
    "huge": 10**18,
    "text": "20",
    "two": [20, 20],
    "none": None,
    "few": 3,  # three rows have two directions, and this covariance has three
}


def npz(arrays, save=np.savez, **settings):
    content = io.BytesIO()
    save(content, **arrays, **settings)
    return content.getvalue()


def _with(values, spot, value):
    changed = np.array(values, dtype=float)
    changed[spot] = value
    return changed


def strange():
    """(name, arrays): what NumPy writes, and no mean and covariance."""
    for name, array in TYPES.items():
        yield f"mu of {name}", GOOD | {"mu": array}
        yield f"sigma of {name}", GOOD | {"sigma": np.array([array] * 3)}
    for shape in SHAPES:
        if shape != (3,):
            yield f"mu {shape}", GOOD | {"mu": np.zeros(shape)}
        if shape != (3, 3):
            yield f"sigma {shape}", GOOD | {"sigma": np.ones(shape)}
    for value in VALUES:
        yield f"mu with {value}", GOOD | {"mu": _with(MEAN, 1, value)}
        yield f"sigma with {value}", GOOD | {"sigma": _with(COV, (1, 1), value)}
        yield f"sigma with {value} aside", GOOD | {"sigma": _with(COV, (0, 2), value)}
    for name, count in COUNTS.items():
        yield f"n {name}", GOOD | {"n": np.array(count)}
        if name != "few":
            yield f"state of {name}", STATE | {"real_features_num_samples": np.array(count)}
    for name, sigma in SIGNS.items():
        yield f"sigma {name}", GOOD | {"sigma": sigma}
        yield f"sigma {name}, float32", GOOD | {"sigma": sigma.astype("f4")}
    for name in GOOD:
        yield f"{name} alone", {name: GOOD[name]}
    for name in STATE:
        yield f"no {name}", {key: value for key, value in STATE.items() if key != name}
        yield f"{name} of texts", STATE | {name: np.array(["a"])}
        yield f"{name} of another shape", STATE | {name: np.ones((2, 2, 2))}
        yield f"{name} with NaN", STATE | {name: STATE[name] * np.nan}
    fake = {name.replace("real", "fake"): value for name, value in STATE.items()}
    yield "both sides of a state", STATE | fake
    yield "second moments smaller than the mean's", STATE | {"real_features_cov_sum": np.zeros((3, 3))}
    yield "nothing", {}
    yield "rows", {"feats": np.ones((20, 3))}
    yield "rows without a name", {"arr_0": np.ones((20, 3))}
    yield "images of floats", {"arr_0": np.ones((2, 4, 4, 3))}
    yield "grey images", {"arr_0": np.ones((2, 4, 4), dtype=np.uint8)}
    yield "no images", {"arr_0": np.ones((0, 4, 4, 3), dtype=np.uint8)}
    yield "other names", {"mean": MEAN, "cov": COV}
    yield "names in capitals", {"MU": MEAN, "SIGMA": COV}
    yield "names with a folder", {"a/mu": MEAN, "a/sigma": COV}
    yield "ADM's spatial ones alone", {"mu_s": MEAN, "sigma_s": COV}


def places(content):
    """(start, length) of the bytes of each member of a zip."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            name, extra = struct.unpack_from("<HH", content, member.header_offset + 26)
            yield member.header_offset + 30 + name + extra, member.compress_size


def broken():
    """(name, bytes) of a good file that was cut, or has one byte of its arrays flipped."""
    good = npz(GOOD)
    for k in range(30):
        yield f"cut at {k}/30", good[: len(good) * k // 30]
    for (start, length), k in itertools.product(list(places(good))[:2], range(16)):
        at = start + length * k // 16
        yield f"flipped at {at}", good[:at] + bytes([good[at] ^ 64]) + good[at + 1 :]
    yield "twice one end", good[:-30] + good[-60:]
    yield "head of another", b"PK\x03\x04" + bytes(200)
    yield "other files", b"\x89PNG\r\n\x1a\n" + bytes(100)
    yield "a table", b"mu,sigma\n1,2\n"
    yield "a pickle", pickle.dumps({"mu": MEAN, "sigma": Opened()})


def header(shape, descr="<f8", version=1, more=""):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}{more}".encode() + b"\n"
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + size + text


def zipped(members, **settings):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, datetime(2026, 1, 1).timetuple()[:6])
            info.compress_type = settings.get("kind", zipfile.ZIP_DEFLATED)
            archive.writestr(info, data)
    return content.getvalue()


def bombs():
    """(name, function that writes the bytes) of headers that claim, and members that hold, what no memory should."""
    good = {"mu.npy": header((3,)) + MEAN.tobytes(), "sigma.npy": header((3, 3)) + COV.tobytes()}
    claims = {
        "mu of 10⁹": {"mu.npy": header((10**9,))},
        "mu of 10¹⁹": {"mu.npy": header((10**19,))},
        "mu of −3": {"mu.npy": header((-3,))},
        "sigma of 10⁶": {"sigma.npy": header((10**6, 10**6))},
        "sigma of 10⁴": {"sigma.npy": header((10**4, 10**4)) + bytes(8 * 10**8 // 40)},
        "sigma too short": {"sigma.npy": header((3, 3)) + bytes(8)},
        "sigma of other features": {"sigma.npy": header((2000, 2000)) + bytes(8 * 2000**2)},
        "sigma too long": {"sigma.npy": header((3, 3)) + COV.tobytes() + bytes(8)},
        "sigma too long by far": {"sigma.npy": header((3, 3)) + bytes(10**8)},
        "a header of zeros": {"sigma.npy": b"\x93NUMPY\x02\x00" + struct.pack("<I", 10**8) + bytes(10**8)},
        "a header of brackets": {"sigma.npy": header("(" * 5000 + ")" * 5000)},
        "a header that calls": {"sigma.npy": header("__import__('os').getcwd()")},
        "a header with more": {"sigma.npy": header((3, 3), more="; 1")},
        "a header of version 9": {"sigma.npy": header((3, 3), version=9) + COV.tobytes()},
        "numbers of 10⁶ bits": {"sigma.npy": header((3, 3), descr="<f1000000")},
        "no header": {"sigma.npy": COV.tobytes()},
        "an empty member": {"sigma.npy": b""},
        "5,000 members": {f"{k}.npy": b"" for k in range(5000)},
        "torch's file": {"archive/data.pkl": pickle.dumps(Opened()), "archive/version": b"3\n"},
    }
    for name, members in claims.items():
        yield name, partial(zipped, (good if "npy" in next(iter(members)) else {}) | members)
    yield "mu twice", partial(zipped, {**good, "mu": good["mu.npy"]})
    encrypted = bytearray(zipped(good, kind=zipfile.ZIP_STORED))
    for spot, shift in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = encrypted.find(spot)
        encrypted[at + shift] |= 1
    yield "encrypted", partial(bytes, encrypted)
    unknown = bytearray(zipped(good, kind=zipfile.ZIP_STORED))
    for spot, shift in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = unknown.find(spot)
        unknown[at + shift] = 77
    yield "compressed by nobody knows what", partial(bytes, unknown)


def all_damaged():
    """{name: function that writes the bytes} of all of them."""
    written = {name: partial(npz, arrays) for name, arrays in strange()}
    return written | {name: partial(bytes, content) for name, content in broken()} | dict(bombs())
