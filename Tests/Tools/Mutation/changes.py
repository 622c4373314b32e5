"""Finds what can be changed in a file, and writes the file so that each change is there, to be chosen when the program runs.

A line's meaning follows from its form: the code of this project is formatted by a tool, one statement to a line. A change that does
not compile is left out later, by what the compiler says.
"""
import pathlib
import re

helpers = """\
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The change that is made, or one beyond all.
@usableFromInline let _activeChange: Int32 = getenv("FUGU_CHANGE").map { atoi($0) } ?? -1
/// Where each change that is come to is written down, once in a process.
nonisolated(unsafe) private let _met: UnsafeMutablePointer<Bool>? = {
    guard getenv("FUGU_CHANGES_MET") != nil else { return nil }
    let met = UnsafeMutablePointer<Bool>.allocate(capacity: 100_000)
    met.initialize(repeating: false, count: 100_000)
    return met
}()

@usableFromInline func _meet(_ number: Int32) {
    guard let _met, !_met[Int(number)] else { return }
    _met[Int(number)] = true
    let file = open(getenv("FUGU_CHANGES_MET"), O_WRONLY | O_APPEND | O_CREAT, 0o600)
    var record = number
    _ = write(file, &record, 4)
    _ = close(file)
}

@usableFromInline let _isMeeting = getenv("FUGU_CHANGES_MET") != nil

@inlinable func _m(_ number: Int32) -> Bool {
    if _isMeeting { _meet(number) }
    return number == _activeChange
}
@inlinable func _k(_ number: Int32) -> Bool { !_m(number) }
@inlinable func _b(_ number: Int32, _ value: Bool) -> Bool { _m(number) != value }
@inlinable func _n<T: ExpressibleByIntegerLiteral>(_ number: Int32) -> T { _m(number) ? 0 : 1 }
"""

operators = [
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" < (?=[\w(.])", " <= "), (r" <= ", " < "), (r" > (?=[\w(.])", " >= "), (r" >= ", " > "),
]
declares = re.compile(r"^(?:(?:public|package|private|fileprivate|internal|static|final|lazy|weak|unowned|mutating|borrowing) )*(?:let|var) ")
no_statement = re.compile(
    r"^(?:return|throw|let|var|if|else|guard|for|while|switch|case|default|repeat|do|defer|fatalError|super|self\.init|init|func|"
    r"import|struct|class|enum|protocol|extension|public|package|private|fileprivate|internal|static|final|mutating|break|continue|"
    r"some|any|as|is|in|nonisolated|override|convenience|typealias|subscript|get|set|deinit|precedencegroup|associatedtype|consume|inout)\b")


class Change:
    def __init__(self, path, number, before, after):
        self.path, self.number, self.before, self.after = path, number, before.strip(), after

    @property
    def key(self):
        """The same wherever the line stands in its file."""
        return f"{self.path.name}: {self.before}: {self.after}"

    @property
    def is_drop(self):
        return self.after.endswith("→ nothing")

    def __str__(self):
        return f"{self.path}:{self.number}: {self.before}: {self.after}"


def masked(line, is_in_text=False):
    """The line with what stands in texts and comments covered, each character in its place."""
    out, depth, index = [], [], 0
    while index < len(line):
        here = line[index]
        if depth and depth[-1] == '"':
            if line.startswith("\\(", index):
                out.append("__")
                depth.append("(")
                index += 2
                continue
            if here == "\\":
                out.append("__")
                index += 2
                continue
            if here == '"':
                depth.pop()
            out.append("_")
        elif line.startswith("//", index):
            out.append("_" * (len(line) - index))
            break
        elif here == '"':
            depth.append('"')
            out.append("_")
        elif depth and here in "()":
            if here == "(":
                depth.append("(")
            else:
                depth.pop()
            out.append("_" if not depth or depth[-1] == '"' else here)
        else:
            out.append("_" if depth else here)
        index += 1
    return "".join(out)


def closing(code, start):
    """Where the bracket that opens at `start` ends."""
    depth = 0
    for index in range(start, len(code)):
        depth += (code[index] in "({") - (code[index] in ")}")
        if depth == 0:
            return index
    return len(code) - 1


def plain(code):
    """The code as it was before choices were put into it."""
    code = re.sub(r"_n\(\d+\)", "1", re.sub(r"_b\(\d+, (true|false)\)", r"\1", code))
    while match := re.search(r"_m\(\d+\) \? (?=\()|if _k\(\d+\) (?=\{)", code):
        end = closing(code, match.end())
        if code[match.start()] == "i":
            code = code[: match.start()] + code[match.end() + 2: end - 1] + code[end + 1:]
            continue
        other = closing(code, end + 4)
        code = code[: match.start()] + code[end + 5: other] + code[other + 1:]
    return code


