// The pages in hot reload with the mock behind them: `npm run ui -- [full|large|empty|broken]`, or `make ui FLEET=large`.
// WALLWATCH_MOCK_SIGN_IN=1 asks for the password "mock".
import { createServer as createHttpServer } from "node:http";
import { createServer as createVite } from "vite";
import { KINDS, makeApi } from "./api.mjs";

const kind = process.argv[2] ?? "full";
if (!KINDS.includes(kind)) {
  process.stderr.write(`unknown fleet '${kind}': must be one of ${KINDS.join(", ")}\n`);
  process.exit(2);
}
const guarded = process.env["WALLWATCH_MOCK_SIGN_IN"] === "1";
const mock = createHttpServer(makeApi(kind, { guarded }));
mock.listen(0, "127.0.0.1", async () => {
  process.env["WALLWATCH_API_URL"] = `http://127.0.0.1:${mock.address().port}`;
  const vite = await createVite();
  await vite.listen();
  process.stdout.write(`fleet: ${kind}\n`);
  vite.printUrls();
});
