import Fugu
import FuguTestingStart

/// Finds another copy of this module in the process.
///
/// If the module is linked statically into two files of one process, such as a test bundle and the app that hosts it, each
/// copy has its own shared and current container: what one copy sets, or a test binds in it, has no effect on the other.
enum Copies {
    /// The report if there's another copy, or `nil`.
    ///
    /// The runtime searches all loaded files for a type by its name, and returns the first match, which is that of an app if the
    /// tests that it hosts are loaded later.
    ///
    /// Only debug builds ask, because the mistake is made there, and the first search takes some 300 microseconds in a
    /// process with Foundation.
    ///
    /// - Complexity: O(*n*), where *n* is the number of types in the process.
    static var report: String? {
        guard let name = _mangledTypeName(Container.self), let other = _typeByName(name), other != Container.self else {
            return nil
        }
        return Messages.twoCopies(path(of: Container.self), path(of: other))
    }

    /// Returns the path of the file that a type was loaded from, or `nil` if the platform doesn't know it.
    static func path(of type: Any.Type) -> String? {
        let address = unsafe UnsafeRawPointer(bitPattern: UInt(bitPattern: ObjectIdentifier(type)))
        return unsafe fugu_testing_file(address).map { unsafe String(cString: $0) }
    }
}
