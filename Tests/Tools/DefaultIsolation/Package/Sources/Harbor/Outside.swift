/// What stands for the network, which no test may reach.
package struct Unreachable: Error {
    package init() {}
}
