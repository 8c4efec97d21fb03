import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { NfModel } from "@/lib/api/types";
import { renderPage } from "@/testing/render";
import { problem, serve, signedIn } from "@/testing/server";
import { ContentionPanel } from "./card/ContentionPanel";
import { FunctionsPage } from "./card/FunctionsPage";
import { ModelsPage } from "./models/ModelsPage";
import { PlacementPage } from "./placement/PlacementPage";
import type { FunctionsSearch } from "./scenario";

const VERSION = {
  id: "00000000-0000-4000-8000-000000000001",
  number: 3,
  state: "active",
  pattern: "pipeline",
  rows: 50,
  mape: 3.2,
  within_5: 80,
  within_10: 95,
  reasons: [],
  accelerator: { queues: 1, t0: 1e-4, a: 2e-6 },
  own_load_known: false,
  ranges: [{ name: "flows", unit: "", low: 500, high: 60000 }],
  note: "",
  created_by: "dana",
  created_at: "2026-01-01T00:00:00Z",
  promoted_by: "dana",
  promoted_at: "2026-01-02T00:00:00Z",
  retired_at: null,
};
const MODEL = {
  function: "ids",
  nic_model: "BF-2",
  firmware: "",
  active: 3,
  terms: { cores: 2, sla_drop: 0.2 },
  versions: [
    VERSION,
    { ...VERSION, id: VERSION.id.replace(/1$/, "2"), number: 2, state: "refused", reasons: ["Too few rows."] },
  ],
} as NfModel;

const found = (name: string, drop: number) => ({
  name,
  function: "ids",
  version: 3,
  cores: 2,
  throughput_kpps: 1000 * (1 - drop),
  low_kpps: 900 * (1 - drop),
  high_kpps: 1100 * (1 - drop),
  solo_kpps: 1000,
  measured_kpps: null,
  offered_kpps: null,
  deviation: null,
  drop,
  worst_drop: drop,
  sla_drop: 0.2,
  sla_value: drop,
  headroom: 1 - drop / 0.2,
  lost_memory_kpps: 0,
  lost_accelerator_kpps: 1000 * drop,
  bottleneck: drop > 0 ? "accelerator" : null,
  binding: "accelerator",
  shifts_at_mtbr: 420,
  contributors: drop > 0 ? [{ name: "ids-2", kpps: 1000 * drop }] : [],
  outside: [],
  unknown_competitors: [],
});

const MEASURED = {
  host: "h",
  pci: "0000:03:00.0",
  model: "BF-2",
  fw_ver: "",
  cores_used: 2,
  functions: [
    {
      name: "net/ids-0",
      function: "ids",
      container: "c",
      pod: "net/ids-0",
      at: "2026-01-01T00:00:00Z",
      cores: 2,
      cpu_share: 1,
      flows: 1000,
      packet_bytes: 1518,
      mtbr: 0,
      counters: null,
      throughput_kpps: 900,
      offered_kpps: 900,
      saturated: false,
      host_limits: null,
    },
  ],
};

function answers(models: NfModel[] = [MODEL], cards: unknown[] = []) {
  return {
    "GET /session": signedIn("operator"),
    "GET /nf-models": { items: models, next_cursor: null },
    "GET /nf-cards": { items: cards, next_cursor: null },
    "POST /nf-predictions": ({ body }: { body: unknown }) => {
      const { residents, candidate } = body as { residents: { name: string }[]; candidate: { name: string } | null };
      const drop = residents.length > 1 ? 0.3 : 0;
      return {
        cores: 8,
        cores_used: 2 * residents.length,
        functions: residents.map(({ name }) => found(name, drop)),
        admission: candidate && {
          admitted: false,
          reasons: [`${candidate.name} would lose 30.0%; it may lose 20.0%.`],
          cores_used: 4,
          functions: [...residents, candidate].map(({ name }) => found(name, 0.3)),
        },
      };
    },
  };
}

function card(search: FunctionsSearch) {
  const onSearch = vi.fn<(search: FunctionsSearch) => void>();
  renderPage(<FunctionsPage search={search} onSearch={onSearch} />);
  return onSearch;
}

