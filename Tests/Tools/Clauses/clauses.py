"""Reads clauses.txt."""
import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent
path = here / "clauses.txt"


def clauses():
    """Clauses with their law, quote, and tests."""
    found, law, clause = [], None, None
    for place, line in enumerate(path.read_text().splitlines(), 1):
        if match := re.match(r"## (\d+)\b", line):
            law = int(match.group(1))
        elif line.startswith("> "):
            clause = {
                "law": law, "quote": line[2:].strip(), "tests": [], "reason": "", "line": place}
            found.append(clause)
        elif line.startswith("    no test:"):
            clause["reason"] = line.split(":", 1)[1].strip()
        elif line.startswith("    "):
            clause["tests"] += line.split()
        elif line.strip() and not line.startswith("#"):
            sys.exit(f"{path.name}:{place}: neither a law, a clause, nor a test: {line}")
    return found
