#!/usr/bin/env python3
"""own_kernel.py BUILD: does what README.md says of a kernel of one's own, and runs that op's tests on it.

Nothing is written into the sources or the build: copies of what the README changes stand before the originals, where the
compiler looks for headers and the linker for objects.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1])
FOLDER = pathlib.Path("kernels/cuda")


def shown(words):
    """The indented text that the README has after these words."""
    readme = (ROOT / "README.md").read_text()
    if words not in readme:
        sys.exit(f"own_kernel.py: README.md does not say '{words}'")
    text = readme[readme.index(words) :].split("\n\n", 1)[1]
    return textwrap.dedent(re.match(r"(?: {6}.*\n|\n)+", text).group(0)).strip() + "\n"


def insert(file, before, text, copy):
    """Puts the text into a copy of the file, behind the line that holds `before`."""
    lines = (ROOT / FOLDER / file).read_text().splitlines(keepends=True)
    found = [number for number, line in enumerate(lines) if before in line]
    if len(found) != 1:
        sys.exit(f"own_kernel.py: {file} has {len(found)} lines with '{before}'")
    lines.insert(found[0] + 1, text)
    (copy / file).write_text("".join(lines))


def main():
    if "'relu_one_each'" not in (ROOT / "README.md").read_text() or "cuda_kernels = [" not in (
        ROOT / FOLDER / "meson.build").read_text():
        sys.exit("own_kernel.py: the list of kernels/cuda/meson.build is not where the README says")
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        copy = root / FOLDER
        copy.mkdir(parents=True)
        (copy / "relu_one_each.cu").write_text(shown("A file, `kernels/cuda/relu_one_each.cu`:"))
        (copy / "relu_one_each.cpp").write_text('#include "relu_one_each.cu"\n')
        insert("kernels.h", "void relu_forward(", shown("its declaration in"), copy)
        insert("rows.cpp", "&target::relu_forward<T>", shown("a row in `kernels/cuda/rows.cpp`"), copy)

        commands = json.loads((BUILD / "compile_commands.json").read_text())
        rows = next(shlex.split(one["command"]) for one in commands
                    if one["file"].endswith("kernels/cuda/rows.cpp") and "-DWARPLINE_CUDA_ROWS=emu_rows" in one["command"])
        flags = rows[: rows.index("-MD")]
        compiler = next(number for number, word in enumerate(flags) if word.startswith("-"))
        for source in ("rows", "relu_one_each"):
            subprocess.run([*flags[:compiler], f"-I{root}", *flags[compiler:], "-c", copy / f"{source}.cpp",
                            "-o", root / f"{source}.o"], cwd=BUILD, check=True)
        link = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "-s", "tests/kernels_relu_test"], check=True,
                              capture_output=True, text=True).stdout.splitlines()[-1]
        words = shlex.split(link)
        at = words.index("tests/kernels_relu_test")
        subprocess.run([*words[:at], root / "relu_test", root / "rows.o", root / "relu_one_each.o", *words[at + 1 :]],
                       cwd=BUILD, check=True)
        return subprocess.run([root / "relu_test", "--device", "emu"], check=False).returncode


sys.exit(main())
