# SPDX-License-Identifier: Apache-2.0
"""One half of the truth of a fifth set of programs that end after 12 to 60 steps: programs/fifth_*.py that accumulate.

Programs as people write them who train and serve networks, each with a fault that an experienced reviewer would call a
leak: what stays has no bound. Written from reading the programs, and held against what PyTorch's own allocator says of
them, before memtrace gave a verdict on any, by someone who had read neither the analyzer nor how it decides, nor the
programs of the earlier sets.
"""

from short_runs import COLLECTED
from truth import GROWS, Truth


def grows(program: str, steps: int, why: str, **more) -> Truth:
    return Truth(f"fifth_{program}", GROWS, why, steps=(steps,), min_steps=steps, **more)


# Bytes as blocks: each tensor rounded up to 512.
ACCUMULATE = [
    grows("attention_rollout", 12,
          "the hooks' list has the attention (8 × 4 × 64 × 64 floats) of all three layers of every forward; the last "
          "three are read",
          kept_by=r"\bmaps\b", bytes_per_step=3 * 8 * 4 * 64 * 64 * 4),
    grows("perplexity_meter", 13,
          "the validation's meter, which is never reset, sums losses with their graphs (of two batches every third "
          "step: the embedded 8 × 32 tokens, two activations, logarithms of 1000 probabilities)",
          kept_by=r"\bval_loss\b|\bsum\b",
          bytes_per_step=2 * (8 * 32 * (64 + 128 + 128 + 1000) * 4 + 2048 + 2560 + 512) / 3),
    grows("transition_store", 14,
          "the replay memory counts to its capacity but appends: the states of 16 games (4 × 42 × 42 floats each)",
          kept_by=r"\bmemory\b", bytes_per_step=16 * 4 * 42 * 42 * 4 + 2 * 512),
    grows("round_clients", 15,
          "the server's list has every round's two clients, each with weights, gradients and momentum of its own",
          kept_by=r"\bclients\b", bytes_per_step=2 * 3 * (128 * 128 * 4 + 512 + 128 * 10 * 4 + 512)),
    grows("voice_sessions", 16,
          "closed sessions stay by their number with all they encoded (100 × 256 floats a chunk); only their words "
          "are counted",
          kept_by=r"\bclosed\b", bytes_per_step=100 * 256 * 4),
    grows("guided_backprop", 16,
          "the hooks' list is emptied by backward alone, so that what the prediction before it noted (two activations "
          "of 8 × 16 × 32 × 32 floats) stays",
          kept_by=r"\brelu_outputs\b", bytes_per_step=2 * 8 * 16 * 32 * 32 * 4),
    grows("task_adaptation", 17,
          "the weights (128 × 256 and 5 × 128 floats, two biases) adapted to each of four tasks stay in a list, of "
          "which the last is read",
          kept_by=r"\badapted\b", bytes_per_step=4 * (128 * 256 * 4 + 512 + 5 * 128 * 4 + 512)),
    grows("log_history", 18,
          "every second step's log entry keeps the logits (16 × 64 × 200 floats) beside the loss",
          kept_by=r"\blog_history\b", bytes_per_step=(16 * 64 * 200 * 4 + 512) / 2),
    grows("user_vectors", 19,
          "users' vectors (64 × 256 floats) are kept by user and clock, which no later request can ask for again",
          kept_by=r"\bvectors\b", bytes_per_step=64 * 256 * 4),
    grows("teacher_targets", 20,
          "the teacher's features (32 × 64 × 8 × 8 floats) are kept by the batch's indices, and shuffled batches do "
          "not come again",
          kept_by=r"\bknown\b", bytes_per_step=32 * 64 * 8 * 8 * 4),
    grows("preview_frames", 21,
          "the sampler's list has all six frames (8 × 3 × 32 × 32 floats) of every preview, each third step; the last "
          "six are shown",
          kept_by=r"\bintermediates\b", bytes_per_step=6 * 8 * 3 * 32 * 32 * 4 / 3),
    grows("key_queue", 22,
          "the queue is concatenated with each batch's 512 keys of 256 floats and never cut; its last 1024 are read",
          kept_by=r"\bqueue\b", bytes_per_step=512 * 256 * 4),
    grows("stale_embeddings", 24,
          "the list of versions has both layers' embeddings (256 × 128 floats) of every epoch; the last two are read",
          kept_by=r"\bversions\b", bytes_per_step=2 * 256 * 128 * 4),
    grows("request_caches", 26,
          "a request that ends leaves the active ones, but its cache (2 × 3 × 64 × 128 floats, one every third step) "
          "stays by its number",
          kept_by=r"\bcaches\b", bytes_per_step=2 * 3 * 64 * 128 * 4 / 3),
    grows("pool_rounds", 30,
          "the embeddings of each night's recordings (512 × 128 floats every fifth step) stay in a list, of which the "
          "last is read; every night has new recordings",
          kept_by=r"\brounds\b", category=COLLECTED, bytes_per_step=512 * 128 * 4 / 5),
    grows("step_outputs", 33,
          "the outputs of training steps (logits of 8 × 4 × 32 × 32 floats, a loss) are never cleared, those of "
          "validation are",
          kept_by=r"\btraining_step_outputs\b", bytes_per_step=8 * 4 * 32 * 32 * 4 + 512),
    grows("fresh_heads", 35,
          "heads that were replaced (512 × 100 floats and a bias, with two moments, every fifth step) stay in the "
          "optimizer's groups",
          kept_by=r"param_groups|\bparams\b|\boptimizer\b|\bstate\b",
          bytes_per_step=3 * (512 * 100 * 4 + 512) / 5),
    grows("summary_writer", 36,
          "flush() writes what is pending (4 × 3 × 64 × 64 floats every third step) and does not clear it",
          kept_by=r"\bpending\b", category=COLLECTED, bytes_per_step=4 * 3 * 64 * 64 * 4 / 3),
    grows("gradient_snapshots", 38,
          "the gradients of three layers' outputs (64 × 256 floats) are kept by name and step; those of the step are "
          "read",
          kept_by=r"\bseen\b", bytes_per_step=3 * 64 * 256 * 4),
    grows("checkpoint_ensemble", 40,
          "every fifth step's copy of the model (256 × 512 and 512 × 10 floats, two biases) stays in the ensemble, of "
          "which the last three predict",
          kept_by=r"\bmembers\b", bytes_per_step=(256 * 512 * 4 + 512 * 4 + 512 * 10 * 4 + 512) / 5),
    grows("episode_records", 42,
          "episodes that ended stay in a list with their observations (64 × 256 floats a move); they are only counted",
          kept_by=r"\bfinished\b|\bobservations\b", category=COLLECTED, bytes_per_step=64 * 256 * 4 + 512),
    grows("carried_hidden", 44,
          "the hidden state is carried on with its graph, without gradients being taken (64 × 384 joined and 64 × 256 "
          "hidden floats a reading)",
          kept_by=r"\bhidden\b|\bexpected\b", bytes_per_step=64 * (384 + 256) * 4),
    grows("failed_requests", 45,
          "the exceptions of each third request stay in a list, with them their frames and in these its pictures "
          "(8 × 3 × 32 × 32 floats), features (8 × 32 × 16 × 16) and scores",
          kept_by=r"\bfailures\b", bytes_per_step=(8 * 3 * 32 * 32 * 4 + 8 * 32 * 16 * 16 * 4 + 1024) / 3),
    grows("remembered_features", 46,
          "lru_cache without a size keys by the tensor itself, so that every query (16 × 3 × 32 × 32 floats) stays "
          "with its answer (16 × 128)",
          kept_by=r"\bfeatures\b|cache", bytes_per_step=16 * 3 * 32 * 32 * 4 + 16 * 128 * 4),
    grows("augment_futures", 48,
          "the list of jobs has every future with its result, a batch of 32 × 3 × 32 × 32 floats; the last is awaited",
          kept_by=r"\bjobs\b", bytes_per_step=32 * 3 * 32 * 32 * 4),
    grows("rotary_offsets", 50,
          "tables (2 × 128 × 64 floats) are kept by the chunk's offset, which only rises",
          kept_by=r"\btables\b", bytes_per_step=2 * 128 * 64 * 4),
    grows("hard_negatives", 52,
          "each of two products a step gets a further entry (32 × 512 floats) in its list, of which the last is read",
          kept_by=r"\bmined\b", bytes_per_step=2 * 32 * 512 * 4),
    grows("separation_scores", 54,
          "the metric is never reset: estimates and targets (8 × 2 × 4000 floats each) of every third step stay",
          kept_by=r"\bestimates\b|\btargets\b", bytes_per_step=2 * 8 * 2 * 4000 * 4 / 3),
    grows("stream_dataset", 58,
          "decoded clips (eight of 3 × 32 × 32 floats a step) are kept by their number in an endless stream",
          kept_by=r"\bdecoded\b", bytes_per_step=8 * 3 * 32 * 32 * 4),
    grows("observed_ranges", 60,
          "observers keep every activation of two layers (64 × 256 floats); the range needs the last",
          kept_by=r"\bsamples\b", bytes_per_step=2 * 64 * 256 * 4),
]

FIFTH_SHORT_RUNS_A = ACCUMULATE
