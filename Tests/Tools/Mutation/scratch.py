"""A copy of the package whose code has switches, and runs of its tests with one of them on.

`FUGU_CHANGE` has the number of the switch when the tests begin; `changes.helpers` has the functions that ask for it.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import changes

root = pathlib.Path(__file__).resolve().parents[3]


def put(path, content):
    """Leaves alone what is the same, so that it is not built again."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def copy_package(work, left_out, is_written=lambda path: False):
    """Copies the manifest, without programs and the test targets that are left out, and all files but those written otherwise."""
    copied = set()
    for folder in ("Sources", "Tests"):
        for path in (root / folder).rglob("*"):
            if path.is_file() and ".docc" not in str(path) and "Tools" not in path.parts and not is_written(path):
                put(work / path.relative_to(root), path.read_bytes())
                copied.add(work / path.relative_to(root))
    manifest = (root / "Package.swift").read_text()
    for match in reversed(list(re.finditer(r"\.(?:target|testTarget|executableTarget)\(", manifest))):
        end = changes.closing(manifest, match.end() - 1)
        name = re.search(r'name: "(\w+)"', manifest[match.start():end]).group(1)
        if match.group().startswith(".executable") or name in left_out:
            manifest = manifest[: match.start()].rstrip() + manifest[end + 2:]
    put(work / "Package.swift", manifest.encode())
    return copied


def build(work):
    result = subprocess.run(
        ["swift", "build", "--build-tests"], cwd=work, env=dict(os.environ, FUGU_THOROUGH="1"), capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stdout[-8000:] + result.stderr)


def run(work, selection, limit, change=-1, met=None, count=None):
    """Runs the tests that the arguments select. Returns why they failed, or nothing.

    `count`: how many tests have to run.
    """
    program = work / ".build/debug/FuguPackageTests.xctest"
    environment = dict(
        os.environ, FUGU_CHANGE=str(change), FUGU_SEED="1", FUGU_SEEDS="16", FUGU_STRESS_SECONDS="0.1", FUGU_THOROUGH="1",
        SWIFT_BACKTRACE="enable=no")
    if met:
        environment["FUGU_CHANGES_MET"] = str(met)
    process = subprocess.Popen(
        [program, "--testing-library", "swift-testing", *selection], env=environment, cwd=work,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    ended = threading.Event()
    reason = None

    def stop():
        if not ended.is_set():
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    timer = threading.Timer(limit, stop)
    began = time.time()
    timer.start()
    found = None
    for line in process.stdout:
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if match := re.search(r"✘ Test (?!run)(.*?) (?:recorded an issue|failed after)", line):
            reason = match.group(1)
            break
        if match := re.search(r"Test run with (\d+) test.* passed", line):
            found = int(match.group(1))
    stop()
    timer.cancel()
    code = process.wait()
    ended.set()
    process.stdout.close()
    if reason:
        return reason
    if time.time() - began >= limit:
        return "does not end"
    if found is None:
        return f"stopped by signal {-code}" if code < 0 else f"ended with {code}"
    if count is not None and found != count:
        return f"{found} tests were run, not {count}"
    return None if found else "no test was run"
