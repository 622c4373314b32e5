import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

private let first = PropertyKey("faults.first", defaultValue: -1)
private let second = PropertyKey("faults.second", defaultValue: -1)

@Suite("What happens to files (law 25)", .timeLimit(.minutes(5))) struct FileFaultTests {
    private let path = NSTemporaryDirectory() + "fugu-\(UUID()).toml"

    private static func text(_ number: Int) -> String { "[faults]\nfirst = \(number)\nsecond = \(number)\n" }

    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// A container with the file applied and both keys read.
    private func container(_ number: Int) throws -> Container {
        try write(Self.text(number))
        let container = Container()
        try container.apply(TOMLSource(path: path))
        expect(container[first], equals: number)
        expect(container[second], equals: number)
        return container
    }

    @Test("A file that vanishes, becomes a folder or a dead link fails the reload, which changes nothing (law 25)")
    func becomesSomethingElse() throws {
        let container = try container(1)
        defer { remove() }
        let faults: [(make: () throws -> Void, message: String)] = [
            ({}, "the file doesn't exist"),
            (
                { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) },
                "it's a directory"
            ),
            (
                { try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".no") },
                "the file doesn't exist"
            ),
        ]
        for fault in faults {
            remove()
            try fault.make()
            expect(thrown { try container.reload() }, equals: "\(path): can't be read: \(fault.message)")
            expect(container[first], equals: 1)
            expect(container[second], equals: 1)
        }
        remove()
        try write(Self.text(2))
        try container.reload()
        expect(container[first], equals: 2)
        expect(container[second], equals: 2)
    }

    @Test("A file that shrinks to a part that is no document fails the reload, which changes nothing (law 25)")
    func shrinks() throws {
        let container = try container(1)
        defer { remove() }
        let whole = Self.text(2)
        for length in whole.indices {
            try write(String(whole[..<length]))
            let before = [container[first], container[second]]
            let message = thrown { try container.reload() }
            let now = [container[first], container[second]]
            // A part of a document can be a document: what it leaves out has its default.
            expect(message == "nothing" ? [[-1, -1], [2, -1], [2, 2]].contains(now) : now == before, "\(message)")
        }
        try write(whole)
        try container.reload()
        expect(container[first], equals: 2)
        expect(container[second], equals: 2)
    }

    @Test("A file that may no longer be read fails the reload, which changes nothing (law 25)")
    func losesPermission() async throws {
        // As nobody, in a process of its own: nothing is forbidden to the superuser.
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let path = NSTemporaryDirectory() + "fugu-\(UUID()).toml"
            if getuid() == 0 { precondition(setgid(65_534) == 0 && setuid(65_534) == 0) }
            let container = Container()
            try Data(FileFaultTests.text(1).utf8).write(to: URL(fileURLWithPath: path))
            defer { unlink(path) }
            try container.apply(TOMLSource(path: path))
            precondition(container[first] == 1)
            precondition(chmod(path, 0) == 0)
            let message = thrown { try container.reload() }
            precondition(message == "\(path): can't be read: permission denied", message)
            precondition(container[first] == 1 && container[second] == 1)
            chmod(path, 0o600)
            try container.reload()
        }
        if let result, let text = String(validating: result.standardErrorContent, as: UTF8.self), !text.isEmpty {
            print(text)
        }
    }

    @Test("A file that is replaced in the middle of a reload is read whole, as it was or as it is (law 25)")
    func replacedMeanwhile() throws {
        let container = try container(0)
        defer { remove() }
        let numbers = Locked(0)
        // Applied later, so that one of the two is read after the file has changed.
        let meddling = ChangingSource([:]) {
            let next = numbers.withLock { number in
                number += 1
                return number
            }
            try? write(Self.text(next))
        }
        try container.apply(meddling)
        for _ in 0..<50 {
            try container.reload()
            let present = numbers.withLock { $0 }
            expect(container[first], equals: container[second])
            expect([present - 1, present].contains(container[first]))
        }
        let isDone = Locked(false)
        let writer = startThread {
            var number = 1_000
            while !isDone.withLock({ $0 }) {
                number += 1
                try? write(Self.text(number))
            }
        }
        for _ in 0..<50 {
            try container.reload()
            expect(container[first], equals: container[second])
        }
        isDone.withLock { $0 = true }
        writer.wait()
    }
}
