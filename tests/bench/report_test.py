"""Checks how bench/report.py reads weft_bench's results."""

import contextlib
import importlib.util
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

BENCH = pathlib.Path(sys.argv.pop(1)).parent
sys.path.insert(0, str(BENCH))
import peers  # noqa: E402
import plots  # noqa: E402
import report  # noqa: E402
import targets  # noqa: E402

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

    def test_the_faster_repetitions_count(self):
        single = [run("add/auto/8", time, 0) for time in (5, 1, 2, 9, 9, 9, 3)]
        aggregate = run("add/auto/8/t2/real_time", 0, 7, run_type="aggregate", aggregate_name="median")
        mean = run("add/auto/8/t2/real_time", 0, 9, run_type="aggregate", aggregate_name="mean")
        cv = run("add/auto/8/t2/real_time", 0, 0.25, run_type="aggregate", aggregate_name="cv", repetitions=25)
        table, _ = self.medians(*single, aggregate, mean, cv)
        noise = report.noise_of([5, 1, 2, 9, 9, 9, 3])
        self.assertGreater(noise, 0.1)
        # As many bytes as at 2 GB/s in the 5 ns of the first.
        self.assertEqual(table, {("add", "8"): {"auto": (2, 5, noise)}, ("add", "8/t2"): {"auto": (7, 2, 1.2533 * 0.25 / 5)}})
        self.assertEqual(report.noise_of([3, 3, 3]), 0)

    def test_condensed_results_tell_the_same(self):
        benchmarks = [run("add/auto/8", time, time + 1, repetition_index=time, bytes_per_second=8e9 / time) for time in (4, 2, 1, 8)]
        benchmarks.append(run("copy/auto/8", 1, 1, error_occurred=True, error_message="wrong result"))
        result = {"context": {}, "benchmarks": benchmarks}
        small = report.condensed(result)
        self.assertEqual(len(small["benchmarks"]), 2)
        self.assertEqual(report.medians(small), report.medians(result))
        self.assertEqual(report.condensed(small), small)
        self.assertEqual(small["benchmarks"][0]["repetitions"], 4)

    def test_peers_without_a_row_are_named(self):
        context = {"peers": "torch ", "missing_peers": {"numexpr": "No module named 'numexpr'"}}
        told = report.missing_peers({"context": context}, ["torch", "numpy"])
        self.assertIn("not found when it was built: onednn, eigen, xtensor.\n", told)
        self.assertIn("Peers in Python that are missing: numexpr (No module named 'numexpr'), torch_eager, torch_compile;", told)

    def test_errors_are_told_and_left_out(self):
        table, failed = self.medians(run("add/auto/8", 1, 1, error_occurred=True, error_message="wrong result"))
        self.assertEqual((table, failed), ({}, ["add/auto/8: wrong result"]))
        self.assertTrue(report.has_own(failed))
        self.assertFalse(report.has_own(["add/eigen/8: wrong result", "add/llvm/8: unsupported: no backend can compile this"]))

    def test_one_wrong_repetition_is_a_wrong_row_and_no_backend_stands_in(self):
        wrong = {"error_occurred": True, "error_message": "wrong result"}
        rows = [run("add/auto/8", 2, 2), run("add/auto/8", 1, 1, **wrong), run("add/xbyak/8", 3, 3), run("add/torch/8", 4, 4)]
        small = report.condensed({"context": {}, "benchmarks": rows})
        for benchmarks in (rows, small["benchmarks"]):
            table, failed = self.medians(*benchmarks)
            self.assertEqual(set(table["add", "8"]), {"torch"})
            self.assertEqual(failed, ["add/auto/8: wrong result"])
            self.assertEqual(targets.verdict(table, targets.Goal("add", "8", "peer", 1), "8").state, "no row of weft")

    def test_the_fastest_third_counts_whatever_else_is_told(self):
        rows = [run("add/auto/8", time, time) for time in (9, 9, 1)]
        rows.append(run("add/auto/8", 9, 9, run_type="aggregate", aggregate_name="median"))
        self.assertEqual(self.medians(*rows)[0]["add", "8"]["auto"].ns, 1)


