protocol ValueKeyDescriptor: AnyObject, Sendable {
    var distinction: KeyDistinction? { get }
    var naming: PropertyNaming? { get }
}
