# SPDX-License-Identifier: Apache-2.0
"""The oldest and the newest PyTorch are traced exactly; scripts/versions runs all of them."""

import pytest

import environments
import interpreters
import version_runs

pytestmark = pytest.mark.slow
CASES = [
    pytest.param(torch, python, setting, id=f"{torch}-{python}-{setting}")
    for torch, python in ((environments.OLDEST, interpreters.RUNNING), (environments.NEWEST, interpreters.RUNNING),
                          (environments.NEWEST, interpreters.VERSIONS[-1]))
    for setting in version_runs.SETTINGS
]


@pytest.mark.parametrize(("torch", "python", "setting"), CASES)
def test_a_version_trains_and_is_traced_exactly(torch, python, setting, built, tmp_path):
    version = environments.Version(torch, python)
    try:
        run = version_runs.run_one(version, setting, tmp_path)
    except environments.Unavailable as why:
        pytest.skip(str(why))
    found = run.found
    assert run.infos["torch"].startswith(f"{torch}+cu")
    assert run.infos["event_source"] == "tracker"
    assert run.infos["python_stacks"] == run.infos["agent"] == run.infos["autograd"] == "on"
    assert "the simulated GPU has no" not in run.said
    assert found.events > 5000 and found.with_frames > 2000 and found.streams > 3
    assert found.deferred > 0, "no free waited for a stream"
    assert ("segment_map" in found.kinds) == (setting == "expandable")
    assert len(run.snapshot_pools) > 1, "the graph has no private pool"
    assert found.differences == 0, "\n".join(found.shown)
    assert run.snapshot_pools <= run.pools
    # Three training loops of 4, 6 and 6 steps; the graph's three warm-up steps and its capture.
    # The first is missed where the agent comes late, as it may on a busy machine.
    assert run.report["steps"]["count"] in (19, 20)
    assert run.report["completeness"]["clean_exit"] is True
    assert run.report["completeness"]["dropped_events"] == 0
