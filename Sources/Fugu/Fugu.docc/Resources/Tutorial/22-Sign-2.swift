import Fugu

@MainActor final class Sign {
    private(set) var text = ""

    func follow(_ container: Container) {
        container.observe(Board.self, while: self) { @MainActor [weak self] board in
            self?.text = board.title
        }
    }
}
