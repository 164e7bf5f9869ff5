"""Compares runs of `warpline train --json`, the first of which is the serial one.

usage: demo_table.py SERIAL.json OTHER.json...
Exit status 1 when one ended with other bits than the first.
"""

import json
import sys


def row(run, serial):
    steps = len(run["losses"])
    sent = sum(rank["bytes_sent"] for rank in run["ranks"]) / steps
    same = run["parameters_sha256"] == serial["parameters_sha256"] and run["losses"] == serial["losses"]
    speed_up = run["images_per_second"] / serial["images_per_second"]
    return [
        run["flags"]["strategy"],
        run["cut"],
        f"{run['losses'][-1]:.4f}",
        f"{100 * run['test_accuracy']:.2f} %",
        f"{run['images_per_second']:.0f}",
        f"{speed_up:.2f} of {run['bound']:.2f}",
        f"{sent / 1e3:.1f} kB",
        "yes" if same else "NO",
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
    return 0 if all(line[-1] == "yes" for line in table[1:]) else 1


if __name__ == "__main__":
    sys.exit(main())
