/** Captures for the mock server: one analysed (by the real analysis, from made traffic), one under way by the clock, one failed. */
import { readFileSync } from "node:fs";
import { page } from "./answers.mjs";

const ANALYSED = JSON.parse(readFileSync(new URL("./capture.json", import.meta.url), "utf8"));
const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const DAY_MS = 86_400_000;
const ANALYSIS_MS = 20_000;
const OPTIONS = { roce_port: "4791", timeout: 14, events: null, rtt_us: null, pairs: [] };

const range = (low, high) => (low === undefined ? null : [low, high ?? low]);
const model = (id, name, source, generation, readGeneration, reaction) => ({
  id,
  name,
  source,
  write: { nack_generation_us: range(generation), nack_reaction_us: reaction && range(...reaction) },
  read: { nack_generation_us: range(readGeneration), nack_reaction_us: reaction && range(...reaction) },
});
const MODELS = [
  model("cx4-lx", "ConnectX-4 Lx", "Lumina, section 6.1", undefined, 150, [200]),
  model("cx5", "ConnectX-5", "Lumina, section 6.1", 2, 2, [2, 6]),
  model("e810", "Intel E810", "Lumina, section 6.1", 10, 83_000, null),
];

export class Captures {
  constructor(kind) {
    const now = Date.now();
    const made = (n, name, state, ago, more) => this.capture(ID(n), name, state, now - ago, more);
    this.all =
      kind === "empty"
        ? []
        : [
            made(901, "requester-side.pcapng.gz", "analysing", 4_000, { size_bytes: 812_000_000 }),
            made(902, "rack7-write-loss.pcap", "done", 3_600_000, { size_bytes: 96_300, ...this.analysed() }),
            made(903, "notes.pcap", "failed", DAY_MS, {
              size_bytes: 9_400,
              problem: "the file ends inside pcap's file header (24 bytes): it holds no frames, so capture again",
            }),
          ];
    this.reads = [
      [/^\/captures$/, () => page(this.all.map((each) => this.listed(this.now(each))))],
      [/^\/captures\/models$/, () => ({ items: MODELS })],
      [/^\/captures\/([^/]+)$/, ([, id]) => this.get(id)],
      [/^\/captures\/([^/]+)\/series\/(\d+)$/, ([, , place]) => ANALYSED.series[Number(place)] ?? null],
      [/^\/captures\/([^/]+)\/verdicts$/, (_, q) => this.verdicts(q.get("model"))],
    ];
    this.writes = [
      ["POST", /^\/captures$/, () => this.add()],
      [
        "POST",
        /^\/captures\/([^/]+)\/attach$/,
        ([, id], body) => ({
          incident_id: body.incident_id,
          text: `Capture ${this.get(id)?.name ?? id} was attached.`,
        }),
      ],
      ["DELETE", /^\/captures\/([^/]+)$/, ([, id]) => this.remove(id)],
    ];
  }

  analysed() {
    const { summary, analysis, series } = ANALYSED;
    const label = ({ place, qpn, source, destination, network, responses, retransmissions, packets }) => ({
      ...{ place, qpn, source, destination, network, responses, retransmissions, packets },
    });
    return { progress: 1, summary, analysis, series: series.map(label) };
  }

  capture(id, name, state, at, more = {}) {
    const time = new Date(at).toISOString();
    return {
      id,
      name,
      size_bytes: 1_000,
      sha256: "0".repeat(64),
      state,
      progress: 0,
      problem: null,
      uploaded_by: "dana",
      created_at: time,
      ended_at: state === "analysing" ? null : time,
      expires_at: new Date(at + 90 * DAY_MS).toISOString(),
      options: OPTIONS,
      summary: null,
      analysis: null,
      series: [],
      ...more,
    };
  }

  /** The capture under way is as far as its time says. */
  now(capture) {
    if (capture.state !== "analysing") return capture;
    const share = (Date.now() - Date.parse(capture.created_at)) / ANALYSIS_MS;
    return share < 1 ? { ...capture, progress: share } : { ...capture, state: "done", ...this.analysed() };
  }

  listed(capture) {
    const shown = { ...capture };
    delete shown.analysis;
    delete shown.series;
    return shown;
  }

  get(id) {
    const known = this.all.find((each) => each.id === id);
    return known ? this.now(known) : null;
  }

  add() {
    const added = this.capture(ID(910 + this.all.length), "uploaded.pcap", "analysing", Date.now());
    this.all.unshift(added);
    return this.listed(added);
  }

  remove(id) {
    this.all = this.all.filter((each) => each.id !== id);
    return {};
  }

  verdicts(id) {
    const known = MODELS.find((each) => each.id === id) ?? MODELS[1];
    const rows = ANALYSED.analysis.qps.filter(({ nack_reaction: reaction }) => reaction !== null);
    return {
      model: known,
      items: rows.map(({ qpn, destination }) => ({
        qpn,
        destination,
        generation: "as published",
        reaction: "slower",
        sentence: `${known.name}: NACK generation as published, NACK reaction slower`,
      })),
    };
  }
}
