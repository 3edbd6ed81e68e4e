"""Checks that weft_conformance finds what is wrong: corrupted recordings are reported case by case."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
SAMPLE = pathlib.Path(__file__).parent / "data"


def flip_hex(text):
    """Another byte in front, neither zero nor a NaN's difference."""
    return ("3f" if text[:2] != "3f" else "41") + text[2:]


def flip_list(values):
    return [values[0] + 1] + values[1:]


# How to corrupt one case of each kind of recording, or None if this case cannot be corrupted so.
def corrupt_layout(case):
    case["c"] = 1 - case["c"]
    return case


def corrupt_binary_layout(case):
    if not case.get("osz") or "cast_in" in case:
        return None
    case["ost"] = flip_list(case["ost"])
    return case


def corrupt_promotion(case):
    if case["k"] != "op" or "e" in case or "cpu" in case:
        return None
    case["r"] = "f64" if case["r"] != "f64" else "f32"
    return case


def corrupt_overlap(case):
    if "after" not in case:
        return None
    case["after"] = flip_list(case["after"])
    return case


def corrupt_values(case):
    if case.get("t") != "exact" or 0 in case.get("ub", []) or case["out"]["dt"] == "bool":
        return None
    case.pop("alt", None)
    case.pop("ref", None)
    case.pop("direct", None)
    case["out"]["hex"] = flip_hex(case["out"]["hex"])
    return case


def corrupt_copy(case):
    if not case.get("after"):
        return None
    case["after"] = flip_hex(case["after"])
    return case


CORRUPTIONS = {
    "layout": corrupt_layout,
    "binary_layout": corrupt_binary_layout,
    "promotion": corrupt_promotion,
    "overlap": corrupt_overlap,
    "values": corrupt_values,
    "copy": corrupt_copy,
}


def run(directory, *options, backend="interp"):
    command = [PROGRAM, str(directory), f"--backend={backend}", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


class Conformance(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, lines):
        (self.folder / name).write_text("".join(line + "\n" for line in lines))

    def replay(self, *options):
        result = run(self.folder, "--json", *options)
        return result.returncode, json.loads(result.stdout)

    def test_every_corrupted_case_is_reported(self):
        for kind, corrupt in CORRUPTIONS.items():
            with self.subTest(kind):
                lines = (SAMPLE / f"{kind}.jsonl").read_text().splitlines()
                corrupted = []
                for index in range(0, len(lines), 2):
                    case = corrupt(json.loads(lines[index]))
                    if case is not None:
                        lines[index] = json.dumps(case)
                        corrupted.append(index + 1)
                self.assertGreater(len(corrupted), 3)
                self.write(f"{kind}.jsonl", lines)
                code, report = self.replay(f"--only={kind}")
                self.assertEqual(code, 1)
                self.assertFalse(report["ok"])
                failures = report["files"][0]["failures"]
                self.assertEqual([failure["line"] for failure in failures], corrupted)
                for failure in failures:
                    self.assertEqual(failure["case"], lines[failure["line"] - 1])
                    self.assertTrue(failure["reason"])

    def test_what_is_not_understood_has_failed(self):
        good = (SAMPLE / "copy.jsonl").read_text().splitlines()[0]
        self.write("copy.jsonl", [good, "{", "{}", "[]", good])
        self.write("unheard_of.jsonl", [good])
        code, report = self.replay()
        self.assertEqual(code, 1)
        by_name = {file["file"]: file for file in report["files"]}
        self.assertEqual(by_name["copy.jsonl"]["passed"], 2)
        self.assertEqual([f["line"] for f in by_name["copy.jsonl"]["failures"]], [2, 3, 4])
        self.assertEqual(by_name["unheard_of.jsonl"]["failed"], 1)
        self.assertEqual(by_name["unheard_of.jsonl"]["skipped"], 0)

    def test_unknown_operators_errors_and_tolerances_have_failed(self):
        case = json.loads((SAMPLE / "values.jsonl").read_text().splitlines()[0])
        changes = [{"op": "frobnicate"}, {"err": "frobnicated"}, {"t": "frobnicated"}]
        self.write("values.jsonl", [json.dumps({**case, **change}) for change in changes])
        code, report = self.replay()
        self.assertEqual(code, 1)
        self.assertEqual(report["files"][0]["failed"], len(changes))

    def test_units_in_the_last_place_of_f64_are_counted_one_by_one(self):
        def exp_of_zero(ulps):
            one = struct.pack("<q", 0x3FF0000000000000 + ulps).hex()
            return json.dumps({"id": ulps, "op": "exp", "in": [{"dt": "f64", "sz": [1], "st": [1], "hex": "00" * 8}],
                               "out": {"dt": "f64", "sz": [1], "hex": one}, "t": "ulp"})
        self.write("values.jsonl", [exp_of_zero(ulps) for ulps in (0, 1, 2, 300)])
        code, report = self.replay()
        self.assertEqual(code, 1)
        failures = report["files"][0]["failures"]
        self.assertEqual([failure["line"] for failure in failures], [3, 4])
        self.assertIn("300.000000 ulp away", failures[1]["reason"])

    def test_keys_kinds_and_dtypes_that_are_unknown_have_failed(self):
        case = {"k": "op", "op": "maximum", "a": ["f32", "zero"], "b": ["c128", "dim"], "e": "unsupported"}
        changes = [{}, {"zzz": 1}, {"k": "opx"}, {"k": "out", "o": "f16x"}, {"op": "frobnicate"}]
        self.write("promotion.jsonl", [json.dumps({**case, **change}) for change in changes])
        _, report = self.replay()
        self.assertEqual([f["line"] for f in report["files"][0]["failures"]], [2, 3, 4, 5])

    def test_lines_that_are_no_text_are_reported(self):
        (self.folder / "values.jsonl").write_bytes(b'{"id":1,"op":"\xff"}\n')
        _, report = self.replay()
        self.assertEqual(report["files"][0]["failed"], 1)

    def test_only_what_is_marked_as_implementation_defined_is_skipped(self):
        cases = [json.loads(line) for line in (SAMPLE / "values.jsonl").read_text().splitlines()]
        marked = [case for case in cases if "crash" in case or case.get("t") == "cplx_special"]
        self.assertGreater(len(marked), 1)
        self.write("values.jsonl", [json.dumps(case) for case in cases])
        _, report = self.replay()
        self.assertEqual(report["files"][0]["skipped"], len(marked))

    def test_lines_of_output(self):
        good = (SAMPLE / "copy.jsonl").read_text().splitlines()[0]
        self.write("copy.jsonl", [good, good])
        result = run(self.folder)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "copy.jsonl: 2 passed, 0 failed, 0 skipped\n")
        self.write("copy.jsonl", [good] + [json.dumps(corrupt_copy(json.loads(good)))] * 7)
        result = run(self.folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("copy.jsonl: 1 passed, 7 failed, 0 skipped\n", result.stdout)
        self.assertIn("copy.jsonl:2: storage is", result.stdout)
        self.assertIn("... and 2 more", result.stdout)

    def test_missing_directories_files_and_backends(self):
        result = run(self.folder / "nowhere")
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1))
        result = run(self.folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no recordings in", result.stderr)
        result = run(SAMPLE, "--only=unheard_of")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no recordings unheard_of in", result.stderr)
        self.assertEqual(run(SAMPLE, backend="abacus").returncode, 1)


if __name__ == "__main__":
    unittest.main()
