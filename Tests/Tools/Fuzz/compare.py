"""Random documents, read by the project's parsers and by those of Python: compare.py READER SECONDS [SEED]

Half of the documents are well formed, the others have a few bytes changed. What Python takes must be taken and be the same.
What it refuses must be refused, unless the formats differ on purpose: comments and one trailing comma in JSON, TOML 1.1.
TOML leaves it to the parser whether a line break in a string stays as it is: Python makes one character of the two, and the project
keeps both.
"""
import datetime, json, random, re, struct, subprocess, sys, time, tomllib, unicodedata

WORDS = ["a", "b", "key", "timeout", "größe", "x-y", "x_y", "1", "a.b", "with space", "", "🐡", "true", "inf"]
TEXTS = ["", "a", "plain text", "tab\tand\nline", "quote\"s'", "back\\slash", "é", "e\u0301", "🐡\U0001F1EB", "\u007f", "\u2028",
         "#no comment", "/*", "0", "\u0000"]


class Refused(Exception):
    pass


# ---- what both must agree on

def scalar(kind, text):
    return [kind, text]


def canonical(value):
    """The value as the reader prints it, or Refused where the project refuses on purpose what Python takes."""
    if isinstance(value, dict):
        members = {}
        for name, member in value.items():
            name = checked(name)
            if any(unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", other) for other in members):
                raise Refused("given twice")
            if member is not None:
                members[name] = canonical(member)
            else:
                members[name] = None
        return {"table": {name: member for name, member in members.items() if member is not None}}
    if isinstance(value, list):
        return {"array": [canonical(element) for element in value]}
    if value is None:
        return {"table": {}}
    if isinstance(value, bool):
        return scalar("bool", "true" if value else "false")
    if isinstance(value, int):
        if not -2**63 <= value < 2**63:
            raise Refused("integer")
        return scalar("integer", str(value))
    if isinstance(value, float):
        return scalar("double", "nan" if value != value else format(struct.unpack("<Q", struct.pack("<d", value))[0], "x"))
    if isinstance(value, str):
        return scalar("string", checked(value))
    return scalar("time", moment(value))


def checked(text):
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        raise Refused("surrogate")
    return text


def moment(value):
    if isinstance(value, datetime.datetime):
        text = value.date().isoformat() + "T" + clock(value)
        if value.tzinfo is None:
            return text
        minutes = int(value.utcoffset().total_seconds() // 60)
        sign = "-" if minutes < 0 else "+"
        return text + ("Z" if minutes == 0 else f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}")
    return value.isoformat() if isinstance(value, datetime.date) else clock(value)


def clock(value):
    text = f"{value.hour:02}:{value.minute:02}:{value.second:02}"
    return text + (f".{value.microsecond:06}".rstrip("0") if value.microsecond else "")


def finite(text):
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise Refused("too large")
    return value


def pairs(members):
    if len({name for name, _ in members}) < len(members):
        raise Refused("given twice")
    return dict(members)


def refuse(_):
    raise Refused("no number")


def python_json(data):
    return json.loads(data.decode("utf-8"), object_pairs_hook=pairs, parse_constant=refuse, parse_float=finite)


def python_toml(data):
    # What lies beyond microseconds is cut off, as it is beyond nanoseconds here.
    return tomllib.loads(data.decode("utf-8"), parse_float=lambda text: float(text) if "n" in text else finite(text))


# ---- documents

def value(random, depth):
    kind = random.randrange(8 if depth else 6)
    if kind == 0:
        return random.choice([True, False])
    if kind == 1:
        return random.choice([0, 1, -1, 2**63 - 1, -2**63, 2**63, random.randrange(-10**6, 10**6)])
    if kind in (2, 3):
        return random.choice([0.5, -1e300, 1e-320, 0.1, 123456.789, 9007199254740993.0, random.random() * 10 ** random.randrange(-30, 30)])
    if kind in (4, 5):
        return random.choice(TEXTS) + random.choice(["", random.choice(TEXTS)])
    if kind == 6:
        return [value(random, depth - 1) for _ in range(random.randrange(4))]
    return table(random, depth - 1)


def table(random, depth):
    return {random.choice(WORDS): value(random, depth) for _ in range(random.randrange(5 if random.random() < 0.98 else 40))}


def json_text(random):
    text = json.dumps(table(random, 4), ensure_ascii=random.random() < 0.5, indent=random.choice([None, 0, 2]))
    return text.encode("utf-8")


def toml_string(random, text):
    if random.random() < 0.3 and "'" not in text and all(c >= " " and c != "\u007f" for c in text):
        return "'" + text + "'"
    out = "".join(c if c >= " " and c not in "\"\\\u007f" else f"\\u{ord(c):04X}" for c in text)
    if random.random() < 0.2:
        return '"""' + random.choice(["", "\n", "\r\n"]) + out.replace("\\u000A", random.choice(["\\u000A", "\n", "\r\n"])) + '"""'
    return '"' + out + '"'


def toml_key(random, name):
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) and random.random() < 0.8 else json.dumps(name)


def toml_value(random, item):
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        if item >= 0 and random.random() < 0.2:
            return random.choice([hex(item), oct(item), bin(item)])
        return f"{item:_}" if random.random() < 0.2 else str(item)
    if isinstance(item, float):
        return random.choice([repr(item), "inf", "-inf", "nan", moment_text(random)]) if random.random() < 0.4 else repr(item)
    if isinstance(item, str):
        return toml_string(random, item)
    if isinstance(item, list):
        separator = random.choice([", ", ",\n ", ", # c\n"])
        return "[" + separator.join(toml_value(random, element) for element in item) + "]"
    return "{" + ", ".join(toml_key(random, name) + " = " + toml_value(random, member) for name, member in item.items()) + "}"


def moment_text(random):
    date = f"{random.randrange(1, 9999):04}-{random.randrange(1, 14):02}-{random.randrange(1, 32):02}"
    hour = f"{random.randrange(0, 25):02}:{random.randrange(0, 60):02}:{random.randrange(0, 60):02}"
    hour += random.choice(["", ".5", ".123456"])
    return random.choice([date, hour, date + "T" + hour, date + " " + hour + "Z", date + "T" + hour + "-07:30"])


def toml_text(random):
    lines = []

    def write(members, path):
        inner = []
        for name, member in members.items():
            if isinstance(member, dict) and random.random() < 0.7:
                inner.append((name, member))
            else:
                lines.append(toml_key(random, name) + random.choice([" = ", "="]) + toml_value(random, member))
        for name, member in inner:
            head = ".".join(toml_key(random, part) for part in path + [name])
            lines.append(f"[[{head}]]" if random.random() < 0.3 else f"[{head}]")
            write(member, path + [name])

    write(table(random, 4), [])
    return (random.choice(["\n", "\r\n"]).join(lines) + random.choice(["", "\n"])).encode("utf-8")


def changed(random, data):
    data = bytearray(data)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(data) + 1)
        kind = random.randrange(3)
        if kind == 0 and at < len(data):
            del data[at:at + random.choice([1, 1, 2, 5])]
        elif kind == 1:
            data[at:at] = random.choice([b",", b"[", b"]", b"{", b"}", b"\"", b"'", b"\\", b".", b"=", b"\n", b"0", b"-", b"e", b"\xff", b"\x00", b"_", b" ", b"\xc3\xa9", b":", b"#"])
        elif at < len(data):
            data[at] = random.choice(data)
    return bytes(data)


