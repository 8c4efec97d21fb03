import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { Problem } from "../api/problem";
import { type QueryLike, QueryState } from "./QueryState";

const answered: QueryLike<string[]> = {
  data: ["one"],
  error: null,
  dataUpdatedAt: Date.parse("2026-11-21T03:04:05Z"),
  refetch: () => undefined,
};
const show = (query: QueryLike<string[]>) =>
  renderPage(
    <QueryState query={query} isEmpty={(data) => data.length === 0} empty={<p>Nothing here</p>}>
      {(data) => <p>{data.join()}</p>}
    </QueryState>,
  );

describe("the four states of a panel", () => {
  it("is a skeleton until the first answer", () => {
    show({ ...answered, data: undefined });
    expect(screen.getByRole("status", { name: "Loading" })).toBeInTheDocument();
  });

  it("says what went wrong with its code, and tries again on demand", async () => {
    const refetch = vi.fn();
    show({
      ...answered,
      data: undefined,
      error: new Problem(503, "database_unavailable", "The database does not answer", "Wait a moment."),
      refetch,
    });
    expect(screen.getByRole("alert")).toHaveTextContent("The database does not answer");
    expect(screen.getByRole("alert")).toHaveTextContent("database_unavailable");
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(refetch).toHaveBeenCalledOnce();
  });

  it("says what an empty answer means", () => {
    show({ ...answered, data: [] });
    expect(screen.getByText("Nothing here")).toBeInTheDocument();
  });

  it("shows the data without any notice when all is well", () => {
    show(answered);
    expect(screen.getByText("one")).toBeInTheDocument();
    expect(screen.queryByRole("status")).not.toBeInTheDocument();
  });

  it("keeps showing old data when an update fails, and says since when it is stale", () => {
    show({ ...answered, error: new Problem(503, "x", "t", "no answer") });
    expect(screen.getByText("one")).toBeInTheDocument();
    expect(screen.getByRole("status")).toHaveTextContent(/Stale since \d\d:\d\d:05: no answer/);
  });
});
