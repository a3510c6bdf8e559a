# SPDX-License-Identifier: Apache-2.0
"""generated_statements.py and compiled_code.py read what Inductor writes: which buffers a generated file
makes, what they become, and which node of the program's graph each of them holds. On files written by
hand after Inductor's habits, so that no compiler is needed."""

import bisect
import re
import sys
import types

import pytest
import runs

WRAPPER = """\
# AOT ID: ['0_forward']
# Topologically Sorted Source Nodes: [x, y], Original ATen: [aten.add, aten.gelu]
# Source node to ATen node mapping:
#   x => add
#   y => mul
# Graph fragment:
#   %add : Tensor "f32[8, 64][64, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor]
#   %rsqrt : Tensor "f32[8, 1][1, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.rsqrt.default]
#   %mul : Tensor "f32[8, 64][64, 1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor]
#   return %add,%rsqrt,%mul
triton_poi_fused_0 = async_compile.triton('triton_poi_fused_0', '''
''', device_str='cuda')

class Runner:
    def call(self, args):
        buf0 = empty_strided_cuda((8, 32), (32, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.addmm]
        extern_kernels.addmm(primals_1, primals_2, primals_3, alpha=1, beta=1, out=buf0)
        buf1 = empty_strided_cuda((8, 64), (64, 1), torch.float32)
        buf3 = empty_strided_cuda((8, 64), (64, 1), torch.float32)
        # Topologically Sorted Source Nodes: [x, y], Original ATen: [aten.add, aten.gelu]
        stream0 = get_raw_stream(0)
        triton_poi_fused_0.run(buf0, buf1, buf3, 512, stream=stream0)
        del buf0
        # Topologically Sorted Source Nodes: [attention], Original ATen: [aten._scaled_dot_product]
        buf4 = torch.ops.aten._scaled_dot_product_efficient_attention.default(buf3)
        buf5 = buf4[0]
        del buf4
        buf6 = reinterpret_tensor(buf1, (8, 64), (64, 1), 0); del buf1  # reuse
        buf7 = empty_strided_cuda((8, 64), (64, 1), torch.float32)
        # Topologically Sorted Source Nodes: [x_1, y_1], Original ATen: [aten.add, aten.gelu]
        stream0 = get_raw_stream(0)
        triton_poi_fused_0.run(buf5, buf6, buf7, 512, stream=stream0)
        buf8 = empty_strided_cpu((8, ), (1, ), torch.float32)
        return (buf6, buf7, )
"""


@pytest.fixture(scope="module")
def agent():
    """The globals of the agent, with what this file needs of them."""
    names = {"modules": {**sys.modules, "bisect": bisect, "re": re}, "__name__": "agent",
             "find": lambda owner, path: None, "needed": getattr}
    for name in ("compiled_code", "generated_statements"):
        path = runs.ROOT / "interpose" / "sight" / "agent" / f"{name}.py"
        exec(compile(path.read_text(), str(path), "exec"), names)  # noqa: S102
    # A pattern is made where torch.compile is found, and nothing of PyTorch is needed for it.
    backend = type("Backend", (), {"__call__": lambda self: None})
    names["torch"] = types.SimpleNamespace(compile=True, _TorchCompileInductorWrapper=backend)
    names["find"] = getattr
    names["watch_compiler"]()
    return names


@pytest.fixture(scope="module")
def code(agent):
    return agent["Code"](WRAPPER.split("\n"))


def line_of(text):
    return next(number for number, line in enumerate(WRAPPER.split("\n")) if text in line)


def test_lines_that_allocate_are_told_and_those_of_the_cpu_are_not(code):
    assert [(name, allocates) for _, name, allocates in code.calls] == [
        ("buf0", True), ("buf0", False), ("buf1", True), ("buf3", True), ("buf4", True), ("buf7", True)]
    assert code.calls[0][0] == line_of("buf0 = empty")
    assert code.calls[1][0] == line_of("out=buf0")


def test_memory_that_is_used_again_counts_as_what_it_is_in_the_end(code):
    assert code.last_name("buf1") == "buf6"
    assert code.last_name("buf0") == "buf0"  # freed under its own name
    assert code.last_name("buf3") == "buf3"


def test_a_tuples_memory_is_what_its_first_part_becomes(agent):
    lines = ["    buf1 = torch.ops.aten.attention.default(buf0)", "    buf2 = buf1[0]", "    buf3 = buf1[1]",
             "    del buf1", "    buf4 = reinterpret_tensor(buf2, (8, ), (1, ), 0); del buf2  # reuse"]
    assert agent["Code"](lines).last_name("buf1") == "buf4"
    assert agent["Code"](lines[:4]).last_name("buf1") == "buf1"  # as long as nothing else is in it
    assert agent["Code"](lines + ["    del buf4"]).last_name("buf1") == "buf1"


