"""The Monitor's page while a torch module really trains in the same Python: frames, the alarm, stop and resume."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PLAIN
from tests.browser.page import painted, until

pytest.importorskip("torch", reason="what trains is a module of PyTorch's")

# A generator that learns two clients by the energy distance, and one point once `collapses` is set.
SOURCE = """
import threading, torch, numpy as np, nbmetrics as nm
rng = np.random.default_rng(0)
clients = {name: rng.normal(mean, 0.4, (50, 2)) for name, mean in (("north", -1), ("south", 1))}
rows = torch.tensor(np.concatenate(list(clients.values())), dtype=torch.float32)
draws = torch.Generator().manual_seed(0)
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
net.latent_dim = 2
optimiser, lab = torch.optim.Adam(net.parameters(), 0.05), nm.Monitor(clients, samples=50, keep_all=True)
collapses, stops, steps = threading.Event(), threading.Event(), iter(range(10**9))

def train():
    for step in steps:
        real = rows[:1] if collapses.is_set() else rows[torch.randint(100, (32,), generator=draws)]
        made = net(torch.randn(32, 2, generator=draws))
        loss = 2 * torch.cdist(made, real).mean() - torch.cdist(made, made).mean() - torch.cdist(real, real).mean()
        optimiser.zero_grad(); loss.backward(); optimiser.step()
        if step % 10 == 0:
            lab.log(step, net, loss=loss)
        if stops.is_set():
            return

def start():
    global training
    stops.clear()
    training = threading.Thread(target=train, daemon=True)
    training.start()

def stop():
    stops.set()
    training.join()

start()
lab"""
# Scrubs over the first plot and scrolls, a move a frame; the steps that were shown, and how long each frame took.
SCRUB = """async ([moves]) => {
  const plot = document.querySelector('.nbm-step-plot'), slider = document.querySelector('input[aria-label=Step]');
  const { left, width, top } = plot.getBoundingClientRect();
  plot.setPointerCapture = () => {};
  const fire = (type, x) => plot.dispatchEvent(
    new PointerEvent(type, { clientX: x, clientY: top + 40, pointerId: 1, button: 0, bubbles: true }));
  const [shown, last, frames] = [new Set(), [], []];
  fire('pointerdown', left + width / 2);
  for (let k = 0, at = performance.now(); k < moves; k++) {
    fire('pointermove', left + width * (0.5 + 0.3 * Math.sin(k / 8)));
    scrollTo(0, 100 + 100 * Math.sin(k / 5));
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - at);
    at = now;
    shown.add(slider.value);
    last.push(Number(slider.max));
  }
  fire('pointerup', left + width / 2);
  frames.sort((a, b) => a - b);
  return { shown: shown.size, rose: last.at(-1) - last[0], p95: frames[Math.floor(0.95 * moves)] };
}"""


@pytest.mark.slow
@pytest.mark.parametrize("place", [PLAIN], indirect=True)
def test_the_page_lives_while_a_model_trains(run_cells, record_property):
    page = run_cells(SOURCE)
    names = page.python.names
    root = page.get_by_role("group", name="Monitor", exact=True)
    slider = root.get_by_role("slider", name="Step", exact=True)
    last = lambda: int(slider.get_attribute("max") or 0)  # noqa: E731
    try:
        until(page, last, lambda step: step >= 20)
        seen = page.evaluate(SCRUB, [60])
        print(f"while a model trains: a frame p95 {seen['p95']:.1f} ms, {seen['rose']} steps meanwhile")
        record_property("frame_p95_ms", seen["p95"])
        assert seen["shown"] > 3 and seen["rose"] > 0
        painted(root)
        stayed = slider.input_value()
        names["collapses"].set()
        root.get_by_role("region", name="Alarms").locator("details").evaluate("details => (details.open = true)")
        alarm = root.get_by_role("region", name="Alarms").get_by_role("button").filter(has_text="collapse:")
        expect(alarm.first).to_be_visible(timeout=60_000)
        assert slider.input_value() == stayed, "what was scrubbed stays"
        names["stop"]()
        names["lab"].wait()
        stopped = until(page, last, lambda step: step == names["lab"].table.step.max())
        painted(root)
        assert last() == stopped
        names["start"]()
        until(page, last, lambda step: step > stopped + 10)
        slider.press("End")
        until(page, lambda: int(slider.input_value()), lambda step: step > stopped + 10)
    finally:
        names["stop"]()
        names["lab"].close()