class Targets(unittest.TestCase):
    def state(self, goal, table):
        return targets.verdict(table, goal, goal.sizes).state

    def test_a_target_is_reached_or_its_floor_is_known(self):
        point = report.Point
        rows = {"auto": point(100, None, 0.01), "torch": point(150), "eigen": point(130)}
        table = {("add", "1e6"): rows}
        self.assertEqual(self.state(targets.Goal("add", "1e6", "peer", 1.3), table), "reached")
        self.assertEqual(self.state(targets.Goal("add", "1e6", "torch", 1.5), table), "reached")
        self.assertEqual(self.state(targets.Goal("add", "1e6", "peer", 1.31), table), "reached within noise")
        self.assertEqual(self.state(targets.Goal("add", "1e6", "peer", 1.4), table), "missed")
        self.assertEqual(self.state(targets.Goal("add", "1e6", "onednn", 1), table), "nothing to compare with")
        rows["stream"] = point(96)
        self.assertEqual(self.state(targets.Goal("add", "1e6", "peer", 1.4), table), "at the floor (stream 96.0 ns)")
        rows["hand"] = point(94)  # tells more than what moves bytes alone
        self.assertEqual(self.state(targets.Goal("add", "1e6", "peer", 1.4), table), "missed (hand 94.0 ns)")
        rows["hand"] = point(119)
        self.assertEqual(self.state(targets.Goal("add", "1e6", "peer", 1.4), table), "at the floor (hand 119.0 ns)")
        rows["hand"] = point(121)  # a loop that anybody would better is no floor
        self.assertEqual(self.state(targets.Goal("add", "1e6", "peer", 1.4), table), "missed (hand 121.0 ns)")
        self.assertEqual(self.state(targets.Goal("add", "1e6", "ns/element", 1e-4), table), "reached")
        self.assertEqual(self.state(targets.Goal("add", "1e6", "ns", 90), table), "missed (hand 121.0 ns)")
        self.assertIsNone(targets.verdict(table, targets.Goal("add", "1e5", "ns", 90), "1e5"))

    def test_other_rows_are_compared_element_for_element(self):
        point = report.Point
        table = {("add_t", "10x20"): {"auto": point(30, None, 0)}, ("add", "100"): {"auto": point(10)}, ("add", "10x20"): {"auto": point(15)}}
        self.assertEqual(targets.verdict(table, targets.Goal("add_t", "10x20", "add/auto/100", 1.5), "10x20").figure, "1.5")
        self.assertEqual(self.state(targets.Goal("add_t", "10x20", "add/auto/100", 1.5), table), "reached")
        self.assertEqual(self.state(targets.Goal("add_t", "10x20", "add/auto/=", 1.9), table), "missed")
        self.assertEqual(targets.groups([targets.Goal("add_t", "10x20", "add/auto/100", 1.5)]), [{"add_t": {"10x20"}, "add": {"100"}}])

    def test_every_target_has_a_row(self):
        written = "".join(file.read_text(encoding="utf-8") for file in BENCH.glob("*.cpp"))
        made_of_parts = [("cast_(.*)_(.*)", r'cast_between("\1", "\2")'), ("transpose_(u8|u16|f32|f64)", r'transpose("\1"'),
                         ("first_call_xbyak_binary", 'of_xbyak("binary"'), ("first_call_xbyak_20_ops", '"_ops"'),
                         ("(first_.*|call_.*|compile_.*|fresh_.*)", r'"\1/')]
        for group in targets.groups([goal for goals in targets.GOALS.values() for goal in goals]):
            for workload in group:
                match = next((found.expand(text) for form, text in made_of_parts if (found := re.fullmatch(form, workload))), f'"{workload}"')
                self.assertIn(match, written)

    def test_patterns_match_what_benchmark_calls_its_rows(self):
        pattern = targets.pattern({"add": {"1e6", "1e6/t1"}, "first_engine": {"1"}}, ["auto", "hand"])
        for name in ["add/auto/1e6", "add/auto/1e6/t1/real_time", "add/hand/1e6", "first_engine/auto/1/iterations:5/manual_time"]:
            self.assertRegex(name, pattern)
        for name in ["add/auto/1e5", "add_t/auto/1e6", "add/naive/1e6", "add/auto/1e6/t2/real_time"]:
            self.assertNotRegex(name, pattern)


def kept():
    result = json.loads(KEPT.read_text(encoding="utf-8"))
    return result, report.medians(result)[0]


