#!/usr/bin/env python3
"""resources.py OUTPUT NAME.resources.txt...: what ptxas told of each CUDA kernel, and what follows for a GPU, as a C++
source that defines kernel_resources() of kernels/cuda/resources.h.

Kernels of double and uint32, which serve gradient checks and exact tests, are left out. Registers, shared memory and
spills are ptxas's own figures. Occupancy is how much of a multiprocessor's threads find room at the same time, by
registers, shared memory and number of blocks: an upper bound, which no GPU was asked for.
"""
import collections
import pathlib
import re
import subprocess
import sys

ENTRY = re.compile(r"Compiling entry function '(\S+)' for 'sm_(\w+)'")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?, (\d+) bytes smem)?")
REGISTERS = 65536  # of a multiprocessor, a quarter for each of its four schedulers; a warp gets a multiple of 256

# CUDA C++ Programming Guide, technical specifications by compute capability: threads and blocks that one
# multiprocessor holds, its shared memory in KiB, and what each block costs beside its own, in bytes.
Gpu = collections.namedtuple("Gpu", "threads blocks shared_kib shared_overhead")
GPUS = {
    "75": Gpu(1024, 16, 64, 0),
    "80": Gpu(2048, 32, 164, 1024),
    "86": Gpu(1536, 16, 100, 1024),
    "89": Gpu(1536, 24, 100, 1024),
    "90": Gpu(2048, 32, 228, 1024),
    "120": Gpu(1536, 24, 100, 1024),
}


def round_up(value, unit):
    return -(-value // unit) * unit


def occupancy(gpu, threads, registers, shared):
    """Per cent of the threads that a multiprocessor can hold."""
    warps = threads // 32
    by_registers = 4 * (REGISTERS // 4 // round_up(registers * 32, 256)) // warps
    of_block = round_up(shared + gpu.shared_overhead, 256 if gpu.shared_overhead == 0 else 128)
    by_shared = gpu.shared_kib * 1024 // max(of_block, 1)
    blocks = min(gpu.threads // threads, gpu.blocks, by_registers, by_shared)
    return round(100 * blocks * threads / gpu.threads)


def short(symbols):
    """Demangled names without scopes and parameters: "max_kernel<float, BlockTeam>"."""
    names = subprocess.run(["c++filt"], input="\n".join(symbols), check=True, capture_output=True, text=True)
    for name in names.stdout.splitlines():
        name = name.replace("(anonymous namespace)::", "").replace("unsigned int", "uint32")
        name = re.sub(r"\((int|bool)\)", "", re.sub(r"\w+::", "", name.removeprefix("void ")))
        yield name[: name.index("(")]


Kernel = collections.namedtuple("Kernel", "source name arch registers shared spilled")


def read(files):
    """All kernels, in the order of sources and names."""
    kernels = []
    for file in sorted(files):
        symbols, rows = [], []
        for entry in re.split(r"(?=ptxas info\s+: Compiling entry function)", file.read_text()):
            found = ENTRY.search(entry)
            if found is None:
                continue
            used, spills = USED.search(entry), SPILLS.search(entry)
            symbols.append(found.group(1))
            rows.append((found.group(2), int(used.group(1)), int(used.group(2) or 0),
                         int(spills.group(2)) + int(spills.group(3))))
        source = file.name.removesuffix(".resources.txt") + ".cu"
        kernels += [Kernel(source, name, *row) for name, row in sorted(zip(short(symbols), rows))
                    if "double" not in name and "uint32" not in name]
    return kernels


def main():
    output, *files = map(pathlib.Path, sys.argv[1:])
    lines = ['#include "kernels/cuda/resources.h"', "", "namespace warpline::cuda {", "",
             "const std::vector<KernelResources>& kernel_resources() {",
             "  static const std::vector<KernelResources> all{"]
    for kernel in read(files):
        gpu = GPUS.get(kernel.arch)
        if gpu is None:
            continue  # one that this file does not know
        percents = [occupancy(gpu, 32 * warps, kernel.registers, kernel.shared) for warps in range(1, 33)]
        lines.append(f'      {{"{kernel.name}", {kernel.arch}, {kernel.registers}, {kernel.shared}, {kernel.spilled}, '
                     f'{{{", ".join(map(str, percents))}}}}},')
    lines += ["  };", "  return all;", "}", "", "}  // namespace warpline::cuda", ""]
    output.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
