public import Synchronization

/// The words by which readers announce themselves, chosen by their stack, so that threads seldom share a cache line.
@usableFromInline enum Stripes {
    @usableFromInline static let count: UInt = 32
    @usableFromInline static let stride: UInt = 16  // words: 128 bytes

    /// Never freed, and accessed only atomically.
    @safe private struct All: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<Atomic<UInt64>>
    }

    static var shared: UnsafeMutablePointer<Atomic<UInt64>> { unsafe all.pointer }

    private static let all: All = {
        let all = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: Int(count * stride))
        for index in 0..<Int(count * stride) { unsafe (all + index).initialize(to: Atomic(0)) }
        return unsafe All(pointer: all)
    }()

    @inlinable @inline(__always)
    static func claim(_ stripes: UnsafeMutablePointer<Atomic<UInt64>>) -> UnsafeMutablePointer<Atomic<UInt64>> {
        var local: UInt8 = 0
        let address = unsafe withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
        var index = ((address >> 18) &* 0x9E37_79B1) >> 7
        while true {
            let stripe = unsafe stripes + Int((index & (count - 1)) &* stride)
            let value = unsafe stripe.pointee.load(ordering: .relaxed)
            if value & 1 == 0,
                unsafe stripe.pointee.compareExchange(
                    expected: value, desired: value &+ 1, successOrdering: .sequentiallyConsistent,
                    failureOrdering: .relaxed
                ).exchanged
            {
                return unsafe stripe
            }
            index &+= 1
        }
    }

    static let release: @convention(c) (UnsafeMutableRawPointer) -> Void = { address in
        let stripe = unsafe address.assumingMemoryBound(to: Atomic<UInt64>.self)
        unsafe stripe.pointee.store(stripe.pointee.load(ordering: .relaxed) &+ 1, ordering: .releasing)
    }

    /// Returns when every reader that was inside a box at the time of the call has left it.
    static func awaitReaders() {
        let stripes = unsafe shared
        for index in 0..<Int(count) {
            let stripe = unsafe stripes + index &* Int(stride)
            let value = unsafe stripe.pointee.load(ordering: .sequentiallyConsistent)
            guard value & 1 == 1 else { continue }
            var looks = 0
            while unsafe stripe.pointee.load(ordering: .acquiring) == value {
                looks += 1
                // With strict priorities, only a sleep gives the processor to a reader of lower priority.
                if looks > 128 { sleepBriefly() } else if looks > 64 { yieldThread() }
            }
        }
    }
}
