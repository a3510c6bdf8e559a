# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a sixth set of short runs: programs/sixth_*.py.

Written from reading the programs, and held against what PyTorch's own allocator says of them, before memtrace gave a
verdict on any, by someone who had read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory: str, program: str, steps: int, why: str, **more) -> Truth:
    return Truth(f"sixth_{program}", memory, why, steps=(steps,), min_steps=steps, **more)


# Bytes as blocks: each tensor rounded up to 512.
SIXTH_SHORT_RUNS_A = [
    of(GROWS, "removed_tracks", 14,
       "a track that is over stays in a list that is never read, with its last four crops (128 × 14 × 14 floats); one "
       "is over each frame",
       kept_by=r"\bremoved\b|\bcrops\b", bytes_per_step=4 * 128 * 14 * 14 * 4),
    of(GROWS, "preview_frames", 18,
       "the frames of all previews are in the list that is the default of an argument: four more of 4 × 3 × 32 × 32 "
       "floats every third step, of which the last four are shown",
       kept_by=r"\bframes\b|\bsample\b|\bon_the_way\b", bytes_per_step=4 * 4 * 3 * 32 * 32 * 4 / 3),
    of(GROWS, "stale_clients", 20,
       "the server has the weights of all versions, though a client may be at no more than the last few, and each "
       "update makes one more",
       kept_by=r"\bversions\b", bytes_per_step=64 * 128 * 4 + 512 + 128 * 10 * 4 + 512),
    of(GROWS, "fid_meter", 24,
       "features of real images (two batches, 64 × 256 floats) outlast reset() and yet each evaluation adds them again",
       kept_by=r"\breal\b", bytes_per_step=2 * 64 * 256 * 4 / 3),
    of(GROWS, "interaction_memory", 28,
       "messages are cleared of users alone; those to items are rows of the batch's messages (100 × 160 floats), which "
       "therefore stay",
       kept_by=r"\bof_node\b|\bmessages\b", bytes_per_step=100 * 160 * 4),
    of(GROWS, "episode_supports", 35,
       "supports are looked up by the episode's five of 64 classes in their order, which hardly come twice: 80 images "
       "of 28 × 28 floats an episode",
       kept_by=r"\bsupports\b", bytes_per_step=80 * 28 * 28 * 4),
    of(GROWS, "cam_reports", 42,
       "a hook of each scan's GradCam stays on the layer, and with it the scan's heatmap (32 × 32 × 32 floats)",
       kept_by=r"hook|\bheatmap\b", bytes_per_step=32 * 32 * 32 * 4),
    of(GROWS, "keyword_stream", 45,
       "the state is carried from chunk to chunk with its graph, as nothing says no_grad() or detach(): ten frames of "
       "16 × 40, their projections and ten states of 16 × 128 floats a chunk",
       kept_by=r"\bstate\b|graph|Backward", bytes_per_step=10 * 16 * (40 + 128 + 128) * 4),
    of(GROWS, "class_replay", 50,
       "the capacity is compared with the number of classes, not of examples: eight images of 3 × 32 × 32 floats a step",
       kept_by=r"\bby_class\b", bytes_per_step=8 * 3 * 32 * 32 * 4),

    of(FILLS, "epoch_detections", 15,
       "masks and truths of an epoch of six batches, after which the metric is reset"),
    of(STAYS, "mosaic_cache", 16,
       "the cache has 40 images at the most, two more a step, full after the twentieth"),
    of(STAYS, "image_pool", 12,
       "the pool has 50 images at the most, four more a step, full in the thirteenth"),
    of(STAYS, "progressive_patches", 18,
       "five stages of ever larger patches, the fourth of which is the last that the run comes to"),
    of(STAYS, "snapshot_ensemble", 20,
       "a network every third step, eight at the most, six by the end"),
    of(STAYS, "control_variates", 13,
       "one control variate a client: of 45 clients three more a round have theirs, all after the fifteenth"),
    of(STAYS, "memory_bank", 25,
       "embeddings of the last 32 batches, of which the run has 21 after its warm-up"),
    of(STAYS, "volume_cache", 30,
       "each of 40 patients' volumes once; the run comes to 30 of them"),
    of(FILLS, "layerwise_embeddings", 24,
       "the outputs of a layer's eight batches, put together after the last and emptied"),
    of(STAYS, "refined_points", 36,
       "500 more points every fourth step, up to 6000, which takes 40 steps"),
    of(FILLS, "contrastive_chunks", 32,
       "the graphs of five parts of a batch, freed by the backward of their common loss"),
    of(STAYS, "inner_steps", 40,
       "an inner step more every eight, six at the most; a step's path goes with the next"),
    of(STAYS, "reservoir", 48,
       "500 examples at the most, eight more a step, full in the 63rd"),
    of(STAYS, "labelled_pool", 42,
       "twelve of 240 images are labelled every third step, until none is left in the 58th"),
    of(FILLS, "coreset_features", 44,
       "features of the pool's fourteen batches, dropped when the core set is picked"),
    of(STAYS, "sensor_context", 45,
       "the patches of the last 64 readings, each on its own until as many are there"),
    of(STAYS, "speaker_enrolment", 55,
       "the first four utterances of each of ten residents"),
    of(STAYS, "progressive_gan", 60,
       "four blocks more, one every sixteen steps, as the resolution of 64 is reached with the last of them"),
]
