# The code runs on the controller: action_plugins/interlude_model.py.
DOCUMENTATION = r"""
module: interlude_model
short_description: Models of a fleet, each byte fetched once
description:
  - C(keep) has a model's files in a folder of the controller, out of the box or through it.
  - C(bring) brings them to the box, which compares each byte and puts them in place.
  - Both go on where an earlier run stopped.
author: The Interlude authors
options:
  name:
    description: Of the catalogue.
    type: str
    required: true
  cache:
    description: A folder of the controller. The model's files lie in a folder of its name there.
    type: path
    required: true
  do:
    description: What to do.
    type: str
    choices: [keep, bring]
    required: true
  source:
    description: Of C(keep), only from a box that has it, or through it from the hub.
    type: str
    choices: [box, hub]
    default: hub
"""
