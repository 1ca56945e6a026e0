"""Writes galley_rpc/types.py and galley_rpc/_commands.py from the JSON Schema of the protocol.

    python3 clients/python/generate.py [dist/schema.json]

A test runs it and compares, so the two files cannot drift from what the agent speaks.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
DEFAULT_SCHEMA = HERE.parent.parent / "dist" / "schema.json"
Schema = Dict[str, Any]

#: Frames that answer or carry others; everything else that comes out is an event.
NO_EVENTS = {"response", "ready", "rpc_chunk"}
#: They give the id of their request, so they are written by hand.
BY_HAND = {"prompt", "abort_and_prompt", "set_host_tools"}


def camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[_\-]", name))


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match.group(1).lower(), name)


class Types:
    """Collects one definition per shape; inline objects get a name from where they stand."""

    def __init__(self, schema: Schema) -> None:
        self.defs: Dict[str, Schema] = schema["$defs"]
        self.out: Dict[str, str] = {}
        # Sorted, because the order in the document is an accident of its writer.
        for name, shape in sorted(self.defs.items()):
            # Responses are taken apart command by command below.
            if name not in ("RpcSuccess", "RpcResponse", "OutboundFrame", "InboundFrame"):
                self.define(name, shape)

    def define(self, name: str, shape: Schema) -> str:
        """The name under which the shape stands, made for it if it is new."""
        if name in self.out:
            return name
        if shape.get("type") == "object" and "properties" in shape:
            self.out[name] = ""  # holds the place, and ends the descent of a shape that contains itself
            self.out[name] = self.typed_dict(name, shape)
        elif "anyOf" in shape:
            self.out[name] = ""
            self.out[name] = f"{name} = {self.union(name, shape['anyOf'])}\n"
        else:
            self.out[name] = f"{name} = {self.expression(name, shape)}\n"
        return name

    def typed_dict(self, name: str, shape: Schema) -> str:
        required = set(shape.get("required", []))
        fields = {key: self.expression(name + camel(key), value) for key, value in shape["properties"].items()}
        if any(keyword.iskeyword(key) for key in fields):
            members = ", ".join(f'"{key}": {annotation}' for key, annotation in fields.items())
            return f'{name} = TypedDict("{name}", {{{members}}})\n'
        needed = {key: fields[key] for key in fields if key in required}
        optional = {key: fields[key] for key in fields if key not in required}
        if not optional:
            return self.class_of(name, "TypedDict", needed)
        if not needed:
            return self.class_of(name, "TypedDict, total=False", optional)
        base = f"_{name}Required"
        return self.class_of(base, "TypedDict", needed) + "\n\n" + self.class_of(name, f"{base}, total=False", optional)

    @staticmethod
    def class_of(name: str, bases: str, fields: Dict[str, str]) -> str:
        body = "".join(f"    {key}: {annotation}\n" for key, annotation in fields.items()) or "    pass\n"
        return f"class {name}({bases}):\n{body}"

    def union(self, name: str, shapes: List[Schema]) -> str:
        literals = [json_literal(shape["const"]) for shape in shapes if is_constant(shape)]
        others = [self.alternative(name, index, shape) for index, shape in enumerate(shapes) if not is_constant(shape)]
        members = ([f"Literal[{', '.join(literals)}]"] if literals else []) + others
        return members[0] if len(members) == 1 else f"Union[{', '.join(members)}]"

    def alternative(self, name: str, index: int, shape: Schema) -> str:
        if shape.get("type") != "object" or "properties" not in shape:
            return self.expression(name, shape)
        properties = shape["properties"]
        method = properties.get("method", {}).get("const")
        tag = properties.get("type", {}).get("const")
        if method is not None:
            own = camel(method) + "UiRequest"
        elif name in ("AgentEvent", "SessionEvent"):
            own = camel(tag) + "Event"
        elif name == "AssistantMessageEvent":
            own = "Assistant" + camel(tag)
        else:
            own = f"{name}{index + 1}"
        return f'"{self.define(own, shape)}"'

    def expression(self, name: str, shape: Schema) -> str:
        """The annotation for a shape that stands at `name`."""
        if "$ref" in shape:
            return f'"{shape["$ref"].rsplit("/", 1)[1]}"'
        if "const" in shape:
            return f"Literal[{json_literal(shape['const'])}]"
        if "anyOf" in shape:
            return self.union(name, shape["anyOf"])
        kind = shape.get("type")
        if kind == "array":
            return f"List[{self.expression(name + 'Item', shape['items'])}]"
        if kind == "object" and "properties" in shape:
            return f'"{self.define(name, shape)}"'
        if kind == "object":
            values = next(iter(shape.get("patternProperties", {}).values()), {})
            return f"Dict[str, {self.expression(name + 'Value', values)}]"
        return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}.get(kind, "Any")


def is_constant(shape: Schema) -> bool:
    return "const" in shape


def json_literal(value: Any) -> str:
    return repr(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


def alternatives(shape: Schema, defs: Dict[str, Schema]) -> List[Schema]:
    if "$ref" in shape:
        return alternatives(defs[shape["$ref"].rsplit("/", 1)[1]], defs)
    return [found for member in shape["anyOf"] for found in alternatives(member, defs)] if "anyOf" in shape else [shape]


def is_answer(shape: Schema, defs: Dict[str, Schema]) -> bool:
    return alternatives(shape, defs)[0]["properties"]["type"]["const"] in NO_EVENTS


class Protocol:
    def __init__(self, schema: Schema) -> None:
        self.types = Types(schema)
        defs = schema["$defs"]
        self.commands: Dict[str, Schema] = {
            shape["properties"]["type"]["const"]: shape for shape in alternatives(defs["RpcCommand"], defs)
        }
        self.data: Dict[str, Optional[str]] = {}
        for shape in alternatives(defs["RpcSuccess"], defs):
            command, data = shape["properties"]["command"]["const"], shape["properties"].get("data")
            self.data[command] = None if data is None else self.types.expression(camel(command) + "Data", data)
        outbound = {shape["properties"]["type"]["const"] for shape in alternatives(defs["OutboundFrame"], defs)}
        self.events: List[str] = sorted(outbound - NO_EVENTS)
        reports = [member for member in defs["OutboundFrame"]["anyOf"] if not is_answer(member, defs)]
        self.types.out["Event"] = f"Event = {self.types.union('Event', reports)}\n"

    def parameters(self, command: str) -> Tuple[List[Tuple[str, str, str]], List[Tuple[str, str, str]]]:
        """Required and optional fields, each as Python name, wire name and annotation."""
        shape = self.commands[command]
        required: List[Tuple[str, str, str]] = []
        optional: List[Tuple[str, str, str]] = []
        for key, value in shape["properties"].items():
            if key in ("id", "type"):
                continue
            annotation = qualified(self.types.expression(camel(command) + camel(key), value))
            (required if key in shape["required"] else optional).append((snake(key), key, annotation))
        return required, optional


def qualified(annotation: str) -> str:
    """Names of types.py as seen from another module, without the quotes of a forward reference."""
    known = {"List", "Dict", "Union", "Literal", "Any", "None", "str", "int", "float", "bool", "True", "False"}

    def name(match: "re.Match[str]") -> str:
        return match.group(0) if match.group(0) in known else f"types.{match.group(0)}"

    parts = re.split(r"(Literal\[[^\]]*\])", annotation)
    return "".join(part if part.startswith("Literal[") else re.sub(r"[A-Za-z_]\w*", name, part.replace('"', "")) for part in parts)


def types_module(protocol: Protocol) -> str:
    names = ",\n    ".join(f'"{name}"' for name in protocol.commands)
    events = ",\n    ".join(f'"{name}"' for name in protocol.events)
    body = "\n\n".join(text for text in protocol.types.out.values())
    return f'''"""Every shape that crosses the pipe. Written by generate.py from the schema; not to be edited."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union

