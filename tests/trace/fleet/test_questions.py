# SPDX-License-Identifier: Apache-2.0
"""The named questions, asked of runs whose answers were written first."""

import json
import math
import random

import made_reports as made
import pytest

GIB = 1 << 30
CAPACITY = {"NVIDIA A100-SXM4-80GB": 84_987_084_800, "NVIDIA GeForce RTX 3090": 25_437_405_184}


def plain(real_rows, needed, gpu="NVIDIA A100-SXM4-80GB", hours=10.0, **more):
    """A run that neither leaks nor fails, with that need."""
    return made.row(real_rows["steady"][0], duration_ns=int(hours * 3.6e12), device={
        "gpu": gpu, "capacity_bytes": CAPACITY[gpu], "needed_bytes": int(needed), "peak_allocated_bytes": int(needed * 0.8),
        "peak_reserved_bytes": int(needed * 0.9)}, **more)


def ask(fleet, place, view, *options) -> list:
    done = fleet("report", place, "--question", view, "--json", "-", *options)
    assert done.status == 0, done.err
    return json.loads(done.out)["questions"][0]["rows"]


def test_which_leak(real_rows, fleet, tmp_path):
    leaking = [made.row(real_rows["leaks"][0]) for _ in range(3)]
    both = [made.row(row, run_id="e" * 16) for row in real_rows["ranks"]]  # rank 1 leaks
    doubted = made.row(real_rows["leaks"][0])
    for verdict in doubted["verdicts"]:
        verdict["is_leak"] = False
    fine = [made.row(real_rows["steady"][0]) for _ in range(5)]
    rows = ask(fleet, made.put(tmp_path, [*leaking, *both, doubted, *fine]), "leaking_runs")
    of_devices = [row for row in rows if row["subject"] == "device:0"]
    assert {row["run"] for row in of_devices} == {row["run_id"] for row in leaking} | {"e" * 16}
    assert len(of_devices) == 4 and {row["run"] for row in rows} == {row["run"] for row in of_devices}
    for row in of_devices:
        assert row["file"].endswith("trains.py") and "history" in row["kept_by"] and row["fix"]
        assert row["bytes_per_step"] == real_rows["leaks"][0]["verdicts"][0]["bytes_per_step"]


def test_which_waste_more_than_half(real_rows, fleet, tmp_path):
    capacity = CAPACITY["NVIDIA A100-SXM4-80GB"]
    wasting, barely = plain(real_rows, 20 * GIB), plain(real_rows, capacity / 2 - 1)
    half, full = plain(real_rows, capacity // 2), plain(real_rows, 70 * GIB)
    failed = plain(real_rows, 20 * GIB, ran_out_of_memory=True)
    place = made.put(tmp_path / "store", [wasting, barely, half, full, failed])
    prices = tmp_path / "prices.csv"
    prices.write_text("gpu,price_per_hour,currency\na100-80,2.5,EUR\n")
    rows = ask(fleet, place, "wasted_gpus", "--prices", prices)
    assert [row["run"] for row in rows] == [wasting["run_id"], barely["run_id"]]
    first = rows[0]
    assert first["wasted_bytes"] == capacity - 20 * GIB and first["gpu_hours"] == pytest.approx(10)
    assert first["unused_cost"] == pytest.approx(10 * 2.5 * (1 - 20 * GIB / capacity)) and first["currency"] == "EUR"
    assert all(row["unused_cost"] is None for row in ask(fleet, place, "wasted_gpus"))


def test_which_fit_a_smaller_gpu(real_rows, fleet, tmp_path):
    small, large = plain(real_rows, 18 * GIB), plain(real_rows, 60 * GIB)
    edge = plain(real_rows, 84_987_084_800 / 1.05 + 10)
    tiny = plain(real_rows, 2 * GIB, gpu="NVIDIA GeForce RTX 3090")
    grows = made.row(real_rows["leaks"][0], device={"needed_bytes": GIB, "capacity_bytes": 84_987_084_800,
                                                    "gpu": "NVIDIA A100-SXM4-80GB"})
    cut = plain(real_rows, GIB, truncated=True)
    failed = plain(real_rows, GIB, ran_out_of_memory=True)
    stepless = plain(real_rows, GIB, steps=0)
    place = made.put(tmp_path / "store", [small, large, edge, tiny, grows, cut, failed, stepless])
    rows = {row["run"]: row for row in ask(fleet, place, "smaller_gpus")}
    # 18 GiB and 5 % are 18.9 GiB: of what memtrace knows the smallest above is the A10's 22,587 MiB. Between 60 GiB and
    # an A100 there is none.
    assert rows.keys() == {small["run_id"], tiny["run_id"]}
    assert rows[small["run_id"]]["fits_capacity_bytes"] == 22_587 << 20
    assert rows[tiny["run_id"]]["fits_capacity_bytes"] == 10_004 << 20
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"a100-80": 3.0, "rtx3090": 0.5, "rtx3060": 0.9, "a100-40": 4.0, "l40s": 1.5}))
    priced = {row["run"]: row for row in ask(fleet, place, "smaller_gpus", "--prices", prices)}
    assert priced[small["run_id"]]["fits_gpu"] == "rtx3090"  # the cheapest that has room
    assert priced[small["run_id"]]["saved_cost"] == pytest.approx(10 * 2.5)
    assert priced[tiny["run_id"]]["fits_gpu"] == "rtx3080"  # the 3060 has a price, and is dearer


