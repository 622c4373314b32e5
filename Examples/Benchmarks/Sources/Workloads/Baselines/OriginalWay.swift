import Fugu

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

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