def traced(agent, lines, inputs=()):
    """A graph that Dynamo traced, of nodes and the lines that they are at; `inputs`: places that use each."""
    nodes = [agent["Source"](name, ("model.py", line, "forward"), ("forward", str(line)), place, name.split("_")[0])
             for place, (name, line) in enumerate(lines)]
    return types.SimpleNamespace(
        nodes=nodes, by_name={source.name: source for source in nodes}, inputs=list(inputs), returned=[],
        places={source.name: place for place, source in enumerate(nodes)},
        lines=lambda text: (("model.py", int(text), "forward"), ("forward", text)))


@pytest.fixture(scope="module")
def sources(agent, code):
    lines = [(name, line) for line, name in enumerate(("linear", "x", "y", "attention", "x_1", "y_1"), start=10)]
    return agent["CachedSources"](traced(agent, lines), code, [])


@pytest.mark.parametrize("buffer, name", [
    ("buf0", "linear"), ("buf1", "x"), ("buf3", "y"), ("buf4", "attention"),
    ("buf6", "x_1"),  # the kernel is the first layer's, the names are those of the call
    ("buf7", "y_1"),
])
def test_each_buffer_of_cached_code_is_that_of_its_node(sources, buffer, name):
    assert sources.of(buffer)[0].name == name


FULL, THIN, MASK = ("f32", "8,64"), ("f32", "8,1"), ("b8", "8,64")


@pytest.mark.parametrize("results, buffers, stored", [
    # add, mean and rsqrt are stored nowhere
    ([("mul_3", FULL), ("add", FULL), ("mean", THIN), ("rsqrt", THIN), ("mul_17", FULL)],
     {"buf10": FULL, "buf14": FULL}, {"buf10": "mul_3", "buf14": "mul_17"}),
    ([("gt", MASK), ("mul_3", FULL), ("add", FULL)], {"buf7": MASK, "buf9": FULL},
     {"buf7": "gt", "buf9": "add"}),
    # Two thin ones: the second by its name, though the first would do.
    ([("getitem", THIN), ("buf4", THIN), ("rsqrt", THIN)], {"buf4": THIN}, {"buf4": "buf4"}),
    # In the file's order, not in that of the numbers.
    ([("add", FULL), ("div", FULL)], {"buf82": FULL, "buf23": FULL}, {"buf23": "add", "buf82": "div"}),
    # A statement of another kernel: left alone.
    ([("add", FULL)], {"buf1": ("f32", "3,3"), "buf2": FULL}, {"buf2": "add"}),
    ([], {"buf1": FULL}, {}),
])
def test_results_that_a_kernel_stores_are_told_from_those_that_it_does_not(agent, results, buffers, stored):
    assert agent["stored_results"](results, list(buffers.items())) == stored


def test_a_librarys_kernel_computes_one_operator(sources):
    assert [source.name for source in sources.of("buf0")] == ["linear"]
    assert {source.name for source in sources.of("buf1")} == {"x", "y"}


ALIKE = """\
# AOT ID: ['0_forward']
    def call(self, args):
        buf0 = empty_strided_cuda((8, 64), (64, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.mm]
        extern_kernels.mm(primals_1, primals_2, out=buf0)
        buf1 = empty_strided_cuda((8, 64), (64, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear_1], Original ATen: [aten.mm]
        extern_kernels.mm(buf0, primals_3, out=buf1)
        return (buf1, primals_1, primals_3, buf0, s77, )
"""
REVERSED = """\
# AOT ID: ['0_backward']
    def call(self, args):
        s77, primals_1, primals_3, mm, tangents_1 = args
        buf9 = empty_strided_cuda((64, ), (1, ), torch.float32)
        triton_poi_fused_fill_0.run(buf9, 64, stream=stream0)
        buf2 = empty_strided_cuda((64, 64), (64, 1), torch.float32)
        extern_kernels.mm(tangents_1, mm, out=buf2)
        buf3 = empty_strided_cuda((8, 64), (64, 1), torch.float32)
        extern_kernels.mm(reinterpret_tensor(tangents_1, (8, 64), (64, 1), 0), primals_3, out=buf3)
        buf4 = empty_strided_cuda((64, ), (1, ), torch.float32)
        triton_red_fused_sum_1.run(buf3, buf4, 64, 8, stream=stream0)
        buf5 = empty_strided_cuda((64, 64), (64, 1), torch.float32)
        extern_kernels.mm(buf3, primals_1, out=buf5)
"""


