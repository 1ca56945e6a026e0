"""The types and methods are those of the protocol: the generator is run again and its result compared."""

from __future__ import annotations

import ast
import inspect
import json
import os
import sys
import typing
import unittest
from pathlib import Path

from galley_rpc import AsyncRpcClient, RpcClient, __version__, types

PACKAGE = Path(__file__).resolve().parents[1]
SCHEMA = Path(os.environ.get("GALLEY_SCHEMA") or PACKAGE.parents[1] / "dist" / "schema.json")


@unittest.skipUnless(SCHEMA.exists(), "needs the schema of the built program")
class Generated(unittest.TestCase):
    def test_the_files_are_what_the_schema_makes_of_them(self) -> None:
        sys.path.insert(0, str(PACKAGE))
        self.addCleanup(sys.path.remove, str(PACKAGE))
        import generate

        for name, text in generate.generate(SCHEMA).items():
            current = (PACKAGE / "galley_rpc" / name).read_text(encoding="utf-8")
            self.assertTrue(current == text, f"{name} is old: npm run build, then python3 clients/python/generate.py")

    def test_every_command_and_event_of_the_schema_is_here(self) -> None:
        shapes = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
        commands = {
            shape["properties"]["type"]["const"]
            for name, shape in shapes.items()
            if name.endswith("Command") and "type" in shape.get("properties", {})
        }
        self.assertGreater(len(commands), 45)
        self.assertEqual(set(types.COMMAND_TYPES), commands)
        for event in ("agent_start", "agent_settled", "host_tool_call", "extension_ui_request", "prompt_result"):
            self.assertIn(event, types.EVENT_TYPES)
        for hidden in ("response", "ready", "rpc_chunk"):
            self.assertNotIn(hidden, types.EVENT_TYPES)

    def test_both_clients_have_a_method_for_every_command_with_the_same_parameters(self) -> None:
        for command in types.COMMAND_TYPES:
            with self.subTest(command):
                sync, asynchronous = getattr(RpcClient, command), getattr(AsyncRpcClient, command)
                self.assertEqual(list(inspect.signature(sync).parameters), list(inspect.signature(asynchronous).parameters))
                self.assertTrue(inspect.iscoroutinefunction(asynchronous))
                self.assertIn("timeout", inspect.signature(sync).parameters)

    def test_the_two_clients_offer_the_same(self) -> None:
        def public(owner: type) -> set:
            return {name for name in dir(owner) if not name.startswith("_")}

        self.assertEqual(public(RpcClient) - public(AsyncRpcClient), {"command_line"})
        self.assertEqual(public(AsyncRpcClient) - public(RpcClient), set())

    def test_every_annotation_can_be_resolved(self) -> None:
        for name, value in vars(types).items():
            if isinstance(value, type):
                typing.get_type_hints(value, vars(types))

    def test_the_version_is_that_of_the_package(self) -> None:
        self.assertIn(f'version = "{__version__}"', (PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))
        manifest = PACKAGE.parents[1] / "package.json"
        if manifest.exists():
            self.assertEqual(json.loads(manifest.read_text(encoding="utf-8"))["version"], __version__)


class Syntax(unittest.TestCase):
    def test_python_3_9_reads_every_file_and_nothing_else_is_imported(self) -> None:
        for path in (PACKAGE / "galley_rpc").glob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 9))
            for node in ast.walk(tree):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    names.append(node.module or "")
                for name in names:
                    top = name.split(".")[0]
                    if hasattr(sys, "stdlib_module_names"):
                        self.assertIn(top, sys.stdlib_module_names, str(path))
        self.assertTrue((PACKAGE / "galley_rpc" / "py.typed").exists())
