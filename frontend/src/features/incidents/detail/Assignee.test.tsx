import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { serve, signedIn } from "@/testing/server";
import { Assignee } from "./Assignee";

describe("the assignee of an incident", () => {
  it("is marked when nobody can sign in with the name", async () => {
    serve({ "GET /session": signedIn("operator"), "GET /incidents/assignees": { items: ["dana.x"], more: false } });
    renderPage(<Assignee name="dana" />);
    expect(await screen.findByText("cannot sign in")).toBeTruthy();
    expect(screen.getByText(/assigned to dana/)).toBeTruthy();
  });

  it("is not marked while the account exists", async () => {
    const asked = serve({
      "GET /session": signedIn("operator"),
      "GET /incidents/assignees": { items: ["dana", "dana.x"], more: false },
    });
    renderPage(<Assignee name="dana" />);
    await waitFor(() => expect(asked.some((one) => one.path === "/incidents/assignees")).toBe(true));
    expect(await screen.findByText(/assigned to dana/)).toBeTruthy();
    expect(screen.queryByText("cannot sign in")).toBeNull();
  });

  it("asks nothing for a viewer, who cannot assign, and nothing for nobody", async () => {
    const asked = serve({ "GET /session": signedIn("viewer") });
    renderPage(
      <>
        <Assignee name="dana" />
        <Assignee name={null} />
      </>,
    );
    await waitFor(() => expect(asked.some((one) => one.path === "/session")).toBe(true));
    expect(await screen.findByText(/assigned to dana/)).toBeTruthy();
    expect(screen.getByText("unassigned")).toBeTruthy();
    expect(asked.some((one) => one.path === "/incidents/assignees")).toBe(false);
  });
});
