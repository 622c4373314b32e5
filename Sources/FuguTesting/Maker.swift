import Fugu
import Testing

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
