"""A tool's definition from a function: its name, its docstring, and a JSON Schema from what its
parameters are annotated with."""
import enum
import inspect
import typing
from typing import Any, Callable, Dict, List, Mapping, Tuple

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_UNIONS: Tuple[Any, ...] = (typing.Union,)
if hasattr(__import__("types"), "UnionType"):  # int | None, from Python 3.10 on
    _UNIONS += (__import__("types").UnionType,)


def schema_of(hint: Any, where: str) -> Dict[str, Any]:
    """The JSON Schema of an annotation. TypeError names the parameter that has none."""
    if hint is Any or hint is inspect.Parameter.empty:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint in (list, tuple, set) or hint in (dict, Mapping):
        return {"type": "object" if hint in (dict, Mapping) else "array"}
    if origin in _UNIONS:
        parts = [schema_of(part, where) for part in args]
        return parts[0] if len(parts) == 1 else {"anyOf": parts}
    if origin is typing.Literal:
        return {"enum": list(args)}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if isinstance(origin, type):
        if issubclass(origin, typing.cast(type, dict)) or origin.__name__ in ("Mapping", "MutableMapping"):
            inner = schema_of(args[1], where) if len(args) == 2 else {}
            return {"type": "object", "additionalProperties": inner or True}
        if origin in (list, set, tuple) or origin.__name__ in ("Sequence", "Iterable", "Collection"):
            items = schema_of(args[0], where) if args else {}
            return {"type": "array", "items": items} if items else {"type": "array"}
    raise TypeError(f"{where}: {hint!r} has no JSON Schema here; annotate it with str, int, float, bool, "
                    "list, dict, Optional, Union, Literal or an Enum, or give input_schema=")


def given(hint: Any, value: Any) -> Any:
    """A JSON value as the annotation has it: 3.0 is an int where one is due, a word an Enum."""
    if hint is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS:
        part = next((part for part in args if _fits(part, value)), None)
        return value if part is None else given(part, value)
    if isinstance(value, list) and args:
        return [given(args[0], item) for item in value]
    return value


def _fits(hint: Any, value: Any) -> bool:
    """Whether that part of a Union is the one that a value is of; an Enum is tried by its values."""
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return any(member.value == value for member in hint)
    if hint is int:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return typing.get_origin(hint) is list and isinstance(value, list)


class Parameters:
    """What a function takes, and how JSON arguments become its own."""

    def __init__(self, function: Callable[..., Any], ask_type: type, with_schema: bool = True) -> None:
        self.function = function
        self.ask_name = ""
        self.properties: Dict[str, Any] = {}
        self.required: List[str] = []
        self.takes_rest = False
        self._hints: Dict[str, Any] = {}
        name = getattr(function, "__name__", "the tool")
        try:
            hints = typing.get_type_hints(function)
        except NameError as error:
            raise TypeError(f"{name}(): an annotation cannot be resolved: {error}") from None
        for parameter in inspect.signature(function).parameters.values():
            self._add(parameter, hints.get(parameter.name, parameter.annotation),
                      f"{name}({parameter.name})", ask_type, with_schema)

    def _add(self, parameter: inspect.Parameter, hint: Any, where: str, ask_type: type,
             with_schema: bool) -> None:
        if hint is ask_type or ask_type in typing.get_args(hint):  # Optional[Ask] is as good
            self.ask_name = parameter.name
            return
        if parameter.kind is parameter.VAR_KEYWORD:
            self.takes_rest = True
            return
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise TypeError(f"{where}: arguments come by name; make it an ordinary parameter")
        self._hints[parameter.name] = hint
        if with_schema:
            self.properties[parameter.name] = schema_of(hint, where)
            if parameter.default is parameter.empty:
                self.required.append(parameter.name)

    def schema(self) -> Dict[str, Any]:
        """The tool's input_schema; what is not listed is refused by name."""
        made: Dict[str, Any] = {"type": "object", "properties": self.properties,
                                "additionalProperties": self.takes_rest}
        if self.required:
            made["required"] = self.required
        return made

    def call(self, arguments: Mapping[str, Any], ask: Any) -> Any:
        values = {name: given(self._hints.get(name), value) for name, value in arguments.items()}
        if self.ask_name:
            values[self.ask_name] = ask
        return self.function(**values)
