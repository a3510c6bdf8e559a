# SPDX-License-Identifier: Apache-2.0
"""Sets memtrace's module, line and category of each block beside the truth, at the same moment."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import agreement
import running_code
import runs

REST = agreement.REST
MODULE, LINE, CATEGORY = 95, 90, 98  # what the bytes at a moment must reach, in percent


@dataclass
class Share:
    bytes: int = 0
    right: int = 0

    def add(self, size: int, is_right: bool) -> None:
        self.bytes += size
        self.right += size if is_right else 0

    @property
    def percent(self) -> float:
        return 100 * self.right / self.bytes if self.bytes else 100.0


@dataclass
class Found:
    """The agreement at one moment. `bytes` of a share: those that the truth speaks of."""

    name: str = ""
    bytes: int = 0
    module: Share = field(default_factory=Share)
    line: Share = field(default_factory=Share)
    category: Share = field(default_factory=Share)
    by_view: int = 0  # of the right lines: only the line that the truth's tensor is a view of
    saved: Share = field(default_factory=Share)  # modules of what the partitioner saves
    saved_line: Share = field(default_factory=Share)
    strange_blocks: int = 0  # in one of the two only, or of another size
    mistakes: Counter = field(default_factory=Counter)

    @property
    def good(self) -> bool:
        return (not self.strange_blocks and self.module.percent >= MODULE and self.line.percent >= LINE
                and self.category.percent >= CATEGORY)


def shown(site: dict) -> tuple | None:
    """The line that memtrace shows: the innermost that is not PyTorch's nor Python's own; in a
    backward pass, which has none of the program, the line of the forward call that it belongs to."""
    for frame in [*site["frames"], *(site["forward_frames"] or ())]:
        if not running_code.is_library(frame["file"]) and "/torchinductor" not in frame["file"] \
                and not running_code.GENERATED_FOLDER.search(frame["file"]):
            return frame["file"], frame["line"]
    return None


def role_of(block: dict, now: str | None, at_peak: bool) -> str:
    """The category of a block at a moment, or, where it is seen as nothing then, at any time of its life. An
    activation that was not seen at the moment is none any more: its backward pass is over."""
    if block.get("told") and (now or "inputs") not in ("weights", "buffers", "gradients", "optimizer_states"):
        return block["told"]
    if now and not block.get("told"):
        return now
    for role in ("weights", "buffers", "gradients", "optimizer_states", "inputs", "activations"):
        if role in block.get("roles", {}) and (at_peak or role != "activations"):
            return role
    return "rest"


def place(root_and_path) -> str:
    return f"{root_and_path[0]}:{root_and_path[1]}"


def chains_of(block: dict) -> list[list]:
    """The nodes that a block may stand for, the best first. What a backward graph returns may lie in
    memory that held something else before, and nobody but Inductor knows when it changed."""
    output, origins = block.get("output") or [], block.get("origins") or []
    return [output + origins] if block.get("graph") == "backward" else [output, origins]


def modules_of(block: dict) -> set[str] | None:
    """The modules that are right for a block; None where the truth does not know."""
    if block.get("owners"):
        return {place(one) for one in block["owners"]}
    for chain in chains_of(block):
        known = {place(one["module"]) for one in chain if one["module"]}
        if known:
            return known
    return {place(block["module"])} if block.get("module") else None


def innermost(frames: list) -> tuple | None:
    """The innermost line of the program in the stack that a node has."""
    for file, line in frames:
        if not running_code.is_library(file):
            return file, line
    return None


def lines_of(block: dict) -> tuple[set, set]:
    """The truth's own lines, and those of what the tensor is a view of."""
    if block.get("output") and block.get("graph") != "backward":
        of_nodes = [innermost(one["frames"]) for one in block["output"]]
        return {of_nodes[0]} - {None}, set(of_nodes[1:]) - {None}
    for chain in chains_of(block):
        if chain:
            return {innermost(one["frames"]) for one in chain} - {None}, set()
    lines = block.get("lines")
    return ({tuple(lines[0])} if lines else set()), set()


def judge(name: str, blocks: list[dict], truth: dict, memory: list[dict], ordinals: dict[int, int]) -> Found:
    """`blocks`: of the truth's moment; `memory`: of the report's; `ordinals`: event -> ordinal."""
    found = Found(name)
    wanted = {block["born"]: block for block in blocks} if blocks is not None else None
    for device in memory:
        sites = device["call_sites"]
        for theirs in device["blocks"]:
            born = ordinals.get(theirs["born_event"], 0)
            ours = wanted.pop(born, None) if wanted is not None else {}
            found.strange_blocks += ours is None or bool(ours) and ours["bytes"] != theirs["bytes"]
            site = theirs["call_site"]
            _compare(found, truth["blocks"][born], (ours or {}).get("now"), wanted is None, theirs,
                     shown(sites[site]) if site is not None else None)
    found.strange_blocks += len(wanted or ())
    return found


