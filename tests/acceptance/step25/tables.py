"""Names travel with data: random tables of every kind at every entry, in one order or with one party turned."""

import numpy as np
import pandas as pd

import nbmetrics as nm
from tests.acceptance.harness import Part, share
from tests.test_tables import ENTRIES, TABLES

NAMES = ("age", "dose", "area", "weight")
CALLS = 30


def frames(rng):
    """Rows of two parties with columns of unlike scales, so that another order is another number."""
    scale = np.diag(rng.uniform(0.5, 8.0, 3))
    return [rng.normal(size=(n, 3)) @ scale + rng.uniform(-20, 20, 3) for n in (60, 50)]


def orders(seed):
    """Each call: the right value in one order, and in another a refusal that names a column."""
    rng = np.random.default_rng(seed)
    done = {"calls": 0, "right": 0, "refused": 0, "silent": [], "raised": []}
    for _ in range(CALLS):
        entry, kind = str(rng.choice([*ENTRIES])), str(rng.choice([*TABLES]))
        (a, b), names = frames(rng), list(rng.permutation(NAMES)[:3])
        make = TABLES[kind]
        turned = names[1:] + names[:1] if rng.random() < 0.5 else names[::-1]
        first, second = pd.DataFrame(a, columns=names), pd.DataFrame(b, columns=names)
        where = f"{entry}, {kind}"
        done["calls"] += 1
        try:
            same = ENTRIES[entry](make(first), make(second))
            done["right"] += bool(np.allclose(same, ENTRIES[entry](a, b), rtol=1e-9))
            ENTRIES[entry](make(first), make(second[turned]))
            done["silent"].append(where)
        except nm.InvalidInput as error:
            done["refused"] += "same columns in the same order" in str(error)
        except Exception as error:  # what is not InvalidInput is a fault
            done["raised"].append(f"{where}: {type(error).__name__}")
    return done


def judge_orders(results):
    """All calls right and refused, none silent."""
    calls, right, refused = (sum(r[k] for r in results) for k in ("calls", "right", "refused"))
    wrong = [w for r in results for w in (*r["silent"], *r["raised"])]
    return [
        (right == calls, f"the same order has the value of the arrays: {share(right, calls)}"),
        (refused == calls, f"another order is refused, with the fix: {share(refused, calls)} {wrong[:5]}"),
    ]


def labels(seed):
    """A label among the features is cautioned; frames of features, whole numbers among them, are not."""
    rng = np.random.default_rng(seed)
    a, b = (pd.DataFrame(rows, columns=["u", "v", "w"]) for rows in frames(rng))
    classes = int(rng.integers(2, 200))
    name = str(rng.choice(["label", "labels", "target", "class", "id", "user_id", "patient_id", "idx", "index"]))
    healthy = str(rng.choice(["age", "visits", "weekday", "width", "video", "valid", "grid", "classic"]))

    def lines(column):
        first, second = (f.assign(**{column: rng.integers(0, classes, len(f))}) for f in (a, b))
        cautions = nm.evaluate({"x": first}, {"g": second}, "fid").cautions
        return sum(line.startswith(("Column", "The values of")) for line in cautions)

    bits = [(f.to_numpy("f4").view("u4") >> 16).astype("u2") for f in (a, b)]
    told = nm.evaluate({"x": bits[0]}, {"g": bits[1]}, "fid").cautions
    return {
        "label": lines(name) == 1,
        "healthy": lines(healthy) == 0,
        "bits": any("bfloat16" in line for line in told),
    }


def judge_labels(results):
    """Every label and all bits are told, and no healthy column is."""
    n = len(results)
    told, quiet, bits = (sum(r[k] for r in results) for k in ("label", "healthy", "bits"))
    return [
        (told == n, f"a label or an id is cautioned: {share(told, n)}"),
        (quiet >= 0.99 * n, f"whole numbers of other names are not: {share(quiet, n)}"),
        (bits == n, f"bits of bfloat16 are cautioned: {share(bits, n)}"),
    ]


PARTS = [Part("tables", orders, judge_orders, 5, 200), Part("labels", labels, judge_labels, 60, 2000)]
