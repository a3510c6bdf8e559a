# SPDX-License-Identifier: Apache-2.0
"""Figures that others published for real GPUs, where each stands, and the run that is compared with it."""

from dataclasses import dataclass

MIB, GIB = 1 << 20, 1 << 30


@dataclass(frozen=True)
class Source:
    name: str
    where: str      # repository, file and commit
    measured: str   # what their figure is
    software: str
    same: str       # what was taken from it, and what had to be assumed
    differences: str


@dataclass(frozen=True)
class Figure:
    source: str
    what: str
    gpu: str            # as they name it
    model: str          # as dry-run does
    program: str
    arguments: str
    published: float    # 0 with compares "fits": out of memory
    compares: str       # "allocated", "reserved", "largest" or "fits"
    unit: int = 1       # bytes
    outside: float = 0  # of the published figure, what is not PyTorch's, in the same unit
    memory: str = ""    # the device's, where dry-run knows no such GPU


SOURCES = {
    "litgpt": Source(
        "LitGPT, resource tables", "Lightning-AI/litgpt, tutorials/resource-tables.md at 4839345",
        "`torch.cuda.max_memory_allocated` in GB of 10^9 bytes", "PyTorch 2.1, October 2023",
        "models, LoRA's rank and places (the trained parameters come out equal), micro-batch, length of the longest text; "
        "no gradient checkpointing, loss in pieces of 128 tokens",
        "Generation is equal but for 0.1 %, and so is out of memory. The trainings are too low, the more so the larger the batch and the "
        "smaller the model: 0.3 % for 13 B, 9 % for phi-1.5 with four texts. What is missing is about 0.2 GB a text of phi-1.5 and of StableLM "
        "alike: some activations that their modules of 2023 kept and ours do not. Which ones was not found out."),
    "transformers": Source(
        "transformers, Efficient Training on a Single GPU", "huggingface/transformers, docs/source/en/perf_train_gpu_one.mdx at 0016acf",
        "memory in use by NVML after the training; of it 1343 MB were there before the first tensor", "transformers of January 2022",
        "BERT-large, 512 tokens, batch, accumulation, optimizer; attention that stores its scores; the Trainer of then is "
        "written as a plain loop whose gradients stay allocated",
        "PyTorch before 1.11 kept the input of a softmax beside its result (its derivative was written in both). With today's softmax the "
        "rows without checkpointing came out 7 to 16 % too low; with one that keeps its input (`--old-softmax`), as they are here. "
        "Where layers are recomputed it makes no difference."),
    "peft": Source(
        "PEFT, README", "huggingface/peft, README.md at 57eecf4; its example for BLOOM at 026d1e0",
        "`torch.cuda.max_memory_allocated`, printed in units of 2^20 bytes and given in GB", "PyTorch of early 2023",
        "32-bit weights, rank 8, batch 8 and 64 tokens as in the example for BLOOM; that T0_3B and mT0 had them too is an assumption",
        "What a GB is here is not said: if it is 10^9 bytes, ours are 7 % higher. Texts may have been longer or shorter than 64 tokens for T5. "
        "Of all parameters of T0_3B 45.6 GB are fixed (16 bytes a parameter), so that a table of 47.14 leaves little for activations in either unit."),
    "mmseg": Source(
        "MMSegmentation, FCN", "open-mmlab/mmsegmentation, configs/fcn/README.md at 02e04cc",
        "the highest `torch.cuda.max_memory_allocated` of four processes in GB", "PyTorch of 2020",
        "ResNet as in torchvision (their variant b), dilated; two pictures a process, SyncBN, DistributedDataParallel, one "
        "auxiliary head; SGD with momentum", "All are too low, by 0.1 to 0.5 GB. They let cuDNN choose by measuring (`cudnn_benchmark`), and what the fastest kernel of a V100 asks for as "
        "workspace is not known to the simulator; that this is the difference is a guess. The table has one decimal: 1.6 may be 1.55 to 1.65, "
        "and if their GB is 1000 MB the differences are 2 % smaller."),
    "bert": Source(
        "BERT, README, out-of-memory issues", "google-research/bert, README.md at 04f9e5d",
        "the largest batch that trains on a Titan X with 12 GB", "TensorFlow 1.11, October 2018",
        "the architecture, Adam in 32 bits, lengths; another framework", "None is equal: every published batch fits here, and 2 to 7 times as many do; where theirs is 0, 4 and 6 fit. What TensorFlow 1.11 kept beyond "
        "PyTorch was not found out; and its batches look like ones that were tried (64, 32, 16), not like the largest."),
    "modelcenter": Source(
        "ModelCenter, benchmark", "OpenBMB/ModelCenter, docs/source/notes/benchmark.md (main)",
        "the largest batch of Hugging Face's BERT-large", "transformers of 2022",
        "BERT-large; the length is not given: 512 is an assumption, and that the head predicts masked words", "None is equal: a fourth to a third more fits here than on their V100, and 3 where theirs finds none on a card of 11 GB. Neither length nor head is "
        "given there, so that a row says at most whether the order of size is right."),
}