def _compare(found: Found, block: dict, now: str | None, at_peak: bool, theirs: dict,
             their_line: tuple | None) -> None:
    size = theirs["bytes"]
    found.bytes += size
    role = role_of(block, now, at_peak)
    right_category = agreement.matches(role, theirs["category"])
    found.category.add(size, right_category)
    module = f"{theirs['root']}:{running_code.clean(theirs['module'])}" if theirs["module"] is not None else "none"
    saved = bool(block.get("output")) and role == "activations"
    wrong = [] if right_category else [f"category {theirs['category']}, truth {role}"]
    modules = modules_of(block) if theirs["category"] != "workspace" else None
    if modules is not None:
        found.module.add(size, module in modules)
        if saved:
            found.saved.add(size, module in modules)
        if module not in modules:
            wrong.append(f"module {module}, truth {' or '.join(sorted(modules))}")
    own, viewed = lines_of(block) if theirs["category"] != "workspace" else (set(), set())
    if own or viewed:
        line = their_line or ("no line", 0)
        right = line in own | viewed
        found.line.add(size, right)
        if saved:
            found.saved_line.add(size, right)
        found.by_view += size if right and line not in own else 0
        if not right:
            wrong.append(f"line {short(line)}, truth {', '.join(map(short, sorted(own | viewed)))}")
    if wrong:
        nodes = [one["node"] for one in block.get("output") or block.get("origins") or ()][:3]
        kind = "output" if block.get("output") else "origin" if block.get("origins") else "eager"
        if not block.get("output") and block.get("buffer"):
            kind += f" {block['buffer'][1]}"
        found.mistakes[f"{role} ({theirs['phase']}, {theirs['rule']}): {'; '.join(wrong)} [{kind} {' '.join(nodes)}]"] += size


def short(line: tuple) -> str:
    return f"{Path(line[0]).name}:{line[1]}"


def counts(trace: Path) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
    """Event of each allocation -> its ordinal; (allocations, frees) -> the event they are reached at."""
    ordinals, moments = {}, {}
    allocations = frees = 0
    for line in runs.dump(trace, stacks=False):
        kind = line["kind"]
        if kind not in ("alloc", "free_completed"):
            continue
        allocations += kind == "alloc"
        frees += kind == "free_completed"
        if kind == "alloc":
            ordinals[line["n"]] = allocations
        moments[allocations, frees] = line["n"]
    return ordinals, moments


def compare(trace: Path, truth: dict, folder: Path, names: tuple[str, ...]) -> tuple[dict, list[Found]]:
    """At the peak, and of each of the moments' names at the one with the most memory."""
    ordinals, events = counts(trace)
    report, memory = agreement.report_with_blocks(trace, folder, None)
    found = [judge("peak", None, truth, memory, ordinals)]
    for name in names:
        moments = [moment for moment in truth["moments"] if moment["name"] == name]
        if not moments:
            continue
        moment = max(reversed(moments), key=lambda one: one["bytes"])
        event = events[moment["allocations"], moment["frees"]]
        _, memory = agreement.report_with_blocks(trace, folder, event)
        found.append(judge(name, moment["blocks"], truth, memory, ordinals))
    return report, found


def show(name: str, found: list[Found], most: int = 8) -> None:
    for one in found:
        print(f"{name}, {one.name}: {one.bytes / 2**20:.1f} MiB; module {one.module.percent:.2f} % of "
              f"{100 * one.module.bytes / one.bytes:.1f} %; line {one.line.percent:.2f} % of "
              f"{100 * one.line.bytes / one.bytes:.1f} % (by a view's {100 * one.by_view / one.bytes:.1f} %); "
              f"category {one.category.percent:.2f} %; saved: module {one.saved.percent:.2f}, line "
              f"{one.saved_line.percent:.2f} of {one.saved.bytes / 2**20:.1f} MiB; strange {one.strange_blocks}")
        for what, size in one.mistakes.most_common(most):
            print(f"    {size:,}  {what}")


def main(arguments: list[str]) -> None:
    trace, truth, folder = map(Path, arguments)
    facts = json.loads(truth.read_text())
    for problem in facts["problems"][:5]:
        print("problem:", problem)
    _, found = compare(trace, facts, folder, ("end of forward", "end of step"))
    show(truth.stem, found)


if __name__ == "__main__":
    import sys
    main(sys.argv[1:])
