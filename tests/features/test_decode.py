"""Hostile files: each is read by a rule that is written down, or listed with its reason; never anything else."""

import io
import os
import shutil
import socket
import struct
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile, PngImagePlugin

import nbmetrics as nm
from nbmetrics.features.decode import Unread, decode_image, on_white
from tests.features.pictures import broken, pixels, png, saved

RGB, GREY = pixels(), pixels(channels=1)
WIDE = np.random.default_rng(1).integers(0, 2**16, (9, 13), dtype=np.uint16)
ALPHA = pixels(channels=4, seed=2)
ALPHA[0, :, 3], ALPHA[1, :, 3] = 0, 255
COLOURS = pixels(4, 1)[:, 0]
PALETTE = Image.frombytes("P", (13, 9), (GREY % 4).tobytes())
PALETTE.putpalette(COLOURS.tobytes())


def laid_on_white(colour, opacity):
    share = opacity[..., None] / 255 if colour.ndim == 3 else opacity / 255
    return np.floor(colour * share + 255 * (1 - share) + 0.5).astype(np.uint8)


def with_first_transparent():
    picture = COLOURS[GREY % 4].copy()
    picture[GREY % 4 == 0] = 255
    return picture


def grey_key(value):
    picture = GREY.copy()
    picture[picture == value] = 255
    return picture


def colour_key():
    picture = RGB.copy()
    picture[0, 0] = 255
    return picture


def wide_key():
    picture = (WIDE >> 8).astype(np.uint8)
    picture[0, 0] = 255
    return picture


def colours_of_16_bits():
    wide = np.random.default_rng(3).integers(0, 2**16, (9, 13, 3), dtype=np.uint16)
    return png(13, 9, 16, 2, wide.astype(">u2").tobytes()), (wide >> 8).astype(np.uint8)


def turned(orientation):
    """The stored pixels of a picture that is GREY once it is turned as EXIF says (row 0 and column 0 are where)."""
    stored = {
        1: lambda x: x,  # row 0 at the top, column 0 on the left
        2: lambda x: x[:, ::-1],  # top, right
        3: lambda x: x[::-1, ::-1],  # bottom, right
        4: lambda x: x[::-1],  # bottom, left
        5: lambda x: x.T,  # left, top
        6: lambda x: x[:, ::-1].T,  # right, top
        7: lambda x: x[::-1, ::-1].T,  # right, bottom
        8: lambda x: x[::-1].T,  # left, bottom
    }[orientation](GREY)
    exif = Image.Exif()
    exif[0x0112] = orientation
    return saved(np.ascontiguousarray(stored), exif=exif)


def cmyk():
    inks = pixels(channels=4, seed=4).astype(float)
    left = (255 - inks[..., :3]) * (255 - inks[..., 3:]) / 255
    return saved(Image.fromarray(inks.astype(np.uint8), "CMYK"), "TIFF"), left


# what it is -> bytes, the picture, a part of the remark
READ = {
    "colour": (saved(RGB), RGB, ""),
    "grey": (saved(GREY), GREY, ""),
    "BMP": (saved(RGB, "BMP"), RGB, ""),
    "TIFF": (saved(RGB, "TIFF"), RGB, ""),
    "WebP": (saved(RGB, "WEBP", lossless=True), RGB, ""),
    "GIF of one frame": (saved(GREY, "GIF"), np.stack([GREY] * 3, 2), ""),  # a palette, so colour
    "black and white": (saved(Image.fromarray(GREY > 99)), np.where(GREY > 99, 255, 0), ""),
    "palette": (saved(PALETTE), COLOURS[GREY % 4], ""),
    "palette, one transparent": (saved(PALETTE, transparency=0), with_first_transparent(), "transparency on white"),
    "palette of opacities": (
        saved(PALETTE, transparency=bytes([0, 99, 200, 255])),
        laid_on_white(COLOURS[GREY % 4], np.array([0, 99, 200, 255])[GREY % 4]),
        "transparency on white",
    ),
    "opacity": (saved(ALPHA), laid_on_white(ALPHA[..., :3], ALPHA[..., 3]), "transparency on white"),
    "opaque": (saved(np.dstack([RGB, np.full((9, 13), 255, np.uint8)])), RGB, ""),
    "grey and opacity": (
        saved(Image.merge("LA", [Image.fromarray(np.ascontiguousarray(ALPHA[..., k])) for k in (0, 3)])),
        laid_on_white(ALPHA[..., 0], ALPHA[..., 3]),
        "transparency on white",
    ),
    "grey, one transparent": (saved(GREY, transparency=int(GREY[0, 0])), grey_key(GREY[0, 0]), "transparency on white"),
    "colour, one transparent": (
        saved(RGB, transparency=tuple(int(v) for v in RGB[0, 0])),
        colour_key(),
        "transparency on white",
    ),
    "16-bit grey": (png(13, 9, 16, 0, WIDE.astype(">u2").tobytes()), WIDE >> 8, "high byte"),
    "16-bit grey TIFF": (saved(Image.fromarray(WIDE), "TIFF"), WIDE >> 8, "high byte"),
    "16-bit grey, one transparent": (
        png(13, 9, 16, 0, WIDE.astype(">u2").tobytes(), [(b"tRNS", struct.pack(">H", WIDE[0, 0]))]),
        wide_key(),
        "high byte",
    ),
    "16-bit colour": (*colours_of_16_bits(), ""),
    "one pixel high": (saved(Image.new("L", (100_000, 1), 7)), np.full((1, 100_000), 7), ""),
    "EXIF that is nonsense": (saved(GREY, exif=b"Exif\0\0MM\0*\xff\xff\xff\xff\1"), GREY, ""),
    **{f"EXIF {k}": (turned(k), GREY, "turned" if k > 1 else "") for k in range(1, 9)},
}


