# SPDX-License-Identifier: Apache-2.0
"""Where there is less to learn from than usual, recording goes on with what there is, the program
does the same, and the report says what is missing and why."""

import subprocess

import pytest

import runs
from observed import facts, script
from pairs import counted, events, run_both, without_our_lines

pytestmark = pytest.mark.usefixtures("built")

# Features that memtrace asks for and a PyTorch may lack; the name of each is to be said.
LACKS = ["register_optimizer_step_pre_hook",
         pytest.param("register_optimizer_step_post_hook", marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def bare_training(built):
    return runs.run(script("another_torch"), None).expect(0)


def train(tmp_path, bare: runs.Outcome, *arguments: str, **how):
    """The one trace, and its lines, of a training that says what the bare one says."""
    traced = runs.run(script("another_torch", *arguments), tmp_path / "trace", **how).expect(0)
    assert traced.stdout == bare.stdout
    assert without_our_lines(traced.stderr) == without_our_lines(bare.stderr)
    assert len(traced.traces) == 1
    lines = events(traced.traces[0])
    assert counted(lines, "alloc") == int(bare.stdout.split()[0])
    return traced.traces[0], lines


def said_with_the_reason(trace, reason: str) -> str:
    """The report's own words, which must have the reason in them."""
    text = runs.report_text([trace])
    assert reason in text, text
    return text


def test_program_without_python(tmp_path):
    if runs.on_real_gpu():
        pytest.skip("links against the simulated CUDA")
    program = tmp_path / "without_python"
    subprocess.run(["c++", "-o", program, script("without_python")[1].replace(".py", ".cpp"),
                    f"-L{runs.build() / 'simulator' / 'cuda13'}", "-lmemtrace_cuda"], check=True)
    pair = run_both([str(program)], tmp_path)
    assert pair.bare.expect(0).stdout == b"1 0\n2 0\n4 0\n0\n"
    lines = events(pair.traced.traces[0])
    sizes = [line["size"] >> 20 for line in lines if line["kind"] == "cuda_call" and line.get("size")]
    assert sizes[:3] == [1, 2, 4]
    assert facts(lines).get("agent") != "on"
    said_with_the_reason(pair.traced.traces[0], "no Python")


@pytest.mark.parametrize("version, reason", [
    ("3.16.0 (main) [GCC 12.2.0]", "only Python 3.9 to 3.15 is supported"),
    ("3.14.0 free-threading build (main) [GCC 12.2.0]", "free-threaded Python is not supported"),
    ("3.13.1 experimental free-threading build (main) [GCC]", "free-threaded Python is not supported"),
    ("3.15.1 (main) [GCC 12.2.0]", "this Python's objects have another layout"),
    ("4.0.0", "only Python 3.9 to 3.15 is supported"),
    ("no version", "only Python 3.9 to 3.15 is supported"),
])
def test_python_that_is_not_supported(version, reason, tmp_path):
    if runs.on_real_gpu():
        pytest.skip("links against the simulated CUDA")
    program, sources = tmp_path / "another_python", script("another_python")[1].replace(".py", ".cpp")
    subprocess.run(["c++", "-rdynamic", f'-DVERSION="{version}"', "-o", program, sources,
                    sources.replace("another_python", "without_python"),
                    f"-L{runs.build() / 'simulator' / 'cuda13'}", "-lmemtrace_cuda"], check=True)
    pair = run_both([str(program)], tmp_path)
    assert pair.bare.expect(0).stdout == b"1 0\n2 0\n4 0\n0\n"
    lines = events(pair.traced.traces[0])
    assert counted(lines, "cuda_call") >= 3
    assert facts(lines)["python_stacks"] == reason
    assert facts(lines)["agent"] != "on"
    assert pair.traced.stderr.decode().count(reason) == 1


def test_python_without_torch(tmp_path):
    pair = run_both(script("without_torch"), tmp_path)
    assert pair.bare.expect(0).stdout == b"1 0\n2 0\n4 0\n0 False\n"
    lines = events(pair.traced.traces[0])
    sizes = [line["size"] >> 20 for line in lines if line["kind"] == "cuda_call" and line.get("size")]
    assert sizes[:3] == [1, 2, 4]
    assert facts(lines).get("agent") != "on"
    said_with_the_reason(pair.traced.traces[0], "PyTorch")


@pytest.mark.slow
def test_agent_switched_off(tmp_path, bare_training):
    trace, lines = train(tmp_path, bare_training, env={"MEMTRACE_AGENT": "0"})
    assert "MEMTRACE_AGENT" in facts(lines)["agent"]
    assert counted(lines, "step") == 0
    said_with_the_reason(trace, "MEMTRACE_AGENT")


def test_version_that_nobody_knows(tmp_path, bare_training):
    """All that is asked for is there, so all that is said is true of it."""
    _, lines = train(tmp_path, bare_training, "version")
    assert facts(lines)["agent"] == "on"
    assert counted(lines, "step") == 3


@pytest.mark.parametrize("missing", LACKS)
def test_torch_that_lacks(missing, tmp_path, bare_training):
    trace, lines = train(tmp_path, bare_training, f"torch.optim.optimizer.{missing}")
    assert missing in facts(lines)["agent"]
    # Parameters need no hook of optimizers.
    names = {line["name"] for line in lines if line["kind"] == "storage" and line["role"] == "parameter"}
    assert "blocks.0.norm.weight" in names
    said_with_the_reason(trace, missing)


# Names of PyTorch's own that the agent asks for, and what is lost where they are others.
TORCH = "torch:"
OPTIMIZER = "torch.optim.optimizer:"
HIDDEN = {
    TORCH + "_C._get_tracing_state": None,  # there is another way
    "torch.nn.modules.activation:_is_make_fx_tracing": None,
    TORCH + "_C._functorch.maybe_current_level": None,
    TORCH + "jit.is_tracing": None,
    TORCH + "compiler.is_compiling": "optimizers",
    TORCH + "_C._DisableTorchDispatch": "tensors",
    TORCH + "_C.DisableTorchFunction": "tensors",
    OPTIMIZER + "Optimizer.profile_hook_step": "optimizers",
    "torch.utils.hooks:RemovableHandle.next_id": "optimizers",
    TORCH + "_C._cuda_attach_out_of_memory_observer": "censuses when memory runs out",
    TORCH + "_C._dynamo.eval_frame": "being left out of compiled code",
    TORCH + "_C._dynamo.eval_frame._FrameAction": "being left out of compiled code",
    TORCH + "_C._dynamo.eval_frame.set_code_exec_strategy": "being left out of compiled code",
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_name_that_is_another_costs_what_it_was_for(hidden, tmp_path, bare_training):
    traced = runs.run(script("hidden_names", hidden), tmp_path / "trace").expect(0)
    assert traced.stdout == bare_training.stdout
    assert without_our_lines(traced.stderr) == without_our_lines(bare_training.stderr)
    lines = events(traced.traces[0])
    lost = HIDDEN[hidden]
    said = facts(lines)["agent"]
    assert said == "on" if lost is None else said.startswith(f"without {lost} (no "), said
    assert said.count(" (") == (lost is not None)
    assert counted(lines, "step") == (0 if lost == "optimizers" else 3)
    roles = {line["role"] for line in lines if line["kind"] == "storage"}
    assert ("parameter" in roles) == (lost != "tensors")


def test_observers_of_an_allocator_that_holds_its_lock(tmp_path, bare_training):
    """PyTorch 2.0 calls them under the device's mutex."""
    _, lines = train(tmp_path, bare_training, "version=2.0.1+cu118")
    assert facts(lines)["agent"].startswith("without censuses when memory runs out (PyTorch 2.0.1")
    assert counted(lines, "step") == 3


def test_autograd_switched_off(tmp_path, bare_training):
    _, lines = train(tmp_path, bare_training, env={"MEMTRACE_AUTOGRAD": "0"})
    assert facts(lines)["autograd"] == "MEMTRACE_AUTOGRAD=0"
    assert facts(lines)["agent"] == "on"
    assert counted(lines, "step") == 3  # the agent goes on
    assert not [line for line in lines if line["kind"] in ("saved", "storage")
                and line.get("role") not in ("workspace", "host_copy")]
    assert not [line for line in lines if line["kind"] == "phase" and line["source"] == "backward"]
    claims = ("scope", "node", "module", "root")
    allocations = [line for line in lines if line["kind"] == "alloc"]
    assert allocations and not [line for line in allocations for claim in claims if line.get(claim)]


def test_optimizer_hooks_switched_off(tmp_path, bare_training):
    _, lines = train(tmp_path, bare_training, env={"MEMTRACE_OPTIMIZER_HOOKS": "0"})
    assert facts(lines)["agent"] == "on"
    assert counted(lines, "step") == 0
    roles = {line["role"] for line in lines if line["kind"] == "storage"}
    assert "parameter" in roles
    assert not roles & {"optimizer_state", "gradient"}


def test_minimal_leaves_pytorch_alone(tmp_path, bare_training):
    _, lines = train(tmp_path, bare_training, env={"MEMTRACE": "minimal"})
    assert facts(lines)["agent"] == facts(lines)["autograd"] == "MEMTRACE=minimal"
    assert counted(lines, "step") == counted(lines, "saved") == 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize("without, why", [
    (["EXECUTE"], "a backward pass ran that Engine::execute was not called for"),
    (["EXECUTE", "EVALUATE"], "a backward pass ran that no hook was called for"),
    (["EVALUATE"], None),
    ([], None),
])
def test_backward_that_does_not_come_through_the_hooks(without, why, tmp_path, bare_training):
    first = tmp_path / "first.so"
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", "-O1", "-o", first, f"-I{runs.ROOT}",
                    *(f"-DWITHOUT_{name}" for name in without),
                    script("before_autograd")[1].replace(".py", ".cpp")], check=True)
    command = ["sh", "-c", f'LD_PRELOAD="{first}:$LD_PRELOAD" exec "$@"', "sh", *script("another_torch")]
    traced = runs.run(command, tmp_path / "trace").expect(0)
    assert traced.stdout == bare_training.stdout
    (trace,) = [one for one in traced.traces if counted(events(one), "alloc")]
    lines = events(trace)
    refused = [line["value"] for line in lines if line["kind"] == "info" and line["key"] == "refused"]
    assert refused == ([] if why is None else [f"autograd: {why}"])
    assert traced.stderr.decode().count("a backward pass ran that") == (why is not None)
    assert counted(lines, "step") == 3
    passes = [line for line in lines if line["kind"] == "phase" and line["source"] == "backward"]
    assert bool(passes) == ("EXECUTE" not in without)


def test_objects_that_notice_or_fail_when_looked_at(tmp_path):
    pair = run_both(script("hostile"), tmp_path, env={"PYTHONHASHSEED": "0"})
    assert b"watched: [" in pair.bare.expect(0).stdout
    lines = events(pair.traced.traces[0])
    assert facts(lines)["agent"] == "on"
    # Those that can be walked are named all the same.
    assert "Recursive" in {line["type"].split(".")[-1] for line in lines if line["kind"] == "module"}
