// Watches tiles of the page Fleet in Chromium. For each line `HOST PCI` on standard input: shows that tile with the pointer on it, prints `ready`
// when it says that nothing is sent, and then, as JSON, the wall clock at the first frame after it says that data is sent.
// Environment: see browser.mjs.
import { createInterface } from "node:readline";
import { BASE_URL, launch, signedIn } from "./browser.mjs";

const SENDS = /Sends ([\d.,]+)/;

const browser = await launch();
const { page } = await signedIn(browser);
await page.exposeFunction("report", (at) => process.stdout.write(`${JSON.stringify({ at_ms: at })}\n`));
let shown = "";

async function show(host, pci) {
  await page.goto(`${BASE_URL}/?host=${host}&q=${encodeURIComponent(pci)}`);
  await page.waitForSelector("[data-painted='1']");
  const box = await page.locator("canvas").first().boundingBox();
  // The only tile stands somewhere in the upper middle, below the names of its rack and host.
  for (let down = 0.05; down < 0.7; down += 0.05) {
    for (let right = 0.3; right < 0.8; right += 0.05) {
      await page.mouse.move(box.x + box.width * right, box.y + box.height * down);
      if (await page.getByRole("tooltip").getByText(host).isVisible()) return;
    }
  }
  throw new Error(`the tile of ${host} ${pci} was not found in the fleet`);
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line !== shown) await show(...line.split(" "));
  shown = line;
  await page.waitForFunction(() => /Sends 0\b/.test(document.querySelector("[role=tooltip]")?.textContent ?? ""), undefined, { timeout: 30_000 });
  await page.evaluate((pattern) => {
    const observer = new MutationObserver(() => {
      const found = new RegExp(pattern).exec(document.querySelector("[role=tooltip]")?.textContent ?? "");
      if (!found || Number(found[1].replace(",", ".")) <= 1) return;
      observer.disconnect();
      requestAnimationFrame(() => window.report(Date.now()));
    });
    observer.observe(document.body, { childList: true, characterData: true, subtree: true });
  }, SENDS.source);
  process.stdout.write("ready\n");
}
await browser.close();
