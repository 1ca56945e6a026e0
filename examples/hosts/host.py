"""A Python host with a tool of its own and an approval dialog.

The model may look up tickets through the host. What an extension asks is decided by the user at the terminal.
Run: PYTHONPATH=clients/python python3 examples/hosts/host.py "What is ticket 7 about?"
"""

import sys

from galley_rpc import HostTool, RpcClient, RpcError

TICKETS = {7: "The parser drops the last line of a file without a newline.", 8: "Start-up is slow on Windows."}


def look_up(arguments, context):
    context.send_update("Looking it up")
    number = arguments["number"]
    if number not in TICKETS:
        raise LookupError(f"There is no ticket {number}. Known are {sorted(TICKETS)}.")
    return TICKETS[number]


ticket = HostTool(
    name="ticket",
    description="Look up a ticket of this project by its number",
    parameters={"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    execute=look_up,
)


def approve(request, context):
    print(f"\n{request['title']}: {request['message']} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip() == "y"


def show(event):
    update = event["assistantMessageEvent"]
    if update["type"] == "text_delta":
        print(update["delta"], end="", flush=True)


def main():
    client = RpcClient(custom_tools=[ticket])
    client.set_ui_handlers({"confirm": approve})
    client.on("message_update", show)
    client.on("tool_execution_start", lambda event: print(f"[{event['toolName']}] {event['args']}"))
    try:
        with client:
            outcome = client.prompt_and_wait(" ".join(sys.argv[1:]) or "help")
    except RpcError as error:
        sys.exit(f"{error.kind}: {error}")
    print()
    if outcome.status != "completed":
        sys.exit(f"{outcome.status}: {(outcome.error or {}).get('message', '')}")


if __name__ == "__main__":
    main()
