import { act, fireEvent, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { IncidentSummary } from "@/lib/api/types";
import { useKeys } from "@/lib/keys";
import { CATALOGUE } from "@/testing/catalogue";
import { renderPage } from "@/testing/render";
import { IncidentTable } from "./IncidentTable";
import { listKeys } from "./listKeys";
import { useSelection } from "./useSelection";

const COUNT = 15_000;
const ROW_PX = 49;
const ROWS: IncidentSummary[] = Array.from({ length: COUNT }, (_, i) => ({
  id: `i${i}`,
  host: `host${i}`,
  pci: "0000:3b:00.0",
  rack: "r1",
  symptom: "S1",
  symptoms: ["S1"],
  state: "open",
  severity: "warning",
  blast_radius: "flows",
  title: `Incident ${i}`,
  summary: "",
  opened_at: "2026-11-21T03:00:00Z",
  updated_at: "2026-11-21T03:00:00Z",
  acknowledged_by: null,
  acknowledged_at: null,
  resolved_by: null,
  resolved_at: null,
  reopened: 0,
  active: true,
  cleared_at: null,
  cause: "C1",
  top_cause: "C1",
  scope: "rnic",
  subject: `host${i}`,
  hosts: [`host${i}`],
  rnics: 1,
  model: "CX-6",
  fw_ver: null,
  assignee: null,
  external_refs: [],
  suppressed_by: null,
  inhibited_by: null,
  merged_into: null,
  version: 1,
  seq: i,
}));
const ITEMS = ROWS.map((incident) => ({ kind: "row" as const, incident }));
const SHOWN = ROWS.map((row) => row.id);
const onNearEnd = vi.fn();
const noop = () => undefined;

function List() {
  const selection = useSelection(SHOWN);
  const [moved, setMoved] = useState<{ id: string } | null>(null);
  useKeys(
    listKeys({
      selection,
      onMove: (id) => setMoved({ id }),
      onAct: noop,
      onOpen: noop,
      onPeek: noop,
      onUnpeek: () => false,
      onSilence: noop,
      onFresh: noop,
      onUndo: noop,
    }),
  );
  return (
    <main>
      <IncidentTable
        items={ITEMS}
        filters={{}}
        selection={selection}
        total={COUNT}
        moved={moved}
        onSort={noop}
        onNearEnd={onNearEnd}
        onOpenGroup={noop}
        onMoreOfGroup={noop}
      />
    </main>
  );
}

function show() {
  renderPage(<List />);
  return screen.getByLabelText("Incidents");
}

beforeEach(() => {
  onNearEnd.mockClear();
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json(CATALOGUE));
  // What jsdom does not measure: a window of eight rows.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(8 * ROW_PX);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(ROW_PX);
  vi.spyOn(HTMLTableSectionElement.prototype, "getBoundingClientRect").mockImplementation(function (this: HTMLElement) {
    return { top: -(this.closest("main")?.scrollTop ?? 0) } as DOMRect;
  });
  HTMLElement.prototype.scrollIntoView = noop;
});
afterEach(() => vi.restoreAllMocks());

const drawn = () => [...document.querySelectorAll<HTMLElement>("tr[data-incident]")];
const row = (i: number) => document.querySelector(`tr[data-incident="i${i}"]`);

describe("a list of 15,000 incidents", () => {
  it("draws only the rows in sight and says to a screen reader how many there are", () => {
    const table = show();
    expect(drawn().length).toBeGreaterThan(7);
    expect(drawn().length).toBeLessThan(40);
    expect(table).toHaveAttribute("aria-rowcount", "15001");
    expect(row(0)).toHaveAttribute("aria-rowindex", "2");
    expect(onNearEnd).not.toHaveBeenCalled();
  });

  it("keeps the row of the keyboard while one scrolls to the end, where the next rows are fetched", () => {
    const table = show();
    fireEvent.keyDown(document.body, { key: "j" });
    fireEvent.keyDown(document.body, { key: "j" });
    expect(document.activeElement?.closest("tr")).toBe(row(1));
    const main = table.closest("main") as HTMLElement;
    act(() => {
      main.scrollTop = COUNT * ROW_PX;
      fireEvent.scroll(main);
    });
    expect(row(COUNT - 1)).toBeInTheDocument();
    expect(row(0)).not.toBeInTheDocument();
    expect(document.activeElement?.closest("tr")).toBe(row(1));
    expect(onNearEnd).toHaveBeenCalled();
  });
});
