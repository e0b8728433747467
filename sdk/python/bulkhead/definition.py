"""A tool's definition from a function: its name, its docstring, and a JSON Schema from what its
parameters are annotated with."""
import enum
import inspect
import typing
from typing import Any, Callable, Dict, Mapping, Tuple

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


class Parameters:
    """What a function takes, and how JSON arguments become its own."""

    def __init__(self, function: Callable[..., Any], ask_type: type) -> None:
        self.function = function
        self.ask_name = ""
        self.properties: Dict[str, Any] = {}
        self.required = []
        self.takes_rest = False
        self._enums: Dict[str, Any] = {}
        hints = typing.get_type_hints(function)
        for name, parameter in inspect.signature(function).parameters.items():
            hint = hints.get(name, parameter.annotation)
            where = f"{getattr(function, '__name__', 'the tool')}({name})"
            if hint is ask_type or ask_type in typing.get_args(hint):  # Optional[Ask] is as good
                self.ask_name = name
                continue
            if parameter.kind is parameter.VAR_KEYWORD:
                self.takes_rest = True
                continue
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                raise TypeError(f"{where}: arguments come by name; make it an ordinary parameter")
            self.properties[name] = schema_of(hint, where)
            if parameter.default is parameter.empty:
                self.required.append(name)
            if isinstance(hint, type) and issubclass(hint, enum.Enum):
                self._enums[name] = hint

    def schema(self) -> Dict[str, Any]:
        """The tool's input_schema; what is not listed is refused by name."""
        made: Dict[str, Any] = {"type": "object", "properties": self.properties,
                                "additionalProperties": self.takes_rest}
        if self.required:
            made["required"] = self.required
        return made

    def call(self, arguments: Mapping[str, Any], ask: Any) -> Any:
        given = {name: self._enums[name](value) if name in self._enums else value
                 for name, value in arguments.items()}
        if self.ask_name:
            given[self.ask_name] = ask
        return self.function(**given)
