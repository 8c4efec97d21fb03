/** What a link to the list may say: the incident that a capture is for. */
export interface CapturesSearch {
  incident?: string;
}

/** What a link to a capture may say: the chart's queue pair, the model to compare with, the incident to attach to. */
export interface CaptureSearch {
  qp?: number;
  model?: string;
  incident?: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function text(value: unknown, form: RegExp): string | undefined {
  return typeof value === "string" && form.test(value) ? value : undefined;
}

function whole(value: unknown): number | undefined {
  return /^\d{1,4}$/.test(String(value)) ? Number(value) : undefined;
}

function present<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

export function parseCapturesSearch(search: Record<string, unknown>): CapturesSearch {
  return present({ incident: text(search["incident"], UUID) });
}

export function parseCaptureSearch(search: Record<string, unknown>): CaptureSearch {
  return present({
    qp: whole(search["qp"]),
    model: text(search["model"], /^[a-z0-9-]{1,40}$/),
    incident: text(search["incident"], UUID),
  });
}
