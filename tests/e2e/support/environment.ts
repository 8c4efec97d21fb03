import { join } from "node:path";

function needed(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(
      `${name} is not set. tests/e2e/run starts a stack and sets it; to use your own, set E2E_BASE_URL, E2E_USER and E2E_PASSWORD.`,
    );
  return value;
}

export const baseUrl = () => needed("E2E_BASE_URL");
export const user = () => needed("E2E_USER");
export const password = () => needed("E2E_PASSWORD");

/** A path of the second backend, where people sign in at a provider. */
export const singleSignOnUrl = (path: string) => needed("E2E_SSO_BASE_URL") + path;

/** Where the session of the sign-in spec is kept for the others. */
export const SIGNED_IN = join(__dirname, "..", "test-results", "session.json");

/** A symptom needs the load to arrive, the collector's windows to fill and the classifier's hysteresis to pass. */
export const SYMPTOM_MS = Number(process.env["E2E_SYMPTOM_S"] ?? 300) * 1000;
/** The longest check of an effect in the catalogue, the time that its symptom needs to clear, and the round trip around them. */
export const CONFIRMED_MS = 480_000;
