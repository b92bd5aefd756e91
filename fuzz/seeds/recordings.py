#!/usr/bin/env python3
"""Small recordings as seeds for snapshot_fuzzer and log_fuzzer: of each kind, and of each part that
an importer reads, one.

usage: fuzz/seeds/recordings.py CORPUS

Writes CORPUS/snapshot_fuzzer/* and CORPUS/log_fuzzer/*. The same each time.
"""

import json
import pickle
import sys
from pathlib import Path

BASE = 0x7E0000000000
MIB = 1 << 20
EVENTS = "device,seq,time_us,action,addr,size,stream,pool\n"
TWO_THREADS = "ts_us,tid,addr,bytes,total_allocated,total_reserved\n"
RMM = "Thread,Time,Action,Pointer,Size,Stream\n"


def block(size, state="inactive", requested=None, address=None):
    made = {"size": size, "requested_size": size - 5 if requested is None else requested,
            "state": state}
    return made if address is None else made | {"address": address}


def segment(blocks, address=BASE, **more):
    return {"device": 0, "address": address, "total_size": sum(b["size"] for b in blocks),
            "stream": 0, "segment_type": "large", "blocks": blocks} | more


def event(action, address, size, **more):
    return {"action": action, "addr": address, "size": size, "stream": 0} | more


def settings():
    return {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:40,garbage_collection_threshold:0.8,"
                                       "max_non_split_rounding_mb:21",
            "max_split_size": 40 * MIB, "garbage_collection_threshold": 0.8,
            "roundup_power2_divisions": {str(1 << i): 4 if i < 3 else 0 for i in range(16)}}


def snapshots():
    """By name: a snapshot."""
    full = segment([block(20 * MIB, "active_allocated")])
    halves = segment([block(8 * MIB, "active_allocated", address=BASE),
                      block(12 * MIB, address=BASE + 8 * MIB)])
    small = segment([block(512, "active_allocated"), block(1024, "active_pending_free"),
                     block(2 * MIB - 1536)], BASE + (1 << 30), segment_type="small", stream=0x55d0)
    yield "nothing", {"segments": []}
    yield "map", {"segments": [halves, small]}
    yield "settings", {"segments": [full], "allocator_settings": settings(), "device_traces": [[]]}
    yield "alloc", {"segments": [halves],
                    "device_traces": [[event("alloc", BASE, 8 * MIB - 5)]]}
    yield "segment", {"segments": [full], "device_traces": [[
        event("segment_alloc", BASE, 20 * MIB), event("alloc", BASE, 20 * MIB - 5)]]}
    yield "free", {"segments": [segment([block(20 * MIB)])], "device_traces": [[
        event("free_requested", BASE, 15 * MIB), event("free_completed", BASE, 15 * MIB),
        event("alloc", BASE, 16 * MIB), event("free_requested", BASE, 16 * MIB),
        event("free_completed", BASE, 16 * MIB)]]}
    yield "segment_free", {"segments": [], "device_traces": [[
        event("free_requested", BASE, 20 * MIB), event("free_completed", BASE, 20 * MIB),
        event("segment_free", BASE, 20 * MIB)]]}
    yield "others", {"segments": [full], "device_traces": [[
        event("oom", 0, 1 << 40, device_free=5), event("snapshot", 0, 0),
        event("annotate", 0, 0)]]}
    yield "pools", {"segments": [
        segment([block(20 * MIB)], segment_pool_id=(0, 1)),
        segment([block(20 * MIB, "active_allocated")], BASE + (1 << 30), segment_pool_id=(0, 0))],
                    "device_traces": [[event("alloc", BASE, 9),
                                       event("alloc", 1, 9, pool_id=(1, 0))]]}
    yield "expandable", {"segments": [segment([block(20 * MIB)], is_expandable=True)]}
    yield "devices", {"segments": [segment([block(2 * MIB, "active_allocated")], device=1,
                                           segment_type="small")],
                      "device_traces": [[], [event("segment_alloc", BASE, 2 * MIB, stream=0),
                                             event("alloc", BASE, 2 * MIB - 5)]]}


