import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { CAMPAIGN, CAUSE, REPORT } from "@/testing/lab";
import { renderPage } from "@/testing/render";
import { serve, signedIn } from "@/testing/server";
import { PolicyOfCausePage } from "./PolicyOfCausePage";

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
    expect(await screen.findByRole("heading", { name: "New policy" })).toBeInTheDocument();
    expect(screen.getByDisplayValue("releases-are-121-ms-apart")).toBeInTheDocument();
    expect(screen.getByRole("textbox", { name: "Formula" })).toHaveValue(policy.formula);
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
