import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { PodOwner, podFacts } from "./PodOwner";
import { renderPage } from "@/testing/render";

describe("the owner of a pod", () => {
  it("is shown with its labels on request", async () => {
    renderPage(<PodOwner owner="StatefulSet/trainer" labels={{ app: "trainer", team: "vision" }} />);
    await userEvent.hover(await screen.findByText("StatefulSet/trainer"));
    expect(await screen.findByText(/owned by StatefulSet\/trainer\s+app=trainer\s+team=vision/)).toBeInTheDocument();
  });

  it("is a word for its labels where a bare pod has no owner", async () => {
    renderPage(<PodOwner owner={null} labels={{ app: "x".repeat(63), team: "vision" }} />);
    const word = await screen.findByText("labels");
    await userEvent.tab();
    expect(word).toHaveFocus();
    const shown = await screen.findByText(/app=x+\s+team=vision/);
    for (const text of [word, shown]) expect(text).toHaveStyle({ overflowWrap: "anywhere" });
  });

  it("is nothing where Kubernetes said nothing", async () => {
    renderPage(
      <p>
        nothing:
        <PodOwner owner={null} labels={{}} />
      </p>,
    );
    expect((await screen.findByText("nothing:")).children).toHaveLength(0);
    expect(podFacts({ owner: null, labels: {} })).toBeNull();
    expect(podFacts({ owner: null, labels: { app: "x" } })).toBe("app=x");
  });
});
