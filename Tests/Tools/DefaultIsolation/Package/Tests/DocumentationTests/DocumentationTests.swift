import Foundation
import Fugu
import FuguTesting
import Synchronization
import Testing

/// A page, named by its path from the root of the project.
struct Page: Sendable, CustomStringConvertible {
    let description: String

    /// The pages whose blocks stand in `Snippets`.
    static let all = [
        "README.md", "Sources/Fugu/Fugu.docc/Fugu.md",
        "Sources/Fugu/Fugu.docc/Families.md", "Sources/Fugu/Fugu.docc/Servers.md",
        "Sources/Fugu/Fugu.docc/Cookbook.md", "Sources/Fugu/Fugu.docc/ComingFromCurrent.md",
        "Sources/Fugu/Fugu.docc/DefaultIsolation.md", "Sources/Fugu/Fugu.docc/Inspecting.md",
        "Sources/Fugu/Fugu.docc/PublicFeatures.md", "Sources/Fugu/Fugu.docc/Concurrency.md",
        "Sources/Fugu/Fugu.docc/SwiftUIApps.md",
        "Sources/FuguConfiguration/FuguConfiguration.docc/FuguConfiguration.md",
        "Sources/FuguConfiguration/FuguConfiguration.docc/ConfiguringAProgram.md",
        "Sources/FuguTesting/FuguTesting.docc/FuguTesting.md",
        "Sources/FuguFoundation/FuguFoundation.docc/FuguFoundation.md",
        "Sources/FuguFoundationSources/FuguFoundationSources.docc/FuguFoundationSources.md",
    ].map(Page.init)

    /// The pages without blocks of Swift.
    static let prose = [
        "Sources/Fugu/Fugu.docc/OnePage.md", "Sources/Fugu/Fugu.docc/Laws.md",
        "Sources/Fugu/Fugu.docc/Troubleshooting.md",
        "Sources/Fugu/Fugu.docc/Costs.md",
        "Sources/Fugu/Fugu.docc/Versions.md", "Sources/Fugu/Fugu.docc/Changelog.md",
        "Sources/Fugu/Fugu.docc/ComingFromSwiftUIEnvironment.md",
        "Sources/Fugu/Fugu.docc/ComingFromSwiftDependencies.md", "Sources/Fugu/Fugu.docc/ComingFromFactory.md",
        "Sources/Fugu/Fugu.docc/ComingFromSwinject.md",
        "Sources/Fugu/Engine/README.md", "Tests/Tools/README.md", "Examples/QuickStart/README.md",
        "Examples/Tour/README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md",
        "Sources/FuguConfiguration/FuguConfiguration.docc/ComingFromSwiftConfiguration.md",
        "Sources/FuguConfiguration/FuguConfiguration.docc/ConfigurationErrors.md",
        "Sources/FuguInspection/FuguInspection.docc/FuguInspection.md",
        "Sources/FuguLoadStates/FuguLoadStates.docc/FuguLoadStates.md",
        "Sources/FuguScopes/FuguScopes.docc/FuguScopes.md",
    ].map(Page.init)

    static let root = (1...7).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    var url: URL { Self.root.appending(path: description) }

    struct Block {
        let language: String
        let line: Int
        var lines: [String] = []
    }

    /// The text between fences, with its language.
    func blocks() throws -> [Block] {
        var blocks: [Block] = []
        var isOpen = false
        for (index, line) in try SourceText(at: url.path).lines.enumerated() {
            let content = line.drop { $0 == " " }
            if content.hasPrefix("```") {
                isOpen.toggle()
                if isOpen { blocks.append(Block(language: String(content.dropFirst(3)), line: index + 1)) }
            } else if isOpen {
                blocks[blocks.count - 1].lines.append(line)
            }
        }
        #expect(!isOpen, "\(self) ends within a block")
        return blocks
    }
}