def differs_on_purpose(kind, data):
    if data.startswith(b"\xef\xbb\xbf"):
        return True
    if kind == "json":
        return b"/" in data or re.search(rb",\s*[}\]]", data) is not None
    # TOML 1.1: lines and a comma at the end of tables in braces, two escapes, times without seconds; and Python has no year 0.
    return (b"{" in data or b"\\e" in data or b"\\x" in data or re.search(rb"\d\d:\d\d(?!:)", data) is not None
            or re.search(rb"0000-|:60", data) is not None)


# ---- the comparison

def cut(value, breaks):
    """Times without what Python cuts off, since it holds microseconds, and if asked, strings with line breaks of one character."""
    if isinstance(value, dict):
        return {name: cut(member, breaks) for name, member in value.items()}
    if isinstance(value, list) and len(value) == 2 and value[0] == "time":
        return ["time", re.sub(r"(\.\d{6})\d+", lambda match: match[1].rstrip("0").rstrip("."), value[1])]
    if isinstance(value, list) and len(value) == 2 and value[0] == "string" and breaks:
        return ["string", value[1].replace("\r\n", "\n")]
    return [cut(element, breaks) for element in value] if isinstance(value, list) else value


def expected(kind, data):
    try:
        return canonical(python_json(data) if kind == "json" else python_toml(data))
    except (Refused, ValueError, RecursionError, OverflowError):
        return None


def main():
    reader, seconds, seed = sys.argv[1], float(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 and sys.argv[3] else str(time.time_ns())
    source = random.Random(seed)
    process = subprocess.Popen([reader], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    counts = {"json": [0, 0], "toml": [0, 0]}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kind = source.choice(["json", "toml"])
        data = json_text(source) if kind == "json" else toml_text(source)
        if source.random() < 0.5:
            data = changed(source, data)
        process.stdin.write(f"{kind} {len(data)}\n".encode() + data)
        process.stdin.flush()
        answer = process.stdout.readline().decode("utf-8")
        # Without a line break of two characters, all agree exactly.
        breaks = kind == "toml" and b"\r\n" in data
        want = cut(expected(kind, data), breaks)
        got = cut(json.loads(answer[6:]), breaks) if answer.startswith("value ") else None
        counts[kind][0] += 1
        counts[kind][1] += want is not None
        if got != want and not (want is None and differs_on_purpose(kind, data)):
            print(f"compare: seed {seed}, {kind}: {data!r}\nPython:  {want}\nproject: {answer.strip()}")
            sys.exit(1)
    counted = ", ".join(f"{count} documents of {kind.upper()} ({good} well formed)" for kind, (count, good) in counts.items())
    print(f"compare, {seconds:g} s, seed {seed}: {counted}, no difference")


main()
