import Fugu
import ServiceContextModule
import Synchronization

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