@pytest.mark.parametrize("buffer, name", [
    ("buf9", "embedding"),  # comes first though its line does, and leads the others nowhere
    ("buf2", "linear_1"),  # what forward saved of the first layer is what the second one read
    ("buf3", "linear_1"),  # by its weight
    ("buf4", "linear_1"),  # by the gradient that it adds up
    ("buf5", "linear"),
])
def test_layers_that_are_alike_are_told_apart_by_what_forward_saved(agent, buffer, name):
    known = traced(agent, [("embedding", 5), ("linear", 7), ("relu", 8), ("other", 9), ("norm", 9), ("linear_1", 7)],
                   inputs=[[1], [1], [5]])
    forward = agent["CachedSources"](known, agent["Code"](ALIKE.split("\n")), [])
    known.returned[3] = "buf0", 4  # a norm before it is fused with the second layer
    assert forward.of("buf1")[0].name == "linear_1"
    lines = REVERSED.split("\n")
    starts = [(index + 1, "5" if "buf9 " in line else "7") for index, line in enumerate(lines) if " = empty" in line]
    backward = agent["CachedSources"](known, agent["Code"](lines), starts)
    assert backward.of(buffer)[0].name == name


def test_results_are_ordered_by_the_graph_and_pointers_tell_which_are_stored(agent):
    lines = """\
# Topologically Sorted Source Nodes: [x, y], Original ATen: [aten.add, aten.native_dropout]
# Source node to ATen node mapping:
#   x => add, mul
#   y => gt, mul_3, rand
# Graph fragment:
#   %add : Tensor "f32[8, 64][64, 1]cuda:0"[num_users=1] = call_function[target=a](args = (%primals_1,), kwargs = {})
#   %mul : Tensor "f32[8, 64][64, 1]cuda:0"[num_users=1] = call_function[target=a](args = (%add,), kwargs = {})
#   %rand : Tensor "f32[8, 64][64, 1]cuda:0"[num_users=1] = call_function[target=a](args = ([8, 64],), kwargs = {})
#   %gt : Tensor "b8[8, 64][64, 1]cuda:0"[num_users=1] = call_function[target=a](args = (%rand, 0.1), kwargs = {})
#   %mul_3 : Tensor "f32[8, 64][64, 1]cuda:0"[num_users=1] = call_function[target=a](args = (%gt, %mul), kwargs = {})
#   return %add,%rand,%gt,%mul,%mul_3
triton_per_fused_1 = async_compile.triton('triton_per_fused_1', '''
def triton_per_fused_1(in_out_ptr0, in_ptr0, out_ptr1, out_ptr2, xnumel, XBLOCK : tl.constexpr):
""".split("\n")
    kernel = agent["kernels_of"](lines)["triton_per_fused_1"]
    buffers = {"buf1": FULL, "buf8": MASK, "buf5": FULL, "buf9": FULL}
    results, pointers = kernel.results(), kernel.pointers(buffers, ["buf5", "primals_1", "buf8", "buf9", "512"])
    assert [name for name, _ in results] == ["add", "mul", "rand", "gt", "mul_3"]
    assert agent["stored_results"](results, list(buffers.items()), pointers) == {
        "buf1": "add", "buf5": "mul", "buf8": "gt", "buf9": "mul_3"}


def test_what_only_backward_wants_is_of_what_it_is_computed_from(agent):
    lines = """\
# Topologically Sorted Source Nodes: [x, relu], Original ATen: [aten.native_layer_norm, aten.relu]
# Source node to ATen node mapping:
#   x => var_mean
#   relu => relu
# Graph fragment:
#   %var_mean : [num_users=2] = call_function[target=a](args = (%primals_1, [2]), kwargs = {})
#   %sub : Tensor "f32[8, 64][64, 1]cuda:0"[num_users=1] = call_function[target=a](args = (%primals_1, %getitem_1))
#   %relu : Tensor "f32[8, 64][64, 1]cuda:0"[num_users=1] = call_function[target=a](args = (%sub,), kwargs = {})
#   %le : Tensor "b8[8, 64][64, 1]cuda:0"[num_users=1] = call_function[target=a](args = (%relu, 0), kwargs = {})
#   return %getitem_1,%relu,%le
triton_poi_fused_2 = async_compile.triton('triton_poi_fused_2', '''
""".split("\n")
    kernel = agent["kernels_of"](lines)["triton_poi_fused_2"]
    assert kernel.lineage("le")[:2] == ["le", "relu"]
    assert kernel.lineage("getitem_1")[:2] == ["getitem_1", "var_mean"]
