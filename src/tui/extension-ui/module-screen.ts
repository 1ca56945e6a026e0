// The screen as extensions see it: what published modules use of it, and nothing that could draw past ours. An overlay is
// shown in place of the editor, as any question.

import type { Component } from "@earendil-works/pi-tui";
import type { QuestionQueue } from "../dialogs/question-queue.js";
import type { TerminalApp } from "../terminal-app.js";
import { HostedComponent } from "./hosted-component.js";

export function moduleScreen(
  app: TerminalApp,
  questions: QuestionQueue,
  log: { warn(text: string): void },
  onFocus: (component: Component) => void = () => {},
) {
  const { screen } = app;
  return {
    terminal: {
      get rows() {
        return screen.terminal.rows;
      },
      get columns() {
        return screen.terminal.columns;
      },
      kittyProtocolActive: screen.terminal.kittyProtocolActive,
    },
    requestRender: () => app.draw(),
    setFocus: (component: Component | null) => component && onFocus(component),
    addInputListener: screen.addInputListener.bind(screen),
    removeInputListener: screen.removeInputListener.bind(screen),
    showOverlay(component: Component) {
      let close: (answer: undefined) => void = () => {};
      const hosted = new HostedComponent(component, { what: "an overlay", log, onFailure: () => close(undefined) });
      void questions.ask<undefined>(
        (end) => {
          close = end;
          return hosted;
        },
        { none: undefined, isCalledUp: true },
      );
      const hide = () => close(undefined);
      return { hide, setHidden: (isHidden: boolean) => isHidden && hide(), isHidden: () => false, focus: () => {} };
    },
    hideOverlay: () => {},
    start: () => screen.start(),
    stop: () => screen.stop(),
  };
}
