// `/theme`: each theme is shown while it is selected. Enter stores the choice in the user's configuration, Esc goes back.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { TerminalApp } from "../terminal-app.js";
import type { ThemeControl } from "../theme/apply-theme.js";
import { themeNames } from "../theme/choose-theme.js";
import { ListPicker } from "./list-picker.js";

const described: Readonly<Record<string, string>> = { auto: "by the terminal's background" };

/** `named`: what stands after `/theme`; empty: the picker. */
export async function chooseThemeBy(app: TerminalApp, control: ThemeControl, named: string): Promise<void> {
  const files = await app.access.themeFiles(app.session.themePaths);
  const names = themeNames(files);
  const use = (name: string) => {
    const problem = control.use(name, files);
    app.redraw();
    return problem;
  };
  const store = async (name: string) => {
    const problem = use(name);
    if (problem !== undefined) return app.notice("warning", problem);
    app.notice("info", `Theme ${name}, stored in ${await app.access.saveSetting("theme", name)}.`);
  };
  if (named !== "") {
    if (!names.includes(named))
      throw new GalleyError("usage", `There is no theme ${named}. Known: ${names.join(", ")}.`);
    return store(named);
  }
  const before = control.name;
  const picker = new ListPicker(app.theme, {
    title: "Theme",
    hints: () => ["enter choose · esc back", `stored in ${app.access.settings.path}`, "type to filter"],
    empty: "There are no themes.",
    rows: names.map((name) => ({ value: name, text: name, detail: described[name] ?? "" })),
    isSelected: (name) => name === before,
    screenRows: () => app.screen.terminal.rows,
    onSelected: (name) => void use(name),
    choose(name) {
      app.showDialog(undefined);
      void store(name).catch((error: unknown) => app.notice("error", messageOf(error)));
    },
    cancel() {
      app.showDialog(undefined);
      use(before);
    },
  });
  app.showDialog(picker);
}
