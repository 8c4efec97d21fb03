/** Rollouts for the mock server: those that are requested go on by the clock, a wave in 4 s; one was there before. */
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
    const order = {
      action: "tune-revalidator",
      params: { max_idle_ms: 60000 },
      targets,
      canary: 1,
      growth: 3,
      undo_on_stop: true,
      not_before: null,
      not_after: null,
    };
    const hour = Date.now() - 3_600_000;
    this.all.push({
      ...order,
      id: ID(701),
      at: hour,
      state: "stopped",
      stopped: 1,
      reason: "Counters lag behind max-idle",
      message: `the remedy on ${targets[2]?.host} is not confirmed`,
      requested_by: "admin",
    });
    this.all.push({
      ...order,
      id: ID(702),
      at: hour,
      state: "pending",
      reason: "Before the large job of tonight",
      message: null,
      requested_by: "dana",
    });
  }

  create(order) {
    const rollout = {
      ...order,
      id: ID(710 + this.all.length),
      at: Date.now(),
      state: "running",
      message: null,
      requested_by: "admin",
    };
    this.all.push(rollout);
    return this.shown(rollout);
  }

  change(id, what, body) {
    const rollout = this.all.find((each) => each.id === id);
    if (!rollout) return null;
    const now = this.shown(rollout);
    if (what === "undo")
      Object.assign(rollout, {
        state: "undoing",
        stopped: now.wave,
        undoneFrom: Date.now(),
        undo: {
          by: "admin",
          reason: body.reason,
          began_at: new Date().toISOString(),
          despite_failures: body.despite_failures ?? false,
          message: null,
        },
      });
    else if (what === "approve" || what === "resume")
      Object.assign(rollout, {
        state: "running",
        at: Date.now(),
        message: null,
        ...(what === "approve"
          ? { decided_by: "admin", decided_at: new Date().toISOString(), decision_comment: body.comment ?? null }
          : {}),
      });
    else if (what === "reject")
      Object.assign(rollout, {
        state: "rejected",
        message: body.reason,
        decided_by: "admin",
        decided_at: new Date().toISOString(),
        decision_comment: body.reason,
      });
    else
      Object.assign(rollout, {
        state: what === "pause" ? "paused" : "stopped",
        stopped: now.wave,
        message: what === "pause" ? "Paused by admin." : body.reason,
        undone: body.undo,
      });
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
      if (rollout.state === "pending" || rollout.state === "rejected") return null;
      if (wave < at || done) return rollout.undone ? "undone" : "confirmed";
      if (wave > at) return null;
      if (rollout.state === "stopped") return i === 1 ? "not_confirmed" : rollout.undone ? "undone" : "confirmed";
      return "verifying";
    };
    const shown = waves.map((wave, w) =>
      wave.map((target, i) => ({
        ...target,
        state: stateOf(w, i),
        remedy_id: stateOf(w, i) === null ? null : ID(800 + w * 100 + i),
        message: stateOf(w, i) === "not_confirmed" ? "The re-offload ratio stayed at 0.31." : null,
        undo_state: null,
        undo_message: null,
      })),
    );
    const reached = shown
      .flat()
      .reverse()
      .filter((target) => target.state !== null);
    // A target is back every second; the last but one of them refuses for good.
    const back = rollout.undo ? Math.min(Math.floor((Date.now() - rollout.undoneFrom) / 1000), reached.length) : 0;
    reached.slice(0, back).forEach((target) => Object.assign(target, { state: "undone", undo_state: "done" }));
    const stuck = rollout.undo && !rollout.undo.despite_failures && reached.length > 2 && back >= reached.length - 2;
    if (stuck)
      Object.assign(reached[reached.length - 2], {
        state: "confirmed",
        undo_state: "failed",
        undo_message: "the database is read-only",
      });
    const undone = reached.filter((target) => target.state === "undone").length;
    const undo = rollout.undo
      ? {
          ...rollout.undo,
          undone,
          targets: reached.length,
          message: stuck
            ? `${reached[reached.length - 2].host} could not be undone. Find the reason, then try again.`
            : null,
        }
      : null;
    const state = undo
      ? stuck
        ? "undo_paused"
        : undone === reached.length
          ? "undone"
          : "undoing"
      : done
        ? "confirmed"
        : rollout.state;
    const { id, action, params, reason, message, undo_on_stop, not_before, not_after, requested_by } = rollout;
    return {
      id,
      action,
      params,
      state,
      wave: Math.max(0, Math.min(at, waves.length - 1)),
      waves: shown,
      confirmed: shown.flat().filter((t) => t.state === "confirmed").length,
      targets: rollout.targets.length,
      reason,
      message,
      undo_on_stop: undo_on_stop ?? false,
      incident_id: rollout.incident_id ?? null,
      not_before: not_before ?? null,
      not_after: not_after ?? null,
      requested_by,
      decided_by: rollout.decided_by ?? null,
      decided_at: rollout.decided_at ?? null,
      decision_comment: rollout.decision_comment ?? null,
      undo,
      undoable: reached.some((target) => target.state !== "undone") && !["undoing", "undone"].includes(state),
      created_at: new Date(rollout.at).toISOString(),
      updated_at: new Date().toISOString(),
    };
  }
}

/** A remedy that waits for a second person, as long as the mock runs. */
export function proposal(fleet) {
  const i = Math.max(
    0,
    fleet.symptoms.findIndex((s) => s.includes("S6")),
  );
  const asked = remedy(
    {
      action: "cordon-rnic",
      host: fleet.host[i],
      pci: fleet.pci[i],
      params: { pci: fleet.pci[i], reason: "Slow flows; until the masks are in order" },
      mode: "apply",
      incident_id: ID(12),
    },
    ID(899),
    Date.now(),
  );
  return {
    ...asked,
    state: "pending",
    requested_by: "dana",
    decision_comment: null,
    operations: [],
    applied_at: null,
    change: null,
    effect: null,
    symptom: null,
    undoable: false,
    created_at: new Date(Date.now() - 420_000).toISOString(),
  };
}
