# SPDX-License-Identifier: Apache-2.0
"""Programs that need more memory than they have to, and what is best done about each."""

from known_remedy import CONF, DRIVER, EXPANDABLE, PINNED, Truth

ROUNDING = (f"{CONF}roundup_power2_divisions:4",)
HALVES = {"train_batch_half": "train_batch_half", "train_batch_quarter": "train_batch_quarter"}


# By any whole part, as the advice says.
EVALUATION = {"evaluation_batch": "evaluation_batch={amount}"}
TYPES = {"checkpointing": "checkpointing={amount}"}  # of modules, by their class
PARTS = ("1/2", "1/4", "1/8")


def same(*names: str) -> dict[str, str]:
    """Changes that are called what the advice is called."""
    return {name: name for name in names}


FRAGMENTED = [
    Truth("growing_generation", best=("expandable_segments",), change=EXPANDABLE, also=ROUNDING, quick=True,
          why="each call needs tensors a little larger than all that are cached; only their addresses "
              "being extendable lets the next use the last's memory"),
    Truth("kv_cache_cat", best=("expandable_segments",), change=EXPANDABLE, also=ROUNDING,
          why="torch.cat needs the longer cache while the shorter one is alive, in every layer"),
    Truth("variable_lengths", best=("expandable_segments",), change=EXPANDABLE,
          also=(*ROUNDING, "bucketing"), imports=("transformers",),
          why="texts of any length, one at a time, with checkpointing and autocast already on; padding to "
              "buckets of 1024 costs more than it saves"),
    Truth("reranking", best=("expandable_segments", "add_empty_cache"), change=EXPANDABLE,
          also=(*ROUNDING, "bucketing"), others={"add_empty_cache:each step": "add_empty_cache"},
          imports=("transformers",),
          why="batches and lengths as requests come; to empty the cache after each saves as much"),
    Truth("checkpoint_cast", best=("expandable_segments",), change=EXPANDABLE,
          also=ROUNDING,
          others={"add_empty_cache:after setup": "add_empty_cache", "weights_copy": "cast_on_host"},
          why="segments cut to the sizes of 32-bit weights hold 16-bit ones afterwards"),
    Truth("train_and_evaluate", best=("expandable_segments",), change=EXPANDABLE, imports=("torchvision",),
          also=ROUNDING, others={**EVALUATION, "add_empty_cache:around evaluation": "add_empty_cache"},
          amounts=PARTS,
          why="evaluation's larger pictures and batches find only segments cut by training; a smaller "
              "evaluation batch saves more still"),
    Truth("multi_scale", best=("expandable_segments",), change=EXPANDABLE, also=ROUNDING,
          imports=("torchvision",), why="every picture has another size"),
    Truth("prefetch_stream", best=("expandable_segments", "bucketing"), change=EXPANDABLE,
          also=(*ROUNDING, "bucketing"), others={"bucketing": "bucketing={amount}"}, amounts=("1/4", "1/8"),
          why="what the second stream made stays that stream's, and every batch has another length"),
    Truth("generate_and_train", best=("expandable_segments",), change=EXPANDABLE, imports=("transformers",),
          also=ROUNDING,
          others={**same("train_batch_half", "mixed_precision"),
                  "add_empty_cache:around evaluation": "add_empty_cache"},
          why="generation's growing caches leave segments that training cannot use, and the reverse; "
              "autocast would need more"),
    Truth("stack_embeddings", best=("expandable_segments", "evaluation_outputs"), change=EXPANDABLE,
          also=ROUNDING, others={"evaluation_outputs": "free_earlier"}, imports=("torchvision",), quick=True,
          why="the bank's patches stand between the temporaries of batches of any size"),
    Truth("survivors", best=("expandable_segments",), change=EXPANDABLE,
          also=ROUNDING, others={"evaluation_outputs": "free_earlier"},
          why="a small map of each volume pins the large segment that it was cut from"),
    Truth("survivors", best=("expandable_segments",), change=EXPANDABLE, memory="5GiB", mends=True,
          others={"evaluation_outputs": "free_earlier"}, why="the same on a GPU where that is fatal"),
]