def test_neither_its_own_model_nor_one_that_is_hardly_smaller_is_a_smaller_gpu(real_rows, fleet, tmp_path):
    """Capacities as machines say them: one has 320 KiB more than another of the same model. The next that is smaller
    is named instead, where it has room."""
    a100, h100 = "NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB HBM3"
    table = {a100: 42_298_507_264, h100: 85_029_027_840, "NVIDIA GeForce RTX 3090": CAPACITY["NVIDIA GeForce RTX 3090"]}

    def run(gpu, above, needed):
        return made.row(real_rows["steady"][0], device={
            "gpu": gpu, "capacity_bytes": table[gpu] + above, "needed_bytes": needed, "peak_allocated_bytes": needed,
            "peak_reserved_bytes": needed})

    full = [run(a100, above, 38 * 10**9) for above in (320 << 10, 0, -(320 << 10), 1 << 30)]  # a 5090 has 33.7e9
    roomy = [run(a100, above, 30 * 10**9) for above in (320 << 10, 0)]
    same_size = run(h100, 0, 70 * 10**9)  # an A100 of 80 GB has 0.05 % less
    near = run("NVIDIA GeForce RTX 3090", 0, 23_900_000_000)  # a 4090 has 0.2 % less, and room
    rows = {row["run"]: row for row in
            ask(fleet, made.put(tmp_path, [*full, *roomy, same_size, near]), "smaller_gpus")}
    assert rows.keys() == {one["run_id"] for one in roomy}
    assert {row["fits_name"] for row in rows.values()} == {"NVIDIA GeForce RTX 5090"}


def test_what_would_have_saved_those_that_ran_out(real_rows, fleet, tmp_path):
    # What piles up until memory runs out is mended by no change of its requests.
    told = real_rows["fails"][0]["advice"]
    assert not [one for one in told if one["mends_out_of_memory"]]
    proved = next(one for one in told if one["proof"] != "measured")
    single = made.row(real_rows["fails"][0], advice=[{**one, "mends_out_of_memory": one is proved} for one in told])
    together = made.row(real_rows["fails"][0], advice=told)
    together["combined"] = [{"device": 0, "advice": "a+b", "saves_bytes": 5, "peak_reserved_bytes": 100, "proof": "estimated"},
                            {"device": 0, "advice": "c+d", "saves_bytes": 4, "peak_reserved_bytes": 200, "proof": "replayed"}]
    hopeless = made.row(real_rows["fails"][0], advice=[], combined=[])
    fine = made.row(real_rows["steady"][0])
    rows = {row["run"]: row for row in ask(fleet, made.put(tmp_path, [single, together, hopeless, fine]), "failed_runs")}
    assert rows.keys() == {one["run_id"] for one in (single, together, hopeless)}
    first = next(one for one in single["advice"] if one["mends_out_of_memory"])
    found = rows[single["run_id"]]
    assert (found["saved_by"], found["saves_bytes"], found["proof"]) == (first["advice"], first["saves_bytes"], first["proof"])
    assert found["requested_bytes"] == single["out_of_memory"][0]["requested_bytes"] and found["leaks"] == "device:0"
    assert (rows[together["run_id"]]["saved_by"], rows[together["run_id"]]["saves_bytes"]) == ("a+b", 5)
    assert rows[hopeless["run_id"]]["saved_by"] is None


def brute_force(before, after) -> tuple:
    """U and p of the two-sided Mann-Whitney test as the textbook has them: by pairs, and the normal approximation."""
    u = sum((a > b) + (a == b) / 2 for a in after for b in before)
    n, m, values = len(before), len(after), [*before, *after]
    ties = sum(values.count(value) ** 3 - values.count(value) for value in set(values))
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    z = max(0.0, abs(u - n * m / 2) - 0.5) / math.sqrt(variance) if variance > 0 else 0.0
    return u, math.erfc(z / math.sqrt(2))


