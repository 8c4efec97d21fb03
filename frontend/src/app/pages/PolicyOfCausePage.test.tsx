import { screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import type { Draft } from "@/features/policies/editor/draft";
import { CAMPAIGN, CAUSE, REPORT } from "@/testing/lab";
import { renderPage } from "@/testing/render";
import { serve, signedIn } from "@/testing/server";
import { PolicyOfCausePage } from "./PolicyOfCausePage";

// The editor has a text area that grows, which jsdom cannot lay out; its own tests are in the browser.
vi.mock("@/features/policies/editor/PolicyEditor", () => ({
  PolicyEditor: ({ policy, initial }: { policy: unknown; initial: Draft }) => (
    <div>{`${policy === null ? "new" : "changed"}: ${initial.id}: ${initial.formula}`}</div>
  ),
}));

const policy = {
  title: "Releases are 121 ms apart",
  formula: "G(RELEASED -> X(!RELEASED W SETTLED))",
  subject: "rnic" as const,
  propositions: { RELEASED: { kind: ["vf_unbound"] } },
  timer: { name: "SETTLED", after: "RELEASED", unless: null, seconds: 0.121 },
  severity: "warning" as const,
  violation: "Too close.",
};

function open(cause: number) {
  const causes = [
    { ...CAUSE, policy, no_policy: null },
    { ...CAUSE, id: 2 },
  ];
  serve({
    "GET /session": signedIn("operator"),
    [`GET /lab/campaigns/${CAMPAIGN.id}`]: { ...CAMPAIGN, report: { ...REPORT, causes } },
  });
  renderPage(<PolicyOfCausePage campaign={CAMPAIGN.id} cause={cause} />);
}

describe("a policy from a cause of the lab", () => {
  it("starts the editor with the draft, and links back to the campaign", async () => {
    open(1);
    expect(await screen.findByText(`new: releases-are-121-ms-apart: ${policy.formula}`)).toBeInTheDocument();
    expect(screen.getByRole("link", { name: "the lab campaign on dut" })).toHaveAttribute(
      "href",
      `/lab/${CAMPAIGN.id}`,
    );
  });

  it("says why there is none", async () => {
    open(2);
    expect(await screen.findByText("No policy can be made of this cause")).toBeInTheDocument();
    expect(screen.getByText(/measured values such as egress_masks/)).toBeInTheDocument();
  });
});
