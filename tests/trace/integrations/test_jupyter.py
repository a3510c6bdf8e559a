# SPDX-License-Identifier: Apache-2.0
"""Notebooks in a kernel that `memtrace kernel install` made, driven by Jupyter's own client."""

import json
import os
import re
import subprocess
import time

import pytest

import logged
import runs

pytestmark = [pytest.mark.usefixtures("built"), logged.needs("nbclient", "ipykernel", "IPython", "jupyter_client")]

MIB = 1 << 20


def kernel_install(*arguments, folder, **variables):
    line = [runs.python(), "-m", "memtrace", "kernel", "install", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, cwd=folder,
                          env=runs.environment({**logged.VARIABLES, **variables}))


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """The name of a kernel on the simulated GPU; its traces go to the folder `traces`."""
    made = kernel_install("--prefix", tmp_path / "env", "--name", "traced", "--gpu", runs.GPU,
                          "--output", tmp_path / "traces", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    for name in [name for name in os.environ if name.startswith(("MEMTRACE_", "PYTORCH_"))]:
        monkeypatch.delenv(name)
    for name, value in logged.VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "env" / "share" / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    return "traced"


def notebook_of(*cells):
    import nbformat

    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


def run_notebook(kernel, folder, *cells, **how):
    from nbclient import NotebookClient

    return NotebookClient(notebook_of(*cells), kernel_name=kernel, timeout=300,
                          resources={"metadata": {"path": str(folder)}}, **how).execute().cells


def texts(cell, name="stdout"):
    return "".join(one.get("text", "") for one in cell.outputs if one.get("name") == name)


def shown(cell) -> dict:
    [data] = [one["data"] for one in cell.outputs if one["output_type"] == "display_data"]
    return data


def mib(text: str, pattern: str) -> int:
    """The size that the pattern finds, in bytes."""
    return round(float(re.search(pattern, text)[1]) * MIB)


CELL = """%%memtrace
import torch
kept = torch.zeros(3 << 18, device="cuda")
passing = torch.zeros(5 << 18, device="cuda")
del passing
kept.numel()"""
COUNTS = "print(torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated())"


def test_a_cell_says_its_peak_what_stayed_and_its_lines(kernel, tmp_path):
    cells = run_notebook(kernel, tmp_path, "%load_ext memtrace", CELL, COUNTS,
                         "%%memtrace --phase second\ndel kept\nagain = torch.zeros(1 << 18, device='cuda')", COUNTS)
    first, second = shown(cells[1]), shown(cells[3])
    peak, after = map(int, texts(cells[2]).split())
    assert (peak, after) == (8 * MIB, 3 * MIB)
    text = first["text/plain"]
    assert text.startswith("In [2], cuda:0: ")
    assert mib(text, r"peak ([\d.]+) MiB allocated") == peak
    assert mib(text, r"; ([\d.]+) MiB stayed") == after
    largest, other = text.splitlines()[1:]
    assert re.fullmatch(r" +5 MiB  \S.*:4  passing = torch.zeros\(5 << 18, device=\"cuda\"\)", largest)
    assert re.fullmatch(r" +3 MiB  \S.*:3  kept = torch.zeros\(3 << 18, device=\"cuda\"\)", other)
    assert first["text/html"].count("<tr>") == 3
    assert "passing = torch.zeros(5 &lt;&lt; 18" in first["text/html"]
    # The value of its last expression is shown as without the magic.
    assert [one["data"]["text/plain"] for one in cells[1].outputs if one["output_type"] == "execute_result"] == [
        str(3 << 18)]

    _, after_second = map(int, texts(cells[4]).split())
    assert second["text/plain"].startswith("second, cuda:0: peak 1 MiB allocated")
    assert mib(second["text/plain"], r"; ([\d.]+) MiB from before went") == after - after_second


def test_a_cell_that_fails_fails_and_is_shown(kernel, tmp_path):
    cells = run_notebook(
        kernel, tmp_path, "%load_ext memtrace\nimport torch",
        "%%memtrace\nmuch = torch.zeros(1 << 18, device='cuda')\ntorch.zeros(1 << 40, device='cuda')",
        "%%memtrace --phases x\n1", "%%memtrace\n1 + 1", allow_errors=True)
    [error] = [one for one in cells[1].outputs if one["output_type"] == "error"]
    assert error["ename"] == "OutOfMemoryError"
    first, second = shown(cells[1])["text/plain"].splitlines()[:2]
    assert first.startswith("OUT OF MEMORY · 4 TiB refused at ") and "OUT OF MEMORY" in shown(cells[1])["text/html"]
    assert second.startswith("In [2], cuda:0: peak 1 MiB allocated; 1 MiB stayed")
    assert texts(cells[2], "stderr") == (
        "UsageError: write %%memtrace, or %%memtrace --phase NAME, at the top of a cell\n")
    assert texts(cells[3]) == "In [4]: the cell allocated no GPU memory\n"


@pytest.fixture
def plain_kernel(kernel, tmp_path, monkeypatch):
    """One that was started without memtrace, on the simulated GPU."""
    spec = tmp_path / "env" / "share" / "jupyter" / "kernels" / kernel / "kernel.json"
    plain = json.loads(spec.read_text())
    line, _ = runs.command_line(plain["argv"][plain["argv"].index("--") + 1:], None)
    spec.write_text(json.dumps({**plain, "argv": line}))
    monkeypatch.setenv("MEMTRACE_COMMAND", str(runs.memtrace()))
    return kernel


def test_a_kernel_without_memtrace_is_recorded_from_load_ext_on(plain_kernel, tmp_path):
    *_, filled, shown_late = run_notebook(
        plain_kernel, tmp_path, "import torch; model = torch.nn.Linear(1024, 1024, device='cuda')", "%load_ext memtrace",
        "%%memtrace\nprint(6 * 7)", "%%memtrace\nkept = torch.zeros(3 << 18, device='cuda')\nprint(kept.shape)",
        "import memtrace; print(memtrace.report().completeness.allocated_before_bytes)")
    assert texts(filled) == "torch.Size([786432])\n"
    assert "peak 7 MiB allocated; 3 MiB stayed" in shown(filled)["text/plain"]
    assert "kept = torch.zeros(3 << 18, device='cuda')" in shown(filled)["text/plain"]
    assert texts(shown_late) == f"{4 * MIB + 4096}\n"


def test_where_nothing_can_be_recorded_a_cell_runs_and_says_the_remedy(plain_kernel, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACE_DISABLE", "1")
    [_, cell] = run_notebook(plain_kernel, tmp_path, "%load_ext memtrace", "%%memtrace\nprint(6 * 7)")
    assert texts(cell) == "42\n"
    assert texts(cell, "stderr") == (
        "memtrace: this cell ran and was not recorded (nothing is recorded: MEMTRACE_DISABLE or MEMTRACE_DEEP_BINDING=0 is "
        "set, or the folder of MEMTRACE_OUTPUT cannot be written to); run memtrace kernel install once in a terminal, then choose the memtrace "
        "kernel for this notebook\n")


USES_THE_GPU = "import os; print(os.getpid())\nimport torch; a = torch.ones(9, device='cuda')"


def evaluated(client, code: str) -> tuple[str, list[str]]:
    """How the kernel answered, and the lines that it printed."""
    lines = []

    def keep(message):
        if message["msg_type"] == "stream":
            lines.extend(message["content"]["text"].splitlines())

    reply = client.execute_interactive(code, output_hook=keep, timeout=300)
    return reply["content"].get("ename", reply["content"]["status"]), lines


def test_an_interrupt_a_restart_and_the_end(kernel, tmp_path):
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name=kernel)
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=300)
        answer, [first] = evaluated(client, USES_THE_GPU)
        assert answer == "ok"
        # A cell that fails makes the kernel drop what was sent meanwhile, unless it is told not to.
        sent = client.execute("import time\nprint('sleeping', flush=True)\ntime.sleep(600)", stop_on_error=False)
        while client.get_iopub_msg(timeout=300)["content"].get("text") != "sleeping\n":
            pass
        manager.interrupt_kernel()
        reply = client.get_shell_msg(timeout=300)
        assert reply["parent_header"]["msg_id"] == sent
        assert reply["content"]["ename"] == "KeyboardInterrupt"
        # Once: nothing is left that would interrupt what comes next, and the process is the same.
        assert evaluated(client, "import time; time.sleep(0.5); print(os.getpid())") == ("ok", [first])

        manager.restart_kernel()
        client.wait_for_ready(timeout=300)
        answer, [second] = evaluated(client, USES_THE_GPU)
        assert answer == "ok"
        assert second != first
        assert not is_running(first)
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    assert not is_running(second)
    assert len(runs.traces_in(tmp_path / "traces")) == 2


