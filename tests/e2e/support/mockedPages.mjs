// The built pages with the mock behind them, one address per fleet: the states that the real stack is rarely in.
// Prints the addresses as JSON and serves until it is ended: node mockedPages.mjs <kind>...
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "../../../frontend/scripts/pictures/serve.mjs";

const FRONTEND = resolve(dirname(fileURLToPath(import.meta.url)), "../../../frontend");
const { addresses } = await serve(join(FRONTEND, "dist"), process.argv.slice(2));
process.stdout.write(`${JSON.stringify(addresses)}\n`);
