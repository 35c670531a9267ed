"""A lab's scene, declared once in its `scene.json`: fields with bounds and defaults, and the Python that rebuilds it.

Twin: labs/toolkit/view/schema.js · held by: tests/labs/toolkit/test_schema_page.py

    {"fields": {"rho": {"number": [-1, 1]}, "scale": {"number": [0.01, 10], "default": 1.0}, …},
     "code": ["lab = nm.CorrelationLab({rho}, {rho_hat}«, scale={scale}»)", "lab"], "aliases": {}}

A field says what its value is: `number` or `whole` from and to, `flag`, `choice` of texts, `text` of so many letters,
`name`, `names` (so many names by names), `list` of a field (`from` so many `to` so many), `record` of fields, or
`kinds`: a record whose own field `kind` (the first one where it is left out) says which fields it has. A field with a
`default` may be left out, and one that is `optional` too, which then stays out; one with `null` may be null. A field
that is a text is the one of that name in a lab's `types`. Every lab has the fields of toolkit/scene.json too.

Code is lines in which `{field}` or `{field.part}` stands for a value; `«…»` stays out where all values in it are the
defaults (or 0), and a list with `code` is a line an item, by its kind. `aliases` has the present name of what was
renamed since, null for a field that is gone: {"": {"old field": "new", "gone": null}, "view.metric": {"old choice":
"new"}}.

Rules between fields are code: `check` and `complete` here, `refusal` and `complete` in the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self

from ...errors import (
    InvalidInput,
    check_choice,
    check_count,
    check_names,
    check_number,
    check_text,
    shown,
)
from .fields import facts, fields_of, listed, loaded

Field = Mapping[str, Any]
_COMMON = facts(__package__, "scene.json")
# Steps of a history.
REMEMBERED = int(_COMMON["remembered"])
_OPTIONAL_SEGMENT = re.compile("«([^«»]*)»")
_PLACE = re.compile(r"\{(\w+(?:\.\w+)*)\}")


@dataclass(frozen=True)
class DeclaredScene:
    """What every scene can do; a subclass lists its attributes, and `scene.json` beside it says the rest."""

    declared: ClassVar[Mapping[str, Any]]
    preset: str = field(default="", kw_only=True)
    rev: int = field(default=0, kw_only=True)

    def __init_subclass__(cls, types: Mapping[str, Any] | None = None) -> None:
        package = cls.__module__.rpartition(".")[0]
        cls.declared = declare(facts(package, "scene.json"), types or {})
        for name, one in cls.declared["fields"].items():
            if name not in _COMMON["fields"]:
                if "default" in one:
                    setattr(cls, name, field(default_factory=partial(read, one["default"], one, name)))
                elif "optional" in one:
                    setattr(cls, name, None)

    @classmethod
    def parse(cls, value: Any) -> Self:
        """Return the scene of a dict (or JSON text); raises `InvalidInput` naming the field that is wrong."""
        scene = cls(**cls.complete(cls.read_fields(value)))
        scene.check()
        return scene

    @classmethod
    def read_fields(cls, value: Any) -> dict[str, Any]:
        """Return the fields of a scene's dict or JSON text, defaults filled in."""
        given = loaded(value, "scene") if isinstance(value, str) else value
        for path, names in cls.declared.get("aliases", {}).items():
            given = _rename(given, path.split(".") if path else [], names)
        return _read_record(given, cls.declared["fields"], "")

    @classmethod
    def complete(cls, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields with those that follow from others, and as the attributes of the scene."""
        return fields

    def check(self) -> None:
        """Raise `InvalidInput` where fields do not fit one another."""

    def to_json(self) -> dict[str, Any]:
        """Return the dict that `parse` reads and the view shows."""
        fields = self.declared["fields"].items()
        values = {name: _plain(getattr(self, name)) for name, _ in fields}
        return {name: values[name] for name, one in fields if values[name] is not None or "optional" not in one}

    def at(self, rev: int) -> Self:
        """Return the same scene as revision `rev`."""
        return replace(self, rev=rev)

    def to_code(self, making: str = "") -> str:
        """Return Python that rebuilds exactly this scene, in the lab that `making` makes where it is of other data."""
        return self.fill_template(making=making)

    def fill_template(self, template: str = "code", **texts: str) -> str:
        """Return a template of scene.json with this scene's values, and `texts` in the places of their names."""
        return code_of(self.declared, self.to_json(), template, **texts)

    @classmethod
    def presets(cls) -> dict[str, Self]:
        """Return the scenes of presets.json, beside the class, by name."""
        package = cls.__module__.rpartition(".")[0]
        return {name: cls.parse({**one, "preset": name}) for name, one in facts(package, "presets.json").items()}


def declare(content: Mapping[str, Any], types: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the content of a scene.json with the fields of every scene, and with types in place of their names."""
    fields = {**content["fields"], **_COMMON["fields"]}
    code = {name: _COMMON[name] for name in ("code", "opening")}
    return {**code, **content, "fields": {name: _resolve(one, types) for name, one in fields.items()}}


def _resolve(one: Any, types: Mapping[str, Any]) -> Field:
    if isinstance(one, str):
        return _resolve(types[one], types)
    if "list" in one:
        return {**one, "list": _resolve(one["list"], types)}
    if "record" in one:
        return {**one, "record": {name: _resolve(part, types) for name, part in one["record"].items()}}
    if "kinds" in one:
        kinds = {kind: {n: _resolve(types[n], types) for n in names} for kind, names in one["kinds"].items()}
        return {**one, "kinds": kinds}
    return one  # type: ignore[no-any-return]


def choices(scene: type[DeclaredScene], *path: str) -> tuple[str, ...]:
    """Return what a field may be, or a part of a field."""
    one = scene.declared["fields"][path[0]]
    for name in path[1:]:
        one = one["record"][name]
    return tuple(one["choice"])


def _rename(value: Any, path: list[str], names: Mapping[str, str | None]) -> Any:
    """Return `value` with what stands at `path` renamed: a text, or the fields of a record, without those gone."""
    if isinstance(value, (list, tuple)):
        return [_rename(part, path, names) for part in value]
    if path:
        is_there = isinstance(value, Mapping) and path[0] in value
        return {**value, path[0]: _rename(value[path[0]], path[1:], names)} if is_there else value
    if isinstance(value, Mapping):
        return {names.get(name, name): part for name, part in value.items() if names.get(name, "") is not None}
    return names.get(value, value) if isinstance(value, str) else value


# --- reading


def read(value: Any, one: Field, where: str) -> Any:
    """Return `value`, if it is what the field `one` says; `InvalidInput` names `where`."""
    if value is None and "null" in one:
        return None
    kind = next(name for name in _READERS if name in one)
    return _READERS[kind](value, one, where)


def _read_number(value: Any, one: Field, where: str) -> float:
    low, high = one["number"]
    return check_number(_no_text(value, where), where, minimum=low, maximum=high)


def _read_whole(value: Any, one: Field, where: str) -> int:
    low, high = one["whole"]
    return check_count(_no_text(value, where), where, minimum=low, maximum=high)


def _no_text(value: Any, where: str) -> Any:
    """Return `value`, unless Python would read it as a number and the page would not."""
    if isinstance(value, (str, bytes, bool)):
        raise InvalidInput(where, f"got {shown(value)}", "Give a number")
    return value


def _read_flag(value: Any, _: Field, where: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(where, f"got {shown(value)}", "Give True or False")
    return value


def _read_names(value: Any, one: Field, where: str) -> dict[str, str]:
    if not isinstance(value, Mapping) or len(value) > one["names"]:
        raise InvalidInput(where, f"got {shown(value)}", f"Give a dict of at most {one['names']} names, by names")
    return {name: check_names([value[name]], where)[0] for name in check_names([*value], where)}


def _read_list(value: Any, one: Field, where: str) -> tuple[Any, ...]:
    parts = listed(value, where, one["from"], one["to"])
    return tuple(read(part, one["list"], f"{where}[{i}]") for i, part in enumerate(parts))


def _read_record(value: Any, fields: Mapping[str, Field], where: str) -> dict[str, Any]:
    """Return the fields of a dict in the order of `fields`, with their defaults where they are left out."""
    needed = [name for name, one in fields.items() if "default" not in one and "optional" not in one]
    given = fields_of(value, fields, needed, where or "scene")
    whole = {**{name: one["default"] for name, one in fields.items() if "default" in one}, **given}
    prefix = f"{where}." if where else ""
    return {name: read(whole[name], one, prefix + name) for name, one in fields.items() if name in whole}


def _read_kinds(value: Any, one: Field, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(where, f"got {shown(value)}", "Give a dict")
    kinds = one["kinds"]
    kind = check_choice(value.get("kind", next(iter(kinds))), kinds, f"{where}.kind")
    return _read_record(value, {**kinds[kind], "kind": {"choice": [kind], "optional": True}}, where)


_READERS: dict[str, Callable[[Any, Field, str], Any]] = {
    "number": _read_number,
    "whole": _read_whole,
    "flag": _read_flag,
    "choice": lambda value, one, where: check_choice(value, one["choice"], where),
    "text": lambda value, one, where: check_text(value, where, one["text"]),
    "name": lambda value, one, where: check_names([value], where)[0],
    "names": _read_names,
    "list": _read_list,
    "record": lambda value, one, where: _read_record(value, one["record"], where),
    "kinds": _read_kinds,
}


def _plain(value: Any) -> Any:
    """Return `value` as JSON has it."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value


# --- writing code


def code_of(declared: Mapping[str, Any], scene: Mapping[str, Any], template: str, **texts: str) -> str:
    """Return the Python of a scene's JSON, the same text as the page writes."""
    shown = {name: part for name, part in scene.items() if name != "rev"}
    lines = "\n".join([*declared[template], ""])
    return _fill(lines, declared["fields"], scene, {"scene": literal(shown), **texts})


def _fill(template: str, fields: Mapping[str, Field], scene: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """Return a template with values in their places; names that are neither fields nor texts stay as they are."""

    def find(path: str) -> tuple[Field, Any]:
        one: Field = {"record": fields}
        value: Any = scene
        for name in path.split("."):
            one, value = one["record"].get(name, {}), value.get(name)
        return one, value

    def is_default(path: str) -> bool:
        one, value = find(path)
        return bool(value == one.get("default", 0))

    def keep(segment: re.Match[str]) -> str:
        return "" if all(map(is_default, _PLACE.findall(segment[1]))) else segment[1]

    def text_at(place: re.Match[str]) -> str:
        if place[1] in texts:
            return texts[place[1]]
        one, value = find(place[1])
        if "code" not in one:
            return literal(value) if one else place[0]
        return "\n".join(_fill_item(item, one, fields, scene) for item in value)

    return _PLACE.sub(text_at, _OPTIONAL_SEGMENT.sub(keep, template))


def _fill_item(item: Mapping[str, Any], one: Field, fields: Mapping[str, Field], scene: Mapping[str, Any]) -> str:
    kinds = one["list"]["kinds"]
    kind = item.get("kind", next(iter(kinds)))
    return _fill(one["code"][kind], {**fields, **kinds[kind]}, {**scene, **item}, {})


def literal(value: Any, indent: str = "\n") -> str:
    """Return a value as Python writes it, four spaces a level, numbers as 1.0 and 1e-05; what is None stays out."""
    deeper = indent + "    "
    if isinstance(value, Mapping):
        parts = [f"{literal(name)}: {literal(part, deeper)}" for name, part in value.items() if part is not None]
        return f"{{{deeper}{f',{deeper}'.join(parts)}{indent}}}" if parts else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{deeper}{f',{deeper}'.join(literal(part, deeper) for part in value)}{indent}]" if value else "[]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
