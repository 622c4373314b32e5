#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
import Fugu
import ServiceContextModule
import Synchronization

extension Greeter: OriginalFeature {
    static func load(in container: OriginalContainer) -> Greeter {
        let object = Number(container[Timeout.self])
        return Greeter(number: object.value) { object.value }
    }
}

extension Counter: OriginalFeature {
    static func load(in container: OriginalContainer) -> Number { Number(container[Timeout.self]) }
}

/// The chain of 40 in the manner of the original library.
protocol OriginalLink: Link, OriginalFeature where Next: OriginalFeature {}

extension OriginalLink {
    static func load(in container: OriginalContainer) -> Int { container[Next.self] + 1 }
}

extension Link01: OriginalLink {}
extension Link02: OriginalLink {}
extension Link03: OriginalLink {}
extension Link04: OriginalLink {}
extension Link05: OriginalLink {}
extension Link06: OriginalLink {}
extension Link07: OriginalLink {}
extension Link08: OriginalLink {}
extension Link09: OriginalLink {}
extension Link10: OriginalLink {}
extension Link11: OriginalLink {}
extension Link12: OriginalLink {}
extension Link13: OriginalLink {}
extension Link14: OriginalLink {}
extension Link15: OriginalLink {}
extension Link16: OriginalLink {}
extension Link17: OriginalLink {}
extension Link18: OriginalLink {}
extension Link19: OriginalLink {}
extension Link20: OriginalLink {}
extension Link21: OriginalLink {}
extension Link22: OriginalLink {}
extension Link23: OriginalLink {}
extension Link24: OriginalLink {}
extension Link25: OriginalLink {}
extension Link26: OriginalLink {}
extension Link27: OriginalLink {}
extension Link28: OriginalLink {}
extension Link29: OriginalLink {}
extension Link30: OriginalLink {}
extension Link31: OriginalLink {}
extension Link32: OriginalLink {}
extension Link33: OriginalLink {}
extension Link34: OriginalLink {}
extension Link35: OriginalLink {}
extension Link36: OriginalLink {}
extension Link37: OriginalLink {}
extension Link38: OriginalLink {}
extension Link39: OriginalLink {}

extension Link40: OriginalFeature {
    static func load(in container: OriginalContainer) -> Int { container[Timeout.self] }
}

/// The original library's approach, written again for comparison: a recursive lock around a dictionary of `Any`, a
/// cast at every read, and loads and observers under the lock.
final class OriginalContainer {
    private let lock = RecursiveLock()
    private var values: [ObjectIdentifier: Any] = [:]
    private var observers: [ObjectIdentifier: [(Any) -> Void]] = [:]

    subscript<P: Property>(property: P.Type) -> P.Value {
        get {
            lock.withLock {
                if let value = values[ObjectIdentifier(property)] { return value as! P.Value }
                let value = P.defaultValue
                values[ObjectIdentifier(property)] = value
                return value
            }
        }
        set {
            lock.withLock {
                values[ObjectIdentifier(property)] = newValue
                for observer in observers[ObjectIdentifier(property)] ?? [] { observer(newValue) }
            }
        }
    }

    subscript<F: OriginalFeature>(feature: F.Type) -> F.Instance {
        lock.withLock {
            if let value = values[ObjectIdentifier(feature)] { return value as! F.Instance }
            let value = F.load(in: self)
            values[ObjectIdentifier(feature)] = value
            return value
        }
    }

    func observe<P: Property>(_ property: P.Type, observer: @escaping (P.Value) -> Void) {
        lock.withLock {
            observers[ObjectIdentifier(property), default: []].append { observer($0 as! P.Value) }
        }
    }
}

/// A feature of the original library.
protocol OriginalFeature {
    associatedtype Instance
    static func load(in container: OriginalContainer) -> Instance
}

/// The platform's recursive lock, at the fixed address that it requires.
final class RecursiveLock {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<R>(_ body: () throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}

/// A handwritten solution: a `Mutex` around a dictionary of boxes by metatype.
///
/// Casting a class is cheaper than casting from `Any`.
final class MutexDictionary: Sendable {
    private class AnyBox {}
    private final class Box<Value>: AnyBox {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private let boxes = Mutex<[ObjectIdentifier: AnyBox]>([:])

    subscript<P: Property>(property: P.Type) -> P.Value {
        get {
            boxes.withLock { boxes in
                if let box = boxes[ObjectIdentifier(property)] { return (box as! Box<P.Value>).value }
                let value = P.defaultValue
                boxes[ObjectIdentifier(property)] = Box(value)
                return value
            }
        }
        set { boxes.withLock { $0[ObjectIdentifier(property)] = Box(newValue) } }
    }
}

/// The keys of swift-service-context, a value without a lock that callers pass along.
enum TimeoutContextKey: ServiceContextKey {
    typealias Value = Int
}

enum NumberContextKey: ServiceContextKey {
    typealias Value = Number
}

/// The minimum for reading an object: one retain and one release.
final class BareReference: Sendable {
    private let number: Number

    init(_ number: Number) {
        self.number = number
    }

    /// Returns the stored object, retained for the caller.
    ///
    /// It's behind a call, because otherwise the retain and the release would cancel each other out.
    @inline(never) @_optimize(none)
    func retained() -> Number { number }
}

/// The minimum for reading a number: a `let` behind a call, so that the read isn't moved out of the loop.
final class PlainLet: Sendable {
    private let value: Int

    init(_ value: Int) {
        self.value = value
    }

    @inline(never) @_optimize(none)
    func read() -> Int { value }
}
