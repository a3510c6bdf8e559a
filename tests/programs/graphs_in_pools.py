# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs of three sizes in one private pool beside a MemPool; prints what PyTorch's snapshot has of each."""

import argparse
import json

import torch

WIDTH = 1024


def pools_now() -> dict:
    """By pool: the bytes of its segments, and of those the bytes in blocks in use."""
    found = {}
    for segment in torch.cuda.memory_snapshot():
        pool = found.setdefault("{}:{}".format(*segment["segment_pool_id"]), {"reserved": 0, "active": 0})
        pool["reserved"] += segment["total_size"]
        pool["active"] += segment["active_size"]
    return found


def capture(model, batch: int, pool) -> tuple:
    x = torch.zeros(batch, WIDTH, device="cuda")
    model(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        reserved, allocated = torch.cuda.memory_reserved(), torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        y = model(x)
        wide = torch.cat([model[0](x) for _ in range(4)])
        del wide
        most = torch.cuda.max_memory_allocated() - allocated
        added = torch.cuda.memory_reserved() - reserved
    return graph, (x, y), {"added": added, "most_beyond_before": most}


def captures(model) -> tuple:
    graphs, kept, facts, pool = [], [], [], None
    for batch in (8192, 4096, 1024):
        before = 0 if pool is None else pools_now()["{}:{}".format(*pool)]["active"]
        graph, tensors, told = capture(model, batch, pool)
        told["most"] = told.pop("most_beyond_before") + before
        pool = graph.pool()
        graphs.append(graph)
        kept.append(tensors)
        facts.append(told)
    return graphs, kept, facts, pool


def callables(model) -> tuple:
    sample = torch.zeros(2048, WIDTH, device="cuda", requires_grad=True)
    graphed = torch.cuda.make_graphed_callables(model, (sample,))
    graphed(sample).sum().backward()
    return [graphed], [sample], [], None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gone", action="store_true", help="the graphs go before most is reserved")
    parser.add_argument("--callables", action="store_true", help="torch.cuda.make_graphed_callables instead")
    chosen = parser.parse_args()
    model = torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in range(4)]).cuda()
    own = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(own):
        torch.empty(48 << 20, dtype=torch.uint8, device="cuda")
    with torch.set_grad_enabled(chosen.callables):
        graphs, kept, facts, pool = callables(model) if chosen.callables else captures(model)
    for graph in [] if chosen.callables else graphs:
        graph.replay()
    if chosen.gone:
        graphs.clear()
        graph = None
    last = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    print(json.dumps({"reserved": torch.cuda.memory_reserved(), "pools": pools_now(), "captures": facts,
                      "own": "{}:{}".format(*own.id), "graphs": pool and "{}:{}".format(*pool)}))
    del last, kept


if __name__ == "__main__":
    main()
