"""Parquet: files as readers find them. `./dev engines` has them read by DuckDB and pyarrow."""

from __future__ import annotations

import io

import pytest
from isoscope.formats import parquet
from isoscope.formats.parquet.file import BOOLEAN, DOUBLE, INT64, TEXT, Column, ParquetFile
from parquet_read import Parquet
from profiles import COUNT, TOTAL_US, synthetic, totals

COLUMNS = [Column("n", INT64), Column("d", DOUBLE), Column("b", BOOLEAN), Column("t", TEXT), Column("s", TEXT, is_list=True),
           Column("l", INT64, is_list=True)]


def written(*groups: dict, told: dict[str, str] = {}) -> Parquet:  # noqa: B006
    out = io.BytesIO()
    file = ParquetFile(out, COLUMNS, told)
    for group in groups:
        file.rows(group)
    file.close()
    return Parquet(out.getvalue())


def group(count: int, texts: int = 3) -> dict:
    return {"n": [place * -1234567 for place in range(count)], "d": [place / 7 for place in range(count)],
            "b": [place % 3 == 0 for place in range(count)], "t": [f"text {place % texts} ü" for place in range(count)],
            "s": [[f"f{one % texts}" for one in range(place % 5 + 1)] for place in range(count)],
            "l": [list(range(place % 4 + 1)) for place in range(count)]}


@pytest.mark.parametrize("count", [1, 7, 8, 9, 1000])
@pytest.mark.parametrize("texts", [1, 2, 3, 255, 256, 257, 1000])
def test_cells_come_back_as_they_were(count, texts):
    assert written(group(count, texts)).columns == group(count, texts)


def test_groups_follow_each_other_and_each_has_its_own_dictionary():
    first, second = group(20), group(5, 5)
    found = written(first, second, told={"kind": "time"})
    assert found.columns == {name: [*first[name], *second[name]] for name in first}
    assert found.told == {"kind": "time"}


def test_the_schema_names_columns_and_lists_as_readers_expect():
    names = [one[4] for one in written(group(1)).footer[2]]
    assert names == ["schema", "n", "d", "b", "t", "s", "list", "element", "l", "list", "element"]


def test_a_text_that_is_no_unicode_is_replaced():
    cells = {**group(1), "t": ["a\udcffb"]}
    assert written(cells).columns["t"] == ["a?b"]


def profile_file(profile) -> Parquet:
    out = io.BytesIO()
    parquet.write(profile, out)
    return Parquet(out.getvalue())


def test_a_row_is_a_sample_with_its_stack_and_totals_are_the_profiles():
    found = profile_file(synthetic())
    rows = found.columns
    assert rows["time_us"] == sorted(rows["time_us"]) and len(rows["time_us"]) == COUNT
    assert sum(rows["cpu_us"]) == TOTAL_US
    for name, (own, total, own_us, total_us) in totals(synthetic()).items():
        leaves = [place for place, one in enumerate(rows["function"]) if one == name]
        within = [place for place, one in enumerate(rows["stack"]) if name in one]
        assert (len(leaves), len(within)) == (own, total), name
        assert sum(rows["cpu_us"][place] for place in leaves) == own_us
        assert sum(rows["cpu_us"][place] for place in within) == total_us
    assert {tuple(map(len, one)) for one in zip(rows["stack"], rows["stack_file"])} <= {(n, n) for n in range(1, 9)}
    first = {name: cells[0] for name, cells in rows.items()}
    assert first["stack"] == ["leaf", "walk", "walk", "walk", "main"] and first["stack_line"] == [6, 32, 32, 31, 11]
    assert (first["function"], first["library"], first["file"], first["line"]) == ("leaf", "/opt/app/bin/app",
                                                                                  "/src/walk.c", 6)
    assert (first["process"], first["pid"], first["thread"], first["tid"], first["user_tag"], first["whole"]) == (
        "app", 41, "main", 41, "parse", True)
    assert found.told == {"kind": "time", "period_us": "1000"}


def test_many_rows_are_groups_of_a_bounded_size(monkeypatch):
    monkeypatch.setattr(parquet, "_ROWS", 3)
    found = profile_file(synthetic())
    assert [one[3] for one in found.footer[4]] == [3] * (COUNT // 3) + [COUNT % 3]
    assert sum(found.columns["cpu_us"]) == TOTAL_US
