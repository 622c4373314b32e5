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
    ///
    /// - `isOfShared`: Whether it's a child or a copy of the shared container. If no test made it for itself, what doesn't know
    ///   its test is warned of reads through it, too.
    func watch(_ container: Container, isOfShared: Bool = false) {
        let isOwn = testCase != nil || test?.isSuite == false
        guard isOwn || isOfShared && test == nil, !Container.isSharedBound else { return }
        let isKept = !isOwn || Globals.areBeingMade
        follow(container, everyAccess: isKept, isForAll: isOfShared && isKept)
    }

    private func follow(_ container: Container, everyAccess: Bool, isForAll: Bool) {
        defer { if everyAccess { container.watchEveryAccess() } }
        container.watch { [self] container, use, key, place in
            switch use {
            case .child(let made?), .copied(let made):
                follow(made, everyAccess: isForAll || Globals.areBeingMade, isForAll: isForAll)
            case .read, .observed:
                if isForAll, TestCase.current == nil, let key {
                    Audience.present().warnOfRead(of: key, through: container, at: place)
                }
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
    /// The runtime calls them at one place, so the stacks of two of them have that in common, inside of what reads both. An
    /// optimized build may merge the two functions, of which the stacks then don't differ. Where the stack isn't known, there are
    /// none.
    private static let frames: Set<UInt> = {
        let outer = zip(first.reversed(), second.reversed()).prefix { $0 == $1 }.count
        return Set(first.dropLast(outer)).intersection(second.dropLast(outer)).subtracting(stack.dropLast(outer))
    }()
    private static let first = stack
    private static let second = stack

    @inline(never) private static var stack: [UInt] { Thread.callStackReturnAddresses.map(\.uintValue) }
}
