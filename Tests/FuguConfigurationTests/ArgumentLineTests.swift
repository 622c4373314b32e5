import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

/// A setting with a value that it must have.
private struct Setting: Sendable {
    let key: any ConfigurationKey
    let check: @Sendable (Container) -> Void

    private init<Value: Decodable & Sendable & Equatable>(_ name: String, _ value: Value?) {
        let key = PropertyKey<Value?>(name)
        self.key = key
        check = { expect($0[key], equals: value, name) }
    }

    static func on(_ name: String) -> Setting { Setting(name, true) }
    static func off(_ name: String) -> Setting { Setting(name, false) }
    static func number(_ name: String, _ value: Int) -> Setting { Setting(name, value) }
    static func ratio(_ name: String, _ value: Double) -> Setting { Setting(name, value) }
    static func text(_ name: String, _ value: String) -> Setting { Setting(name, value) }
    static func list(_ name: String, _ value: String...) -> Setting { Setting(name, value) }
    static func numbers(_ name: String, _ value: Int...) -> Setting { Setting(name, value) }
    static func time(_ name: String, _ value: Duration) -> Setting { Setting(name, value) }
    static func table(_ name: String, _ value: [String: Int]) -> Setting { Setting(name, value) }
    static func unset(_ name: String) -> Setting { Setting(name, nil as Bool?) }
}

