# SPDX-License-Identifier: Apache-2.0
"""How the programs of this folder print what they saw: a line an observation, big ones by digest."""

import hashlib
import re


def digest(data) -> str:
    if isinstance(data, str):
        data = data.encode()
    return hashlib.sha256(data).hexdigest()[:32]


def say(name: str, value) -> None:
    """Without the addresses that Python prints of objects."""
    print(re.sub(r"\b0x[0-9a-f]+", "ADDRESS", f"{name}: {value}"), flush=True)


def bits(tensor) -> str:
    """A digest of the tensor's very bytes, so that nothing but equality to the bit is equal."""
    tensor = tensor.detach().cpu().contiguous()
    return f"{tuple(tensor.shape)} {tensor.dtype} {digest(bytes(tensor.untyped_storage()))}"
