/// The reasons for errors in property lists.
enum Messages {
    static let notADictionary = "the top level of a property list must be a dictionary"
    static let notAPropertyList = "not an XML or binary property list"
    static let dateOutOfRange = "the date is outside the years 0 to 9999"
    static let unknownType = "the value has a type that property lists don't support"
    static let integerOutOfRange = "an integer of a property list must be in the range \(Int64.min)...\(UInt64.max)"
}
