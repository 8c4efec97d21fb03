/** Rollouts for the mock server: those that are ordered go on by the clock, a wave in 4 s; one was there before. */
import { remedy } from "./answers.mjs";

const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const WAVE_MS = 4_000;

function wavesOf(targets, canary, growth) {
  const waves = [];
  let size = canary;
  for (let at = 0; at < targets.length; size = Math.max(size * growth, 1)) {
    waves.push(targets.slice(at, at + Math.floor(size)));
    at += Math.floor(size);
  }
  return waves;
}

export class Rollouts {
  constructor(fleet, kind) {
    this.all = [];
    if (kind === "empty" || fleet.host.length === 0) return;
    const targets = [...new Set(fleet.host)].slice(0, 8).map((host) => ({ host, pci: null }));
    const order = { action: "tune-revalidator", params: { max_idle_ms: 60000 }, targets, canary: 1, growth: 3, undo_on_stop: true, not_before: null, not_after: null };
    const hour = Date.now() - 3_600_000;
    this.all.push({ ...order, id: ID(701), at: hour, state: "stopped", stopped: 1, reason: "Counters lag behind max-idle", message: `the remedy on ${targets[2]?.host} is not verified`, requested_by: "admin" });
    this.all.push({ ...order, id: ID(702), at: hour, state: "proposed", reason: "Before the large job of tonight", message: null, requested_by: "dana" });
  }

  create(order) {
    const rollout = { ...order, id: ID(710 + this.all.length), at: Date.now(), state: "running", message: null, requested_by: "admin" };
    this.all.push(rollout);
    return this.shown(rollout);
  }

  change(id, what, body) {
    const rollout = this.all.find((each) => each.id === id);
    if (!rollout) return null;
    const now = this.shown(rollout);
    if (what === "approve" || what === "resume") Object.assign(rollout, { state: "running", at: Date.now(), message: null, ...(what === "approve" ? { decided_by: "admin", decided_at: new Date().toISOString() } : {}) });
    else if (what === "reject") Object.assign(rollout, { state: "rejected", message: body.reason, decided_by: "admin", decided_at: new Date().toISOString() });
    else Object.assign(rollout, { state: what === "pause" ? "paused" : "stopped", stopped: now.wave, message: what === "pause" ? "Paused by admin." : body.reason, undone: body.undo });
    return this.shown(rollout);
  }

  get(id) {
    const rollout = this.all.find((each) => each.id === id);
    return rollout ? this.shown(rollout) : null;
  }

  list() {
    return [...this.all].reverse().map((each) => this.shown(each));
  }

  shown(rollout) {
    const waves = wavesOf(rollout.targets, rollout.canary, rollout.growth);
    const at = rollout.state === "running" ? Math.floor((Date.now() - rollout.at) / WAVE_MS) : (rollout.stopped ?? -1);
    const done = rollout.state === "running" && at >= waves.length;
    const stateOf = (wave, i) => {
      if (rollout.state === "proposed" || rollout.state === "rejected") return null;
      if (wave < at || done) return rollout.undone ? "undone" : "verified";
      if (wave > at) return null;
      if (rollout.state === "stopped") return i === 1 ? "not_verified" : rollout.undone ? "undone" : "verified";
      return "applied";
    };
    const shown = waves.map((wave, w) => wave.map((target, i) => ({ ...target, state: stateOf(w, i), remedy_id: stateOf(w, i) === null ? null : ID(800 + w * 100 + i), message: stateOf(w, i) === "not_verified" ? "The re-offload ratio stayed at 0.31." : null })));
    const { id, action, params, reason, message, undo_on_stop, not_before, not_after, requested_by } = rollout;
    return {
      id, action, params, state: done ? "verified" : rollout.state, wave: Math.max(0, Math.min(at, waves.length - 1)), waves: shown, verified: shown.flat().filter((t) => t.state === "verified").length, targets: rollout.targets.length, reason, message,
      undo_on_stop: undo_on_stop ?? false, incident_id: rollout.incident_id ?? null, not_before: not_before ?? null, not_after: not_after ?? null, requested_by, decided_by: rollout.decided_by ?? null, decided_at: rollout.decided_at ?? null, created_at: new Date(rollout.at).toISOString(), updated_at: new Date().toISOString(),
    };
  }
}

/** A remedy that waits for a second person, as long as the mock runs. */
export function proposal(fleet) {
  const i = Math.max(0, fleet.symptoms.findIndex((s) => s.includes("S6")));
  const asked = remedy({ action: "cordon-rnic", host: fleet.host[i], pci: fleet.pci[i], params: { pci: fleet.pci[i], reason: "Slow flows; until the masks are in order" }, mode: "apply", incident_id: ID(12) }, ID(899), Date.now());
  return { ...asked, state: "proposed", requested_by: "dana", operations: [], verification: null, undoable: false, created_at: new Date(Date.now() - 420_000).toISOString() };
}
