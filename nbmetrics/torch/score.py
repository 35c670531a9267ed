"""Score: rows go in batch by batch, in as many processes as there are; avg, all, gap and intra come out.

Of each client only sums are kept (`capabilities.Sums`), about one centre, float64. A process takes the mean of its
first batch for its centre. Before sums of several processes are added, all move theirs to the centre of the first
process that has one, which is exact; so `update` waits for no other process, and one without rows is in nobody's way.
The state says which clients and settings it is of (`identity`): sums are added by name, and others are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import Tensor

from ..arrays import LARGEST, align, as_rows, mean_rows, to_numpy
from ..errors import InvalidInput, check_choice, check_flag, check_list, check_named_weights, check_names, shown
from ..evaluation.cells import Cells, KeptCells, PoolOnlyClient, mixture_or_refusal
from ..federation.image_sources import are_images, extraction_of, features_of
from ..metrics.base import Sample, metric_of
from ..metrics.fid.metric import FID
from ..tables import check_same_order, column_names, is_table
from .accumulator import Accumulator, gather_all
from .identity import MAX_BYTES, Identity, check_same, listed

# Why `Score` is no `torchmetrics.Metric`, "" where it is one.
WITHOUT_TORCHMETRICS = ""
if TYPE_CHECKING:
    Base = Accumulator
else:
    try:
        from torchmetrics import Metric as Base
    except ImportError:
        Base, WITHOUT_TORCHMETRICS = Accumulator, "torchmetrics is not installed"
    except Exception as why:  # as where torchvision, which it imports, is built for another torch
        Base, WITHOUT_TORCHMETRICS = Accumulator, f"torchmetrics does not import: {shown(why, 200)}"

ONE_CLIENT = "Client 1"
# What `generated_kind` holds: nothing came yet, rows for all clients together, or rows that name their client.
NONE, WHOLE, BY_CLIENT = 0, 1, 2
# Rows, and sums over them of cubes of the largest features that rows may have, of states from elsewhere.
MAX_ROWS, MAX_SUM = 10**12, 1e150
MAX_STATE_BYTES = 2**36
STATES = ("centre", "generated_kind", "real_sums", "generated_sums")


class Score(Base):
    """Scores of a generator over clients, from batches: update(), then compute().

    A `torchmetrics.Metric` where torchmetrics is installed, with the same interface where not: Lightning, Accelerate
    and plain `torch.distributed` add the sums of all processes in `compute`.

    Parameters
    ----------
    metric : "fid", "kid", `nm.metrics.KID(nm.RandomFeatures(…))`, or a metric of yours with `additive_sums`. KID of the
        cubic kernel is exact up to 64 features, and refused beyond
    clients : list of names, or of whole numbers that stand for them; by default all rows are of one client. Sums of
        other processes and from checkpoints are added by name
    weights : λ of the clients, a sequence or a dict by name; by default their shares of the real rows seen
    extractor : what makes rows of images, where batches are images: a name, module or function as `nm.extract` takes
        it, or `federation.extraction`; a module runs on its own device
    settings : of `torchmetrics.Metric`, such as process_group and sync_on_compute

    Attributes
    ----------
    convention : str, how the numbers are made
    clients : tuple of str
    cautions : list of str, of the last `compute`: bias of few rows, gaps that are sample size

    Notes
    -----
    The values are those of `nm.evaluate` on the same rows, in the columns intra, avg, all and gap: plain ones, without
    the correction for few rows that `uncertainty=` adds. Sums are float64 about the mean of the first batch, so the
    size of batches moves no more than the last digits, and memory does not grow with the rows: about d² numbers a
    client for FID and C(d + 3, 3) for KID. FID of features that depend linearly on one another is right to about 1e-7
    of its scale. An extractor must not be trained between the batches.

    Raises
    ------
    InvalidInput
        For a metric without such sums, an unknown client, clients in no order, such as a set, states of other clients,
        weights or settings, and as `nm.evaluate` for rows.

    Examples
    --------
    >>> from nbmetrics.torch import Score
    >>> rng = np.random.default_rng(0)
    >>> real, made = {"lyon": rng.normal(size=(200, 3)), "oslo": rng.normal(1, 1, (100, 3))}, rng.normal(size=(90, 3))
    >>> score = Score("fid", clients=["lyon", "oslo"])
    >>> for name, rows in real.items():
    ...     score.update(rows, real=True, client=name)
    >>> score.update(made, real=False)
    >>> row = nm.evaluate(real, {"g": made}, "fid").table.iloc[0]
    >>> all(abs(float(score.compute()[part]) - row[part]) < 1e-12 for part in ("avg", "all", "gap"))
    True
    """

    full_state_update = False
    is_differentiable = False
    centre: Tensor
    generated_kind: Tensor
    real_sums: Tensor
    generated_sums: Tensor
    identity: Tensor

    def __init__(
        self, metric: Any = "fid", clients: Any = None, *, weights: Any = None, extractor: Any = None, **settings: Any
    ) -> None:
        super().__init__(**settings)
        self.metric = metric_of(metric, "metric")
        self.metric.additive_sums(1)  # what has none is refused now
        self.clients = (ONE_CLIENT,) if clients is None else _client_names(clients)
        self._places = {name: position for position, name in enumerate(self.clients)}
        self.is_one_client = clients is None
        self.weights = None if weights is None else check_named_weights(weights, self.clients)
        self.extraction = extraction_of(extractor)
        # Of the rows so far, and whether some of them were made here.
        self._extracted_by: str | None = None
        self._has_extracted = False
        self._columns: tuple[str, ...] | None = None  # of the first table
        self._cautions: list[str] = []
        # `_sync_dist` and `merge_state` add states; the reductions only say how they are added once they are aligned.
        self.add_state("identity", self._identity.to_tensor(), dist_reduce_fx=_first)
        self.add_state("centre", _zeros(0), dist_reduce_fx=_first)
        self.add_state("generated_kind", _zeros(1), dist_reduce_fx="max")
        self.add_state("real_sums", _zeros(0, 0), dist_reduce_fx="sum")
        self.add_state("generated_sums", _zeros(0, 0), dist_reduce_fx="sum")

    @property
    def higher_is_better(self) -> bool:
        """The direction of the metric."""
        return self.metric.higher_is_better

    @property
    def convention(self) -> str:
        """How the numbers are made."""
        how = "from sums over the rows of each client; plain scores, not corrected for few rows"
        return "; ".join(filter(None, [self.metric.convention, how, self._extracted_by]))

    @property
    def cautions(self) -> list[str]:
        """What to know before the values of the last `compute` are believed, as under a table of `nm.evaluate`."""
        return list(self._cautions)

    @property
    def update_called(self) -> bool:
        """Whether this process has rows."""
        return self._has_centre

    def extra_repr(self) -> str:
        clients = "one client" if self.is_one_client else f"{len(self.clients)} clients"
        return f"{self.metric.name}, {clients}"

    def forward(self, *args: Any, **kwargs: Any) -> None:
        """As `update`: a batch is one side alone, and has no score of its own."""
        self.update(*args, **kwargs)

    def update(self, batch: Any, real: bool, client: Any = None) -> None:
        """Add a batch of rows or images.

        Parameters
        ----------
        batch : (n, d) rows, torch or NumPy, of any type of real numbers; or images, where there is an extractor
        real : True for rows of clients, False for generated ones
        client : the client of all rows, or one for each row; for generated rows the client that they were made for, of
            all batches or of none

        A batch without rows adds nothing. Raises InvalidInput for NaN or infinity, another number of features than
        before, a client that is not known or missing, and generated rows that name a client if others did not; nothing
        is added then.
        """
        is_real = check_flag(real, "real")
        if not len(batch) if is_table(batch) else getattr(batch, "ndim", 0) and not batch.shape[0]:
            return
        rows = self._rows_of(batch)
        kind = WHOLE if client is None else BY_CLIENT
        if not is_real and self._kind not in (NONE, kind):
            raise _mixed_kinds()
        positions = self._positions(rows.shape[0], client, is_real)
        sums = self.metric.additive_sums(rows.shape[1])
        self._check_memory(rows.shape[1], sums.length)
        centre = self.centre if self._has_centre else mean_rows(rows)
        added = {i: sums.of_rows(rows if at is None else rows[at], centre) for i, at in positions.items()}
        if self._columns is None and (columns := column_names(batch)):
            self._set_origin(self._extracted_by, columns)
        with torch.inference_mode(False):
            self._store(centre.clone(), NONE if is_real else kind, sums.length)
            states = self.real_sums if is_real else self.generated_sums
            for position, numbers in added.items():
                states[position] += numbers

    def compute(self) -> dict[str, Tensor]:
        """Return avg, all and gap of all rows so far, of all processes, each a float64 tensor without axes.

        intra comes first where generated rows name clients. Raises InvalidInput where a side has no rows, or a client
        with a weight has fewer than 2.
        """
        try:
            values = self._scores()
        except BaseException:
            # torchmetrics would keep the sums of all processes in the place of this one's
            if Base is not Accumulator and self._is_synced and self._should_unsync:
                self.unsync()
            raise
        return {part: torch.tensor(value, dtype=torch.float64, device=self.centre.device) for part, value in values}

    def reset(self) -> None:
        """Forget all rows."""
        super().reset()
        self._set_origin(None, None)
        self._has_extracted, self._cautions = False, []

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Raise InvalidInput: sums have no picture; those of `nm.evaluate` and `nm.Monitor` have."""
        fix = "Log the values of compute(), or use nm.Monitor, or nm.evaluate(…).plot() on the rows"
        raise InvalidInput("plot", "a Score keeps sums, of which there is no picture", fix)

    def merge_state(self, incoming_state: Score | Mapping[str, Tensor]) -> None:
        """Add the rows that another `Score` of the same metric and clients has, or its `metric_state`."""
        own_state = incoming_state.metric_state if isinstance(incoming_state, Score) else incoming_state
        state = self._checked(own_state, "incoming_state")
        both = [self._aligned(own, [self.metric_state, state]) for own in (self.metric_state, state)]
        self._computed = None
        for name in STATES:
            here, there = (own[name].to(self.centre.device) for own in both)
            setattr(self, name, here + there if name.endswith("sums") else here)
        self._set_origin(self._extracted_by or state["extractor"], self._columns or state["columns"])

    # ---- one batch

    @property
    def _has_centre(self) -> bool:
        return self.centre.numel() > 0

    @property
    def _kind(self) -> int:
        return int(self.generated_kind[0])

    @property
    def _identity(self) -> Identity:
        metric = f"{shown(self.metric.name)} ({self.metric.canonical.convention})"
        weights = self.weights or [None] * len(self.clients)
        return Identity(metric, dict(zip(self.clients, weights, strict=True)), self._extracted_by, self._columns)

    def _set_origin(self, extractor: str | None, columns: tuple[str, ...] | None) -> None:
        """Keep what made rows of images, and what the features are called, in the state too."""
        self._extracted_by, self._columns = extractor, columns
        self.identity = self._identity.to_tensor().to(self.centre.device)

    def _rows_of(self, batch: Any) -> Tensor:
        """The rows of a batch on the device of the sums, checked."""
        if are_images(batch):
            if self.extraction is None:
                seen = f"is images of shape {tuple(batch.shape)}" if hasattr(batch, "shape") else "is images"
                fix = 'Give Score(…, extractor=), such as "inception-v3-compat", or flatten each item to one row'
                raise InvalidInput("batch", f"{seen}, and there is no extractor", fix)
            batch, self._has_extracted = features_of(batch, self.extraction, "batch"), True
            if self._extracted_by is None:  # after the first images, whose size some extractors name
                self._set_origin(self.extraction.convention, self._columns)
        check_same_order([("the first batch", self._columns), ("batch", column_names(batch))])
        rows = as_rows(batch, "batch", dim=self.centre.numel() or None)
        return align(rows, self.centre)[0].to(self.centre.device)

    def _check_memory(self, dim: int, length: int) -> None:
        """Raise InvalidInput for features of which the sums take too much memory."""
        count = len(self.clients)
        if 8 * length * count > MAX_STATE_BYTES:
            parties = f"{count:,} client{'s' * (count > 1)}"
            seen = f"has {dim:,} features: the sums of {parties} take {8e-9 * length * count:,.0f} GB"
            raise InvalidInput("batch", seen, "Give fewer features or clients, or the rows to nm.evaluate")

    def _positions(self, count: int, client: Any, is_real: bool) -> dict[int, Tensor | None]:
        """The places of the clients of a batch, and which rows are of each; None for all of them."""
        if client is None:
            if is_real and not self.is_one_client:
                raise InvalidInput("client", "is missing", f"Name the client of these rows: {listed(self.clients)}")
            return {0: None}
        if self.is_one_client:
            seen = f"names {shown(client)}, and this Score has no clients"
            raise InvalidInput("client", seen, "Give Score(…, clients=[…]) their names, or leave client out")
        if isinstance(client, (str, int, np.integer)) or getattr(client, "ndim", None) == 0:
            return {self._position(client): None}
        names = check_list(_plain(client), "client")
        if len(names) != count:
            raise InvalidInput("client", f"has {len(names)} names for {count} rows", "Give one, or one for each row")
        positions = [self._position(name) for name in names]
        places = torch.tensor(positions, device=self.centre.device)
        return {place: places == place for place in dict.fromkeys(positions)}

    def _position(self, name: Any) -> int:
        text = _text(name)
        position = self._places.get(text) if isinstance(text, str) else None
        return self.clients.index(check_choice(text, self.clients, "client")) if position is None else position

    def _store(self, centre: Tensor, kind: int, length: int) -> None:
        """Make room for sums, and states that can be written to."""
        if not self._has_centre:
            self.centre, self.real_sums = centre, centre.new_zeros(len(self.clients), length)
        if kind != NONE and self._kind == NONE:
            self.generated_kind = torch.full_like(self.generated_kind, float(kind))
            self.generated_sums = self._no_sums(kind, self.real_sums)
        for name in ("real_sums", "generated_sums"):
            if (state := getattr(self, name)).is_inference():
                setattr(self, name, state.clone())

    def _no_sums(self, kind: int, real_sums: Tensor) -> Tensor:
        parties = {NONE: 0, WHOLE: 1, BY_CLIENT: len(self.clients)}[kind]
        return real_sums.new_zeros(parties, real_sums.shape[1])

    # ---- several processes

    def _sync_dist(self, dist_sync_fn: Callable[..., list[Tensor]] = gather_all, process_group: Any = None) -> None:
        """Add the sums of all processes, moved to one centre, each client's by its name.

        Every process compares the same facts, so all raise the same InvalidInput or none does, and none waits.
        """
        gather = partial(dist_sync_fn, group=process_group or self.process_group)
        identities = [cast(Identity, Identity.parse(part)) for part in gather(self.identity)]
        check_same([(f"process {k}", identity) for k, identity in enumerate(identities)])
        orders = [self._identity.places_in(identity) for identity in identities]
        parts = gather(torch.cat([self.generated_kind, self.centre]))
        states = self._aligned(self.metric_state, [{"generated_kind": part[:1], "centre": part[1:]} for part in parts])
        for name in ("real_sums", "generated_sums"):
            states[name] = sum(_in_order(part, order) for part, order in zip(gather(states[name]), orders, strict=True))
        for name, state in states.items():
            setattr(self, name, state)

    def _aligned(self, own: Mapping[str, Tensor], states: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
        """One process's states about the centre of the first that has one, and of the shapes that all have."""
        centres = [state["centre"] for state in states if state["centre"].numel()]
        kinds = {int(state["generated_kind"][0]) for state in states} - {NONE}
        if len(kinds) > 1:
            raise _mixed_kinds()
        if len(widths := {centre.numel() for centre in centres}) > 1:
            seen = f"has {' features in one process and '.join(map(str, sorted(widths)))} in another"
            raise InvalidInput("batch", seen, "Use the same features in all processes")
        if not centres:
            return dict(own)
        sums, centre = self.metric.additive_sums(centres[0].numel()), centres[0].to(own["centre"].device)
        real = own["real_sums"]
        if not own["centre"].numel():
            real = real.new_zeros(len(self.clients), sums.length)
        kind = max(kinds, default=NONE)
        generated = own["generated_sums"] if int(own["generated_kind"][0]) else self._no_sums(kind, real)
        shift = centre - own["centre"] if own["centre"].numel() else centre * 0.0
        if bool((shift != 0.0).any()):
            real, generated = (
                torch.stack([sums.moved(numbers, own["centre"], shift) for numbers in some]) if len(some) else some
                for some in (real, generated)
            )
        return dict(zip(STATES, (centre, torch.full_like(own["generated_kind"], kind), real, generated), strict=True))

    # ---- states from elsewhere

    def _apply(self, fn: Callable[[Tensor], Tensor], *args: Any, **kwargs: Any) -> Any:
        """Move to another device; the sums stay float64, and where a device has none of these, where they are."""

        def move(tensor: Tensor) -> Tensor:
            device = fn(torch.empty(0, device=tensor.device)).device
            return tensor if device.type == "mps" else tensor.to(device)

        return super()._apply(move, *args, **kwargs)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        names = [name for name in (*STATES, "identity") if prefix + name in state_dict]
        state = self._checked({name: state_dict[prefix + name] for name in names}, "state_dict") if names else {}
        self._computed, device = None, self.centre.device
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
        if names:
            self._set_origin(state.pop("extractor"), state.pop("columns"))
            self._has_extracted = False
        for name in state:  # sums are added in place, and a checkpoint is left as it is
            setattr(self, name, state[name].to(device, copy=True))

    def _checked(self, state: Any, argument: str) -> dict[str, Any]:
        """Return states from elsewhere with the clients in this order, and their `extractor` and `columns`.

        Raises InvalidInput for states that are not of this metric and these clients, or of no rows.
        """
        fix = "Give the metric_state of a Score of the same metric and clients"
        if not isinstance(state, Mapping):
            raise InvalidInput(argument, f"got {shown(state)}", fix)
        if missing := [name for name in STATES if not torch.is_tensor(state.get(name))]:
            raise InvalidInput(argument, f"lacks {listed(missing)}", fix)
        own, order, is_empty = self._identity, None, not state["centre"].numel()
        other = Identity.parse(state.get("identity"), max(MAX_BYTES, 4 * self.identity.numel()))
        if other is None and "identity" in state:
            raise InvalidInput(argument, "has a damaged identity", fix)
        # of an empty state, and of FID of one client, which has no settings, nothing can be mistaken
        if other is None and not is_empty and not (self.is_one_client and isinstance(self.metric, FID)):
            seen = "has no client names: an older nbmetrics saved it, which did not keep names and settings"
            fix = "Update a new Score, and load the rest without the score's entries (centre, real_sums, …)"
            raise InvalidInput(argument, seen, fix)
        if argument == "state_dict":  # it takes the place of the rows so far
            own = own._replace(extractor=None, columns=None)
        if other is not None and not (is_empty and argument == "state_dict"):
            check_same([("this Score", own), ("the state", other)], argument)
            order = own.places_in(other)
        if fault := self._fault(*(state[name] for name in STATES)):
            raise InvalidInput(argument, fault, fix)
        moved = {name: _in_order(state[name], order) if name.endswith("sums") else state[name] for name in STATES}
        return {**moved, "extractor": other and other.extractor, "columns": other and other.columns}

    def _fault(self, centre: Tensor, kind: Tensor, real: Tensor, generated: Tensor) -> str:
        """Return why states cannot be of rows of this metric and these clients, or ""."""
        limits = (centre, LARGEST), (kind, BY_CLIENT), (real, MAX_SUM), (generated, MAX_SUM)
        if not all(_is_bounded(*limit) for limit in limits):
            return "has numbers that are not float64, not finite or too large"
        kinds = (NONE, WHOLE, BY_CLIENT) if centre.numel() else (NONE,)
        if centre.ndim != 1 or kind.shape != (1,) or float(kind[0]) not in kinds:
            return f"has a centre of shape {tuple(centre.shape)}, and generated_kind is {shown(kind.tolist())}"
        sums = self.metric.additive_sums(max(centre.numel(), 1))
        made_for = {NONE: (), WHOLE: ("all clients",), BY_CLIENT: self.clients}[int(kind[0])]
        for what, parties, numbers in (("real", self.clients, real), ("generated", made_for, generated)):
            shape = len(parties), sums.length if centre.numel() else 0
            if numbers.shape != shape and (numbers.numel() or all(shape)):
                return f"has {what}_sums of shape {tuple(numbers.shape)}, and {shape} is needed"
            for name, row in zip(parties, to_numpy(numbers), strict=False):  # an empty state has no rows of numbers
                if fault := _fault_of(sums, row, to_numpy(centre)):
                    return f"has {what} sums of {shown(name)} that no rows have: {fault}"
        return ""

    # ---- the scores

    def _scores(self) -> list[tuple[str, float]]:
        real, generated = to_numpy(self.real_sums), to_numpy(self.generated_sums)
        for what, argument, rows in (("real", "True", real), ("generated", "False", generated)):
            if not rows.size or not rows[:, 0].any():
                raise InvalidInput("compute", f"there are no {what} rows yet", f"Call update(batch, real={argument})")
        if self._has_extracted and self._extracted_by != self.extraction.convention:
            seen = f"made rows as {shown(self._extracted_by, 200)}, and is {shown(self.extraction.convention, 200)} now"
            raise InvalidInput("extractor", seen, "Give a copy of the network that is not trained")
        centre = to_numpy(self.centre)
        metric, sums = self.metric.centred_at(centre), self.metric.additive_sums(len(centre))
        weights = self.weights or tuple((real[:, 0] / real[:, 0].sum()).tolist())

        def summary(numbers: np.ndarray, who: str) -> Any:
            if not numbers[0]:
                return InvalidInput(who, "has no rows", "Give it rows, or a weight of 0")
            whole = sums.summary(numbers, centre)
            if numbers[0] >= metric.min_rows:
                return whole
            seen = f"has 1 row, and {metric.label} needs {metric.min_rows}"
            return PoolOnlyClient(InvalidInput(who, seen, "Give it more rows, or a weight of 0"), whole)

        clients = tuple(summary(row, f"client {name!r}") for name, row in zip(self.clients, real, strict=True))
        is_by_client = self._kind == BY_CLIENT
        names = [f"generated rows for client {name!r}" for name in self.clients] if is_by_client else ["generated rows"]
        answers = tuple(summary(row, who) for row, who in zip(generated, names, strict=True))
        without = [c for c in clients if isinstance(c, InvalidInput) and not isinstance(c, PoolOnlyClient)]
        if self.weights is None and without:  # which would have a weight of 0 unasked
            raise without[0]
        whole = mixture_or_refusal(metric, answers, weights) if is_by_client else answers[0]
        shares: dict[str, Any] = {"answers": (answers if is_by_client else None,), "is_by_client": (is_by_client,)}
        cells = Cells(metric, weights, clients, (whole,), **shares, **_rows_seen(metric, real, generated, len(centre)))
        cells = cells.with_scores(lambda: None, KeptCells())
        columns = _values(cells)
        self._cautions = [*cells.cautions, *cells.remarks(), *cells.size_gap_caution(["the generator"])]
        return columns


def _values(cells: Cells) -> list[tuple[str, float]]:
    """The columns of the only generator; InvalidInput where one has no value."""
    columns = {name: float(getattr(cells, name)[0]) for name in cells.aggregates}
    counted = [i for i, weight in enumerate(cells.weights) if weight]
    rows = [row[0] for row in (cells.client_cells, cells.own_cells) if row]
    for cell in [*(row[i] for row in rows for i in counted), *cells.pooled_cells]:
        if cell.refusal is not None:
            raise cell.refusal
    return [*columns.items(), ("gap", columns["avg"] - columns["all"])]


def _rows_seen(metric: Any, real: np.ndarray, generated: np.ndarray, dim: int) -> dict[str, Any]:
    """What cautions look at: stand-ins for the rows, which are counted and not there; of parts made for each client the
    smallest."""
    counts, of_generated = (sorted(int(numbers[0]) for numbers in side if numbers[0]) for side in (real, generated))
    stand_ins = {n: Sample(rows=np.broadcast_to(0.0, (n, dim))) for n in (*counts, *of_generated)}
    clients = tuple(stand_ins[n] for n in counts)
    span = f"{counts[0]:,} to " * (counts[0] < counts[-1]) + f"{counts[-1]:,} rows per client"
    cautions = tuple(metric.cautions(clients, [stand_ins[of_generated[0]]]))
    return {"clients": clients, "cautions": cautions, "span": span, "sent": (span,)}


def _in_order(sums: Tensor, order: list[int] | None) -> Tensor:
    """Sums of the clients in another order; one sum for all clients has none."""
    return sums if order is None or len(sums) != len(order) else sums[order]


def _fault_of(sums: Any, numbers: np.ndarray, centre: np.ndarray) -> str:
    """Return why no rows have these sums of one party, or ""."""
    if not 0.0 <= (count := numbers[0]) <= MAX_ROWS or count != int(count):
        return f"{count:g} rows"
    if not count:
        return "sums of 0 rows that are not 0" if numbers.any() else ""
    return str(sums.fault(numbers, centre)) if hasattr(sums, "fault") else ""


def _is_bounded(state: Tensor, most: float) -> bool:
    """Whether a state is numbers within ±most."""
    is_read = state.dtype == torch.float64 and state.layout == torch.strided and not state.is_meta
    return is_read and bool((state.abs() <= most).all())  # NaN is not


def _zeros(*shape: int) -> Tensor:
    return torch.zeros(shape, dtype=torch.float64, device="cpu")


def _first(stacked: Tensor) -> Tensor:
    return stacked[0]


def _text(name: Any) -> Any:
    """A client's name; whole numbers, which labels are, stand for their digits."""
    name = _plain(name) if getattr(name, "ndim", None) == 0 else name
    return str(name) if isinstance(name, (int, np.integer)) and not isinstance(name, bool) else name


def _plain(value: Any) -> Any:
    """An array as Python's own numbers, texts and lists, where it has any."""
    try:
        return value.tolist() if hasattr(value, "tolist") else value
    except (RuntimeError, NotImplementedError, TypeError, ValueError):  # such as of a tensor without numbers
        return value


def _client_names(clients: Any) -> tuple[str, ...]:
    if isinstance(clients, (str, bytes)):
        raise InvalidInput("clients", f"got {shown(clients)}", "Give a list of names")
    if isinstance(clients, (Mapping, Iterator, Tensor)):
        seen = f"is a {type(clients).__name__}"
        raise InvalidInput("clients", seen, "Give a list of names, the same in each process; weights= takes a dict")
    names = check_names([_text(name) for name in check_list(clients, "clients")], "clients")
    if not names:
        raise InvalidInput("clients", "is empty", "Give at least one name, or leave clients out")
    return names


def _mixed_kinds() -> InvalidInput:
    seen = "is named for some generated rows, and not for others"
    return InvalidInput("client", seen, "Name it for all generated batches, or for none")
