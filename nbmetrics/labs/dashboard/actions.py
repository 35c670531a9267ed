"""Actions that change a Dashboard: generators, weights, and the regrouping of clients. All of them can be undone."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import traitlets

from ...errors import InvalidInput, check_choice, check_named_weights, check_names, shown
from ..toolkit.lab import Lab
from .background_evaluation import BackgroundEvaluation
from .changes import Change, changes_of, parse_changes
from .comparison import Comparison, ComparisonCache, Weights
from .scene import DashboardScene

# Seconds that the constructor and an edit wait for numbers that come soon.
FIRST_WAIT_SECONDS = 1.0


class DashboardActions(Lab):
    """The actions of a Dashboard on its comparison, which a background thread completes."""

    _comparisons: ComparisonCache
    _filler: BackgroundEvaluation
    _edit_lock: threading.RLock
    # The generators that it was made of.
    _initial_generators: tuple[str, ...]

    @property
    def _comparison(self) -> Comparison:
        """Return the comparison on the clients on show."""
        return self._comparisons.of(changes_of(self.scene.get("regroup", ())))

    def _comparison_of(self, scene: DashboardScene) -> Comparison:
        return self._comparisons.of(scene.regroup)

    def _publish(self) -> None:
        """Write what is known to the page."""
        raise NotImplementedError

    @property
    def weights(self) -> Weights:
        """λ of the clients, in their order. Set them as `Federation.with_weights` takes them; can be undone."""
        shares: Weights = self._scene.shares
        return shares

    @weights.setter
    def weights(self, weights: Any) -> None:
        scene, shares = self._scene, check_named_weights(weights, self._comparison.names)
        self._travel((self._history.record(scene), replace(scene, weights=shares)))

    @traitlets.observe("scene")
    def _presets_follow(self, change: Any) -> None:
        """A preset, and so Reset, shows the generators given at first and those attached since: it is of settings."""
        on_show = [
            *self._initial_generators,
            *(name for name in change["new"]["generators"] if name not in self._initial_generators),
        ]
        if any(scene["generators"] != on_show for scene in self.presets.values()):
            self._write(presets={name: {**scene, "generators": on_show} for name, scene in self.presets.items()})

    def attach(self, name: str, source: Any) -> None:
        """Show one more generator; can be undone.

        Parameters
        ----------
        name : not one that is shown already
        source : as a generator of `nm.evaluate`
        """
        (name,) = check_names([name], "name")
        with self._edit_lock:
            scene, before = self._scene, self._history
            if name in scene.generators:
                raise InvalidInput("name", f"{shown(name)} is already shown", "Remove it first, or give another name")
            if name in self._comparison.generators:  # removed before, and its source may be another now
                self._comparisons.remove(name)
            self._comparisons.add(name, source)
            self._publish()
            self._travel((before.record(scene), replace(scene, generators=(*scene.generators, name))))
            self._filler.wake()
            try:
                self._filler.wait(FIRST_WAIT_SECONDS)
            except Exception:  # of this source, as nothing was wrong before
                self._travel((before, replace(self._scene, generators=scene.generators)))  # weights may have moved
                self._comparisons.remove(name)
                self._filler.wake()
                raise

    def remove(self, name: str) -> None:
        """Take a generator off; can be undone."""
        with self._edit_lock:
            scene = self._scene
            check_choice(name, scene.generators, "name")
            if len(scene.generators) == 1:
                raise InvalidInput("name", f"{shown(name)} is the only generator", "Attach another one first")
            left = tuple(generator for generator in scene.generators if generator != name)
            chosen = "" if scene.generator == name else scene.generator
            self._travel((self._history.record(scene), replace(scene, generators=left, generator=chosen)))

    def regroup(
        self, *, merge: Mapping[str, Any] | None = None, drop: Any = (), split: Any = (), move: Any = ()
    ) -> None:
        """Go on with other clients; undo goes back to those before, and to all that is known of them.

        Classes are moved first, then clients cut, taken together and left out. Weights go with the rows: a merged
        client has the sum, a class its share of the rows. `nm.evaluate` of the same federation gives the same scores.

        Parameters
        ----------
        merge : clients to take together by the name of what they become, such as `{"coast": ["isle", "south"]}`
        drop : clients to leave out, a name or several
        split : clients to cut into their classes, a name or several; they must have labels
        move : (class, client that has it, client that gets it), or a list of such; both must have labels

        Raises
        ------
        InvalidInput
            For what cannot be done to these clients; then nothing has changed.
        """
        self._regroup(parse_changes(merge, drop, split, move))

    def _regroup(self, changes: tuple[Change, ...]) -> None:
        if not changes:
            raise InvalidInput("regroup", "changes nothing", "Give merge=, drop=, split= or move=")
        with self._edit_lock:
            scene, before = self._scene, self._history
            wanted = DashboardScene.parse(self._scene_after(scene, changes).to_json())
            self._travel((before.record(scene), wanted))
        self._filler.wake()
        try:
            self._filler.wait(FIRST_WAIT_SECONDS)
        except Exception:  # of these clients, as nothing was wrong before
            self._travel((before, scene))
            raise

    def _show_clients(self) -> None:
        """Show the clients of the scene, after others; what went wrong with those is over."""
        self._publish()
        if self._filler.error is not None:
            self._filler.wake()

    def _scene_after(self, scene: DashboardScene, changes: tuple[Change, ...]) -> DashboardScene:
        """Return the scene after changes of its clients; InvalidInput where they cannot be made."""
        wanted = (*scene.regroup, *changes)
        weights = self._comparisons.weights(scene.regroup, changes, scene.shares)
        names = self._comparisons.of(wanted).names
        return replace(
            scene,
            regroup=wanted,
            weights=weights,
            held=tuple(name for name in scene.held if name in names),
            client=scene.client if scene.client in names else "",
        )

    def what_if(
        self, *, merge: Mapping[str, Any] | None = None, drop: Any = (), split: Any = (), move: Any = ()
    ) -> Self:
        """Another Dashboard of the same generators, on other clients; this one stays as it is.

        Parameters
        ----------
        merge, drop, split, move : as for `regroup`
        """
        scene = self._scene
        *inputs, uncertainty = self._comparison.inputs_after(parse_changes(merge, drop, split, move), scene.generators)
        return type(self)(*inputs, uncertainty=uncertainty)  # type: ignore[call-arg]  # of a federation, not of a table

    def _travel(self, step: Any) -> None:
        before = self.scene["regroup"]
        super()._travel(step)
        if self.scene["regroup"] != before:
            self._show_clients()
