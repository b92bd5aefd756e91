"""What ci/bench --peers does: Cairn, PyTorch's allocator, RMM's pool and arena, and CUB's, each a
program of bench/peers, over the same devices and the same workloads."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
RELEASE = TOP / "build/release"
CLIENTS = TOP / "build/clients"
WANTED = TOP / "bench/peers/requirements.txt"

PEERS = ("cairn", "torch", "rmm_pool", "rmm_arena", "cub")
DEVICES = {"null": RELEASE / "lib/null", "simulated": RELEASE / "lib/simulated"}
TARGETS = ("peer_workloads", "cairn_null_cudart", "cairn_simulated_cudart_13",
           "cairn_simulated_nvml", *(f"peer_{peer}" for peer in PEERS))

DRAWN = (*(f"hit-same-{blocks}" for blocks in (100, 1_000, 10_000)),
         *(f"hit-random-{blocks}" for blocks in (100, 1_000, 10_000)),
         "batch-1000", "cross-stream",
         *(f"random-10000-of-{mib}MiB" for mib in (1, 4, 64, 256, 1024, 4096)))
QUICK = ("hit-same-1000", "hit-random-1000", "cross-stream", "random-10000-of-64MiB")

# The same text for Cairn and PyTorch.
SETTINGS = ("", "max_split_size_mb:32", "max_split_size_mb:128,roundup_power2_divisions:8",
            "roundup_power2_divisions:4", "garbage_collection_threshold:0.2",
            "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]")
# The devices' memory: as much as the null one has; and so little that settings for when memory is
# short matter.
AMPLE, SHORT = 2**40, 40 * 2**30
# All that either reads its settings from, and what else would change the simulated device.
VARIABLES = ("CAIRN_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF",
             "CAIRN_SIM_MEMORY", "CAIRN_SIM_DEVICES", "CAIRN_SIM_FAULT", "LD_PRELOAD")


def fail(words):
    print("ci/bench:", words, file=sys.stderr)
    sys.exit(2)


def run(*command):
    print("+", *command[:6], "..." if len(command) > 6 else "", flush=True)
    result = subprocess.run([str(word) for word in command], cwd=TOP, check=False)
    if result.returncode != 0:
        fail(f"{command[0]} exited with {result.returncode}")


def set_up():
    """PyTorch's wheel as ci/clients installs it, and RMM's beside it; gives their folder."""
    run("ci/clients", "--set-up")
    python = CLIENTS / "venv/bin/python"
    wanted, installed = WANTED.read_text(encoding="utf-8"), CLIENTS / "installed_peers"
    if not installed.exists() or installed.read_text(encoding="utf-8") != wanted:
        run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r",
            WANTED)
        installed.write_text(wanted, encoding="utf-8")
    return subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def build():
    wheels = set_up()
    run("ci/setup", "test")
    run("ci/build", "--target=cairn_simulated_cuda", "release")  # Configures it.
    run("cmake", "-S", ".", "-B", RELEASE, "--log-level=NOTICE", f"-DCAIRN_PEER_WHEELS={wheels}")
    run("ci/build", *(f"--target={name}" for name in TARGETS), "release")


def missing():
    return [f"peer_{peer}" for peer in PEERS if not (RELEASE / f"bin/peer_{peer}").exists()]


def wheel_folders():
    packages = next((CLIENTS / "venv/lib").glob("python3*/site-packages"), Path("none"))
    return [packages / "librmm/lib64", packages / "rapids_logger/lib64", packages / "torch/lib"]


def ask(peer, measure, workload, *, device, settings="", memory=AMPLE):
    """A process that measures one thing; gives the line that it prints."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment["CAIRN_SIM_MEMORY"] = str(memory)
    environment["LD_LIBRARY_PATH"] = ":".join(map(str, (DEVICES[device], *wheel_folders())))
    if settings:
        environment["PYTORCH_ALLOC_CONF"] = settings
    result = subprocess.run(
        [RELEASE / f"bin/peer_{peer}", measure, workload], cwd=TOP, check=False, text=True,
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode not in (0, 1) or not result.stdout.strip():
        fail(f"peer_{peer} {measure} {workload}: {result.stderr.strip()[-400:]}")
    return json.loads(result.stdout.splitlines()[-1])


def times(workloads, device, rounds):
    """{workload: {peer: {"ns", "spread"} or {"failure"}}}, the peers in turns."""
    found = {}
    for turn in range(rounds):
        for workload in workloads:
            for peer in PEERS[turn % len(PEERS):] + PEERS[:turn % len(PEERS)]:
                row = ask(peer, "time", workload, device=device)
                runs = found.setdefault(row["workload"], {}).setdefault(peer, [])
                runs.append(row.get("failure") or row["ns"])
        print(f"  time, {device} device: round {turn + 1} of {rounds}", flush=True)
    return {workload: {peer: middle(runs) for peer, runs in peers.items()}
            for workload, peers in found.items()}


def middle(runs):
    words = [run for run in runs if isinstance(run, str)]
    if words:
        return {"failure": words[0]}
    median = statistics.median(runs)
    return {"ns": median, "spread": (max(runs) - min(runs)) / median}


def once(workloads, measure, device):
    found = {}
    for workload in workloads:
        for peer in PEERS:
            row = ask(peer, measure, workload, device=device)
            found.setdefault(row["workload"], {})[peer] = row
    print(f"  {measure}, {device} device", flush=True)
    return found


def under_settings(workloads):
    """Peaks of Cairn and PyTorch under the same text: {text: {workload: {peer: bytes or None}}},
    None where it ran out of memory."""
    found = {}
    for text in SETTINGS:
        for workload in workloads:
            rows = {peer: ask(peer, "held", workload, device="simulated", settings=text,
                              memory=SHORT) for peer in ("cairn", "torch")}
            name = rows["cairn"]["workload"]
            found.setdefault(text, {})[name] = {
                peer: row.get("peak_held_bytes") for peer, row in rows.items()}
    print("  held, by settings", flush=True)
    return found


def write_workloads(names, folder):
    """Their files, by which the programs know them."""
    command = [RELEASE / "bin/peer_workloads", folder, *map(str, names)]
    result = subprocess.run(command, cwd=TOP, check=False, text=True, stdout=subprocess.PIPE)
    if result.returncode != 0:
        fail(f"{command[0]} exited with {result.returncode}")
    return [Path(line) for line in result.stdout.splitlines()]


def measure(traces, quick):
    with tempfile.TemporaryDirectory() as folder:
        workloads = write_workloads([*traces, *(QUICK if quick else DRAWN)], folder)
        return measure_all(workloads, rounds=3 if quick else 7)


def measure_all(workloads, rounds):
    # Those on which memory held is worth a look: what is drawn for hits never varies.
    holding = [one for one in workloads if not one.name.startswith(("hit-", "batch-", "cross-"))]
    # What takes some microseconds is no longer than what surrounds it. A step has 16 bytes.
    timed = [one for one in workloads if one.stat().st_size >= 16 * 1_000]
    return {"time": {"null": times(timed, "null", rounds),
                     "simulated": times(timed, "simulated", (rounds + 1) // 2)},
            "calls": once(workloads, "held", "null"),
            "held": once(holding, "held", "simulated"),
            "fits": once(holding, "fits", "simulated"),
            "settings": under_settings(holding)}
