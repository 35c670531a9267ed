"""Tables of features: frames, Arrow tables and batches, structured arrays. Their names, and their rows as numbers.

A table is known by its attributes, so that neither pandas nor pyarrow is imported for what is no table of theirs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .errors import InvalidInput, check_length, shown

SAME_COLUMNS = "Give the same columns in the same order: frame[other.columns]"
FIX_GAPS = "Drop or fix those rows first"
# What a column holds. Only the first two are features; the third is never left out silently beside numbers.
NUMBER, LIST, NESTED, OTHER = "number", "list", "nested", "other"
# Lists tell how long they are when they are read.
MANY_NUMBERS = 1024


def is_arrow(value: Any) -> bool:
    """Whether a value is an Arrow table or record batch."""
    return hasattr(value, "num_rows") and hasattr(value, "schema") and hasattr(value, "column")


def is_table(value: Any) -> bool:
    """Whether a value is a frame, an Arrow table or batch, or a structured array."""
    if isinstance(value, np.ndarray):
        return value.dtype.names is not None
    return not isinstance(value, type) and (is_arrow(value) or (hasattr(value, "columns") and hasattr(value, "dtypes")))


def is_batch(value: Any) -> bool:
    """Whether an item of a stream is rows: an array with two axes, or a table."""
    return getattr(value, "ndim", 0) == 2 or is_table(value)


def column_names(value: Any) -> tuple[str, ...] | None:
    """What the columns of a table are called, or of the first in a list, or of anything made of one; else None."""
    if type(value) in (list, tuple) and value and is_batch(value[0]):
        return next((column_names(item) for item in value if is_table(item)), None)
    if is_arrow(value):
        index = _index_columns(value.schema)
        return tuple(name for name in value.schema.names if name not in index)
    names = value.dtype.names if isinstance(value, np.ndarray) else getattr(value, "columns", None)
    return tuple(map(str, () if names is None else names)) if isinstance(names, tuple) or is_table(value) else None


def labels_of_series(series: Any) -> tuple[str, ...] | None:
    """What the entries of a series are called, such as a frame's means; None of anything else, and where numbered."""
    labels = series.index if hasattr(series, "iloc") and not is_table(series) else ()
    return tuple(labels) if len(labels) and all(isinstance(label, str) for label in labels) else None


def named_columns(made: Any, rows: Any) -> Any:
    """Return what was made of rows, with the names of their columns as `columns` where they have names."""
    if (names := column_names(rows)) is not None:
        made.columns = names
    return made


def check_same_order(named: Iterable[tuple[str, tuple[str, ...] | None]], argument: str | None = None) -> None:
    """Raise `InvalidInput` where a column has other places in two tables, or is in one of them too many.

    Rows are taken by position. It names `argument`, or else the later table. Features may have other names in another
    table: only names that both have are compared.
    """
    first_with: dict[str, tuple[str, tuple[str, ...]]] = {}
    known = set()
    for name, columns in named:
        if columns is None or columns in known:
            continue
        known.add(columns)
        for k, column in enumerate(columns):
            first, order = first_with.setdefault(column, (name, columns))
            if len(order) != len(columns):
                short, long = sorted([(first, order), (name, columns)], key=lambda table: len(table[1]))
                extra = next((column for column in long[1] if column not in short[1]), long[1][-1])
                seen = f"{shown(short[0])} has no column {shown(extra)}, but {shown(long[0])} has"
            elif order[k] != column:
                seen = f"column {k + 1} of {shown(name)} is {shown(column)}, of {shown(first)} {shown(order[k])}"
            else:
                continue
            raise InvalidInput(argument or name, seen, SAME_COLUMNS)


def check_frames(**named: Any) -> None:
    """The same of the arguments of a function, by their names."""
    check_same_order((name, column_names(value)) for name, value in named.items())


def name_features(moments: Any, mean: Any, cov: Any) -> None:
    """Keep as `columns` what the features of a labelled mean and covariance are called, in one order."""
    named = [("mean", labels_of_series(mean)), ("cov", column_names(cov) or labels_of_series(cov))]
    check_same_order(named)
    if columns := named[0][1] or named[1][1]:
        moments.columns = columns


def parsed_columns(content: bytes | Any, dim: int) -> tuple[str, ...] | None:
    """Return names of columns from JSON, or its list, of a stranger: None, or at most `dim` texts."""
    try:
        names = json.loads(content) if isinstance(content, bytes) else content
    except (ValueError, RecursionError):
        names = 0
    if names is None:
        return None
    if isinstance(names, list) and 0 < len(names) <= dim and all(isinstance(name, str) for name in names):
        return tuple(names)
    raise InvalidInput("columns", f"are {shown(names)}", "Give a list of their names")


