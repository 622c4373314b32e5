/// A weak reference that can be copied under a lock.
///
/// Make the object strong outside every lock, because releasing it may end it.
struct WeakReference<Object: AnyObject & Sendable>: Sendable, Equatable {
    private final class Holder: Sendable {
        weak let object: Object?
        init(_ object: Object?) { self.object = object }
    }
    private let holder: Holder

    init(_ object: Object?) { holder = Holder(object) }

    /// The object, if it still exists.
    ///
    /// Ask outside every lock.
    var object: Object? { holder.object }

    /// Whether this is a copy of the other one.
    static func == (left: Self, right: Self) -> Bool { left.holder === right.holder }
}