/// Lines as the documentation of programs shows them.
struct ArgumentLineTests {
    /// The words are separated by blanks; `_` stands for a blank inside a word.
    private static let lines: [(line: String, settings: [Setting])] = [
        // Options with a value, in the next word or behind `=`.
        ("serve --port 8080 --host 0.0.0.0", [.number("port", 8080), .text("host", "0.0.0.0")]),
        ("serve --port=8080 --host=::1", [.number("port", 8080), .text("host", "::1")]),
        ("get --output=a=b=c", [.text("output", "a=b=c")]),
        ("get --output=", [.text("output", "")]),
        ("top --delay 1.5 --lines -10", [.ratio("delay", 1.5), .number("lines", -10)]),
        ("find --perm 0o755 --mask 0x1f", [.number("perm", 0o755), .number("mask", 31)]),
        (
            "wait --timeout 1h30m --interval=250ms",
            [.time("timeout", .seconds(5400)), .time("interval", .milliseconds(250))]
        ),
        (
            "commit --message Fix_it:_really --author=Ada_<ada@example.org>",
            [
                .text("message", "Fix it: really"), .text("author", "Ada <ada@example.org>"),
            ]
        ),
        ("cut --delimiter - file", [.text("delimiter", "-")]),
        ("sort --key -2 file", [.text("key", "-2")]),
        // Flags, alone, beside words, and switched off.
        ("archive --verbose --gzip", [.on("verbose"), .on("gzip")]),
        ("remove --recursive --force folder", [.on("recursive"), .on("force")]),
        ("run --rm -it image", [.on("rm")]),
        ("copy --dry-run source target", [.on("dryRun")]),
        ("--help", [.on("help")]),
        ("merge --no-commit --squash", [.off("commit"), .on("squash")]),
        ("log --no-color --color", [.on("color")]),
        ("log --color --no-color", [.off("color")]),
        ("log --color=true --no-color file", [.off("color")]),
        ("install --no-cache", [.off("cache")]),
        ("install --no-cache", [.on("noCache")]),
        ("install --no-cache=false", [.off("noCache")]),
        ("start --debug=false --reload=true", [.off("debug"), .on("reload")]),
        ("start --debug false --reload true", [.off("debug"), .on("reload")]),
        ("test --no-server-cache", [.off("server.cache")]),
        // Again.
        ("build --verbose --verbose --verbose", [.on("verbose")]),
        ("build --configuration debug --configuration release", [.text("configuration", "release")]),
        ("build --jobs 4 --jobs=8 --jobs 2", [.number("jobs", 2)]),
        ("build --verbose --verbose=false", [.off("verbose")]),
        // Lists.
        ("lint --exclude a --exclude b", [.list("exclude", "a", "b")]),
        ("lint --exclude a,b --exclude=c", [.list("exclude", "a", "b", "c")]),
        ("compile --include src lib --output app", [.list("include", "src", "lib"), .text("output", "app")]),
        ("compile --include src lib -v --output app", [.list("include", "src", "lib"), .text("output", "app")]),
        ("sum --values 1 -2 3 --values 4", [.numbers("values", 1, -2, 3, 4)]),
        ("run --publish 80:80 --publish 443:443 image", [.list("publish", "80:80", "443:443", "image")]),
        ("merge --inputs - file", [.list("inputs", "-", "file")]),
        ("run --env A=1 --env B=2 --", [.list("env", "A=1", "B=2")]),
        (
            #"allow --origins ["https://a.example","https://b.example"]"#,
            [
                .list("origins", "https://a.example", "https://b.example")
            ]
        ),
        (#"allow --origins ["https://a.example"] file"#, [.list("origins", "https://a.example")]),
        (
            #"allow --origins ["a","b,c"] --origins d,e --origins f g"#,
            [.list("origins", "a", "b,c", "d", "e", "f", "g")]
        ),
        (#"sum --values [1,20] --values 3 --values 0x10"#, [.numbers("values", 1, 20, 3, 16)]),
        (#"label --labels {"a":1,"b":2}"#, [.table("labels", ["a": 1, "b": 2])]),
        (#"label --labels {"a":1} --labels {"b":2}"#, [.table("labels", ["b": 2])]),
        // Two dashes end the options.
        ("exec --tty -- ls --all", [.on("tty"), .unset("all")]),
        ("grep --count -- --pattern", [.on("count"), .unset("pattern")]),
        ("-- --verbose", [.unset("verbose")]),
        // Words with one dash are for others.
        ("--verbose -NSDocumentRevisionsDebugMode YES", [.on("verbose")]),
        ("-NSDocumentRevisionsDebugMode YES --verbose --port 80", [.on("verbose"), .number("port", 80)]),
        ("--tags a b -AppleLanguages (de) --port 80", [.list("tags", "a", "b"), .number("port", 80)]),
        ("--tags a -ApplePersistenceIgnoreState YES --tags b", [.list("tags", "a", "b")]),
        ("-v -abc -5 - file --quiet -x", [.on("quiet")]),
        ("--quiet -", [.on("quiet")]),
        ("/usr/local/bin/app install package --save-dev", [.on("saveDev")]),
        // Containers, clusters, and builds.
        (
            "get pods --selector app=web,tier!=db --output wide",
            [.text("selector", "app=web,tier!=db"), .text("output", "wide")]
        ),
        (
            "create --from-literal=user=ada --from-literal=pass=a=b== secret",
            [.list("fromLiteral", "user=ada", "pass=a=b==")]
        ),
        (
            #"patch web --type merge --patch {"spec":{"replicas":2}}"#,
            [.text("type", "merge"), .text("patch", #"{"spec":{"replicas":2}}"#)]
        ),
        // Requests and files.
        (
            "fetch --data @- --retry 3 --url https://a.example/?q=1&r=2#top",
            [.text("data", "@-"), .number("retry", 3), .text("url", "https://a.example/?q=1&r=2#top")]
        ),
        (
            "fetch --user ada:p--w --insecure --max-time 2.5",
            [.text("user", "ada:p--w"), .on("insecure"), .ratio("maxTime", 2.5)]
        ),
        (
            "pack --create --file=- --strip-components=1 --exclude-vcs .",
            [.on("create"), .text("file", "-"), .number("stripComponents", 1), .on("excludeVCS")]
        ),
        (#"copy --path C:\temp\new --title 100%_sure"#, [.text("path", #"C:\temp\new"#), .text("title", "100% sure")]),
        // Servers.
        (
            "--port 6380 --save 60_1000 --appendonly yes --maxmemory 2gb",
            [.number("port", 6380), .text("save", "60 1000"), .text("appendonly", "yes"), .text("maxmemory", "2gb")]
        ),
        (
            "--listen-client-urls http://a:1,http://b:2 --initial-cluster n1=http://a,n2=http://b",
            [.list("listenClientURLs", "http://a:1", "http://b:2"), .text("initialCluster", "n1=http://a,n2=http://b")]
        ),
        (
            "--region eu-central-1 --no-verify-ssl --no-paginate list",
            [.text("region", "eu-central-1"), .off("verifySSL"), .off("paginate")]
        ),
        (
            "--unit=web.service --since=-1h --lines=50 --no-pager",
            [.text("unit", "web.service"), .text("since", "-1h"), .number("lines", 50), .off("pager")]
        ),
        ("plan -var-file=x.tfvars -out plan --lock=false --parallelism 4", [.off("lock"), .number("parallelism", 4)]),
        (
            "--feature-gates=-a,+b --http2 --allow-ipv6=false",
            [.list("featureGates", "-a", "+b"), .on("http2"), .off("allowIPv6")]
        ),
        // Corners.
        ("--notify --normalize --node 3 --no", [.on("notify"), .on("normalize"), .number("node", 3), .on("no")]),
        ("--quiet --no-quiet --quiet", [.on("quiet")]),
        ("--verbose true file --debug=false --debug", [.on("verbose"), .on("debug")]),
        ("--message=--force --args=--a,-b file", [.text("message", "--force"), .list("args", "--a", "-b")]),
        ("--tags= --port 80", [.list("tags"), .number("port", 80)]),
        ("--tags [] --limits={}", [.list("tags"), .table("limits", [:])]),
        ("--tags a b -- c", [.list("tags", "a", "b")]),
        ("--ports 8080,8081 --ports=9000", [.numbers("ports", 8080, 8081, 9000)]),
        (
            "--offset -0.5 --level=-5 --step +3 --rate 1e-3",
            [.ratio("offset", -0.5), .number("level", -5), .number("step", 3), .ratio("rate", 0.001)]
        ),
        (
            "--delimiter , --separator=_ --quote=\"",
            [.text("delimiter", ","), .text("separator", " "), .text("quote", "\"")]
        ),
        ("--color never -- --color always", [.text("color", "never")]),
        (
            "--zip 01234 --version 1.10 --user 1000:1000 --name Zoë",
            [.text("zip", "01234"), .text("version", "1.10"), .text("user", "1000:1000"), .text("name", "Zoë")]
        ),
    ]

    @Test("Lines as programs document them are read as people mean them (laws 15, 16)", arguments: lines.indices)
    func line(number: Int) throws {
        let (line, settings) = Self.lines[number]
        let words = line.split(separator: " ").map { String($0).replacing("_", with: " ") }
        let container = Container()
        container.declare(settings.map(\.key))
        try container.apply(ArgumentsSource(words))
        expect(thrown { try container.validate() }, equals: "nothing", line)
        for setting in settings { setting.check(container) }
    }

    // MARK: Mistakes

    private func mistakes(_ words: String..., keys: any ConfigurationKey...) throws -> String {
        let container = Container()
        container.declare(keys)
        try container.apply(ArgumentsSource(words))
        return thrown { try container.validate() }
    }

    private let port = PropertyKey<Int?>("port"), verbose = PropertyKey<Bool?>("verbose")
    private let tags = PropertyKey<[String]?>("tags")

    @Test(
        "A word that may be meant as a flag's value is a mistake, and the last occurrence counts, wrong or not (law 16)"
    )
    func nearlyBoolean() throws {
        // A word that may be meant as a flag's value, but isn't true or false, is a mistake.
        do {
            for word in ["yes", "no", "on", "off", "1", "0", "TRUE", "False"] {
                try expect(
                    mistakes("--verbose", word, keys: verbose),
                    equals:
                        "argument --verbose: verbose: expected Bool (true or false; if the word isn't meant for --verbose, write "
                        + "--verbose=true), found text \"\(word)\"")
            }
            try expect(mistakes("--verbose=file", keys: verbose).contains("expected Bool (true or false), found text"))
            let any = PropertyKey<Bool?>("verbose", form: .anyBoolean)
            let container = Container()
            try container.apply(ArgumentsSource(["--verbose", "off"]))
            expect(container[any], equals: false)
        }
        // The last occurrence counts, also if it has no value or is wrong.
        do {
            try expect(
                mistakes("--port", "80", "--port", keys: port),
                equals: "argument --port: port: needs a value; expected Int, as in --port=…")
            try expect(mistakes("--port", "80", "--port=x", keys: port).contains("expected Int, found text \"x\""))
            try expect(mistakes("--port", "x", "--port=80", keys: port), equals: "nothing")
            try expect(mistakes("--tags", "a", "--tags", keys: tags).contains("needs a value"))
            try expect(mistakes("--tags", "-x", keys: tags).contains("needs a value"))
        }
    }

    @Test("What isn't on or off can't be switched off, and a switch takes no value (law 16)")
    func negated() throws {
        try expect(
            mistakes("--no-port", keys: port),
            equals:
                "argument --no-port: unknown name; only what is true or false can be switched off; did you mean --port=…?"
        )
        try expect(mistakes("--no-tags", keys: tags).contains("did you mean --tags=…?"))
        try expect(
            mistakes("--no-verbose=true", keys: verbose),
            equals: "argument --no-verbose: takes no value; write --verbose=false")
        let (text, off) = (PropertyKey<String?>("cache"), PropertyKey<Bool?>("noCache"))
        try expect(mistakes("--cache", "folder", "--no-cache", keys: text, off), equals: "nothing")
        let container = Container()
        try container.apply(EnvironmentSource(environment: ["CACHE": "other"]))
        try container.apply(ArgumentsSource(["--no-cache"]))
        expect(container[text], equals: "other")
        expect(container[off], equals: true)
        try expect(mistakes("--no-verbos", keys: verbose).contains("unknown name; did you mean --no-verbose?"))
    }

    @Test("Two keys that one argument would mean are a mistake (law 16)")
    func ambiguous() throws {
        let text = try mistakes(keys: PropertyKey<Bool?>("cache"), PropertyKey<Bool?>("noCache"))
        expect(text, equals: "noCache: --no-cache switches cache off, too; rename one of them")
    }

    @Test(
        "Help and explanations show how a setting is switched on and off, and what an argument means for its key (law 15)"
    )
    func help() throws {
        // The help shows how a setting is switched on and off.
        do {
            let container = Container()
            struct Pool: Decodable, Sendable { var isOpen: Bool }
            container.declare([verbose, PropertyKey<Pool?>("pool", form: .merged)])
            let (help, markdown) = (container.reference().helpText, container.reference().markdown)
            expect(help.hasPrefix("  --[no-]verbose <true|false>"), help)
            expect(help.words.contains("isOpen <true|false>, --[no-]pool-is-open, POOL_IS_OPEN"), help)
            expect(
                markdown.contains("| `--[no-]verbose` |") && markdown.contains("| `--[no-]pool-is-open` |"), markdown)
        }
        // An explanation shows what an argument means for its key's type, also where another source hides it.
        do {
            let container = Container()
            try container.apply(
                ArgumentsSource([
                    "--verbose", "file", "--tags", "a", "b", "--tags=c", "--no-cache", "--jobs", "1", "--jobs=2",
                ]))
            let (cache, jobs) = (PropertyKey<Bool?>("cache"), PropertyKey<Int?>("jobs"))
            expect(container.explain { _ in verbose }.winner.description, equals: "true (argument --verbose)")
            expect(container.explain { _ in cache }.winner.description, equals: "false (argument --no-cache)")
            expect(container.explain { _ in tags }.winner.value, equals: #"["a", "b", "c"]"#)
            expect(container.explain { _ in jobs }.winner.value, equals: "2")
            try container.apply(
                DictionarySource(["verbose": false, "tags": [], "cache": true, "jobs": 3], name: "later"))
            expect(container.explain { _ in verbose }.hidden.map(\.description), equals: ["true (argument --verbose)"])
            expect(container.explain { _ in cache }.hidden.map(\.description), equals: ["false (argument --no-cache)"])
            expect(container.explain { _ in tags }.hidden.map(\.value), equals: [#"["a", "b", "c"]"#])
        }
    }

    @Test("A change below an argument that switches another key off is seen (law 16)")
    func changesBelow() throws {
        let (cache, source) = (PropertyKey("cache", defaultValue: ""), MutableSource(["cache": "a"], name: "values"))
        let container = Container()
        try container.apply(source)
        try container.apply(ArgumentsSource(["--no-cache"]))
        expect(container[cache], equals: "a")
        source["cache"] = "b"
        expect(container[cache], equals: "b")
    }

    // MARK: Names

    /// The rows of the guide's table: a name, its variable, and its argument.
    private func rows() throws -> [[String]] {
        let page = "Sources/FuguConfiguration/FuguConfiguration.docc/ConfiguringAProgram.md"
        let root = "\(#filePath)".components(separatedBy: "/Tests/")[0]
        let lines = try String(contentsOfFile: "\(root)/\(page)", encoding: .utf8).split(separator: "\n")
        return lines.drop { !$0.hasPrefix("| Name | Variable | Argument |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: [" ", "`"]) } }
    }

    @Test("Names are spelled as the guide's table says, and the help prints what is read (law 15)")
    func names() throws {
        let page = try rows()
        expect(page.count >= 5)
        let rows =
            page + [
                ["baseURLPath", "BASE_URL_PATH", "--base-url-path"], ["imageURLs", "IMAGE_URLS", "--image-urls"],
                ["sha256Sum", "SHA256_SUM", "--sha256-sum"], ["http2", "HTTP2", "--http2"],
                ["allowIPv6", "ALLOW_IPV6", "--allow-ipv6"], ["eTag", "E_TAG", "--e-tag"],
                ["log_level", "LOG_LEVEL", "--log-level"],
            ]
        let keys = rows.map { PropertyKey($0[0], defaultValue: "") }
        let container = Container()
        container.declare(keys)
        let help = container.reference().helpText
        for (row, key) in zip(rows, keys) {
            expect(help.contains("\(row[2]) <text>") && help.words.contains("\(row[1]), \(row[0])"), "\(row)\n\(help)")
            let other = Container()
            other.declare([key])
            try other.apply(EnvironmentSource(environment: [row[1]: "v"]))
            try other.validate()
            expect(other[key], equals: "v", row[0])
            try other.apply(ArgumentsSource([row[2], "a"]))
            try other.validate()
            expect(other[key], equals: "a", row[0])
        }
    }

    @Test(
        "An acronym's plural and version are one word with it (law 15)",
        arguments: [
            ("imageURLs", "image-urls"), ("URLsOfImages", "urls-of-images"), ("userIDsByName", "user-ids-by-name"),
            ("ids", "ids"), ("allowIPv6", "allow-ipv6"), ("IPv4Address", "ipv4-address"), ("minTLSv1_2", "min-tlsv1-2"),
            ("isAsServer", "is-as-server"), ("baseURLSuffix", "base-url-suffix"), ("URLString", "url-string"),
            ("aBsC", "a-bs-c"), ("http2IDs", "http2-ids"), ("dns.SRVs", "dns-srvs"), ("HTTPVia", "http-via"),
        ])
    func acronyms(name: String, argument: String) throws {
        let source = ArgumentsSource(["--\(argument)=v"])
        try expect(source.load().property(name, as: String.self), equals: "v")
        let container = Container()
        container.declare([PropertyKey<String?>(name)])
        expect(container.reference().helpText.hasPrefix("  --\(argument) <"), container.reference().helpText)
    }
}

/// Lines of `.env` files as programs show them.
struct EnvironmentLineTests {
    private static let lines: [(line: String, settings: [Setting])] = [
        ("PORT=8080", [.number("port", 8080)]),
        ("PORT = 8080", [.number("port", 8080)]),
        ("  PORT=8080  ", [.number("port", 8080)]),
        ("export PORT=8080", [.number("port", 8080)]),
        ("export\tPORT=8080", [.number("port", 8080)]),
        ("PORT=\"8080\"", [.number("port", 8080)]),
        ("PORT='8080'", [.number("port", 8080)]),
        ("PORT=8080 # the port", [.number("port", 8080)]),
        ("PORT=\"8080\" # the port", [.number("port", 8080)]),
        ("# PORT=1\nPORT=8080", [.number("port", 8080)]),
        ("\n\nPORT=8080\n\n", [.number("port", 8080)]),
        ("PORT=8080\r\nHOST=a\r\n", [.number("port", 8080), .text("host", "a")]),
        ("\u{FEFF}PORT=8080", [.number("port", 8080)]),
        ("HOST=", [.text("host", "")]),
        ("HOST=\"\"", [.text("host", "")]),
        ("HOST=''", [.text("host", "")]),
        ("SECRET=a=b==", [.text("secret", "a=b==")]),
        ("SECRET=pass#word", [.text("secret", "pass#word")]),
        ("SECRET=\"pass #word\"", [.text("secret", "pass #word")]),
        ("SECRET='pass #word'", [.text("secret", "pass #word")]),
        ("SECRET=`it's \"here\"`", [.text("secret", "it's \"here\"")]),
        ("SECRET=`a\\n # b\nc`  # d", [.text("secret", "a\\n # b\nc")]),
        ("SECRET='it has $dollars'", [.text("secret", "it has $dollars")]),
        ("SECRET=\"it has \\$dollars\"", [.text("secret", "it has $dollars")]),
        ("SECRET=$UNCHANGED", [.text("secret", "$UNCHANGED")]),
        ("MESSAGE=two words", [.text("message", "two words")]),
        ("MESSAGE=\"two\\nlines\"", [.text("message", "two\nlines")]),
        ("MESSAGE='no\\nescape'", [.text("message", "no\\nescape")]),
        ("MESSAGE=\"two\nlines\"", [.text("message", "two\nlines")]),
        (
            "KEY=\"-----BEGIN KEY-----\nabc\n-----END KEY-----\n\"",
            [
                .text("key", "-----BEGIN KEY-----\nabc\n-----END KEY-----")
            ]
        ),
        ("MESSAGE=\"say \\\"hi\\\"\"", [.text("message", "say \"hi\"")]),
        ("PATHS=C:\\temp\\new", [.text("paths", "C:\\temp\\new")]),
        ("COLOR=#FF0000", [.text("color", "#FF0000")]),
        ("COLOR=##", [.text("color", "##")]),
        ("COLOR=#FF0000 #comment", [.text("color", "#FF0000")]),
        ("DEBUG=true", [.on("debug")]),
        ("DEBUG=false", [.off("debug")]),
        ("TAGS=a,b,c", [.list("tags", "a", "b", "c")]),
        ("TAGS=\"a, b, c\"", [.list("tags", "a", "b", "c")]),
        ("TAGS=[\"a\",\"b, c\"]", [.list("tags", "a", "b, c")]),
        ("TAGS=", [.list("tags")]),
        ("LIMITS={\"a\": 1, \"b\": 2}", [.table("limits", ["a": 1, "b": 2])]),
        ("LIMITS='{\"a\": 1}'", [.table("limits", ["a": 1])]),
        ("TIMEOUT=30s", [.time("timeout", .seconds(30))]),
        ("TIMEOUT=1h30m", [.time("timeout", .seconds(5400))]),
        ("RATE=0.5", [.ratio("rate", 0.5)]),
        ("LIMIT=1_000_000", [.number("limit", 1_000_000)]),
        ("UMASK=0o022", [.number("umask", 18)]),
        ("MASK=0xff", [.number("mask", 255)]),
        ("OFFSET=-5", [.number("offset", -5)]),
        ("IMAGE_URLS=a,b", [.list("imageURLs", "a", "b")]),
        ("API_BASE_URL=https://a.example/?q=1&r=2#top", [.text("api.baseURL", "https://a.example/?q=1&r=2#top")]),
        ("http_proxy=http://proxy.example:3128", [.text("http_proxy", "http://proxy.example:3128")]),
        // Databases, queues, and clouds.
        (
            "REDIS_URL=redis://:p%40ss@cache:6379/0\nREDIS_PASSWORD=null",
            [.text("redis.url", "redis://:p%40ss@cache:6379/0"), .text("redis.password", "null")]
        ),
        (
            "OTEL_RESOURCE_ATTRIBUTES=service.name=shop,service.version=1.2.0",
            [.list("otel.resourceAttributes", "service.name=shop", "service.version=1.2.0")]
        ),
        // Frameworks.
        ("APP_NAME=a\nMAIL_FROM=\"${APP_NAME}\"", [.text("mail.from", "${APP_NAME}")]),
        ("ALLOWED_HOSTS=.example.org,localhost,[::1]", [.list("allowedHosts", ".example.org", "localhost", "[::1]")]),
        ("SECRET_KEY='insecure-4$w#x&(z) #!=@k^_+%'", [.text("secretKey", "insecure-4$w#x&(z) #!=@k^_+%")]),
        ("spring.datasource.url=jdbc:h2:mem:a", [.text("spring.datasource.url", "jdbc:h2:mem:a")]),
        // Quotes, comments, and lines.
        (
            "SERVICE='{\"type\": \"a\", \"key\": \"one\\ntwo\\n\"}'",
            [.text("service", "{\"type\": \"a\", \"key\": \"one\\ntwo\\n\"}")]
        ),
        ("LIMITS='{\n  \"read\": 5,\n  \"write\": 1\n}'", [.table("limits", ["read": 5, "write": 1])]),
        (
            "THEME={\"color\": \"#fff\"}\nLIMITS={\"a\": 1} # one",
            [.text("theme", "{\"color\": \"#fff\"}"), .table("limits", ["a": 1])]
        ),
        (
            "SCRIPT=\"A=1\n\n# no comment\nB=2\" # a comment\nPORT=80",
            [.text("script", "A=1\n\n# no comment\nB=2"), .number("port", 80)]
        ),
        (
            "FOLDER=\"C:\\\\Users\\\\ada\"\nSHARE=\\\\server\\share",
            [.text("folder", "C:\\Users\\ada"), .text("share", "\\\\server\\share")]
        ),
        (
            "PATTERN='^\\d+\\.\\w*$'\nOTHER=^\\d{3}-\\d{4}$",
            [.text("pattern", "^\\d+\\.\\w*$"), .text("other", "^\\d{3}-\\d{4}$")]
        ),
        (
            "COLUMNS=\"a\\tb\"\nGREETING=\"   padded   \"",
            [.text("columns", "a\tb"), .text("greeting", "   padded   ")]
        ),
        ("NAME=O'Brien\nFIRM=\"O'Brien & Sons\"", [.text("name", "O'Brien"), .text("firm", "O'Brien & Sons")]),
        (
            "GREETING=say \"hi\" twice\nOTHER='say \"hi\"'",
            [.text("greeting", "say \"hi\" twice"), .text("other", "say \"hi\"")]
        ),
        ("TOKEN=abc# no comment\nHOST=a\t# a comment", [.text("token", "abc# no comment"), .text("host", "a")]),
        ("HOST= # none\nPORT='80' #the port", [.text("host", ""), .number("port", 80)]),
        ("\t# a comment\n#\n#PORT=1\nPORT=80 # it's \"80\"", [.number("port", 80)]),
        (
            "HOST=\r\nMESSAGE=\"a\r\nb\"\r\nPORT=80 # a\r\nTAGS=a,b\r\n",
            [.text("host", ""), .number("port", 80), .list("tags", "a", "b")]
        ),
        ("BUILT=$(date +%s)\nBY=a `whoami` b", [.text("built", "$(date +%s)"), .text("by", "a `whoami` b")]),
        // Names.
        (
            "export PORT = 80\nexport=csv\nexport_dir=/tmp",
            [.number("port", 80), .text("export", "csv"), .text("export_dir", "/tmp")]
        ),
        ("http_proxy=a\nHTTP_PROXY=b", [.text("http_proxy", "b")]),
        (
            "NO_PROXY=localhost,.example.org,10.0.0.0/8\nNO_COLOR=1",
            [.list("noProxy", "localhost", ".example.org", "10.0.0.0/8"), .number("noColor", 1)]
        ),
        // Values.
        (
            "ZIP=01234\nVERSION=1.10\nSHARE=100%\nCITY=Köln 🌱",
            [.text("zip", "01234"), .text("version", "1.10"), .text("share", "100%"), .text("city", "Köln 🌱")]
        ),
        ("RATE=1e-3\nSTEP=+3\nMASK=0b11", [.ratio("rate", 0.001), .number("step", 3), .number("mask", 3)]),
        (
            "PORTS=\"8080, 8081\"\nIDS=[1, 2]\nSTEPS=-1,0,+1",
            [.numbers("ports", 8080, 8081), .numbers("ids", 1, 2), .numbers("steps", -1, 0, 1)]
        ),
        ("TAGS=[]\nLIMITS={}", [.list("tags"), .table("limits", [:])]),
        ("DEBUG=\"true\"\nTRACE='false'\nCACHE=true # on", [.on("debug"), .off("trace"), .on("cache")]),
    ]

    @Test("Lines of .env files are read as people mean them (laws 15, 16)", arguments: lines.indices)
    func line(number: Int) throws {
        let (line, settings) = Self.lines[number]
        let container = Container()
        container.declare(settings.map(\.key))
        try container.apply(DotEnvSource(text: line, name: ".env"))
        expect(thrown { try container.validate() }, equals: "nothing", line)
        for setting in settings { setting.check(container) }
    }
}
