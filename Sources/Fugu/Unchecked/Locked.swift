import Synchronization

/// A value with its own lock.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = PlatformLock()
    // The lock excludes other threads, and it can't be taken twice.
    @safe @exclusivity(unchecked) private var value: Value

    package init(_ value: sending Value) { self.value = value }

    deinit { lock.destroy() }

    /// Runs `body` with exclusive access.
    ///
    /// `body` must not call user code.
    ///
    /// To read a collection outside the lock, let `body` return a copy of its elements. If it returns the collection itself, a
    /// later change in place follows the end of those reads only by the reference count of its storage, which the thread
    /// sanitizer doesn't see.
    @discardableResult
    package func withLock<R, E>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        try lock.whileHeld { () throws(E) in try body(&value) }
    }
}

extension PlatformLock {
    /// Runs `body` while the lock is held; nothing else takes or releases a lock.
    @inline(__always)
    fileprivate func whileHeld<R: ~Copyable, E>(_ body: () throws(E) -> R) throws(E) -> R {
        #if FUGU_EXPLORE
        // One thread runs at a time, and no other one while it holds a lock.
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
/// Only the lock makes one, for as long as it's held. Functions that must be called under the lock take one.
package struct LockToken {
    fileprivate init() {}
}

/// A value that the lock of a family protects.
///
/// Its owner frees it.
@safe struct FamilyLocked<Value>: @unchecked Sendable, Equatable {
    private let pointer: UnsafeMutablePointer<Value>

    init(_ value: consuming sending Value) {
        // The platform's alignment fits every type except those of vectors.
        unsafe pointer = PlatformMemory.allocate(MemoryLayout<Value>.size).bindMemory(to: Value.self, capacity: 1)
        unsafe pointer.initialize(to: value)
    }

    subscript(_: LockToken) -> Value {
        // Addressors, because coroutines allocate and copy where they aren't inlined.
        @inline(__always) unsafeAddress { unsafe UnsafePointer(pointer) }
        @inline(__always) nonmutating unsafeMutableAddress { unsafe pointer }
    }

    /// The value without proof that the lock is held.
    ///
    /// Use it only when no other thread can reach the value, when what contains it is itself protected, or for a field that never
    /// changes.
    var unshared: Value {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(pointer) }
        @inline(__always) nonmutating unsafeMutableAddress { unsafe pointer }
    }

    static func == (left: Self, right: Self) -> Bool { unsafe left.pointer == right.pointer }

    /// The address, an even number.
    var word: UInt { unsafe UInt(bitPattern: pointer) }

    /// Releases the value and frees the memory, when no other thread can reach it anymore.
    func free() {
        unsafe pointer.deinitialize(count: 1)
        unsafe PlatformMemory.free(pointer)
    }
}

/// The lock of a family; the family destroys it.
package struct FamilyLock: @unchecked Sendable {
    private let lock = PlatformLock()

    func destroy() { lock.destroy() }

    /// Runs `body`, which must not call user code, while the lock is held.
    @inline(__always)
    package func withLock<R: ~Copyable, E>(_ body: (LockToken) throws(E) -> R) throws(E) -> R {
        try lock.whileHeld { () throws(E) in try body(LockToken()) }
    }
}

#if !canImport(Darwin) && (canImport(Glibc) || canImport(Musl) || canImport(Android))
/// The places where threads sleep that wait for locks: a few serve all locks, so a thread may be woken for another lock and
/// looks again.
///
/// They're never freed.
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
/// It's raised once.
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
