import Fugu

/// Sets the name in the shared container of the copy that this library uses.
@_cdecl("set_name")
public func setName() { Container.shared.containerName = "ours" }

/// Prints whether the name is set in the shared container of the copy that this library uses.
@_cdecl("print_name")
public func printName() { print(Container.shared.containerName == "ours" ? "set" : "the default") }