def table_rows(table: Any, argument: str) -> np.ndarray:
    """Return the rows (n, d) of a table; InvalidInput where a value is missing or a column holds no numbers."""
    if hasattr(table, "npartitions"):  # of dask
        table = table.compute()
    if isinstance(table, np.ndarray):
        choose, names = "x[{}]", list(table.dtype.names or ())
        arrays = [table[name] if table.ndim == 1 and table[name].dtype.kind in "biuf" else None for name in names]
    elif is_arrow(table) or not hasattr(table, "iloc"):
        if not is_arrow(table):
            import pyarrow

            table = pyarrow.table(table)
        index, choose, names, arrays = _index_columns(table.schema), "table.select({})", [], []
        for k, field in enumerate(table.schema):
            if field.name not in index:
                is_feature = arrow_kind(field.type) in (NUMBER, LIST)
                names.append(field.name)
                arrays.append(arrow_numbers(table.column(k), argument, field.name) if is_feature else None)
    else:
        types = list(table.dtypes)
        if all(isinstance(t, np.dtype) and t.kind in "biuf" for t in types):
            return np.asarray(table, dtype=np.result_type(*types) if types else None)
        choose, names = "frame[{}]", list(map(str, table.columns))
        arrays = [_series_numbers(table.iloc[:, k], argument, name) for k, name in enumerate(names)]
    kinds = [OTHER if array is None else LIST if array.ndim == 2 else NUMBER for array in arrays]
    feature_columns(list(zip(names, kinds, strict=True)), argument, "has", choose, is_strict=True)
    columns = [array for array in arrays if array is not None]
    return np.column_stack(columns) if columns else np.empty((len(table), 0))


def feature_columns(
    columns: Sequence[tuple[str, str]], argument: str, has: str, choose: str, *, is_strict: bool = False
) -> list[str]:
    """Return the columns that are features, of (name, kind): all of numbers, or else the one of lists of numbers.

    Raises InvalidInput where that would leave out lists or nested values; if strict, any column. `has` says who has
    them, and `choose` how to choose columns.
    """
    numbers, lists, nested, others = (
        [name for name, kind in columns if kind == wanted] for wanted in (NUMBER, LIST, NESTED, OTHER)
    )
    good = numbers or lists[:1]
    if others and is_strict:
        fix = "Numbers that are kept as objects: astype(float)"
        if good:
            fix = f"Choose the features: {choose.format(good)}. {fix}"
        raise InvalidInput(argument, f"{has} columns that are not numbers: {shown(others)}", fix)
    if nested:
        seen = f"{has} nested or binary values in {shown(nested)}" + f", numbers in {shown(numbers)}" * bool(numbers)
        fix = "Give the features as columns of numbers, or as one column of lists of numbers"
        raise InvalidInput(argument, seen, fix + f". To leave these out: {choose.format(good)}" * bool(good))
    if lists and (numbers or len(lists) > 1):
        seen = f"{has} lists in {shown(lists)}" + f", numbers in {shown(numbers)}" * bool(numbers)
        raise InvalidInput(argument, seen, f"Choose the features: {choose.format(lists[:1])}")
    return numbers or lists


def _index_columns(schema: Any) -> list[str]:
    """Return the columns in which pandas kept the index of a frame."""
    kept = (getattr(schema, "pandas_metadata", None) or {}).get("index_columns", [])
    return [name for name in kept if isinstance(name, str)]


def schema_columns(schema: Any, chosen: Sequence[str] | None, what: str) -> tuple[str, ...]:
    """Return the columns of a file or data set that are features: those chosen, or see `feature_columns`."""
    kinds, counts = [(field.name, arrow_kind(field.type)) for field in schema], Counter(schema.names)
    if chosen is None:
        index = _index_columns(schema)
        kinds = [(name, kind) for name, kind in kinds if name not in index]
        names = feature_columns(kinds, "data", f"{what} has", "nm.Stream(…, columns={})")
        if not names:
            raise InvalidInput("data", f"{what} has no columns of numbers", "Give one with a column for each feature")
    else:
        names = list(chosen)
        if missing := [name for name in names if name not in counts]:
            raise InvalidInput("columns", f"{shown(missing)} are not in {what}", f"It has {shown(schema.names)}")
        kind_of = dict(kinds)
        if wrong := [name for name in names if kind_of[name] not in (NUMBER, LIST)]:
            seen = f"{shown(wrong)} of {what} are not numbers, or lists of numbers"
            raise InvalidInput("columns", seen, "Choose others")
    if twice := [name for name in names if counts[name] > 1]:
        seen = f"{what} has {counts[twice[0]]} columns called {shown(twice[0])}"
        raise InvalidInput("data", seen, "Give each column a name of its own")
    return tuple(names)