@Suite("The documentation") struct DocumentationTests {
    private static func snippets() throws -> [SourceText] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snippets")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
            .map { try SourceText(at: folder.appending(path: $0).path) }
    }

    @Test("Every Swift block stands in a snippet, line by line", arguments: Page.all)
    func blocksCompile(page: Page) throws {
        // A file has all its imports together; a page, those of its block.
        func code(_ lines: [String]) -> [String] { SourceText.normalized(lines).filter { !$0.hasPrefix("import ") } }
        let files = try Self.snippets().map { code($0.lines) }
        let blocks = try page.blocks().filter { $0.language == "swift" }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let lines = code(block.lines)
            #expect(
                lines.isEmpty
                    || files.contains { $0.contains(inARow: lines) },
                "\(page):\(block.line): this block stands in no file of Snippets:\n\(block.lines.joined(separator: "\n"))"
            )
        }
    }

    @Test("Every Swift block that says what it prints is run", arguments: Page.all)
    func blocksRun(page: Page) throws {
        let snippets = try Self.snippets().flatMap { file in
            file.beginningsOfSnippets.map { SourceText.normalized(file.lines(ofClosureBeginningAt: $0)) }
        }
        #expect(!snippets.isEmpty)
        for block in try page.blocks() where block.language == "swift" {
            guard block.lines.contains(where: { SourceText.output(of: $0) != nil }) else { continue }
            let lines = SourceText.normalized(block.lines)
            #expect(snippets.contains { $0.contains(inARow: lines) }, "\(page):\(block.line): nothing runs this block")
        }
    }

    @Test("Every block says its language, so that no Swift block is overlooked", arguments: Page.all + Page.prose)
    func blocksSayTheirLanguage(page: Page) throws {
        for block in try page.blocks() {
            #expect(["swift", "sh", "text"].contains(block.language), "\(page):\(block.line)")
        }
    }

    @Test("Every page is among those that are checked")
    func pages() throws {
        let known = Set((Page.all + Page.prose).map(\.description))
        for module in [
            "Fugu", "FuguConfiguration", "FuguFoundation", "FuguFoundationSources", "FuguLoadStates",
            "FuguScopes", "FuguTesting",
        ] {
            let folder = "Sources/\(module)/\(module).docc"
            for file in try FileManager.default.contentsOfDirectory(atPath: Page.root.appending(path: folder).path)
            where file.hasSuffix(".md") {
                #expect(known.contains("\(folder)/\(file)"))
            }
        }
    }

    @Test("The page for contributors, or the page of checks, names every step of CI")
    func steps() throws {
        let script = try SourceText(at: Page.root.appending(path: ".ci/run").path).lines
        let pages = try [".github/CONTRIBUTING.md", "Tests/Tools/README.md"].map {
            try String(contentsOf: Page.root.appending(path: $0), encoding: .utf8)
        }
        let steps = script.compactMap { $0.firstMatch(of: /^step_([a-z-]+)\(\)/)?.1 }
        #expect(steps.count > 10)
        for step in steps {
            #expect(pages.contains { $0.contains("`\(step)`") }, "no page names the step \(step)")
        }
    }

    @Test("Every step and script that the page of checks names is there")
    func figures() throws {
        let page = try String(
            contentsOf: Page.root.appending(path: "Tests/Tools/README.md"), encoding: .utf8)
        let script = try String(contentsOf: Page.root.appending(path: ".ci/run"), encoding: .utf8)
        let steps = page.matches(of: /[|,] `(?<name>[a-z-]+)`/)
        #expect(steps.count > 10)
        for step in steps { #expect(script.contains("step_\(step.name)()")) }
        for program in page.matches(of: /(?:python3 |`)(?<path>Tests\/[\w\/.]+)/) {
            let file = Page.root.appending(path: String(program.path)).path
            #expect(FileManager.default.fileExists(atPath: file), "\(file) is missing")
        }
    }

    @Test("The README shows each of the two commands alone on its line, the one for the tests first")
    func commands() throws {
        let lines = try SourceText(at: Page.root.appending(path: "README.md").path).lines
        #expect(lines.contains("swift run QuickStart"))
        #expect(lines.first { $0.hasPrefix("swift test") } == "swift test --quiet")
    }
}

@Suite("What the README and QuickStart show") struct ReadmeTests {
    @Test("README: QuickStart has the declarations of both examples, line by line")
    func example() throws {
        let blocks = try Page(description: "README.md").blocks().filter { $0.language == "swift" }
        let program = try SourceText(at: Page.root.appending(path: "Examples/QuickStart/main.swift").path).lines
        #expect(blocks.count > 1)
        for block in blocks.prefix(2) {
            let declarations = block.lines.prefix { !$0.hasPrefix("@Test") }.filter { !$0.hasPrefix("import ") }
            #expect(SourceText.normalized(program).contains(inARow: SourceText.normalized(declarations)))
        }
    }

    @Test("README: it has at most 850 words, and begins with an example of at most 20 lines")
    func length() throws {
        let page = Page(description: "README.md")
        let words = try String(contentsOf: page.url, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        #expect(words.count <= 850)
        #expect(try #require(try page.blocks().first { $0.language == "swift" }).lines.count <= 20)
    }

    @Test("Contributing: the drawing of a family is that of a test of law 11")
    func drawing() throws {
        let blocks = try Page(description: ".github/CONTRIBUTING.md").blocks()
        let drawing = try #require(blocks.first { $0.language == "text" })
        let tests = try SourceText(at: Page.root.appending(path: "Tests/FuguFamilyTests/HomeTests.swift").path)
            .lines
        #expect(SourceText.normalized(tests).contains(inARow: SourceText.normalized(drawing.lines)))
    }

    @Test("README, QuickStart: a test that forgets what reaches outside fails as the pages show", .container)
    func forgotten() throws {
        let failures = Mutex<[String]>([])
        withKnownIssue {
            _ = try? Container.current.orders.text("ada")
        } matching: { issue in
            failures.withLock { $0 += issue.comments.map(\.rawValue) }
            return true
        }
        // The page's declarations stand in a file of the reader.
        let place = #/ at \S+\.swift:\d+/#
        let shown = failures.withLock { $0 }
        #expect(shown.count == 1)
        for path in ["README.md", "Examples/QuickStart/README.md"] {
            let page = try SourceText(at: Page.root.appending(path: path).path).lines
            let text = SourceText.normalized(page).joined(separator: " ").replacing(place, with: "")
            for failure in shown {
                let lines = failure.replacing(place, with: "").split(separator: "\n").map(String.init)
                let isShown = text.contains(SourceText.normalized(lines).joined(separator: " "))
                #expect(isShown, "\(path) doesn't show: \(failure)")
            }
        }
    }
}
