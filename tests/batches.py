"""Rows in whatever streams come from: files, lazy arrays, loaders, functions; each takes rows (n, 4) and a folder."""

import importlib

import numpy as np
import pandas as pd
import pytest


def need(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def as_npy(rows, folder):
    np.save(folder / "rows.npy", rows)
    return np.load(folder / "rows.npy", mmap_mode="r")


def as_parquet(rows, folder):
    need("pyarrow")
    pd.DataFrame(rows, columns=list("dcba")).to_parquet(folder / "rows.parquet", row_group_size=17)
    return folder / "rows.parquet"


def as_parquet_folder(rows, folder):
    need("pyarrow")
    for k, part in enumerate(np.array_split(rows, 3)):
        frame = pd.DataFrame(part, columns=list("dcba")).assign(who="text")
        (folder / f"day={k}").mkdir()
        frame.to_parquet(folder / f"day={k}" / "part.parquet")
    return folder


def as_loader(rows, folder):
    data = need("torch.utils.data")
    torch = importlib.import_module("torch")
    labelled = data.TensorDataset(torch.from_numpy(rows), torch.arange(len(rows)))
    return data.DataLoader(labelled, batch_size=7)


SOURCES = {
    "iterator": lambda rows, folder: iter(np.array_split(rows, 5)),
    "iterator of frames": lambda rows, folder: (pd.DataFrame(part) for part in np.array_split(rows, 5)),
    "function": lambda rows, folder: lambda: np.array_split(rows, 5),
    "function of one array": lambda rows, folder: lambda: rows,
    "generator function": lambda rows, folder: lambda: (part for part in np.array_split(rows, 5)),
    "memory map": as_npy,
    "part of a memory map": lambda rows, folder: as_npy(np.concatenate([rows, rows]), folder)[30:90],
    "dask": lambda rows, folder: need("dask.array").from_array(rows, chunks=(11, 2)),
    "dask of unknown length": lambda rows, folder: (x := need("dask.array").from_array(rows, chunks=(11, 4)))[
        x[:, 0] < 99
    ],
    "zarr": lambda rows, folder: need("zarr").array(rows, chunks=(13, 4)),
    "parquet": as_parquet,
    "parquet folder": as_parquet_folder,
    "loader": as_loader,
}
