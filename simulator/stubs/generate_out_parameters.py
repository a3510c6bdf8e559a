#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes out_parameters/*.def from NVIDIA's C headers.

    generate_out_parameters.py INCLUDE_FOLDER...

Give it every folder to search (CUDA 13's first; a function keeps the first declaration seen), e.g.
unpacked packages nvidia-cublas, nvidia-cusolver, ... from PyPI and .deps/cuda13, .deps/cuda12.
Needs gcc, which expands the headers' macros. Where the rules below guess wrong: OVERRIDES.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Output file -> (headers, names). The files' order is the names' order, as a binary search wants it.
LIBRARIES = {
    "cuda": (["cuda.h"], r"cu[A-Z]"),
    "cublas": (["cublas_v2.h", "cublasLt.h", "cublasXt.h"], r"cublas"),
    "cudart": (["cuda_runtime_api.h"], r"cuda[A-Z]"),
    "cudnn": (["cudnn.h"], r"cudnn"),
    "cufft": (["cufft.h", "cufftXt.h"], r"cufft"),
    "cupti": (["cupti.h"], r"cupti"),
    "curand": (["curand.h"], r"curand"),
    "cusolver": (["cusolverDn.h", "cusolverSp.h", "cusolverRf.h"], r"cusolver"),
    "cusparse": (["cusparse.h", "cusparseLt.h"], r"cusparse"),
    "nccl": (["nccl.h"], r"nccl"),
    "nvJitLink": (["nvJitLink.h"], r"nvJitLink"),
    "nvrtc": (["nvrtc.h"], r"nvrtc"),
}
# Their callers work with what they return; for the others a number that nobody computed will do.
WRITES_DATA = {"cusolver", "cusparse", "cufft", "curand"}  # cuBLAS and cuDNN are written by hand
SYSTEM = {"cuda", "cudart", "cupti", "nccl", "nvJitLink", "nvrtc"}
QUESTION = re.compile(r"Get|Create|Query|Alloc|Map|Import|Export|Reserve|Retain|Open|Load|Register|"
                      r"Init|Instantiate|Duplicate|Find|Link|Occupancy|Node|Read|Write|Split|Compile")
ASKS = re.compile(r"Get|[sS]ize|Query|Version|Create|Count|Nnz|nnz|Occupancy|Init|Retrieve")
RESULT = re.compile(r"size|lwork|info|version|nnz|count|value|position|singularity|result|num|"
                    r"level|index|begin|base", re.I)
INPUT = {"n", "inembed", "onembed", "rnembed", "lda", "ldb", "ldc", "loc", "numOptions"}
STATUS = re.compile(r"Status_t|cudaError_t|CUresult|CUptiResult|cufftResult|ncclResult_t|nvrtcResult|"
                    r"nvJitLinkResult|CUfileError_t|cudaError|cusolverStatus|curandStatus")
STACK_STRUCTS = {"ncclUniqueId": 16, "cudaExtent": 3, "cudaPitchedPtr": 4, "cudaIpcMemHandle_t": 8,
                 "cudaIpcEventHandle_t": 8, "CUipcMemHandle": 8, "CUipcEventHandle": 8, "cudaPos": 3}
SSE_STRUCTS = {"cuComplex": 1, "cufftComplex": 1, "cuDoubleComplex": 2, "cufftDoubleComplex": 2}
WIDE = {"size_t", "long long", "long long int", "long", "long int", "unsigned long long",
        "unsigned long", "unsigned long long int", "int64_t", "uint64_t", "ptrdiff_t", "intptr_t",
        "uintptr_t"}
NARROW = {"int", "unsigned int", "unsigned", "int32_t", "uint32_t"}
# Name -> the whole answer, where the rules do not fit.
OVERRIDES = {
    # A description for kernels, which do not look at it.
    **{f"cuTensorMap{what}": ("does_nothing", [])
       for what in ("EncodeTiled", "EncodeIm2col", "EncodeIm2colWide", "ReplaceAddress")},
    # Nothing is ever logged, so nothing would be called back.
    "cuLogsRegisterCallback": ("does_nothing", [(2, "handle")]),
    # No activity is ever recorded, so nothing would be called back.
    "cuptiActivityRegisterCallbacks": ("does_nothing", []),
    "cuptiActivityRegisterTimestampCallback": ("does_nothing", []),
}


def preprocessed(header, folders, shims):
    for folder in folders:
        found = sorted(pathlib.Path(folder).rglob(header))
        if found:
            break
    else:
        print(f"{header}: not in the given folders, left out", file=sys.stderr)
        return ""
    includes = {str(p.parent) for f in folders for p in pathlib.Path(f).rglob("*.h")
                if p.parent.name == "include"}
    first = [shims, str(found[0].parent)] + sorted(includes, key=lambda i: ("cu12" in i or "cuda12" in i, i))
    command = ["gcc", "-E", "-P", "-xc++", "-D__host__=", "-D__device__="]
    command += [word for i in first for word in ("-I", i)] + [str(found[0])]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def statements(text):
    """The text's declarations at file level, without the bodies of structures and functions."""
    text = re.sub(r'extern\s+"C"\s*\{', "", text)
    text = re.sub(r"\[\[[^\]]*\]\]", "", text)
    text = re.sub(r"__attribute__\s*\(\([^()]*(\([^()]*\))?[^()]*\)\)|__asm__\s*\([^)]*\)", "", text)
    depth, out = 0, []
    for c in text:
        if c == "{":
            depth += 1
            out.append("{}" if depth == 1 else "")
        elif c == "}":
            depth = max(depth - 1, 0)
        elif depth == 0:
            out.append(c)
    flat = re.sub(r"\s+", " ", "".join(out))
    return [s.strip() for s in flat.split(";")]


def learn_types(declarations, types):
    for text in declarations:
        m = re.match(r"(?:.*\{\})?\s*typedef (.*?)\b(\w+)$", text)
        if not m:
            continue
        base = m.group(1).replace("{}", "").strip()
        if "(" in base:
            types[m.group(2)] = "function"
        elif base.endswith("*"):
            types[m.group(2)] = "handle"
        elif base.startswith("enum"):
            types[m.group(2)] = "int"
        else:
            types[m.group(2)] = re.sub(r"\b(const|struct|union)\b", "", base).strip()


def resolve(name, types):
    name = re.sub(r"\b(const|volatile|struct|union|__restrict__)\b", "", name).strip()
    if name.startswith("enum"):
        return "int"
    for _ in range(12):
        if name in WIDE:
            return "wide"
        if name in NARROW:
            return "narrow"
        if name in ("float", "double", "void", "char", "handle", "function"):
            return name
        if name not in types:
            return "struct"
        name = types[name]
    return "struct"


def split_parameters(text):
    parts = re.split(r",(?![^()]*\))", text)
    return [] if parts in ([""], ["void"], [" "]) else [p.strip() for p in parts]


def parse_parameter(text):
    """(type without its last pointer, name, is a pointer)"""
    if "(" in text:
        return "function", "", False
    text = re.sub(r"=.*", "", text)
    array = "[" in text
    text = re.sub(r"\[[^\]]*\]", "", text).strip()
    m = re.match(r"(.*?[\s*])(\w+)$", text)
    known = m and not re.match(r"(int|long|unsigned|char|float|double)$", m.group(2))
    kind, name = (m.group(1).strip(), m.group(2)) if known else (text, "")
    if array:
        return kind, name, True
    return (kind[:-1].strip(), name, True) if kind.endswith("*") else (kind, name, False)


def slots(parameters, types):
    """The integer-argument slot of each parameter by the x86-64 ABI, None for those without one."""
    registers = stack = vectors = 0
    result = []
    for kind, _, pointer in parameters:
        bare = re.sub(r"\b(const|struct)\b", "", kind).strip()
        vector = 0 if pointer else SSE_STRUCTS.get(bare, resolve(kind, types) in ("float", "double"))
        words = 0 if pointer else STACK_STRUCTS.get(bare, 0)
        result.append(None)
        if words:
            stack += words
        elif vector:
            stack += vector if vectors + vector > 8 else 0
            vectors += vector if vectors + vector <= 8 else 0
        elif bare == "dim3" and not pointer:  # 12 bytes: two registers or none
            registers, stack = (registers + 2, stack) if registers <= 4 else (registers, stack + 2)
        elif registers < 6:
            result[-1] = registers
            registers += 1
        else:
            result[-1] = 6 + stack
            stack += 1
    return result


def output_of(library, function, kind, name, types):
    """What to write through a pointer parameter; None: nothing, "?": something unknown."""
    if kind.endswith("*") and "Get" in function:
        return "pointer"
    if "const" in kind.split() or name in INPUT or re.search(r"Set(?!Attr)", function):
        return None
    target = resolve(kind, types)
    asks, sounds = ASKS.search(function), RESULT.search(name)
    if kind.endswith("*"):
        return None
    if target == "handle":
        return "pointer" if re.search(r"Get|Query", function) else "handle"
    if target in ("wide", "narrow") and (asks or sounds):
        if types.get(kind) and "Handle" in kind:
            return "small_handle"
        return "size" if target == "wide" else "integer"
    if target in ("float", "double") and "Get" in function:
        return "single" if target == "float" else "real"
    if library in WRITES_DATA and not asks and "Destroy" not in function:
        return "data"
    return "?" if "Get" in function and target in ("struct", "char", "void") else None


def facts_of(library, returned, function, text, types):
    parameters = [parse_parameter(p) for p in split_parameters(text)]
    outputs, unknown = [], False
    for (kind, name, pointer), slot in zip(parameters, slots(parameters, types)):
        what = output_of(library, function, kind, name, types) if pointer else None
        unknown |= what == "?"
        if what and what != "?" and slot is not None:
            outputs.append((slot, what))
    if function in OVERRIDES:
        return OVERRIDES[function]
    if re.search(r"const char ?\*", returned):
        return "text", []
    if not STATUS.search(returned):
        return "zero", []
    loud = unknown or (library in SYSTEM and QUESTION.search(function))
    outputs.sort(key=lambda each: each[1] == "data")  # numbers first: eight in all
    return ("unsupported" if loud else "does_nothing"), outputs[:8]


def functions_of(library, headers, pattern, folders, shims):
    found = {}
    prototype = re.compile(rf"(?:.*\{{\}})?\s*(?:extern )?(?!typedef|static)(.*?[\s*])({pattern}\w*) ?\((.*)\)$")
    for header in headers:
        for folder_set in (folders, folders[::-1]):
            declarations = statements(preprocessed(header, folder_set, shims))
            types = {}
            learn_types(declarations, types)
            for text in declarations:
                m = prototype.match(text)
                if m and "typedef" not in m.group(1) and "static" not in m.group(1):
                    found.setdefault(m.group(2), facts_of(library, *m.groups(), types))
    return found


def is_default(library, name, answer, outputs):
    """The dispatcher answers it like that without a line of its own; driver names are all kept,
    because programs fetch them by name."""
    sounds = QUESTION.search(name) or ASKS.search(name)
    return library not in ("cuda", "cudart") and answer == "does_nothing" and not (outputs or sounds)


def main(folders):
    here = pathlib.Path(__file__).parent / "out_parameters"
    here.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as shims:
        for name in ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h"):  # not needed; need more packages
            pathlib.Path(shims, name).touch()
        for library, (headers, pattern) in LIBRARIES.items():
            found = functions_of(library, headers, pattern, folders, shims)
            lines = [f"// Written by ../generate_out_parameters.py from: {', '.join(headers)}."]
            for name, (answer, outputs) in sorted(found.items()):
                if not is_default(library, name, answer, outputs):
                    outs = "".join(f", MEMTRACE_OUT({slot}, {what})" for slot, what in outputs)
                    lines.append(f"MEMTRACE_CALL({name}, {answer}{outs})")
            text = "// SPDX-License-Identifier: Apache-2.0\n" + "\n".join(lines) + "\n"
            (here / f"{library}.def").write_text(text)
            print(f"{library}: {len(found)} functions, {len(lines) - 1} lines", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
