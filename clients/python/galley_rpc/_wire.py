"""Bytes in, frames out: LF only, strict UTF-8, bounded memory, and frames that came in pieces put together."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Dict, List, Optional, Union

Frame = Dict[str, Any]

#: What either side takes as one record.
MAX_RECORD_BYTES = 64 * 1024 * 1024
MAX_PIECE_BYTES = 262_144
MIN_CHUNKED_BYTES = 1_048_576


class Problem(str):
    """What is wrong with a line."""


Read = Union[Frame, Problem]


def encode(frame: Frame) -> bytes:
    try:
        return to_json(frame, ensure_ascii=False).encode("utf-8") + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can say
        return to_json(frame, ensure_ascii=True).encode("utf-8") + b"\n"


def to_json(frame: Frame, ensure_ascii: bool) -> str:
    # allow_nan: NaN is no JSON, and the agent would refuse the whole line.
    return json.dumps(frame, separators=(",", ":"), allow_nan=False, ensure_ascii=ensure_ascii)


def parse_line(line: bytes) -> List[Read]:
    """Nothing for a blank line."""
    try:
        text = line.decode("utf-8-sig").strip()
        if not text:
            return []
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return [Problem(str(error))]
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        return [value]
    return [Problem(f"no object with a type: {text[:80]}")]


class LineReader:
    def __init__(self) -> None:
        # The record under way, in the pieces in which it came: joined once, when it is whole.
        self._pieces: List[bytes] = []
        self._bytes = 0

    def push(self, chunk: bytes) -> List[Read]:
        *lines, rest = chunk.split(b"\n")
        frames: List[Read] = []
        for line in lines:
            self._take(line)
            frames += self.end()
        self._take(rest)
        return frames

    def end(self) -> List[Read]:
        """What stands between the last LF and now; at the end of the stream that counts as a record."""
        is_too_large, record = self._bytes > MAX_RECORD_BYTES, b"".join(self._pieces)
        self._pieces, self._bytes = [], 0
        return [Problem(f"a line of more than {MAX_RECORD_BYTES} bytes")] if is_too_large else parse_line(record)

    def _take(self, piece: bytes) -> None:
        self._bytes += len(piece)
        if self._bytes > MAX_RECORD_BYTES:
            self._pieces = []
        elif piece:
            self._pieces.append(piece)


class ChunkAssembler:
    """The pieces of one frame come in order with nothing between them; a broken frame costs one problem."""

    def __init__(self) -> None:
        self._first: Optional[Frame] = None
        self._pieces: List[bytes] = []
        self._bytes = 0
        self._broken_id: object = object()

    def take(self, frame: Frame) -> List[Read]:
        if frame["type"] != "rpc_chunk":
            if self._first is None:
                return [frame]
            return [self._fail(self._first.get("chunkId")), frame]
        if frame.get("chunkId") == self._broken_id:
            return []
        if not self._add(frame):
            return [self._fail(frame.get("chunkId"))]
        if len(self._pieces) < frame["count"]:
            return []
        record = b"".join(self._pieces)
        self._first, self._pieces, self._bytes = None, [], 0
        return parse_line(record)

    def _add(self, chunk: Frame) -> bool:
        """False if the piece does not fit: nothing of it may be trusted."""
        first = self._first = self._first or chunk
        count, length, index = chunk.get("count"), chunk.get("byteLength"), chunk.get("index")
        if not isinstance(chunk.get("chunkId"), str) or not isinstance(chunk.get("data"), str):
            return False
        if any(chunk.get(key) != first.get(key) for key in ("chunkId", "count", "byteLength")):
            return False
        if type(count) is not int or type(length) is not int or type(index) is not int:
            return False
        if count < 2 or not MIN_CHUNKED_BYTES <= length <= MAX_RECORD_BYTES or index != len(self._pieces):
            return False
        try:
            piece = base64.b64decode(chunk["data"], validate=True)
        except (binascii.Error, ValueError):
            return False
        if not 0 < len(piece) <= MAX_PIECE_BYTES:
            return False
        self._pieces.append(piece)
        self._bytes += len(piece)
        return self._bytes == length if len(self._pieces) == count else self._bytes < length

    def _fail(self, chunk_id: object) -> Problem:
        self._first, self._pieces, self._bytes, self._broken_id = None, [], 0, chunk_id
        return Problem(f"the pieces of rpc_chunk {chunk_id} do not fit")
