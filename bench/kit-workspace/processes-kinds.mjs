// Commands that do not want to die, each in its own way. All say "ready" once everybody is there. TAG is in the
// environment; where that is emptied it is on the command line.

export const kinds = {
  foreground: () => "echo ready; sleep 300",
  background: () => "sleep 300 & sleep 300 & echo ready; wait",
  leftBehind: () => "sleep 300 >/dev/null 2>&1 & echo ready",
  setsid: () => "setsid sleep 300 & echo ready; wait",
  setsidLeftBehind: () => "setsid sleep 300 >/dev/null 2>&1 & echo ready",
  doubleFork: () => "(setsid sh -c 'sleep 300 & sleep 300 &' &); echo ready; sleep 300",
  nohup: () => "nohup sleep 300 >/dev/null 2>&1 & echo ready",
  ignoresTerm: () => "trap '' TERM HUP INT; echo ready; while :; do sleep 1; done",
  emptied: (tag) => `env -i sh -c 'sleep 300; : ${tag}' & echo ready; wait`,
  emptiedLeader: (tag) => `echo ready; exec env -i sh -c 'sleep 300; : ${tag}'`,
  emptiedElsewhere: (tag) => `setsid sh -c "env -i sh -c 'sleep 300; : ${tag}' & wait" & echo ready; wait`,
  pipeline: () => "echo ready; yes | cat | sleep 300",
};

/** What a stop has to deal with: these also hold the pipes, or ignore TERM, or both. */
export const stubbornKinds = {
  ignoresTerm: kinds.ignoresTerm,
  setsid: kinds.setsid,
  doubleFork: kinds.doubleFork,
  emptied: kinds.emptied,
  emptiedLeader: kinds.emptiedLeader,
  emptiedElsewhere: kinds.emptiedElsewhere,
  pipeline: kinds.pipeline,
  ignoresTermElsewhere: () => "setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & echo ready; wait",
  childIgnoresTerm: () => "sh -c 'trap \"\" TERM; while :; do sleep 1; done' & echo ready; wait",
  chatty: () => "trap '' TERM; echo ready; while :; do echo more; done",
};