describe("the page of a card", () => {
  it("says how to start while no model is active", async () => {
    serve(answers([]));
    card({});
    expect(await screen.findByText("No function has an active model yet")).toBeVisible();
    expect(screen.getByRole("link", { name: "Upload the files" })).toBeVisible();
  });

  it("shows what each function gets, what it loses to what, and whose SLA breaks", async () => {
    serve(answers());
    card({ on: "ids~ids~1000~1518~900,ids-2~ids~1000~1518~900" });
    const table = await screen.findByRole("table", { name: "On this card" });
    const row = within(table).getAllByRole("row")[1];
    expect(row).toHaveTextContent("700 kpps");
    expect(row).toHaveTextContent("−30%, accelerator");
    expect(row).toHaveTextContent("broken: −30% of at most −20%");
    expect(screen.getByText("without ids-2, 300 kpps would come back")).toBeVisible();
    expect(screen.getByText(/slower resource above 420 matches/)).toBeVisible();
  });

  it("leads to the cards on which functions run while none is chosen", async () => {
    const cards = Array.from({ length: 9 }, (_, at) => ({
      host: `host${at + 1}`,
      pci: "0000:17:00.0",
      model: "BF-2",
      fw_ver: "1",
      cores_used: 2,
      functions: [],
    }));
    serve(answers([MODEL], cards));
    card({});
    const found = await screen.findByRole("navigation", { name: "Cards on which functions run" });
    expect(within(found).getAllByRole("link")).toHaveLength(8);
    expect(found).toHaveTextContent("host8 0000:17:00.0 and 1 more: choose one above.");
  });

  it("keeps a plan in the address when the traffic is changed by keyboard", async () => {
    serve(answers());
    const onSearch = card({ on: "ids~ids~1000~1518~10" });
    const panel = await screen.findByRole("region", { name: "What if" });
    within(panel).getByRole("slider", { name: "Matches per MB" }).focus();
    await userEvent.keyboard("{ArrowRight}");
    expect(onSearch).toHaveBeenLastCalledWith({ on: "ids~ids~1000~1518~20" });
  });

  it("answers whether one more may be added, and adds it to the plan under a free name", async () => {
    serve(answers());
    const onSearch = card({ on: "ids~ids~1000~1518~10", add: "ids~ids~1000~1518~10" });
    const answer = await screen.findByRole("status", { name: "Answer" });
    expect(answer).toHaveTextContent("No");
    expect(answer).toHaveTextContent("ids-2 would lose 30.0%");
    await userEvent.click(screen.getByRole("button", { name: "Add it to this plan" }));
    expect(onSearch.mock.lastCall?.[0].on).toBe("ids~ids~1000~1518~10,ids-2~ids~1000~1518~10");
  });

  it("shows over time what a measured card lost and will lose, and how right the model was", async () => {
    const point = (loss: number) => ({
      at: "2026-01-01T00:00:00Z",
      flows: 1000,
      packet_bytes: 1518,
      mtbr: 0,
      measured_kpps: 900,
      offered_kpps: 900,
      predicted_kpps: 900,
      predicted_loss: loss,
      loss,
      error: null,
    });
    const course = {
      name: "net/ids-0",
      function: "ids",
      version: 3,
      model_mape: 3.2,
      recent_mape: 4.7,
      sla_drop: 0.2,
      trend: { flows_factor: 1.5, packet_bytes_factor: 1, mtbr_change: 240 },
      breaks_in_min: 40,
      past: [point(0.1)],
      coming: [{ in_min: 60, flows: 1500, packet_bytes: 1518, mtbr: 240, predicted_kpps: 700, loss: 0.25 }],
    };
    serve({
      ...answers([MODEL], [MEASURED]),
      "GET /nf-cards/h/0000:03:00.0/course": { host: "h", pci: "0000:03:00.0", hours: 2, functions: [course] },
    });
    card({ host: "h", pci: "0000:03:00.0" });
    const said = await screen.findByRole("list", { name: "Over time" });
    expect(said).toHaveTextContent("its SLA breaks in about 40 minutes");
    expect(said).toHaveTextContent("Per hour, flows grow by 50%, matches rise by 240 per MB.");
    expect(said).toHaveTextContent("Model version 3 missed the measurement by 4.7% on average");
  });

  it("says what went wrong", async () => {
    serve({ ...answers(), "POST /nf-predictions": problem(422, "no_model", "A function has no active model") });
    card({ on: "ids~ids~1000~1518~10" });
    expect(await screen.findByText("A function has no active model")).toBeVisible();
  });
});

