// `/theme`: each theme is shown while it is selected. Enter stores the choice in the user's configuration, Esc goes back.

import { SelectList } from "@earendil-works/pi-tui";
import { GalleyError } from "../../base/errors.js";
import type { TerminalApp } from "../terminal-app.js";
import type { ThemeControl } from "../theme/apply-theme.js";
import { themeNames } from "../theme/choose-theme.js";
import { selectListTheme } from "../theme/component-themes.js";

const maxVisible = 8;
const described: Readonly<Record<string, string>> = { auto: "by the terminal's background" };

/** `named`: what stands after `/theme`; empty: the picker. */
export async function chooseThemeBy(app: TerminalApp, control: ThemeControl, named: string): Promise<void> {
  const files = await app.access.themeFiles();
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
  const items = names.map((name) => ({ value: name, label: name, description: described[name] ?? "" }));
  const list = new SelectList(items, maxVisible, selectListTheme(app.theme));
  list.setSelectedIndex(Math.max(0, names.indexOf(before)));
  list.onSelectionChange = ({ value }) => void use(value);
  list.onCancel = () => {
    app.showDialog(undefined);
    use(before);
  };
  list.onSelect = ({ value }) => {
    app.showDialog(undefined);
    void store(value).catch((error: unknown) => app.notice("error", String(error)));
  };
  app.showDialog(list);
}
