struct NodeState {}
