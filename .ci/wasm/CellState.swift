struct CellState {}
