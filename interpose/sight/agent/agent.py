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
most_positions = 0  # of the models that were looked at
torch = None
failures = []


def is_make_fx_tracing():
    return False


def is_compiling():
    return False


answers = is_make_fx_tracing, is_compiling  # of a PyTorch that cannot be asked


class NotNow(Exception):
    """The state of the program forbids it for the moment."""


class Without(Exception):
    """What this PyTorch lacks, and so what is not to be had."""


def find(owner, path):
    """owner.path, or None. Names that are PyTorch's own may be others in another version."""
    for name in path.split("."):
        owner = getattr(owner, name, None)
    return owner


def needed(owner, path):
    found = find(owner, path)
    if found is None:
        raise Without("no " + path)
    return found


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
        is_compiling = find(torch, "compiler.is_compiling") or is_compiling
        activation = modules.get("torch.nn.modules.activation")
        is_make_fx_tracing = find(activation, "_is_make_fx_tracing") or is_make_fx_tracing
        if is_compiling():
            return None
        missing = []
        for what, part in (("being left out of compiled code", hide_from_compiler),
                           ("running modules", watch_modules), ("tensors", confirm_tensors),
                           ("optimizers", register_hooks),
                           ("lines of compiled code", watch_compiler),
                           ("censuses", watch_objects),
                           ("censuses when memory runs out", watch_for_failed_allocations),
                           ("a census at exit", watch_for_the_end),
                           ("chosen values", choose_values)):
            try:
                part()
            except NotNow:
                raise
            except Exception as error:
                if is_the_programs(error):
                    raise
                missing.append("%s (%s)" % (what, reason_of(error)))
        return "on" if not missing else "without " + ", ".join(missing)
    except NotNow:
        return None
    except Exception as error:
        if is_the_programs(error):
            raise
        return "failed: " + reason_of(error)


def reason_of(error):
    return str(error) if type(error) is Without else "%s: %s" % (type(error).__name__, error)


def is_being_traced():
    """Whether torch.jit.trace records what the calling thread does."""
    state = find(torch, "_C._get_tracing_state")
    return state() is not None if state is not None else needed(torch, "jit.is_tracing")()


def hide_from_compiler():
    # Pending calls run inside compiled calls too.
    for function in (load, look, forget_root):
        leave_to_interpreter(function.__code__)


def watch_modules():
    module_class = torch.nn.Module
    function = module_class.__call__
    code = getattr(function, "__code__", None)
    if code is None:
        raise Without("Module.__call__ is no Python function")
    slot, is_cell = place_of_self(code)

    class Sample:
        def local(self):
            return holds_self(0, 0, self)

        def cell(self):
            place = place_of_self(Sample.cell.__code__)
            held = holds_self(place[0], 1, self)
            return held and (lambda: self)() is self

    if code.co_varnames[:1] != ("self",) or not (Sample().cell() if is_cell else Sample().local()):
        raise Without("another layout of frames")
    watch_module_call(code, slot, 1 if is_cell else 0)


def place_of_self(code):
    """Where frames of this code have their variable self: its number, and whether in a cell."""
    if "self" not in code.co_cellvars:
        return 0, False
    if hasattr(code, "co_qualname"):  # 3.11 on: a cell takes the argument's place
        return 0, True
    return code.co_nlocals + code.co_cellvars.index("self"), True


def confirm_tensors():
    """Tells tensor_layout.h four tensors, by which it finds where tensors keep what."""
    if not reads_tensors():
        return
    level = find(torch, "_C._functorch.maybe_current_level")
    if is_being_traced() or (level is not None and level() is not None):
        raise NotNow
    without_modes = [needed(torch, path) for path in
                     ("_C._DisableTorchDispatch", "_C.DisableTorchFunction")]
    know_tensors(torch.Tensor.__mro__[-2], torch.Tensor, torch.nn.Parameter)
    with without_modes[0](), without_modes[1]():
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
    other = torch.zeros(3, 5, 7, device="cpu", dtype=float32, requires_grad=True)
    other_accumulate = other.neg().grad_fn.next_functions[0][0]
    facts = []
    for tensor, scalar_type in ((leaf, 6), (gradient, 6), (result, 6), (plain, 15)):
        storage = tensor.untyped_storage()
        facts += [id(tensor), storage.data_ptr(), storage.nbytes(), scalar_type, *tensor.shape]
    if not confirm(*facts, id(node), needed(node, "_sequence_nr")(), id(accumulate),
                   id(other), id(other_accumulate)):
        raise Without("another layout")


