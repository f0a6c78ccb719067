#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""report.py [--update] LOG BASELINE: the table of a bench-vm boot, judged against the baseline.

LOG holds lines "= MODE OPERATION INSTRUCTIONS", one per round. A figure is the cost relative to nothing
attached; a gated one turns red when it is more than 3 % above the baseline's. Its target is what was
promised, a number of percent or what Landlock costs, and is reported, not judged.
"""

import statistics
import sys

MODES = ("outside", "inside", "outside-files", "inside-files", "outside-all", "inside-all", "landlock")
LANDLOCK = "landlock"
TARGETS = {
    **{(op, "outside"): 1.0 for op in ("open-6", "connect", "fork", "exec", "exit")},
    **{(op, "inside"): 2.0 for op in ("fork", "exec", "exit")},
    **{(op, "outside-files"): 1.0 for op in ("open-1", "open-6", "exec")},
    **{(op, "inside-files"): LANDLOCK for op in ("open-1", "open-6", "open-20")},
    **{(op, "outside-all"): 1.0 for op in ("open-6", "connect", "fork", "exec")},
    ("connect", "inside-all"): 5.0,
}
PUBLISH = 500000  # 50 rules in 0.5 ms, at an instruction a nanosecond
GROWTH = 1.03


def read_log(path):
    rows = {}
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            words = line.split()
            if len(words) == 4 and words[0] == "=":
                rows.setdefault(words[2], {}).setdefault(words[1], []).append(float(words[3]))
    return rows


def read_baseline(path):
    try:
        with open(path, encoding="utf-8") as file:
            words = [line.split() for line in file if not line.startswith("#")]
    except FileNotFoundError:
        return None
    return {(op, mode): float(ratio) for op, mode, ratio in words}


def write_baseline(path, ratios):
    with open(path, "w", encoding="utf-8") as file:
        file.write("# Instructions relative to nothing attached; made by bench-vm --update-baseline.\n")
        for (op, mode), ratio in ratios.items():
            file.write(f"{op} {mode} {ratio:.4f}\n")


def spread(values):
    """Half the distance between the quartiles, in percent of the median."""
    if len(values) < 2:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4)
    return 50 * (high - low) / statistics.median(values)


def ratio_of(modes, mode):
    """The median of the rounds' own ratios: what drifts over a boot drifts in both."""
    return statistics.median(b / a for a, b in zip(modes["bare"], modes[mode]))


def print_table(rows, ratios):
    print(f"{'operation':10} {'bare':>8} {'±%':>5}", end="")
    print("".join(f" {mode:>15}" for mode in MODES), " (cost % ± %)")
    for op, modes in rows.items():
        print(f"{op:10} {statistics.median(modes['bare']):8.0f} {spread(modes['bare']):5.2f}", end="")
        for mode in MODES:
            cost = f"{100 * (ratios[op, mode] - 1):+.2f} ±{spread(modes[mode]):5.2f}" if mode in modes else "-"
            print(f" {cost:>15}", end="")
        print()


def print_publish(figures):
    took = statistics.median(figures)
    print(f"# target {'met' if took <= PUBLISH else 'missed'}: publishing 50 rules {took:.0f} instructions "
          f"±{spread(figures):.2f} %, promised {PUBLISH}")


def print_targets(ratios):
    for (op, mode), target in TARGETS.items():
        cost = 100 * (ratios[op, mode] - 1)
        limit = 100 * (ratios[op, LANDLOCK] - 1) if target == LANDLOCK else target
        word = "met" if cost <= limit else "missed"
        print(f"# target {word}: {op} {mode} {cost:+.2f} %, promised {limit:+.2f} %"
              f"{', as Landlock' if target == LANDLOCK else ''}")


def judge(ratios, baseline):
    passed = failed = 0
    for op, mode in TARGETS:
        if (op, mode) not in baseline:
            print(f"not ok {op} {mode}: not in the baseline")
            failed += 1
        elif ratios[op, mode] > baseline[op, mode] * GROWTH:
            print(f"not ok {op} {mode}: {ratios[op, mode]:.4f} of nothing attached, "
                  f"the baseline has {baseline[op, mode]:.4f}")
            failed += 1
        else:
            passed += 1
    return passed, failed


def main():
    update = "--update" in sys.argv
    log, path = [a for a in sys.argv[1:] if a != "--update"]
    rows = read_log(log)
    publish = rows.get("publish", {}).get("inside-files", [])
    rows = {op: modes for op, modes in rows.items() if "bare" in modes}
    if not publish or any(mode not in rows.get(op, {}) for op, mode in TARGETS):
        print(f"not ok bench: '{log}' lacks figures\n0 passed, 1 failed, 0 skipped")
        return 1
    ratios = {(op, mode): ratio_of(modes, mode) for op, modes in rows.items() for mode in MODES if mode in modes}
    print_table(rows, ratios)
    print_targets(ratios)
    print_publish(publish)
    if update:
        write_baseline(path, ratios)
    baseline = read_baseline(path)
    if baseline is None:
        print(f"not ok baseline: '{path}' is missing: run tests/vm/bench --update-baseline\n"
              "0 passed, 1 failed, 0 skipped")
        return 1
    passed, failed = judge(ratios, baseline)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
