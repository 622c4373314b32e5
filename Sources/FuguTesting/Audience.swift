import Foundation
import Fugu
import Testing

/// The test, or the process, that a failure on this thread belongs to.
enum Audience {
    /// A test case that has its own container.
    case testCase(TestCase)
    /// A test of Swift Testing that has none.
    case test(Test)
    /// The test that XCTest runs, which runs one at a time.
    case xctest
    /// Some test of Swift Testing; a thread or a detached task doesn't know which.
    case unknownTest
    /// No test: this process runs none.
    case nobody

    /// Returns the test that runs on this thread, or the one that `maker` remembers.
    static func present(orOf maker: Maker? = nil) -> Audience {
        if let testCase = TestCase.current ?? maker?.testCase { return testCase.audience }
        if let test = Test.current ?? maker?.test { return .test(test) }
        if Process.runsXCTest { return .xctest }
        return Process.runsSwiftTesting ? .unknownTest : .nobody
    }
}

extension Audience {
    /// Whether XCTest runs the tests.
    static var isXCTest: Bool { Process.runsXCTest }

    /// A name that no other test of the process has, or `nil` if none is known.
    var name: String? {
        switch self {
        case .testCase(let testCase): "\(testCase.number)"
        case .test(let test): "\(test.id)"
        case .xctest: XCTestLibrary.presentTest
        case .unknownTest, .nobody: nil
        }
    }

    /// Returns a text with the readable name of the test, or the names of those that are running.
    func naming(_ text: String) -> String {
        switch self {
        case .testCase(let testCase): Messages.inTest(text, testCase.name)
        case .test(let test): Messages.inTest(text, test.readableName)
        case .unknownTest: Messages.ofUnknown(text, TestCase.running.map(\.name))
        // It prints the name of each test that begins.
        case .xctest, .nobody: text
        }
    }

    /// The errors by which the testing library knows tests without a container that a refusal has failed.
    private static let refusals = Locked<[String: any Error]>([:])

    /// Fails the test because a feature was refused, once for each feature and place, so that it can throw what the placeholder throws
    /// without failing again.
    func fail(by refusal: Strictness.Refusal, at place: SourcePlace?) {
        guard isNew(naming(refusal.error.description)) else { return }
        if case .xctest = self {
            _ = fail(by: refusal.error, at: place)
            return
        }
        // Only the test itself could throw the error.
        guard case .test(let test) = self, Test.current?.id == test.id, let name else {
            // Where neither the test nor the place is known, nothing else leads to the code.
            let text = refusal.error.description
            if case .unknownTest = self, place == nil {
                return fail(Messages.withoutPlace(text, refusal.typeRead), at: nil)
            }
            return fail(text, at: place)
        }
        let error = Failure.record(refusal.error, at: test.sourceLocation)
        Self.refusals.withLock { $0[name] = error }
    }

    /// Returns an error that doesn't fail the test, which has failed already, when the test throws it.
    func passing(_ error: some Error) -> any Error {
        switch self {
        case .testCase(let testCase): testCase.pass(error)
        case .test: if let name, let known = Self.refusals.withLock({ $0[name] }) { return known }
        case .xctest: if let ignored = XCTestLibrary.ignoredError { return ignored }
        default: break
        }
        return error
    }

    /// Fails the test, or stops the program if there is none.
    ///
    /// `place`: The place of the failure if the test's own place isn't known.
    func fail(_ text: String, at place: SourcePlace?) {
        switch self {
        case .testCase(let testCase): testCase.record(text)
        case .test(let test):
            let isOwn = Test.current?.id == test.id
            Failure.record(isOwn ? text : Messages.of(text, test.readableName), at: test.sourceLocation)
        case .unknownTest:
            // To guess which one it is could fail another test, or send the reader to it.
            let text = naming(text)
            // Issues that are recorded before the tests begin are lost.
            if Thread.isMainThread, unsafe withUnsafeCurrentTask(body: { unsafe $0 == nil }) { Self.printError(text) }
            Failure.record(text, at: SourceLocation(of: place))
        case .xctest: XCTestLibrary.fail(text, at: place)
        case .nobody: fatalError(place.map { "\($0): \(text)" } ?? text)
        }
    }

    /// Fails the test, and returns an error that doesn't fail it again when the test throws it.
    func fail(by error: some Error, at place: SourcePlace?) -> any Error {
        switch self {
        case .test(let test): return Failure.record(error, at: test.sourceLocation)
        case .xctest: return XCTestLibrary.fail(by: error, at: place)
        default:
            fail("\(error)", at: place)
            return error
        }
    }

    /// The warnings and refusals that were given, each after the name of its test.
    private static let said = Locked<Set<String>>([])

    /// Whether a warning is given, or a failure of a refused feature, for the first time in this test.
    private func isNew(_ warning: String) -> Bool {
        (Failure.recorder?.said ?? Self.said).withLock { $0.insert("\(name ?? "") \(warning)").inserted }
    }

