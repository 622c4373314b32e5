import Fugu

@MainActor final class Sign {
    private(set) var text = ""
}
