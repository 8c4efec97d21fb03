import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

afterEach(cleanup);

// What a page shows in the end is what counts; how long it takes depends on what else the machine does.
configure({ asyncUtilTimeout: 10_000 });

// jsdom has none of these; Mantine asks for the first three, the live stream for the last.
vi.stubGlobal("matchMedia", (query: string) => ({
  matches: false,
  media: query,
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
  addListener: () => undefined,
  removeListener: () => undefined,
  dispatchEvent: () => false,
  onchange: null,
}));

class QuietResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("ResizeObserver", QuietResizeObserver);
// A text area that grows measures itself again when a font has arrived.
Object.defineProperty(document, "fonts", { configurable: true, value: new EventTarget() });

/** A stream that never opens and never fails. */
class QuietEventSource extends EventTarget {
  close(): void {}
}
vi.stubGlobal("EventSource", QuietEventSource);

// It lays nothing out, so there is nothing to scroll.
Element.prototype.scrollIntoView = () => undefined;
