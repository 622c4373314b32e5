@frozen @usableFromInline struct KeyPlace: Sendable {
    @usableFromInline let fileID: StaticString
    @usableFromInline let line: UInt
    @usableFromInline let column: UInt
    @usableFromInline let member: StaticString
    @usableFromInline let typeWord: UInt
}
