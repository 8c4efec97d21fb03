import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { Problem } from "../api/problem";
import { usePages } from "../api/usePages";
import { ListPanel } from "./ListPanel";

const PAGES: Record<string, { items: string[]; next_cursor: string | null }> = {
  first: { items: ["one", "two"], next_cursor: "second" },
  second: { items: ["three"], next_cursor: null },
};

function List({ problem }: { problem?: unknown }) {
  const pages = usePages(["list"], (cursor) => Promise.resolve(PAGES[cursor ?? "first"] ?? { items: [] }));
  return (
    <ListPanel title="Things" pages={pages} problem={problem} empty={<p>None</p>} moreLabel="Show more things">
      {(items) => <p>{items.join()}</p>}
    </ListPanel>
  );
}

describe("a list of the API", () => {
  it("shows its first page, and the next ones on demand until there are no more", async () => {
    renderPage(<List />);
    expect(await screen.findByText("one,two")).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Show more things" }));
    expect(await screen.findByText("one,two,three")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Show more things" })).not.toBeInTheDocument();
  });

  it("shows the error of a change, and keeps the list", async () => {
    renderPage(<List problem={new Problem(409, "last_admin", "This is the last admin", "Make another one first.")} />);
    expect(await screen.findByText("one,two")).toBeInTheDocument();
    expect(screen.getByRole("alert")).toHaveTextContent("Make another one first.");
  });
});