PROGRAM = [
    Truth("checkpointing", best=("checkpointing",), change="checkpointing=GPT2Block",
          others={**HALVES, **same("sequence_length"), **TYPES}, amounts=("GPT2Block",),
          imports=("transformers",),
          why="what 16 layers keep for backward is most of the memory; mixed precision is on"),
    Truth("mixed_precision", best=("mixed_precision",), change="mixed_precision",
          also=("checkpointing",), quick=True,
          why="activations in 32 bits, on a batch of one; checkpointing saves less, for the widest layer "
              "has to be computed again as a whole"),
    Truth("accumulation", best=("train_batch_half", "train_batch_quarter"), change="train_batch_half",
          others={**HALVES, **same("mixed_precision")}, memory="8GiB", mends=True, quick=True,
          why="the batch does not fit, a half of it does; mixed precision would mend it, too"),
    Truth("evaluation_batch", best=("evaluation_batch",), change="evaluation_batch=1/8",
          others=EVALUATION, amounts=PARTS, imports=("transformers",),
          why="evaluation with eight times the training's batch sets the peak: the change is to the "
              "training's batch"),
    Truth("evaluation_gradients", best=("evaluation_without_gradients",),
          change="evaluation_without_gradients", others=EVALUATION, amounts=PARTS,
          why="validation keeps activations for a backward pass that never comes"),
    Truth("zeroed_gradients", best=("set_to_none",), change="set_to_none",
          why="of twelve experts in each layer one has gradients at a time, if they are not kept as zeros"),
    Truth("late_logits", best=("free_earlier",), change="free_earlier", others=HALVES,
          why="two copies of the logits are alive through backward, which needs only the logarithms"),
    Truth("late_probabilities", best=("free_earlier",), change="free_earlier",
          others=EVALUATION, amounts=PARTS,
          why="the last batch's probabilities are alive while the next batch's logits are made"),
    Truth("attention_scores", best=("attention_kernel", "sequence_length", "checkpointing"), change="attention_kernel",
          others={**same("sequence_length", "mixed_precision"), **TYPES}, amounts=("Layer",), quick=True,
          why="scores grow with the square of the length, and one kernel has none; autocast computes their softmax in "
              "32 bits and needs more than before"),
]

STATES = [
    Truth("optimizer_states", best=("optimizer_8bit",), change="optimizer_8bit",
          others=same("optimizer_adafactor", "optimizer_sgd"),
          why="two moments in 32 bits of tables of embeddings are half of all memory"),
    Truth("optimizer_temporaries", best=("optimizer_foreach",), change="optimizer_foreach",
          others={"optimizer_fused": "optimizer_fused"},
          why="weight decay makes a copy of all gradients at once, which a loop or a fused kernel does not"),
    Truth("full_fine_tuning", best=("lora",), change="lora", imports=("transformers",),
          others=same("optimizer_adafactor", "optimizer_sgd"),
          why="gradients and moments of all weights; activations are small"),
    Truth("moving_average", best=("weights_copy",), change="weights_copy",
          why="a third of the memory is a copy of the weights that is read once a step"),
    Truth("unused_parameters", best=("unused_parameters",), change="unused_parameters",
          why="two thirds of the weights never touch the loss but by a factor of zero"),
    Truth("data_parallel", best=("gradient_as_bucket_view",), change="gradient_as_bucket_view",
          why="gradients lie in the buckets and beside them; the peak falls only to that of the second "
              "step, which makes all buckets anew"),
]

ELSEWHERE = [
    Truth("empty_cache_each_step", best=("remove_empty_cache",), change="remove_empty_cache", saves=DRIVER,
          place=None, why="every step gives all memory back and asks for it again"),
    Truth("pinned_staging", best=("pinned_memory",), change="pinned_memory", saves=PINNED, place=None,
          why="six batches of 262 MiB take 512 MiB each of pinned memory"),
]

REMEDIES = [*FRAGMENTED, *PROGRAM, *STATES, *ELSEWHERE]
