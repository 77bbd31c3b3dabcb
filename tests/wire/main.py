"""Runs the judges of the wire, and prints their tables: see `judge`."""

import os
import sys
from pathlib import Path

import bodies
import faults
import functions
from common import Findings
from description import Description

JUDGES = {"faults": faults.judge, "bodies": bodies.judge, "functions": functions.judge}

program = sys.argv[1]
description = Description(sys.argv[2]) if len(sys.argv) > 2 else None
findings = Findings(Path(__file__).parent / "known.json")
for name in os.environ.get("LLM_DO_JUDGES", ",".join(JUDGES)).split(","):
    JUDGES[name](program, description, findings)
if description is None:
    print("\nno description of OpenAI's API was given: no request was compared with it")
sys.exit(findings.report())
