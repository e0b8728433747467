import enum
import unittest
from typing import Any, Dict, List, Literal, Optional, Sequence, Union

from bulkhead.definition import Parameters, schema_of
from bulkhead.serve import Ask, tool_of


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Definitions(unittest.TestCase):
    def test_annotations(self):
        for hint, schema in ((str, {"type": "string"}), (int, {"type": "integer"}),
                             (float, {"type": "number"}), (bool, {"type": "boolean"}),
                             (List[int], {"type": "array", "items": {"type": "integer"}}),
                             (Sequence[str], {"type": "array", "items": {"type": "string"}}),
                             (Dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
                             (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),
                             (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
                             (Literal["a", "b"], {"enum": ["a", "b"]}), (Colour, {"enum": ["red", "blue"]}),
                             (Any, {}), (list, {"type": "array"}), (dict, {"type": "object"})):
            self.assertEqual(schema_of(hint, "here"), schema, hint)
        self.assertEqual(schema_of(list[int], "here"), {"type": "array", "items": {"type": "integer"}})

    def test_a_function(self):
        def find(text: str, limit: int = 5, *, colour: Colour = Colour.RED, ask: Ask = None) -> str:
            """Finds things.

            In many places.
            """
            return f"{text} {limit} {colour}"
        tool = tool_of(find, {"annotations": {"read_only": True}})
        self.assertEqual(tool["name"], "find")
        self.assertEqual(tool["description"], "Finds things.\n\nIn many places.")
        self.assertEqual(tool["annotations"], {"read_only": True})
        self.assertEqual(tool["input_schema"]["required"], ["text"])
        self.assertEqual(list(tool["input_schema"]["properties"]), ["text", "limit", "colour"])
        parameters = Parameters(find, Ask)
        self.assertEqual(parameters.ask_name, "ask")
        self.assertEqual(parameters.call({"text": "x", "colour": "blue"}, None), "x 5 Colour.BLUE")

    def test_what_has_no_schema_is_refused_by_name(self):
        def odd(thing: object) -> None:
            "Odd."

        def rest(*things: str) -> None:
            "The rest."
        for function, word in ((odd, "odd(thing)"), (rest, "rest(things)")):
            with self.assertRaises(TypeError) as caught:
                tool_of(function, {})
            self.assertIn(word, str(caught.exception))
        self.assertEqual(tool_of(odd, {"input_schema": {"type": "object"}})["name"], "odd")

    def test_a_tool_says_what_it_is_for(self):
        def silent() -> None:
            pass
        with self.assertRaises(TypeError) as caught:
            tool_of(silent, {})
        self.assertIn("docstring", str(caught.exception))
        self.assertEqual(tool_of(silent, {"description": "Silent."})["description"], "Silent.")
