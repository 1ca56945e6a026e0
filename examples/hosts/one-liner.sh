#!/usr/bin/env bash
# A host in one line: asks, shows every frame until the work is done or refused, and ends the agent by closing its stdin.
# Run: examples/hosts/one-liner.sh show README.md
coproc galley --mode rpc; node -p 'JSON.stringify({type:"prompt",message:process.argv[1]})' "$*" >&"${COPROC[1]}"; sed -u '/"type":"agent_settled"\|"success":false/q' <&"${COPROC[0]}"
