# SPDX-License-Identifier: Apache-2.0
"""Names what PyTorch's memory is for. Runs inside the traced program, in globals of its own.

`load` runs once, `look` for each module that is to be looked at; the hooks at every optimizer step.
The functions of bridge.cpp and `modules` (sys.modules) are among the globals. Nothing is imported,
no tensor is made on a GPU, and the program's objects are held by weak references only. Errors of
this file end here; what the program raises itself (in a signal's handler) passes through.
"""

PARAMETER, BUFFER = 1, 2  # storage_role
TRAINING, CHECKPOINTED, COMPILED = 1, 2, 4  # module_*

# Modules that only wrap another one, and the names that they give it.
WRAPPED = {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}
WRAPPERS = {"DistributedDataParallel", "DataParallel", "DeepSpeedEngine", "AveragedModel"}

roots = {}  # address of a root module: a weak reference to it
torch = None
failures = []


def is_make_fx_tracing():
    return False


def is_compiling():
    return False


class NotNow(Exception):
    """The state of the program forbids it for the moment."""


def is_the_programs(error):
    """Whether a signal's handler raised it while this file happened to run."""
    signal = modules.get("_signal")
    handlers = [signal.getsignal(number) for number in range(1, signal.NSIG)] if signal else []
    codes = [getattr(handler, "__code__", None) for handler in handlers]
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def swallow(error):
    if is_the_programs(error):
        raise error
    if not failures:
        failures.append(True)
        where = error.__traceback__
        while where.tb_next is not None:
            where = where.tb_next
        tell("the agent failed: %s: %s (%s:%d)" % (
            type(error).__name__, error, where.tb_frame.f_code.co_name, where.tb_lineno))


def load():
    """"on", why not, or None: to be tried again."""
    global torch, is_make_fx_tracing, is_compiling
    torch = modules.get("torch")
    try:
        if torch is None or modules.get("torch.nn.modules.module") is None:
            return None
        compiler = getattr(torch, "compiler", None)
        is_compiling = getattr(compiler, "is_compiling", is_compiling)
        if is_compiling() or torch._C._get_tracing_state() is not None:
            return None
        is_make_fx_tracing = getattr(torch.nn.modules.activation, "_is_make_fx_tracing",
                                     is_make_fx_tracing)
        # Pending calls run inside compiled calls too.
        for function in (load, look, forget_root):
            leave_to_interpreter(function.__code__)
        missing = watch_modules()
        confirm_tensors()
        missing += register_hooks()
        if takes_censuses():
            watch_ends()
        return "on" if not missing else "without " + ", ".join(missing)
    except NotNow:
        return None
    except Exception as error:
        if is_the_programs(error):
            raise
        return "failed: %s: %s" % (type(error).__name__, error)


def watch_modules():
    module_class = torch.nn.Module
    function = module_class.__call__
    code = getattr(function, "__code__", None)
    if code is None:
        return ["running modules (Module.__call__ is no Python function)"]
    slot, is_cell = place_of_self(code)

    class Sample:
        def local(self):
            return holds_self(0, 0, self)

        def cell(self):
            place = place_of_self(Sample.cell.__code__)
            held = holds_self(place[0], 1, self)
            return held and (lambda: self)() is self

    if code.co_varnames[:1] != ("self",) or not (Sample().cell() if is_cell else Sample().local()):
        return ["running modules (another layout of frames)"]
    watch_module_call(code, slot, 1 if is_cell else 0)
    return []


def place_of_self(code):
    """Where frames of this code have their variable self: its number, and whether in a cell."""
    if "self" not in code.co_cellvars:
        return 0, False
    if hasattr(code, "co_qualname"):  # 3.11 on: a cell takes the argument's place
        return 0, True
    return code.co_nlocals + code.co_cellvars.index("self"), True


def confirm_tensors():
    """Tells tensor_layout.h four tensors, by which it finds where tensors keep what."""
    know_tensors(torch._C._TensorBase if hasattr(torch._C, "_TensorBase") else torch._C.TensorBase,
                 torch.Tensor, torch.nn.Parameter)
    functorch = getattr(torch._C, "_functorch", None)
    level = getattr(functorch, "maybe_current_level", None)
    if level is not None and level() is not None:
        raise NotNow
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        with torch.inference_mode(False), torch.enable_grad():
            make_probe()


def make_probe():
    float32, bfloat16 = torch.float32, torch.bfloat16
    leaf = torch.zeros(3, 5, 7, device="cpu", dtype=float32, requires_grad=True)
    leaf.grad = gradient = torch.zeros(3, 5, 7, device="cpu", dtype=float32)
    result = leaf.neg()
    plain = torch.zeros(2, 11, 13, device="cpu", dtype=bfloat16)
    plain.requires_grad_(True).requires_grad_(False)
    node = result.grad_fn
    accumulate = node.next_functions[0][0]
    facts = []
    for tensor, scalar_type in ((leaf, 6), (gradient, 6), (result, 6), (plain, 15)):
        storage = tensor.untyped_storage()
        facts += [id(tensor), storage.data_ptr(), storage.nbytes(), scalar_type, *tensor.shape]
    confirm(*facts, id(node), node._sequence_nr(), id(accumulate))


