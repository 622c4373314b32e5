// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
#if DEBUG || UNOPTIMIZED
import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var shortWait: PropertyKey<Int> { .init("law25d.wait", defaultValue: 30) }
    fileprivate var longWait: PropertyKey<Int> { .init("law25d.wait", defaultValue: 60) }
    fileprivate var sameWait: PropertyKey<Int> { .init("law25d.wait", defaultValue: 30) }
    fileprivate var portNumber: PropertyKey<Int> { .init("law25d.port", defaultValue: 1) }
    fileprivate var portText: PropertyKey<String> { .init("law25d.port", defaultValue: "x") }
    fileprivate var dotted: PropertyKey<Int> { .init("law25d.base.url", defaultValue: 0) }
    fileprivate var capital: PropertyKey<Int> { .init("law25d.baseUrl", defaultValue: 0) }
    fileprivate var underscored: PropertyKey<Int> { .init("law25d.base_url", defaultValue: 0) }
    fileprivate var narrow: PropertyKey<Int> { .init("law25d.bound", defaultValue: 1, form: .range(1...5)) }
    fileprivate var wide: PropertyKey<Int> { .init("law25d.bound", defaultValue: 1, form: .range(1...9)) }
    fileprivate var split: PropertyKey<[Int]> { .init("law25d.list", defaultValue: [], form: .separated(by: ";")) }
    fileprivate var commas: PropertyKey<[Int]> { .init("law25d.list", defaultValue: []) }
    fileprivate var mergedPair: PropertyKey<Pair?> { .init("law25d.pair", form: .merged) }
    fileprivate var pairSize: PropertyKey<Int> { .init("law25d.pairSize", defaultValue: 0) }
    fileprivate var pairIdle: PropertyKey<String?> { .init("law25d.pair.idle") }
    fileprivate var pairRest: PropertyKey<Int?> { .init("law25d.pair.rest") }
}

private struct Pair: Decodable, Sendable {
    var size: Int
    var idle: Int
    var rest: Int?
}

/// Declarations that disagree are mistakes (law 25).
@Suite struct Law25DeclarationsTests {
    static let cases: [Case<Law25DeclarationsTests>] = [
        Case("One name with two defaults is a mistake, whoever reads first", defaults),
        Case("One name with two types is a mistake, and a value is checked for both", types),
        Case("Two names with one variable and one argument are a mistake", spellings),
        Case("One name with two forms is a mistake", forms),
        Case("A member of a merged table is a name that must agree with others", members),
        Case(
            "A child sees what its parent declares, also after it has declared something itself, and so do copies",
            family),
        Case("Declaring on several threads loses nothing", threads),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law25DeclarationsTests>) async throws {
        try await stated.run(self)
    }

    private let container = Container()

    private var mistakes: [String] { thrown { try container.validate() }.split(separator: "\n").map(String.init) }

    func defaults() throws {
        container.declare(\.shortWait, \.sameWait)
        try container.validate()
        container.declare(\.longWait)
        expect(mistakes.count == 1 && mistakes[0].hasPrefix("law25d.wait: "), "\(mistakes)")
        expect(mistakes[0].contains("30") && mistakes[0].contains("60") && mistakes[0].contains("Law25Declarations"))
    }

    func types() throws {
        container.declare(\.portNumber, \.portText)
        expect(mistakes.count == 1 && mistakes[0].contains("Int") && mistakes[0].contains("String"), "\(mistakes)")
        try container.apply(TOMLSource(text: "law25d.port = 5", name: "t"))
        expect(mistakes.contains("t:1:15: law25d.port: expected String, found integer 5"), "\(mistakes)")
        expect(container.reference().entries.count, equals: 1)
        expect(container.explain().count, equals: 2)
    }

    func spellings() throws {
        container.declare(\.dotted, \.capital, \.underscored)
        expect(mistakes.count, equals: 2, "\(mistakes)")
        for (mistake, name) in zip(mistakes, ["law25d.baseUrl", "law25d.base_url"]) {
            expect(mistake.hasPrefix(name + ": "))
            expect(mistake.contains("law25d.base.url"))
            expect(mistake.contains("LAW25D_BASE_URL"))
            expect(mistake.contains("--law25d-base-url"))
        }
    }

    func forms() throws {
        container.declare(\.narrow, \.wide, \.split, \.commas)
        try #require(mistakes.count == 2)
        expect(mistakes[0].hasPrefix("law25d.bound: has two forms, 1...5 (") && mistakes[0].contains(" and 1...9 ("))
        expect(mistakes[1].contains("words between \";\" (") && mistakes[1].contains(" and any value ("))
    }

    func members() throws {
        container.declare(\.mergedPair, \.pairSize, \.pairIdle, \.pairRest)
        try #require(mistakes.count == 2)
        expect(mistakes[0].hasPrefix("law25d.pairSize: has the same variable and argument as law25d.pair.size, "))
        expect(mistakes[1].hasPrefix("law25d.pair.idle: declared as Int (") && mistakes[1].contains("as String ("))
    }

    func family() throws {
        let child = container.child()
        child.declare(\.shortWait)
        container.declare(\.portNumber, \.shortWait)
        container.declareCheck(of: \.portNumber, "is odd") { $0.portNumber.isMultiple(of: 2) }
        expect(child.explain().map(\.name), equals: ["law25d.port", "law25d.wait"])
        try child.apply(DictionarySource(["law25d.port": 3, "law25d.wiat": 1], name: "d"))
        let told = """
            d: law25d.port: is odd
            d: law25d.wiat: unknown name; did you mean law25d.wait?
            """
        let copies = [
            Container(copying: child), Container(copying: child, Container()), Container(copying: container, child),
        ]
        for container in [child] + copies { expect(thrown { try container.validate() }, equals: told) }
        expect(container.explain().map(\.name), equals: ["law25d.port", "law25d.wait"])
        container.declare(\.dotted)
        expect(child.explain().count == 3 && copies[0].explain().count == 2)
    }

    func threads() async {
        let keys = (0..<200).map { PropertyKey("law25d.many\($0)", defaultValue: 0, isSecret: false) }
        await withTaskGroup(of: Void.self) { [container] group in
            for key in keys { group.addTask { container.declare([key]) } }
        }
        expect(container.explain().count, equals: 200)
    }
}
#endif
