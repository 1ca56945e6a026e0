#!/usr/bin/env bash
# A host in one line: asks, shows every frame until the work is done, and ends the agent by closing its stdin.
# Run: examples/hosts/one-liner.sh "show README.md"   (behind it, for example: | jq -c .type)
coproc galley --mode rpc; jq -nc --arg message "$*" '{type: "prompt", $message}' >&"${COPROC[1]}"; sed -u '/"type":"agent_settled"/q' <&"${COPROC[0]}"
