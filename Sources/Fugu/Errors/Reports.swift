#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(WinSDK)
import ucrt
#elseif canImport(WASILibc)
import WASILibc
#endif

/// Receives the problems that can't be thrown, and prints them to standard error unless a handler is set.
package final class Reports: Sendable {
    /// A closure stored as a generic value is wrapped once more at each access, until calling it overflows the stack.
    private struct Handler {
        var call: (@Sendable (String) -> Void)?
    }
    private let handler = Locked(Handler())

    func handle(by handler: (@Sendable (String) -> Void)?) {
        // Released outside the lock.
        let former = self.handler.withLock { current in
            defer { current.call = handler }
            return current
        }
        withExtendedLifetime(former) {}
    }

    @inline(never) package func report(_ text: String) {
        if let handler = handler.withLock({ $0.call }) { return handler(text) }
        unsafe Array((text + "\n").utf8).withUnsafeBytes { bytes in
            #if canImport(WinSDK)
            _ = _write(2, bytes.baseAddress, UInt32(bytes.count))
            #else
            _ = unsafe write(2, bytes.baseAddress, bytes.count)
            #endif
        }
    }
}

/// A place in source code.
///
/// A program contains the places that it mentions, so only tests record full paths.
@usableFromInline package struct SourcePlace: Sendable {
    package let fileID: StaticString
    package let filePath: StaticString?
    package let line: UInt
    package let column: Int
    /// The function or the property that the line belongs to, if it's known.
    let member: StaticString?

    @usableFromInline init(_ fileID: StaticString, _ line: UInt, _ member: StaticString? = nil) {
        self.init(fileID: fileID, line: line, member: member)
    }

    package init(
        fileID: StaticString, filePath: StaticString? = nil, line: UInt, column: Int = 1, member: StaticString? = nil
    ) {
        self.fileID = fileID
        self.filePath = filePath
        self.line = line
        self.column = column
        self.member = member
    }
}

extension SourcePlace {
    /// The place, or `nil` if it's in this package, as for `container.randomness`.
    package var outsideLibrary: SourcePlace? {
        let file = fileID.description
        let modules = ["Fugu/", "FuguConfiguration/", "FuguFoundation/", "FuguScopes/", "FuguTesting/"]
        return modules.contains { file.hasPrefix($0) } ? nil : self
    }
}

extension SourcePlace {
    /// The place after the name of the function or property that it belongs to.
    package var descriptionWithMember: String {
        // A macro such as `@Test` puts its arguments into a function with a name that nobody has written.
        guard let member, !"\(member)".hasPrefix("$") else { return description }
        return "\(member) at \(description)"
    }
}

extension SourcePlace: CustomStringConvertible {
    @usableFromInline package var description: String { "\(fileID):\(line)" }
}