def register_hooks():
    if not watches_optimizers():
        return
    optimizer = modules.get("torch.optim.optimizer")
    if optimizer is None:
        raise Without("torch.optim is not imported")
    registers = [needed(optimizer, "register_optimizer_step_%s_hook" % when)
                 for when in ("pre", "post")]
    step = needed(optimizer, "Optimizer.profile_hook_step.__code__")
    # From Python 3.14 on the one that makes the annotations stands there, too (PEP 649).
    calls = [constant for constant in step.co_consts
             if getattr(constant, "co_name", "__annotate__") != "__annotate__"]
    if len(calls) != 1:
        raise Without("another Optimizer.profile_hook_step")
    if is_compiling is answers[1] and find(torch, "compiler") is not None:
        raise Without("no compiler.is_compiling")
    handles = needed(modules.get("torch.utils.hooks"), "RemovableHandle")
    needed(handles, "next_id")
    # A step that is calling its hooks goes through the dictionary that they are put into.
    if any(is_running(code) for code in calls):
        raise NotNow
    watch_step_call(calls[0])
    registered = []
    try:
        for register, hook in zip(registers, (before_step, after_step)):
            hide(hook)
            registered.append(register_uncounted(handles, register, hook))
    except Exception:
        for held in registered:
            held.pop(-1, None)
        raise


def hide(function):
    try:
        leave_to_interpreter(function.__code__)
    except Without:
        pass  # told once


def register_uncounted(handles, register, hook):
    """Hooks are numbered through the whole process, and a module's hooks pickle with their numbers:
    the program's hooks must get those that they would have without this one."""
    number = handles.next_id
    handle = register(hook)
    try:
        held = needed(handle, "hooks_dict_ref")()
        held[-1] = held.pop(needed(handle, "id"))
    except Exception:
        handle.remove()
        raise
    finally:
        handles.next_id = number
    return held


def watch_objects():
    """Censuses read objects by offsets, which known ones must confirm."""
    if takes_censuses():
        check_objects(hide_where_possible)


def hide_where_possible(code):
    """What cannot be hidden is told by hide_from_compiler."""
    try:
        leave_to_interpreter(code)
    except Without:
        pass


def watch_for_failed_allocations():
    if not takes_censuses():
        return
    attach = needed(torch, "_C._cuda_attach_out_of_memory_observer")
    if not calls_observers_unlocked(find(torch, "__version__")):
        raise Without("PyTorch %s may hold its allocator's lock then" % find(torch, "__version__"))
    try:
        attach(allocation_failed)
    except RuntimeError:
        raise Without("this allocator has no observers") from None  # cudaMallocAsync


def calls_observers_unlocked(version):
    """Up to 2.0 DeviceCachingAllocator::malloc (c10/cuda/CUDACachingAllocator.cpp) calls observers
    with the device's mutex held, and a Python one waits for the GIL under it; its lock.unlock()
    before them came with the issue pytorch/pytorch 97833, which is in 2.1."""
    parts = str(version).split(".")
    try:
        return (int(parts[0]), int(parts[1])) >= (2, 1)
    except (IndexError, ValueError):
        return False


def watch_for_the_end():
    """The interpreter is about to go away, or the process at once: os._exit, by which multiprocessing ends what it
    has forked, runs no exit handler, of Python's or of the library."""
    at_exit = modules.get("atexit")
    if takes_censuses() and at_exit is not None:
        at_exit.register(interpreter_ends)
    system, own, operator = modules.get("os"), modules.get("posix"), modules.get("_operator")
    leave = getattr(system, "_exit", None)
    if leave is None or own is None or operator is None or getattr(leave, "is_of_memtrace", False):
        return

    def _exit(status):
        try:
            number = operator.index(status)
        except TypeError:
            number = None
        if number is not None and -2**31 <= number < 2**31:  # else it raises, and the program goes on
            process_ends(number & 0xff)
        leave(status)

    _exit.is_of_memtrace = True
    _exit.__module__, _exit.__qualname__ = "posix", "_exit"  # by which it is pickled
    system._exit = own._exit = _exit


def leave_to_interpreter(code):
    """Dynamo does not look at frames of this code, which it meets where it compiles no caller."""
    dynamo = find(torch, "_C._dynamo.eval_frame")
    if dynamo is None:
        if is_compiling is not answers[1]:
            raise Without("no _C._dynamo.eval_frame")
        return  # older than torch.compile
    strategy = find(dynamo, "_FrameExecStrategy")
    if strategy is not None:
        skip = needed(dynamo, "_FrameAction.SKIP")
        needed(dynamo, "set_code_exec_strategy")(code, strategy(skip, skip))
    else:
        needed(dynamo, "skip_code")(code)


# Dynamo traces into the hooks, and takes both questions for constants: there is nothing to compile,
# nor to break a graph for. It does not note that a frame has asked the first; the second is for
# versions where the first is False for Dynamo.


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
        record_gradients(optimizer, groups)
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
        note_positions(vars(root).get("config"))
        address = id(root)
        if address not in roots or roots[address]() is not root:
            roots[address] = modules["weakref"].ref(root, lambda reference: forget_root(address))
    except Exception as error:
        swallow(error)


def note_positions(config):
    """What bounds the cache of keys and values of one generation: a fact of Transformers' configurations. Nothing else that
    a program calls its configuration is asked."""
    global most_positions
    if all(base.__module__ != "transformers.configuration_utils" for base in type(config).__mro__):
        return
    found = getattr(config, "max_position_embeddings", None)
    if type(found) is int and most_positions < found < 1 << 40:
        most_positions = found
        record_positions(found)


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
