"""Compares runs of `warpline train --json`, the first of which is the serial one.

usage: demo_table.py SERIAL.json OTHER.json...
Exit status 1 when one on the same device ended with other bits than the first, or one on another device had other losses
in its first steps than rounding explains.
"""

import json
import sys


MOST_DIFFERENCE = 1e-4
FIRST_STEPS = 10  # after many steps rounding has grown


def verdict(run, serial):
    """Whether it is as it should be, and words for the table."""
    if run["flags"]["device"] == serial["flags"]["device"]:
        same = run["parameters_sha256"] == serial["parameters_sha256"] and run["losses"] == serial["losses"]
        return same, "yes" if same else "NO"
    pairs = list(zip(run["losses"][:FIRST_STEPS], serial["losses"]))
    difference = max(abs(a - b) for a, b in pairs)
    return difference <= MOST_DIFFERENCE, f"first {len(pairs)} losses within {difference:.0e}"


def row(run, serial):
    steps = len(run["losses"])
    sent = sum(rank["bytes_sent"] for rank in run["ranks"]) / steps
    speed_up = run["images_per_second"] / serial["images_per_second"]
    return [
        f"{run['flags']['strategy']} on {run['flags']['device']}",
        run["cut"],
        f"{run['losses'][-1]:.4f}",
        "-" if run["test_accuracy"] is None else f"{100 * run['test_accuracy']:.2f} %",
        f"{run['images_per_second']:.0f}",
        f"{speed_up:.2f} of {run['bound']:.2f}",
        f"{sent / 1e3:.1f} kB",
        verdict(run, serial)[1],
    ]


def main() -> int:
    runs = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            runs.append(json.load(file))
    serial = runs[0]
    head = ["strategy", "cut", "final loss", "accuracy", "images/s", "speed-up", "sent a step", "same bits as serial"]
    table = [head] + [row(run, serial) for run in runs]
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    print(f"\ndata: {serial['data']}. 'speed-up' is against serial, beside the best that this cut allows: the whole work")
    print("over the largest share of one rank. All runs were deterministic, with one thread a rank.")
    if any(run["flags"]["device"] == "emu" for run in runs):
        print("emu: the CUDA kernels on an emulated GPU, for a few steps; its speed is the emulator's.")
    return 0 if all(verdict(run, serial)[0] for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
