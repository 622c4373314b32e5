@usableFromInline struct Key: Hashable, Sendable {
    @usableFromInline let raw: UInt

    @usableFromInline init(raw: UInt) { self.raw = raw }

    static var kindMask: UInt { 3 }
    var isValueKey: Bool { false }
}
