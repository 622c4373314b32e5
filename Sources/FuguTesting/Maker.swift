import Foundation
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

    /// Notices that another test uses a container that this one made, a child, or a copy.
    ///
    /// What a suite makes, or a test for all of them, or lets the shared container make, isn't its own.
    func watch(_ container: Container) {
        guard testCase != nil || test?.isSuite == false, !Container.isSharedBound else { return }
        follow(container)
    }

    private func follow(_ container: Container) {
        defer { if Globals.areBeingMade { container.watchEveryAccess() } }
        container.watch { [self] use, key, place in
            switch use {
            case .child(let made?), .copied(let made): follow(made)
            default: break
            }
            if let other { report(use, key, at: place(), by: other) }
        }
    }

    /// Fails another test, once for each place; warns, once for each container, where neither test has a container of its own.
    private func report(_ use: WatchedUse, _ key: Key?, at place: SourcePlace?, by other: Audience) {
        let isSame = test?.sourceLocation == Test.current?.sourceLocation
        let text = Messages.usesOther(
            use, key?.name, at: place, of: testCase?.name ?? test?.readableName ?? "", inCase: isSame)
        let fails = testCase != nil || TestCase.current != nil
        guard uses.withLock({ $0.insert("\(other.name ?? "") \(fails ? text : "")").inserted }) else { return }
        if fails { return other.fail(text, at: place) }
        other.warn(text)
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

/// The initialization of global and static properties.
private enum Globals {
    /// Whether this thread initializes one.
    static var areBeingMade: Bool {
        let frames = frames
        return stack.contains { frames.contains($0) }
    }

    /// The addresses to which the functions return that initialize properties.
    ///
    /// The runtime calls them at one place, so the stacks of two of them have that in common. Where the stack isn't known, there
    /// are none.
    private static let frames = Array(
        zip(first, second).drop { $0 == $1 }.drop { $0 != $1 }.prefix { $0 == $1 }.map(\.0))
    private static let first = stack
    private static let second = stack

    @inline(never) private static var stack: [UInt] { Thread.callStackReturnAddresses.map(\.uintValue) }
}
