@usableFromInline enum KeyDistinction: Sendable {
    case one

    static let firstName: UInt = 1

    static func hash(of id: some Hashable) -> UInt { UInt(bitPattern: id.hashValue) | 2 }
    func isID(_ other: some Hashable) -> Bool { false }
}
