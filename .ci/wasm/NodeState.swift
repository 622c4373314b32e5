struct NodeState {
    func free() {}
}
