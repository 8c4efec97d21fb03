/** An error of the API (application/problem+json), or the closest to one that the answer allows. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly fields: readonly { where: string; message: string }[] = [],
  ) {
    super(detail || title);
    this.name = "Problem";
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function fieldsOf(errors: unknown): { where: string; message: string }[] {
  if (!Array.isArray(errors)) return [];
  return errors
    .filter((e): e is Record<string, unknown> => typeof e === "object" && e !== null)
    .map((e) => {
      const place = e["loc"] ?? e["field"] ?? e["pointer"] ?? e["where"];
      const where = Array.isArray(place) ? place.filter((p) => p !== "body").join(".") : text(place);
      return { where, message: text(e["msg"]) || text(e["message"]) || text(e["detail"]) };
    });
}

export function toProblem(status: number, body: unknown): Problem {
  if (typeof body === "object" && body !== null) {
    const b = body as Record<string, unknown>;
    return new Problem(
      status,
      text(b["code"]) || `http_${status}`,
      text(b["title"]) || "The request failed",
      text(b["detail"]),
      fieldsOf(b["errors"]),
    );
  }
  return new Problem(
    status,
    `http_${status}`,
    "The request failed",
    text(body).slice(0, 300) || `The server answered ${status}.`,
  );
}

export const UNREACHABLE = "unreachable";

export function unreachable(cause: unknown): Problem {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Problem(
    0,
    UNREACHABLE,
    "The server can't be reached",
    `No answer from the API (${reason}). Check the network and that the backend runs, then try again.`,
  );
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(
    0,
    "unexpected",
    "Something went wrong in this page",
    error instanceof Error ? error.message : String(error),
  );
}
