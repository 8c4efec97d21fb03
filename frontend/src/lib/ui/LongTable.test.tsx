import { Table } from "@mantine/core";
import { act, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { type LongColumn, LongTable } from "./LongTable";

const COUNT = 40_000;
const ROW_PX = 49;
const ITEMS = Array.from({ length: COUNT }, (_, i) => `host${i}`);
const COLUMNS: readonly LongColumn<"time" | "loss">[] = [
  { title: "RNIC" },
  { title: "Reached", width: 100, sort: { by: "time", way: "ascending" } },
  { title: "Loss", width: 100, sort: { by: "loss", way: "descending" } },
];
const onSort = vi.fn();
const onNearEnd = vi.fn();

function show() {
  renderPage(
    <main>
      <LongTable
        label="Fleet"
        columns={COLUMNS}
        items={ITEMS}
        keyOf={(item) => item}
        rowPx={ROW_PX}
        minWidth={500}
        sorted="time"
        onSort={onSort}
        onNearEnd={onNearEnd}
        row={(item, drawn) => (
          <Table.Tr key={item} {...drawn}>
            <Table.Td>{item}</Table.Td>
          </Table.Tr>
        )}
      />
    </main>,
  );
  return screen.getByLabelText("Fleet");
}

beforeEach(() => {
  onSort.mockClear();
  onNearEnd.mockClear();
  // What jsdom does not measure: a window of eight rows.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(8 * ROW_PX);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(ROW_PX);
  vi.spyOn(HTMLTableSectionElement.prototype, "getBoundingClientRect").mockImplementation(function (this: HTMLElement) {
    return { top: -(this.closest("main")?.scrollTop ?? 0) } as DOMRect;
  });
});
afterEach(() => vi.restoreAllMocks());

it("draws the rows in sight of a list as long as the fleet, and asks for more only near its end", () => {
  const table = show();
  const drawn = () => table.querySelectorAll("tbody tr[data-index]").length;
  expect(drawn()).toBeGreaterThan(7);
  expect(drawn()).toBeLessThan(40);
  expect(onNearEnd).not.toHaveBeenCalled();
  const main = table.closest("main") as HTMLElement;
  act(() => {
    main.scrollTop = COUNT * ROW_PX;
    fireEvent.scroll(main);
  });
  expect(screen.getByText(`host${COUNT - 1}`)).toBeInTheDocument();
  expect(drawn()).toBeLessThan(40);
  expect(onNearEnd).toHaveBeenCalled();
});

it("says how it is sorted and asks for another order by its header", () => {
  show();
  expect(screen.getByRole("columnheader", { name: /Reached/ })).toHaveAttribute("aria-sort", "ascending");
  expect(screen.getByRole("columnheader", { name: /Loss/ })).not.toHaveAttribute("aria-sort");
  fireEvent.click(screen.getByRole("button", { name: /Loss/ }));
  expect(onSort).toHaveBeenCalledWith("loss");
});
