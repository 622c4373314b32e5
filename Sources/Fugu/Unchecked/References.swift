extension Array {
    /// Gives all that are there to `body`, in order.
    ///
    /// The list keeps them, so nothing is counted for each, which would cost more than most bodies do.
    @inline(__always)
    func forEachUncounted<Object: Swift.AnyObject>(_ body: (Object) -> Void) where Element == Object? {
        unsafe withUnsafeBufferPointer { objects in
            unsafe objects.withMemoryRebound(to: Unmanaged<Object>?.self) { objects in
                unsafe objects.forEach { unsafe $0?._withUnsafeGuaranteedRef(body) }
            }
        }
    }
}

/// A reference that counts nothing.
///
/// Where one stands it is said who keeps the object.
@safe struct UnmanagedReference<Object: AnyObject & Sendable>: Sendable, Hashable {
    private let reference: Unmanaged<Object>

    init(_ object: Object) { unsafe reference = unsafe .passUnretained(object) }
    fileprivate init(_ reference: Unmanaged<Object>) { unsafe self.reference = unsafe reference }

    /// The object, counted from here on.
    var object: Object { unsafe reference.takeUnretainedValue() }

    /// Uses the object without counting.
    @inline(__always)
    func use<R>(_ body: (Object) -> R) -> R { unsafe reference._withUnsafeGuaranteedRef(body) }

    static func == (left: Self, right: Self) -> Bool { unsafe left.reference.toOpaque() == right.reference.toOpaque() }
    func hash(into hasher: inout Hasher) { unsafe hasher.combine(reference.toOpaque()) }
}

/// A reference to what an object stands under, kept until `release()`, which the object's `deinit` calls.
@safe struct ChainReference<Link: AnyObject & Sendable>: Sendable {
    private let reference: Unmanaged<Link>

    init(_ link: Link) { unsafe reference = unsafe .passRetained(link) }

    /// The object, counted once more.
    var object: Link { unsafe reference.takeUnretainedValue() }

    /// The object for code that keeps the one that stands under it.
    var uncounted: UnmanagedReference<Link> { unsafe UnmanagedReference(reference) }

    /// Uses the object without counting.
    @inline(__always)
    func use<R>(_ body: (Link) -> R) -> R { unsafe reference._withUnsafeGuaranteedRef(body) }

    /// Gives the object to the caller, who lets it go.
    func take() -> Link { unsafe reference.takeRetainedValue() }

    /// Lets the object go, and those that only it and one another kept, one by one: a family may be deeper than a
    /// stack.
    ///
    /// The compiler would do so by itself for a strong reference, but counts twice as often.
    @inline(__always)
    func release(_ next: (Link) -> ChainReference?) {
        var link: Link? = unsafe reference.takeRetainedValue()
        while isKnownUniquelyReferenced(&link) { link = link.flatMap(next)?.object }
    }
}

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

/// Carries a value into garbage.
final class Retained<Value: Sendable>: Sendable {
    private let value: Value
    init(_ value: Value) { self.value = value }
}

/// Whether two errors are one: throwing an error on keeps its box.
func isSame(_ left: any Error, _ right: any Error) -> Bool {
    #if canImport(ObjectiveC)
    return left as AnyObject === right as AnyObject
    #else
    return unsafe unsafeBitCast(left as any Error, to: UInt.self) == unsafeBitCast(right as any Error, to: UInt.self)
    #endif
}
