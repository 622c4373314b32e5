struct CellFacts {}
