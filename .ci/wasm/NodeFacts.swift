struct NodeFacts {
    func free() {}
}