def map_json(**more):
    kept = {"device": 0, "address": 2 * MIB, "total_size": 2 * MIB, "stream": 0,
            "segment_type": "small", "segment_pool_id": [0, 0], "is_expandable": False,
            "blocks": [[2 * MIB, 512, 500, "active_allocated"],
                       [2 * MIB + 512, 1024, 999, "active_pending_free"],
                       [2 * MIB + 1536, 2 * MIB - 1536, 9, "inactive"]]}
    return json.dumps({"segments": [kept]} | more)


def logs():
    """By name: a log, in one of its forms."""
    initial = json.dumps({"segments": [
        {"address": 2 * MIB, "total_size": 2 * MIB, "segment_type": "small",
         "blocks": [[2 * MIB, 1024, False], [2 * MIB + 1024, 2 * MIB - 1024, True]]}]})
    final = json.dumps({"segments": [
        {"device": 0, "address": 2 * MIB, "total_size": 2 * MIB, "segment_type": "small",
         "stream": 0, "blocks": [[2 * MIB, 512, 500, "active_allocated"],
                                 [2 * MIB + 512, 2 * MIB - 512, 9, "inactive"]]}],
                        "allocator_settings": {"max_split_size": -1}})
    change = (f"0,0,1,free_requested,{2 * MIB},1000,0,\n0,1,1,free_completed,{2 * MIB},1000,0,\n"
              f"0,2,1,alloc,{2 * MIB},500,0,\n")
    yield "events", EVENTS + change + "\f" + initial + "\f" + final
    yield "events_of_nothing", EVENTS
    yield "events_from_empty", EVENTS + (
        f"0,0,1,segment_alloc,{BASE},{20 * MIB},0,\n0,1,2,alloc,{BASE},{8 * MIB},0,\n"
        f"0,2,3,alloc,{BASE + 8 * MIB},{2 * MIB},21968,\n"
        f"0,3,3,free_requested,{BASE},{8 * MIB},0,\n0,4,3,free_completed,{BASE},{8 * MIB},0,\n")
    yield "events_segment_free", EVENTS + (
        f"1,0,1,segment_alloc,{BASE},{20 * MIB},0,\n1,1,2,alloc,{BASE},{8 * MIB},0,\n"
        f"1,2,3,free_requested,{BASE},{8 * MIB},0,\n1,3,3,free_completed,{BASE},{8 * MIB},0,\n"
        f"1,4,4,segment_free,{BASE},{20 * MIB},0,\n")
    yield "events_without_end", EVENTS + change + "\f" + initial
    yield "events_of_a_pool", EVENTS + "0,0,1,alloc,1,500,0,1:2\n"
    yield "two_threads", TWO_THREADS + (
        "1,9,4096,512,1536,0\n2,8,8192,1024,2560,0\n3,8,4096,-512,2048,0\n")
    yield "two_threads_before", TWO_THREADS + "1,9,4096,512,2048,0\n2,8,8192,-1024,1024,0\n"
    yield "rmm", RMM + ("14,10:00:00.000001,allocate,0x7f0000000000,1024,0x0\n"
                        "15,10:00:00.000002,allocate,0x7f0000000400,512,0x55d0\n"
                        "14,10:00:00.000003,free,0x7f0000000000,1024,0x0\n"
                        "14,10:00:00.000004,free,0x7f0000000400,512,0x2\n")
    yield "rmm_failures", RMM + ("1,t,allocate failure,0x0,1024,0x0\n1,t,allocate,0x0,0,0x0\n"
                                 "1,t,free,0x500,12,0x1\n")
    yield "map", map_json()
    yield "map_settings", map_json(allocator_settings=settings() | {"roundup_power2_divisions": {
        str(1 << i): 2 for i in range(16)}})
    yield "map_of_nothing", '{"segments": []}'


def main(arguments):
    if "-h" in arguments or "--help" in arguments:
        print(__doc__)
        return 0
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(f"recordings.py: one folder, not: {' '.join(arguments)}\n{__doc__}", file=sys.stderr)
        return 2
    corpus = Path(arguments[0])
    for folder in ("snapshot_fuzzer", "log_fuzzer"):
        (corpus / folder).mkdir(parents=True, exist_ok=True)
    for name, snapshot in snapshots():
        for protocol in (2, 4):
            path = corpus / "snapshot_fuzzer" / f"{name}_{protocol}"
            path.write_bytes(pickle.dumps(snapshot, protocol))
    for name, log in logs():
        (corpus / "log_fuzzer" / name).write_text(log, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
