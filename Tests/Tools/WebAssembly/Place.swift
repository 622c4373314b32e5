typealias Place = FamilyLocked<PlaceState>

struct PlaceState {
    var nextInGarbage: Place?
}