COMMAND_TYPES: Tuple[str, ...] = (
    {names},
)

EVENT_TYPES: Tuple[str, ...] = (
    {events},
)


{body}'''


def takes_none(annotation: str) -> bool:
    """`None` has a meaning of its own, so that something else has to stand for "left out"."""
    return annotation.startswith("Union[") and "None" in re.findall(r"\w+", annotation)


def method_of(protocol: Protocol, command: str, is_async: bool) -> str:
    required, optional = protocol.parameters(command)
    data = protocol.data[command]
    answer = "None" if data is None else qualified(data)
    head = [f"{name}: {annotation}" for name, _, annotation in required]
    tail = [
        f"{name}: {annotation[:-1]}, Unset] = UNSET" if takes_none(annotation) else f"{name}: Optional[{annotation}] = None"
        for name, _, annotation in optional
    ]
    signature = ", ".join(["self", *head, "*", *tail, "timeout: Optional[float] = None"])
    fields = "{" + ", ".join(f'"{wire}": {name}' for name, wire, _ in required) + "}"
    if optional:
        parts = [fields[1:-1]] if required else []
        for is_nullable, absent in ((False, ""), (True, ", UNSET")):
            of_kind = [(name, wire) for name, wire, annotation in optional if takes_none(annotation) == is_nullable]
            members = ", ".join(f'"{wire}": {name}' for name, wire in of_kind)
            parts += [f"**given({{{members}}}{absent})"] if of_kind else []
        fields = f"{{{', '.join(parts)}}}"
    define, wait = ("async def", "await ") if is_async else ("def", "")
    return f'''    {define} {command}({signature}) -> {answer}:
        return {wait}self.request("{command}", {fields}, timeout=timeout)
'''


def commands_module(protocol: Protocol) -> str:
    names = [command for command in protocol.commands if command not in BY_HAND]
    sync = "\n".join(method_of(protocol, command, False) for command in names)
    asynchronous = "\n".join(method_of(protocol, command, True) for command in names)
    return f'''"""One method per command. Written by generate.py from the schema; not to be edited.

Required fields are the parameters, in the order of the protocol; optional ones are keywords, and `None` leaves them out,
except where `None` has a meaning: there `UNSET` does.
`timeout` is in seconds; `None` takes the usual deadline, `math.inf` waits for ever.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Union

from . import types


class Unset(Enum):
    UNSET = "unset"


UNSET = Unset.UNSET


def given(fields: Dict[str, Any], absent: Any = None) -> Dict[str, Any]:
    return {{name: value for name, value in fields.items() if value is not absent}}


class SyncCommands:
    def request(self, command: str, fields: Optional[Dict[str, Any]] = None, *, timeout: Optional[float] = None) -> Any:
        raise NotImplementedError

{sync}

class AsyncCommands:
    async def request(
        self, command: str, fields: Optional[Dict[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        raise NotImplementedError

{asynchronous}'''


def generate(schema_path: Path = DEFAULT_SCHEMA) -> Dict[str, str]:
    protocol = Protocol(json.loads(schema_path.read_text(encoding="utf-8")))
    commands = commands_module(protocol)  # first: it may name shapes that types.py then holds
    return {"types.py": types_module(protocol), "_commands.py": commands}


def main(arguments: List[str]) -> None:
    for name, text in generate(Path(arguments[0]) if arguments else DEFAULT_SCHEMA).items():
        (HERE / "galley_rpc" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
