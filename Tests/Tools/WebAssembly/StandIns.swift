// Stands in for what the unchecked files use of the rest of the core and of the concurrency library.

struct NodeState {}

typealias Place = FamilyLocked<PlaceState>

struct PlaceState {
    var nextInGarbage: Place?
}

final class ValueKeyRecord: Sendable {
    let raw: UInt
    let descriptor: any AnyObject & Sendable
    let name: String?

    init(raw: UInt, descriptor: any AnyObject & Sendable, name: String?) {
        self.raw = raw
        self.descriptor = descriptor
        self.name = name
    }
}

enum Task<Success, Failure> {}

@unsafe struct UnsafeCurrentTask {
    private let address: UInt
    func cancel() {}
}

/// The toolchain has no concurrency for this target.
@unsafe func withUnsafeCurrentTask<R>(_ body: (UnsafeCurrentTask?) -> R) -> R { body(nil) }
