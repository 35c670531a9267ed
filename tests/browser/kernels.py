"""Kernels behind a page of JupyterLab, each kept until a test ends it; and one as a plain page knows it."""

import os
import signal

import psutil

# The "idle" indicator alone can match before a kernel exists, and run-all then does nothing:
# wait for the session and its kernel, and let run_cells check that every cell really ran.
OPEN = """async ([path, id]) => {
  const app = window.jupyterapp;
  const options = { path, factory: 'Notebook', ...(id ? { kernel: { id } } : {}) };
  const p = await app.commands.execute('docmanager:open', options);
  window.__panel = p;
  await p.context.ready; await p.sessionContext.ready;
  const kernel = () => p.sessionContext.session && p.sessionContext.session.kernel;
  while (!(kernel() && kernel().connectionStatus === 'connected' && kernel().status === 'idle'))
    await new Promise(r => setTimeout(r, 20));
}"""
HAS_PANEL = "() => !!window.__panel"
CLOSE = "() => { if (window.__panel) { window.__panel.dispose(); window.__panel = null; } }"
# JupyterLab throws this of what it had asked a kernel that is gone, when it learns of that: maybe in the next test.
UNANSWERED = "Canceled future"
# What the kernel answers to code beside the cells, or that it took too long.
EXECUTED = """async code => {
  const { kernel } = window.__panel.sessionContext.session ?? {};
  if (!kernel) return 'no kernel';
  const late = new Promise(done => setTimeout(() => done('late'), 20000));
  const reply = kernel.requestExecute({ code, store_history: false }).done.then(({ content }) => content.status);
  return Promise.race([reply.catch(String), late]); }"""
CLEAR = """import ipywidgets
ipywidgets.Widget.close_all()
get_ipython().reset(new_session=True)"""
OCCUPY = """() => { window.__panel.sessionContext.session.kernel.requestExecute({ code:
  'import os, time\\nwhile os.path.exists("busy"): time.sleep(0.02)' }); }"""
KERNEL_ID = "() => window.__panel.sessionContext.session.kernel.id"


class KeptKernel:
    """The kernel that tests share, once the first of them has started it."""

    def __init__(self, page, server):
        self.page, self.server = page, server
        self.id, self.is_lost = None, False

    def open(self, name):
        """The notebook, with this kernel."""
        self.page.evaluate(OPEN, [name, self.id])
        self.id = self.page.evaluate(KERNEL_ID)

    def clear(self):
        """As before its first cell: widgets closed, names forgotten; one that is busy or gone makes way for another."""
        if self.page.evaluate(HAS_PANEL) and not self.is_lost and self.page.evaluate(EXECUTED, CLEAR) != "ok":
            self.is_lost = True
        self.page.evaluate(CLOSE)
        if self.is_lost:
            self.end()

    def end(self):
        if self.id in [kernel["id"] for kernel in self.server.request("GET", "/api/kernels")]:
            self.server.request("DELETE", f"/api/kernels/{self.id}")
        self.id, self.is_lost = None, False


class Kernel:
    """The kernel of the notebook that run_cells opened last."""

    def __init__(self, server, page, kept):
        self.server, self.page, self.kept = server, page, kept
        self.frozen = []
        self.busy = server.work / "busy"

    @property
    def id(self):
        return self.page.evaluate(KERNEL_ID)

    @property
    def pid(self):
        mark = f"kernel-{self.id}.json"
        family = psutil.Process(self.server.process.pid).children(recursive=True)
        return next(p.pid for p in family if any(mark in word for word in p.cmdline()))

    def interrupt(self):
        self.server.request("POST", f"/api/kernels/{self.id}/interrupt")

    def restart(self):
        self.server.request("POST", f"/api/kernels/{self.id}/restart")

    def shut_down(self):
        """Gone for good, in order."""
        self.kept.is_lost = True
        self.server.request("DELETE", f"/api/kernels/{self.id}")

    def kill(self):
        """As the memory killer would; Jupyter says so, and starts another under the same id after a few seconds."""
        self.kept.is_lost = True
        os.kill(self.pid, signal.SIGKILL)
        self.page.get_by_role("dialog").get_by_role("button", name="Ok").click()

    def occupy(self):
        """In a long computation of the user's, until `release`."""
        self.busy.touch()
        self.page.evaluate(OCCUPY)

    def release(self):
        self.busy.unlink(missing_ok=True)

    def freeze(self):
        """Alive, and answering nothing."""
        self.frozen.append(self.pid)
        os.kill(self.frozen[-1], signal.SIGSTOP)

    def thaw(self):
        for pid in filter(psutil.pid_exists, self.frozen):
            os.kill(pid, signal.SIGCONT)
        self.frozen.clear()


class PlainKernel:
    """Python behind a plain page, as far as the page can tell of it: there, silent for a while, or gone for good."""

    def __init__(self, page):
        self.page = page

    def freeze(self):
        self.page.python.hold()

    def thaw(self):
        self.page.python.go_on()

    def kill(self):
        self.freeze()
        self.page.python.socket = None  # what it was still at is never said
        self.page.evaluate("() => window.__lose()")

    occupy, release, shut_down = freeze, thaw, kill
