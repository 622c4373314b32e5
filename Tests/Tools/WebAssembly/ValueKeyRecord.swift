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
