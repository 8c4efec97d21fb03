import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { StateMark } from "@/lib/ui/StateMark";
import { CATALOGUE } from "@/testing/catalogue";
import { renderPage } from "@/testing/render";
import { CatalogueGate } from "./CatalogueGate";

const page = (
  <CatalogueGate>
    <StateMark machine="rollout" state="undoing" />
  </CatalogueGate>
);

afterEach(() => vi.restoreAllMocks());

it("shows a page only once the tables of states are there", async () => {
  vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(Response.json(CATALOGUE)));
  renderPage(page, null);
  expect(screen.getByLabelText("Loading")).toBeInTheDocument();
  expect(screen.queryByText("undoing")).not.toBeInTheDocument();
  expect(await screen.findByText("Rolling back")).toBeInTheDocument();
});

it("says why there is no page, and tries again on request", async () => {
  const answers = [
    Response.json(
      { title: "The database does not answer", status: 503, code: "database_unavailable" },
      { status: 503 },
    ),
    Response.json(CATALOGUE),
  ];
  vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(answers.shift() ?? Response.error()));
  renderPage(page, null);
  expect(await screen.findByText("The database does not answer")).toBeInTheDocument();
  await userEvent.click(screen.getByRole("button"));
  expect(await screen.findByText("Rolling back")).toBeInTheDocument();
});
