typealias Place = FamilyLocked<PlaceState>

struct PlaceState {}
