// What the model is told when its reply broke a rule.

import type { CustomMessage } from "../../protocol/messages.js";
import type { StreamRule } from "./rule.js";

/** Hidden from the person, not from the model. One element for each rule. */
export function injectionMessage(
  rules: readonly StreamRule[],
  how: "interrupted" | "noticed",
  timestamp: number,
): CustomMessage {
  return {
    role: "custom",
    customType: "ttsr-injection",
    content: rules.map((rule) => element(rule, how)).join("\n\n"),
    display: false,
    details: { rules: rules.map(({ name }) => name) },
    attribution: "agent",
    timestamp,
  };
}

const sentences = {
  interrupted:
    "Your reply was stopped because it broke the rule below, which is part of your instructions. Begin again and keep to the rule.",
  noticed:
    "Your last reply broke the rule below, which is part of your instructions. Put right what you can and keep to the rule from now on.",
};

function element({ name, path, content }: StreamRule, how: "interrupted" | "noticed"): string {
  // A rule cannot end its own element and speak outside of it.
  const body = content.replace(/<(?=\/system-interrupt)/gi, "&lt;");
  const opening = `<system-interrupt reason="rule_violation" rule="${escapeAttribute(name)}" path="${escapeAttribute(path)}">`;
  return `${opening}\n${sentences[how]}\n\n${body}\n</system-interrupt>`;
}

function escapeAttribute(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