def text_bomb():
    info = PngImagePlugin.PngInfo()
    info.add_text("a", "b" * 2**21, zip=True)
    return saved(RGB, pnginfo=info)


FRAMES = [Image.fromarray(pixels(seed=k)) for k in (1, 2)]
# what it is -> bytes, a part of the reason
REFUSED = {
    "empty": (b"", "an empty file"),
    "a text": (b"hello\n" * 99, "no image of a known format"),
    "SVG": (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "no image of a known format"),
    "EPS": (saved(RGB, "EPS"), "no image of a known format"),
    "ICO": (saved(Image.fromarray(pixels(16, 16)), "ICO"), "no image of a known format"),
    "animated GIF": (saved(FRAMES[0], "GIF", save_all=True, append_images=FRAMES[1:]), "more than one frame"),
    "animated PNG": (saved(FRAMES[0], "PNG", save_all=True, append_images=FRAMES[1:]), "more than one frame"),
    "animated WebP": (saved(FRAMES[0], "WEBP", save_all=True, append_images=FRAMES[1:]), "more than one frame"),
    "pages": (saved(FRAMES[0], "TIFF", save_all=True, append_images=FRAMES[1:]), "more than one frame"),
    "30,000 × 30,000": (png(30_000, 30_000, 8, 2), "900000000 pixels"),
    "99 million pixels": (png(9_000, 11_000, 8, 2), "9,000 × 11,000 pixels"),
    "51 million pixels": (png(51_000_000, 1, 8, 0), "51,000,000 × 1 pixels"),
    "0 × 0": (png(0, 0, 8, 2), ""),
    "a truncated PNG": (saved(RGB)[:-60], "truncated"),
    "a truncated JPEG": (saved(pixels(64, 64), "JPEG")[:-400], "truncated"),
    "a JPEG without its end": (saved(pixels(64, 64), "JPEG")[:-2], ""),
    "floats": (saved(Image.fromarray(np.ones((9, 13), np.float32)), "TIFF"), "floating-point"),
    "32-bit integers": (saved(Image.fromarray(np.ones((9, 13), np.int32)), "TIFF"), "32-bit"),
    "a bomb of text": (text_bomb(), ""),
}


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
@pytest.mark.parametrize("case", READ)
def test_read_by_the_rule(case, tmp_path):
    data, expected, remark = READ[case]
    (tmp_path / "a.png").write_bytes(data)
    read = nm.images(tmp_path)
    assert read[0].dtype == np.uint8 and read[0].flags.c_contiguous and read[0].flags.writeable
    np.testing.assert_array_equal(read[0], expected)
    (row,) = read.report.itertuples(index=False)
    assert row.read and remark in row.reason and bool(remark) <= bool(row.reason)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
def test_where_nothing_is_remarked_it_is_what_other_tools_read(tmp_path):
    for data, *_ in READ.values():
        (tmp_path / f"{len(list(tmp_path.iterdir()))}.png").write_bytes(data)
    read = nm.images(tmp_path)
    plain = [k for k, reason in enumerate(read.report["reason"]) if not reason]
    assert len(read) == len(READ) and len(plain) >= 10
    for k in plain:
        with Image.open(tmp_path / read.names[k]) as image:
            expected = np.asarray(image.convert("RGB"))
        np.testing.assert_array_equal(
            np.broadcast_to(read[k].reshape(*read[k].shape[:2], -1), expected.shape), expected
        )


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("case", REFUSED)
def test_listed_with_the_reason(case, tmp_path):
    data, reason = REFUSED[case]
    (tmp_path / "a.png").write_bytes(data)
    (tmp_path / "b.png").write_bytes(saved(RGB))
    read = nm.images(tmp_path)
    assert len(read) == 1 and read.names == ["b.png"]
    first = read.report.iloc[0]
    assert list(read.report["read"]) == [False, True] and first["reason"] and reason in first["reason"]
    with pytest.raises(nm.InvalidInput, match=r"1 of 2 found cannot be read; a\.png \("):
        nm.images(tmp_path, strict=True)