def litgpt():
    rows = [("phi-1.5", 1044, [(1, 4.82), (2, 6.76), (4, 10.68)]), ("stablelm-alpha-3b", 1034, [(1, 9.69), (2, 12.10), (4, 16.92)]),
            ("llama-2-7b", 1304, [(1, 21.30), (2, 29.07), (4, 0)]), ("llama-2-13b", 1304, [(1, 38.12), (2, 0)])]
    for model, length, cells in rows:
        for batch, published in cells:
            yield Figure("litgpt", f"{model}, LoRA, micro-batch {batch}", "A100-SXM4-40GB", "a100-40", "decoder_lora.py",
                         f"--model {model} --length {length} --batch {batch}", published,
                         "allocated" if published else "fits", 10 ** 9)
    for model, published in (("phi-1.5", 2.86), ("stablelm-alpha-3b", 7.30), ("llama-2-7b", 13.52), ("llama-2-13b", 26.21)):
        yield Figure("litgpt", f"{model}, generation", "A100-SXM4-40GB", "a100-40", "decoder_lora.py",
                     f"--model {model} --length 60 --generate", published, "allocated", 10 ** 9)


def transformers():
    rows = [("batch 4", "--batch 4", 14949), ("batch 1, 4 accumulated", "--batch 1 --accumulate 4", 8681),
            ("the same, checkpointing", "--batch 1 --accumulate 4 --checkpointing", 6775), ("batch 4, fp16", "--batch 4 --fp16", 13939),
            ("batch 1, 4 accumulated, checkpointing, fp16", "--batch 1 --accumulate 4 --checkpointing --fp16", 7275),
            ("batch 4, Adafactor", "--batch 4 --optimizer adafactor", 12295),
            ("batch 1, 4 accumulated, checkpointing, fp16, Adafactor",
             "--batch 1 --accumulate 4 --checkpointing --fp16 --optimizer adafactor", 4847),
            ("batch 4, 8-bit Adam", "--batch 4 --optimizer adam-8bit", 13085),
            ("batch 1, 4 accumulated, checkpointing, fp16, 8-bit Adam",
             "--batch 1 --accumulate 4 --checkpointing --fp16 --optimizer adam-8bit", 5363)]
    for what, arguments, published in rows:
        yield Figure("transformers", what, "V100-SXM2-16GB", "v100-16", "bert.py", f"{arguments} --old-softmax", published, "reserved", MIB, 1343)


def peft():
    yield Figure("peft", "T0_3B, all parameters", "A100-80GB", "a100-80", "t5_or_bloom.py", "--model T0_3B --length 64", 47.14, "allocated", GIB)
    for model, published in (("T0_3B", 14.4), ("mt0-xxl", 56), ("bloomz-7b1", 32)):
        yield Figure("peft", f"{model}, LoRA", "A100-80GB", "a100-80", "t5_or_bloom.py", f"--model {model} --length 64 --lora", published,
                     "allocated", GIB)
    for model in ("mt0-xxl", "bloomz-7b1"):
        yield Figure("peft", f"{model}, all parameters", "A100-80GB", "a100-80", "t5_or_bloom.py", f"--model {model} --length 64", 0, "fits")


def mmseg():
    for depth, size, published in ((18, (512, 1024), 1.6), (50, (512, 1024), 5.6), (101, (512, 1024), 9.1), (18, (769, 769), 1.7),
                                   (50, (769, 769), 6.3), (101, (769, 769), 10.3)):
        yield Figure("mmseg", f"R-{depth}b-D8, {size[0]}x{size[1]}", "V100", "v100-32", "fcn.py",
                     f"--depth {depth} --height {size[0]} --width {size[1]} --benchmark", published, "allocated", GIB)


def bert():
    for size, cells in (("base", [(64, 64), (128, 32), (256, 16), (320, 14), (384, 12), (512, 6)]),
                        ("large", [(64, 12), (128, 6), (256, 2), (320, 1), (384, 0), (512, 0)])):
        for length, published in cells:
            yield Figure("bert", f"BERT-{size}, {length} tokens", "Titan X, 12 GB", "rtx3060", "bert.py",
                         f"--size {size} --length {length} --steps 2 --largest-of 512", published, "largest", memory="12212MiB")


def modelcenter():
    for what, more, gpu, model, memory, published in (
            ("fp32", "", "V100, 32 GB", "v100-32", "", 11), ("fp16", " --fp16", "V100, 32 GB", "v100-32", "", 14),
            ("fp32", "", "RTX 2080 Ti, 11 GB", "rtx3060", "11019MiB", 0),
            ("fp16", " --fp16", "RTX 2080 Ti, 11 GB", "rtx3060", "11019MiB", 0)):
        yield Figure("modelcenter", f"BERT-large, {what}", gpu, model, "bert.py",
                     f"--length 512 --steps 2 --masked-language-model --largest-of 128{more}", published, "largest", memory=memory)


ALL = [*litgpt(), *transformers(), *peft(), *mmseg(), *bert(), *modelcenter()]