def register_hooks():
    optimizer = modules.get("torch.optim.optimizer")
    if optimizer is None:
        return ["optimizers (torch.optim is not imported)"]
    registers = [getattr(optimizer, "register_optimizer_step_%s_hook" % when, None)
                 for when in ("pre", "post")]
    missing = ["register_optimizer_step_%s_hook" % when
               for when, register in zip(("pre", "post"), registers) if register is None]
    if missing:
        return ["optimizers (no %s)" % " and no ".join(missing)]
    calls = [constant for constant in optimizer.Optimizer.profile_hook_step.__code__.co_consts
             if hasattr(constant, "co_code")]
    # A step that is calling its hooks goes through the dictionary that they are put into.
    if any(is_running(code) for code in calls):
        raise NotNow
    if len(calls) == 1:
        watch_step_call(calls[0])
    for register, hook in zip(registers, (before_step, after_step)):
        leave_to_interpreter(hook.__code__)
        register_uncounted(register, hook)
    return []


def register_uncounted(register, hook):
    """Hooks are numbered through the whole process, and a module's hooks pickle with their numbers:
    the program's hooks must get those that they would have without this one."""
    handles = modules["torch.utils.hooks"].RemovableHandle
    number = handles.next_id
    handle = register(hook)
    held = handle.hooks_dict_ref()
    held[-1] = held.pop(handle.id)
    handles.next_id = number


def watch_ends():
    """Censuses when memory runs out, and before the interpreter goes away."""
    try:
        torch._C._cuda_attach_out_of_memory_observer(allocation_failed)
    except (AttributeError, RuntimeError):
        pass  # cudaMallocAsync has no observers
    at_exit = modules.get("atexit")
    if at_exit is not None:
        at_exit.register(interpreter_ends)


def leave_to_interpreter(code):
    """Dynamo does not look at frames of this code, which it meets where it compiles no caller."""
    dynamo = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
    strategy = getattr(dynamo, "_FrameExecStrategy", None)
    if strategy is not None:
        skip = dynamo._FrameAction.SKIP
        dynamo.set_code_exec_strategy(code, strategy(skip, skip))
    elif hasattr(dynamo, "skip_code"):
        dynamo.skip_code(code)


# Dynamo traces into the hooks, and takes both questions for constants: there is nothing to compile,
# nor to break a graph for. Of the first it does not note that the frame has asked it; the second is
# for versions where the first is False for Dynamo.


def before_step(optimizer, args, kwargs):
    if is_make_fx_tracing() or is_compiling():
        return
    try:
        groups = optimizer.param_groups
        if begin_step(optimizer, type(optimizer).__name__, groups):
            for root in list(roots.values()):
                module = root()
                if module is not None:
                    look(module)
            record_nameless(optimizer, groups)
        record_gradients(groups)
    except Exception as error:
        swallow(error)


def after_step(optimizer, args, kwargs):
    if is_make_fx_tracing() or is_compiling():
        return
    try:
        end_step(optimizer, type(optimizer).__name__, optimizer.param_groups, optimizer.state)
    except Exception as error:
        swallow(error)


def look(root):
    """Records the names of a root's modules, parameters and buffers."""
    try:
        if not isinstance(root, torch.nn.Module):
            return
        named, tensors = [], []
        walk(root, named, tensors)
        record_root(root, named, tensors)
        address = id(root)
        if address not in roots or roots[address]() is not root:
            roots[address] = modules["weakref"].ref(root, lambda reference: forget_root(address))
    except Exception as error:
        swallow(error)


def forget_root(address):
    try:
        roots.pop(address, None)
        forget(address)
    except Exception as error:
        swallow(error)


def walk(root, named, tensors):
    seen_modules, seen_tensors = set(), set()
    waiting = [(root, "")]
    while waiting:
        module, path = waiting.pop()
        if id(module) in seen_modules:
            continue
        seen_modules.add(id(module))
        named += (module, path, type(module).__name__, flags_of(module))
        start = path + "." if path else ""
        for role, held in ((PARAMETER, module._parameters), (BUFFER, module._buffers)):
            for name, tensor in held.items():
                if tensor is not None and id(tensor) not in seen_tensors:
                    seen_tensors.add(id(tensor))
                    tensors += (tensor, tensor, role, start + name, None)
                    if type(tensor) is not torch.nn.Parameter:
                        add_quantised(tensor, start + name, tensors)
        children = [(child, path if is_wrapped(module, name) else start + name)
                    for name, child in module._modules.items() if isinstance(child, torch.nn.Module)]
        waiting.extend(reversed(children))


def is_wrapped(module, name):
    return name in WRAPPED or (name == "module" and type(module).__name__ in WRAPPERS)


def flags_of(module):
    flags = TRAINING if module.training else 0
    name = type(module).__name__
    fields = module.__dict__
    if name == "CheckpointWrapper" or (
            fields.get("gradient_checkpointing") and "_gradient_checkpointing_func" in fields):
        flags |= CHECKPOINTED
    if name == "OptimizedModule" or fields.get("_compiled_call_impl") is not None:
        flags |= COMPILED
    return flags


def add_quantised(tensor, name, tensors):
    """What a quantised parameter keeps beside itself: scales, code books, of these the scales."""
    fields = getattr(tensor, "__dict__", {})
    states = [fields.get(key) for key in ("quant_state", "CB", "SCB")]
    for depth in range(3):
        inner = []
        for state in states:
            if isinstance(state, torch.Tensor):
                tensors += (state, tensor, PARAMETER, name, "quant_state")
            elif state is not None:
                inner += getattr(state, "__dict__", {}).values()
        states = [value for value in inner
                  if isinstance(value, torch.Tensor) or type(value).__name__ == "QuantState"]