def row_bytes(schema: Any, columns: Sequence[str]) -> int:
    """Return about how many bytes a row has in float64."""
    return 8 * sum(MANY_NUMBERS if arrow_kind(schema.field(name).type) == LIST else 1 for name in columns)


def schema_rows(table: Any, columns: Sequence[str], what: str) -> np.ndarray:
    """Return the rows of some columns of an Arrow table or batch."""
    return np.column_stack([arrow_numbers(table.column(name), "data", name, f" of {what}") for name in columns])


def arrow_kind(dtype: Any) -> str:
    """Return what a column of an Arrow type holds."""
    from pyarrow import BaseExtensionType, FixedShapeTensorType, types

    if types.is_dictionary(dtype):
        dtype = dtype.value_type
    if types.is_integer(dtype) or types.is_floating(dtype) or types.is_boolean(dtype) or types.is_decimal(dtype):
        return NUMBER
    if isinstance(dtype, BaseExtensionType) and not isinstance(dtype, FixedShapeTensorType):
        return OTHER
    is_tensor = isinstance(dtype, FixedShapeTensorType) and len(dtype.shape) == 1
    if is_tensor or types.is_list(dtype) or types.is_large_list(dtype) or types.is_fixed_size_list(dtype):
        return LIST if arrow_kind(dtype.value_type) == NUMBER else NESTED
    is_text = str(dtype) in ("string", "large_string", "string_view")
    return OTHER if is_text or types.is_temporal(dtype) or types.is_null(dtype) else NESTED


def arrow_numbers(column: Any, argument: str, name: str, where: str = "") -> np.ndarray:
    """Return a column of numbers (n,), or of lists of one length (n, k)."""
    import pyarrow.compute

    _check_gaps(column.null_count, argument, name, where)
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pyarrow.ExtensionArray):
        column = column.storage
    if arrow_kind(column.type) == LIST:
        flat = arrow_numbers(column.flatten(), argument, name, where)
        lengths = np.unique(pyarrow.compute.list_value_length(column).to_numpy(zero_copy_only=False))
        _check_one_length(lengths, argument, name, where)
        return flat.reshape(len(column), -1 if len(flat) else 0)
    if pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pyarrow.types.is_decimal(column.type):
        column = column.cast(pyarrow.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _series_numbers(column: Any, argument: str, name: str) -> np.ndarray | None:
    """Return a column of a frame as numbers (n,), or of lists (n, k); None of anything else."""
    dtype = column.dtype
    check_length(column, argument)
    if getattr(dtype, "kind", "O") in "biuf":
        if not isinstance(dtype, np.dtype):  # NaN in those of NumPy is reported with its row
            _check_gaps(int(column.isna().sum()), argument, name)
            dtype = getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", np.float64))
        return np.asarray(column.to_numpy(dtype=dtype))
    values = np.asarray(column)
    return values if values.dtype.kind in "biuf" else stacked_lists(values, argument, name)


def stacked_lists(values: np.ndarray, argument: str, name: str = "") -> np.ndarray | None:
    """Return objects (n,) that are lists or vectors of numbers, of one length, as rows (n, k); None of others."""
    if values.ndim != 1:
        return None
    is_list = [isinstance(item, (list, tuple)) or getattr(item, "ndim", 0) == 1 for item in values]
    if not any(is_list):
        return None
    _check_gaps(len(is_list) - sum(is_list), argument, name)
    _check_one_length(np.unique([len(item) for item in values]), argument, name)
    try:
        stacked = np.stack([np.asarray(item) for item in values])
    except (TypeError, ValueError, RuntimeError):
        return None
    return stacked if stacked.dtype.kind in "biuf" and stacked.ndim == 2 else None


def _check_gaps(gaps: int, argument: str, name: str, where: str = "") -> None:
    if gaps:
        count = f"{gaps} value{' is' if gaps == 1 else 's are'} missing"
        raise InvalidInput(argument, count + (f" in column {shown(name)}{where}" if name else ""), FIX_GAPS)


def _check_one_length(lengths: np.ndarray, argument: str, name: str, where: str = "") -> None:
    if len(lengths) > 1:
        held = f"column {shown(name)}{where} has " if name else "has "
        seen = f"{held}lists of {lengths[0]} to {lengths[-1]} numbers"
        raise InvalidInput(argument, seen, "Give lists of one length: one number for each feature")