def test_cmyk_is_converted_without_its_profile_and_that_is_said(tmp_path):
    data, expected = cmyk()
    (tmp_path / "a.tif").write_bytes(data)
    read = nm.images(tmp_path)
    assert np.abs(read[0] - expected).max() <= 1
    assert "colour profile not applied" in read.report["reason"][0]


def test_of_a_photograph_with_further_pictures_the_first_is_read(tmp_path):
    first, second = (Image.new("L", (16, 16), level) for level in (50, 200))
    (tmp_path / "a.jpg").write_bytes(saved(first, "MPO", save_all=True, append_images=[second]))
    read = nm.images(tmp_path)
    assert np.abs(read[0].astype(int) - 50).max() < 5
    assert "first of several" in read.report["reason"][0]


def test_every_opacity_of_every_colour_rounds_to_the_nearest():
    colour, opacity = (x.astype(np.uint8) for x in np.meshgrid(np.arange(256), np.arange(256)))
    np.testing.assert_array_equal(on_white(np.stack([colour, opacity], 2))[..., 0], laid_on_white(colour, opacity))


def test_broken_files_are_decoded_or_listed(tmp_path):
    rng, wanted = np.random.default_rng(5), {}
    whole = [saved(pixels(24, 20), kind) for kind in ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")]
    for k in range(120):
        wanted[f"{k}.png"] = broken(whole[k % len(whole)], rng)
        (tmp_path / f"{k}.png").write_bytes(wanted[f"{k}.png"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow's own, about the files
        read = nm.images(tmp_path)
        again = list(read)
    assert list(read.report["file"]) == list(wanted) and 12 < len(read) < 108
    assert (read.report["reason"][~read.report["read"]] != "").all()
    assert all(image.dtype == np.uint8 and image.ndim in (2, 3) for image in again)


@pytest.mark.threads
def test_truncated_files_are_refused_whatever_pillow_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    cut = saved(pixels(200, 200), "JPEG")[:9000]
    with Image.open(io.BytesIO(cut)) as image:
        image.load()  # Pillow shows half of it
    for k in range(40):
        (tmp_path / f"{k}.jpg").write_bytes(cut if k % 2 else saved(RGB))
    with ThreadPoolExecutor(4) as pool:
        assert {len(read) for read in pool.map(nm.images, [tmp_path] * 8)} == {20}
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True


def test_decoded_raises_only_unread(monkeypatch):
    monkeypatch.setattr(Image, "open", lambda *args, **options: 1 / 0)
    with pytest.raises(Unread, match="division by zero"):
        decode_image(b"data")


@contextmanager
def nobody():
    """Without the rights of root, which may read everything."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if was == 0:
            os.seteuid(was)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="this system has no modes of files to take away")
def test_what_may_not_be_opened_is_listed():
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        (folder / "a.png").write_bytes(saved(RGB))
        (folder / "b.png").write_bytes(saved(RGB))
        (folder / "closed").mkdir()
        (folder / "closed" / "c.png").write_bytes(saved(RGB))
        nm.images(folder).report  # noqa: B018 (imports what it needs while it may)
        (folder / "a.png").chmod(0)
        (folder / "closed").chmod(0)
        with nobody():
            read = nm.images(folder)
            assert read.names == ["b.png"] and read[0].shape == RGB.shape
        assert list(read.report["file"]) == ["a.png", "b.png", "closed/"]
        assert [("Permission denied" in reason) for reason in read.report["reason"]] == [True, False, True]
    finally:
        (folder / "closed").chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among its files")
def test_pipes_sockets_and_devices_are_not_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's path has at most 100 letters
    os.mkfifo("a.png")  # to open it would wait for a writer, for ever
    Path("b.png").write_bytes(saved(RGB))
    Path("zero.png").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("c.png")
        for source in (tmp_path, ["a.png", "b.png", "c.png", "zero.png"]):
            read = nm.images(source)
            assert [Path(name).name for name in read.names] == ["b.png"]
            assert (read.report["reason"][~read.report["read"]] == "a pipe, socket or device").all()
