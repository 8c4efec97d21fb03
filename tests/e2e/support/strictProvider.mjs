/**
 * An OpenID Connect provider that others wrote and that is certified (panva's `oidc-provider`), strict: PKCE is required, redirect and
 * sign-out addresses must be registered, and people consent once. Started by tests/e2e/support/provider.ts:
 * node strictProvider.mjs '{"port": …, "client": {…}, "people": [claims, …]}'
 */
import { createRequire } from "node:module";

const require = createRequire(new URL("../../../frontend/package.json", import.meta.url));
const { Provider } = await import(require.resolve("oidc-provider"));

const { port, client, people } = JSON.parse(process.argv[2]);
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  clients: [{ ...client, grant_types: ["authorization_code"], response_types: ["code"] }],
  pkce: { required: () => true },
  // Browsers keep the addresses of a provider that was here before: this one takes its place.
  routes: {
    authorization: "/oauth2/authorize",
    token: "/oauth2/token",
    end_session: "/oauth2/end_session",
    jwks: "/jwks",
  },
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"], email: ["email"] },
  conformIdTokenClaims: false, // Wallwatch reads the ID token alone
  findAccount: (_context, id) => {
    const claims = people.find((person) => person.sub === id);
    return claims && { accountId: id, claims: () => claims };
  },
});
provider.listen(port, "127.0.0.1");
