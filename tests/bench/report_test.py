"""Checks how bench/report.py reads weft_bench's results."""

import contextlib
import importlib.util
import io
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(sys.argv.pop(1)).parent
sys.path.insert(0, str(BENCH))
import plots  # noqa: E402
import report  # noqa: E402

KEPT = report.ROOT / "bench/results/readme.json"


def run(name, cpu_ns, real_ns, **more):
    return {"run_name": name, "run_type": "iteration", "cpu_time": cpu_ns, "real_time": real_ns, "time_unit": "ns",
            "bytes_per_second": 2e9, **more}


class Report(unittest.TestCase):
    def test_the_readme_has_the_results_that_are_kept(self):
        page = (report.ROOT / "README.md").read_text(encoding="utf-8")
        result = json.loads(KEPT.read_text(encoding="utf-8"))
        self.assertEqual(page, report.with_table(page, result),
                         "run bench/report.py --readme bench/results/readme.json")

    def medians(self, *runs):
        return report.medians({"benchmarks": runs})

    def test_threads_have_rows_of_their_own(self):
        table, failed = self.medians(run("add/auto/1e6", 10, 11), run("add/auto/1e6/t1/real_time", 20, 21),
                                     run("add/auto/1e6/t2/real_time", 30, 31), run("add/hand/1e6", 40, 41))
        self.assertEqual(failed, [])
        self.assertEqual(table, {("add", "1e6"): {"auto": (10, 2, None), "hand": (40, 2, None)},
                                 ("add", "1e6/t1"): {"auto": (21, 2, None)},
                                 ("add", "1e6/t2"): {"auto": (31, 2, None)}})

    def test_what_benchmark_writes_behind_a_name(self):
        table, _ = self.medians(run("first_engine/auto/1/iterations:20/manual_time", 10, 11),
                                run("first_calls/auto/1e3/iterations:1", 20, 21))
        self.assertEqual(table, {("first_engine", "1"): {"auto": (11, 2, None)}, ("first_calls", "1e3"): {"auto": (20, 2, None)}})

    def test_medians_of_repetitions(self):
        single = [run("add/auto/8", time, 0) for time in (5, 1, 2)]
        aggregate = run("add/auto/8/t2/real_time", 0, 7, run_type="aggregate", aggregate_name="median")
        mean = run("add/auto/8/t2/real_time", 0, 9, run_type="aggregate", aggregate_name="mean")
        cv = run("add/auto/8/t2/real_time", 0, 0.25, run_type="aggregate", aggregate_name="cv")
        table, _ = self.medians(*single, aggregate, mean, cv)
        spread = statistics.stdev([5, 1, 2]) / statistics.mean([5, 1, 2])
        self.assertEqual(table, {("add", "8"): {"auto": (2, 2, spread)}, ("add", "8/t2"): {"auto": (7, 2, 0.25)}})

    def test_errors_are_told_and_left_out(self):
        table, failed = self.medians(run("add/auto/8", 1, 1, error_occurred=True, error_message="wrong result"))
        self.assertEqual((table, failed), ({}, ["add/auto/8: wrong result"]))


def kept():
    result = json.loads(KEPT.read_text(encoding="utf-8"))
    return result, report.medians(result)[0]


class Comparison(unittest.TestCase):
    def test_a_run_agrees_with_itself(self):
        _, table = kept()
        told = report.comparison(table, table)
        self.assertIn("(100%) agree within 10 %; the median row is 1.000 times", told)
        self.assertIn("No row differs by more than its noise.", told)

    def test_only_what_noise_does_not_explain_is_told(self):
        point = report.Point
        old = {("add", "1e6"): {"quiet": point(100, 1, 0.01), "noisy": point(100, 1, 0.3), "unknown": point(100, 1)},
               ("gone", "1"): {"auto": point(1)}}
        new = {("add", "1e6"): {"quiet": point(120, 1, 0.01), "noisy": point(120, 1, 0.3), "unknown": point(120, 1), "new": point(1)}}
        told = report.comparison(old, new)
        self.assertIn("3 rows are in both; 0 (0%) agree within 10 %; the median row is 0.833 times", told)
        self.assertIn("Left out: 1 of the old run alone, 1 of the new.", told)
        self.assertIn("| add/quiet/1e6 | 100.0 ns | 120.0 ns | 0.83 slower | 5% |", told)
        self.assertIn("| add/unknown/1e6 | 100.0 ns | 120.0 ns | 0.83 slower | 14% |", told)
        self.assertNotIn("noisy", told)
        back = report.comparison(new, old)
        self.assertIn("1.20 faster", back)

    def test_two_results_with_nothing_in_common(self):
        with self.assertRaisesRegex(report.ReportError, "no row in common"):
            report.comparison({("a", "1"): {"auto": report.Point(1)}}, {("b", "1"): {"auto": report.Point(1)}})

    def test_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            changed, result = pathlib.Path(folder) / "changed.json", kept()[0]
            for benchmark in result["benchmarks"]:
                if benchmark["run_name"] == "call_prepared/auto/8" and benchmark["aggregate_name"] == "median":
                    benchmark["cpu_time"] *= 3
            changed.write_text(json.dumps(result), encoding="utf-8")
            done = subprocess.run([sys.executable, BENCH / "report.py", changed, "--compare", KEPT], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"\| call_prepared/auto/8 .* 0\.33 slower ")
            self.assertEqual(done.stdout.count("slower"), 1)
            for name, text in [("none.json", None), ("words.json", "not JSON"), ("other.json", '{"benchmarks": [1]}'), ("list.json", "[]")]:
                file = pathlib.Path(folder) / name
                if text is not None:
                    file.write_text(text, encoding="utf-8")
                done = subprocess.run([sys.executable, BENCH / "report.py", file], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (1, ""), name)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(name, done.stderr)


