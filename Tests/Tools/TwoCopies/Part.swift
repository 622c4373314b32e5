import Fugu

/// Sets the timestamp in the shared container of the copy that this library uses.
@_cdecl("set_timestamp")
public func setTimestamp() { Container.shared.timestamp = .constant(1) }

/// Prints whether the timestamp is set in the shared container of the copy that this library uses.
@_cdecl("print_timestamp")
public func printTimestamp() { print(Container.shared.timestamp.now == 1 ? "set" : "the default") }
