import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { CalibrateDialog } from "./CalibrateDialog";

const NAMED = new File(["Send BW Test"], "cen_0_cde_0_sen_0_sde_20_send_bw.log", { type: "text/plain" });
const NAMELESS = new File(["Send Latency Test"], "send_lat.log", { type: "text/plain" });

async function choose(...files: File[]) {
  const input = document.querySelector<HTMLInputElement>("input[type=file]");
  if (!input) throw new Error("there is no field for files");
  await userEvent.upload(input, files);
}

describe("the calibration dialog", () => {
  const sent: unknown[] = [];
  beforeEach(() => {
    sent.length = 0;
    vi.spyOn(globalThis, "fetch").mockImplementation(async (request) => {
      sent.push(await (request as Request).json());
      return new Response(JSON.stringify({ number: 4 }), {
        status: 201,
        headers: { "Content-Type": "application/json" },
      });
    });
  });
  afterEach(() => vi.restoreAllMocks());

  it("sends files with mask counts in their names, and shows the resulting version", async () => {
    const onMade = vi.fn();
    renderPage(<CalibrateDialog model="CX-6" onClose={vi.fn()} onMade={onMade} />);
    expect(screen.getByRole("button", { name: "Fit" })).toBeDisabled();
    await choose(NAMED);
    await userEvent.click(screen.getByRole("button", { name: "Fit" }));
    await waitFor(() => expect(onMade).toHaveBeenCalledWith(4));
    expect(sent).toEqual([
      {
        files: [{ name: NAMED.name, text: "Send BW Test", masks: null }],
        driver: "",
        fw_ver: "",
        limits: {},
        note: "",
      },
    ]);
  });

  it("requires the mask counts of files without them in their names", async () => {
    const onMade = vi.fn();
    renderPage(<CalibrateDialog model="CX-6" onClose={vi.fn()} onMade={onMade} />);
    await choose(NAMED, NAMELESS);
    const masks = await screen.findByLabelText("Masks");
    await userEvent.click(masks);
    await userEvent.paste("20, 60");
    expect(screen.getByRole("button", { name: "Fit" })).toBeDisabled();
    expect(screen.getByText("Write cen=0,cde=0,sen=0,sde=0 or ql=0,qr=0")).toBeInTheDocument();
    await userEvent.clear(masks);
    await userEvent.paste("cen=20,cde=0,sen=0,sde=60");
    await userEvent.click(screen.getByRole("button", { name: "Fit" }));
    await waitFor(() => expect(onMade).toHaveBeenCalledWith(4));
    expect(sent).toMatchObject([{ files: [{ masks: null }, { masks: { cen: 20, cde: 0, sen: 0, sde: 60 } }] }]);
  });

  it("says why too much is not sent", async () => {
    renderPage(<CalibrateDialog model="CX-6" onClose={vi.fn()} onMade={vi.fn()} />);
    await choose(new File(["x".repeat(200_001)], NAMED.name));
    await userEvent.click(screen.getByRole("button", { name: "Fit" }));
    expect(await screen.findByText(/has 200001 characters/)).toBeInTheDocument();
    expect(sent).toEqual([]);
  });
});
