import Synchronization

extension Array {
    /// Calls `body` with each object, in order.
    ///
    /// The array keeps the objects, so they aren't retained, which would cost more than most bodies do.
    @inline(__always)
    func forEachUncounted<Object: Swift.AnyObject>(_ body: (Object) -> Void) where Element == Object? {
        unsafe withUnsafeBufferPointer { objects in
            unsafe objects.withMemoryRebound(to: Unmanaged<Object>?.self) { objects in
                unsafe objects.forEach { unsafe $0?._withUnsafeGuaranteedRef(body) }
            }
        }
    }
}

/// A reference that doesn't retain its object.
///
/// Each declaration of one says what keeps the object.
@safe package struct UnmanagedReference<Object: AnyObject & Sendable>: Sendable, Hashable {
    private let reference: Unmanaged<Object>

    init(_ object: Object) { unsafe reference = unsafe .passUnretained(object) }
    fileprivate init(_ reference: Unmanaged<Object>) { unsafe self.reference = unsafe reference }

    /// The object, retained for the caller.
    package var object: Object { unsafe reference.takeUnretainedValue() }

    /// Calls `body` with the object, without retaining it.
    @inline(__always)
    func use<R>(_ body: (Object) -> R) -> R { unsafe reference._withUnsafeGuaranteedRef(body) }

    package static func == (left: Self, right: Self) -> Bool {
        unsafe left.reference.toOpaque() == right.reference.toOpaque()
    }
    package func hash(into hasher: inout Hasher) { unsafe hasher.combine(reference.toOpaque()) }
}

/// A strong reference to the next object in a chain, kept until `release()`, which the holder's `deinit` calls.
@safe struct ChainReference<Object: AnyObject & Sendable>: Sendable {
    private let reference: Unmanaged<Object>

    init(_ object: Object) { unsafe reference = unsafe .passRetained(object) }

    /// The object, retained for the caller.
    var object: Object { unsafe reference.takeUnretainedValue() }

    /// The object, not retained, for code that keeps the holder.
    var uncounted: UnmanagedReference<Object> { unsafe UnmanagedReference(reference) }

    /// Releases the object, and the rest of the chain as far as nothing else keeps it, one by one: a family may be deeper
    /// than a stack.
    ///
    /// A strong property would release itself, but count twice as often.
    @inline(__always)
    func release(_ next: (Object) -> ChainReference?) {
        var object: Object? = unsafe reference.takeRetainedValue()
        while isKnownUniquelyReferenced(&object) { object = object.flatMap(next)?.object }
    }
}

/// A reference to an object that is made on first use, and then stays.
///
/// That of the standard library looks up its own type whenever it ends.
@safe struct LazyReference<Object: AnyObject & Sendable>: ~Copyable, @unchecked Sendable {
    /// The address of the object, which this retains, or zero.
    private let word = Atomic<UInt>(0)

    /// The object, if it was made.
    var object: Object? {
        unsafe UnsafeRawPointer(bitPattern: word.load(ordering: .acquiring)).map {
            unsafe Unmanaged<Object>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Returns the object, making it if nobody has.
    func orMade(_ make: @autoclosure () -> Object) -> Object {
        if let object { return object }
        let made = unsafe Unmanaged.passRetained(make())
        let address = unsafe UInt(bitPattern: made.toOpaque())
        if word.compareExchange(expected: 0, desired: address, ordering: .acquiringAndReleasing).exchanged {
            return unsafe made.takeUnretainedValue()
        }
        unsafe made.release()
        return object!
    }

    deinit {
        guard let address = unsafe UnsafeRawPointer(bitPattern: word.load(ordering: .acquiring)) else { return }
        unsafe Unmanaged<Object>.fromOpaque(address).release()
    }
}

/// An object that holds a value, so that it can be added to garbage.
final class Retained<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

/// Returns whether two errors are the same one: rethrowing an error keeps its box.
func isSame(_ left: any Error, _ right: any Error) -> Bool {
    #if canImport(ObjectiveC)
    return left as AnyObject === right as AnyObject
    #else
    return unsafe unsafeBitCast(left as any Error, to: UInt.self) == unsafeBitCast(right as any Error, to: UInt.self)
    #endif
}