class Comparison(unittest.TestCase):
    def test_a_run_agrees_with_itself(self):
        _, table = kept()
        told = report.comparison(table, table)
        self.assertIn("(100%) agree within 10 %; the median row is 1.000 times", told)
        self.assertIn("No row differs by more than 10 %.", told)

    def test_rows_that_differ_are_marked_by_what_noise_explains(self):
        point = report.Point
        old = {("add", "1e6"): {"auto": point(100, 1, 0.01), "llvm": point(100, 1, 0.3), "xbyak": point(100, 1)},
               ("copy", "1e6"): {"auto": point(100, 1, 0.01)}, ("gone", "1"): {"auto": point(1)}}
        new = {("add", "1e6"): {"auto": point(120, 1, 0.01), "llvm": point(120, 1, 0.3), "xbyak": point(120, 1), "interp": point(1)},
               ("copy", "1e6"): {"auto": point(109, 1, 0.01)}}
        told = report.comparison(old, new)
        self.assertIn("4 rows are in both; 1 (25%) agree within 10 %; the median row is 0.833 times", told)
        self.assertIn("Left out: 1 of the old run alone, 1 of the new.", told)
        self.assertIn("| add/auto/1e6 | 100.0 ns | 120.0 ns | 0.83 | 3% | slower |", told)
        self.assertIn("| add/xbyak/1e6 | 100.0 ns | 120.0 ns | 0.83 | 14% | slower |", told)
        self.assertIn("| add/llvm/1e6 | 100.0 ns | 120.0 ns | 0.83 | 85% | within noise |", told)
        self.assertNotIn("copy/auto", told)
        self.assertIn("| 1.20 | 3% | faster |", report.comparison(new, old))

    def test_the_machines_own_drift_is_taken_out(self):
        point = report.Point
        old = {("add", "1e6"): {"auto": point(100), "xbyak": point(100), "memcpy": point(100), "hand": point(100), "torch": point(100)}}
        new = {("add", "1e6"): {"auto": point(200), "xbyak": point(100), "memcpy": point(200), "hand": point(210), "torch": point(90)}}
        told = report.comparison(old, new)
        self.assertIn("The machine was 0.500 times as fast as before", told)
        self.assertIn("| add/xbyak/1e6 | 100.0 ns | 100.0 ns | 2.00 | 14% | faster |", told)
        self.assertNotIn("add/auto", told)

    def test_two_results_with_nothing_in_common(self):
        with self.assertRaisesRegex(report.ReportError, "no row in common"):
            report.comparison({("a", "1"): {"auto": report.Point(1)}}, {("b", "1"): {"auto": report.Point(1)}})

    def test_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            changed, result = pathlib.Path(folder) / "changed.json", kept()[0]
            for benchmark in result["benchmarks"]:
                if benchmark["run_name"] == "call_prepared/auto/8" and benchmark.get("aggregate_name") == "median":
                    benchmark["cpu_time"] *= 3
            changed.write_text(json.dumps(result), encoding="utf-8")
            done = subprocess.run([sys.executable, BENCH / "report.py", changed, "--compare", KEPT], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"\| call_prepared/auto/8 .* 0\.33 .* slower \|")
            self.assertEqual(done.stdout.count("slower"), 1)
            for name, text in [("none.json", None), ("words.json", "not JSON"), ("other.json", '{"benchmarks": [1]}'), ("list.json", "[]")]:
                file = pathlib.Path(folder) / name
                if text is not None:
                    file.write_text(text, encoding="utf-8")
                done = subprocess.run([sys.executable, BENCH / "report.py", file], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (1, ""), name)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(name, done.stderr)


class PythonPeers(unittest.TestCase):
    def test_rows_are_read_as_those_of_weft_bench(self):
        calls = []
        row = peers.Row("add/numpy/1e5", lambda: calls.append(0))

        def timed(run, iterations):  # by a clock that nothing else on the machine holds up
            for _ in range(iterations):
                run()
            return 100 * iterations

        with unittest.mock.patch.object(peers, "timed", timed):
            for _ in range(3):
                row.measure(min_time_ns=20000)
        self.assertGreaterEqual(row.iterations, 200)
        self.assertGreaterEqual(len(calls), 3 * row.iterations)
        entries = list(row.entries())
        self.assertEqual(len(entries), 3)
        table, failed = report.medians({"benchmarks": entries})
        self.assertEqual(failed, [])
        self.assertEqual(table["add", "1e5"]["numpy"].ns, min(row.times_ns))

    def test_all_that_read_more_than_one_operand_are_workloads(self):
        self.assertLessEqual(set(peers.NUM_INPUTS), set(peers.WORKLOADS))
        self.assertEqual(set(peers.NAMES), set(report.PYTHON_PEERS))

    def test_a_result_that_is_none_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "words.json"
            file.write_text("no JSON", encoding="utf-8")
            done = subprocess.run([sys.executable, BENCH / "peers.py", file], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout, file.read_text(encoding="utf-8")), (1, "", "no JSON"))
            self.assertIn("words.json", done.stderr)


class Plots(unittest.TestCase):
    """What is drawn, of the result that is kept and of one with what that lacks."""

    def test_bars_are_of_the_size_nearest_to_a_million(self):
        _, table = kept()
        rows = plots.bars(table, report.mine, report.best_peer)
        self.assertEqual([row[0] for row in rows], sorted(row[0] for row in rows))
        add = next(row for row in rows if row[0] == "add 1e6")
        variants = table["add", "1e6"]
        best = max(variants[name].rate for name in ("torch", "onednn", "eigen", "xtensor"))  # with results who it is changes
        self.assertEqual(add[1:], (variants["auto"].rate, best, variants["stream"].rate))
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
