/// A box of any type.
@_fixed_layout @usableFromInline class AnyBox: @unchecked Sendable {
    @inlinable init() {}
}

/// Holds a value that doesn't fit a word.
///
/// Only `Payload.init` makes one, from a sendable value.
@_fixed_layout @usableFromInline final class Box<Value>: AnyBox, @unchecked Sendable {
    @usableFromInline let value: Value
    @inlinable init(_ value: Value) { self.value = value }
}

/// A value of any type on its way through the engine, which knows no types.
@frozen @usableFromInline package struct Payload: Sendable {
    @usableFromInline let bits: UInt64
    @usableFromInline let box: AnyBox?

    /// Whether `Value` is kept as the bits of a word.
    @inlinable @inline(__always)
    static func isWord<Value>(_: Value.Type) -> Bool { _isPOD(Value.self) && MemoryLayout<Value>.size <= 8 }

    @inlinable @inline(__always)
    package init<Value: Sendable>(_ value: Value) {
        if Self.isWord(Value.self) {
            bits = Self.pack(value)
            box = nil
        } else {
            bits = 0
            box = Box(value)
        }
    }

    // Depends on the size, because a copy through memory costs more than the whole write.
    @inlinable @inline(__always)
    static func pack<Value>(_ value: Value) -> UInt64 {
        switch MemoryLayout<Value>.size {
        case 8: return unsafe unsafeBitCast(value, to: UInt64.self)
        case 4: return unsafe UInt64(unsafeBitCast(value, to: UInt32.self))
        case 2: return unsafe UInt64(unsafeBitCast(value, to: UInt16.self))
        case 1: return unsafe UInt64(unsafeBitCast(value, to: UInt8.self))
        default:
            var bits: UInt64 = 0
            unsafe withUnsafeMutableBytes(of: &bits) { unsafe $0.storeBytes(of: value, as: Value.self) }
            return bits
        }
    }

    init(word: UInt64, isBoxed: Bool) {
        guard isBoxed else {
            bits = word
            box = nil
            return
        }
        bits = 0
        box = unsafe Unmanaged<AnyBox>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(word))!).takeUnretainedValue()
    }

    /// Whether the payloads are the same object or the same bits, rather than equal values.
    func isIdentical(to other: Payload) -> Bool { bits == other.bits && box === other.box }

    /// Returns the value by an unchecked cast; see 5 at the top of `Storage.swift`.
    @inlinable
    package func value<Value>(as _: Value.Type) -> Value {
        guard let box else {
            return StorageReference.unpack(bits, as: Value.self)
        }
        return unsafe unsafeDowncast(box, to: Box<Value>.self).value
    }
}

extension Payload {
    /// The value if it's a string.
    package var string: String? {
        if box is Box<String> { return value(as: String.self) }
        return box is Box<String?> ? value(as: String?.self) : nil
    }
}
