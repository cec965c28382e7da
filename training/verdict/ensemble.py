"""An ensemble of networks, one file: `python -m training.verdict.ensemble OUT.onnx FIRST LATER …`.

In: weights of several training runs, each with its temperature in a JSON file of the same name.
Out: an ONNX file with 16 bit weights, whose log odds are the mean of theirs, since their errors are
partly independent (L. Hansen and P. Salamon, 1990). Enrolment adapts the first one's embedding.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from training.verdict.net import Arrays, export


def cooled(weights: Path) -> Arrays:
    """The weights, with the output layer divided by their temperature."""
    temperature = json.loads(weights.with_suffix(".json").read_text())["temperature"]
    arrays: Arrays = dict(np.load(weights))
    for name in ("answer.weight", "answer.bias"):
        arrays[name] = (arrays[name] / temperature).astype(np.float32)
    return arrays


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("weights", type=Path, nargs="+")
    args = parser.parse_args()
    export([cooled(weights) for weights in args.weights], 1.0, args.out, half=True)


if __name__ == "__main__":
    main()
