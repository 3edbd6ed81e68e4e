"""Checks how bench/report.py reads weft_bench's results."""

import importlib.util
import json
import sys
import unittest

spec = importlib.util.spec_from_file_location("report", sys.argv.pop(1))
report = importlib.util.module_from_spec(spec)
spec.loader.exec_module(report)


def run(name, cpu_ns, real_ns, **more):
    return {"run_name": name, "run_type": "iteration", "cpu_time": cpu_ns, "real_time": real_ns, "time_unit": "ns",
            "bytes_per_second": 2e9, **more}


class Report(unittest.TestCase):
    def test_the_readme_has_the_results_that_are_kept(self):
        page = (report.ROOT / "README.md").read_text(encoding="utf-8")
        result = json.loads((report.ROOT / "bench/results/readme.json").read_text(encoding="utf-8"))
        self.assertEqual(page, report.with_table(page, result),
                         "run bench/report.py --readme bench/results/readme.json")

    def medians(self, *runs):
        return report.medians({"benchmarks": runs})

    def test_threads_have_rows_of_their_own(self):
        table, failed = self.medians(run("add/auto/1e6", 10, 11), run("add/auto/1e6/t1/real_time", 20, 21),
                                     run("add/auto/1e6/t2/real_time", 30, 31), run("add/hand/1e6", 40, 41))
        self.assertEqual(failed, [])
        self.assertEqual(table, {("add", "1e6"): {"auto": (10, 2), "hand": (40, 2)},
                                 ("add", "1e6/t1"): {"auto": (21, 2)},
                                 ("add", "1e6/t2"): {"auto": (31, 2)}})

    def test_what_benchmark_writes_behind_a_name(self):
        table, _ = self.medians(run("first_engine/auto/1/iterations:20/manual_time", 10, 11),
                                run("first_calls/auto/1e3/iterations:1", 20, 21))
        self.assertEqual(table, {("first_engine", "1"): {"auto": (11, 2)}, ("first_calls", "1e3"): {"auto": (20, 2)}})

    def test_medians_of_repetitions(self):
        single = [run("add/auto/8", time, 0) for time in (5, 1, 2)]
        aggregate = run("add/auto/8/t2/real_time", 0, 7, run_type="aggregate", aggregate_name="median")
        mean = run("add/auto/8/t2/real_time", 0, 9, run_type="aggregate", aggregate_name="mean")
        table, _ = self.medians(*single, aggregate, mean)
        self.assertEqual(table, {("add", "8"): {"auto": (2, 2)}, ("add", "8/t2"): {"auto": (7, 2)}})

    def test_errors_are_told_and_left_out(self):
        table, failed = self.medians(run("add/auto/8", 1, 1, error_occurred=True, error_message="wrong result"))
        self.assertEqual((table, failed), ({}, ["add/auto/8: wrong result"]))


if __name__ == "__main__":
    unittest.main()
