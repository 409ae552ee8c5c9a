"""Work with numpy and pandas: C below, Python's functions called from there."""

import io
import sys
import time

import numpy as np
import pandas as pd


def spread(group):
    return group["value"].max() - group["value"].min()


def label(row):
    return "%s-%d" % (row["kind"], row["value"] // 10)


def once(seed):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"kind": random.choice(list("abcd"), 400), "value": random.normal(50, 10, 400),
                          "day": pd.date_range("2026-01-01", periods=400, freq="h")})
    frame["label"] = frame.apply(label, axis=1)
    by_kind = frame.groupby("kind")[["value"]].apply(spread)
    daily = frame.set_index("day")["value"].resample("1D").mean().rolling(3).agg(lambda part: part.max())
    text = frame.to_csv(index=False)
    again = pd.read_csv(io.StringIO(text), converters={"label": str.upper})
    merged = again.merge(by_kind.rename("spread"), left_on="kind", right_index=True)
    np.apply_along_axis(lambda column: np.sort(column)[::-1], 0, random.normal(size=(40, 40)))
    np.vectorize(lambda x: x * x if x > 0 else -x)(random.normal(size=300))
    return merged["spread"].sum() + daily.sum()


def main():
    end = time.process_time() + float(sys.argv[1])
    seed = 0
    while time.process_time() < end:
        once(seed)
        seed += 1


main()
