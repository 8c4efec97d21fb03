import { screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CATALOGUE } from "@/testing/catalogue";
import { renderPage } from "@/testing/render";
import { useNames, useSymptomChoices } from "./useCatalogue";

function Names() {
  const names = useNames();
  const choices = useSymptomChoices();
  return (
    <p>
      {[
        names.symptom("S1"),
        names.symptom("S9"),
        names.wall("offloaded_flows"),
        ...choices.map((choice) => choice.label),
      ].join("; ")}
    </p>
  );
}

afterEach(() => vi.restoreAllMocks());

describe("names", () => {
  it("come from the catalogue; what it does not know goes by its id", async () => {
    vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(Response.json(CATALOGUE)));
    renderPage(<Names />, null);
    expect(
      await screen.findByText("Repetitive flow re-offloading; S9; Offloaded flows; S1 Repetitive flow re-offloading"),
    ).toBeInTheDocument();
  });

  it("are the bare ids while the catalogue is not there", () => {
    vi.spyOn(globalThis, "fetch").mockImplementation(() => new Promise(() => undefined));
    renderPage(<Names />, null);
    expect(screen.getByText("S1; S9; offloaded_flows")).toBeInTheDocument();
  });
});
