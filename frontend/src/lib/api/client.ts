import createClient, { type Middleware } from "openapi-fetch";
import { toProblem, unreachable } from "./problem";
import type { paths } from "./schema";

let csrfToken: string | null = null;
const signedOutListeners = new Set<() => void>();

/** The token that unsafe methods must carry; it comes with the session and lives in memory only. */
export function setCsrfToken(token: string | null): void {
  csrfToken = token;
}

/** For requests that do not go through `api`: uploads with progress. */
export function csrfHeaders(): Record<string, string> {
  return csrfToken ? { "X-CSRF-Token": csrfToken } : {};
}

/** Called whenever the API says that the session is over. */
export function onSignedOut(listener: () => void): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

const session: Middleware = {
  onRequest({ request }) {
    if (!SAFE.has(request.method) && csrfToken) request.headers.set("X-CSRF-Token", csrfToken);
    return request;
  },
  onResponse({ response, request }) {
    if (response.status === 401 && !request.url.endsWith("/api/v1/session"))
      for (const each of signedOutListeners) each();
  },
};

export const api = createClient<paths>({
  baseUrl: globalThis.location.origin,
  credentials: "same-origin",
  fetch: (request) => globalThis.fetch(request),
});
api.use(session);

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer, or a Problem thrown: the form that queries and mutations want. */
export async function unwrap<T>(call: Promise<Answer<T>>): Promise<NonNullable<T>> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (cause) {
    throw unreachable(cause);
  }
  if (!answer.response.ok) throw toProblem(answer.response.status, answer.error);
  return answer.data as NonNullable<T>;
}