def adjusted(values) -> list:
    """Benjamini and Hochberg's."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    made_of, least = [0.0] * len(values), 1.0
    for place in range(len(order), 0, -1):
        least = min(least, values[order[place - 1]] * len(values) / place)
        made_of[order[place - 1]] = least
    return made_of


def test_what_a_release_changed(real_rows, fleet, tmp_path):
    chance = random.Random(4)
    needs: dict = {}
    rows = []
    for project, factor in (("same", 1.0), ("worse", 1.3), ("better", 0.7), ("tiny", 1.02)):
        for day, times in (("2026-11-03", 1.0), ("2026-11-17", factor)):
            # Few distinct values, so that there are ties.
            chosen = [round(10 * chance.uniform(0.98, 1.02) * times, 1) for _ in range(12)]
            needs[project, day] = [int(value * GIB) for value in chosen]
            rows += [plain(real_rows, need, run_date=day, project_name=project) for need in needs[project, day]]
    rows += [plain(real_rows, GIB, run_date=day, project_name="few") for day in ("2026-11-03", "2026-11-17") for _ in range(4)]
    place = made.put(tmp_path, rows)
    found = ask(fleet, place, "regressions", "--before", "2026-11-01..2026-11-10", "--after", "2026-11-11..2026-11-20")
    verdicts = {(row["project"], row["metric"]): row for row in found}
    assert not [row for row in found if row["project"] == "few"]
    for project, verdict, factor in (("same", None, 1), ("worse", "worse", 1.3), ("better", "better", 0.7), ("tiny", None, 1.02)):
        row = verdicts[project, "needed_bytes"]
        u, p = brute_force(needs[project, "2026-11-03"], needs[project, "2026-11-17"])
        assert row["u"] == u and row["p"] == pytest.approx(p, rel=2e-7)
        assert row["share_higher"] == pytest.approx(u / 144) and (row["runs_before"], row["runs_after"]) == (12, 12)
        assert row["verdict"] == verdict and 1 + row["change"] == pytest.approx(factor, rel=0.03)
    told = fleet("report", place, "--before", "2026-11-01..2026-11-10", "--after", "2026-11-11..2026-11-20", "--rows", 99).out
    said = told.split("What changed")[1].splitlines()
    assert "regressions: 6)" in said[0] and not [line for line in said if line.split()[:1] in (["same"], ["tiny"])]
    expected = adjusted([row["p"] for row in found])
    assert [row["p_adjusted"] for row in found] == pytest.approx(expected)
    others = {metric for project, metric in verdicts if verdicts[project, metric]["verdict"] and
              metric not in ("needed_bytes", "peak_allocated_bytes", "peak_reserved_bytes")}
    assert others == set()


def test_periods_by_label(real_rows, fleet, tmp_path):
    rows = [plain(real_rows, (10 + number / 10) * GIB * (1 if release == "1" else 2),
                  labels=[{"label": "release", "label_value": release}, {"label": "team", "label_value": "a"}])
            for release in "12" for number in range(8)]
    found = ask(fleet, made.put(tmp_path, rows), "regressions", "--before", "release=1", "--after", "release=2")
    row, = [one for one in found if one["metric"] == "needed_bytes"]
    assert row["verdict"] == "worse" and row["change"] == pytest.approx(1.0) and row["share_higher"] == 1


def test_more_failures_after_a_release_are_worse(real_rows, fleet, tmp_path):
    rows = [plain(real_rows, 10 * GIB, run_date=day, ran_out_of_memory=number < failing)
            for day, failing in (("2026-11-03", 0), ("2026-11-17", 15)) for number in range(30)]
    found = ask(fleet, made.put(tmp_path, rows), "regressions", "--before", "2026-11-03", "--after", "2026-11-17")
    verdicts = {row["metric"]: row for row in found}
    assert verdicts["ran_out_of_memory"]["verdict"] == "worse" and verdicts["ran_out_of_memory"]["change"] == 0.5
    assert verdicts["needed_bytes"]["verdict"] is None and verdicts["needed_bytes"]["p"] == 1


def test_peaks_are_those_of_runs_that_got_through(real_rows, fleet, tmp_path):
    """As many fail in both periods, at the same full GPU; the others need a tenth more."""
    needs = {day: [round((10 + number / 100) * GIB * factor) for number in range(12)]
             for day, factor in (("2026-11-03", 1.0), ("2026-11-17", 1.1))}
    rows = [plain(real_rows, need, run_date=day) for day in needs for need in needs[day]]
    rows += [plain(real_rows, 23 * GIB, run_date=day, ran_out_of_memory=True) for day in needs for _ in range(8)]
    found = ask(fleet, made.put(tmp_path, rows), "regressions", "--before", "2026-11-03", "--after", "2026-11-17")
    verdicts = {row["metric"]: row for row in found}
    for metric, count in (("peak_allocated_bytes", 12), ("peak_reserved_bytes", 12), ("needed_bytes", 20)):
        assert (verdicts[metric]["runs_before"], verdicts[metric]["runs_after"]) == (count, count), metric
    u, p = brute_force(needs["2026-11-03"], needs["2026-11-17"])
    assert verdicts["peak_reserved_bytes"]["u"] == u and verdicts["peak_reserved_bytes"]["p"] == pytest.approx(p, rel=2e-7)
    assert verdicts["peak_reserved_bytes"]["verdict"] == "worse" and verdicts["ran_out_of_memory"]["verdict"] is None
