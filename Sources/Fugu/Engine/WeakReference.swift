/// A reference that keeps nothing alive and can be copied under a lock.
///
/// The object is made strong outside every lock, since letting it go may end it.
struct WeakReference<Object: AnyObject & Sendable>: Sendable, Equatable {
    private final class Holder: Sendable {
        weak let object: Object?
        init(_ object: Object?) { self.object = object }
    }
    private let holder: Holder

    init(_ object: Object?) { holder = Holder(object) }

    /// The object, if it still exists; ask outside every lock.
    var object: Object? { holder.object }

    /// Whether this is a copy of the other one.
    static func == (left: Self, right: Self) -> Bool { left.holder === right.holder }
}
