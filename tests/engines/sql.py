"""A Parquet file in DuckDB and pyarrow: what they find, as JSON. The recipes are on standard input, as a list."""

import json
import sys

import duckdb
import pyarrow
import pyarrow.parquet

path, recipes = sys.argv[1], json.load(sys.stdin)
for one in recipes:
    duckdb.sql(one).fetchall()
functions = duckdb.sql(recipes[0].replace("LIMIT 20", "")).fetchall()
table = pyarrow.parquet.read_table(path)
rows = duckdb.sql(f"SELECT * FROM '{path}'").fetchall()
assert [tuple(row.values()) for row in table.to_pylist()] == rows
json.dump({"functions": functions, "rows": len(rows), "recipes": len(recipes), "duckdb": duckdb.__version__,
           "pyarrow": pyarrow.__version__}, sys.stdout)
