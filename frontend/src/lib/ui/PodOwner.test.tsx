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

  it("is nothing where Kubernetes said nothing", () => {
    expect(podFacts({ owner: null, labels: {} })).toBeNull();
    expect(podFacts({ owner: null, labels: { app: "x" } })).toBe("app=x");
  });
});