def is_balanced(code):
    return all(code.count(a) == code.count(b) for a, b in ("()", "[]", "{}"))


def clauses(mask):
    """Where the parts of a condition stand, which commas divide."""
    start, depth = 0, 0
    for index, here in enumerate(mask):
        if here in "([{":
            depth += 1
        elif here in ")]}":
            depth -= 1
        elif here == "," and depth == 0:
            yield start, index
            start = index + 1
    yield start, len(mask)


class Rewriter:
    """Writes one file. `numbered` gives each change its number, `dropped` are the numbers of those that are left out."""

    def __init__(self, path, text, numbered, dropped):
        self.path, self.numbered, self.dropped = path, numbered, dropped
        self.lines = text.splitlines()
        self.number = 0

    def add(self, before, after):
        """Returns the number of the change, or nothing if it is left out."""
        index = len(self.numbered)
        self.numbered.append(Change(self.path, self.number, self.line, f"{plain(before).strip()} → {plain(after).strip()}"))
        return None if index in self.dropped else index

    def written(self):
        out, is_in_text, conditions, last = [], False, [], ""
        # Where an initializer begins, whose assignments cannot be dropped.
        self.initializer = None
        for self.number, line in enumerate(self.lines, 1):
            code = line.strip()
            if code.startswith("#if"):
                conditions.append(code in ("#if DEBUG", "#if canImport(Glibc)"))
            elif code.startswith(("#elseif", "#else")):
                conditions[-1] = "Glibc" in code and "WinSDK" not in code and not any(conditions[-1:])
            elif code.startswith("#endif"):
                conditions.pop()
            was_in_text = is_in_text
            if code.count('"""') % 2:
                is_in_text = not is_in_text
            if was_in_text or is_in_text or not all(conditions) or not code or "rdering: ." in code \
                    or code.startswith(("//", "#", "@available", "import", "public import", "internal import")):
                out.append(line)
                continue
            indent = line[: len(line) - len(line.lstrip())]
            self.line = code
            mask = masked(code)
            if re.search(r"(?<![.\w])init[?]?[<(]", mask) and not mask.startswith(("self.", "super.")):
                self.initializer = indent
            elif self.initializer is not None and len(indent) <= len(self.initializer) and code == "}":
                self.initializer = None
            tail = ""
            comment = len(mask.rstrip("_").rstrip()) if "//" in code and mask.endswith("__") else None
            if comment is not None and code[comment:].lstrip().startswith("//"):
                code, tail = code[:comment], code[comment:]
            following = self.lines[self.number].strip() if self.number < len(self.lines) else ""
            out.append(indent + self.statement(code, last, following) + tail)
            last = code
        return "\n".join(out) + "\n"

    def statement(self, code, last, following):
        """Returns a line with its changes."""
        mask = masked(code)
        code = self.blocks(code)
        mask = masked(code)
        # Conditions.
        if match := re.match(r"^((?:\} )?(?:else )?(?:if|guard|while) |\} while )(.*?)( else \{.*| \{.*|)$", mask):
            begin, end = match.span(2)
            if match.group(3) or mask.startswith("} while"):
                return code[:begin] + self.condition(code[begin:end]) + code[end:]
            return code
        if match := re.match(r"^((?:for .* in .*|case .*) where )(.*?)( \{.*|:.*)$", mask):
            begin, end = match.span(2)
            return code[:begin] + self.condition(code[begin:end]) + code[end:]
        if re.search(r"\bfunc |\binit[?(<]|\bsubscript\b|\bprotocol |\bextension |\bstruct |\bclass |\benum |\btypealias ", mask):
            return code
        goes_on = last.endswith(("(", "[", "=", "?", ":", "&&", "||", "==")) or (last.endswith(",") and not last.startswith("case")) \
            or following.startswith((".", "?", ":", "&&", "||", "==", "+ ", "- ", "else {", "?? "))
        if mask.startswith(("case ", "default:")):
            return code
        if not is_balanced(mask) or mask.endswith((",", "{")) or goes_on:
            return self.literals(code)
        if match := re.match(r"^(return )(.+)$", mask):
            return "return " + self.expression(code[7:])
        if declares.match(mask):
            if match := re.match(r"^([^={}]*? = )([^{]+)$", mask):
                return code[: match.end(1)] + self.expression(code[match.end(1):])
            return code
        if self.is_statement(mask):
            inner = self.literals(code)
            return self.dropping(code, inner)
        if re.match(r"^[\w!(.].*$", mask) and not no_statement.match(mask) and not re.search(r" [-+*/|&]?&?= ", mask):
            return self.expression(code)
        return self.literals(code)

    def is_statement(self, mask):
        mask = re.sub(r"^(?:_ = )?(?:try\??!? )?(?:await )?", "", mask)
        if no_statement.match(mask) or not re.match(r"^[a-z_$A-Z]", mask):
            return False
        is_call = re.match(r"^[\w.?!\[\]$]+(?:\(.*\)|(?:\(.*\))? \{ .* \})$", mask) and not re.match(r"^[A-Z]\w*\(", mask)
        is_assignment = re.match(r"^[a-z_$][\w.?!$]*(?:\[.*\])?(?:\.[\w.?!]+)? (?:=|\+=|-=|\|=|&=|&\+=|&-=) .+$", mask)
        return bool(is_call or is_assignment and self.initializer is None)

    def dropping(self, code, inner):
        number = self.add(code, "nothing")
        return inner if number is None else f"if _k({number}) {{ {inner} }}"

    def blocks(self, code):
        """What stands in braces within the line, innermost only."""
        mask = masked(code)
        for match in reversed(list(re.finditer(r"\{ ((?:\[[^\]]*\] )?(?:[\w,: ]+|\([\w,: ]*\)) in )?([^{}]+) \}", mask))):
            begin, end = match.span(2)
            body, covered = code[begin:end], mask[begin:end]
            if ";" in covered or covered.startswith(("get", "set", "case ", "let ", "var ", "throw ", "if ", "guard ")):
                continue
            if covered.startswith("return "):
                body = "return " + self.expression(body[7:])
            elif self.is_statement(covered) and not (match.group(1) and "$" in covered):
                before = mask[: match.start()]
                # What may give a value stays what it is; only blocks that give none lose their statement.
                if re.search(r"(?:\bdefer|\belse|\) ->.*|\bif .*|\bfor .*|\bwhile .*|withLock) $", before) or " = " in covered:
                    body = self.dropping(body, self.literals(body))
                else:
                    body = self.literals(body)
            else:
                body = self.expression(body)
            code = code[:begin] + body + code[end:]
        return code

    def condition(self, code):
        mask = masked(code)
        if not is_balanced(mask):
            return code
        out = []
        for begin, end in clauses(mask):
            part = code[begin:end]
            text = part.strip()
            # A loop without end is known to the compiler by its literal.
            if re.match(r"(?:let|var|case)\b", text) or text.startswith("#") or text in ("", "true"):
                out.append(part)
                continue
            space = part[: len(part) - len(part.lstrip())]
            out.append(space + self.variants(text, is_condition=True))
        return ",".join(out)

    def expression(self, code):
        return self.variants(code, is_condition=False)

    def variants(self, code, is_condition):
        """Returns a choice between the code and what it may be changed to."""
        prefix = ""
        if match := re.match(r"^(?:try\??!? )?(?:await )?", code):
            prefix, code = code[: match.end()], code[match.end():]
        original = self.literals(code)
        mask = masked(code)
        changed = []
        comparisons = len(re.findall(r" (?:==|!=) ", mask))
        is_compound = re.search(r" (?:&&|\|\|) ", mask)
        if is_condition:
            changed.append("!(" + code + ")")
        for pattern, replacement in operators:
            if is_condition and comparisons == 1 and not is_compound and pattern in (r" == ", r" != "):
                continue
            for match in re.finditer(pattern, mask):
                # What stands in a block has been changed there.
                if mask[: match.start()].count("{") != mask[: match.start()].count("}"):
                    continue
                changed.append(code[: match.start()] + replacement + code[match.end():])
        if not is_condition and not changed:
            if match := re.match(r"^([^?{}]+?) \? (.+) : (.+)$", mask):
                if is_balanced(match.group(1)):
                    changed.append("!(" + code[: match.end(1)] + ")" + code[match.end(1):])
            elif re.match(r"^![\w.]+(?:\(.*\))?$", mask):
                changed.append(code[1:])
        result = original
        for after in changed:
            number = self.add(code, after)
            if number is not None:
                result = f"_m({number}) ? ({after}) : ({result})"
        if result is not original and is_condition:
            result = f"({result})"
        return prefix + result

    def literals(self, code):
        """Returns the code with its truths and steps of one to be chosen."""
        mask = masked(code)
        if "_m(" in mask or "_k(" in mask:
            return code
        for match in reversed(list(re.finditer(r"(?<![\w._\"])(true|false)\b(?!\w)|(?<= [-+] )1(?![\w.])|(?<= [-+]= )1(?![\w.])|(?<=&[-+] )1(?![\w.])", mask))):
            text = match.group()
            before = code
            if text == "1":
                number = self.add(code, code[: match.start()] + "0" + code[match.end():])
                new = f"_n({number})"
            else:
                other = "false" if text == "true" else "true"
                number = self.add(code, code[: match.start()] + other + code[match.end():])
                new = f"_b({number}, {text})"
            if number is not None:
                code = code[: match.start()] + new + code[match.end():]
        return code
