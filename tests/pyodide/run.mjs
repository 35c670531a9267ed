// Runs calls.py in Pyodide: node run.mjs {"pyodide": folder, "mounts": {path in Pyodide: folder here}, "packages": []}
import { pathToFileURL } from "node:url";

const { pyodide, mounts, packages } = JSON.parse(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const py = await loadPyodide({ indexURL: pyodide, env: { HOME: "/home/pyodide", PYTHONDONTWRITEBYTECODE: "1" } });
await py.loadPackage(packages, { messageCallback: () => {} });
for (const [place, root] of Object.entries(mounts)) {
  py.FS.mkdirTree(place);
  py.FS.mount(py.FS.filesystems.NODEFS, { root }, place);
}
py.runPython("import sys; sys.path += ['/pure', '/here']");
console.log(await py.runPythonAsync("from tests.pyodide import calls; await calls.report()"));
