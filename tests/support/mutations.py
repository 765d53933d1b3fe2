"""What may happen to a file, or be done to it."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from safetensors.numpy import load, save

Change = Callable[[bytes], bytes]
WHOLE = (b"", b"\0", b"null", b"[]", b"{}", b"7", b"NaN", b"\xff\xfe", b"[" * 10_000, b"x" * 100_000, b"\n" * 10_000)


def changes() -> st.SearchStrategy[Change]:
    """Cut, overwritten, inserted into, zeroed, a bit flipped, doubled, or something else altogether."""
    place, some = st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=20)

    def at(share: float, change: Callable[[bytes, int], bytes]) -> Change:
        return lambda content: change(content, int(share * len(content)))

    return st.one_of(
        st.sampled_from(WHOLE).map(lambda whole: lambda content: whole),
        place.map(lambda share: at(share, lambda content, n: content[:n])),
        place.map(lambda share: at(share, lambda content, n: content[n + 1 :])),
        st.tuples(place, some).map(lambda p: at(p[0], lambda content, n: content[:n] + p[1] + content[n:])),
        st.tuples(place, some).map(
            lambda p: at(p[0], lambda content, n: content[:n] + p[1] + content[n + len(p[1]) :])
        ),
        place.map(lambda share: at(share, lambda content, n: content[:n] + bytes(len(content) - n))),
        st.tuples(place, st.integers(0, 7)).map(
            lambda p: at(p[0], lambda content, n: content[:n] + bytes([content[n] ^ 1 << p[1]]) + content[n + 1 :])
        ),
        st.just(lambda content: content * 2),
        st.just(lambda content: b"\xef\xbb\xbf" + content),
    )


def by_hand(path: Path, data: st.DataObject, values: Sequence[Any]) -> bytes:
    """What the file would be after a change by hand: any cell, any key, any type, any part of any array."""
    content = path.read_bytes()
    change = {".json": _of_json, ".safetensors": _of_arrays, ".tsv": _of_table, ".csv": _of_table}.get(path.suffix)
    if change is None or data.draw(st.integers(0, 9)) == 0:
        return data.draw(changes())(content)
    return change(content, data, values)


def _of_json(content: bytes, data: st.DataObject, values: Sequence[Any]) -> bytes:
    whole = {"": json.loads(content)}
    part: Any = whole
    key: Any = ""
    while isinstance(part[key], dict | list) and part[key] and data.draw(st.integers(0, 9)):
        part = part[key]
        key = data.draw(st.sampled_from([*part] if isinstance(part, dict) else range(len(part))))
    change = data.draw(st.sampled_from(["value", "value", "value", "gone", "again"]))
    if change == "value":
        part[key] = data.draw(st.sampled_from(values))
    elif change == "gone":
        del part[key]
    elif isinstance(part, list):
        part.insert(key, part[key])
    else:
        part[f"{key} "] = part[key]
    return json.dumps(whole.get("", {}), ensure_ascii=data.draw(st.booleans())).encode(errors="surrogatepass")


def _of_table(content: bytes, data: st.DataObject, values: Sequence[Any]) -> bytes:
    separator = "\t" if b"\t" in content else ","
    rows = list(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator))
    row, column = (data.draw(st.integers(0, len(each) - 1)) for each in (rows, rows[0]))
    other = data.draw(st.integers(0, len(rows) - 1))
    change = data.draw(st.sampled_from(["cell", "cell", "cell", "copied", "column", "row", "again", "cut", "all"]))
    if change == "cell":
        rows[row][column] = data.draw(st.sampled_from([str(value) for value in values]))
    elif change == "copied":
        rows[row][column] = rows[other][column]
    elif change == "column":
        rows = [[*each[:column], *each[column + 1 :]] for each in rows]
    elif change == "row":
        del rows[row]
    elif change == "again":
        rows.insert(other, rows[row])
    elif change == "cut":
        rows = rows[: row + 1]
    else:
        rows = [rows[0], *([*each[:column], rows[row][column], *each[column + 1 :]] for each in rows[1:])]
    written = io.StringIO()
    csv.writer(written, delimiter=separator, lineterminator="\n").writerows(rows)
    return written.getvalue().encode(errors="surrogatepass")


def _of_arrays(content: bytes, data: st.DataObject, values: Sequence[Any]) -> bytes:
    arrays = load(content)
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name].copy()
    place = data.draw(st.integers(0, max(0, array.size - 1)))
    change = data.draw(st.sampled_from(["element", "element", "all", "type", "shape", "cut", "gone", "name"]))
    number = data.draw(st.sampled_from([0, 1, -1, 5, 200, 2**31 - 1, -(2**31), float("nan"), float("inf")]))
    with np.errstate(all="ignore"):
        number = np.asarray(number).astype(array.dtype)
        if change == "element" and array.size:
            array.flat[place] = number
        elif change == "all":
            array[...] = number
        elif change == "type":
            array = array.astype(data.draw(st.sampled_from(["u1", "i2", "i8", "f2", "f8", "?", "c8"])))
        elif change == "shape":
            array = array.reshape(data.draw(st.sampled_from([(-1,), (1, -1), (-1, 1)])))
        elif change == "cut":
            array = array[..., :place] if array.ndim else array
    arrays[name] = np.ascontiguousarray(array)
    if change == "gone":
        del arrays[name]
    elif change == "name":
        arrays[f"{name}x"] = arrays.pop(name)
    return save(arrays)
