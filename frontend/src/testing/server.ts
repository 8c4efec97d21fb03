import { vi } from "vitest";

type Answer = unknown;
interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
}

/**
 * Answers requests by `METHOD /path` below /api/v1; a function is called with the request, a Response is sent as it is.
 * Whatever else is asked for gets 404. Returns what was asked, in order.
 */
export function serve(answers: Readonly<Record<string, Answer | ((asked: Asked) => Answer)>>): Asked[] {
  const asked: Asked[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const request = input as Request;
    const url = new URL(request.url);
    const text = await request.text();
    const one = {
      method: request.method,
      path: decodeURIComponent(url.pathname).replace("/api/v1", ""),
      query: url.searchParams,
      body: text ? (JSON.parse(text) as unknown) : undefined,
    };
    asked.push(one);
    const answer = answers[`${one.method} ${one.path}`];
    if (answer === undefined) return problem(404, "not_found", "There is no such thing");
    const body: unknown = await (typeof answer === "function" ? (answer as (asked: Asked) => Answer)(one) : answer);
    if (body instanceof Response) return body.clone();
    return body === null ? new Response(null, { status: 204 }) : Response.json(body);
  });
  return asked;
}

export function problem(status: number, code: string, title: string, detail = ""): Response {
  return Response.json({ type: "about:blank", status, code, title, detail, instance: "" }, { status });
}

export const signedIn = (role: "viewer" | "operator" | "admin") => ({
  user: { id: "1", username: role, role },
  csrf_token: "t",
});
