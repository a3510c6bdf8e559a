# SPDX-License-Identifier: Apache-2.0
"""Allocator configurations to read: as people write them, wrong ones, and random ones."""

import random

WRITTEN = [
    "", " ", "expandable_segments:True", "expandable_segments:False", "max_split_size_mb:128",
    "max_split_size_mb: 512", "garbage_collection_threshold:0.6,max_split_size_mb:128",
    "roundup_power2_divisions:4", "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
    "roundup_power2_divisions:[64:8,256:4,1024:4,>:1]", "roundup_power2_divisions:[1:0]",
    "roundup_power2_divisions:[65536:2]", "roundup_power2_divisions:[32768:2,>:4]",
    "roundup_power2_divisions:[]", "roundup_power2_divisions:[>:2,256:4]",
    "expandable_segments:True,garbage_collection_threshold:0.8", "large_segment_size_mb:32",
    "large_segment_size_mb:32,max_split_size_mb:48", "max_split_size_mb:48,large_segment_size_mb:32",
    "max_non_split_rounding_mb:64,max_split_size_mb:64", "per_process_memory_fraction:0.5",
    "per_process_memory_fraction:0", "per_process_memory_fraction:1", "backend:native",
    "pinned_use_cuda_host_register:True,pinned_num_register_threads:8",
    "pinned_use_hip_host_register:True", "release_lock_on_hipmalloc:True",
    "pinned_reserve_segment_size_mb:256", "pinned_use_background_threads:True",
    "graph_capture_record_stream_reuse:True", "release_lock_on_cudamalloc:True",
    "max_split_size_mb:128,", "\texpandable_segments : True\n",
    "max_split_size_mb:+30", "max_split_size_mb:-1", "max_split_size_mb:30MB",
    "max_split_size_mb:0x40", "max_split_size_mb:17592186044416", "max_split_size_mb:30.9",
    "garbage_collection_threshold:1e-3", "garbage_collection_threshold:0x1p-2",
    "max_split_size_mb:40,max_split_size_mb:50", "large_segment_size_mb:30,large_segment_size_mb:50",
    "max_split_size_mb:40:expandable_segments:True", "max_split_size_mb[40",
    "max_split_size_mb,40,expandable_segments:True",
]

WRONG = [
    "foo", "foo:1", "foo:[1", ",", ":", "[]", "max_split_size_mb", "max_split_size_mb:",
    "max_split_size_mb:19", "max_split_size_mb:abc", "max_split_size_mb:99999999999999999999",
    "max_split_size_mb:[40]", "max_split_size_mb=40", "max_split_size_mb 40",
    "max_non_split_rounding_mb:19", "large_segment_size_mb:10", "large_segment_size_mb",
    "max_split_size_mb:20,large_segment_size_mb:40", "garbage_collection_threshold:0",
    "garbage_collection_threshold:1.0", "garbage_collection_threshold:nan",
    "garbage_collection_threshold:-0.5", "garbage_collection_threshold:1e-320",
    "garbage_collection_threshold:1e999", "garbage_collection_threshold:inf",
    "roundup_power2_divisions", "roundup_power2_divisions:", "roundup_power2_divisions:3",
    "roundup_power2_divisions:0", "roundup_power2_divisions:[", "roundup_power2_divisions:[256",
    "roundup_power2_divisions:[256:", "roundup_power2_divisions:[256:1", "roundup_power2_divisions:[256:1,",
    "roundup_power2_divisions:[256:3]", "roundup_power2_divisions:[255:4]", "roundup_power2_divisions:[0:4]",
    "roundup_power2_divisions:[:1]", "roundup_power2_divisions:[256:1,512;2]",
    "roundup_power2_divisions:4:8", "expandable_segments:true", "expandable_segments:1",
    "expandable_segments", "expandable_segments:True,,", "expandable_segments:True;max_split_size_mb:40",
    "per_process_memory_fraction:1.5", "per_process_memory_fraction:-0.1", "per_process_memory_fraction:x",
    "pinned_num_register_threads:3", "pinned_num_register_threads:256", "pinned_num_register_threads:0",
    "pinned_num_register_threads:[1", "pinned_reserve_segment_size_mb:0", "backend:foo", "backend",
    "backend:", "backend:[native", "backend:native,backend:foo", "backend:native,foo:1",
    "pinned_use_background_threads:yes", "graph_capture_record_stream_reuse:0",
    "max_split_size_mb:99,garbage_collection_threshold:2", "foo:1,large_segment_size_mb:5",
]

SIZES = ["10", "11", "19", "20", "21", "40", "64", "100", "1000", "99999", "-3", "", "x", "18446744073709551615"]
REALS = ["0.1", "0.5", "0.99", "1", "0", "1.1", "-1", "", "y", ".25", "1e-9"]
FLAGS = ["True", "False", "True", "False", "true", "1", ""]
COUNTS = ["0", "1", "2", "4", "8", "16", "3", "128", "256", "z"]
OPTIONS = {
    "large_segment_size_mb": SIZES, "max_split_size_mb": SIZES, "max_non_split_rounding_mb": SIZES,
    "garbage_collection_threshold": REALS, "per_process_memory_fraction": REALS,
    "expandable_segments": FLAGS, "pinned_use_background_threads": FLAGS,
    "release_lock_on_cudamalloc": FLAGS, "release_lock_on_hipmalloc": FLAGS,
    "pinned_use_cuda_host_register": FLAGS, "pinned_use_hip_host_register": FLAGS,
    "graph_capture_record_stream_reuse": FLAGS, "pinned_num_register_threads": COUNTS,
    "pinned_reserve_segment_size_mb": SIZES, "backend": ["native", "native", "other"],
    "unknown_option": SIZES,
}


def divisions(draw: random.Random) -> str:
    if draw.random() < 0.3:
        return draw.choice(COUNTS)
    bounds = ["1", "2", "4", "8", "256", "1024", "65536", "131072", ">", "3", "0", "", "q"]
    pairs = [f"{draw.choice(bounds)}:{draw.choice(COUNTS)}" for _ in range(draw.randrange(5))]
    return "[" + ",".join(pairs) + ("]" if draw.random() < 0.9 else "")


def random_text(draw: random.Random) -> str:
    parts = []
    for _ in range(draw.randrange(1, 5)):
        key = draw.choice([*OPTIONS, "roundup_power2_divisions", "roundup_power2_divisions"])
        value = divisions(draw) if key == "roundup_power2_divisions" else draw.choice(OPTIONS[key])
        parts.append(f"{key}:{value}")
    text = list(",".join(parts))
    for _ in range(draw.choice([0, 0, 0, 1, 2])):
        place = draw.randrange(len(text) + 1)
        if draw.random() < 0.5 and place < len(text):
            del text[place]
        else:
            text.insert(place, draw.choice(",:[] >0aT\t"))
    return "".join(text)


def random_texts(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [random_text(draw) for _ in range(count)]
