/// Finds another copy of this module in the process.
///
/// Linked statically into two files of one process, such as a test bundle and the app that hosts it, the module is there twice, and
/// each copy has a shared and a current container: what one of them sets, or a test binds, has no effect on the other.
enum Copies {
    /// The report if there's another copy, or `nil`.
    ///
    /// The runtime looks for a type by its name in all files that are loaded, and gives the first that it finds. Of two copies,
    /// exactly one finds the other.
    ///
    /// Only debug builds ask, since they're where such a mistake is made: the first look takes some 300 microseconds in a process with
    /// Foundation.
    ///
    /// - Complexity: O(*n*), where *n* is the number of types in the process.
    static var report: String? {
        guard let name = _mangledTypeName(Container.self), let other = _typeByName(name), other != Container.self else {
            return nil
        }
        return Messages.twoCopies(path(of: Container.self), path(of: other))
    }

    private static func path(of type: Any.Type) -> String? {
        PlatformImage.path(at: UInt(bitPattern: ObjectIdentifier(type)))
    }
}