    /// Warns, once for each key, that a test without a container changes the one that other tests have.
    func warnOfChange(_ use: ContainerUse, of key: Key?) {
        switch self {
        case .test, .xctest: warnOnce(Messages.changesShared(use, key?.name, self))
        // That's how the program starts.
        case .testCase, .unknownTest, .nobody: break
        }
    }

    /// Warns, once for each text in a test.
    func warnOnce(_ text: String) { if isNew(text) { warn(text) } }

    /// Warns, which doesn't fail a test.
    func warn(_ text: String) {
        switch self {
        case .testCase(let testCase): Failure.warn(text, at: testCase.sourceLocation)
        case .test(let test): Failure.warn(text, at: test.sourceLocation)
        case .xctest: Self.printError(text)
        case .unknownTest, .nobody: break
        }
    }

    /// Writes to standard error.
    static func printError(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

}

extension Test {
    /// The name that reports show.
    var readableName: String { displayName ?? name }
}

extension SourceLocation {
    /// Creates a location for a place, if it's known.
    init(of place: SourcePlace?) {
        self.init(
            fileID: place.map { "\($0.fileID)" } ?? "unknown/unknown-place", filePath: "\(place?.file ?? "unknown")",
            line: Int(place?.line ?? 1), column: place?.column ?? 1)
    }
}

extension SourcePlace {
    var file: StaticString { filePath ?? fileID }
}

/// The libraries that run the tests of this process.
private enum Process {
    private static let arguments = ProcessInfo.processInfo.arguments
    private static let environment = ProcessInfo.processInfo.environment

    /// Whether XCTest runs the tests, so that a failure on any thread belongs to its current test.
    static let runsXCTest: Bool = {
        #if canImport(Darwin)
        let names = ["XCTestConfigurationFilePath", "XCTestBundlePath", "XCTestSessionIdentifier"]
        return names.contains { environment[$0] != nil } || arguments.first?.hasSuffix("/xctest") == true
        #elseif canImport(XCTest)
        // The test product is a program that runs the tests of either library.
        return arguments.first?.hasSuffix(".xctest") == true && !namesSwiftTesting
        #else
        return false
        #endif
    }()

    /// Whether Swift Testing runs the tests, including the body of an exit test.
    static let runsSwiftTesting = namesSwiftTesting || environment["SWT_EXIT_TEST_ID"] != nil

    private static let namesSwiftTesting = arguments.contains { $0.hasSuffix("swift-testing") }
}

/// The test that created something, which other threads of that test wouldn't know.
final class Maker: Sendable {
    let testCase = TestCase.current
    let test = Test.current
    /// The other tests that used it, each with what was said.
    private let uses = Locked<Set<String>>([])

    /// Whether it's known that a test created it.
    var isKnown: Bool { testCase != nil || test != nil || Audience.isXCTest }
}

extension Maker: UseListener {
    /// What notices that another test uses the root that the present test is making.
    ///
    /// What a suite makes, or a test for all of them, isn't its own, nor is what it makes live.
    static var ofRoot: Maker? {
        let maker = Maker()
        let isOwn = maker.testCase != nil || maker.test?.isSuite == false
        return isOwn && !Container.isSharedBound && Container.current.isStrict ? maker : nil
    }

    /// Fails another test, once for each place; warns, once for each container, where neither test has a container of its own.
    func used(_: Container, _ use: ContainerUse, _ key: Key?, at place: () -> SourcePlace?) {
        guard let other else { return }
        let isSame = test?.sourceLocation == Test.current?.sourceLocation
        let text = Messages.usesOther(
            use, key?.name, at: place(), of: testCase?.name ?? test?.readableName ?? "", inCase: isSame)
        let fails = testCase != nil || TestCase.current != nil
        guard uses.withLock({ $0.insert("\(other.name ?? "") \(fails ? text : "")").inserted }) else { return }
        if fails { other.fail(text, at: nil) } else { other.warn(text) }
    }

    /// The test that runs here if it's known to be another one.
    private var other: Audience? {
        let present = TestCase.current
        if let present, let testCase, !present.isByHand, !testCase.isByHand {
            return present === testCase ? nil : present.audience
        }
        // A test may make several containers by hand.
        guard let test, let other = Test.current, other.sourceLocation != test.sourceLocation else { return nil }
        return .present()
    }
}

/// Notices what tests do with the shared container.
struct SharedUses: UseListener {
    func used(_ container: Container, _ use: ContainerUse, _ key: Key?, at place: () -> SourcePlace?) {
        guard container.isShared else { return }
        Failure.recordKept()
        if let testCase = TestCase.current { return testCase.record(use, of: key, at: place()) }
        switch use {
        case .changed, .registered, .closed: Audience.present().warnOfChange(use, of: key)
        case .read, .observed, .child, .copied: break
        }
    }
}