def is_running(pid: str) -> bool:
    """Given a moment: what was killed with its parent is reaped by another process."""
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return False
        except FileNotFoundError:
            return False
        time.sleep(0.1)
    return True


def test_what_is_installed(tmp_path):
    made = kernel_install("--prefix", tmp_path, "--display-name", "My kernel", folder=tmp_path)
    file = tmp_path / "share" / "jupyter" / "kernels" / "memtrace" / "kernel.json"
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith(f"Wrote {file}; choose the kernel \"My kernel\" in Jupyter")
    spec = json.loads(file.read_text())
    assert spec["display_name"] == "My kernel"
    assert spec["argv"][:4] == [str(runs.memtrace()), "run", "--no-report", "--"]
    assert spec["argv"][4:] == [runs.python(), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    user = kernel_install("--user", folder=tmp_path, JUPYTER_DATA_DIR=str(tmp_path / "data"))
    assert user.returncode == 0, user.stderr
    assert (tmp_path / "data" / "kernels" / "memtrace" / "kernel.json").exists()


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["--gpu", "abacus"], "abacus"),
    (["--name", "a kernel"], "use letters, digits"),
    (["--prefix", "/proc"], "choose --user, or another --prefix"),
])
def test_what_cannot_be_installed_is_one_sentence(tmp_path, arguments, sentence):
    where = [] if "--prefix" in arguments else ["--prefix", tmp_path]
    made = kernel_install(*where, *arguments, folder=tmp_path)
    assert made.returncode != 0
    assert made.stderr.startswith("memtrace: ")
    assert made.stderr.count("\n") == 1
    assert sentence in made.stderr
    assert list(tmp_path.iterdir()) == []
