"""Runs the tests of a build folder and adds up what their closing lines say.

usage: run_tests.py FOLDER [PATTERN...]
"""

import json
import pathlib
import re
import subprocess
import sys

CLOSING = re.compile(r"test cases: (\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)


def main() -> int:
    folder = pathlib.Path(sys.argv[1])
    names = subprocess.run(["meson", "test", "-C", folder, "--list"], check=True, capture_output=True, text=True)
    # "project:suite / name"; a name alone where there are no suites
    tests = [line.split(" / ")[-1] for line in names.stdout.splitlines() if line.endswith("_test")]
    chosen = [name for name in tests if not sys.argv[2:] or any(p in name for p in sys.argv[2:])]
    if not chosen:
        print(f"no test's name holds {' or '.join(sys.argv[2:])}; there are: {' '.join(tests)}", file=sys.stderr)
        return 2
    subprocess.run(["meson", "test", "-C", folder, "--no-rebuild", *chosen], check=False)

    passed = failed = skipped = 0
    for line in (folder / "meson-logs" / "testlog.json").read_text().splitlines():
        test = json.loads(line)
        output = test.get("stdout", "")
        counts = CLOSING.findall(output)
        for reason in re.findall(r"^skipped: .*", output, re.MULTILINE):
            print(f"{test['name']}: {reason}")
        ok = test["result"] == "OK"
        if counts:
            passed, failed, skipped = (a + int(b) for a, b in zip((passed, failed, skipped), counts[-1]))
        if not ok and (not counts or int(counts[-1][1]) == 0):
            failed += 1  # died, hung or was stopped by a sanitizer: no count, or none that says so
        if not ok:
            print(f"\n=== {test['name']}: {test['result']}, exit status {test.get('returncode')}")
            print(output[-8000:] + test.get("stderr", "")[-8000:])
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
