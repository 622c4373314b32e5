import Fugu

let container = Container()
print(container.harbor)  // Bergen
