import Synchronization

/// A value with its own lock.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = PlatformLock()
    // The lock excludes others, and it can't be taken twice.
    @safe @exclusivity(unchecked) private var value: Value

    package init(_ value: sending Value) { self.value = value }

    deinit { lock.destroy() }

    /// Runs `body` with exclusive access.
    ///
    /// `body` must not call user code.
    @discardableResult
    package func withLock<R, E>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        try lock.whileHeld { () throws(E) in try body(&value) }
    }
}

extension PlatformLock {
    /// The one place where a lock is taken and given back.
    @inline(__always)
    fileprivate func whileHeld<R: ~Copyable, E>(_ body: () throws(E) -> R) throws(E) -> R {
        #if FUGU_EXPLORE
        // One thread runs at a time, and nobody else while it holds a lock.
        Exploring.willLock()
        defer { Exploring.didUnlock() }
        #else
        lock()
        defer { unlock() }
        #endif
        return try body()
    }
}

/// Proof that the lock of a family is held.
///
/// Only the lock hands one out, for as long as it's held. What must be called under the lock takes one.
struct LockToken {
    fileprivate init() {}
}

/// A value that the lock of a family protects.
///
/// Its owner frees it.
@safe struct FamilyLocked<Value>: @unchecked Sendable, Equatable {
    private let pointer: UnsafeMutablePointer<Value>

    init(_ value: sending Value) {
        // The platform's alignment fits every type except those made for vectors.
        unsafe pointer = PlatformMemory.allocate(MemoryLayout<Value>.size).bindMemory(to: Value.self, capacity: 1)
        unsafe pointer.initialize(to: value)
    }

    subscript(_: LockToken) -> Value {
        // Addressors, since coroutines allocate and copy where they are not inlined.
        @inline(__always) unsafeAddress { unsafe UnsafePointer(pointer) }
        @inline(__always) nonmutating unsafeMutableAddress { unsafe pointer }
    }

    /// The value without proof that the lock is held.
    ///
    /// For when others cannot reach it yet or any more, or where what contains it is itself protected.
    var unshared: Value {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(pointer) }
        @inline(__always) nonmutating unsafeMutableAddress { unsafe pointer }
    }

    static func == (left: Self, right: Self) -> Bool { unsafe left.pointer == right.pointer }

    /// Frees the memory and releases the value, when nobody else can touch it any more.
    func free() {
        unsafe pointer.deinitialize(count: 1)
        unsafe PlatformMemory.free(pointer)
    }
}

/// The lock of a family; the family destroys it.
struct FamilyLock: @unchecked Sendable {
    private let lock = PlatformLock()

    func destroy() { lock.destroy() }

    /// Runs `body`, which must not call user code, while the lock is held.
    @inline(__always)
    func withLock<R: ~Copyable, E>(_ body: (LockToken) throws(E) -> R) throws(E) -> R {
        try lock.whileHeld { () throws(E) in try body(LockToken()) }
    }
}

#if !canImport(Darwin) && (canImport(Glibc) || canImport(Musl) || canImport(Android))
/// A few places serve all locks: who shares one is woken with others and looks again.
///
/// Never freed.
struct ParkingPlaces: @unchecked Sendable {
    static let all = ParkingPlaces()
    private let places = (0..<16).map { _ in PlatformParking() }

    subscript(lock: UnsafeMutablePointer<Atomic<UInt32>>) -> PlatformParking {
        places[Int((UInt(bitPattern: lock) >> 5) & 15)]
    }
}
#endif

/// Lets one thread sleep until another one raises it.
///
/// It is raised once.
final class Signal: @unchecked Sendable {
    private let signal = PlatformSignal()

    deinit { signal.destroy() }

    #if FUGU_EXPLORE
    // One thread runs at a time.
    private var isRaised = false

    func raise() {
        isRaised = true
        signal.raise()
    }
    func wait() {
        Exploring.wait { self.isRaised }
        precondition(isRaised)
        signal.wait()
    }
    #else
    func raise() { signal.raise() }
    func wait() { signal.wait() }
    #endif
}
