from __future__ import annotations

import base64
import json
import random
import time
import unittest
from typing import Any, Dict, List

from galley_rpc._wire import MAX_RECORD_BYTES, ChunkAssembler, LineReader, Problem, encode


class Lines(unittest.TestCase):
    def test_the_same_frames_however_the_bytes_are_cut(self) -> None:
        frames = [{"type": "a", "text": "ä€😀\u2028\u2029\u0085"}, {"type": "b", "deep": [[{"x": None}]]}, {"type": "c"}]
        data = "\r\n\n  \n".join(json.dumps(frame, ensure_ascii=False) for frame in frames).encode()
        data = b"\xef\xbb\xbf" + data
        random.seed(1)
        for _ in range(200):
            reader, seen, rest = LineReader(), [], data
            while rest:
                size = random.randint(1, len(rest))
                seen += reader.push(rest[:size])
                rest = rest[size:]
            self.assertEqual(seen + reader.end(), frames)
            self.assertEqual(reader.end(), [])

    def test_text_is_sent_as_it_stands(self) -> None:
        text = "€\u2028\u0085😀"
        line = encode({"type": "a", "text": text})
        self.assertIn(text.encode("utf-8"), line)
        self.assertEqual(LineReader().push(line), [{"type": "a", "text": text}])
        self.assertEqual(encode({"type": "a", "text": "\ud800€"}), b'{"type":"a","text":"\\ud800\\u20ac"}\n')

    def test_a_bad_line_costs_one_problem(self) -> None:
        for line in (b"{oops}", b"[]", b'{"type":1}', b'{"\xff":1}', b"[" * 200_000):
            seen = LineReader().push(line + b'\n{"type":"a"}\n')
            self.assertIsInstance(seen[0], Problem)
            self.assertEqual(seen[1:], [{"type": "a"}])

    def test_a_line_that_never_ends_is_not_kept(self) -> None:
        reader = LineReader()
        for _ in range(3):
            self.assertEqual(reader.push(b"x" * (MAX_RECORD_BYTES // 2)), [])
        seen = reader.push(b'\n{"type":"a"}\n')
        self.assertEqual(seen, [f"a line of more than {MAX_RECORD_BYTES} bytes", {"type": "a"}])

    def test_what_is_no_json_is_not_written(self) -> None:
        self.assertEqual(encode({"type": "a", "x": "\n"}), b'{"type":"a","x":"\\n"}\n')
        with self.assertRaises(ValueError):
            encode({"type": "a", "x": float("nan")})


WHOLE = {"type": "agent_end", "text": "ä" * 700_000}
DATA = json.dumps(WHOLE, ensure_ascii=False).encode()


def pieces_of(data: bytes, size: int = 262_144) -> List[Dict[str, Any]]:
    cuts = [data[start : start + size] for start in range(0, len(data), size)]
    head = {"type": "rpc_chunk", "chunkId": "rpc-1", "count": len(cuts), "byteLength": len(data)}
    return [{**head, "index": index, "data": base64.b64encode(cut).decode()} for index, cut in enumerate(cuts)]


class Chunks(unittest.TestCase):
    def take(self, frames: List[Dict[str, Any]], assembler: ChunkAssembler) -> List[Any]:
        return [read for frame in frames for read in assembler.take(frame)]

    def test_pieces_become_the_frame(self) -> None:
        assembler = ChunkAssembler()
        self.assertEqual(self.take(pieces_of(DATA), assembler), [WHOLE])
        self.assertEqual(self.take([{"type": "a"}, *pieces_of(DATA)], assembler), [{"type": "a"}, WHOLE])

    def test_what_does_not_fit_is_refused(self) -> None:
        pieces = pieces_of(DATA)

        def changed(at: int, **more: Any) -> List[Dict[str, Any]]:
            return [{**piece, **more} if index == at else piece for index, piece in enumerate(pieces)]

        cases = {
            "one missing": pieces[:2] + pieces[3:],
            "the first missing": pieces[1:],
            "one twice": pieces[:2] + pieces[1:],
            "no base64": changed(1, data="%%%%"),
            "a line end in it": changed(1, data=pieces[1]["data"] + "\n"),
            "no data": changed(1, data=None),
            "an empty piece": changed(1, data=""),
            "another length": changed(1, byteLength=len(DATA) + 1),
            "another count": changed(1, count=99),
            "a count that is true": changed(0, count=True),
            "no id": [{**piece, "chunkId": None} for piece in pieces],
            "too many bytes": [{**piece, "byteLength": len(DATA) - 1} for piece in pieces],
            "too few bytes": [{**piece, "byteLength": len(DATA) + 1} for piece in pieces],
            "need not be cut": pieces_of(b'{"type":"agent_start"}', 10),
            "too large pieces": pieces_of(DATA, 400_000),
            "beyond all limits": changed(0, byteLength=65 * 1024 * 1024),
        }
        for name, frames in cases.items():
            with self.subTest(name):
                assembler = ChunkAssembler()
                seen = self.take(frames, assembler)
                self.assertIsInstance(seen[0], Problem)
                self.assertNotIn(WHOLE, seen)
                self.assertEqual(self.take([{"type": "a"}], assembler)[-1], {"type": "a"})
                again = [{**piece, "chunkId": "rpc-2"} for piece in pieces]
                self.assertEqual(self.take(again, assembler), [WHOLE])

    def test_many_small_pieces_cost_no_more_than_their_number(self) -> None:
        head = {"type": "rpc_chunk", "chunkId": "c", "count": 1_100_000, "byteLength": 1_100_000, "data": "eA=="}
        assembler, before = ChunkAssembler(), time.thread_time()
        self.assertEqual(self.take([{**head, "index": index} for index in range(30_000)], assembler), [])
        self.assertLess(time.thread_time() - before, 3)

    def test_a_broken_frame_costs_one_problem(self) -> None:
        pieces = pieces_of(DATA)
        seen = self.take([*pieces[:2], {"type": "a"}, *pieces[2:]], ChunkAssembler())
        self.assertIsInstance(seen[0], Problem)
        self.assertEqual(seen[1:], [{"type": "a"}])
