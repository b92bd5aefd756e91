#!/usr/bin/env python3
"""Makes stand-ins for the CUDA libraries that PyTorch's wheel links beside the runtime.

cuBLAS, cuDNN, NCCL and the others take gigabytes, and the allocator calls none of them. For each
that one of the given libraries needs and that is not beside it, a shared library of the same name
is built that has what is imported from it, under the same version node. A function of it that is
called says its name once and gives an error.

usage: stub_libraries.py FOLDER_OF_LIBRARIES OUT_FOLDER
"""

import pathlib
import re
import subprocess
import sys

# Whose symbols bear no version node that is the library's name.
PREFIXES = {
    "cusparseLt": "libcusparseLt.so.0", "cuFile": "libcufile.so.0", "nccl": "libnccl.so.2",
    "pnccl": "libnccl.so.2", "nvshmem": "libnvshmem_host.so.3", "curand": "libcurand.so.10",
}
# The machine's own, and the two that are simulated.
NOT_STUBBED = re.compile(r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|gomp|cuda|cudart)\.so|ld-linux")

HEADER = """#include <stdio.h>
static int once(int* said, const char* name) {
  if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED)) {
    fprintf(stderr, "stub library: %s is not simulated\\n", name);
  }
  return 15;
}
"""


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed_by(library: pathlib.Path) -> list[str]:
    return re.findall(r"NEEDED.*\[(.+)\]", output_of("readelf", "-d", str(library)))


def imports_of(library: pathlib.Path) -> list[tuple[str, str]]:
    """Names with their version nodes, "" where there is none."""
    found = []
    for line in output_of("nm", "-D", "--undefined-only", str(library)).splitlines():
        kind, name = line.split()[-2:]
        if kind == "U":
            name, _, node = name.partition("@")
            found.append((name, node.lstrip("@")))
    return found


def owner_of(name: str, node: str, libraries: set[str]) -> str | None:
    if node in libraries:
        return node
    for prefix, library in PREFIXES.items():
        if name.startswith(prefix) and library in libraries:
            return library
    return None


def function_of(name: str) -> str:
    if re.search(r"(ErrorString|StatusString|ErrorName|LastErrorMessage|getErrorString)", name):
        return f'const char* {name}(void) {{ return "a stub library"; }}'
    if name.lower().endswith("version"):  # Their callers print it.
        return f"int {name}(void) {{ return 0; }}"
    return f'int {name}(void) {{ static int said; return once(&said, "{name}"); }}'


def build(library: str, symbols: set[tuple[str, str]], out: pathlib.Path) -> None:
    names = sorted({name for name, _ in symbols})
    nodes = sorted({node for _, node in symbols if node})
    source = out / f"{library}.c"
    source.write_text(HEADER + "\n".join(function_of(name) for name in names) + "\n")
    command = ["cc", "-shared", "-fPIC", "-O1", "-fno-builtin", "-w", str(source), "-o",
               str(out / library), f"-Wl,-soname,{library}"]
    if nodes:
        exports = out / f"{library}.map"
        exports.write_text(f"{nodes[0]} {{ global: *; }};\n")
        command.append(f"-Wl,--version-script={exports}")
    subprocess.run(command, check=True)


def main() -> int:
    arguments = sys.argv[1:]
    if "-h" in arguments or "--help" in arguments:
        print(__doc__)
        return 0
    if len(arguments) != 2 or arguments[0].startswith("-"):
        print(f"stub_libraries.py: two folders, not: {' '.join(arguments)}\n{__doc__}",
              file=sys.stderr)
        return 2
    libraries = sorted(pathlib.Path(sys.argv[1]).glob("*.so*"))
    if not libraries:
        print(f"stub_libraries.py: no library lies in {sys.argv[1]}", file=sys.stderr)
        return 2
    out = pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    present = {library.name for library in libraries}
    missing = {name for library in libraries for name in needed_by(library)
               if name not in present and not NOT_STUBBED.match(name)}
    symbols = {library: set() for library in missing}
    for library in libraries:
        for name, node in imports_of(library):
            owner = owner_of(name, node, missing)
            if owner:
                symbols[owner].add((name, node))
    for library in sorted(missing):
        build(library, symbols[library], out)
        print(f"{library}: {len(symbols[library])} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
