"""Pictures of labs: what they show and say, and where they stand in for the live view."""

import base64
import io
import logging
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import RendererAgg
from PIL import Image

import nbmetrics as nm
from nbmetrics.figures.drawing import Drawing
from nbmetrics.labs.plane.items import TYPES
from nbmetrics.labs.playground.figure import add_ellipse
from tests.labs.toolkit.common import EVIL, LABS, VIEW, evil_lab, moved
from tests.slow import by_default, slow


@pytest.mark.parametrize("name", by_default(LABS, "Playground", "TwinsLab", "PrivacyLab", "Dashboard"))
def test_a_snapshot_is_a_picture_with_words(kind, new, tmp_path):
    """The labs that are slow here draw their picture in their own tests, too."""
    lab = moved(new())
    shot = lab.snapshot()
    pixels = np.asarray(Image.open(io.BytesIO(shot.png)).convert("L"))
    assert pixels.shape[1] >= 600 and pixels.std() > 10
    root = ElementTree.fromstring(shot.svg)
    assert [child.tag.split("}")[1] for child in root[:2]] == ["title", "desc"]
    assert (root[0].text, root[1].text, root.get("role")) == (kind.__name__, shot.alt, "img")
    assert shot.alt.startswith(kind.__name__) and len(shot.alt) > 80
    assert shot.save(tmp_path / "a.png").read_bytes() == shot.png
    assert shot.save(str(tmp_path / "b.svg")).read_text("utf-8") == shot.svg
    data, metadata = shot._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]) == shot.png and data["text/plain"] == shot.alt
    assert metadata["image/png"]["alt"] == shot.alt


@pytest.mark.parametrize("lab", [nm.Playground, *slow(nm.TwinsLab)])
@pytest.mark.parametrize(
    ("half", "size"), [(TYPES["half"]["number"][0], {}), (5.0, {"width": 1e6, "height": 3e5, "angle": 30.0})]
)
def test_a_snapshot_draws_nothing_far_beyond_its_window(lab, half, size, monkeypatch):
    """Within the bounds of a scene no path is many windows wide: the renderer would dash it for minutes."""
    reach, draw = [], RendererAgg.draw_path

    def measured(self, gc, path, transform, rgbFace=None):
        if len(path.vertices):
            reach.append(np.ptp(transform.transform(path.vertices), axis=0).max())
        return draw(self, gc, path, transform, rgbFace)

    made = lab()
    first, *others = made.scene["clients"]
    changes = {"half": half, "clients": [{**first, **size}, *others], "rev": 1}
    made.scene = {**made.scene, **changes, **({"shared": False} if "shared" in made.scene else {})}
    monkeypatch.setattr(RendererAgg, "draw_path", measured)
    pixels = np.asarray(Image.open(io.BytesIO(made.snapshot().png)))
    assert 0 < max(reach) < 10 * max(pixels.shape)


def test_of_a_huge_ellipse_the_part_near_the_window_is_drawn_where_it_is():
    ax = Drawing().add_axes((0, 0, 1, 1))
    ax.set(xlim=(-1, 1), ylim=(-1, 1))
    add_ellipse(ax, (3e5, 4e5), 5e5, 5e5, 77.0)  # through 0, where it is across the way to its middle
    add_ellipse(ax, (9e6, 0), 1e3, 1.0, 0.0)
    near, far = (patch.get_path().vertices for patch in ax.patches)
    seen = near[np.abs(near).max(axis=1) < 1]
    assert len(seen) > 50 and np.abs(seen @ [0.6, 0.8]).max() < 1e-5 and len(far) == 0


def test_the_playgrounds_words_name_everyone_and_their_scores():
    lab = nm.Playground("Heterogeneous six")
    alt = lab.snapshot().alt
    for name in [item["name"] for kind in ("clients", "generators") for item in lab.scene[kind]]:
        assert name in alt
    for value in lab.scores().table[["avg", "all"]].to_numpy().ravel():
        assert f"{value:.3f}" in alt
    assert "avg prefers Generator 1, all prefers Generator 2" in alt


def test_snapshots_take_evil_names():
    shot = evil_lab().snapshot()
    assert "img" not in {node.tag for node in ElementTree.fromstring(shot.svg).iter()}
    words = ElementTree.fromstring(shot.svg)[1].text
    assert EVIL in words and "😀" in words and "עברית" in words


def test_the_live_view_brings_its_picture_along():
    lab = nm.Playground()
    data, metadata = lab._repr_mimebundle_()
    assert data[VIEW]["model_id"] == lab.model_id
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == metadata["image/png"]["alt"] == lab.snapshot().alt


def test_the_live_view_shows_even_where_no_picture_can_be_made(monkeypatch, caplog):
    lab = nm.Playground()
    monkeypatch.setattr(type(lab), "_picture", lambda self: 1 / 0)
    with caplog.at_level(logging.WARNING):
        data, _ = lab._repr_mimebundle_()
    assert VIEW in data and "image/png" not in data
    assert "No picture" in caplog.text and "ZeroDivisionError" in caplog.text


def test_a_closed_lab_shows_nothing():
    lab = nm.Playground()
    lab.close()
    assert lab._repr_mimebundle_ is None


def test_only_pictures_bring_in_matplotlib(tmp_path):
    code = (
        "import nbmetrics as nm, sys; lab = nm.Playground(); lab.share(); lab.scores(); lab.export_html(sys.argv[1]); "
        "print('matplotlib' in sys.modules); lab._repr_mimebundle_(); print('matplotlib' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "page.html")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]


@pytest.mark.slow  # starts a kernel; quick: what IPython displays, below
def test_nbconvert_and_github_show_the_picture(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    cell = nbformat.v4.new_code_cell("import nbmetrics as nm\nlab = nm.Playground()\nlab")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbclient.NotebookClient(notebook, timeout=120, store_widget_state=False).execute()
    (output,) = [o for o in notebook.cells[0].outputs if "data" in o]
    assert VIEW in output["data"] and output["metadata"]["image/png"]["alt"].startswith("Playground")
    assert picture_by_nbconvert(notebook, output)


def test_nbconvert_shows_the_picture_of_what_ipython_displays():
    nbformat, formatters = pytest.importorskip("nbformat"), pytest.importorskip("IPython.core.formatters")
    data, metadata = formatters.DisplayFormatter().format(nm.Playground())
    output = nbformat.v4.new_output("execute_result", data, metadata=metadata, execution_count=1)
    cell = nbformat.v4.new_code_cell("lab", outputs=[output])
    assert VIEW in data and metadata["image/png"]["alt"].startswith("Playground")
    assert picture_by_nbconvert(nbformat.v4.new_notebook(cells=[cell]), output)


def picture_by_nbconvert(notebook, output):
    """Whether the page that nbconvert makes shows the PNG of the output."""
    from nbconvert import HTMLExporter

    html, _ = HTMLExporter().from_notebook_node(notebook)
    png = output["data"]["image/png"].strip()
    return f"data:image/png;base64,{png}" in html.replace("\n", "")
