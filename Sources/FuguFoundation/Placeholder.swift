import Fugu