class Plots(unittest.TestCase):
    """What is drawn, of the result that is kept and of one with what that lacks."""

    def test_bars_are_of_the_size_nearest_to_a_million(self):
        _, table = kept()
        rows = plots.bars(table, report.mine, report.best_peer)
        self.assertEqual([row[0] for row in rows], sorted(row[0] for row in rows))
        add = next(row for row in rows if row[0] == "add 1e6")
        variants = table["add", "1e6"]
        self.assertEqual(add[1:], (variants["auto"].rate, variants["xtensor"].rate, variants["stream"].rate))
        self.assertIn("conflict_add 4x64x64x64", [row[0] for row in rows])

    def test_sweeps_go_by_bytes(self):
        _, table = kept()
        lines = plots.sweeps(table, report.mine)
        self.assertIn("copy", lines)
        self.assertNotIn("normalize", lines)  # one size
        for found in lines.values():
            self.assertEqual(found["weft"], sorted(found["weft"]))
        for (bytes_a_call, _), expected in zip(lines["copy"]["weft"], (8e3, 8e4, 8e6)):
            self.assertAlmostEqual(bytes_a_call, expected, delta=expected * 0.05)

    def test_latencies(self):
        _, table = kept()
        rows = {row[0]: row[1:] for row in plots.latencies(table, report.mine, report.best_peer)}
        self.assertEqual(rows["call_add8_out 8"], (table["call_add8_out", "8"]["auto"].ns, table["call_add8_out", "8"]["torch"].ns))
        self.assertIsNone(rows["call_prepared 8"][1])

    def test_scaling_is_against_one_thread(self):
        point = report.Point
        table = {("add", "1e4/t1"): {"auto": point(20)}, ("add", "1e4/t2"): {"auto": point(10)}, ("add", "1e3/t1"): {"auto": point(4)},
                 ("add", "1e3/t2"): {"auto": point(5)}, ("add", "1e4"): {"auto": point(1)}, ("copy", "8/t2"): {"auto": point(1)}}
        self.assertEqual(plots.scaling(table, report.mine), {("add", 2): [(1e3, 0.8), (1e4, 2.0)]})

    def test_compile_times(self):
        point = report.Point
        table = {("compile_llvm", "20"): {"llvm": point(4e6, None, 0.5)}, ("first_call_xbyak", "1e3"): {"xbyak": point(1e4)},
                 ("compile_llvm", "1"): {"llvm": point(2e6)}, ("add", "8"): {"auto": point(1)}}
        self.assertEqual(plots.compile_times(table), {"llvm": [("compile_llvm 1", 2000, 0), ("compile_llvm 20", 4000, 2000)],
                                                      "xbyak": [("first_call_xbyak 1e3", 10, 0)]})

    def test_sizes(self):
        self.assertEqual([plots.size_of(text) for text in ("1e3", "4x64x64x64", "3e7/t2", "8")], [1000, 4 * 64 ** 3, 3e7, 8])

    def test_they_are_drawn(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("matplotlib is not there")
        result, table = kept()
        point = report.Point
        table["add", "1e3/t1"], table["add", "1e3/t2"] = {"auto": point(2)}, {"auto": point(1)}
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as told:
            for file_format, magic in [("svg", b"<?xml"), ("png", b"\x89PNG")]:
                report.write_plots(result, table, pathlib.Path(folder) / "new", file_format)
                for name in ("bars", "sizes", "latency", "threads", "compile"):
                    data = (pathlib.Path(folder) / "new" / f"{name}.{file_format}").read_bytes()
                    self.assertTrue(data.startswith(magic), name)
                    self.assertGreater(len(data), 4000, name)
            report.write_plots(result, {}, pathlib.Path(folder), "svg")
        self.assertIn("threads: nothing in this result", told.getvalue())

    def test_without_matplotlib_its_package_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            # -S and -I leave out every place where packages lie.
            done = subprocess.run([sys.executable, "-S", "-I", BENCH / "report.py", KEPT, "--plots", folder], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("python3-matplotlib", done.stderr)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
