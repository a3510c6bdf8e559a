# SPDX-License-Identifier: Apache-2.0
"""Whether the order of a trace can have happened: no address is given out while it is in use, none
is given back that is not. Reads `memtrace dump --no-stacks` line by line."""
import json
from dataclasses import dataclass, field


@dataclass
class Replayed:
    allocations: int = 0
    releases: int = 0
    left: int = 0
    wrong: list[str] = field(default_factory=list)


def replayed(lines) -> Replayed:
    result = Replayed()
    live: dict[int, int] = {}  # address → device
    for line in lines:
        if '"cuda_call"' not in line:
            continue
        event = json.loads(line)
        address = event["address"]
        if address == 0 or event.get("error", 0) != 0:
            continue
        if event["release"]:
            result.releases += 1
            device = live.pop(address, None)
            if device is None:
                result.wrong.append(f"event {event['n']}: {event['api']} of {address:#x}, which is free")
            elif device != event["device"]:
                result.wrong.append(f"event {event['n']}: {address:#x} is of device {device}: {line}")
        else:
            result.allocations += 1
            if address in live:
                result.wrong.append(f"event {event['n']}: {event['api']} of {address:#x}, which is in use")
            live[address] = event["device"]
    result.left = len(live)
    return result
