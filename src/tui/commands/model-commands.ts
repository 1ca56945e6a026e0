// Commands about the model, how much it thinks, and the settings.

import { GalleyError } from "../../base/errors.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import { openModels, openSettings, openThinking } from "../pickers/choices.js";
import type { TerminalApp } from "../terminal-app.js";
import type { SlashCommands } from "./slash-command.js";

const modelNames = (app: TerminalApp) =>
  app.session.getAvailableModels().map(({ provider, id }) => `${provider}/${id}`);
const levels = (app: TerminalApp) => app.session.getAvailableThinkingLevels();

export const modelCommands: SlashCommands = {
  model: { usage: "[PROVIDER/ID]", help: "choose the model", run: model, values: modelNames },
  thinking: { usage: "[LEVEL]", help: "choose how much it thinks", run: thinking, values: levels },
  settings: { usage: "", help: "the settings", run: async (app) => openSettings(app) },
};

async function model(app: TerminalApp, argument: string): Promise<void> {
  if (argument === "") return openModels(app);
  const found = app.session
    .getAvailableModels()
    .find(({ provider, id }) => argument === `${provider}/${id}` || argument === id);
  if (!found)
    throw new GalleyError("not_found", `No model ${argument} with a key. /model lists those that can be used.`);
  app.session.setModel(found.provider, found.id);
  app.draw();
}

async function thinking(app: TerminalApp, argument: string): Promise<void> {
  if (argument === "") return openThinking(app);
  const known = app.session.getAvailableThinkingLevels();
  if (!known.includes(argument as ThinkingLevel))
    throw new GalleyError(
      "invalid_argument",
      known.length === 0 ? "This model has no thinking levels." : `The levels of this model: ${known.join(", ")}.`,
    );
  app.session.setThinkingLevel(argument as ThinkingLevel);
  app.draw();
}