describe("contention as a limit of a card", () => {
  it("is shown where functions run", async () => {
    serve(answers([MODEL], [MEASURED]));
    renderPage(<ContentionPanel host="h" pci="0000:03:00.0" />);
    expect(await screen.findByRole("img", { name: /net\/ids-0: −0% of at most −20%, 0% of limit/ })).toBeVisible();
  });

  it("is not shown on other cards", async () => {
    const asked = serve(answers([MODEL], [MEASURED]));
    renderPage(<ContentionPanel host="h" pci="0000:04:00.0" />);
    await waitFor(() => expect(asked.some(({ path }) => path === "/nf-cards")).toBe(true));
    expect(screen.queryByRole("region")).toBeNull();
  });
});

describe("models", () => {
  it("have versions with their errors, and a refused one says why and is not promoted", async () => {
    serve(answers());
    renderPage(<ModelsPage />);
    const table = await screen.findByRole("table", { name: "Versions of ids" });
    expect(table).toHaveTextContent("3.2%");
    expect(table).toHaveTextContent("Too few rows.");
    expect(table).toHaveTextContent("own load unknown");
    expect(await within(table).findByRole("button", { name: "Roll back ids from version 3" })).toBeVisible();
    expect(within(table).queryByRole("button", { name: /^Promote/ })).toBeNull();
  });

  it("are not changed by viewers", async () => {
    serve({ ...answers(), "GET /session": signedIn("viewer") });
    renderPage(<ModelsPage />);
    expect(await screen.findByRole("table", { name: "Versions of ids" })).toBeVisible();
    expect(screen.queryByRole("button")).toBeNull();
  });
});

describe("placement", () => {
  it("is asked for with what was typed, and compared with the present", async () => {
    const placed = {
      name: "a",
      function: "ids",
      cores: 2,
      solo_kpps: 1000,
      throughput_kpps: 1000,
      drop: 0,
      sla_drop: 0.2,
      violates: false,
      chance: 0.13,
      bottleneck: null,
      moved_from: "n1",
    };
    const plan = {
      cards: [{ name: "n2", host: "n2", functions: [placed] }],
      cards_used: 1,
      violations: 0,
      expected_violations: 0.13,
      unplaced: ["b"],
    };
    const asked = serve({
      ...answers(),
      "POST /placements": { ...plan, lower_bound: 1, moves: 1, present: { ...plan, violations: 2 }, affinities: [] },
    });
    renderPage(<PlacementPage />);
    const field = await screen.findByRole("textbox", { name: "Functions" });
    fireEvent.change(field, { target: { value: "a, ids, 0" } });
    await userEvent.click(screen.getByRole("button", { name: "Place" }));
    expect(screen.getByText(/Line 1: flows must be a number/)).toBeVisible();
    fireEvent.change(field, { target: { value: "a, ids, 8000" } });
    await userEvent.click(screen.getByRole("button", { name: "Place" }));
    const table = await screen.findByRole("table", { name: "Proposed assignment" });
    expect(within(table).getByRole("row", { name: /n2 a/ })).toHaveTextContent("n1");
    expect(within(table).getByRole("row", { name: /n2 a/ })).toHaveTextContent("13%");
    expect(screen.getByRole("row", { name: /Proposed/ })).toHaveTextContent("0.13 with the errors of the models");
    expect(screen.getByText("No card is left for 1 function")).toBeVisible();
    expect(asked.find(({ path }) => path === "/placements")?.body).toMatchObject({
      nic_model: "BF-2",
      functions: [{ name: "a", function: "ids", flows: 8000 }],
      method: "optimum",
      margin: 0.005,
    });
  });
});
