# SPDX-License-Identifier: Apache-2.0
"""Which programs are compared with the truth, and how one of them runs."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import agreement
import programs
import recordings
import runs

HERE = Path(__file__).resolve().parent
COLLECT = HERE / "collect.py"
# The peak of all, and the highest moments with grad mode on, inside backward, with grad mode off.
MOMENTS = ("all", "grad", "backward", "no_grad")


@dataclass(frozen=True)
class Case:
    name: str
    program: str
    arguments: tuple[str, ...] = ()
    quick: bool = False  # what every change is tested with; the results script runs all
    ranks: int = 1
    what: str = ""
    not_right_yet: str = ""  # why memtrace does not agree


CASES = [
    Case("perceptron", "perceptron", what="Adam, dropout"),
    Case("ResNet-50", "resnet50", what="SGD with momentum, evaluation"),
    Case("ViT", "vit", what="AdamW, bfloat16 autocast"),
    Case("GPT", "gpt", quick=True, what="tied embeddings, AdamW, clipping, schedule"),
    Case("LSTM", "lstm_tagger", what="Adam, sequences of different lengths"),
    Case("mT5, Trainer", "mt5_trainer", ("--large",), what="fp16, accumulation, evaluation"),
    Case("LoRA, peft", "lora_peft", ("--large",), what="Llama in bfloat16"),
    Case("LoRA, checkpointing", "lora_peft", ("--large", "--checkpoint"), what="Llama in bfloat16"),
    Case("QLoRA, bitsandbytes", "qlora_bitsandbytes", ("--large",), what="4-bit Llama, 8-bit AdamW"),
    Case("GAN", "dcgan", what="two models, two optimizers"),
    Case("checkpointed", "checkpointed", what="transformer, fp16 autocast, GradScaler"),
    Case("checkpointed, re-entrant", "checkpointed", ("--reentrant",), what="the same"),
    Case("not checkpointed", "checkpointed", ("--plain",), what="the same"),
    Case("DDP", "ddp", ranks=2, what="two ranks, SGD with momentum"),
    Case("DDP, bucket views", "ddp", ("--view",), ranks=2, what="gradient_as_bucket_view"),
    Case("by hand", "by_hand", quick=True, what="no nn.Module, no optimizer"),
    Case("GPT, EMA", "gpt", ("--ema",), what="averaged copy of the weights"),
    Case("GPT, fused", "gpt", ("--fused",), what="fused AdamW"),
    Case("GPT, accumulation", "gpt", ("--accumulate", "2"), what="set_to_none=False"),
    Case("GPT, prefetching", "gpt", ("--streams",), what="batches copied ahead on a stream of their own"),
    Case("8-bit Adam", "eight_bit", what="bitsandbytes; model.half() in the middle"),
    Case("gradient penalty", "penalty", what="a backward through a backward, RMSprop"),
    Case("own Functions", "own_functions", what="custom Functions, L-BFGS with a closure"),
    Case("own Functions, offloaded", "own_functions", ("--offload",), what="save_on_cpu"),
    Case("FSDP2", "fsdp", ranks=2, what="fully_shard, two ranks, AdamW"),
    Case("perceptron, compiled", "perceptron", ("--compile",), what="torch.compile, inductor"),
    Case("generation", "generation", what="GPT-2, no training, dynamic KV cache"),
    Case("tensor parallel", "tensor_parallel", ranks=2, what="DTensor, columns and rows, two ranks"),
    Case("quantised subclass, LoRA", "quantised_subclass", what="a wrapper subclass of the program's own"),
    Case("LLM.int8, LoRA", "quantised_subclass", ("--bitsandbytes",), what="bitsandbytes' 8-bit layers"),
    Case("torchao, LoRA", "quantised_subclass", ("--torchao",), what="torchao's 8-bit tensors"),
    Case("torchao, answers", "quantised_subclass", ("--torchao", "--frozen"), what="the same without training"),
    Case("sparse embeddings", "sparse", what="sparse gradients, SparseAdam and Adam"),
    Case("graph, COO", "sparse", ("--graph",), what="sparse adjacency matrix"),
    Case("graph, CSR", "sparse", ("--graph", "--rows"), what="the same, its rows compressed"),
    Case("jagged", "jagged", what="nested jagged tensors, attention, bfloat16"),
    Case("save_on_cpu, pinned", "kept_elsewhere", what="a transformer's blocks"),
    Case("selective checkpointing", "kept_elsewhere", ("--selective",), what="matrix products are kept"),
    Case("DDP, no_sync", "ddp", ("--accumulate",), ranks=2, what="two batches a step"),
    Case("weight averaging", "averaged", what="AveragedModel with buffers, evaluated"),
    Case("gradients of each sample", "functional", what="torch.func: vmap of grad, functional_call"),
    Case("stacked ensemble", "functional", ("--ensemble",), what="torch.func: stack_module_state, vmap"),
    Case("Muon", "own_optimizers", what="momentum_buffer, Newton-Schulz"),
    Case("optimizer with lists", "own_optimizers", ("--lists",), what="keeps nothing in optimizer.state"),
    Case("optimizer of no class", "own_optimizers", ("--plain",), what="no torch.optim.Optimizer"),
    Case("LoRA, switched", "switched_lora", what="two adapters, trained by turns"),
    Case("memory pool", "memory_pool", what="torch.cuda.MemPool"),
    Case("pipeline", "pipeline", ranks=2, what="torch.distributed.pipelining, two ranks"),
    Case("generation, static cache", "cached_generation", ("--static",), what="Llama"),
    Case("generation, quantised cache", "cached_generation", ("--quantised",), what="Llama, 8-bit floats"),
    Case("generation, sliding window", "cached_generation", ("--sliding",), what="Gemma 3, hybrid cache"),
    Case("generation, beams", "cached_generation", ("--beams",), what="Llama, four beams"),
    Case("own static cache", "static_cache", quick=True, what="buffers k_cache and v_cache"),
    Case("own static cache, chunked", "static_cache", ("--chunked",), what="the prompt in pieces"),
    Case("paged cache", "paged_cache", what="pools of pages, block tables"),
    Case("continuous batching", "serving", what="a request's keys and values grow by torch.cat"),
    Case("continuous batching, 8 bits", "serving", ("--quantised",), what="the same, quantised"),
]


@dataclass
class Outcome:
    """One process of a case."""

    case: Case
    rank: int
    bare_peak: int | None
    truth: dict
    report: dict
    moments: dict[str, agreement.Agreement] = field(default_factory=dict)  # of MOMENTS


def command(case: Case, *harness) -> list:
    launcher = [runs.python()]
    if case.ranks > 1:
        launcher += ["-m", "torch.distributed.run", f"--nproc-per-node={case.ranks}",
                     "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0"]
    return [*launcher, *harness, programs.path(case.program), *case.arguments]


def run(case: Case, output: Path | None, *harness) -> runs.Outcome:
    machine = {} if runs.on_real_gpu() or case.ranks == 1 else {"devices": case.ranks}
    return recordings.run(command(case, *harness), output, timeout=600,
                          env={"OMP_NUM_THREADS": "1"}, **machine).expect(0)


def written(folder: Path, name: str, case: Case) -> list[dict]:
    """The truth that each rank wrote."""
    names = [f"{name}.json"] if case.ranks == 1 else [f"{name}.{rank}.json" for rank in range(case.ranks)]
    return [json.loads((folder / one).read_text()) for one in names]


def bare_peaks(case: Case) -> dict[int, int]:
    """The peak that each rank counts itself when nobody looks."""
    said = run(case, None).stdout.decode()
    peaks = {int(rank or 0): int(number)
             for rank, number in re.findall(r"^[^:]*:(?: rank (\d+),)?.*peak (\d+) bytes", said, re.MULTILINE)}
    assert len(peaks) == case.ranks, said
    return peaks


def bare_peak(case: Case) -> int:
    return bare_peaks(case)[0]


def find(case: Case, folder: Path, names: tuple[str, ...] = MOMENTS) -> tuple[list[dict], str]:
    """When each rank has its peaks, and all their ordinals as collect.py wants them."""
    run(case, None, COLLECT, "find", folder / "found.json")
    found = written(folder, "found", case)
    for one in found:
        one["peaks"] = {name: peak for name, peak in one["peaks"].items() if name in names}
    ordinals = sorted({peak["ordinal"] for one in found for peak in one["peaks"].values()})
    return found, ",".join(map(str, ordinals))


def collect_only(case: Case, folder: Path) -> tuple[dict, dict]:
    """The truth without memtrace: when the peaks are, and what is allocated then."""
    found, ordinals = find(case, folder)
    run(case, None, COLLECT, "observe", folder / "truth.json", ordinals)
    return found[0], written(folder, "truth", case)[0]


def moment_of(truth: dict, found: dict, name: str) -> dict:
    ordinal = found["peaks"][name]["ordinal"]
    return next(moment for moment in truth["moments"] if moment["ordinal"] == ordinal)


def run_case(case: Case, folder: Path, names: tuple[str, ...] = MOMENTS,
             also_bare: bool = False) -> list[Outcome]:
    """An outcome a rank."""
    bare = bare_peaks(case) if also_bare else {}
    found, ordinals = find(case, folder, names)
    traced = run(case, folder / "trace", COLLECT, "observe", folder / "truth.json", ordinals)
    outcomes = []
    for rank, (peaks, truth) in enumerate(zip(found, written(folder, "truth", case))):
        assert not truth["failures"], truth["failures"][0]
        at_peak = moment_of(truth, peaks, "all")
        assert at_peak["allocated_bytes"] == truth["peak_allocated_bytes"], "observed another moment"
        trace = next(one for one in traced.traces if f".{truth['process']}." in one.name)
        outcomes.append(agree(case, rank, bare.get(rank), peaks, truth, trace, folder))
    return outcomes


def agree(case, rank, bare, peaks, truth, trace, folder) -> Outcome:
    events = agreement.events_of_allocations(trace)
    found = Outcome(case, rank, bare, truth, {})
    for name, peak in peaks["peaks"].items():
        at = None if name == "all" else events[peak["ordinal"] - 1]
        report, memory = agreement.report_with_blocks(trace, folder, at)
        if name == "all":
            found.report = report
        found.moments[name] = agreement.judge(moment_of(truth, peaks, name), memory)
    return found
