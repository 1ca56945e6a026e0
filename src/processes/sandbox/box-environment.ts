// The environment of a confined command: what leads to services outside is dropped, and the temporary directory is the
// session's.

/** Sockets and servers of the user's session. They are hidden or out of reach, and programs would wait for them. */
const leadsOutside =
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|DOCKER_HOST|DBUS_.*|DISPLAY|WAYLAND_.*|XAUTHORITY|XDG_RUNTIME_DIR|NODE_CHANNEL_.*)$/;

export function boxEnvironment(
  env: Readonly<Record<string, string>>,
  { tempDir, gate }: { readonly tempDir: string; readonly gate: Readonly<Record<string, string>> | undefined },
): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !leadsOutside.test(name));
  return { ...Object.fromEntries(kept), ...gate, TMPDIR: tempDir, TMP: tempDir, TEMP: tempDir };
}
