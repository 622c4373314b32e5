// Stands in for what the unchecked files use of the rest of the core and of the concurrency library.

@usableFromInline struct Key: Hashable, Sendable {
    @usableFromInline let raw: UInt

    @usableFromInline init(raw: UInt) { self.raw = raw }

    static var kindMask: UInt { 3 }
    var isValueKey: Bool { false }
}

@usableFromInline enum KeyDistinction: Sendable {
    case one

    static let firstName: UInt = 1

    static func hash(of id: some Hashable) -> UInt { UInt(bitPattern: id.hashValue) | 2 }
    func isID(_ other: some Hashable) -> Bool { false }
}

@frozen @usableFromInline struct KeyPlace: Sendable {
    @usableFromInline let fileID: StaticString
    @usableFromInline let line: UInt
    @usableFromInline let column: UInt
    @usableFromInline let member: StaticString
    @usableFromInline let typeWord: UInt
}

struct NodeState {}

typealias Place = FamilyLocked<PlaceState>

struct PlaceState {
    var nextInGarbage: Place?
}

struct PropertyNaming: Sendable {}

protocol ValueKeyDescriptor: AnyObject, Sendable {
    var distinction: KeyDistinction? { get }
    var naming: PropertyNaming? { get }
}

final class ValueKeyRecord: Sendable {
    let raw: UInt
    let descriptor: any ValueKeyDescriptor
    let name: String?

    init(raw: UInt, descriptor: any ValueKeyDescriptor, name: String?) {
        self.raw = raw
        self.descriptor = descriptor
        self.name = name
    }
}

@unsafe struct UnsafeCurrentTask { private let address: UInt }

/// The toolchain has no concurrency for this target.
@unsafe func withUnsafeCurrentTask<R>(_ body: (UnsafeCurrentTask?) -> R) -> R { body(nil) }
