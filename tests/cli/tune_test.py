#!/usr/bin/env python3
"""weft tune: what it stores, what is used of it, and what is not believed."""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import unittest

from cli_case import CliTest, WEFT, heed_permissions, weft

NAMES = ["streaming_bytes", "tile_streaming_bytes", "tile_large_bytes", "near_bytes_per_us", "far_bytes_per_us", "thread_work_ns"]


class Tune(CliTest):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.file = self.home / ".config" / "weft" / "tuning"
        others = {key: value for key, value in os.environ.items() if key not in ("WEFT_TUNE", "XDG_CONFIG_HOME")}
        self.env = {**others, "HOME": str(self.home)}

    def tune(self, *args, **more):
        done = weft("tune", *args, "--json", env={**self.env, **more})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def measured(self):
        """A stored file and its values."""
        told = self.tune("--quick")
        return {row["name"]: row["measured"] for row in told["thresholds"]}

    def explained(self, **more):
        done = weft("explain", "a + 1", "a=f32[4]", "--json", env={**self.env, **more})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_what_is_stored_is_used_and_told(self):
        self.assertEqual(self.explained()["tuning"]["source"], "default")
        values = self.measured()
        self.assertEqual(list(values), NAMES)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode) & 0o022, 0)
        shown = self.tune("show")
        self.assertEqual((shown["file"], shown["source"], shown["ignored"]), (str(self.file), str(self.file), None))
        self.assertEqual({row["name"]: row["value"] for row in shown["thresholds"]}, values)
        told = self.explained()
        self.assertEqual(told["tuning"], {"source": str(self.file), "ignored": None, **values})
        chapter, = [chapter["lines"] for chapter in told["story"] if chapter["title"] == "thresholds"]
        self.assertEqual(chapter[0], f"measured on this machine: {self.file}")
        self.assertIn(f"a thread for {values['thread_work_ns']} ns", "".join(chapter))
        self.assertEqual(self.explained(WEFT_TUNE="off")["tuning"]["source"], "default")
        self.assertEqual(self.tune("clear"), {"file": str(self.file), "removed": True})
        self.assertEqual(self.tune("clear"), {"file": str(self.file), "removed": False})
        self.assertEqual(self.tune("show")["source"], "default")

    def test_the_switch_names_a_file(self):
        self.file = self.path("mine")
        self.env["WEFT_TUNE"] = str(self.file)
        self.measured()
        self.assertEqual(self.explained()["tuning"]["source"], str(self.file))
        self.assertFalse(self.home.exists())

    def test_a_trial_stores_nothing(self):
        told = self.tune("--quick", "--dry-run", WEFT_TUNE="off")
        self.assertIsNone(told["file"])
        self.assertEqual([row["name"] for row in told["thresholds"]], NAMES)
        self.assertTrue(all(row["how"] for row in told["thresholds"]))
        self.assertFalse(self.home.exists())

    def test_what_is_not_believed_is_told_once_and_stops_nothing(self):
        self.measured()
        whole = self.file.read_text()
        faults = {"can be written by other users": lambda: self.file.chmod(0o666),
                  "checksum is wrong": lambda: self.file.write_text(whole.replace("thread_work_ns ", "thread_work_ns 9")),
                  "is no tuning file": lambda: self.file.write_text("what is this\n"),
                  "is damaged: it is empty": lambda: self.file.write_text("")}
        for fault, make in faults.items():
            with self.subTest(fault):
                make()
                self.assertEqual(self.explained()["tuning"]["source"], "default")
                done = weft("explain", "a + 1", "a=f32[4]", env={**self.env, "WEFT_LOG": "tune"})
                self.assertEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(f"weft tune: {self.file} is ignored: it ", done.stderr)
                self.assertIn(fault, done.stderr)
                self.assertIn(f"{self.file} is ignored: it ", done.stdout)
                self.assertIn(fault, self.tune("show")["ignored"])
                self.file.unlink()
                self.file.write_text(whole)
                self.file.chmod(0o644)
        self.assertEqual(self.explained()["tuning"]["source"], str(self.file))

    def test_programs_with_more_rights_than_their_caller_ignore_it(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make such a program")
        if "NoNewPrivs:\t1" in pathlib.Path("/proc/self/status").read_text():
            self.skipTest("no program has more rights than this process")
        self.measured()
        # Readable for the other user, so that only its rights can be why it is not used.
        program = self.path("setuid")
        shutil.copy(WEFT, program)
        try:
            os.chown(program, 65534, 65534)
        except OSError as error:
            self.skipTest(f"this root has no other user: {error}")
        program.chmod(0o4755)
        self.folder.chmod(0o755)
        done = subprocess.run([program, "tune", "show", "--json"], env=self.env, capture_output=True, text=True)
        if "nosuid" in next(line for line in reversed(pathlib.Path("/proc/mounts").read_text().splitlines())
                            if str(self.folder).startswith(line.split()[1])):
            self.skipTest("the folder's mount knows no such programs")
        # LeakSanitizer, where the program has it, may not look into a process with more rights, when all is said; nor may
        # it read there that it is not wanted.
        if "LeakSanitizer has encountered a fatal error" not in done.stderr:
            self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual((told["file"], told["source"]), (None, "default"))

    def test_bad_input(self):
        self.fails(["tune", "measur"], "argument", "unknown action 'measur'", "measure, show and clear", env=self.env)
        self.measured()
        for args in [["clear", "--dry-run"], ["show", "--quick"], ["clear", "--quick"]]:
            self.fails(["tune", *args], "argument", f"tune {args[0]} takes no --quick and no --dry-run", env=self.env)
        self.assertTrue(self.file.exists())
        shutil.rmtree(self.home)
        self.fails(["tune"], "unsupported", "no place for thresholds", env={**self.env, "WEFT_TUNE": "off"})
        self.fails(["tune", "clear"], "unsupported", "no place", env={**self.env, "WEFT_TUNE": "off"})
        for file in ["/dev/null/tuning", str(self.folder)]:
            self.fails(["tune", "--quick"], "device", file, env={**self.env, "WEFT_TUNE": file})
        self.home.mkdir(mode=0o555)
        self.fails(["tune", "--quick"], "device", "weft/tuning", env=self.env, preexec_fn=heed_permissions)


if __name__ == "__main__":
    unittest.main()
